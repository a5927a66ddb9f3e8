// SPDX-License-Identifier: BSD-3-Clause
/*
 * Runs that end early, at every stage of what they do, and those who would wait for them.
 */
#include "engine_pair.h"

/* A send to itself waits for a receive that waits for a peer who never sends: cancel. */
static void cancel__ends_a_send_to_itself(void **state)
{
	struct goal_graph *g = pair_graph(0, 2);
	uint64_t from = 3, to[2];
	struct goal_loaded *l;
	struct goal_run *run;
	struct pair_bufs b;
	struct pair p;
	int64_t peer, recv;

	(void)state;
	pair_create(&p, 2, NULL);
	assert_true(goal_send(g, GOAL_BUF_SEND, 0, 8, 0, 0) >= 0);
	peer = goal_recv(g, GOAL_BUF_RECV, 0, 8, 1, 0);
	recv = goal_recv(g, GOAL_BUF_RECV, 8, 8, 0, 0);
	assert_int_equal(goal_requires(g, recv, peer), 0);
	l = pair_load(&p, 0, g);
	pair_bind(&b, &from, 8, to, 16);
	run = pair_start(&p, 0, l, 0, &b);
	pair_settle(&p);
	assert_int_equal(goal_run_test(run), 0);
	goal_run_cancel(run);
	assert_int_equal(pair_end(&p, run), -ECANCELED);
	assert_int_equal(goal_unload(l), 0);
	pair_free(&p);
}

/* Cancel one side of a transfer at each of its stages; the other side ends, too. */
static void cancel__at_every_stage(void **state)
{
	static const uint64_t sizes[] = { 8, 4000, 500000 };
	uint8_t *from = calloc(1, 500000), *to = calloc(1, 500000);
	uint32_t i, who, turns, k, op_id = 0;

	(void)state;
	assert_non_null(from);
	assert_non_null(to);
	for (i = 0; i < 3; i++) {
		for (who = 0; who < 2; who++) {
			struct pair p;

			pair_create(&p, 2, NULL);
			for (turns = 0; turns < 12; turns++) {
				struct goal_loaded *l[2];
				struct goal_run *run[2];
				struct pair_bufs b[2];
				int rc;

				for (k = 0; k < 2; k++) {
					l[k] = pair_load(&p, k,
							 pair_one_way(k, sizes[i], sizes[i]));
					pair_bind(&b[k], from, sizes[i], to, sizes[i]);
				}
				run[0] = pair_start(&p, 0, l[0], op_id, &b[0]);
				run[1] = pair_start(&p, 1, l[1], op_id, &b[1]);
				op_id++;
				for (k = 0; k < turns; k++)
					goal_engine_progress(p.engine[k % 2]);
				goal_run_cancel(run[who]);
				rc = pair_wait(&p, run[who]);
				assert_true(rc == 0 || rc == -ECANCELED);
				rc = pair_wait(&p, run[!who]);
				assert_true(rc == 0 || rc == -ECONNABORTED);
				if (rc)
					assert_int_equal(goal_run_peer(run[!who]), who);
				pair_settle(&p);
				for (k = 0; k < 2; k++) {
					goal_run_free(run[k]);
					assert_int_equal(goal_unload(l[k]), 0);
				}
			}
			/* Nothing is out of step afterwards. */
			pair_check_exchange(&p, sizes[i], op_id++);
			pair_free(&p);
		}
	}
	free(from);
	free(to);
}

/* Rank 0 cancels before its second send, which rank 1 waits for, and rank 1's send to 2 as well. */
static void cancel__spreads_to_those_who_would_wait(void **state)
{
	struct goal_loaded *l[3];
	struct goal_run *run[3];
	struct goal_graph *g[3];
	uint64_t from = 1, to = 0;
	struct pair_bufs b;
	struct pair p;
	int64_t first, second;
	uint32_t i, late;

	(void)state;
	pair_create(&p, 3, NULL);
	for (i = 0; i < 3; i++)
		g[i] = pair_graph(i, 3);
	/* 0 waits for 2, then sends to 1; 1 waits for 0, then sends to 2; 2 waits for 1. */
	first = goal_recv(g[0], GOAL_BUF_RECV, 0, 8, 2, 0);
	second = goal_send(g[0], GOAL_BUF_SEND, 0, 8, 1, 0);
	assert_int_equal(goal_requires(g[0], second, first), 0);
	first = goal_recv(g[1], GOAL_BUF_RECV, 0, 8, 0, 0);
	second = goal_send(g[1], GOAL_BUF_SEND, 0, 8, 2, 0);
	assert_int_equal(goal_requires(g[1], second, first), 0);
	first = goal_recv(g[2], GOAL_BUF_RECV, 0, 8, 1, 0);
	second = goal_send(g[2], GOAL_BUF_SEND, 0, 8, 0, 0);
	assert_int_equal(goal_requires(g[2], second, first), 0);
	for (i = 0; i < 3; i++)
		l[i] = pair_load(&p, i, g[i]);
	pair_bind(&b, &from, 8, &to, 8);
	for (late = 0; late < 2; late++) {
		run[0] = pair_start(&p, 0, l[0], late, &b);
		if (!late)
			for (i = 1; i < 3; i++)
				run[i] = pair_start(&p, i, l[i], late, &b);
		pair_settle(&p);
		goal_run_cancel(run[0]);
		pair_settle(&p);
		if (late)
			for (i = 1; i < 3; i++)
				run[i] = pair_start(&p, i, l[i], late, &b);
		assert_int_equal(pair_end(&p, run[0]), -ECANCELED);
		assert_int_equal(pair_wait(&p, run[1]), -ECONNABORTED);
		assert_int_equal(goal_run_peer(run[1]), 0);
		goal_run_free(run[1]);
		assert_int_equal(pair_wait(&p, run[2]), -ECONNABORTED);
		assert_int_equal(goal_run_peer(run[2]), 1);
		goal_run_free(run[2]);
	}
	for (i = 0; i < 3; i++)
		assert_int_equal(goal_unload(l[i]), 0);
	pair_free(&p);
}

static void group_fail__ends_all_runs_now_and_later(void **state)
{
	struct goal_run_attr attr = { .op_id = 9, .nbufs = 2 };
	struct goal_run *run[3], *later = NULL;
	struct goal_loaded *l;
	struct pair_bufs b;
	uint64_t to[3];
	struct pair p;
	uint32_t i;

	(void)state;
	pair_create(&p, 2, NULL);
	l = pair_load(&p, 1, pair_one_way(1, 8, 8));
	for (i = 0; i < 3; i++) {
		pair_bind(&b, NULL, 0, &to[i], 8);
		run[i] = pair_start(&p, 1, l, i, &b);
	}
	goal_group_fail(p.group[1], -EPIPE, 0);
	for (i = 0; i < 3; i++) {
		assert_int_equal(goal_run_test(run[i]), -EPIPE);
		assert_int_equal(goal_run_peer(run[i]), 0);
		goal_run_free(run[i]);
	}
	attr.bufs = b.buf;
	assert_int_equal(goal_start(p.group[1], l, &attr, &later), -EPIPE);
	assert_int_equal(goal_exec(p.group[1], l, &attr, NULL), -EPIPE);
	assert_int_equal(pair_stats(&p, 1).runs_failed, 3);
	assert_int_equal(goal_unload(l), 0);
	pair_free(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(cancel__ends_a_send_to_itself),
		cmocka_unit_test(cancel__at_every_stage),
		cmocka_unit_test(cancel__spreads_to_those_who_would_wait),
		cmocka_unit_test(group_fail__ends_all_runs_now_and_later),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
