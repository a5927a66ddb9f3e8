/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Collectives between two jobs: MPI_Comm_spawn of this program, collectives on the
 * intercommunicator, then on the merged one; ranks of the other job share no memory with us.
 */
#include <stdlib.h>
#include <string.h>

#include "check.h"

#define CHILDREN 2

/* Both sides do this; @parents is true in the first job. */
static void talk(MPI_Comm inter, bool parents)
{
	int local, remote, rank, sum = -1, all[64], seed = parents ? 12 : -1, merged_size;
	MPI_Comm merged;

	MPI_OK(MPI_Comm_set_errhandler(inter, MPI_ERRORS_RETURN));
	MPI_OK(MPI_Comm_size(inter, &local));
	MPI_OK(MPI_Comm_remote_size(inter, &remote));
	MPI_OK(MPI_Comm_rank(inter, &rank));
	check_context("%s, inter", parents ? "parents" : "children");
	MPI_OK(MPI_Barrier(inter));
	MPI_OK(MPI_Bcast(&seed, 1, MPI_INT, parents ? rank == 0 ? MPI_ROOT : MPI_PROC_NULL : 0,
			 inter));
	CHECK(seed == 12, "bcast %d", seed);
	MPI_OK(MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, inter));
	CHECK(sum == remote * (remote - 1) / 2, "sum %d of %d", sum, remote);
	MPI_OK(MPI_Intercomm_merge(inter, !parents, &merged));
	check_context("%s, merged", parents ? "parents" : "children");
	MPI_OK(MPI_Comm_rank(merged, &rank));
	MPI_OK(MPI_Comm_size(merged, &merged_size));
	CHECK(merged_size == local + remote, "%d ranks", merged_size);
	for (int i = 0; i < 20; i++) {
		MPI_OK(MPI_Allgather(&rank, 1, MPI_INT, all, 1, MPI_INT, merged));
		for (int r = 0; r < merged_size; r++)
			CHECK(all[r] == r, "all[%d] = %d", r, all[r]);
	}
	MPI_OK(MPI_Comm_free(&merged));
}

int main(int argc, char **argv)
{
	MPI_Comm inter;
	uint64_t before;
	int codes[CHILDREN];

	check_init(&argc, &argv, MPI_THREAD_SINGLE);
	MPI_OK(MPI_Comm_get_parent(&inter));
	before = check_counter(CTR_RUNS);
	if (inter == MPI_COMM_NULL) {
		check_context("spawning");
		MPI_OK(MPI_Comm_spawn(argv[0], MPI_ARGV_NULL, CHILDREN, MPI_INFO_NULL, 0,
				      MPI_COMM_WORLD, &inter, codes));
		talk(inter, true);
	} else {
		talk(inter, false);
	}
	check_ran(before, 20 + 3);
	MPI_OK(MPI_Comm_disconnect(&inter));
	return check_end();
}
