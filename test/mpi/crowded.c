/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * More ranks than cores, launched so that Open MPI believes it owns the cores (slots claimed):
 * collectives in a loop must not collapse, blocking ones and those waited for by MPI_Wait. Whoever
 * spins through its time slice needs minutes for what takes a second; the runner's time limit
 * tells the two apart.
 *
 * crowded [rounds]
 */
#include <stdlib.h>

#include "check.h"

int main(int argc, char **argv)
{
	int rounds, dims[2] = { 0, 0 }, wraps[2] = { 1, 1 }, send[4], recv[4], all[64], token = 0;
	int from, to;
	MPI_Request req;
	MPI_Comm grid;

	check_init(&argc, &argv, MPI_THREAD_SINGLE);
	rounds = argc > 1 ? atoi(argv[1]) : 3000;
	MPI_OK(MPI_Dims_create(check_size, 2, dims));
	MPI_OK(MPI_Cart_create(MPI_COMM_WORLD, 2, dims, wraps, 0, &grid));
	from = (check_rank + check_size - 1) % check_size;
	to = (check_rank + 1) % check_size;
	for (int i = 0; i < rounds; i++) {
		uint64_t before = check_counter(CTR_RUNS);

		check_context("round %d", i);
		MPI_OK(MPI_Barrier(MPI_COMM_WORLD));
		for (int k = 0; k < 4; k++)
			send[k] = i;
		MPI_OK(MPI_Neighbor_alltoall(send, 1, MPI_INT, recv, 1, MPI_INT, grid));
		for (int k = 0; k < 4; k++)
			CHECK(recv[k] == i, "slot %d: %d", k, recv[k]);
		MPI_OK(MPI_Gather(&i, 1, MPI_INT, all, 1, MPI_INT, i % check_size, MPI_COMM_WORLD));
		MPI_OK(MPI_Ibarrier(MPI_COMM_WORLD, &req));
		MPI_OK(MPI_Wait(&req, MPI_STATUS_IGNORE));
		/* Open MPI's own waiting, which our advice makes yield. */
		if (i % 10 == 0)
			MPI_OK(MPI_Sendrecv(&i, 1, MPI_INT, to, 7, &token, 1, MPI_INT, from, 7,
					    MPI_COMM_WORLD, MPI_STATUS_IGNORE));
		if (check_size > 1)
			check_ran(before, 4);
	}
	MPI_OK(MPI_Comm_free(&grid));
	return check_end();
}
