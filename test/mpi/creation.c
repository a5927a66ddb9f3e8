/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Communicators made in a loop, by every means, while nonblocking collectives of the parent are
 * in flight; each new one is used at once, while other ranks are late, and freed.
 *
 * creation [-s seed] [iterations]
 */
#include <stdlib.h>
#include <unistd.h>

#include "check.h"

#define MEANS 7

static MPI_Comm make(int means, int i)
{
	int to = (check_rank + 1 + i % check_size) % check_size, one = 1, weight = 1;
	int dims[2] = { 0, 0 }, wraps[2] = { 1, 0 };
	MPI_Comm comm = MPI_COMM_NULL;
	MPI_Request req;
	MPI_Group group;

	switch (means) {
	case 0:
		MPI_OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
		break;
	case 1:
		MPI_OK(MPI_Comm_idup(MPI_COMM_WORLD, &comm, &req));
		MPI_OK(MPI_Wait(&req, MPI_STATUS_IGNORE));
		break;
	case 2:
		MPI_OK(MPI_Comm_split(MPI_COMM_WORLD, check_rank % 2, i, &comm));
		break;
	case 3:
		MPI_OK(MPI_Dist_graph_create(MPI_COMM_WORLD, 1, &check_rank, &one, &to, &weight,
					     MPI_INFO_NULL, 0, &comm));
		break;
	case 4:
		MPI_OK(MPI_Dims_create(check_size, 2, dims));
		MPI_OK(MPI_Cart_create(MPI_COMM_WORLD, 2, dims, wraps, 0, &comm));
		break;
	case 5:
		MPI_OK(MPI_Comm_group(MPI_COMM_WORLD, &group));
		MPI_OK(MPI_Comm_create(MPI_COMM_WORLD, group, &comm));
		MPI_OK(MPI_Group_free(&group));
		break;
	default:
		MPI_OK(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, i, MPI_INFO_NULL,
					   &comm));
		break;
	}
	return comm;
}

/* Several collectives right after the communicator is there. */
static void use(MPI_Comm comm)
{
	int rank, size, sum = -1, status, in = 0, out = 0, weighted, got[64], seed = -1;
	uint64_t before = check_counter(CTR_RUNS);

	MPI_OK(MPI_Comm_rank(comm, &rank));
	MPI_OK(MPI_Comm_size(comm, &size));
	if (rank == size - 1)
		seed = 4711;
	MPI_OK(MPI_Bcast(&seed, 1, MPI_INT, size - 1, comm));
	CHECK(seed == 4711, "bcast gave %d", seed);
	MPI_OK(MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm));
	CHECK(sum == size * (size - 1) / 2, "sum %d of %d ranks", sum, size);
	if (size > 1)
		check_ran(before, 2);
	MPI_OK(MPI_Topo_test(comm, &status));
	if (status != MPI_DIST_GRAPH)
		return;
	MPI_OK(MPI_Dist_graph_neighbors_count(comm, &in, &out, &weighted));
	CHECK(in == 1 && out == 1, "degrees %d and %d", in, out);
	MPI_OK(MPI_Neighbor_allgather(&rank, 1, MPI_INT, got, 1, MPI_INT, comm));
}

int main(int argc, char **argv)
{
	int iterations;

	check_init(&argc, &argv, MPI_THREAD_SINGLE);
	iterations = argc > 1 ? atoi(argv[1]) : 400;
	for (int i = 0; i < iterations; i++) {
		uint64_t x = check_random((uint64_t)i, (uint64_t)check_rank, 1);
		int sum = -1, all[64], got = -1;
		MPI_Request req[3];
		MPI_Comm comm;

		check_context("iteration %d, means %d", i, i % MEANS);
		MPI_OK(MPI_Iallreduce(&check_rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD,
				      &req[0]));
		MPI_OK(MPI_Iallgather(&check_rank, 1, MPI_INT, all, 1, MPI_INT, MPI_COMM_WORLD,
				      &req[1]));
		comm = make(i % MEANS, i);
		MPI_OK(MPI_Iexscan(&check_rank, &got, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD,
				   &req[2]));
		if (x % 8 == 0)
			usleep((useconds_t)(x >> 8) % 300);
		use(comm);
		MPI_OK(MPI_Comm_free(&comm));
		MPI_OK(MPI_Waitall(3, req, MPI_STATUSES_IGNORE));
		CHECK(sum == check_size * (check_size - 1) / 2, "sum %d", sum);
		for (int r = 0; r < check_size; r++)
			CHECK(all[r] == r, "all[%d] = %d", r, all[r]);
		if (check_rank)
			CHECK(got == check_rank * (check_rank - 1) / 2, "exscan %d", got);
	}
	return check_end();
}
