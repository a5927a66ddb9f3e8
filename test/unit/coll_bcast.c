/* SPDX-License-Identifier: BSD-3-Clause */
/* libgoal/collectives/bcast.c: every rank has the root's bytes, and no more. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "coll_world.h"

static const uint64_t sizes[] = { 0, 1, 13, 5000 };
#define SIZES (sizeof(sizes) / sizeof(sizes[0]))

/* @root: a process */
static void bcast(uint32_t size, uint32_t remote_size, enum goal_algorithm alg, uint32_t root,
		  uint64_t bytes)
{
	uint8_t *recv[64];
	struct world w;

	world_open(&w, size, remote_size, "bcast %s, %u+%u ranks, root %u, %llu bytes",
		   goal_algorithm_name(alg), size, remote_size, root, (unsigned long long)bytes);
	w.seed = root;
	for (uint32_t i = 0; i < w.n; i++) {
		struct goal_comm c = world_comm(&w, i);
		int64_t r = root - world_first(&w, world_group(&w, root));
		struct goal_graph *g = NULL;
		int ntags;

		if (remote_size && world_group(&w, i) == world_group(&w, root))
			r = i == root ? GOAL_ROOT_HERE : GOAL_ROOT_NONE;
		ntags = goal_bcast(&c, alg, r, bytes, &g);
		world_graph(&w, i, ntags, g);
		recv[i] = world_bind(&w, i, GOAL_BUF_RECV, bytes);
	}
	world_fill(recv[root], root, 0, bytes);
	world_run(&w);
	for (uint32_t i = 0; i < w.n; i++) {
		if (remote_size && i != root && world_group(&w, i) == world_group(&w, root))
			world_expect_zero(&w, i, recv[i], bytes, "not in the broadcast");
		else
			world_expect(&w, i, recv[i], root, 0, bytes, "result");
	}
	world_close(&w);
}

static void bcast__every_algorithm(void **state)
{
	const enum goal_algorithm algs[] = { GOAL_ALG_AUTO, GOAL_ALG_LINEAR, GOAL_ALG_BINOMIAL };

	(void)state;
	for (size_t a = 0; a < 3; a++)
		for (size_t s = 0; s < WORLD_SIZES; s++)
			for (uint32_t root = 0; root < world_sizes[s]; root++)
				for (size_t b = 0; b < SIZES; b++)
					bcast(world_sizes[s], 0, algs[a], root, sizes[b]);
}

static void bcast__inter(void **state)
{
	(void)state;
	for (size_t p = 0; p < WORLD_PAIRS; p++)
		for (uint32_t root = 0; root < world_pairs[p][0] + world_pairs[p][1]; root++)
			for (size_t b = 0; b < SIZES; b++)
				bcast(world_pairs[p][0], world_pairs[p][1], GOAL_ALG_AUTO, root,
				      sizes[b]);
}

static void bcast__bad(void **state)
{
	struct goal_comm c = { .rank = 1, .size = 4 };
	struct goal_comm inter = { .rank = 1, .size = 4, .remote_size = 2 };
	struct goal_graph *g = NULL;

	(void)state;
	assert_int_equal(goal_bcast(&c, GOAL_ALG_AUTO, 4, 8, &g), -EINVAL);
	assert_int_equal(goal_bcast(&c, GOAL_ALG_AUTO, -1, 8, &g), -EINVAL);
	assert_int_equal(goal_bcast(&c, GOAL_ALG_BRUCK, 0, 8, &g), -EINVAL);
	assert_int_equal(goal_bcast(&inter, GOAL_ALG_AUTO, 2, 8, &g), -EINVAL);
	assert_int_equal(goal_bcast(&inter, GOAL_ALG_AUTO, -3, 8, &g), -EINVAL);
	assert_int_equal(goal_bcast(&inter, GOAL_ALG_BINOMIAL, 1, 8, &g), -EINVAL);
	assert_int_equal(goal_bcast(&c, GOAL_ALG_AUTO, 0, GOAL_MAX_BYTES + 1, &g), -E2BIG);
	assert_null(g);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bcast__every_algorithm),
		cmocka_unit_test(bcast__inter),
		cmocka_unit_test(bcast__bad),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
