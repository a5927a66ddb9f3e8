/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Overlap of a collective with computing: the collective alone, the computing alone (a fixed amount of
 * work that takes as long), and both at once. All rounds begin together, as well as point-to-point
 * messages can tell.
 */
#include <stdio.h>

#include "nodes.h"

#define ROUNDS 10
#define TAG    28001

struct times {
	double both, pure, work; /* seconds of one round */
};

static volatile uint64_t sink;

static void work(uint64_t steps)
{
	for (uint64_t i = 0; i < steps; i++)
		sink += i;
}

/* Steps that take so long, where nothing else happens. */
static uint64_t steps_of(double seconds)
{
	uint64_t steps = 1000;
	double took = 0;

	while (took < 5e-3) {
		double begin = check_now();

		steps *= 2;
		work(steps);
		took = check_now() - begin;
	}
	return (uint64_t)((double)steps * seconds / took) + 1;
}

/* The mean of so many rounds; each with the collective, or with the work, or both. */
static double rounds(struct shape *s, uint64_t steps)
{
	double sum = 0;

	for (int i = 0; i < ROUNDS; i++) {
		double begin;

		timed_agree(0);
		begin = check_now();
		if (s)
			MPI_OK(call_make(&s->c, NONBLOCKING, &s->req));
		work(steps);
		if (s)
			MPI_OK(MPI_Wait(&s->req, MPI_STATUS_IGNORE));
		sum += check_now() - begin;
	}
	return sum / ROUNDS;
}

/* Those of the rank that took longest with both, at rank 0. */
static struct times slowest(struct times mine)
{
	struct times other;

	if (check_rank) {
		MPI_OK(MPI_Send(&mine, 3, MPI_DOUBLE, 0, TAG, MPI_COMM_WORLD));
		return mine;
	}
	for (int r = 1; r < check_size; r++) {
		MPI_OK(MPI_Recv(&other, 3, MPI_DOUBLE, r, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
		if (other.both > mine.both)
			mine = other;
	}
	return mine;
}

static double overlap(const struct times *t)
{
	double longer = t->pure > t->work ? t->pure : t->work;
	double hidden = (t->pure + t->work - t->both) / longer;

	return 100 * (hidden < 0 ? 0 : hidden > 1 ? 1 : hidden);
}

void overlap_measure(const struct places *p, const char *name, int bytes)
{
	enum form form;
	int coll = timed_parse(name, &form);
	struct shape s;
	struct times t;
	uint64_t steps, kernel;

	if (coll < 0 || form != NONBLOCKING) {
		check_fail("no nonblocking collective is called %s", name);
		return;
	}
	check_context("overlap of %s of %d bytes", name, bytes);
	timed_shape(&s, places_for(p, (enum coll)coll), (enum coll)coll, bytes);
	timed_verify(&s, form);
	t.pure = rounds(&s, 0);
	steps = steps_of(timed_agree(t.pure));
	t.work = rounds(NULL, steps);
	kernel = check_counter(CTR_RUNS_KERNEL);
	t.both = rounds(&s, steps);
	kernel = check_counter(CTR_RUNS_KERNEL) - kernel;
	t = slowest(t);
	if (check_rank == 0)
		printf("OVERLAP %s %d %.2f %.1f %.1f %.1f %d\n", name, coll == BARRIER ? 0 : bytes,
		       overlap(&t), 1e6 * t.both, 1e6 * t.pure, 1e6 * t.work, (int)kernel);
	fflush(stdout);
	shape_free(&s);
}
