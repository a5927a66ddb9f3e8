/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Building graphs: libgoal/graph/graph.c, ops.c, element.c. What is refused leaves the graph
 * as it was.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include <goal/graph.h>

#include "core.h"
#include "libgoal/graph/graph.h"

static struct goal_graph *graph_of(uint32_t rank, uint32_t npeers)
{
	struct goal_graph *g = NULL;

	assert_int_equal(goal_graph_create(rank, npeers, &g), 0);
	assert_non_null(g);
	return g;
}

static void create__arguments(void **state)
{
	struct goal_graph *g = (void *)1;

	(void)state;
	assert_int_equal(goal_graph_create(0, 0, &g), -EINVAL);
	assert_ptr_equal(g, (void *)1);
	assert_int_equal(goal_graph_create(0, 1, NULL), -EINVAL);
	/* Peers may be a remote group, smaller than ours. */
	assert_int_equal(goal_graph_create(7, 3, &g), 0);
	assert_int_equal(goal_graph_rank(g), 7);
	assert_int_equal(goal_graph_npeers(g), 3);
	assert_int_equal(goal_graph_ops(g), 0);
	goal_graph_free(g);
	goal_graph_free(NULL);
}

static void ops__identifiers_count_up(void **state)
{
	struct goal_graph *g = graph_of(0, 2);
	int64_t i;

	(void)state;
	assert_int_equal(goal_send(g, 0, 0, 8, 1, 0), 0);
	assert_int_equal(goal_recv(g, 1, 0, 8, 1, 0), 1);
	assert_int_equal(goal_copy(g, 1, 0, 0, 0, 8), 2);
	assert_int_equal(goal_reduce(g, 1, 0, 0, 0, 1, GOAL_TYPE_INT32, GOAL_ROP_SUM), 3);
	assert_int_equal(goal_nop(g), 4);
	assert_int_equal(goal_calc(g, 17), 5);
	for (i = 6; i < 1000; i++)
		assert_int_equal(goal_nop(g), i);
	assert_int_equal(goal_graph_ops(g), 1000);
	goal_graph_free(g);
}

static void ops__out_of_range(void **state)
{
	const uint64_t max = GOAL_MAX_BYTES;
	struct goal_graph *g = graph_of(0, 2);

	(void)state;
	assert_int_equal(goal_send(NULL, 0, 0, 8, 1, 0), -EINVAL);
	assert_int_equal(goal_recv(NULL, 0, 0, 8, 1, 0), -EINVAL);
	assert_int_equal(goal_copy(NULL, 0, 0, 1, 0, 1), -EINVAL);
	assert_int_equal(goal_reduce(NULL, 0, 0, 1, 0, 1, GOAL_TYPE_INT8, GOAL_ROP_SUM), -EINVAL);
	assert_int_equal(goal_nop(NULL), -EINVAL);
	/* Peers. */
	assert_int_equal(goal_send(g, 0, 0, 8, 2, 0), -EINVAL);
	assert_int_equal(goal_recv(g, 0, 0, 8, UINT32_MAX, 0), -EINVAL);
	/* Tags. */
	assert_int_equal(goal_send(g, 0, 0, 8, 1, GOAL_MAX_TAGS), -E2BIG);
	assert_int_equal(goal_recv(g, 0, 0, 8, 1, UINT32_MAX), -E2BIG);
	/* Buffers. */
	assert_int_equal(goal_send(g, GOAL_MAX_BUFS, 0, 8, 1, 0), -EINVAL);
	assert_int_equal(goal_recv(g, 0x10000, 0, 8, 1, 0), -EINVAL);
	assert_int_equal(goal_copy(g, 0, 0, GOAL_MAX_BUFS, 0, 8), -EINVAL);
	assert_int_equal(goal_copy(g, 0x1ffff, 0, 0, 0, 8), -EINVAL);
	/* Bytes. */
	assert_int_equal(goal_send(g, 0, max, 1, 1, 0), -E2BIG);
	assert_int_equal(goal_recv(g, 0, 0, max + 1, 1, 0), -E2BIG);
	assert_int_equal(goal_recv(g, 0, UINT64_MAX, 2, 1, 0), -E2BIG);
	assert_int_equal(goal_copy(g, 0, UINT64_MAX, 1, UINT64_MAX, UINT64_MAX), -E2BIG);
	assert_int_equal(goal_reduce(g, 0, 0, 1, 0, max / 8 + 1, GOAL_TYPE_INT64, GOAL_ROP_SUM),
			 -E2BIG);
	assert_int_equal(goal_reduce(g, 0, 0, 1, 0, UINT64_MAX, GOAL_TYPE_INT64, GOAL_ROP_SUM),
			 -E2BIG);
	/* Types and operations. */
	assert_int_equal(goal_reduce(g, 0, 0, 1, 0, 1, GOAL_TYPE_NONE, GOAL_ROP_SUM), -EINVAL);
	assert_int_equal(goal_reduce(g, 0, 0, 1, 0, 1, GOAL_TYPES, GOAL_ROP_SUM), -EINVAL);
	assert_int_equal(goal_reduce(g, 0, 0, 1, 0, 1, GOAL_TYPE_INT8, GOAL_ROP_NONE), -EINVAL);
	assert_int_equal(goal_reduce(g, 0, 0, 1, 0, 1, GOAL_TYPE_INT8, GOAL_ROPS), -EINVAL);
	assert_int_equal(goal_reduce(g, 0, 0, 1, 0, 1, UINT32_MAX, UINT32_MAX), -EINVAL);
	assert_int_equal(goal_reduce(g, 0, 0, 1, 0, 1, GOAL_TYPE_FLOAT, GOAL_ROP_BAND), -EINVAL);
	assert_int_equal(goal_reduce(g, 0, 0, 1, 0, 1, GOAL_TYPE_USER, GOAL_ROP_SUM), -EINVAL);
	assert_int_equal(goal_reduce(g, 0, 0, 1, 0, 1, GOAL_TYPE_USER, GOAL_ROP_USER), -EINVAL);
	/* Overlap. */
	assert_int_equal(goal_copy(g, 0, 0, 0, 7, 8), -EINVAL);
	assert_int_equal(goal_copy(g, 0, 7, 0, 0, 8), -EINVAL);
	assert_int_equal(goal_reduce(g, 0, 0, 0, 4, 2, GOAL_TYPE_INT32, GOAL_ROP_SUM), -EINVAL);

	assert_int_equal(goal_graph_ops(g), 0);
	assert_int_equal(g->nbufs, 0);
	assert_int_equal(g->ntags, 0);

	/* The last of everything that is in range. */
	assert_int_equal(goal_send(g, GOAL_MAX_BUFS - 1, max - 1, 1, 1, GOAL_MAX_TAGS - 1), 0);
	assert_int_equal(goal_recv(g, 0, 0, max, 0, 0), 1);
	assert_int_equal(goal_copy(g, 0, 0, 0, 8, 8), 2);
	assert_int_equal(goal_copy(g, 0, 4, 0, 4, 0), 3);
	assert_int_equal(g->nbufs, GOAL_MAX_BUFS);
	assert_int_equal(g->ntags, GOAL_MAX_TAGS);
	goal_graph_free(g);
}

