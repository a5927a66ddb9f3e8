/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A communicator freed while its nonblocking collectives run and while persistent requests of it
 * are kept: they end as if it were still there. With an argument, much is left to MPI_Finalize:
 * communicators, requests that are over, persistent requests never started.
 */
#include <stdlib.h>
#include <unistd.h>

#include "check.h"

#define ROUNDS 100

static void freed(int round)
{
	int sum = -1, all[64], seed = check_rank ? -1 : round, max = -1;
	uint64_t x = check_random((uint64_t)round, (uint64_t)check_rank, 2);
	uint64_t before = check_counter(CTR_RUNS);
	MPI_Request req[5];
	MPI_Comm comm;

	check_context("round %d", round);
	MPI_OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
	MPI_OK(MPI_Allreduce_init(&check_rank, &max, 1, MPI_INT, MPI_MAX, comm, MPI_INFO_NULL,
				  &req[4]));
	MPI_OK(MPI_Ibarrier(comm, &req[0]));
	MPI_OK(MPI_Iallreduce(&check_rank, &sum, 1, MPI_INT, MPI_SUM, comm, &req[1]));
	MPI_OK(MPI_Iallgather(&check_rank, 1, MPI_INT, all, 1, MPI_INT, comm, &req[2]));
	MPI_OK(MPI_Ibcast(&seed, 1, MPI_INT, 0, comm, &req[3]));
	MPI_OK(MPI_Start(&req[4]));
	MPI_OK(MPI_Comm_free(&comm));
	if (x % 4 == 0)
		usleep((useconds_t)(x >> 8) % 300);
	if (round % 2)
		MPI_OK(MPI_Barrier(MPI_COMM_WORLD));
	MPI_OK(MPI_Waitall(5, req, MPI_STATUSES_IGNORE));
	CHECK(sum == check_size * (check_size - 1) / 2, "sum %d", sum);
	CHECK(seed == round, "bcast %d", seed);
	CHECK(max == check_size - 1, "max %d", max);
	for (int r = 0; r < check_size; r++)
		CHECK(all[r] == r, "all[%d] = %d", r, all[r]);
	/* The persistent request outlives its communicator's handle. */
	max = -1;
	MPI_OK(MPI_Start(&req[4]));
	MPI_OK(MPI_Wait(&req[4], MPI_STATUS_IGNORE));
	CHECK(max == check_size - 1, "max %d at the second start", max);
	MPI_OK(MPI_Request_free(&req[4]));
	if (check_size > 1)
		check_ran(before, 6);
}

static void leave_behind(void)
{
	static int in[4], out[256];
	MPI_Request req;
	MPI_Comm comm;

	check_context("leaving things behind");
	for (int i = 0; i < 20; i++) {
		MPI_OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
		MPI_OK(MPI_Allgather(in, 1, MPI_INT, out, 1, MPI_INT, comm));
		MPI_OK(MPI_Gather_init(in, 1, MPI_INT, out, 1, MPI_INT, 0, comm, MPI_INFO_NULL,
				       &req));
		if (i % 2) {
			MPI_OK(MPI_Start(&req));
			MPI_OK(MPI_Wait(&req, MPI_STATUS_IGNORE));
		}
	}
	MPI_OK(MPI_Barrier(MPI_COMM_WORLD));
}

int main(int argc, char **argv)
{
	check_init(&argc, &argv, MPI_THREAD_SINGLE);
	for (int round = 0; round < ROUNDS; round++)
		freed(round);
	if (argc > 1)
		leave_behind();
	return check_end();
}
