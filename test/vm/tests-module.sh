# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash disable=SC2154
# Tests of the module by itself: its ABI, frames between nodes, disasters. Sourced by test/vm/suite.

ko=espgoal

# load: the module is there, went in without a complaint of its own, its device has the mode it should have,
# and the hook that damages frames is there in the debug build alone.
load() {
	local hook=!
	[ ! -e "$kernel/debug" ] || hook=''
	on_guests sh -ec "
		grep '^$ko ' /proc/modules
		test -c /dev/espgoal
		stat -c '%a %U' /dev/espgoal | grep -x '660 root'
		test $hook -e /sys/module/$ko/parameters/corrupt
	" || wrong "the module is not as it should be"
}

# unload: it goes, its traces go with it, and it comes again.
unload() {
	on_guests sh -ec "
		for i in 1 2; do
			rmmod $ko
			test ! -e /dev/espgoal
			test ! -e /proc/sys/net/espgoal
			if grep espgoal /proc/slabinfo; then exit 1; fi
			insmod $(seen "$module")
			test -c /dev/espgoal
		done
	" || wrong "unloading or loading failed"
	choose_interfaces_again
}

# A module that was loaded anew knows nothing of what the guests' start-up had set.
choose_interfaces_again() {
	[ "$namespaces" -eq 0 ] || on_nodes sh -c 'echo eth0 >/proc/sys/net/espgoal/interfaces'
}

# busy: while an endpoint is open, rmmod is refused.
busy() {
	on guest0 bash -ec "
		exec 3<>/dev/espgoal
		if rmmod $ko 2>/tmp/rmmod; then exit 1; fi
		cat /tmp/rmmod
		grep -q 'in use' /tmp/rmmod
		exec 3>&-
		rmmod $ko && insmod $(seen "$module")
	" && choose_interfaces_again
}

# Programs of test/vm that need one node.
program() { on "$1" env GOAL_TIMES="$times" "$programs/vm/$2" "${@:3}"; }

# long SECONDS FUNCTION ARGUMENT...: with that limit for each of its commands.
long() { limit=$(($1 * times)) "${@:2}"; }

# strangers: with a device that everybody may open.
strangers() {
	local status
	on guest0 chmod 0666 /dev/espgoal
	program node0 strangers
	status=$?
	on guest0 chmod 0660 /dev/espgoal
	return $status
}

collect() { collectives "$@"; }

# collect_local OPTION...: all ranks on one node, where no frame is sent.
collect_local() { program node0 collectives "$@" "$(folder)" 4 0 4; }

# netem PROOF SETTING...: collectives while each node's adapter does that to what it sends, and the proof
# that it did, on every node: the qdisc has counted what went through it, and drops; frames that it has put
# before others (it calls them requeued). Of what it does not count: duplicates that the module discards, a
# round trip that has become long.
netem() {
	local proof=$1 status out=$work/netem.out
	shift
	on_nodes tc qdisc add dev eth0 root netem limit 4000 "$@" || wrong "tc does not take: $*"
	collectives "${netem_local:-1}" -v -t 5 -s $((RANDOM + 1)) >"$out"
	status=$?
	cat "$out"
	on_nodes tc -s qdisc show dev eth0 >"$work/qdisc.out"
	cat "$work/qdisc.out"
	on_nodes tc qdisc del dev eth0 root
	[ "$(grep -c '^ Sent [1-9]' "$work/qdisc.out")" -eq "$(node_count)" ] || wrong "not every node's qdisc was used"
	[ "$(proofs "$proof" "$out" "$work/qdisc.out")" -eq "$(node_count)" ] ||
		wrong "not every node's adapter did what netem was told: $*"
	return $status
}

# proofs PROOF OUTPUT QDISCS: how many nodes show it.
proofs() {
	case $1 in
	dropped) grep -c 'dropped [1-9]' "$3" ;;
	reordered) grep -c '(.* requeues [1-9][0-9]*)' "$3" ;;
	duplicates) grep -c '^  node drop_pn_duplicate [1-9]' "$2" ;;
	delayed) awk '/^  flow / && $(NF - 1) >= 4000 { late = 1 } /^(PASS|FAIL|ENDED)$/ { n += late; late = 0 }
		END { print n + 0 }' "$2" ;;
	esac
}

