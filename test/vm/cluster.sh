# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash disable=SC2034
# A cluster of QEMU guests on a bridge, and how to tell them what to do. Sourced after test/lib.sh and
# kernels.sh, by a script that has called private_cluster: guests, bridge and taps live in namespaces
# of that script and are gone when it ends, however it ends.
#
# Guests are numbered from 0. A node is where ranks run: a guest, or, with namespaces, one of the
# network namespaces in it, each with a host name, an address and an sshd of its own. Nodes are
# numbered through, node I being in guest I / namespaces.

guests=2 cpus=1 namespaces=0 memory='' nic=virtio kernel='' module='' component_path=''
work=$GOAL_BUILD/vm/cluster
# With icount, one nanosecond of the guests' time is one instruction that they have executed: figures
# of that kind repeat themselves. They have one CPU then.
icount=''
# The guests' files: this machine's, or those below a folder with another Debian in it; and where the
# source tree is in there.
world='' guest_root=$root
boot_limit=300

memory_free() { awk '/^MemAvailable:/ { print $2 }' /proc/meminfo; }

# can_cluster: 0, or 1 with the reason printed.
can_cluster() {
	if [ "$(uname -m)" != x86_64 ]; then
		echo "the guests' kernel is Debian's for amd64, and this machine is a $(uname -m)"
	elif ! command -v dpkg-query >/dev/null 2>&1 || [ ! -e /etc/debian_version ] ||
		! grep -q '^ID=debian$' /etc/os-release; then
		echo "this is no Debian, whose kernel and packages the guests are made of"
	elif ! unshare_all true 2>/dev/null; then
		echo "this machine allows no namespaces of our own (unshare fails)"
	elif ! unshare_all bash -c ': <>/dev/net/tun' 2>/dev/null; then
		echo "/dev/net/tun cannot be opened: become root, or chmod 0666 it (modprobe tun if missing)"
	elif [ "$(memory_free)" -lt 4000000 ]; then
		echo "guests need 4 GB of free memory"
	else
		return 0
	fi
	return 1
}

# unshare_all COMMAND...: with a network, mounts and process ids of its own. `run_by` goes before it.
unshare_all() {
	local user=()
	[ "$(id -u)" = 0 ] || user=(--user --map-root-user)
	${run_by:-} unshare "${user[@]}" --net --mount --pid --fork --kill-child=KILL \
		--propagation private --mount-proc "$@"
}

# private_cluster COMMAND...: go on as that; all that it starts ends with it.
private_cluster() {
	GOAL_IN_CLUSTER=1 run_by='exec' unshare_all "$@"
}

