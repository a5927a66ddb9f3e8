// SPDX-License-Identifier: BSD-3-Clause
/*
 * Runs: how they overlap, what is refused, callbacks, and what becomes of their memory.
 */
#include "engine_pair.h"

static void start__overlapping_runs_in_any_order(void **state)
{
	enum {
		RUNS = 30
	};
	uint64_t from[2][RUNS], to[2][RUNS];
	struct goal_run *run[2][RUNS];
	struct goal_loaded *l[2];
	struct pair_bufs b[2][RUNS];
	struct pair p;
	uint32_t i, r;

	(void)state;
	pair_create(&p, 2, NULL);
	for (r = 0; r < 2; r++)
		l[r] = pair_load(&p, r, pair_exchange(r, 8));
	for (i = 0; i < RUNS; i++) {
		for (r = 0; r < 2; r++) {
			/* One forwards, the other in steps of 7, backwards. */
			uint32_t id = r ? (RUNS - i) * 7 % RUNS : i;

			from[r][id] = id * 10 + r;
			to[r][id] = 0;
			pair_bind(&b[r][id], &from[r][id], 8, &to[r][id], 8);
			run[r][id] = pair_start(&p, r, l[r], id, &b[r][id]);
		}
	}
	for (i = 0; i < RUNS; i++) {
		for (r = 0; r < 2; r++) {
			assert_int_equal(pair_end(&p, run[r][i]), 0);
			assert_int_equal(to[r][i], i * 10 + !r);
		}
	}
	for (r = 0; r < 2; r++)
		assert_int_equal(goal_unload(l[r]), 0);
	pair_free(&p);
}

static void start__same_identity_twice_is_refused(void **state)
{
	struct goal_run_attr attr = { .op_id = 4, .nbufs = 2 };
	struct goal_run *run, *again = NULL;
	struct goal_loaded *l;
	struct pair_bufs b;
	uint64_t to;
	struct pair p;

	(void)state;
	pair_create(&p, 2, NULL);
	l = pair_load(&p, 1, pair_one_way(1, 8, 8));
	pair_bind(&b, NULL, 0, &to, 8);
	run = pair_start(&p, 1, l, 4, &b);
	attr.bufs = b.buf;
	assert_int_equal(goal_start(p.group[1], l, &attr, &again), -EINVAL);
	attr.start = 1;
	assert_int_equal(goal_start(p.group[1], l, &attr, &again), 0);
	assert_int_equal(goal_group_free(p.group[1]), -EBUSY);
	assert_int_equal(goal_unload(l), -EBUSY);
	goal_run_cancel(run);
	goal_run_cancel(again);
	assert_int_equal(goal_run_test(run), -ECANCELED);
	assert_int_equal(goal_run_peer(run), -1);
	assert_int_equal(pair_end(&p, run), -ECANCELED);
	assert_int_equal(pair_end(&p, again), -ECANCELED);
	assert_int_equal(goal_unload(l), 0);
	pair_free(&p);
}

