// SPDX-License-Identifier: BSD-3-Clause
/*
 * Reductions on the host engine: the user's, and elements that lie across segments.
 */
#include "engine_pair.h"

/* inout = in * 2 + inout: neither commutative nor anything the core knows. */
static int twice(void *arg, const void *in, void *inout, uint64_t count)
{
	const uint64_t *a = in;
	uint64_t *b = inout, i;

	*(uint32_t *)arg += 1;
	for (i = 0; i < count; i++)
		b[i] = a[i] * 2 + b[i];
	return 0;
}

static int refuse(void *arg, const void *in, void *inout, uint64_t count)
{
	(void)arg;
	(void)in;
	(void)inout;
	(void)count;
	return -EDOM;
}

static void reduce__by_callback(void **state)
{
	uint64_t in[4] = { 1, 2, 3, 4 }, out[4] = { 10, 20, 30, 40 };
	struct goal_graph *g = pair_graph(0, 1);
	struct goal_run_attr attr = { .nbufs = 2, .reduce = twice };
	/* The second element of each straddles two segments. */
	struct goal_segment cut_in[2] = { { in, 12 }, { (char *)in + 12, 20 } };
	struct goal_segment cut_out[2] = { { out, 13 }, { (char *)out + 13, 19 } };
	struct goal_buffer cut[2] = { { cut_in, 2 }, { cut_out, 2 } };
	struct goal_loaded *l;
	struct pair_bufs b;
	uint32_t calls = 0, i;
	struct pair p;

	(void)state;
	pair_create(&p, 1, NULL);
	assert_int_equal(goal_user_size(g, 8), 0);
	assert_true(goal_reduce(g, GOAL_BUF_RECV, 0, GOAL_BUF_SEND, 0, 4, GOAL_TYPE_USER,
				GOAL_ROP_USER) >= 0);
	l = pair_load(&p, 0, g);
	pair_bind(&b, in, sizeof(in), out, sizeof(out));
	attr.bufs = b.buf;
	attr.reduce_arg = &calls;
	assert_int_equal(goal_exec(p.group[0], l, &attr, NULL), 0);
	assert_int_equal(calls, 1);
	for (i = 0; i < 4; i++)
		assert_int_equal(out[i], 12 * (i + 1));
	attr.bufs = cut;
	attr.op_id = 1;
	/* Elements in pieces are aligned for the callback, whole ones lie where they are bound. */
	assert_int_equal(goal_exec(p.group[0], l, &attr, NULL), 0);
	for (i = 0; i < 4; i++)
		assert_int_equal(out[i], 14 * (i + 1));
	attr.op_id = 2;
	attr.bufs = b.buf;
	attr.reduce = refuse;
	assert_int_equal(goal_exec(p.group[0], l, &attr, NULL), -EDOM);
	assert_int_equal(goal_unload(l), 0);
	pair_free(&p);
}

static void reduce__element_across_segments(void **state)
{
	int32_t in[4] = { 1, 2, 3, 4 }, out[4] = { 10, 20, 30, 40 };
	struct goal_segment cut_in[2] = { { in, 6 }, { (char *)in + 6, 10 } };
	struct goal_segment cut_out[1] = { { out, 16 } };
	struct goal_buffer cut[2] = { { cut_in, 2 }, { cut_out, 1 } };
	struct goal_run_attr attr = { .nbufs = 2, .bufs = cut };
	struct goal_graph *g = pair_graph(0, 1);
	struct goal_loaded *l;
	struct pair p;
	uint32_t i;

	(void)state;
	pair_create(&p, 1, NULL);
	assert_true(goal_reduce(g, GOAL_BUF_RECV, 0, GOAL_BUF_SEND, 0, 4, GOAL_TYPE_INT32,
				GOAL_ROP_SUM) >= 0);
	l = pair_load(&p, 0, g);
	assert_int_equal(goal_exec(p.group[0], l, &attr, NULL), 0);
	for (i = 0; i < 4; i++)
		assert_int_equal(out[i], 11 * ((int32_t)i + 1));
	assert_int_equal(goal_unload(l), 0);
	pair_free(&p);
}

enum {
	EARLY = 200
};

/* What waits for later runs, as seen by the callback of @arg's rank 1. */
static int count_early(void *arg, const void *in, void *inout, uint64_t count)
{
	(void)in;
	(void)inout;
	(void)count;
	assert_true(pair_stats(arg, 1).early < EARLY);
	return 0;
}

/* A reduction does not wait until nothing more arrives. */
static void reduce__before_all_is_polled(void **state)
{
	struct goal_engine_attr engine = { .ring_slots = 256 };
	uint64_t in = 1, out = 2;
	struct goal_graph *g = pair_graph(1, 2);
	struct goal_run_attr attr = { .op_id = EARLY, .nbufs = 2, .reduce = count_early };
	struct goal_run *run[EARLY];
	struct goal_loaded *l, *ping;
	struct pair_bufs b;
	struct pair p;
	uint32_t i;

	(void)state;
	pair_create(&p, 2, &engine);
	pair_bind(&b, &in, sizeof(in), &out, sizeof(out));
	ping = pair_load(&p, 0, pair_one_way(0, 8, 8));
	for (i = 0; i < EARLY; i++)
		run[i] = pair_start(&p, 0, ping, i, &b);
	assert_int_equal(goal_user_size(g, 8), 0);
	assert_true(goal_reduce(g, GOAL_BUF_RECV, 0, GOAL_BUF_SEND, 0, 1, GOAL_TYPE_USER,
				GOAL_ROP_USER) >= 0);
	l = pair_load(&p, 1, g);
	attr.bufs = b.buf;
	attr.reduce_arg = &p;
	assert_int_equal(goal_exec(p.group[1], l, &attr, NULL), 0);
	assert_true(pair_stats(&p, 1).early > 0);
	for (i = 0; i < EARLY; i++)
		assert_int_equal(pair_end(&p, run[i]), 0);
	assert_int_equal(goal_unload(ping), 0);
	assert_int_equal(goal_unload(l), 0);
	pair_free(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reduce__by_callback),
		cmocka_unit_test(reduce__element_across_segments),
		cmocka_unit_test(reduce__before_all_is_polled),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
