// SPDX-License-Identifier: BSD-3-Clause
/*
 * The kernel engine when it has no object or no memory for a run, or its last messages are not
 * accepted yet, over a device of the test's own: what waits, what ends, and who hears of it.
 */
#include "engine_kernel.h"

/* Runs that overlap: as many objects as there are, the others wait. */
static void objects__are_kept_and_waited_for(void **state)
{
	struct goal_run *run[2][10];
	struct goal_loaded *l[2];
	uint32_t made = 0;
	struct pair p;

	(void)state;
	fake_reset();
	fake.objects = 4;
	pair_create(&p, 2, &kernel);
	for (uint32_t i = 0; i < 2; i++)
		l[i] = pair_load(&p, i, barrier(i, 2));
	for (uint32_t round = 0; round < 3; round++) {
		for (uint32_t i = 0; i < 10; i++)
			run[0][i] = pair_start(&p, 0, l[0], 10 * round + i, NULL);
		assert_int_equal(fake.calls[START], 20 * round + 4);
		/* One that waits for its turn is cancelled, and one that has it. */
		if (round == 2) {
			goal_run_cancel(run[0][7]);
			goal_run_cancel(run[0][1]);
		}
		for (uint32_t i = 0; i < 10; i++)
			run[1][i] = pair_start(&p, 1, l[1], 10 * round + i, NULL);
		for (uint32_t i = 0; i < 10; i++) {
			int rc = round == 2 && (i == 1 || i == 7) ? -ECANCELED : 0;

			assert_int_equal(pair_end(&p, run[0][i]), rc);
			/* What the active one had to send has left. */
			assert_int_equal(pair_end(&p, run[1][i]), rc && i == 7 ? -ECONNABORTED : 0);
		}
		if (!round)
			made = fake.calls[RUN];
	}
	/* Some are refused, then there are enough. */
	assert_true(made < 20 && fake.calls[RUN] < made + 40);
	assert_int_equal(fake.made, 8);
	for (uint32_t i = 0; i < 2; i++)
		assert_int_equal(goal_unload(l[i]), 0);
	pair_free(&p);
	nothing_left();
}

static void objects__of_idle_schedules_are_given_back(void **state)
{
	struct goal_loaded *l[2][6];
	struct goal_run *run[2];
	struct pair p;

	(void)state;
	fake_reset();
	fake.objects = 3;
	pair_create(&p, 2, &kernel);
	for (uint32_t k = 0; k < 6; k++)
		for (uint32_t i = 0; i < 2; i++)
			l[i][k] = pair_load(&p, i, barrier(i, 2));
	for (uint32_t n = 0; n < 30; n++) {
		for (uint32_t i = 0; i < 2; i++)
			run[i] = pair_start(&p, i, l[i][n * 5 % 6], n, NULL);
		for (uint32_t i = 0; i < 2; i++)
			assert_int_equal(pair_end(&p, run[i]), 0);
	}
	assert_true(fake.calls[FREE] > 0);
	assert_int_equal(fake.made, 6);
	for (uint32_t k = 0; k < 6; k++)
		for (uint32_t i = 0; i < 2; i++)
			assert_int_equal(goal_unload(l[i][k]), 0);
	pair_free(&p);
	nothing_left();
}

/* Its last messages have not been accepted yet: another object is taken, or waited for. */
static void objects__that_still_send_are_left_alone(void **state)
{
	struct goal_run *run[2][3];
	struct goal_loaded *l[2];
	struct pair p;

	(void)state;
	fake_reset();
	fake.objects = 2;
	fake.keeps = true;
	pair_create(&p, 2, &kernel);
	for (uint32_t i = 0; i < 2; i++)
		l[i] = pair_load(&p, i, barrier(i, 2));
	for (uint32_t n = 0; n < 3; n++)
		for (uint32_t i = 0; i < 2; i++)
			run[i][n] = pair_start(&p, i, l[i], n, NULL);
	for (uint32_t n = 0; n < 2; n++)
		for (uint32_t i = 0; i < 2; i++)
			assert_int_equal(pair_end(&p, run[i][n]), 0);
	assert_int_equal(goal_run_wait(run[0][2], 2), -ETIMEDOUT);
	fake_release();
	for (uint32_t i = 0; i < 2; i++)
		assert_int_equal(pair_end(&p, run[i][2]), 0);
	assert_int_equal(fake.made, 4);
	for (uint32_t i = 0; i < 2; i++)
		assert_int_equal(goal_unload(l[i]), 0);
	pair_free(&p);
	nothing_left();
}