static void start__what_does_not_fit_is_refused(void **state)
{
	struct goal_run_attr attr = { .op_id = 1 };
	struct goal_run *run = NULL;
	struct goal_loaded *l, *other, *user;
	struct goal_graph *g;
	struct pair_bufs b;
	uint64_t to;
	struct pair p;

	(void)state;
	pair_create(&p, 2, NULL);
	l = pair_load(&p, 1, pair_one_way(1, 8, 8));
	/* A buffer is missing, or too small. */
	assert_int_equal(goal_start(p.group[1], l, &attr, &run), -EFAULT);
	pair_bind(&b, NULL, 0, &to, 7);
	attr.nbufs = 2;
	attr.bufs = b.buf;
	assert_int_equal(goal_start(p.group[1], l, &attr, &run), -EFAULT);
	assert_int_equal(goal_exec(p.group[1], l, &attr, NULL), -EFAULT);
	/* Another rank's schedule, another engine's, more peers than the group has. */
	pair_bind(&b, NULL, 0, &to, 8);
	assert_int_equal(goal_start(p.group[0], l, &attr, &run), -EINVAL);
	other = pair_load(&p, 1, pair_graph(1, 3));
	assert_int_equal(goal_start(p.group[1], other, &attr, &run), -EINVAL);
	assert_int_equal(goal_unload(other), 0);
	other = pair_load(&p, 1, pair_graph(0, 2));
	assert_int_equal(goal_start(p.group[1], other, &attr, &run), -EINVAL);
	/* A reduction by callback, and none is given. */
	g = pair_graph(1, 2);
	assert_int_equal(goal_user_size(g, 8), 0);
	assert_true(goal_reduce(g, GOAL_BUF_RECV, 0, GOAL_BUF_RECV, 0, 0, GOAL_TYPE_USER,
				GOAL_ROP_USER) >= 0);
	user = pair_load(&p, 1, g);
	assert_int_equal(goal_start(p.group[1], user, &attr, &run), -EINVAL);
	assert_null(run);
	assert_int_equal(pair_stats(&p, 1).runs, 0);
	assert_int_equal(goal_unload(user), 0);
	assert_int_equal(goal_unload(other), 0);
	assert_int_equal(goal_unload(l), 0);
	pair_free(&p);
}

/* A chain of runs, each started by the callback of the one before, all at one level of stack. */
struct chain {
	struct goal_group *group;
	struct goal_loaded *loaded;
	struct goal_run *run;
	uint32_t left, depth, deepest;
	int status;
};

static void next(void *arg, int status)
{
	struct chain *c = arg;
	struct goal_run_attr attr = { .op_id = c->left, .done = next, .done_arg = c };
	struct goal_run *last = c->run;

	c->status |= status;
	if (++c->depth > c->deepest)
		c->deepest = c->depth;
	if (c->left) {
		c->left--;
		attr.op_id = c->left;
		assert_int_equal(goal_start(c->group, c->loaded, &attr, &c->run), 0);
	}
	goal_run_free(last);
	c->depth--;
}

static void done__starts_the_next_run_without_recursion(void **state)
{
	struct goal_run_attr attr = { .op_id = 100000, .done = next };
	struct chain c = { .left = 100000 };
	struct pair p;

	(void)state;
	pair_create(&p, 1, NULL);
	c.group = p.group[0];
	c.loaded = pair_load(&p, 0, pair_graph(0, 1));
	attr.done_arg = &c;
	assert_int_equal(goal_start(c.group, c.loaded, &attr, &c.run), 0);
	assert_int_equal(c.left, 0);
	assert_int_equal(c.status, 0);
	assert_int_equal(c.deepest, 1);
	assert_false(goal_engine_active(p.engine[0]));
	assert_int_equal(goal_unload(c.loaded), 0);
	pair_free(&p);
}

/* goal_exec() runs what the schedule says and nothing else. */
static void exec__changed_bytes_change_the_result(void **state)
{
	int32_t in = 5, out = 7, expect;
	struct goal_graph *g = pair_graph(0, 1);
	struct goal_run_attr attr = { .nbufs = 2 };
	struct goal_schedule *schedule, *changed;
	struct goal_loaded *l;
	struct goal_error error;
	struct pair_bufs b;
	struct goal_op *op;
	struct pair p;
	size_t bytes;
	void *data;
	uint32_t i;

	(void)state;
	pair_create(&p, 1, NULL);
	assert_true(goal_reduce(g, GOAL_BUF_RECV, 0, GOAL_BUF_SEND, 0, 1, GOAL_TYPE_INT32,
				GOAL_ROP_SUM) >= 0);
	assert_int_equal(goal_compile(g, &schedule, &error), 0);
	goal_graph_free(g);
	pair_bind(&b, &in, 4, &out, 4);
	attr.bufs = b.buf;
	for (i = 0; i < 2; i++) {
		const void *original = goal_schedule_data(schedule, &bytes);

		data = malloc(bytes);
		assert_non_null(data);
		memcpy(data, original, bytes);
		op = (struct goal_op *)((char *)data + sizeof(struct goal_sched_hdr));
		if (i)
			op->rop = GOAL_ROP_PROD;
		assert_int_equal(goal_schedule_read(data, bytes, &changed, &error), 0);
		assert_int_equal(goal_load(p.engine[0], changed, &l, &error), 0);
		out = 7;
		expect = i ? 35 : 12;
		attr.op_id = i;
		assert_int_equal(goal_exec(p.group[0], l, &attr, NULL), 0);
		assert_int_equal(out, expect);
		goal_schedule_free(changed);
		assert_int_equal(goal_unload(l), 0);
		free(data);
	}
	goal_schedule_free(schedule);
	pair_free(&p);
}

