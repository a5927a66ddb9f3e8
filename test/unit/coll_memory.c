/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * No memory: for every collective and algorithm the n-th allocation fails, for every n until none
 * does. Each time the answer is -ENOMEM, no graph is handed out, and nothing leaks. Linked
 * with --wrap for malloc, calloc and realloc.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <goal/collectives.h>

#include "no_memory.h"

#define RANKS 70 /* graphs and lists grow a few times */

static uint64_t bytes[RANKS], off[RANKS], counts[RANKS];
static uint32_t node[RANKS];
static int32_t edges[RANKS];

static int build(enum goal_coll coll, enum goal_algorithm alg, uint32_t remote,
		 struct goal_graph **g)
{
	const struct goal_reduction how = { GOAL_TYPE_USER, GOAL_ROP_USER, 12, false };
	const struct goal_comm c = { .rank = 0, .size = RANKS, .remote_size = remote, .node = node };
	const struct goal_neighbors n = { RANKS, RANKS, edges, edges, 0 };
	const struct goal_blocks b = { bytes, off };
	int64_t root = remote ? GOAL_ROOT_HERE : 0;
	bool in_place = !remote;

	switch (coll) {
	case GOAL_ALLGATHER:
		return goal_allgather(&c, alg, 8, 8, in_place, g);
	case GOAL_ALLGATHERV:
		return goal_allgatherv(&c, alg, 8, &b, in_place, g);
	case GOAL_ALLREDUCE:
		return goal_allreduce(&c, alg, 1, &how, in_place, g);
	case GOAL_ALLTOALL:
		return goal_alltoall(&c, alg, 8, 8, in_place, g);
	case GOAL_ALLTOALLV:
	case GOAL_ALLTOALLW:
		return goal_alltoallv(&c, alg, &b, &b, in_place, g);
	case GOAL_BARRIER:
		return goal_barrier(&c, alg, g);
	case GOAL_BCAST:
		return goal_bcast(&c, alg, root, 8, g);
	case GOAL_EXSCAN:
		return goal_exscan(&c, alg, 1, &how, in_place, g);
	case GOAL_GATHER:
		return goal_gather(&c, alg, root, 8, in_place, g);
	case GOAL_GATHERV:
		return goal_gatherv(&c, alg, root, 8, &b, in_place, g);
	case GOAL_REDUCE:
		return goal_reduce_to(&c, alg, root, 1, &how, in_place, g);
	case GOAL_REDUCE_SCATTER:
		return goal_reduce_scatter(&c, alg, counts, &how, in_place, g);
	case GOAL_REDUCE_SCATTER_BLOCK:
		return goal_reduce_scatter_block(&c, alg, 1, &how, in_place, g);
	case GOAL_SCAN:
		return goal_scan(&c, alg, 1, &how, in_place, g);
	case GOAL_SCATTER:
		return goal_scatter(&c, alg, root, 8, in_place, g);
	case GOAL_SCATTERV:
		return goal_scatterv(&c, alg, root, 8, &b, in_place, g);
	case GOAL_NEIGHBOR_ALLGATHER:
		return goal_neighbor_allgather(&c, &n, 8, 8, g);
	case GOAL_NEIGHBOR_ALLGATHERV:
		return goal_neighbor_allgatherv(&c, &n, 8, &b, g);
	case GOAL_NEIGHBOR_ALLTOALL:
		return goal_neighbor_alltoall(&c, &n, 8, 8, g);
	default:
		return goal_neighbor_alltoallv(&c, &n, &b, &b, g);
	}
}

static void for_every_allocation(enum goal_coll coll, enum goal_algorithm alg, uint32_t remote)
{
	for (long n = 0;; n++) {
		struct goal_graph *g = NULL;
		int ntags;

		fail_in = n;
		ntags = build(coll, alg, remote, &g);
		if (fail_in >= 0) {
			/* It came to its end without reaching the n-th. */
			fail_in = -1;
			assert_true(ntags > 0);
			assert_non_null(g);
			goal_graph_free(g);
			assert_true(n > 1);
			return;
		}
		assert_int_equal(ntags, -ENOMEM);
		assert_null(g);
	}
}

static void memory__every_builder(void **state)
{
	(void)state;
	for (uint32_t r = 0; r < RANKS; r++) {
		bytes[r] = 8;
		off[r] = 8 * r;
		counts[r] = 1;
		node[r] = r / 2;
		edges[r] = (int32_t)r;
	}
	for (int coll = 0; coll < GOAL_COLLS; coll++)
		for (int alg = 0; alg < GOAL_ALGS; alg++)
			for (uint32_t inter = 0; inter < 2; inter++)
				if (goal_algorithm_valid(coll, alg, inter))
					for_every_allocation(coll, alg, inter * RANKS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(memory__every_builder),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