/* More runs of a group than the device has active at a time: the others wait. */
static void start__waits_where_too_many_are_active(void **state)
{
	struct goal_run *run[2][12];
	struct goal_loaded *l[2];
	struct pair p;

	(void)state;
	fake_reset();
	fake.actives = 3;
	pair_create(&p, 2, &kernel);
	for (uint32_t i = 0; i < 2; i++)
		l[i] = pair_load(&p, i, barrier(i, 2));
	for (uint32_t i = 0; i < 12; i++)
		run[0][i] = pair_start(&p, 0, l[0], i, NULL);
	/* While none is over, it asks no more. */
	assert_int_equal(fake.crowded, 1);
	assert_int_equal(goal_run_wait(run[0][5], 5), -ETIMEDOUT);
	assert_int_equal(fake.crowded, 1);
	goal_run_cancel(run[0][8]); /* it waits */
	for (uint32_t i = 0; i < 12; i++) {
		run[1][i] = pair_start(&p, 1, l[1], i, NULL);
		assert_int_equal(pair_end(&p, run[1][i]), i == 8 ? -ECONNABORTED : 0);
		assert_int_equal(pair_end(&p, run[0][i]), i == 8 ? -ECANCELED : 0);
	}
	assert_in_range(fake.crowded, 2, 24);
	assert_int_equal(pair_stats(&p, 0).runs_failed, 1);
	for (uint32_t i = 0; i < 2; i++)
		assert_int_equal(goal_unload(l[i]), 0);
	pair_free(&p);
	nothing_left();
}

/* A member that cannot start a run lets the others know, and goes on with the next one. */
static void start__that_fails_is_told(void **state)
{
	static const int rcs[] = { -EFAULT, -ENOMEM };
	struct goal_run_attr attr = { .op_id = 0 };
	struct goal_run *run[2] = { NULL, NULL };
	struct goal_loaded *l[2];
	struct pair_bufs b;
	uint64_t data[2] = { 1, 2 };
	struct pair p;

	(void)state;
	fake_reset();
	pair_create(&p, 2, &kernel);
	for (uint32_t i = 0; i < 2; i++)
		l[i] = pair_load(&p, i, pair_exchange(i, 8));
	pair_bind(&b, &data[0], 8, &data[1], 8);
	for (uint32_t n = 0; n < 3; n++) {
		attr.op_id = n;
		attr.nbufs = n < 2 ? 2 : 0; /* too small: not even asked for */
		attr.bufs = b.buf;
		if (n < 2)
			fake.rc[START] = rcs[n];
		run[1] = NULL;
		if (n == 1)
			assert_int_equal(goal_exec(p.group[0], l[0], &attr, NULL), rcs[n]);
		else
			assert_int_equal(goal_start(p.group[0], l[0], &attr, &run[0]), -EFAULT);
		assert_int_equal(fake.failed_starts, n + 1);
		run[1] = pair_start(&p, 1, l[1], n, &b);
		assert_int_equal(pair_end(&p, run[1]), -ECONNABORTED);
	}
	assert_int_equal(pair_stats(&p, 0).runs, 0);
	assert_int_equal(pair_stats(&p, 0).runs_failed, 0);
	for (uint32_t i = 0; i < 2; i++)
		run[i] = pair_start(&p, i, l[i], 9, &b);
	for (uint32_t i = 0; i < 2; i++)
		assert_int_equal(pair_end(&p, run[i]), 0);
	/* A name is used once. */
	attr.op_id = 9;
	attr.nbufs = 2;
	assert_int_equal(goal_start(p.group[0], l[0], &attr, &run[0]), -EINVAL);
	for (uint32_t i = 0; i < 2; i++)
		assert_int_equal(goal_unload(l[i]), 0);
	pair_free(&p);
	nothing_left();
}