static void load__counts_its_memory(void **state)
{
	struct goal_run *run[3];
	struct goal_loaded *l;
	struct pair_bufs b;
	size_t one, three;
	uint64_t to[3];
	struct pair p;
	uint32_t i;

	(void)state;
	pair_create(&p, 2, NULL);
	l = pair_load(&p, 1, pair_one_way(1, 8, 8));
	one = goal_loaded_bytes(l);
	assert_true(one > 128);
	for (i = 0; i < 3; i++) {
		pair_bind(&b, NULL, 0, &to[i], 8);
		run[i] = pair_start(&p, 1, l, i, &b);
	}
	three = goal_loaded_bytes(l);
	assert_true(three > one);
	for (i = 0; i < 3; i++) {
		goal_run_cancel(run[i]);
		goal_run_free(run[i]);
	}
	assert_int_equal(goal_loaded_bytes(l), three);
	assert_int_equal(pair_stats(&p, 1).loads, 1);
	assert_int_equal(goal_unload(l), 0);
	pair_free(&p);
}

/* Idle runs keep their scratch for the next ones, within bounds. */
static void run_free__keeps_scratch_within_bounds(void **state)
{
	static const struct {
		uint64_t scratch;
		uint32_t keep;
	} cases[] = { { 0, 8 }, { 1 << 10, 8 }, { 300000, 4 }, { 600000, 2 }, { 2 << 20, 1 } };
	uint32_t i, k, round;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct goal_graph *g = pair_graph(1, 2);
		struct goal_run *run[8];
		struct goal_loaded *l;
		struct pair_bufs b;
		uint64_t to[8], allocs;
		size_t one, all;
		struct pair p;

		pair_create(&p, 2, NULL);
		assert_true(goal_recv(g, GOAL_BUF_RECV, 0, 8, 0, 0) >= 0);
		if (cases[i].scratch)
			assert_int_equal(goal_scratch(g, cases[i].scratch), 0);
		l = pair_load(&p, 1, g);
		one = goal_loaded_bytes(l);
		for (round = 0; round < 2; round++) {
			allocs = pair_stats(&p, 1).allocs;
			for (k = 0; k < 8; k++) {
				pair_bind(&b, NULL, 0, &to[k], 8);
				run[k] = pair_start(&p, 1, l, 8 * round + k, &b);
			}
			allocs = pair_stats(&p, 1).allocs - allocs;
			assert_int_equal(allocs, 8 - (round ? cases[i].keep : 1));
			all = goal_loaded_bytes(l);
			for (k = 0; k < 8; k++) {
				goal_run_cancel(run[k]);
				goal_run_free(run[k]);
			}
			/* What is left is that many of the 8 runs. */
			assert_int_equal((all - goal_loaded_bytes(l)) * 7,
					 (all - one) * (8 - cases[i].keep));
		}
		assert_int_equal(goal_unload(l), 0);
		pair_free(&p);
	}
}

/* Given up while it is active: it ends by itself, and its memory is used again. */
static void run_free__before_the_end(void **state)
{
	struct goal_loaded *l[2];
	struct goal_run *run;
	struct pair_bufs b;
	uint64_t from = 42, to = 0;
	struct pair p;

	(void)state;
	pair_create(&p, 2, NULL);
	l[0] = pair_load(&p, 0, pair_one_way(0, 8, 8));
	l[1] = pair_load(&p, 1, pair_one_way(1, 8, 8));
	pair_bind(&b, &from, 8, &to, 8);
	goal_run_free(pair_start(&p, 1, l[1], 3, &b));
	assert_int_equal(goal_unload(l[1]), -EBUSY);
	run = pair_start(&p, 0, l[0], 3, &b);
	assert_int_equal(pair_end(&p, run), 0);
	pair_settle(&p);
	assert_int_equal(to, 42);
	assert_int_equal(goal_unload(l[0]), 0);
	assert_int_equal(goal_unload(l[1]), 0);
	pair_free(&p);
}