static void scratch__offsets_and_bounds(void **state)
{
	struct goal_graph *g = graph_of(0, 2);

	(void)state;
	assert_int_equal(goal_send(g, GOAL_BUF_SCRATCH, 0, 1, 1, 0), -EINVAL);
	assert_int_equal(goal_scratch(NULL, 1), -EINVAL);
	assert_int_equal(goal_scratch(g, 1), 0);
	assert_int_equal(goal_scratch(g, 64), 64);
	assert_int_equal(goal_scratch(g, 0), 128);
	assert_int_equal(goal_scratch(g, 100), 128);
	assert_int_equal(goal_scratch(g, GOAL_MAX_BYTES), -E2BIG);
	assert_int_equal(goal_scratch(g, UINT64_MAX), -E2BIG);
	assert_int_equal(g->scratch, 228);
	assert_int_equal(goal_recv(g, GOAL_BUF_SCRATCH, 128, 100, 1, 0), 0);
	assert_int_equal(goal_recv(g, GOAL_BUF_SCRATCH, 128, 101, 1, 0), -EINVAL);
	/* The scratch is none of the bound buffers. */
	assert_int_equal(g->nbufs, 0);
	goal_graph_free(g);
}

static void tags__highest_wins(void **state)
{
	struct goal_graph *g = graph_of(0, 2);

	(void)state;
	assert_int_equal(goal_tags(NULL, 1), -EINVAL);
	assert_int_equal(goal_tags(g, GOAL_MAX_TAGS + 1u), -E2BIG);
	assert_int_equal(goal_tags(g, 5), 0);
	assert_int_equal(goal_tags(g, 3), 0);
	assert_int_equal(g->ntags, 5);
	goal_send(g, 0, 0, 0, 1, 9);
	assert_int_equal(g->ntags, 10);
	goal_graph_free(g);
}

