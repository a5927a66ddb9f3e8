/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Overlap of a collective with computing: the collective alone, the computing alone (a fixed amount of
 * work that takes as long), and both at once, in turns. A message that says when to begin comes as late as
 * those of the collective; so the ranks find out first what lies between their clocks, and begin
 * by the clock. A round's time is that of the rank it took longest; medians of the rounds count.
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "nodes.h"

#define ROUNDS    15
#define TRIALS    8     /* to find out how much work takes as long as the collective */
#define STEPS     10000 /* of work, in the first one */
#define EXCHANGES 8     /* the shortest one says what lies between two clocks */
#define LEAD      80e-3 /* s from the message that says when to begin, which may take some 10 ms */
#define TAG       28001

static double ahead; /* this rank's clock, of rank 0's */

static volatile uint64_t sink;

static void work(uint64_t steps)
{
	for (uint64_t i = 0; i < steps; i++)
		sink += i;
}

static double between_clocks(int rank)
{
	double shortest = 1e9, result = 0, theirs = 0;

	for (int i = 0; i < EXCHANGES; i++) {
		double begin = check_now(), took;

		MPI_OK(MPI_Send(&theirs, 1, MPI_DOUBLE, rank, TAG, MPI_COMM_WORLD));
		MPI_OK(MPI_Recv(&theirs, 1, MPI_DOUBLE, rank, TAG, MPI_COMM_WORLD,
				MPI_STATUS_IGNORE));
		took = check_now() - begin;
		if (took < shortest) {
			shortest = took;
			result = theirs - begin - took / 2;
		}
	}
	return result;
}

static void compare_clocks(void)
{
	double mine;

	ahead = 0;
	if (check_rank) {
		for (int i = 0; i < EXCHANGES; i++) {
			MPI_OK(MPI_Recv(&mine, 1, MPI_DOUBLE, 0, TAG, MPI_COMM_WORLD,
					MPI_STATUS_IGNORE));
			mine = check_now();
			MPI_OK(MPI_Send(&mine, 1, MPI_DOUBLE, 0, TAG, MPI_COMM_WORLD));
		}
		MPI_OK(MPI_Recv(&ahead, 1, MPI_DOUBLE, 0, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
		return;
	}
	for (int r = 1; r < check_size; r++) {
		mine = between_clocks(r);
		MPI_OK(MPI_Send(&mine, 1, MPI_DOUBLE, r, TAG, MPI_COMM_WORLD));
	}
}

static void begin_together(void)
{
	double when, left;

	timed_agree(0);
	when = check_now() + LEAD;
	if (check_rank == 0) {
		for (int r = 1; r < check_size; r++)
			MPI_OK(MPI_Send(&when, 1, MPI_DOUBLE, r, TAG, MPI_COMM_WORLD));
	} else {
		MPI_OK(MPI_Recv(&when, 1, MPI_DOUBLE, 0, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
		when += ahead;
	}
	while ((left = when - check_now()) > 0)
		if (left > 4e-3)
			usleep((useconds_t)(1e6 * (left - 3e-3)));
}

/* One round, of the collective, or the work, or both: seconds at the rank that it took longest. */
static double round_of(struct shape *s, uint64_t steps)
{
	double begin;

	begin_together();
	begin = check_now();
	if (s)
		MPI_OK(call_make(&s->c, NONBLOCKING, &s->req));
	work(steps);
	if (s)
		MPI_OK(MPI_Wait(&s->req, MPI_STATUS_IGNORE));
	return timed_agree(check_now() - begin);
}

static int by_size(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

static double median(double *v, int n)
{
	qsort(v, (size_t)n, sizeof(*v), by_size);
	return v[n / 2];
}

static double overlap(double pure, double computing, double both)
{
	double longer = pure > computing ? pure : computing;
	double hidden = (pure + computing - both) / longer;

	return 100 * (hidden < 0 ? 0 : hidden > 1 ? 1 : hidden);
}

void overlap_measure(const struct places *p, const char *name, int bytes)
{
	double pure[ROUNDS], computing[ROUNDS], both[ROUNDS], rate[TRIALS], t[3];
	enum form form;
	int coll = timed_parse(name, &form);
	uint64_t steps, kernel;
	struct shape s;

	if (coll < 0 || form != NONBLOCKING) {
		check_fail("no nonblocking collective is called %s", name);
		return;
	}
	check_context("overlap of %s of %d bytes", name, bytes);
	timed_shape(&s, places_for(p, (enum coll)coll), (enum coll)coll, bytes);
	timed_verify(&s, form);
	compare_clocks();
	kernel = check_counter(CTR_RUNS_KERNEL);
	steps = STEPS;
	for (int i = 0; i < TRIALS; i++) {
		pure[i] = round_of(&s, 0);
		rate[i] = (double)steps / round_of(NULL, steps);
		steps = (uint64_t)(median(rate, i + 1) * median(pure, i + 1)) + 1;
	}
	for (int i = 0; i < ROUNDS; i++) {
		pure[i] = round_of(&s, 0);
		computing[i] = round_of(NULL, steps);
		both[i] = round_of(&s, steps);
	}
	kernel = check_counter(CTR_RUNS_KERNEL) - kernel;
	t[0] = median(both, ROUNDS);
	t[1] = median(pure, ROUNDS);
	t[2] = median(computing, ROUNDS);
	if (check_rank == 0)
		printf("OVERLAP %s %d %.2f %.1f %.1f %.1f %d\n", name, coll == BARRIER ? 0 : bytes,
		       overlap(t[1], t[2], t[0]), 1e6 * t[0], 1e6 * t[1], 1e6 * t[2], (int)kernel);
	fflush(stdout);
	shape_free(&s);
}