static void run_wait__gives_up_in_time(void **state)
{
	struct goal_loaded *l;
	struct goal_run *run;
	struct pair_bufs b;
	uint64_t to;
	struct pair p;

	(void)state;
	pair_create(&p, 2, NULL);
	l = pair_load(&p, 1, pair_one_way(1, 8, 8));
	pair_bind(&b, NULL, 0, &to, 8);
	run = pair_start(&p, 1, l, 3, &b);
	assert_int_equal(goal_run_wait(run, 0), -ETIMEDOUT);
	assert_int_equal(goal_run_wait(run, 30), -ETIMEDOUT);
	assert_int_equal(goal_run_test(run), 0);
	goal_run_cancel(run);
	assert_int_equal(goal_run_wait(run, -1), -ECANCELED);
	goal_run_free(run);
	assert_int_equal(goal_unload(l), 0);
	pair_free(&p);
}

/* Rank 0's run, which is to be told. */
struct told {
	struct goal_run *run;
	uint32_t times;
	int again; /* what a restart from within the callback was told */
};

static void tell(void *arg, int status)
{
	struct told *t = arg;

	assert_int_equal(status, 0);
	t->times++;
	t->again = goal_restart(t->run, 1000);
}

static void restart__as_started(void **state)
{
	struct told told = { 0 };
	struct goal_run_attr attr = { .op_id = 7, .nbufs = 2, .done = tell, .done_arg = &told };
	struct goal_loaded *l[2];
	struct goal_run *run[2];
	struct pair_bufs b[2];
	uint64_t from[2], to[2], allocs;
	struct pair p;
	uint32_t r, n;

	(void)state;
	pair_create(&p, 2, NULL);
	for (r = 0; r < 2; r++) {
		l[r] = pair_load(&p, r, pair_exchange(r, 8));
		pair_bind(&b[r], &from[r], 8, &to[r], 8);
	}
	for (n = 0; n < 300; n++) {
		for (r = 0; r < 2; r++) {
			from[r] = n * 2 + r;
			to[r] = 0;
			attr.bufs = b[r].buf;
			attr.done = r ? NULL : tell;
			if (n)
				assert_int_equal(goal_restart(run[r], n), 0);
			else
				assert_int_equal(goal_start(p.group[r], l[r], &attr, &run[r]), 0);
			told.run = run[0];
			if (!r)
				assert_int_equal(goal_restart(run[r], n + 1), -EBUSY);
		}
		for (r = 0; r < 2; r++) {
			assert_int_equal(pair_wait(&p, run[r]), 0);
			assert_int_equal(to[r], n * 2 + !r);
		}
		assert_int_equal(told.times, n + 1);
		assert_int_equal(told.again, -EBUSY);
		if (!n)
			allocs = pair_stats(&p, 0).allocs;
	}
	assert_int_equal(pair_stats(&p, 0).allocs, allocs);
	assert_int_equal(pair_stats(&p, 0).runs, 300);
	for (r = 0; r < 2; r++) {
		assert_int_equal(goal_unload(l[r]), -EBUSY);
		goal_run_free(run[r]);
		assert_int_equal(goal_unload(l[r]), 0);
	}
	pair_free(&p);
}

