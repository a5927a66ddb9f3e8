/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How long building and compiling a rank's barrier takes, and how large the schedule is, from 2 to
 * 1,048,576 ranks. For each size the worst of a few ranks, of each the median of some
 * repetitions. Prints beside them the limits that the design sets: 1000 us and 4096 bytes.
 *
 * With a table of nodes, once per communicator, all of the table has to be looked through, as its
 * maker had to fill it; that time grows with the ranks and has no limit to be held against.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <goal/collectives.h>

#define REPETITIONS 51
#define LARGEST     1048576u
#define LIMIT_US    1000.0
#define LIMIT_BYTES 4096.0

static double now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Time and size of one rank's schedule; 0, or -errno. */
static int measure(const struct goal_comm *c, enum goal_algorithm alg, double *us, double *bytes)
{
	double t[REPETITIONS];

	for (int i = 0; i < REPETITIONS; i++) {
		struct goal_schedule *s;
		struct goal_graph *g;
		size_t size;
		int err;

		t[i] = now_us();
		err = goal_barrier(c, alg, &g);
		if (err < 0)
			return err;
		err = goal_compile(g, &s, NULL);
		goal_graph_free(g);
		if (err)
			return err;
		t[i] = now_us() - t[i];
		goal_schedule_data(s, &size);
		*bytes = (double)size;
		goal_schedule_free(s);
	}
	qsort(t, REPETITIONS, sizeof(t[0]), by_value);
	*us = t[REPETITIONS / 2];
	return 0;
}

static int measure_size(uint32_t size, enum goal_algorithm alg, const uint32_t *node,
			const char *what)
{
	const uint32_t ranks[] = { 0, 1, size / 2, size - 1 };
	double worst_us = 0, worst_bytes = 0;

	for (size_t i = 0; i < sizeof(ranks) / sizeof(ranks[0]); i++) {
		struct goal_comm c = { .rank = ranks[i], .size = size, .node = node };
		double us, bytes;
		int err = measure(&c, alg, &us, &bytes);

		if (err) {
			fprintf(stderr, "Building the barrier of rank %u of %u failed: error %d\n",
				c.rank, size, -err);
			return 1;
		}
		worst_us = us > worst_us ? us : worst_us;
		worst_bytes = bytes > worst_bytes ? bytes : worst_bytes;
	}
	if (node)
		printf("TIME %s_build ranks=%u ours=%.2f\n", what, size, worst_us);
	else
		printf("RATIO %s_build ranks=%u ours=%.2f theirs=%.0f ratio=%.4f\n", what, size,
		       worst_us, LIMIT_US, worst_us / LIMIT_US);
	printf("RATIO %s_bytes ranks=%u ours=%.0f theirs=%.0f ratio=%.4f\n", what, size,
	       worst_bytes, LIMIT_BYTES, worst_bytes / LIMIT_BYTES);
	return 0;
}

int main(void)
{
	uint32_t *node = malloc(LARGEST * sizeof(*node));
	int failed = 0;

	if (!node) {
		fprintf(stderr, "There is not enough memory for the nodes of %u ranks\n", LARGEST);
		return 1;
	}
	for (uint32_t size = 2; size <= LARGEST; size *= 2)
		failed |= measure_size(size, GOAL_ALG_AUTO, NULL, "barrier");
	failed |= measure_size(LARGEST, GOAL_ALG_DISSEMINATION, NULL, "barrier_dissemination");
	failed |= measure_size(LARGEST, GOAL_ALG_RECURSIVE_DOUBLING, NULL,
			       "barrier_recursive_doubling");
	failed |= measure_size(LARGEST - 1, GOAL_ALG_RECURSIVE_DOUBLING, NULL,
			       "barrier_recursive_doubling");
	failed |= measure_size(LARGEST, GOAL_ALG_BINOMIAL, NULL, "barrier_binomial");
	for (uint32_t r = 0; r < LARGEST; r++)
		node[r] = r / 64;
	failed |= measure_size(LARGEST, GOAL_ALG_AUTO, node, "barrier_nodes_of_64");
	for (uint32_t r = 0; r < LARGEST; r++)
		node[r] = r % (LARGEST / 64);
	failed |= measure_size(LARGEST, GOAL_ALG_AUTO, node, "barrier_nodes_round_robin");
	free(node);
	return failed;
}
