/* SPDX-License-Identifier: BSD-3-Clause */
/* libgoal/collectives/barrier.c: nobody leaves before everybody has come; sizes of schedules. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "coll_world.h"

static const enum goal_algorithm algs[] = {
	GOAL_ALG_AUTO,
	GOAL_ALG_LINEAR,
	GOAL_ALG_BINOMIAL,
	GOAL_ALG_DISSEMINATION,
	GOAL_ALG_RECURSIVE_DOUBLING,
	GOAL_ALG_FLAT,
};
#define ALGS (sizeof(algs) / sizeof(algs[0]))

static void barrier(uint32_t size, uint32_t remote_size, enum goal_algorithm alg,
		    const uint32_t *node, const char *layout)
{
	uint32_t n = size + remote_size;

	/* each process is the last one once */
	for (uint32_t late = 0; late < n; late++) {
		struct world w;

		world_open(&w, size, remote_size, "barrier %s, %u+%u ranks, nodes %s",
			   goal_algorithm_name(alg), size, remote_size, layout);
		w.node = node;
		w.seed = late;
		w.late = late + 1;
		for (uint32_t i = 0; i < n; i++) {
			struct goal_comm c = world_comm(&w, i);
			struct goal_graph *g = NULL;
			int ntags = goal_barrier(&c, alg, &g);

			world_graph(&w, i, ntags, g);
			assert_int_equal(world_hdr(&w, i)->scratch, 0);
			assert_int_equal(world_hdr(&w, i)->nbufs, 0);
		}
		world_run(&w);
		world_close(&w);
	}
}

static void barrier__every_algorithm(void **state)
{
	(void)state;
	for (size_t a = 0; a < ALGS; a++)
		for (size_t s = 0; s < WORLD_SIZES; s++)
			barrier(world_sizes[s], 0, algs[a], NULL, "unknown");
}

/* Numbers of nodes are arbitrary and need not come in order. */
static void barrier__nodes(void **state)
{
	uint32_t node[33];

	(void)state;
	for (size_t s = 0; s < WORLD_SIZES; s++) {
		uint32_t n = world_sizes[s];

		for (uint32_t r = 0; r < n; r++)
			node[r] = 7;
		barrier(n, 0, GOAL_ALG_AUTO, node, "one");
		for (uint32_t r = 0; r < n; r++)
			node[r] = 0xffffffffu - r;
		barrier(n, 0, GOAL_ALG_AUTO, node, "of one rank");
		for (uint32_t r = 0; r < n; r++)
			node[r] = r / 2 * 1000;
		barrier(n, 0, GOAL_ALG_FLAT, node, "of two ranks");
		for (uint32_t r = 0; r < n; r++)
			node[r] = r % 3;
		barrier(n, 0, GOAL_ALG_AUTO, node, "round robin");
		for (uint32_t r = 0; r < n; r++)
			node[r] = r * r % 5 * 0x10000000u;
		barrier(n, 0, GOAL_ALG_FLAT, node, "mixed");
	}
}

static void barrier__inter(void **state)
{
	(void)state;
	for (size_t p = 0; p < WORLD_PAIRS; p++) {
		barrier(world_pairs[p][0], world_pairs[p][1], GOAL_ALG_AUTO, NULL, "unknown");
		barrier(world_pairs[p][0], world_pairs[p][1], GOAL_ALG_LINEAR, NULL, "unknown");
	}
}

/* What two ranks do is one message each way, whatever the algorithm is called. */
static void barrier__two_ranks(void **state)
{
	(void)state;
	for (uint32_t inter = 0; inter < 2; inter++) {
		struct goal_comm c = { .rank = 0, .size = 2 - inter, .remote_size = inter };
		const struct goal_sched_hdr *hdr;
		struct goal_schedule *s;
		struct goal_graph *g;

		assert_true(goal_barrier(&c, GOAL_ALG_AUTO, &g) > 0);
		assert_int_equal(goal_compile(g, &s, NULL), 0);
		hdr = goal_schedule_data(s, NULL);
		assert_int_equal(hdr->nops, 2);
		assert_int_equal(hdr->nrecv, 1);
		assert_int_equal(hdr->nindep, 2);
		goal_schedule_free(s);
		goal_graph_free(g);
	}
}

/* A million ranks: each rank's schedule, its dependency counters included, is below 4 KiB. */
static void barrier__schedule_bytes(void **state)
{
	const uint32_t size = 1048576;
	const uint32_t ranks[] = {
		0, 1, 7, 9, 15, 16, 4096, 65535, size / 2, size / 2 + 1, size - 1
	};
	uint32_t *node = malloc(size * sizeof(*node));

	(void)state;
	assert_non_null(node);
	for (uint32_t per_node = 0; per_node <= 64; per_node = per_node ? 4 * per_node : 1) {
		for (uint32_t r = 0; r < size && per_node; r++)
			node[r] = r / per_node;
		for (size_t i = 0; i < sizeof(ranks) / sizeof(ranks[0]); i++) {
			for (size_t a = 0; a < ALGS; a++) {
				struct goal_comm c = { .rank = ranks[i], .size = size };
				struct goal_schedule *s;
				struct goal_graph *g;
				size_t bytes;

				if (algs[a] == GOAL_ALG_LINEAR && ranks[i] == 0)
					continue;
				c.node = per_node ? node : NULL;
				assert_true(goal_barrier(&c, algs[a], &g) > 0);
				assert_int_equal(goal_compile(g, &s, NULL), 0);
				goal_schedule_data(s, &bytes);
				assert_in_range(bytes, 64, 4095);
				goal_schedule_free(s);
				goal_graph_free(g);
			}
		}
	}
	free(node);
}

static void barrier__bad(void **state)
{
	struct goal_comm good = { .rank = 0, .size = 4 }, bad = { .rank = 4, .size = 4 };
	struct goal_comm empty = { .rank = 0, .size = 0 };
	struct goal_comm inter = { .rank = 0, .size = 4, .remote_size = 2 };
	struct goal_graph *g = NULL;

	(void)state;
	assert_int_equal(goal_barrier(NULL, GOAL_ALG_AUTO, &g), -EINVAL);
	assert_int_equal(goal_barrier(&bad, GOAL_ALG_AUTO, &g), -EINVAL);
	assert_int_equal(goal_barrier(&empty, GOAL_ALG_AUTO, &g), -EINVAL);
	assert_int_equal(goal_barrier(&good, GOAL_ALG_BRUCK, &g), -EINVAL);
	assert_int_equal(goal_barrier(&good, GOAL_ALGS, &g), -EINVAL);
	assert_int_equal(goal_barrier(&inter, GOAL_ALG_FLAT, &g), -EINVAL);
	assert_null(g);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(barrier__every_algorithm), cmocka_unit_test(barrier__nodes),
		cmocka_unit_test(barrier__inter),           cmocka_unit_test(barrier__two_ranks),
		cmocka_unit_test(barrier__schedule_bytes),  cmocka_unit_test(barrier__bad),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