static void restart__after_a_failure(void **state)
{
	struct goal_run_attr attr = { .op_id = 3, .start = 5, .nbufs = 2 };
	struct goal_run *run, *other;
	struct goal_loaded *l[2];
	struct pair_bufs b[2];
	uint64_t from = 0x1122334455667788, to = 0;
	struct pair p;
	uint32_t r;

	(void)state;
	pair_create(&p, 2, NULL);
	for (r = 0; r < 2; r++)
		l[r] = pair_load(&p, r, pair_one_way(r, 8, 8));
	pair_bind(&b[0], &from, 8, NULL, 0);
	pair_bind(&b[1], NULL, 0, &to, 8);
	run = pair_start(&p, 1, l[1], 3, &b[1]);
	goal_run_cancel(run);
	assert_int_equal(pair_wait(&p, run), -ECANCELED);
	assert_int_equal(goal_restart(run, 1), 0);
	assert_int_equal(goal_run_test(run), 0);

	assert_int_equal(goal_restart(run, 2), -EBUSY);
	goal_run_cancel(run);
	assert_int_equal(pair_wait(&p, run), -ECANCELED);

	/* The name is another run's. */
	attr.bufs = b[1].buf;
	assert_int_equal(goal_start(p.group[1], l[1], &attr, &other), 0);
	assert_int_equal(goal_restart(run, 5), -EINVAL);
	assert_int_equal(goal_run_test(run), -ECANCELED);
	goal_run_cancel(other);
	assert_int_equal(pair_end(&p, other), -ECANCELED);

	/* Its message is here before. */
	attr.start = 6;
	attr.bufs = b[0].buf;
	assert_int_equal(goal_start(p.group[0], l[0], &attr, &other), 0);
	assert_int_equal(pair_end(&p, other), 0);
	goal_engine_progress(p.engine[1]);
	assert_int_equal(pair_stats(&p, 1).early, 1);
	assert_int_equal(goal_restart(run, 6), 0);
	assert_int_equal(goal_run_test(run), 1);
	assert_int_equal(from, to);

	goal_group_fail(p.group[1], -EHOSTDOWN, 0);
	assert_int_equal(goal_restart(run, 7), -EHOSTDOWN);
	assert_int_equal(goal_run_test(run), 1);
	assert_int_equal(goal_engine_active(p.engine[1]), 0);
	goal_run_free(run);
	for (r = 0; r < 2; r++)
		assert_int_equal(goal_unload(l[r]), 0);
	pair_free(&p);
}

/* One member can have failed before it begins again: the others hear of it as of any start. */
static void restart__refused_is_told(void **state)
{
	struct goal_loaded *l[2];
	struct goal_run *run[2];
	struct pair_bufs b[2];
	uint64_t from[2] = { 1, 2 }, to[2];
	struct pair p;
	uint32_t r;

	(void)state;
	pair_create(&p, 2, NULL);
	for (r = 0; r < 2; r++) {
		l[r] = pair_load(&p, r, pair_exchange(r, 8));
		pair_bind(&b[r], &from[r], 8, &to[r], 8);
		run[r] = pair_start(&p, r, l[r], 1, &b[r]);
	}
	for (r = 0; r < 2; r++)
		assert_int_equal(pair_wait(&p, run[r]), 0);
	goal_group_fail(p.group[0], -EHOSTDOWN, 1);
	assert_int_equal(goal_restart(run[0], 1), -EHOSTDOWN);
	assert_int_equal(goal_restart(run[1], 1), 0);
	assert_int_equal(pair_wait(&p, run[1]), -ECONNABORTED);
	assert_int_equal(goal_run_test(run[0]), 1);
	for (r = 0; r < 2; r++) {
		goal_run_free(run[r]);
		assert_int_equal(goal_unload(l[r]), 0);
	}
	pair_free(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(start__overlapping_runs_in_any_order),
		cmocka_unit_test(start__same_identity_twice_is_refused),
		cmocka_unit_test(start__what_does_not_fit_is_refused),
		cmocka_unit_test(done__starts_the_next_run_without_recursion),
		cmocka_unit_test(exec__changed_bytes_change_the_result),
		cmocka_unit_test(load__counts_its_memory),
		cmocka_unit_test(run_free__keeps_scratch_within_bounds),
		cmocka_unit_test(run_free__before_the_end),
		cmocka_unit_test(run_wait__gives_up_in_time),
		cmocka_unit_test(restart__as_started),
		cmocka_unit_test(restart__after_a_failure),
		cmocka_unit_test(restart__refused_is_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
