# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash disable=SC2154
# mpirun across the nodes: the programs of test/mpi, which check every byte and goal's counters, and
# the OSU benchmarks with validation. Sourced by test/vm/suite.

# mpirun_nodes PER ARGUMENT...: PER ranks on each node, on coll/goal alone.
mpirun_nodes() {
	local per=$1
	shift
	on node0 mpirun --map-by "ppr:$per:node" -np $((per * $(node_count))) --mca coll goal \
		--mca mpi_yield_when_idle 1 "$@"
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
	try mpi/barrier mpi 2 barrier
	try mpi/outstanding mpi 1 outstanding
	try mpi/neighbor mpi 1 neighbor
	try mpi/creation mpi 5 creation 40
	try mpi/churn mpi 1 churn 60
	for program in osu_barrier osu_ibarrier osu_gather osu_igather osu_neighbor_alltoall; do
		try "osu/$program" osu $program -i 50 -x 5 -m 4:1024 -c
	done
}
