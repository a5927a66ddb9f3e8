/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Blocking collectives on a communicator that is being duplicated in the background: MPI_Comm_idup
 * runs nonblocking collectives of the library's own on it, which each rank starts at another place
 * among its calls, wherever it makes progress. On a plain communicator, on a graph where some ranks
 * have no neighbors, on an intercommunicator; the shapes of the calls change, so that a small cache
 * gives up schedules all the time. With "threads", another thread makes the progress.
 *
 * idup [-s seed] [iterations [threads]]
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check.h"

#define MOST 64

static bool threads;

/* Late by up to half a millisecond, each rank by its own. */
static void dawdle(int i, int salt)
{
	uint64_t x = check_random((uint64_t)i, (uint64_t)check_rank, (uint64_t)salt);

	if (x % 3 == 0)
		usleep((useconds_t)(x >> 8) % 500);
}

static void *complete(void *arg)
{
	MPI_Request *req = arg;

	MPI_OK(MPI_Wait(req, MPI_STATUS_IGNORE));
	return NULL;
}

/* Some blocking calls, while @comm is being duplicated; sums are of the @n ranks with data. */
static void call(MPI_Comm comm, int i, int rank, int n)
{
	int count = 1 + i % 5, in[5], out[5], all[5 * MOST];

	for (int k = 0; k < 5; k++) {
		in[k] = rank + k + i;
		out[k] = -1;
	}
	MPI_OK(MPI_Allreduce(in, out, count, MPI_INT, MPI_SUM, comm));
	for (int k = 0; k < count; k++)
		CHECK(out[k] == n * (n - 1) / 2 + n * (k + i), "allreduce: element %d is %d", k,
		      out[k]);
	dawdle(i, 2);
	MPI_OK(MPI_Allgather(in, count, MPI_INT, all, count, MPI_INT, comm));
	for (int r = 0; r < n; r++)
		CHECK(all[r * count] == r + i, "allgather: block %d is %d", r, all[r * count]);
	MPI_OK(MPI_Barrier(comm));
}

/* Duplicate @comm, with @between called meanwhile; the duplicate must be good for something. */
static void duplicate(MPI_Comm comm, int i, void (*between)(MPI_Comm, int))
{
	int sum = -1, one = 1, flag, peers;
	MPI_Comm copy = MPI_COMM_NULL;
	pthread_t thread;
	MPI_Request req;

	MPI_OK(MPI_Comm_idup(comm, &copy, &req));
	if (threads && pthread_create(&thread, NULL, complete, &req)) {
		check_fail("pthread_create failed");
		MPI_Abort(MPI_COMM_WORLD, 4);
	}
	dawdle(i, 1);
	between(comm, i);
	if (threads)
		(void)pthread_join(thread, NULL);
	else
		MPI_OK(MPI_Wait(&req, MPI_STATUS_IGNORE));
	MPI_OK(MPI_Comm_test_inter(copy, &flag));
	if (flag)
		MPI_OK(MPI_Comm_remote_size(copy, &peers));
	else
		MPI_OK(MPI_Comm_size(copy, &peers));
	MPI_OK(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, copy));
	CHECK(sum == peers, "the duplicate sums %d ones to %d", peers, sum);
	MPI_OK(MPI_Comm_free(&copy));
}

static void on_intra(MPI_Comm comm, int i)
{
	call(comm, i, check_rank, check_size);
}

/* The first two are each other's neighbors, the others have none. */
static void on_graph(MPI_Comm comm, int i)
{
	int mine = 100 * check_rank + i, theirs = -1, want;

	MPI_OK(MPI_Neighbor_allgather(&mine, check_rank < 2, MPI_INT, &theirs, check_rank < 2,
				      MPI_INT, comm));
	if (check_rank < 2)
		want = 100 * (1 - check_rank) + i;
	else
		want = -1;
	CHECK(theirs == want, "neighbor_allgather: %d instead of %d", theirs, want);
}

static void on_inter(MPI_Comm comm, int i)
{
	int rank, remote, one = 1, sum = -1, seed = -1, low = check_rank % 2 == 0, root;

	MPI_OK(MPI_Comm_rank(comm, &rank));
	MPI_OK(MPI_Comm_remote_size(comm, &remote));
	MPI_OK(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm));
	CHECK(sum == remote, "allreduce of %d: %d", remote, sum);
	dawdle(i, 3);
	/* From rank 0 of the even ranks to the odd ones. */
	if (low && rank == 0)
		seed = 4711 + i;
	root = low ? rank == 0 ? MPI_ROOT : MPI_PROC_NULL : 0;
	MPI_OK(MPI_Bcast(&seed, 1, MPI_INT, root, comm));
	CHECK(root == MPI_PROC_NULL || seed == 4711 + i, "bcast gave %d", seed);
	MPI_OK(MPI_Barrier(comm));
}

int main(int argc, char **argv)
{
	int iterations, other, has, weight = 1;
	MPI_Comm parent, half;
	uint64_t before;

	threads = argc > 1 && !strcmp(argv[argc - 1], "threads");
	check_init(&argc, &argv, threads ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE);
	iterations = argc > 1 ? atoi(argv[1]) : 50;
	if (check_size < 2 || check_size > MOST)
		check_skip("2 to 64 ranks");
	MPI_OK(MPI_Comm_split(MPI_COMM_WORLD, check_rank % 2, check_rank, &half));
	before = check_counter(CTR_RUNS);
	for (int i = 0; i < iterations; i++) {
		check_context("iteration %d, plain", i);
		MPI_OK(MPI_Comm_dup(MPI_COMM_WORLD, &parent));
		duplicate(parent, i, on_intra);
		duplicate(parent, i + 1, on_intra);
		MPI_OK(MPI_Comm_free(&parent));

		check_context("iteration %d, graph", i);
		other = 1 - check_rank;
		has = check_rank < 2;
		MPI_OK(MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, has, &other, &weight, has,
						      &other, &weight, MPI_INFO_NULL, 0, &parent));
		duplicate(parent, i, on_graph);
		MPI_OK(MPI_Comm_free(&parent));

		check_context("iteration %d, intercommunicator", i);
		MPI_OK(MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - check_rank % 2, 7,
					    &parent));
		duplicate(parent, i, on_inter);
		MPI_OK(MPI_Comm_free(&parent));
	}
	check_ran(before, 10 * (uint64_t)iterations);
	MPI_OK(MPI_Comm_free(&half));
	return check_end();
}