static struct goal_run *to_cancel;
static void cancel_it(void)
{
	fake.starting = NULL;
	goal_run_cancel(to_cancel);
}

/* Another thread cancels a run while this one starts it. */
static void start__is_cancelled_meanwhile(void **state)
{
	struct goal_run_attr attr = { .op_id = 3 };
	struct goal_loaded *l[2];
	struct goal_run *run;
	struct pair p;

	(void)state;
	fake_reset();
	pair_create(&p, 2, &kernel);
	for (uint32_t i = 0; i < 2; i++)
		l[i] = pair_load(&p, i, barrier(i, 2));
	fake.starting = cancel_it;
	assert_int_equal(goal_start(p.group[0], l[0], &attr, &to_cancel), 0);
	assert_int_equal(pair_end(&p, to_cancel), -ECANCELED);
	run = pair_start(&p, 1, l[1], 3, NULL);
	/* What it had to send has left. */
	assert_int_equal(pair_end(&p, run), 0);
	for (uint32_t i = 0; i < 2; i++)
		assert_int_equal(goal_unload(l[i]), 0);
	pair_free(&p);
	nothing_left();
}

/* The same, while the start is refused since too many are active: it waits, to let the others know. */
static void start__is_cancelled_where_too_many_are_active(void **state)
{
	struct goal_run_attr attr = { .op_id = 2 };
	struct goal_run *run[3];
	struct goal_loaded *l[2];
	struct pair p;

	(void)state;
	fake_reset();
	fake.actives = 1;
	pair_create(&p, 2, &kernel);
	for (uint32_t i = 0; i < 2; i++)
		l[i] = pair_load(&p, i, barrier(i, 2));
	run[0] = pair_start(&p, 0, l[0], 1, NULL);
	fake.starting = cancel_it;
	assert_int_equal(goal_start(p.group[0], l[0], &attr, &to_cancel), 0);
	assert_null(fake.starting);
	assert_int_equal(fake.crowded, 1);
	run[1] = pair_start(&p, 1, l[1], 1, NULL);
	assert_int_equal(pair_end(&p, run[0]), 0);
	assert_int_equal(pair_end(&p, run[1]), 0);
	run[2] = pair_start(&p, 1, l[1], 2, NULL);
	assert_int_equal(pair_end(&p, to_cancel), -ECANCELED);
	assert_int_equal(pair_end(&p, run[2]), -ECONNABORTED);
	for (uint32_t i = 0; i < 2; i++)
		assert_int_equal(goal_unload(l[i]), 0);
	pair_free(&p);
	nothing_left();
}

/* Other processes have all the memory: it is waited for, or the whole group hears that it fails. */
static void start__waits_for_memory_of_others(void **state)
{
	struct goal_run_attr attr = { .op_id = 1 };
	struct goal_run *run[2];
	struct goal_loaded *l[2];
	struct pair p;

	(void)state;
	for (uint32_t there = 0; there < 2; there++) {
		fake_reset();
		pair_create(&p, 2, &kernel);
		fake.objects = 0;
		l[0] = pair_load(&p, 0, barrier(0, 2));
		assert_int_equal(goal_start(p.group[0], l[0], &attr, &run[0]), 0);
		assert_int_equal(goal_run_wait(run[0], 30), -ETIMEDOUT);
		assert_int_equal(fake.calls[START], 0);
		assert_true(fake.calls[RUN] >= 3);
		fake.objects = there ? 2 : 0;
		if (!there) {
			/* After some seconds. */
			assert_int_equal(goal_run_wait(run[0], 20000), -ENOSPC);
			goal_run_free(run[0]);
		}
		fake.objects = 2;
		l[1] = pair_load(&p, 1, barrier(1, 2));
		run[1] = pair_start(&p, 1, l[1], 1, NULL);
		assert_int_equal(pair_end(&p, run[1]), there ? 0 : -ECONNABORTED);
		if (there)
			assert_int_equal(pair_end(&p, run[0]), 0);
		for (uint32_t i = 0; i < 2; i++)
			assert_int_equal(goal_unload(l[i]), 0);
		pair_free(&p);
		nothing_left();
	}
}