# make_module KERNEL: builds espgoal.ko for it and prints its path. The debug kernel's has the test
# hooks in it; the other world's is built in there.
make_module() {
	local kernel=$1 dir where='' flags=-Werror make=(make)
	case $kernel in
	"$other_world"/*) where=$other_world make=(chroot "$other_world" make) ;;
	esac
	dir=${where:-$GOAL_BUILD}/vm/module-$(cat "$kernel/release")
	[ ! -e "$kernel/debug" ] || flags="-Werror -DESPGOAL_DEBUG"
	mkdir -p "$dir" || return 1
	cp -rup "$root"/espgoal-kmod/{Kbuild,Makefile,core,linux,uapi} "$dir/" || return 1
	"${make[@]}" -C "${dir#"$where"}" -j"$(jobs)" KDIR="$(readlink "$kernel/build" || echo "$kernel/build")" \
		KCFLAGS="$flags" >"$dir/make.log" 2>&1 || {
		tail -n 30 "$dir/make.log" >&2
		echo "the module does not build for $(cat "$kernel/release"): see $dir/make.log" >&2
		return 1
	}
	echo "$dir/espgoal.ko"
}

node_count() { echo $((namespaces > 0 ? guests * namespaces : guests)); }
guest_address() { echo "10.77.1.$(($1 + 1))"; }
node_address() {
	if [ "$namespaces" -gt 0 ]; then echo "10.77.2.$(($1 + 1))"; else guest_address "$1"; fi
}

# seen PATH: what it is called in the guests.
seen() { echo "${1#"$world"}"; }

# What the guests read: the cluster's shape, the names, the keys.
describe_cluster() {
	local a i key ssh=$work/home/.ssh
	mkdir -p "$ssh" "$work/home/.openmpi" "$work/home/.prte" || return 1
	rm -f "$work"/{cmd,out,done}.* "$work/hostkey" "$ssh/id_dropbear"
	cp "$root/test/vm/guest" "$work/guest" || return 1
	key=$(dropbearkey -t ed25519 -f "$work/hostkey" 2>/dev/null |
		grep '^ssh-' | cut -d ' ' -f 1,2) &&
		dropbearkey -t ed25519 -f "$ssh/id_dropbear" 2>/dev/null | grep '^ssh-' >"$ssh/authorized_keys" ||
		return 1
	{
		declare -p guests cpus namespaces
		echo "module=$(seen "$module") root=$guest_root kernel_folder=$(seen "$kernel")"
		echo "kernel_release=$(cat "$kernel/release")"
	} >"$work/cluster"
	{
		echo "127.0.0.1 localhost"
		for ((i = 0; i < guests; i++)); do echo "$(guest_address $i) guest$i"; done
		for ((i = 0; i < $(node_count); i++)); do echo "$(node_address $i) node$i"; done
	} >"$work/hosts"
	while read -r a i; do echo "$a $key" && echo "$i $key"; done <"$work/hosts" >"$ssh/known_hosts"
	for ((i = 0; i < $(node_count); i++)); do
		echo "node$i slots=64"
	done >"$work/nodes"
	{
		echo "plm_rsh_agent = dbclient"
		echo "oob_tcp_if_include = 10.77.0.0/16"
		echo "btl_tcp_if_include = 10.77.0.0/16"
		echo "orte_default_hostfile = $(seen "$work")/nodes"
	} >"$work/home/.openmpi/mca-params.conf"
	# sshd's shells read this, as those of a cluster's users do. Looking for adapters of other kinds in the
	# topology takes half of a launch.
	cat >"$work/home/.bashrc" <<-'end'
		export HWLOC_COMPONENTS=-gl,-pci,-opencl,-cuda,-nvml,-rsmi,-levelzero,-linuxio
		export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
		export PRTE_ALLOW_RUN_AS_ROOT=1 PRTE_ALLOW_RUN_AS_ROOT_CONFIRM=1
	end
	# Not a line among the parameters: with Open MPI 5.0 that is for the launcher, and the ranks do not see it.
	[ -z "$component_path" ] ||
		echo "export OMPI_MCA_mca_base_component_path=$component_path" >>"$work/home/.bashrc"
	# Parameters of the launcher of Open MPI 5.0.
	{
		echo "plm_ssh_agent = dbclient"
		echo "prte_if_include = 10.77.0.0/16"
		echo "prte_default_hostfile = $(seen "$work")/nodes"
	} >"$work/home/.prte/mca-params.conf"
}

# The bridge; this side of it is 10.77.0.1. The large MTU leaves it to the guests which to use.
make_network() {
	local g
	ip link set lo up && ip link add name vmbr type bridge && ip link set vmbr mtu 9000 up &&
		ip addr add 10.77.0.1/16 dev vmbr || return 1
	for ((g = 0; g < guests; g++)); do
		ip tuntap add "vmtap$g" mode tap && ip link set "vmtap$g" mtu 9000 master vmbr up || return 1
	done
}

declare -a guest_pid agent_fd monitor_fd
# start_guest G: QEMU, with a console that is kept, a line to the guest's agent, and a monitor.
start_guest() {
	local g=$1 dir=$work/g$1 device=virtio-net-pci line f execution=(-accel "tcg,thread=multi")
	[ "$nic" != e1000 ] || device=e1000
	[ -z "$icount" ] || execution=(-accel "tcg,thread=single" -icount "shift=0,sleep=off")
	rm -rf "$dir" "$work/done.boot$g" && mkdir -p "$dir" && : >"$dir/console" || return 1
	line="console=ttyS0 loglevel=8 mitigations=off net.ifnames=0 ipv6.disable=1 panic=-1 oops=panic"
	line+=" unknown_nmi_panic=1 panic_print=0x41 sysrq_always_enabled"
	line+=" rcupdate.rcu_cpu_stall_timeout=60 workqueue.watchdog_thresh=120 watchdog_thresh=30"
	line+=" espgoal_work=$(seen "$work") espgoal_guest=$g"
	[ -z "$icount" ] || line+=" nokaslr"
	for f in agent monitor; do
		rm -f "$fifos/$f$g".* && mkfifo "$fifos/$f$g.in" "$fifos/$f$g.out" || return 1
		cat <>"$fifos/$f$g.out" >>"$dir/$f" &
	done
	exec {f}<>"$fifos/agent$g.in" && agent_fd[g]=$f
	exec {f}<>"$fifos/monitor$g.in" && monitor_fd[g]=$f
	qemu-system-x86_64 -nodefaults -no-user-config -machine pc "${execution[@]}" \
		-cpu max,la57=off -smp "$cpus" -m "${memory:-$(default_memory)}" -display none -no-reboot \
		-kernel "$kernel/boot" -initrd "$kernel/initramfs" -append "$line" \
		-chardev "file,id=console,path=$dir/console" -serial chardev:console \
		-chardev "pipe,id=agent,path=$fifos/agent$g" -serial chardev:agent \
		-chardev "pipe,id=monitor,path=$fifos/monitor$g" -mon chardev=monitor,mode=readline \
		-virtfs "local,path=${world:-/},mount_tag=host,security_model=none,readonly=on,multidevs=remap" \
		-virtfs "local,path=$work,mount_tag=work,security_model=none,multidevs=remap" \
		-netdev "tap,id=net0,ifname=vmtap$g,script=no,downscript=no" \
		-device "$device,id=nic0,netdev=net0,mac=52:54:00:e5:00:$(printf %02x $((g + 1))),romfile=" \
		-device virtio-rng-pci </dev/null >"$dir/qemu" 2>&1 &
	guest_pid[g]=$!
}

# The debug kernel spends an eighth on KASAN's shadow, and more on what it remembers.
default_memory() {
	if [ -e "$kernel/debug" ]; then echo 2500; else echo 1500; fi
}

# wait_done ID G SECONDS: until guest G says that ID is done; its status, 124: too late, 125: the
# guest is gone.
wait_done() {
	local id=$1 g=$2 end=$((SECONDS + $3)) status=
	while :; do
		if [ -s "$work/done.$id" ]; then
			read -r status <"$work/done.$id"
			return "$status"
		fi
		[ $SECONDS -lt $end ] || return 124
		kill -0 "${guest_pid[$g]}" 2>/dev/null || return 125
		read -r -t 0.03 -u "$never" || true
	done
}

# boot_cluster: all guests, up to the point where they take commands.
boot_cluster() {
	[[ $root$work$kernel != *[[:space:]]* ]] || {
		echo "the paths of the tree, the build and the cache must be without spaces for guests"
		return 1
	}
	mkdir -p "$work" && fifos=$work/run && mkdir -p "$fifos" &&
		mount -t tmpfs tmpfs "$fifos" && describe_cluster && make_network || return 1
	mkfifo "$fifos/never" && exec {never}<>"$fifos/never"
	boot_guests
}

# wait_boot G: until the guest takes commands; the status as in wait_done. A kernel that measures its timer
# while the machine is busy with other things may find it wrong, and stands still: it begins anew.
wait_boot() {
	local g=$1 end=$((SECONDS + boot_limit)) status
	while :; do
		wait_done "boot$g" "$g" 5
		status=$?
		[ $status -eq 124 ] && [ $SECONDS -lt $end ] || return $status
		if grep -aq 'APIC timer disabled due to verification failure' "$work/g$g/console"; then
			kill -9 "${guest_pid[$g]}" && wait "${guest_pid[$g]}" 2>/dev/null
			start_guest "$g" || return 1
		fi
	done
}

boot_guests() {
	local g status
	for ((g = 0; g < guests; g++)); do start_guest $g || return 1; done
	for ((g = 0; g < guests; g++)); do
		wait_boot $g
		status=$?
		[ $status -eq 0 ] || {
			echo "guest $g did not boot (status $status): the end of $work/g$g/console:"
			tail -n 25 "$work/g$g/console" "$work/g$g/qemu"
			[ ! -s "$work/out.boot$g" ] || tail -n 25 "$work/out.boot$g"
			return 1
		}
	done
}

stop_cluster() {
	local g
	for ((g = 0; g < ${#guest_pid[@]}; g++)); do
		kill -9 "${guest_pid[$g]}" 2>/dev/null && wait "${guest_pid[$g]}" 2>/dev/null
	done
	return 0
}

# reboot_cluster: kill the guests and boot them anew, on the network that there is.
reboot_cluster() {
	stop_cluster
	boot_guests
}

# begin WHERE COMMAND...: have it done on guestI or nodeI, without waiting; sets `job`.
begin() {
	local where=$1 g
	shift
	case $where in
	guest*) g=${where#guest} ;;
	*) g=$((namespaces > 0 ? ${where#node} / namespaces : ${where#node})) ;;
	esac
	job=$g.$BASHPID.$SRANDOM
	printf '%q ' "$@" >"$work/cmd.$job"
	echo "$job $where" >&"${agent_fd[$g]}"
}

# finish_job JOB SECONDS: its output, its status; 124 and 125 as in wait_done.
finish_job() {
	local status
	wait_done "$1" "${1%%.*}" "$2"
	status=$?
	cat "$work/out.$1" 2>/dev/null
	[ $status -lt 124 ] || echo "$(head -c 200 "$work/cmd.$1"): $(tell_end $status "$2")"
	rm -f "$work"/{cmd,out,done}."$1"
	return $status
}

tell_end() {
	case $1 in
	124) echo "no end within $2 s" ;;
	125) echo "the guest has ended" ;;
	*) echo "status $1" ;;
	esac
}

# on WHERE COMMAND...: have it done on guestI or nodeI and wait, at most $limit seconds.
limit=120
on() {
	local job
	begin "$@"
	finish_job "$job" "$limit"
}

# monitor G COMMAND: tell QEMU, as in `monitor 0 set_link nic0 off`.
monitor() { echo "${*:2}" >&"${monitor_fd[$1]}"; }

# What a kernel says when something is wrong with it.
kernel_trouble='BUG[: ]|WARNING: |KASAN|UBSAN|ODEBUG|Oops|Kernel panic|general protection fault|possible '
kernel_trouble+='(recursive|circular|irq lock inversion)|inconsistent lock state|suspicious RCU|held lock|lock held'
kernel_trouble+='|sleeping function|scheduling while atomic|blocked for more than|soft lockup|hard LOCKUP'
kernel_trouble+='|detected stall|self-detected|workqueue lockup|corruption|refcount_t:|bad page|Bad page'
kernel_trouble+='|kmemleak: [0-9]+ new|unregister_netdevice: waiting|Out of memory|oom-kill|leaked reference'
kernel_trouble+='|nobody cared|hogged CPU|double free|still has|Objects remaining'

# console_size G; console_trouble G FROM: lines of the console from byte FROM on that tell of trouble.
console_size() { stat -c %s "$work/g$1/console"; }
console_trouble() {
	tail -c "+$(($2 + 1))" "$work/g$1/console" | tr -d '\r' | grep -aE "$kernel_trouble"
}
