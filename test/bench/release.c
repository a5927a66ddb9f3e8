/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * When a barrier lets go while one rank computes. The ranks' clocks may differ, and run at different
 * speeds: every round has its mirror image, in which each rank plays the part of the one half of the
 * ranks away, which is on another node. What lies between the clocks of the two nodes is added in the
 * one and subtracted in the other; each round is weighed against the one before and the one after it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "nodes.h"

#define ROUNDS    5
#define TAG       28002
#define EARLY     60e-3  /* s after the computing rank: all others but the last */
#define LAST      120e-3 /* the last one */
#define COMPUTING 300e-3

struct round {
	double came, left; /* by the rank's own clock */
};

static int mirror(int rank)
{
	return (rank + check_size / 2) % check_size;
}

static struct round part(int busy, int last)
{
	struct round t;
	MPI_Request request;

	timed_agree(0);
	if (check_rank != busy)
		usleep((useconds_t)(1e6 * (check_rank == last ? LAST : EARLY)));
	t.came = check_now();
	MPI_OK(MPI_Ibarrier(MPI_COMM_WORLD, &request));
	if (check_rank == busy)
		check_spin((unsigned int)(1e6 * COMPUTING));
	MPI_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
	t.left = check_now();
	return t;
}

/* Those of all ranks, at rank 0. */
static void collect(struct round *all, struct round mine)
{
	if (check_rank) {
		MPI_OK(MPI_Send(&mine, 2, MPI_DOUBLE, 0, TAG, MPI_COMM_WORLD));
		return;
	}
	all[0] = mine;
	for (int r = 1; r < check_size; r++)
		MPI_OK(MPI_Recv(&all[r], 2, MPI_DOUBLE, r, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
}

/* Round @i's delay of the rank that plays @part there. */
static double delay(const struct round *all, int i, int busy, int part)
{
	const struct round *of = all + i * check_size;
	int last = mirror(busy);

	return i % 2 ? of[mirror(part)].left - of[mirror(last)].came
		     : of[part].left - of[last].came;
}

static void report(const struct round *all, int busy, int runs)
{
	for (int i = 1; i < ROUNDS - 1; i++) {
		double worst = 0;

		for (int r = 0; r < check_size; r++) {
			double d = (delay(all, i - 1, busy, r) + 2 * delay(all, i, busy, r) +
				    delay(all, i + 1, busy, r)) /
				   4;

			if (r != busy && d > worst)
				worst = d;
		}
		printf("RELEASE %.1f %d\n", 1e6 * worst, runs);
	}
	fflush(stdout);
}

void release_measure(int busy)
{
	struct round *all = calloc((size_t)(ROUNDS * check_size), sizeof(*all));
	uint64_t kernel;

	if (!all || check_size % 2 || busy < 0 || busy >= check_size / 2) {
		check_fail("release needs an even number of ranks, and one of their first half");
		free(all);
		return;
	}
	check_context("release, rank %d computes", busy);
	/* What all must agree on first is agreed on here. */
	part(0, 1);
	kernel = check_counter(CTR_RUNS_KERNEL);
	for (int i = 0; i < ROUNDS; i++)
		collect(all + i * check_size,
			part(i % 2 ? mirror(busy) : busy, i % 2 ? busy : mirror(busy)));
	if (check_rank == 0)
		report(all, busy, (int)(check_counter(CTR_RUNS_KERNEL) - kernel));
	free(all);
}