static void user_size__before_its_use(void **state)
{
	struct goal_graph *g = graph_of(0, 2);

	(void)state;
	assert_int_equal(goal_user_size(NULL, 8), -EINVAL);
	assert_int_equal(goal_user_size(g, 0), -EINVAL);
	assert_int_equal(goal_user_size(g, 8), 0);
	assert_int_equal(goal_user_size(g, 12), 0);
	assert_int_equal(goal_reduce(g, 1, 0, 0, 0, 3, GOAL_TYPE_USER, GOAL_ROP_USER), 0);
	/* 36 bytes each: they meet when 24 apart. */
	assert_int_equal(goal_reduce(g, 1, 0, 1, 24, 3, GOAL_TYPE_USER, GOAL_ROP_USER), -EINVAL);
	assert_int_equal(goal_reduce(g, 1, 0, 1, 36, 3, GOAL_TYPE_USER, GOAL_ROP_USER), 1);
	assert_int_equal(goal_user_size(g, 12), 0);
	assert_int_equal(goal_user_size(g, 8), -EINVAL);
	goal_graph_free(g);
}

static void requires__arguments(void **state)
{
	struct goal_graph *g = graph_of(0, 2);
	int64_t a = goal_nop(g), b = goal_nop(g);

	(void)state;
	assert_int_equal(goal_requires(NULL, a, b), -EINVAL);
	assert_int_equal(goal_requires(g, a, a), -EINVAL);
	assert_int_equal(goal_requires(g, a, 2), -EINVAL);
	assert_int_equal(goal_requires(g, 2, a), -EINVAL);
	assert_int_equal(goal_requires(g, a, -EINVAL), -EINVAL);
	assert_int_equal(goal_irequires(g, -1, b), -EINVAL);
	assert_int_equal(goal_irequires(g, a, INT64_MAX), -EINVAL);
	assert_int_equal(goal_irequires(g, INT64_MIN, b), -EINVAL);
	assert_int_equal(g->ndeps, 0);
	assert_int_equal(goal_requires(g, a, b), 0);
	assert_int_equal(goal_irequires(g, b, a), 0);
	assert_int_equal(g->ndeps, 2);
	goal_graph_free(g);
}

static void length_from__arguments(void **state)
{
	struct goal_graph *g = graph_of(0, 2);
	int64_t recv = goal_recv(g, 1, 0, 8, 1, 0);
	int64_t send = goal_send(g, 1, 0, 8, 1, 0);
	int64_t copy = goal_copy(g, 0, 0, 1, 0, 8);
	int64_t nop = goal_nop(g);

	(void)state;
	assert_int_equal(goal_length_from(NULL, send, recv), -EINVAL);
	assert_int_equal(goal_length_from(g, recv, recv), -EINVAL);
	assert_int_equal(goal_length_from(g, nop, recv), -EINVAL);
	assert_int_equal(goal_length_from(g, send, copy), -EINVAL);
	assert_int_equal(goal_length_from(g, send, 9), -EINVAL);
	assert_int_equal(goal_length_from(g, -1, recv), -EINVAL);
	assert_int_equal(g->ndeps, 0);
	assert_int_equal(goal_length_from(g, send, recv), 0);
	assert_int_equal(goal_length_from(g, copy, recv), 0);
	assert_int_equal(g->ndeps, 2);
	/* One source is enough. */
	assert_int_equal(goal_length_from(g, send, recv), -EINVAL);
	goal_graph_free(g);
}

static void reserve__limit(void **state)
{
	uint32_t *array = NULL, room = 0, n;

	(void)state;
	for (n = 0; n < 100; n++) {
		assert_int_equal(graph_reserve((void **)&array, &room, n, 1, 100, sizeof(*array)),
				 0);
		assert_true(room > n && room <= 100);
		array[n] = n;
	}
	assert_int_equal(graph_reserve((void **)&array, &room, n, 1, 100, sizeof(*array)), -E2BIG);
	for (n = 0; n < 100; n++)
		assert_int_equal(array[n], n);
	free(array);
}

/* The graph and the core must be of one mind about every pair of type and operation. */
static void element__as_in_the_core(void **state)
{
	uint32_t dtype, rop;

	(void)state;
	for (dtype = 0; dtype <= GOAL_TYPES; dtype++) {
		assert_int_equal(graph_type_size(dtype), core_type_size(dtype));
		for (rop = 0; rop <= GOAL_ROPS; rop++)
			if (graph_reduce_valid(dtype, rop) != core_reduce_valid(dtype, rop))
				fail_msg("type %u, operation %u", dtype, rop);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(create__arguments),
		cmocka_unit_test(ops__identifiers_count_up),
		cmocka_unit_test(ops__out_of_range),
		cmocka_unit_test(scratch__offsets_and_bounds),
		cmocka_unit_test(tags__highest_wins),
		cmocka_unit_test(user_size__before_its_use),
		cmocka_unit_test(requires__arguments),
		cmocka_unit_test(length_from__arguments),
		cmocka_unit_test(reserve__limit),
		cmocka_unit_test(element__as_in_the_core),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
