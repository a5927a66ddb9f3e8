/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A persistent request that is older than thousands of later calls on its intercommunicator, and is
 * started before the last of them at the root and after it elsewhere: each message goes to its
 * own call. Roots in both groups.
 *
 * longlived [-s seed]
 */
#include "check.h"

/* More than any count of tags that the calls could share in turn. */
#define CALLS 70000

static void try_root(MPI_Comm inter, int side, int root_side)
{
	const bool here = side == root_side;
	MPI_Request old;
	int rank, root = 0, kept, x;

	MPI_OK(MPI_Comm_rank(inter, &rank));
	if (here)
		root = rank ? MPI_PROC_NULL : MPI_ROOT;
	kept = root == MPI_ROOT ? -7 : 0;
	check_context("root in group %d", root_side);
	MPI_OK(MPI_Bcast_init(&kept, 1, MPI_INT, root, inter, MPI_INFO_NULL, &old));
	for (int i = 1; i <= CALLS; i++) {
		/* A few places where numbers might come round, and the last. */
		bool cross = (i & (i - 1)) == 0 || i == CALLS;

		if (cross && here)
			MPI_OK(MPI_Start(&old));
		x = root == MPI_ROOT ? i : 0;
		MPI_OK(MPI_Bcast(&x, 1, MPI_INT, root, inter));
		CHECK(here || x == i, "call %d: got %d", i, x);
		if (!cross)
			continue;
		if (!here)
			MPI_OK(MPI_Start(&old));
		MPI_OK(MPI_Wait(&old, MPI_STATUS_IGNORE));
		CHECK(here || kept == -7, "the old request, at call %d: got %d", i, kept);
		if (!here)
			kept = 0;
		/* So that the root is never far ahead. */
		MPI_OK(MPI_Barrier(inter));
	}
	MPI_OK(MPI_Request_free(&old));
}

int main(int argc, char **argv)
{
	MPI_Comm local, inter;
	int side;

	check_init(&argc, &argv, MPI_THREAD_SINGLE);
	if (check_size < 2)
		check_skip("an intercommunicator needs 2 ranks");
	side = check_rank % 2;
	MPI_OK(MPI_Comm_split(MPI_COMM_WORLD, side, check_rank, &local));
	MPI_OK(MPI_Intercomm_create(local, 0, MPI_COMM_WORLD, 1 - side, 77, &inter));
	MPI_OK(MPI_Comm_free(&local));
	try_root(inter, side, 0);
	try_root(inter, side, 1);
	MPI_OK(MPI_Comm_free(&inter));
	return check_end();
}
