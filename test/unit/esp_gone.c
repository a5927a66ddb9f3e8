// SPDX-License-Identifier: BSD-3-Clause
/* Endpoints that are no more: who says so, how often, who believes it, and who is silent instead. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

#include "home.h"

static struct esp_params params(void)
{
	struct esp_params p;

	esp_params_default(&p);
	return p;
}

static struct home_run *start(u32 at, u32 code, u32 peer, u32 opid)
{
	struct home_op op = { code, peer, 0, 0, 8 };

	return home_start(home.node[at], opid, &op, 1);
}

static void transfer(u32 from, u32 to, u32 opid)
{
	struct home_run *r = start(to, GOAL_OP_RECV, from, opid);

	start(from, GOAL_OP_SEND, to, opid);
	assert_true(home_pass(50 * ESP_MS, home_idle));
	assert_int_equal(r->run.status, 0);
}

/* The only endpoint of node 1 closes, and with it goes all memory but what flows have themselves. */
static struct home_node *desert(void)
{
	struct home_node *n = home.node[1];
	u32 i;

	n->has_member = false;
	esp_member_removed(&n->m, home.now);
	n->ep_state = ESP_EP_GONE;
	n->deserted = true;
	for (i = 0; i < ESP_POOLS; i++)
		n->pool_max[i] = 0;
	return n;
}

static void pass(u64 time)
{
	u64 end = home.now + time;

	while (home.now < end) {
		home_pass(ESP_S / 2, NULL);
		home_watch(home.node[0]);
		home_look();
	}
}

/* Whatever the peer asks after, a flow says a few GONEs at a time, and each once. */
static void gone_bounded(void **state)
{
	struct esp_params p = params();
	struct home_flow *f;
	u32 i;

	(void)state;
	home_open(2, 1, &p);
	transfer(0, 1, 1);
	f = home.node[1]->flows;
	home.loss = 65536;
	for (i = 0; i < 3; i++)
		esp_say_gone(&f->f, 4711, home.now);
	assert_int_equal(f->f.ngone, 1);
	for (i = 0; i < 100; i++)
		esp_say_gone(&f->f, 1000 + i, home.now);
	/* One as long as no table says who that is. */
	assert_int_equal(f->f.ngone, 1);
	f->f.vouched = true;
	for (i = 0; i < 100; i++)
		esp_say_gone(&f->f, 1000 + i, home.now);
	assert_int_equal(f->f.ngone, ESP_GONES);
	home_pass(20 * ESP_MS, NULL);
	home.loss = 0;
	home_pass(100 * ESP_MS, NULL);
	assert_int_equal(f->f.ngone, 0);
	assert_int_equal(home.node[0]->count[ESP_C_gone_heard], ESP_GONES);
	esp_say_gone(&f->f, 4711, home.now);
	home_pass(10 * ESP_MS, NULL);
	assert_int_equal(home.node[0]->count[ESP_C_gone_heard], ESP_GONES + 1);
	home_close();
}

/* And of what a peer says only so much is looked into; of what a stranger says nothing. */
static void gone_heeded(void **state)
{
	struct esp_params p = params();
	struct home_node *n;
	u32 i;

	(void)state;
	home_open(2, 1, &p);
	transfer(0, 1, 1);
	n = home.node[1];
	esp_gone_in(&n->flows->f, home.rank[0].cookie, home.now);
	assert_int_equal(n->count[ESP_C_gone_heard], 0);
	assert_int_equal(n->m.failed, 0);
	n->flows->f.vouched = true;
	for (i = 0; i < 100; i++)
		esp_gone_in(&n->flows->f, 4711, home.now);
	assert_int_equal(n->count[ESP_C_gone_heard], ESP_GONES);
	home_pass(25 * ESP_MS, NULL);
	for (i = 0; i < 100; i++)
		esp_gone_in(&n->flows->f, home.rank[0].cookie, home.now);
	assert_int_equal(n->count[ESP_C_gone_heard], ESP_GONES + 2);
	assert_int_equal(n->m.failed, 0); /* that takes long with many members: not here */
	home_look();
	assert_int_equal(n->m.failed, -ECONNRESET);
	home_close();
}

/* Who waits for a message of the last endpoint that was there hears that it is gone, not nothing. */
static void said_by_the_deserted(void **state)
{
	struct esp_params p = params();
	struct home_run *r;
	u32 losses;

	(void)state;
	for (losses = 0; losses < 2; losses++) {
		home_open(2, 1, &p);
		transfer(0, 1, 1);
		desert();
		r = start(0, GOAL_OP_RECV, 1, 2);
		home.loss = losses * 32768;
		pass(4 * ESP_S);
		assert_true(r->over);
		assert_int_equal(r->run.status, -ECONNRESET);
		assert_true(home.node[1]->count[ESP_C_gone_said] > 0);
		assert_int_equal(home.node[0]->count[ESP_C_flow_dead], 0);
		home.loss = 0;
		home_pass(ESP_S, NULL);
		home_close();
	}
}

/* And who sends to it does, too. */
static void said_to_senders(void **state)
{
	struct esp_params p = params();
	struct home_run *r;

	(void)state;
	home_open(2, 1, &p);
	transfer(0, 1, 1);
	desert();
	r = start(0, GOAL_OP_SEND, 1, 2);
	pass(2 * ESP_S);
	assert_true(r->over);
	assert_int_equal(home.node[0]->m.failed, -ECONNRESET);
	home_close();
}

/* To whom no flow leads any more nothing is said: not that he should come later, when nobody will be there. */
static void silent_to_others(void **state)
{
	struct esp_params p = params();
	struct home_run *r;

	(void)state;
	home_open(2, 1, &p);
	desert();
	r = start(0, GOAL_OP_RECV, 1, 1);
	pass(p.death + 4 * ESP_S);
	assert_true(r->over);
	assert_int_equal(r->run.status, -EHOSTUNREACH);
	assert_true(home.node[1]->count[ESP_C_drop_nobody] > 0);
	assert_int_equal(home.node[0]->count[ESP_C_hello_rejected], 0);
	home_close();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(gone_bounded),         cmocka_unit_test(gone_heeded),
		cmocka_unit_test(said_by_the_deserted), cmocka_unit_test(said_to_senders),
		cmocka_unit_test(silent_to_others),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
