/* SPDX-License-Identifier: BSD-3-Clause */
/* libgoal/collectives/name.c: names are there, different, and what valid says is what builders do. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include <goal/collectives.h>

static void name__all_different(void **state)
{
	(void)state;
	for (int a = 0; a < GOAL_COLLS; a++) {
		assert_non_null(goal_coll_name(a));
		for (int b = 0; b < a; b++)
			assert_string_not_equal(goal_coll_name(a), goal_coll_name(b));
	}
	for (int a = 0; a < GOAL_ALGS; a++) {
		assert_non_null(goal_algorithm_name(a));
		for (int b = 0; b < a; b++)
			assert_string_not_equal(goal_algorithm_name(a), goal_algorithm_name(b));
	}
	assert_null(goal_coll_name(GOAL_COLLS));
	assert_null(goal_coll_name(-1));
	assert_null(goal_algorithm_name(GOAL_ALGS));
	assert_null(goal_algorithm_name(-1));
	assert_string_equal(goal_coll_name(GOAL_REDUCE_SCATTER_BLOCK), "reduce_scatter_block");
	assert_string_equal(goal_algorithm_name(GOAL_ALG_AUTO), "auto");
}

/* Collectives without an intercommunicator form. */
static bool intra_only(enum goal_coll coll)
{
	return coll == GOAL_SCAN || coll == GOAL_EXSCAN || coll >= GOAL_NEIGHBOR_ALLGATHER;
}

static void valid__every_collective_has_one(void **state)
{
	(void)state;
	for (int coll = 0; coll < GOAL_COLLS; coll++) {
		for (int inter = 0; inter < 2; inter++) {
			int have = 0;

			for (int alg = 1; alg < GOAL_ALGS; alg++)
				have += goal_algorithm_valid(coll, alg, inter);
			assert_int_equal(have > 0, !(inter && intra_only(coll)));
			assert_int_equal(goal_algorithm_valid(coll, GOAL_ALG_AUTO, inter),
					 have > 0);
		}
		assert_false(goal_algorithm_valid(coll, GOAL_ALGS, false));
		assert_false(goal_algorithm_valid(coll, -1, false));
	}
	assert_false(goal_algorithm_valid(GOAL_COLLS, GOAL_ALG_AUTO, false));
}

/* Build @coll for rank 1 of 3, or of 3 with 2 remote ones. */
static int build(enum goal_coll coll, enum goal_algorithm alg, bool inter, struct goal_graph **g)
{
	static const uint64_t bytes[3] = { 8, 8, 8 }, off[3] = { 0, 8, 16 },
			      counts[3] = { 1, 1, 1 };
	const struct goal_reduction how = { GOAL_TYPE_DOUBLE, GOAL_ROP_SUM, 8, true };
	const struct goal_comm c = { .rank = 1, .size = 3, .remote_size = inter ? 2 : 0 };
	const struct goal_blocks b = { bytes, off };

	switch (coll) {
	case GOAL_ALLGATHER:
		return goal_allgather(&c, alg, 8, 8, false, g);
	case GOAL_ALLGATHERV:
		return goal_allgatherv(&c, alg, 8, &b, false, g);
	case GOAL_ALLREDUCE:
		return goal_allreduce(&c, alg, 1, &how, false, g);
	case GOAL_ALLTOALL:
		return goal_alltoall(&c, alg, 8, 8, false, g);
	case GOAL_ALLTOALLV:
	case GOAL_ALLTOALLW:
		return goal_alltoallv(&c, alg, &b, &b, false, g);
	case GOAL_BARRIER:
		return goal_barrier(&c, alg, g);
	case GOAL_BCAST:
		return goal_bcast(&c, alg, 0, 8, g);
	case GOAL_EXSCAN:
		return goal_exscan(&c, alg, 1, &how, false, g);
	case GOAL_GATHER:
		return goal_gather(&c, alg, 0, 8, false, g);
	case GOAL_GATHERV:
		return goal_gatherv(&c, alg, 0, 8, NULL, false, g);
	case GOAL_REDUCE:
		return goal_reduce_to(&c, alg, 0, 1, &how, false, g);
	case GOAL_REDUCE_SCATTER:
		return goal_reduce_scatter(&c, alg, counts, &how, false, g);
	case GOAL_REDUCE_SCATTER_BLOCK:
		return goal_reduce_scatter_block(&c, alg, 1, &how, false, g);
	case GOAL_SCAN:
		return goal_scan(&c, alg, 1, &how, false, g);
	case GOAL_SCATTER:
		return goal_scatter(&c, alg, 0, 8, false, g);
	default:
		return goal_scatterv(&c, alg, 0, 8, NULL, false, g);
	}
}

static void valid__as_builders_do(void **state)
{
	(void)state;
	for (int coll = 0; coll < GOAL_NEIGHBOR_ALLGATHER; coll++) {
		for (int alg = 0; alg < GOAL_ALGS; alg++) {
			for (int inter = 0; inter < 2; inter++) {
				struct goal_graph *g = NULL;
				int ntags = build(coll, alg, inter, &g);

				assert_int_equal(ntags > 0, goal_algorithm_valid(coll, alg, inter));
				assert_int_equal(g != NULL, ntags > 0);
				goal_graph_free(g);
			}
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(name__all_different),
		cmocka_unit_test(valid__every_collective_has_one),
		cmocka_unit_test(valid__as_builders_do),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
