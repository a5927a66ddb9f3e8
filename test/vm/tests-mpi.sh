# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash disable=SC2154
# mpirun across the nodes: the programs of test/mpi, which check every byte and goal's counters, and
# the OSU benchmarks with validation. Sourced by test/vm/suite.

engine=auto
# mpirun_nodes PER ARGUMENT...: PER ranks on each node, on coll/goal alone, with that engine.
mpirun_nodes() {
	local per=$1
	shift
	on node0 mpirun --map-by "ppr:$per:node" -np $((per * $(node_count))) --mca coll goal \
		--mca coll_goal_engine $engine --mca mpi_yield_when_idle 1 "$@"
}

# mpi PER PROGRAM ARGUMENT...: of test/mpi; it must end well and say so.
mpi() {
	local per=$1 program=$2 out=$work/mpi.out status
	shift 2
	limit=150 mpirun_nodes "$per" "$programs/mpi/$program" "$@" >"$out" 2>&1
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

# stranger: one node's device speaks another ABI. All use the host engine, and one message says why.
stranger() {
	local out=$work/mpi.out hide
	# shellcheck disable=SC2016
	hide='[ "$OMPI_COMM_WORLD_RANK" != 1 ] || mount --bind /dev/null /dev/espgoal; exec "$@"'
	mpirun_nodes 1 unshare -m sh -c "$hide" sh \
		"$programs/mpi/engines" host >"$out" 2>&1 || {
		cat "$out"
		wrong "the job did not go on with the host engine"
	}
	cat "$out"
	if [ "$(grep -ac 'kernel engine is not used.* on node node' "$out")" != 1 ] ||
		! grep -aq 'on node node1: .*ABI' "$out"; then
		wrong "not one message that names node1 and the ABI"
	fi
}

# goal_run: the library alone, on the kernel engine, within a node.
goal_run() {
	local what
	for what in barrier 'bcast -b 100' 'gather -b 100' 'alltoall -b 100'; do
		on node0 sh -c "'$programs/../tools/goal' text $what -n 4 |
			'$programs/../tools/goal' run -e kernel -" || return
	done
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

# Where OSU's collectives are: named by GOAL_OSU, the folder with blocking/osu_barrier.
osu() {
	local program=$1
	shift
	[ -n "${GOAL_OSU:-}" ] || skip "OSU's benchmarks are nobody's package: GOAL_OSU names their folder mpi/collective"
	[ -x "$(find "$GOAL_OSU" -name "$program" | head -n 1)" ] || skip "no $program below $GOAL_OSU"
	limit=150 mpirun_nodes 1 "$(find "$GOAL_OSU" -name "$program" | head -n 1)" "$@" >"$work/osu.out" 2>&1 || {
		cat "$work/osu.out"
		return 1
	}
	cat "$work/osu.out"
	! grep -q Fail "$work/osu.out"
}

tests_mpi() {
	local program
	try mpi/launched launched
	try mpi/late mpi 2 late
	try mpi/outstanding mpi 1 outstanding
	try mpi/neighbor mpi 1 neighbor
	try mpi/creation mpi 5 creation 40
	try mpi/churn mpi 1 churn 60
	try mpi/goal-run goal_run
	engine=kernel
	try mpi-kernel/engines mpi_kernel 1 engines kernel
	try mpi-kernel/late mpi_kernel 2 late
	try mpi-kernel/outstanding mpi_kernel 1 outstanding
	try mpi-kernel/neighbor mpi_kernel 1 neighbor
	try mpi-kernel/churn mpi_kernel 1 churn 20
	try mpi-kernel/computing mpi_kernel 2 computing
	try mpi-kernel/stranger stranger
	engine=auto
	for program in osu_barrier osu_ibarrier osu_gather osu_igather osu_neighbor_alltoall; do
		try "osu/$program" osu $program -i 50 -x 5 -m 4:1024 -c
	done
}
