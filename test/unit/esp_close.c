// SPDX-License-Identifier: BSD-3-Clause
/*
 * The end of an endpoint in parts: many messages and receptions of it, beside those of others, and
 * what may become of their flow between two parts.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

#include "home.h"

#define MANY 100

static struct esp_params params(void)
{
	struct esp_params p;

	esp_params_default(&p);
	p.keep_max = 0;
	return p;
}

/* MANY messages of @len bytes in one run. */
static struct home_run *run(u32 at, u32 peer, u32 opid, bool sends, u64 len)
{
	struct home_op op[MANY];
	u32 i;

	for (i = 0; i < MANY; i++)
		op[i] = (struct home_op){ sends ? GOAL_OP_SEND : GOAL_OP_RECV, peer, i, i * len,
					  len };
	return home_start(home.node[at], opid, op, MANY);
}

/* Node 0 has sent MANY messages to node 1, which has refused them; @common: it had no queue for them. */
static struct esp_flow *refused(bool common)
{
	struct esp_params p = params();
	struct esp_flow *f;

	home_open(2, 1, &p);
	if (common)
		home.node[0]->pool_max[ESP_POOL_QUEUE] = 0;
	run(0, 1, 1, true, 8);
	home_pass(20 * ESP_MS, NULL);
	f = &home.node[0]->flows->f;
	assert_int_equal(f->nmsgs, MANY);
	assert_int_equal(f->common.nmsgs, common ? MANY : 0);
	return f;
}

static u32 linked(const struct esp_link *head)
{
	const struct esp_link *l;
	u32 n = 0;

	for (l = head->next; l != head; l = l->next)
		n++;
	return n;
}

static bool part(struct esp_close *c, bool clean)
{
	return esp_ep_close(&home.node[0]->ep, c, clean, home.now);
}

/* A clean end takes several parts, each of a few messages; and all of them get there. */
static void clean(void **state)
{
	u32 common, before, now, parts;

	(void)state;
	for (common = 0; common < 2; common++) {
		struct esp_flow *f = refused(common);
		struct esp_close c = { .flow = NULL };
		struct home_run *r;
		bool more;

		before = 0;
		parts = 0;
		do {
			more = part(&c, true);
			now = linked(&f->leaving);
			assert_in_range(now - before, 0, 16);
			before = now;
			parts++;
			home_pass(ESP_MS, NULL);
		} while (more);
		assert_in_range(parts, MANY / 16, MANY);
		assert_int_equal(before, MANY);
		assert_int_equal(home.node[0]->msgs, MANY);
		assert_int_equal(linked(&f->common.msgs), common ? MANY : 0);
		r = run(1, 0, 1, false, 8);
		assert_true(home_pass(ESP_S, home_idle));
		assert_int_equal(r->run.status, 0);
		home_pass(50 * ESP_MS, NULL); /* until the last one is acknowledged */
		assert_int_equal(home.node[0]->msgs, 0);
		assert_int_equal(home.node[0]->pool_used[ESP_POOL_QUEUE], 0);
		home_close();
	}
}

/* What nobody takes is given up when its time is over, which comes for all at once. */
static void left_behind(void **state)
{
	u32 common;

	(void)state;
	for (common = 0; common < 2; common++) {
		struct esp_close c = { .flow = NULL };
		u64 due, i;

		refused(common);
		due = home.now + home.node[0]->n.p.linger;
		while (part(&c, true))
			;
		home_pass(due - ESP_MS - home.now, NULL);
		assert_int_equal(home.node[0]->msgs, MANY);
		for (i = 0; i < 200; i++) {
			int before = home.node[0]->msgs;

			home_pass(10 * ESP_US, NULL);
			assert_in_range(before - home.node[0]->msgs, 0, 64);
		}
		assert_int_equal(home.node[0]->msgs, 0);
		home_close();
	}
}

static void unclean(void **state)
{
	u32 common;

	(void)state;
	for (common = 0; common < 2; common++) {
		struct esp_close c = { .flow = NULL };
		struct esp_flow *f = refused(common);

		esp_member_fail(&home.node[0]->m, -ECONNRESET, 0, home.now);
		assert_true(part(&c, false));
		/* Those that the peer knows of have to be cancelled there: it knows of none. */
		assert_int_equal(f->nmsgs, MANY - 16);
		while (part(&c, false))
			;
		assert_int_equal(f->nmsgs, 0);
		assert_int_equal(home.node[0]->msgs, 0);
		home_close();
	}
}

/* Of what another endpoint has in the common queue nothing changes. */
static void beside(void **state)
{
	struct esp_ep other = { .cookie = 99 };
	struct esp_flow *f = refused(true);
	struct esp_close c = { .flow = NULL };
	struct esp_link *l;
	u32 i = 0;

	(void)state;
	other.node = &home.node[0]->n;
	for (l = f->common.msgs.next; l != &f->common.msgs; l = l->next)
		if (++i % 3)
			esp_entry(l, struct esp_msg, all.link)->ep = &other;
	while (part(&c, false))
		;
	assert_int_equal(f->nmsgs, MANY - MANY / 3);
	assert_int_equal(linked(&f->common.msgs), MANY - MANY / 3);
	for (l = f->common.msgs.next; l != &f->common.msgs; l = l->next)
		assert_ptr_equal(esp_entry(l, struct esp_msg, all.link)->ep, &other);
	home.node[0]->ep.cookie = 98;
	memset(&c, 0, sizeof(c));
	while (esp_ep_close(&other, &c, false, home.now))
		;
	assert_int_equal(f->nmsgs, 0);
	home_close();
}

