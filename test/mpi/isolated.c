/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Graphs in which some processes have no neighbors. A blocking uniform neighborhood collective with
 * a count of 0 need not reach goal there, so it must not be waited for, not even when the first
 * collective of the communicator is such a call; nor may those processes get out of step.
 */
#include "check.h"

#define MAX_RANKS 16

/* The even ranks are a ring; the odd ones are alone. */
static int before(void)
{
	return check_rank ? check_rank - 2 : (check_size - 1) / 2 * 2;
}

static int after(void)
{
	return check_rank + 2 < check_size ? check_rank + 2 : 0;
}

static bool alone(void)
{
	return check_rank % 2;
}

static MPI_Comm distributed(void)
{
	int source = before(), destination = after(), degree = !alone(), weight = 1;
	MPI_Comm comm;

	MPI_OK(MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, degree, &source, &weight, degree,
					      &destination, &weight, MPI_INFO_NULL, 0, &comm));
	return comm;
}

/* Each even rank has the two beside it in the ring as neighbors. */
static MPI_Comm graph(void)
{
	int index[MAX_RANKS], edges[2 * MAX_RANKS], n = 0, last = (check_size - 1) / 2 * 2;
	MPI_Comm comm;

	for (int r = 0; r < check_size; r++) {
		if (r % 2 == 0) {
			edges[n++] = r ? r - 2 : last;
			edges[n++] = r < last ? r + 2 : 0;
		}
		index[r] = n;
	}
	MPI_OK(MPI_Graph_create(MPI_COMM_WORLD, check_size, index, edges, 0, &comm));
	return comm;
}

/* One of each of the two calls, of @degree neighbors, the first of which is the one before. */
static void exchange(MPI_Comm comm, int degree, int turn)
{
	int count = alone() ? 0 : 1, mine[2] = { 100 * turn + check_rank, 100 * turn + check_rank };
	int got[2] = { -1, -1 }, want = alone() ? -1 : 100 * turn + before();

	MPI_OK(MPI_Neighbor_allgather(mine, count, MPI_INT, got, count, MPI_INT, comm));
	CHECK(got[0] == want, "allgather: %d instead of %d", got[0], want);
	if (degree == 2 && !alone()) {
		want = 100 * turn + after();
		CHECK(got[1] == want, "allgather: %d instead of %d", got[1], want);
	}
	want = alone() ? -1 : 100 * turn + before();
	got[0] = got[1] = -1;
	MPI_OK(MPI_Neighbor_alltoall(mine, count, MPI_INT, got, count, MPI_INT, comm));
	CHECK(got[0] == want, "alltoall: %d instead of %d", got[0], want);
}

static void in_step(MPI_Comm comm)
{
	int sum = -1;

	MPI_OK(MPI_Allreduce(&check_rank, &sum, 1, MPI_INT, MPI_SUM, comm));
	CHECK(sum == check_size * (check_size - 1) / 2, "sum %d", sum);
}

static void try_kind(const char *kind, MPI_Comm (*create)(void), int degree)
{
	MPI_Request req;
	MPI_Comm comm;

	check_context("%s, nothing but neighborhood calls", kind);
	comm = create();
	for (int turn = 0; turn < 5; turn++)
		exchange(comm, degree, turn);
	MPI_OK(MPI_Comm_free(&comm));

	check_context("%s, neighborhood calls first", kind);
	comm = create();
	exchange(comm, degree, 1);
	in_step(comm);
	exchange(comm, degree, 2);
	in_step(comm);
	MPI_OK(MPI_Comm_free(&comm));

	check_context("%s, neighborhood calls while the first collective is under way", kind);
	comm = create();
	exchange(comm, degree, 1);
	MPI_OK(MPI_Ibarrier(comm, &req));
	exchange(comm, degree, 2);
	MPI_OK(MPI_Wait(&req, MPI_STATUS_IGNORE));
	exchange(comm, degree, 3);
	in_step(comm);
	MPI_OK(MPI_Comm_free(&comm));
}

int main(int argc, char **argv)
{
	check_init(&argc, &argv, MPI_THREAD_SINGLE);
	if (check_size > MAX_RANKS)
		check_skip("more ranks than the tables hold");
	for (int round = 0; round < 3; round++) {
		try_kind("distributed graph", distributed, 1);
		try_kind("graph", graph, 2);
	}
	return check_end();
}
