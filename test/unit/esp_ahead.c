// SPDX-License-Identifier: BSD-3-Clause
/*
 * Messages ahead of their runs, where none is kept: a rank that only sends is hundreds of runs ahead of
 * who receives. They are refused once each, one record stands for all of them, and each run gets its
 * own when it starts.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

#include "home.h"

#define RUNS 200 /* more than params.refuse_max, so that a record each would not do */
#define LEN  8

static void open_pair(void)
{
	struct home_op op = { GOAL_OP_RECV, 0, 0, 0, LEN };
	struct esp_params p;

	esp_params_default(&p);
	p.keep_max = 0;
	home_open(2, 1, &p);
	home.buf = 4096;
	home_start(home.node[1], 1, &op, 1);
	op = (struct home_op){ GOAL_OP_SEND, 1, 0, 0, LEN };
	home_start(home.node[0], 1, &op, 1);
	assert_true(home_pass(50 * ESP_MS, home_idle));
}

static void send_ahead(void)
{
	struct home_op op = { GOAL_OP_SEND, 1, 0, 0, LEN };
	u32 i;

	for (i = 0; i < RUNS; i++)
		home_start(home.node[0], 2 + i, &op, 1);
	home_pass(100 * ESP_MS, NULL);
	assert_int_equal(home.node[1]->flows->f.nwaits, 1);
	assert_int_equal(home_counted(ESP_C_refused_busy), 0);
	assert_int_equal(home_counted(ESP_C_msg_parked), RUNS);
}

static struct home_run *receive(u32 i)
{
	struct home_op op = { GOAL_OP_RECV, 0, 0, 0, LEN };

	return home_start(home.node[1], 2 + i, &op, 1);
}

/* One run after the other: a round trip each, and no message is sent that has to be refused again. */
static void in_order(void **state)
{
	u64 refused;
	u32 i;

	(void)state;
	open_pair();
	send_ahead();
	refused = home_counted(ESP_C_refused_run);
	for (i = 0; i < RUNS; i++) {
		struct home_run *r = receive(i);

		home_pass(4 * home.delay + 100 * ESP_US, NULL);
		assert_true(r->over);
		assert_int_equal(r->run.status, 0);
	}
	assert_int_equal(home_counted(ESP_C_refused_run), refused);
	assert_true(home_pass(50 * ESP_MS, home_idle));
	assert_int_equal(home.node[1]->flows->f.nwaits, 0);
	home_close();
}

/* Nothing demands that runs start in the order of their numbers. */
static void out_of_order(void **state)
{
	u32 i;

	(void)state;
	open_pair();
	send_ahead();
	for (i = RUNS; i-- > 0;) {
		struct home_run *r = receive(i % 2 ? i / 2 : RUNS - 1 - i / 2);

		home_pass(50 * ESP_MS, NULL);
		assert_true(r->over);
		assert_int_equal(r->run.status, 0);
	}
	assert_true(home_pass(50 * ESP_MS, home_idle));
	assert_int_equal(home.node[1]->flows->f.nwaits, 0);
	home_close();
}

/* Without memory for READY of one run all of them are told to come. */
static void without_memory(void **state)
{
	struct home_node *n;
	struct home_run *r;
	u32 i;

	(void)state;
	open_pair();
	send_ahead();
	n = home.node[1];
	n->pool_max[ESP_POOL_CTL] = 1;
	r = receive(0);
	home_pass(100 * ESP_MS, NULL);
	assert_true(r->over);
	assert_int_equal(n->flows->f.nwaits, 1);
	for (i = 1; i < RUNS; i++)
		receive(i);
	assert_true(home_pass(500 * ESP_MS, home_idle));
	home_close();
}

/* The receiver is no more: what it refused ends at the sender. */
static void of_nobody(void **state)
{
	struct home_node *n;

	(void)state;
	open_pair();
	send_ahead();
	n = home.node[1];
	n->has_member = false;
	n->ep_state = ESP_EP_GONE;
	home.node[0]->flows->f.vouched = true;
	esp_say_gone(&n->flows->f, n->ep.cookie, home.now);
	home_pass(50 * ESP_MS, NULL);
	assert_int_equal(home_counted(ESP_C_msg_failed), RUNS);
	assert_int_equal(home.node[0]->flows->f.nmsgs, 0);
	assert_int_equal(home.node[0]->m.failed, -ECONNRESET);
	esp_member_removed(&n->m, home.now);
	home_close();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(in_order),
		cmocka_unit_test(out_of_order),
		cmocka_unit_test(without_memory),
		cmocka_unit_test(of_nobody),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
