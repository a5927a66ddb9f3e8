# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash disable=SC2154
# mpirun across the nodes: the programs of test/mpi, which check every byte and goal's counters, and
# the OSU benchmarks with validation. Sourced by test/vm/suite.

engine=auto prefix=()
# mpirun_nodes PER ARGUMENT...: PER ranks on each node, on coll/goal alone, with that engine.
mpirun_nodes() {
	local per=$1
	shift
	on node0 "${prefix[@]}" mpirun --map-by "ppr:$per:node" -np $((per * $(node_count))) --mca coll goal \
		--mca coll_goal_engine $engine --mca mpi_yield_when_idle 1 "$@"
}

# mpi PER PROGRAM ARGUMENT...: of test/mpi; it must end well and say so.
mpi() {
	local per=$1 program=$2 out=$work/mpi.out status
	shift 2
	mpirun_nodes "$per" "$programs/mpi/$program" "$@" >"$out" 2>&1
	status=$?
	cat "$out"
	[ $status -eq 0 ] || return $status
	grep -aq 'PASS [a-z_]*: 0 failures' "$out" || wrong "the program did not say that it passed"
}

# mpi_kernel PER PROGRAM ARGUMENT...: the same on the kernel engine; some of its runs must be there.
mpi_kernel() {
	local per=$1 program=$2
	shift 2
	mpi "$per" "$program" "$@" || return
	grep -aq "^KERNEL $program: [1-9]" "$work/mpi.out" || wrong "nothing ran on the kernel engine"
}

# without NODES TEXT COMMAND...: under that command something is wrong with the kernel engine. All use
# the host engine, and one message says why, and on which of the nodes.
without() {
	local nodes=$1 text=$2 out=$work/mpi.out
	shift 2
	mpirun_nodes 1 "$@" "$programs/mpi/engines" host >"$out" 2>&1 || {
		cat "$out"
		wrong "the job did not go on with the host engine"
	}
	cat "$out"
	if [ "$(grep -ac 'kernel engine is not used' "$out")" != 1 ] ||
		! grep -aqE "kernel engine is not used.* on node node$nodes: .*$text" "$out"; then
		wrong "not one message that names node$nodes and: $text"
	fi
}