# corrupt: collectives while the module damages the payload of every 7th frame, which the checksum must tell.
corrupt() {
	local status out=$work/corrupt.out
	on_guests sh -c "echo 7 >/sys/module/$ko/parameters/corrupt" || wrong "the module has no such hook"
	collectives 1 -v -t 6 -s 83 >"$out"
	status=$?
	on_guests sh -c "echo 0 >/sys/module/$ko/parameters/corrupt"
	cat "$out"
	[ "$(grep -c '^  node drop_payload_crc [1-9]' "$out")" -eq "$(node_count)" ] ||
		wrong "not every node has dropped damaged frames"
	return $status
}

# carrier_changes NODE: how often its link has come or gone. (/sys shows the guest's links, not a namespace's.)
carrier_changes() { on "$1" ip -s -s link show eth0 | awk 'END { print $NF }'; }

# interrupted FUNCTION: collectives during which node1's link is down for two seconds, by that function;
# they go on afterwards.
interrupted() {
	local status before after
	before=$(carrier_changes node1)
	start_collectives 1 -t 5 -s 77
	under_way
	"$1"
	finish_jobs
	status=$?
	after=$(carrier_changes node1)
	[ "$after" -ge $((before + 2)) ] || wrong "node1's link has not been down"
	return $status
}

# A guest's cable, and the other end of a namespace's veth: there by one command, since each takes long
# where all processors are busy.
cable_pulled() {
	monitor 1 set_link nic0 off
	sleep 2
	monitor 1 set_link nic0 on
}
veth_pulled() { on guest0 sh -c 'ip link set veth1 down && sleep 2 && ip link set veth1 up'; }