#define AHEAD 32 /* runs that a blocking call may be ahead of receivers */

static uint32_t slept;

static void receivers_catch_up(void)
{
	slept++;
	fake_release();
}

static void receivers_take_one(void)
{
	slept++;
	fake_release_one();
}

static void receivers_are_behind(struct pair *p, uint32_t members, void (*sleeping)(void))
{
	fake_reset();
	fake.keeps = true;
	fake.sleeping = sleeping;
	slept = 0;
	pair_create(p, members, &kernel);
}

/* A rank of so many sleeps each @most runs, of a schedule that receives or not. */
static void sleeps_each(uint32_t members, uint32_t most, bool receives)
{
	struct goal_loaded *l, *other;
	struct goal_graph *g;
	struct pair p;

	receivers_are_behind(&p, members, receivers_catch_up);
	g = pair_graph(0, members);
	if (receives)
		assert_true(goal_recv(g, GOAL_BUF_RECV, 0, 0, 1, 0) >= 0);
	else
		assert_true(goal_nop(g) >= 0); /* it ends at once, as what only sends does */
	l = pair_load(&p, 0, g);
	g = pair_graph(1, members);
	assert_true(goal_send(g, GOAL_BUF_SEND, 0, 0, 0, 0) >= 0);
	other = pair_load(&p, 1, g);
	for (uint32_t n = 0; n < 3 * most; n++) {
		struct goal_run_attr attr = { .op_id = n };

		if (receives)
			assert_int_equal(pair_end(&p, pair_start(&p, 1, other, n, NULL)), 0);
		assert_int_equal(goal_exec(p.group[0], l, &attr, NULL), 0);
		assert_int_equal(slept, n / most);
	}
	fake_release();
	assert_int_equal(goal_unload(l), 0);
	assert_int_equal(goal_unload(other), 0);
	pair_free(&p);
	nothing_left();
}

static void waits_for_half(void)
{
	struct goal_loaded *l;
	struct goal_graph *g;
	struct pair p;

	receivers_are_behind(&p, 2, receivers_take_one);
	g = pair_graph(0, 2);
	assert_true(goal_nop(g) >= 0);
	l = pair_load(&p, 0, g);
	for (uint32_t n = 0; n < AHEAD + AHEAD / 2; n++) {
		struct goal_run_attr attr = { .op_id = n };

		assert_int_equal(goal_exec(p.group[0], l, &attr, NULL), 0);
		/* All in one wait. */
		if (n < AHEAD)
			assert_int_equal(slept, 0);
		else
			assert_int_equal(slept, AHEAD / 2 + 1);
	}
	fake_release();
	assert_int_equal(goal_unload(l), 0);
	pair_free(&p);
	nothing_left();
}

/*
 * A blocking call waits for receivers when it is 32 runs ahead, all members together but each by 12 at
 * least, until they have taken half of them.
 */
static void exec__waits_for_receivers_that_are_behind(void **state)
{
	(void)state;
	sleeps_each(2, AHEAD, false);
	sleeps_each(3, AHEAD / 2, false);
	sleeps_each(4, 12, false);
	sleeps_each(2, AHEAD, true);
	waits_for_half();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(objects__are_kept_and_waited_for, end),
		cmocka_unit_test_teardown(objects__of_idle_schedules_are_given_back, end),
		cmocka_unit_test_teardown(objects__that_still_send_are_left_alone, end),
		cmocka_unit_test_teardown(start__waits_where_too_many_are_active, end),
		cmocka_unit_test_teardown(start__that_fails_is_told, end),
		cmocka_unit_test_teardown(start__is_cancelled_meanwhile, end),
		cmocka_unit_test_teardown(start__is_cancelled_where_too_many_are_active, end),
		cmocka_unit_test_teardown(start__waits_for_memory_of_others, end),
		cmocka_unit_test_teardown(exec__waits_for_receivers_that_are_behind, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