# killed WHAT VICTIM: in that collective, whose runs are the kernel's; all others must get an error. mpirun
# itself mostly does not end after that (4.1.4): it is ended once they have said so.
killed() {
	local out=$work/mpi.out survivors=$((2 * $(node_count) - 1))
	# shellcheck disable=SC2016
	prefix=(sh -c '"$@" >/tmp/killed 2>&1 &
		for i in $(seq 25); do
			sleep 1
			[ "$(grep -c SURVIVOR /tmp/killed)" -lt "$0" ] || break
		done
		kill -9 $!
		cat /tmp/killed' "$survivors")
	mpirun_nodes 2 --enable-recovery "$programs/mpi/kill" "$1" "$2" 64 >"$out" 2>&1
	cat "$out"
	[ "$(grep -aoE 'SURVIVOR [0-9]+ [0-9]+ kernel [1-9]' "$out" | sort -u | wc -l)" -eq $survivors ] ||
		wrong "not $survivors survivors"
}

# lossy PER PROGRAM ARGUMENT...: while frames of the module's are lost; those of TCP would take the launcher
# half a minute.
lossy() {
	local status
	on_nodes sh -ec 'tc qdisc add dev eth0 root handle 1: prio bands 4
		tc qdisc add dev eth0 parent 1:4 netem limit 4000 loss 3%
		tc filter add dev eth0 parent 1: protocol 0x88b5 matchall classid 1:4' || wrong "tc does not take netem"
	(mpi_kernel "$@")
	status=$?
	on_nodes tc -s qdisc show dev eth0 | tee "$work/qdisc.out"
	on_nodes tc qdisc del dev eth0 root
	[ "$(grep -A 1 '^qdisc netem' "$work/qdisc.out" | grep -c 'dropped [1-9]')" -eq "$(node_count)" ] ||
		wrong "no frame was lost"
	return $status
}

# stranger: one node's device speaks another ABI.
stranger() {
	# shellcheck disable=SC2016
	without 1 ABI unshare -m sh -c \
		'[ "$OMPI_COMM_WORLD_RANK" != 1 ] || mount --bind /dev/null /dev/espgoal; exec "$@"' sh
}

# absent, forbidden, unlisted: one node has no device, a user who may not open it, no interface.
absent() {
	local status
	on node1 mv /dev/espgoal /dev/espgoal.away
	(without 1 'no /dev/espgoal: load the module')
	status=$?
	on node1 mv /dev/espgoal.away /dev/espgoal
	return $status
}

forbidden() {
	local status
	on node1 chmod 0 /dev/espgoal
	(without 1 'not for this user' setpriv --bounding-set=-dac_override,-dac_read_search)
	status=$?
	on node1 chmod 0660 /dev/espgoal
	return $status
}

# interfaces NAME: which node1 uses; without a name, none.
# shellcheck disable=SC2016
interfaces() { on node1 sh -c 'echo "$1" >/proc/sys/net/espgoal/interfaces' sh "$1"; }

unlisted() {
	local status
	interfaces ''
	(without 1 'no interface in use')
	status=$?
	interfaces auto
	return $status
}

# unreached: one node's interface does not lead to the others, which frames alone tell.
unreached() {
	local status
	on node1 sh -c 'ip link add astray type veth peer name nowhere &&
		ip link set astray up && ip link set nowhere up' || return
	interfaces astray
	(without '[01]' 'no frame comes back')
	status=$?
	interfaces auto
	on node1 ip link delete astray
	return $status
}

# goal_run: the library alone, on the kernel engine, within a node.
goal_run() {
	local what
	for what in barrier 'gather -b 100' 'alltoall -b 100'; do
		on node0 sh -c "'$programs/../tools/goal' text $what -n 4 |
			'$programs/../tools/goal' run -e kernel -" || return
	done
}

# goal_info: shows the interface and, after collectives between the nodes, the flow to the other one.
goal_info() {
	local out=$work/info.out
	mpi_kernel 1 late || return
	on node0 "$programs/../tools/goal" info >"$out" || wrong "goal info fails"
	cat "$out"
	grep -q '^  path 0: eth0, up, ' "$out" || wrong "it does not show the interface"
	grep -q '^  flow [0-9]* to node [0-9a-f]*: up, ' "$out" || wrong "it does not show a flow"
	grep -q '^    path 0 to 52:54:00:[0-9a-f:]*: up, ' "$out" || wrong "it does not show the flow's path"
	grep -q '^  frames_in  *[1-9]' "$out" || wrong "it does not show counters"
}

# launched: the launcher reaches all nodes, and each rank is where it should be.
launched() {
	local out=$work/mpi.out i
	on node0 mpirun --map-by ppr:1:node -np "$(node_count)" hostname >"$out" 2>&1 || {
		cat "$out"
		wrong "mpirun fails"
	}
	cat "$out"
	for ((i = 0; i < $(node_count); i++)); do
		grep -qx "node$i" "$out" || wrong "no rank ran on node$i"
	done
}

# osu PER PROGRAM ARGUMENT...: OSU's benchmark, which compares what arrived (-c). GOAL_OSU names the folder
# that has it, or one above.
osu() {
	local per=$1 program=$2 path
	shift 2
	[ -n "${GOAL_OSU:-}" ] || skip "OSU's benchmarks are nobody's package: GOAL_OSU names their folder mpi/collective"
	path=$(find "$GOAL_OSU" -name "$program" -type f -perm -u+x | head -n 1)
	[ -n "$path" ] || skip "no $program below $GOAL_OSU"
	limit=150 mpirun_nodes "$per" --mca coll_goal_verbose 1 "$path" "$@" >"$work/osu.out" 2>&1 || {
		cat "$work/osu.out"
		return 1
	}
	cat "$work/osu.out"
	grep -aq 'runs on the kernel and host engines' "$work/osu.out" || wrong "it did not run on the kernel engine"
	! grep -q Fail "$work/osu.out"
}

tests_mpi() {
	local program
	try mpi/launched launched
	try mpi/creation mpi 3 creation $((14 * times))
	try mpi/goal-run goal_run
	engine=kernel
	try mpi-kernel/engines mpi_kernel 1 engines kernel
	try mpi-kernel/late mpi_kernel 2 late
	try mpi-kernel/goal-info goal_info
	try mpi-kernel/conform long 200 mpi_kernel 1 conform
	try mpi-kernel/neighbor long 200 mpi_kernel 1 neighbor
	for program in outstanding errors; do
		try mpi-kernel/$program mpi_kernel 1 $program
	done
	# These ask more of the component than of the module; test/mpi has them on the host engine.
	if [ "$times" -gt 1 ]; then
		for program in ops test_loop empty freed reused; do
			try mpi-kernel/$program mpi_kernel 1 $program
		done
		try mpi-kernel/computing-2 mpi_kernel 2 computing
	fi
	try mpi-kernel/threads mpi_kernel 1 threads 20
	try mpi-kernel/churn mpi_kernel 1 churn 20
	try mpi-kernel/computing mpi_kernel 1 computing
	try mpi-kernel/lossy lossy 1 outstanding
	try mpi-kernel/finalize lossy 1 comm_free left
	for program in 'barrier 3' 'gather 0' 'ibarrier 1' 'neighbor 3' 'barrier_init 2'; do
		# shellcheck disable=SC2086
		try "mpi-kernel/killed-${program/ /-}" killed $program
	done
	if [ "$times" -gt 1 ]; then
		for program in 'barrier 0' 'gather 3' 'ibarrier 3' 'neighbor 1' 'barrier_init 1'; do
			# shellcheck disable=SC2086
			try "mpi-kernel/killed-${program/ /-}" killed $program
		done
	fi
	try mpi-kernel/stranger stranger
	try mpi-kernel/forbidden forbidden
	try mpi-kernel/unlisted unlisted
	try mpi-kernel/unreached unreached
	engine=auto
	try mpi-kernel/absent absent
	for program in osu_barrier osu_ibarrier; do
		try "osu/$program" osu 1 $program -i 200 -x 20
	done
	for program in osu_gather osu_igather; do
		try "osu/$program" osu 1 $program -i 100 -x 10 -m 1:1024 -c
	done
	# A ring, for which there must be three ranks at least.
	for program in osu_{,i}neighbor_{allgather,alltoall}; do
		try "osu/$program" osu 2 "$program" -i 50 -x 5 -m 1:1024 -c
	done
}

# Some of it, where the guests are others: what is all in the kernel and between the nodes.
tests_mpi_few() {
	engine=kernel
	try mpi-kernel/engines mpi_kernel 1 engines kernel
	[ "$times" -eq 1 ] || try mpi-kernel/late mpi_kernel 2 late
}