# mtu SIZE...: changed under running collectives, on all nodes, one size after the other.
mtu() {
	local size status
	start_collectives 1 -t $((2 * $# + 2)) -s 79
	under_way
	for size; do
		sleep 1
		on_nodes ip link set eth0 mtu "$size" || wrong "the adapter takes no MTU of $size"
	done
	finish_jobs
	status=$?
	on_nodes ip link set eth0 mtu 1500
	return $status
}

# gone: an adapter is removed under running collectives: they end, with an error, within the time
# after which a peer counts as dead, and no later than that.
gone() {
	local status n
	n=$(node_count)
	start_collectives 1 -e -t 60 -s 80
	under_way
	on guest0 ip link del "veth$((n - 1))"
	limit=$((30 * times)) finish_jobs
	status=$?
	on guest0 bash -c "
		ip link add veth$((n - 1)) type veth peer name eth0 netns node$((n - 1)) &&
		ip link set veth$((n - 1)) mtu 9000 master br0 up && nsenter --net=/run/netns/node$((n - 1)) sh -c '
			ip link set eth0 up && ip addr add $(node_address $((n - 1)))/16 dev eth0'" ||
		wrong "cannot put the adapter back"
	[ $status -eq 3 ] || wrong "runs whose peer has lost its adapter must end with an error (status $status)"
	collectives 1 -t 3 -s 81
}

# namespace: a network namespace is deleted with endpoints in it.
namespace() {
	local dir
	dir=$(folder)
	on guest0 bash -ec "
		ip netns add doomed
		nsenter --net=/run/netns/doomed $programs/vm/collectives -t 60 -e $dir 2 0 2 >/tmp/doomed 2>&1 &
		until [ -e $dir/under_way.0 ] && [ -e $dir/under_way.1 ]; do
			sleep 0.2
			kill -0 \$!
		done
		ip netns del doomed
		sleep 1
		pkill -9 collectives || true
		wait
		cat /tmp/doomed
	" || wrong "the namespace could not be deleted under running collectives"
	collectives 1 -t 3 -s 82
}

# memory_of GUEST: unreclaimable slab, per-CPU and vmalloc memory, in KiB, when endpoints that were closed
# need not linger any more.
memory_of() {
	# shellcheck disable=SC2016
	on "$1" sh -c 'sleep 12; echo 3 >/proc/sys/vm/drop_caches; sleep 1
		awk "/^SUnreclaim|^Percpu|^VmallocUsed/ { n += \$2 } END { print n }" /proc/meminfo'
}

# cycles: no growth over many cycles of opening and closing, and of groups: not more than a few pages
# after the first ones. (The debug kernel keeps what was freed for a while; there kmemleak looks.)
cycles() {
	local before after
	program node0 cycle 50 0 || return 1
	before=$(memory_of guest0)
	program node0 cycle 200 0 && program node0 cycle 1 2000 || return 1
	after=$(memory_of guest0)
	echo "kernel memory: $before KiB before, $after KiB after"
	[ $((after - before)) -le 1024 ] || wrong "kernel memory grows: $before KiB before, $after KiB after"
}

# leaks: everything given back, then what kmemleak knows.
leaks() {
	on_guests sh -c '
		sleep 12
		echo scan >/sys/kernel/debug/kmemleak
		sleep 6
		echo scan >/sys/kernel/debug/kmemleak
		cat /sys/kernel/debug/kmemleak >/tmp/leaks
		head -n 60 /tmp/leaks
		! grep -q "\[espgoal\]" /tmp/leaks' || wrong "kmemleak finds leaks"
}

# shares: a program of two nodes.
shares() {
	local dir
	dir=$(folder)
	# shellcheck disable=SC2016
	on_all node 2 sh -c "exec $programs/vm/shares $dir \$NODE"
}

tests_common() {
	try busy busy
	try abi program node0 abi
	try depth program node0 depth
	try early program node0 early
	try limits program node0 limits
	try shares shares
	try unload unload
}

tests_nodes() {
	tests_common
	try closing program node0 closing
	try collectives/1 collect 1 -t 4
	try collectives/2 collect 2 -t 5 -s 2
	try collectives/churn collect 1 -t 4 -c -s 3
	try collectives/local collect_local -t 3 -s 9
	try strangers strangers
	try cable interrupted veth_pulled
	try mtu mtu 600 4000
	try gone gone
	try namespace namespace
	try cycles long 200 cycles
	try killed long 300 program node0 killed 40
	try random program node0 random 15
	try unload-after unload
}

tests_pair() {
	tests_common
	try collectives/1 collect 1 -t 4
	try collectives/4 collect 4 -t 6 -s 2
	try collectives/churn collect 1 -t 4 -c -s 3
	try netem-loss netem dropped loss 5%
	try netem-duplicate netem duplicates duplicate 10%
	try netem-reorder netem reordered delay 5ms reorder 50%
	try netem-delay netem delayed delay 10ms 4ms
	try netem-all netem dropped delay 1ms 1ms loss 3% duplicate 3%
	try cable interrupted cable_pulled
	try mtu mtu 9000 600 1500 4000
	tests_mpi
	try unload-after unload
}

tests_smp() {
	try collectives/4 collect 4 -t 8 -s 4
	try collectives/churn collect 2 -t 5 -c -s 5
	try netem-loss netem dropped loss 5%
	try cable interrupted cable_pulled
	tests_mpi_few
	try mpi-kernel/threads mpi_kernel 2 threads 20
	try unload unload
}

tests_four() {
	try collectives/1 collect 1 -t 5 -s 6
	try collectives/2 collect 2 -t 6 -s 7
	tests_mpi_few
	try unload unload
}

# The second generation: Debian 13's kernel and its Open MPI.
tests_pair_trixie() {
	tests_common
	try collectives/2 collect 2 -t 5 -s 8
	try collectives/churn collect 1 -t 4 -c -s 9
	try netem-all netem dropped delay 1ms 1ms loss 3% duplicate 3%
	try mpi/launched launched
	tests_mpi_few
	try unload-after unload
}

# The debug kernel takes about five times as long: the one has what ends, the other what frames do.
tests_nodes_debug() {
	try busy busy
	try abi program node0 abi
	[ "$times" -eq 1 ] || try depth program node0 depth
	try early program node0 early
	try limits program node0 limits
	try closing program node0 closing
	try collectives/2 collect 2 -t 5 -s 2
	try collectives/churn collect 1 -t 4 -c -s 3
	try strangers strangers
	try gone gone
	try namespace namespace
	try cycles long 200 program node0 cycle 30 20
	try killed long 300 program node0 killed 10
	try random program node0 random 60
	try faults long 200 program node0 faults
	try unload unload
	try leaks long 200 leaks
}

tests_pair_debug() {
	try abi program node0 abi
	try collectives/4 collect 4 -t 6 -s 2
	try collectives/churn collect 1 -t 4 -c -s 3
	try netem-all netem dropped delay 1ms 1ms loss 3% duplicate 3%
	try corrupt corrupt
	try cable interrupted cable_pulled
	try mtu mtu 9000 600 1500
	tests_mpi_few
	try unload unload
	try leaks long 200 leaks
}
