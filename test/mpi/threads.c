/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MPI_THREAD_MULTIPLE: several threads, each with a communicator of its own, call blocking,
 * nonblocking and persistent collectives at once; communicators are duplicated meanwhile, and a
 * request is waited for in another thread than the one that started it.
 *
 * threads [-s seed] [rounds]
 */
#include <pthread.h>
#include <stdlib.h>

#include "check.h"

#define THREADS 4

static int rounds;

struct worker {
	pthread_t thread;
	MPI_Comm comm;
	int number;
	MPI_Request handed; /* to the main thread */
	int sum;
};

static void one_round(struct worker *w, int i, MPI_Request *persistent, int *pin, int *pout)
{
	int value = 1000 * w->number + i, root = i % check_size,
	    got = check_rank == root ? value : -1;
	int all[64], sum = -1;
	MPI_Request req;
	MPI_Comm dup;

	MPI_OK(MPI_Bcast(&got, 1, MPI_INT, root, w->comm));
	CHECK(got == value, "thread %d round %d: bcast %d", w->number, i, got);
	MPI_OK(MPI_Iallgather(&value, 1, MPI_INT, all, 1, MPI_INT, w->comm, &req));
	*pin = i + w->number;
	MPI_OK(MPI_Start(persistent));
	MPI_OK(MPI_Wait(&req, MPI_STATUS_IGNORE));
	for (int r = 0; r < check_size; r++)
		CHECK(all[r] == value, "thread %d round %d: all[%d] = %d", w->number, i, r, all[r]);
	MPI_OK(MPI_Wait(persistent, MPI_STATUS_IGNORE));
	CHECK(*pout == (i + w->number) * check_size, "thread %d round %d: sum %d", w->number, i,
	      *pout);
	MPI_OK(MPI_Barrier(w->comm));
	if (i % 16 == 0) {
		MPI_OK(MPI_Comm_dup(w->comm, &dup));
		MPI_OK(MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, dup));
		CHECK(sum == value * check_size, "thread %d round %d: sum %d", w->number, i, sum);
		MPI_OK(MPI_Comm_free(&dup));
	}
}

static void *work(void *arg)
{
	struct worker *w = arg;
	int pin = 0, pout = -1;
	MPI_Request persistent;

	MPI_OK(MPI_Allreduce_init(&pin, &pout, 1, MPI_INT, MPI_SUM, w->comm, MPI_INFO_NULL,
				  &persistent));
	for (int i = 0; i < rounds; i++)
		one_round(w, i, &persistent, &pin, &pout);
	MPI_OK(MPI_Request_free(&persistent));
	MPI_OK(MPI_Iallreduce(&w->number, &w->sum, 1, MPI_INT, MPI_SUM, w->comm, &w->handed));
	return NULL;
}

int main(int argc, char **argv)
{
	struct worker w[THREADS];
	uint64_t before;
	int sum = 0;

	check_init(&argc, &argv, MPI_THREAD_MULTIPLE);
	rounds = argc > 1 ? atoi(argv[1]) : 150;
	check_context("%d threads", THREADS);
	for (int i = 0; i < THREADS; i++) {
		w[i].number = i;
		MPI_OK(MPI_Comm_dup(MPI_COMM_WORLD, &w[i].comm));
	}
	before = check_counter(CTR_RUNS);
	for (int i = 0; i < THREADS; i++) {
		if (pthread_create(&w[i].thread, NULL, work, &w[i])) {
			check_fail("no thread");
			MPI_Abort(MPI_COMM_WORLD, 4);
		}
	}
	/* This thread works on the world meanwhile. */
	for (int i = 0; i < rounds; i++) {
		MPI_OK(MPI_Allreduce(&check_rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
		CHECK(sum == check_size * (check_size - 1) / 2, "main thread: sum %d", sum);
	}
	for (int i = 0; i < THREADS; i++)
		pthread_join(w[i].thread, NULL);
	for (int i = 0; i < THREADS; i++) {
		MPI_OK(MPI_Wait(&w[i].handed, MPI_STATUS_IGNORE));
		CHECK(w[i].sum == i * check_size, "handed over: %d", w[i].sum);
		MPI_OK(MPI_Comm_free(&w[i].comm));
	}
	if (check_size > 1)
		check_ran(before, (uint64_t)rounds * (4 * THREADS + 1) + THREADS);
	return check_end();
}