/* Two endpoints close at the same time: each has a mark of its own in the list. */
static void both(void **state)
{
	struct esp_ep other = { .cookie = 99 };
	struct esp_flow *f = refused(true);
	struct esp_close c[2] = { { .flow = NULL }, { .flow = NULL } };
	bool more[2] = { true, true };
	struct esp_link *l;
	u32 i = 0;

	(void)state;
	other.node = &home.node[0]->n;
	for (l = f->common.msgs.next; l != &f->common.msgs; l = l->next)
		if (++i % 3)
			esp_entry(l, struct esp_msg, all.link)->ep = &other;
	while (more[0] || more[1]) {
		if (more[0])
			more[0] = part(&c[0], false);
		if (more[1])
			more[1] = esp_ep_close(&other, &c[1], false, home.now);
	}
	assert_int_equal(f->nmsgs, 0);
	assert_int_equal(linked(&f->common.msgs), 0);
	home_close();
}

/* The flow begins anew, or ends, while an endpoint is closing. */
static void meanwhile(void **state)
{
	u32 common, kill;

	(void)state;
	for (common = 0; common < 2; common++)
		for (kill = 0; kill < 2; kill++) {
			struct esp_close c = { .flow = NULL };
			struct esp_flow *f = refused(common);
			struct home_run *r;

			env_flow_get(f);
			assert_true(part(&c, true));
			if (kill) {
				esp_flow_kill(f, home.now);
				assert_int_equal(f->nmsgs, MANY - 64);
				home_look();
				assert_int_equal(f->nmsgs, 0);
			} else {
				struct esp_todo t;

				esp_todo_init(&t, f->node, home.now);
				env_flow_lock(f);
				esp_flow_reset(f, &t);
				env_flow_unlock(f);
				esp_todo_run(f, &t);
			}
			while (part(&c, true))
				;
			assert_int_equal(linked(&f->common.msgs), common && !kill ? MANY : 0);
			env_flow_put(f);
			assert_int_equal(home.node[0]->msgs, kill ? 0 : MANY);
			if (!kill) {
				r = run(1, 0, 1, false, 8);
				assert_true(home_pass(5 * ESP_S, home_idle));
				assert_int_equal(r->run.status, 0);
			}
			home_close();
		}
}

/* Long messages that come in, each with a reception. @cut: the peer is forgotten in between. */
static void receptions(void **state)
{
	u32 cut;

	(void)state;
	for (cut = 0; cut < 2; cut++) {
		struct esp_params p = params();
		struct esp_close c = { .flow = NULL };
		struct home_run *r;
		struct esp_flow *f;
		u32 parts = 0;
		bool more;

		home_open(2, 1, &p);
		r = run(0, 1, 1, false, 30000);
		run(1, 0, 1, true, 30000);
		home_pass(2 * ESP_MS, NULL);
		f = &home.node[0]->flows->f;
		env_flow_get(f);
		assert_in_range(f->nrx, 20, MANY);
		do {
			more = part(&c, true);
			if (more && cut && !parts)
				esp_flow_kill(f, home.now);
			parts++;
		} while (more);
		home_look();
		assert_in_range(parts, 2, MANY);
		assert_int_equal(f->nrx, 0);
		assert_int_equal(linked(&f->rx), 0);
		env_flow_put(f);
		home_pass(ESP_S, NULL);
		assert_true(r->over);
		assert_int_equal(r->run.status, cut ? r->run.status : -ECANCELED);
		assert_int_not_equal(r->run.status, 0);
		home_close();
	}
}

/* A run that is cancelled ends its own receptions, a few at a time, and nobody else's. */
static void cancelled(void **state)
{
	struct esp_params p = params();
	struct home_run *r[2];
	struct esp_flow *f;
	u32 at = 0, before, calls = 0, i;
	bool more;

	(void)state;
	home_open(2, 1, &p);
	home.buf = HOME_BUF;
	for (i = 0; i < 2; i++) {
		r[i] = run(0, 1, 1 + i, false, 30000);
		run(1, 0, 1 + i, true, 30000);
	}
	home_pass(2 * ESP_MS, NULL);
	f = &home.node[0]->flows->f;
	assert_in_range(f->nrx, 40, 2 * MANY);
	core_cancel(&r[0]->run, -ECANCELED, 1);
	do {
		before = r[0]->run.busy;
		more = esp_run_cancelled(&r[0]->erun, &at, home.now);
		assert_in_range(before - r[0]->run.busy, 0, 32);
		calls++;
	} while (more);
	assert_in_range(calls, 2, MANY);
	assert_true(r[0]->over);
	assert_true(home_pass(5 * ESP_S, home_idle));
	assert_int_equal(r[0]->run.status, -ECANCELED);
	assert_int_equal(r[1]->run.status, 0);
	home_close();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(clean),       cmocka_unit_test(unclean),
		cmocka_unit_test(left_behind), cmocka_unit_test(beside),
		cmocka_unit_test(both),        cmocka_unit_test(meanwhile),
		cmocka_unit_test(receptions),  cmocka_unit_test(cancelled),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
