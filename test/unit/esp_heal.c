// SPDX-License-Identifier: BSD-3-Clause
/*
 * What the protocol must recover from by itself: openings that lose frames, or take long; rails
 * that come and go at the wrong moment; failures that some of the group have not heard of.
 */
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

static struct home_run *send_run(u32 from, u32 to, u32 opid, u64 len)
{
	struct home_op op = { GOAL_OP_SEND, to, 0, 0, len };

	return home_start(home.node[from], opid, &op, 1);
}

static struct home_run *recv_run(u32 at, u32 from, u32 opid, u64 len)
{
	struct home_op op = { GOAL_OP_RECV, from, 0, 0, len };

	return home_start(home.node[at], opid, &op, 1);
}

static void transfer(u32 from, u32 to, u32 opid, u64 len, u64 patience)
{
	struct home_run *r = recv_run(to, from, opid, len);

	send_run(from, to, opid, len);
	if (!home_pass(patience, home_idle)) {
		home_dump();
		fail();
	}
	assert_int_equal(r->run.status, 0);
}

static u32 lose_type, lose_left;

static int lose(u32 from, u32 to, const u8 *bytes, u32 len)
{
	(void)from;
	(void)to;
	(void)len;
	if (bytes[1] != lose_type || !lose_left)
		return HOME_PASS;
	lose_left--;
	return HOME_DROP;
}

/* One frame of the opening is lost, or two: a millisecond or two, not more. */
static void opening_lost(void **state)
{
	struct esp_params p = params();
	u32 type, n;

	(void)state;
	for (type = ESP_T_HELLO; type <= ESP_T_ACCEPT; type++)
		for (n = 1; n <= 2; n++) {
			home_open(2, 1, &p);
			home.fate = lose;
			lose_type = type;
			lose_left = n;
			transfer(0, 1, 1, 8, n * ESP_MS);
			assert_int_equal(lose_left, 0);
			assert_int_equal(home_counted(ESP_C_flow_replaced), 0);
			home_close();
		}
}

/* Both begin at the same moment, and each kind of frame is lost once on each side. */
static void opening_crossed(void **state)
{
	struct esp_params p = params();
	struct home_run *r[2];
	u32 type, i;

	(void)state;
	for (type = ESP_T_HELLO; type <= ESP_T_ACCEPT; type++) {
		home_open(2, 1, &p);
		home.fate = lose;
		lose_type = type;
		lose_left = 2;
		for (i = 0; i < 2; i++)
			r[i] = recv_run(i, !i, 1 + i, 8);
		for (i = 0; i < 2; i++)
			send_run(i, !i, 1 + !i, 8);
		assert_true(home_pass(4 * ESP_MS, home_idle));
		for (i = 0; i < 2; i++)
			assert_int_equal(r[i]->run.status, 0);
		home_close();
	}
}

/* The round trip is much longer than the pauses between the tries: the answer is still good. */
static void opening_far(void **state)
{
	static const u64 delay[] = { 5 * ESP_MS, 40 * ESP_MS, 150 * ESP_MS };
	struct esp_params p = params();
	u32 i;

	(void)state;
	for (i = 0; i < 3; i++) {
		home_open(2, 1, &p);
		home.delay = delay[i];
		transfer(0, 1, 1, 8, 20 * delay[i]);
		if (delay[i] < 50 * ESP_MS)
			assert_int_equal(home.node[0]->count[ESP_C_flow_hello_open], 1);
		home_close();
	}
}

static u64 attempt_stamp, attempt_cid;
static u32 attempts, same_cid;

/* ACCEPT is lost until the initiator begins anew. */
static int first_attempt(u32 from, u32 to, const u8 *bytes, u32 len)
{
	const struct esp_hello *h = (const struct esp_hello *)(bytes + sizeof(struct esp_hdr));

	(void)from;
	(void)to;
	(void)len;
	if (bytes[1] == ESP_T_OPEN && le64_to_cpu(h->stamp) != attempt_stamp) {
		attempts++;
		same_cid += le64_to_cpu(h->cid) == attempt_cid;
		attempt_stamp = le64_to_cpu(h->stamp);
		attempt_cid = le64_to_cpu(h->cid);
	}
	return bytes[1] == ESP_T_ACCEPT && attempts < 3 ? HOME_DROP : HOME_PASS;
}

/*
 * The responder has taken the first attempt, and what it sent to the id of that one may still be on
 * its way: it must not reach the flow of a later attempt.
 */
static void opening_has_its_id(void **state)
{
	struct esp_params p = params();

	(void)state;
	home_open(2, 1, &p);
	attempts = 0;
	same_cid = 0;
	home.fate = first_attempt;
	transfer(0, 1, 1, 8, 2 * ESP_S);
	assert_int_equal(attempts, 3);
	assert_int_equal(same_cid, 0);
	assert_int_equal(home.node[1]->count[ESP_C_flow_replaced], 2);
	home_close();
}

static u8 kept[256];
static u32 kept_len;

static int keep_open(u32 from, u32 to, const u8 *bytes, u32 len)
{
	(void)from;
	(void)to;
	if (bytes[1] == ESP_T_OPEN && len <= sizeof(kept)) {
		memcpy(kept, bytes, len);
		kept_len = len;
	}
	return HOME_PASS;
}

/* The responder has forgotten the flow, and then a copy of the OPEN turns up, its key still good. */
static void opening_again(void **state)
{
	struct esp_params p = params();
	struct home_flow *f;

	(void)state;
	home_open(2, 1, &p);
	home.fate = keep_open;
	kept_len = 0;
	transfer(0, 1, 1, 8, 50 * ESP_MS);
	assert_true(kept_len > 0);
	home_inject(1, 0, &home.peer[0].addr[0], kept, kept_len); /* as if ACCEPT were lost */
	home_pass(10 * ESP_US, NULL);
	assert_int_equal(home.node[1]->count[ESP_C_drop_token], 0);
	f = home.node[1]->flows;
	f->refs++;
	esp_flow_kill(&f->f, home.now);
	env_flow_put(&f->f);
	home_inject(1, 0, &home.peer[0].addr[0], kept, kept_len);
	home_pass(10 * ESP_US, NULL);
	assert_int_equal(home.node[1]->count[ESP_C_drop_token], 1);
	assert_null(home.node[1]->flows);
	transfer(0, 1, 2, 8, 50 * ESP_MS); /* and who asks now is welcome */
	home_close();
}

static u32 copies;

/* On another CPU a copy of the OPEN comes in. */
static void copy_comes(void)
{
	struct home_node *hn = home.node[1];

	home.between = NULL;
	copies++;
	esp_frame_in(&hn->rail[0], &home.peer[0].addr[0], kept, kept_len, home.now);
	home.between = copy_comes;
}

/* The same at any moment while the flow ends. */
static void opening_meanwhile(void **state)
{
	struct esp_params p = params();
	struct home_flow *f;

	(void)state;
	home_open(2, 1, &p);
	home.fate = keep_open;
	kept_len = 0;
	copies = 0;
	transfer(0, 1, 1, 8, 50 * ESP_MS);
	f = home.node[1]->flows;
	f->refs++;
	home.between = copy_comes;
	esp_flow_kill(&f->f, home.now);
	home.between = NULL;
	env_flow_put(&f->f);
	assert_true(copies > 1);
	assert_int_equal(home.node[1]->count[ESP_C_drop_token], copies);
	assert_null(home.node[1]->flows);
	transfer(0, 1, 2, 8, 50 * ESP_MS);
	home_close();
}

static int nothing(u32 from, u32 to, const u8 *bytes, u32 len)
{
	(void)from;
	(void)to;
	(void)bytes;
	(void)len;
	return HOME_DROP;
}

/*
 * Both rails go and come back, one after the other, and what is said of it is lost with the other
 * one: the peer must find the paths again although no ADDR ever came.
 */
static void rails_in_turn(void **state)
{
	struct esp_params p = params();
	struct home_node *hn;
	u32 i, k;

	(void)state;
	home_open(2, 2, &p);
	transfer(0, 1, 1, 8, 50 * ESP_MS);
	home_pass(10 * ESP_MS, NULL);
	hn = home.node[0];
	esp_rail_down(&hn->rail[0], home.now);
	home_pass(5 * ESP_MS, NULL);
	assert_int_equal(home.node[1]->flows->f.path[0].state, ESP_PATH_NONE);
	home.fate = nothing;
	esp_rail_up(&hn->rail[0], 0, 1500, home.now);
	home_pass(50 * ESP_US, NULL);
	esp_rail_down(&hn->rail[1], home.now);
	home_pass(50 * ESP_US, NULL);
	esp_rail_up(&hn->rail[1], 1, 1500, home.now);
	home_pass(50 * ESP_US, NULL);
	home.fate = NULL;
	for (i = 0; i < 2; i++)
		assert_int_equal(hn->flows->f.path[i].state, ESP_PATH_PROBING);
	transfer(0, 1, 2, 100000, ESP_S);
	home_pass(ESP_S, NULL);
	for (k = 0; k < 2; k++)
		for (i = 0; i < 2; i++)
			assert_int_equal(home.node[k]->flows->f.path[i].state, ESP_PATH_UP);
	assert_int_equal(home_counted(ESP_C_flow_dead), 0);
	home_close();
}

static int one_rail(u32 from, u32 to, const u8 *bytes, u32 len)
{
	(void)from;
	(void)to;
	(void)len;
	return bytes[6] == 0 && bytes[1] == ESP_T_DATA ? HOME_DROP : HOME_PASS;
}

/* A cable is out, and there is nothing to be said on the other one for long: nobody is dead. */
static void quiet_beside_a_cut(void **state)
{
	struct esp_params p = params();

	(void)state;
	home_open(2, 2, &p);
	transfer(0, 1, 1, 1000, 50 * ESP_MS);
	home_pass(10 * ESP_MS, NULL);
	home.fate = one_rail;
	transfer(0, 1, 2, 1000000, ESP_S);
	home_pass(100 * ESP_MS, NULL);
	assert_int_equal(home.node[0]->flows->f.path[0].state, ESP_PATH_DEAD);
	home_pass(30 * ESP_S, NULL);
	assert_int_equal(home_counted(ESP_C_flow_dead), 0);
	assert_int_equal(home_counted(ESP_C_abort_group), 0);
	assert_null(home.node[0]->flows); /* forgotten, though the path was tried all the time */
	assert_null(home.node[1]->flows);
	transfer(1, 0, 3, 8, ESP_S);
	home_close();
}

/* But with no path left, who waits for the peer hears that it is dead. */
static void nothing_works(void **state)
{
	struct esp_params p = params();
	struct home_run *r;

	(void)state;
	home_open(2, 2, &p);
	transfer(0, 1, 1, 1000, 50 * ESP_MS);
	r = recv_run(0, 1, 2, 8);
	home_pass(10 * ESP_MS, NULL);
	esp_rail_down(&home.node[0]->rail[0], home.now);
	esp_rail_down(&home.node[0]->rail[1], home.now);
	home_pass(8 * ESP_S, NULL);
	assert_true(r->over);
	assert_int_equal(r->run.status, -EHOSTUNREACH);
	home_close();
}

/* Another CPU had the flow while this one's entry waited for the lock with an older time. */
static void time_goes_back(void **state)
{
	struct esp_params p = params();
	struct home_flow *f;

	(void)state;
	home_open(2, 1, &p);
	transfer(0, 1, 1, 8, 50 * ESP_MS);
	f = home.node[0]->flows;
	home_pass(ESP_S, NULL);
	esp_timer(&f->f, f->f.used - ESP_US);
	assert_int_equal(f->f.state, ESP_FLOW_UP);
	home.fate = lose;
	lose_type = ESP_T_DATA;
	lose_left = 1000;
	recv_run(1, 0, 2, 8);
	send_run(0, 1, 2, 8);
	home_pass(ESP_MS, NULL);
	assert_true(esp_flow_waits(&f->f));
	esp_timer(&f->f, f->f.progress - ESP_US);
	assert_int_equal(f->f.state, ESP_FLOW_UP);
	home.fate = NULL;
	assert_true(home_pass(ESP_S, home_idle));
	home_close();
}

/* Only what an earlier incarnation has refused is forgotten when a flow begins anew. */
static void refused_in_time(void **state)
{
	struct esp_params p = params();
	struct home_flow *f;

	(void)state;
	p.keep_max = 0;
	home_open(2, 1, &p);
	transfer(0, 1, 1, 8, 50 * ESP_MS);
	f = home.node[1]->flows;
	send_run(0, 1, 2, 8);
	home_pass(10 * ESP_MS, NULL);
	assert_int_equal(f->f.nwaits, 1);
	esp_waits_drop(&f->f, 1, f->f.renewed);
	assert_int_equal(f->f.nwaits, 1);
	recv_run(1, 0, 2, 8);
	assert_true(home_pass(10 * ESP_MS, home_idle));
	send_run(0, 1, 3, 8);
	home_pass(10 * ESP_MS, NULL);
	assert_int_equal(f->f.nwaits, 1);
	esp_waits_drop(&f->f, 1, f->f.renewed + 1);
	assert_int_equal(f->f.nwaits, 0);
	home_close();
}

/* A frame that came for a flow which has begun anew before it was looked at is not taken. */
static void renewed_meanwhile(void **state)
{
	struct esp_params p = params();
	struct home_flow *f;
	struct esp_hdr h;
	struct esp_in in;

	(void)state;
	home_open(2, 1, &p);
	transfer(0, 1, 1, 8, 50 * ESP_MS);
	f = home.node[1]->flows;
	memset(&h, 0, sizeof(h));
	h.cid = cpu_to_le64(f->f.cid ^ 1);
	memset(&in, 0, sizeof(in));
	in.h = (const u8 *)&h;
	in.hdr_len = sizeof(h);
	in.total = sizeof(h);
	esp_data_in(&f->f, &home.node[1]->rail[0], &home.peer[0].addr[0], &in, home.now);
	assert_int_equal(home.node[1]->count[ESP_C_drop_cid], 1);
	h.cid = cpu_to_le64(f->f.cid);
	esp_data_in(&f->f, &home.node[1]->rail[0], &home.peer[0].addr[0], &in, home.now);
	assert_int_equal(home.node[1]->count[ESP_C_drop_cid], 1);
	home_close();
}

/* A member has failed, or its run has, and who waits for it was never told: it asks. */
static void told_when_asked(void **state)
{
	struct esp_params p = params();
	struct esp_member *m;
	struct home_run *r;
	u32 group;

	(void)state;
	for (group = 0; group < 2; group++) {
		home_open(3, 1, &p);
		transfer(0, 1, 1, 8, 50 * ESP_MS);
		r = recv_run(0, 1, 5, 8);
		m = &home.node[1]->m;
		if (group) {
			m->failed = -ECONNRESET;
			m->failed_rank = 2;
		} else {
			esp_tomb_add(m, 5, 1, -ECONNABORTED, 1, home.now);
			esp_tomb_find(m, 5, 1)->tell = 0;
		}
		home_pass(3 * ESP_S, NULL);
		assert_true(r->over);
		assert_int_equal(r->run.status, group ? -ECONNRESET : -ECONNABORTED);
		assert_int_equal(r->run.err_peer, group ? 2 : 1);
		assert_int_equal(home.node[0]->m.failed, group ? -ECONNRESET : 0);
		assert_int_equal(home.node[2]->m.failed, group ? -ECONNRESET : 0);
		home_close();
	}
}

/* A member of the same node has failed, or its run has, and told others before they had joined. */
static void looked_up_within(void **state)
{
	struct esp_params p = params();
	struct esp_member beside;
	struct esp_ep ep;
	struct home_node *hn;
	struct home_run *r;
	u32 group;

	(void)state;
	for (group = 0; group < 2; group++) {
		home_open(3, 1, &p);
		hn = home.node[0];
		home.rank[1].peer = 0;
		ep = (struct esp_ep){ .node = &hn->n, .cookie = home.rank[1].cookie };
		beside = hn->m;
		beside.ep = &ep;
		beside.rank = 1;
		hn->beside = &beside;
		r = recv_run(0, 1, 5, 8);
		home_pass(3 * ESP_S, NULL);
		assert_false(r->over);
		if (group) {
			beside.failed = -ECONNRESET;
			beside.failed_rank = 2;
		} else {
			esp_tomb_add(&beside, 5, 1, -ECONNABORTED, 1, home.now);
			esp_tomb_find(&beside, 5, 1)->tell = 0;
		}
		home_pass(2 * ESP_S, NULL);
		assert_true(r->over);
		assert_int_equal(r->run.status, group ? -ECONNRESET : -ECONNABORTED);
		assert_int_equal(r->run.err_peer, group ? 2 : 1);
		assert_int_equal(hn->m.failed, group ? -ECONNRESET : 0);
		assert_int_equal(home.node[2]->m.failed, group ? -ECONNRESET : 0);
		home_close();
	}
}

/* An ABORT goes to the rank that asks, and only if it is on the node that asks. */
static void told_nobody_else(void **state)
{
	struct esp_params p = params();
	struct home_flow *f;
	struct esp_ask a;
	u32 i;

	(void)state;
	home_open(3, 1, &p);
	transfer(0, 1, 1, 8, 50 * ESP_MS);
	f = home.node[1]->flows;
	home.node[1]->m.failed = -ECONNABORTED;
	memset(&a, 0, sizeof(a));
	a.nonce = cpu_to_le64(home.node[1]->m.nonce);
	a.cookie = cpu_to_le64(home.node[1]->ep.cookie);
	for (i = 0; i < 5; i++) {
		a.from = cpu_to_le32(i);
		esp_ask_in(&f->f, &a, home.now);
		home_pass(ESP_MS, NULL);
		assert_int_equal(home.node[1]->count[ESP_C_abort_told], 1);
	}
	a.from = 0;
	a.nonce ^= cpu_to_le64(1);
	esp_ask_in(&f->f, &a, home.now);
	home_pass(ESP_MS, NULL);
	assert_int_equal(home.node[1]->count[ESP_C_abort_told], 1);
	home_close();
}

static int deaf(u32 from, u32 to, const u8 *bytes, u32 len)
{
	(void)to;
	(void)bytes;
	(void)len;
	return from == 1 ? HOME_DROP : HOME_PASS;
}

/* An ABORT ahead of its group whose flow ends while it is being looked at leaves nothing behind. */
static void early_of_a_dead_flow(void **state)
{
	struct esp_params p = params();
	struct home_flow *f;
	struct esp_abort a;

	(void)state;
	home_open(2, 1, &p);
	transfer(0, 1, 1, 8, 50 * ESP_MS);
	memset(&a, 0, sizeof(a));
	a.c.flags = ESP_ABORT_GROUP;
	a.nonce = cpu_to_le64(77);
	a.cookie = cpu_to_le64(home.node[1]->ep.cookie);
	a.code = cpu_to_le32(ESP_ABORT_EXIT);
	f = home.node[1]->flows;
	env_flow_get(&f->f);
	esp_abort_in(&f->f, &a, home.now);
	assert_int_equal(home.node[1]->pool_used[ESP_POOL_CTL], 1);
	esp_flow_kill(&f->f, home.now);
	assert_int_equal(home.node[1]->pool_used[ESP_POOL_CTL], 0);
	esp_abort_in(&f->f, &a, home.now);
	assert_int_equal(home.node[1]->pool_used[ESP_POOL_CTL], 0);
	env_flow_put(&f->f);
	home_close();
}

static void early_in(struct home_flow *f, u32 rank)
{
	struct esp_abort a;

	memset(&a, 0, sizeof(a));
	a.c.flags = ESP_ABORT_GROUP;
	a.nonce = cpu_to_le64(home.node[1]->m.nonce);
	a.cookie = cpu_to_le64(home.node[1]->ep.cookie);
	a.code = cpu_to_le32(ESP_ABORT_EXIT);
	a.rank = cpu_to_le32(rank);
	esp_abort_in(&f->f, &a, home.now);
}

/* An abort ahead of its group is kept if that may still come, and names nobody it does not have. */
static void early_of_nobody(void **state)
{
	struct esp_params p = params();
	struct home_node *n;

	(void)state;
	home_open(2, 1, &p);
	transfer(0, 1, 1, 8, 50 * ESP_MS);
	n = home.node[1];
	n->has_member = false;
	n->ep_state = ESP_EP_GONE;
	early_in(n->flows, 999);
	assert_int_equal(n->flows->f.nwaits, 0);
	n->ep_state = ESP_EP_OPEN;
	early_in(n->flows, 999);
	assert_int_equal(n->flows->f.nwaits, 1);
	n->has_member = true;
	esp_member_added(&n->m, home.now);
	assert_int_equal(n->flows->f.nwaits, 0);
	assert_int_equal(n->m.failed, -ECONNRESET);
	assert_int_equal(n->m.failed_rank, GOAL_OP_NONE);
	home_close();
}

/* Without a record for the next frame a flow waits, longer each time, and goes on at once when it has one. */
static void patient_without_records(void **state)
{
	struct esp_params p = params();
	struct home_node *n;
	u64 before;

	(void)state;
	home_open(2, 1, &p);
	transfer(0, 1, 1, 8, 50 * ESP_MS);
	home_pass(10 * ESP_MS, NULL);
	n = home.node[0];
	n->pool_max[ESP_POOL_SENT] = 0; /* but for the flow's own */
	recv_run(1, 0, 2, 8);
	recv_run(1, 0, 3, 8);
	home.loss = 65536;
	send_run(0, 1, 2, 8);
	home_pass(10 * ESP_US, NULL);
	send_run(0, 1, 3, 8);
	before = n->count[ESP_C_no_record];
	home_pass(100 * ESP_MS, NULL);
	assert_true(n->count[ESP_C_no_record] > before);
	assert_in_range(n->count[ESP_C_no_record] - before, 1, 300);
	home.loss = 0;
	assert_true(home_pass(200 * ESP_MS, home_idle));
	home_close();
}

/* Grants of the incarnation before stall in this one, and have to be looked at. */
static void pulls_outlive(void **state)
{
	struct esp_params p = params();
	struct esp_todo t;
	struct esp_flow *f;
	u64 at;

	(void)state;
	home_open(2, 1, &p);
	transfer(0, 1, 1, 8, 50 * ESP_MS);
	f = &home.node[1]->flows->f;
	at = home.now + 3 * ESP_MS;
	f->pull_at = at;
	esp_todo_init(&t, f->node, home.now);
	esp_flow_renew(f, &t);
	assert_int_equal(f->pull_at, at);
	f->state = ESP_FLOW_HELLO;
	f->hello_at = ESP_NEVER;
	assert_int_equal(esp_next_timer(f), at);
	home_close();
}

/* A path with all its numbers open tries no larger frame: that would open one more. */
static void probe_needs_a_number(void **state)
{
	struct esp_params p = params();
	const struct esp_path *path;

	(void)state;
	p.window_init = ESP_PN_SPAN + 88; /* so that the numbers are the limit */
	p.window_max = ESP_PN_SPAN + 88;
	p.no_pull = true;
	p.probe_min = 100 * ESP_MS;
	home_open(2, 1, &p);
	home.mtu_limit = ESP_MTU_MIN; /* so that all of it goes in small frames */
	transfer(0, 1, 1, 5000, 500 * ESP_MS);
	recv_run(1, 0, 2, 1000000);
	send_run(0, 1, 2, 1000000);
	path = &home.node[0]->flows->f.path[0];
	while (path->nsent < ESP_PN_SPAN / 2)
		home_pass(5 * ESP_US, NULL);
	home.fate = deaf;
	home_pass(10 * ESP_MS, NULL);
	assert_int_equal(path->pn - esp_entry(path->sent.next, struct esp_sent, link)->pn,
			 ESP_PN_SPAN);
	esp_rail_mtu(&home.node[0]->rail[0], 9000, home.now);
	home_pass(10 * ESP_MS, NULL);
	assert_int_equal(path->pn - esp_entry(path->sent.next, struct esp_sent, link)->pn,
			 ESP_PN_SPAN);
	home.fate = NULL;
	assert_true(home_pass(5 * ESP_S, home_idle));
	home_close();
}

/* The timer comes when something was queued after a long silence, and has not left yet. */
static void timer_before_output(void **state)
{
	struct esp_params p = params();
	struct home_run *r;
	struct esp_flow *f;

	(void)state;
	home_open(2, 1, &p);
	transfer(0, 1, 1, 8, 50 * ESP_MS);
	home_pass(p.death + ESP_S, NULL);
	f = &home.node[0]->flows->f;
	r = recv_run(1, 0, 2, 8);
	esp_batch_enter(f->node);
	send_run(0, 1, 2, 8);
	assert_true(esp_flow_waits(f));
	esp_timer(f, home.now);
	assert_int_equal(f->state, ESP_FLOW_UP);
	esp_batch_leave(f->node, home.now);
	assert_true(home_pass(50 * ESP_MS, home_idle));
	assert_int_equal(r->run.status, 0);
	home_close();
}

/* This node stood still for longer than a peer may be silent: the peer is asked before it counts as dead. */
static void stood_still(void **state)
{
	struct esp_params p = params();
	struct home_run *r;
	struct esp_flow *f;
	u32 i;

	(void)state;
	for (i = 0; i < 2; i++) {
		home_open(2, 1, &p);
		transfer(0, 1, 1, 8, 50 * ESP_MS);
		home.loss = 65536;
		r = recv_run(1, 0, 2, 8);
		send_run(0, 1, 2, 8);
		home_pass(20 * ESP_MS, NULL);
		home.loss = 0;
		home.now += 2 * p.death;
		f = &home.node[0]->flows->f;
		if (i) { /* something else comes before the timer */
			esp_flow_arm(f, home.now);
			assert_in_range(home.now - f->progress, 0, ESP_S);
		}
		assert_true(home_pass(ESP_S, home_idle));
		assert_int_equal(home_counted(ESP_C_flow_dead), 0);
		assert_int_equal(r->run.status, 0);
		home_close();
	}
}

/* An answer that took seconds does not make the next loss take as long. */
static void slow_once(void **state)
{
	struct esp_params p = params();
	struct esp_path *path;

	(void)state;
	home_open(2, 1, &p);
	transfer(0, 1, 1, 8, 50 * ESP_MS);
	path = &home.node[0]->flows->f.path[0];
	path->rtt_valid = true;
	path->srtt = 3 * ESP_S;
	path->rttvar = ESP_S;
	home.fate = lose;
	lose_type = ESP_T_DATA;
	lose_left = 1;
	transfer(0, 1, 2, 8, 2 * p.rto_max);
	assert_int_equal(lose_left, 0);
	home_close();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(opening_lost),
		cmocka_unit_test(opening_crossed),
		cmocka_unit_test(opening_far),
		cmocka_unit_test(opening_has_its_id),
		cmocka_unit_test(opening_again),
		cmocka_unit_test(opening_meanwhile),
		cmocka_unit_test(rails_in_turn),
		cmocka_unit_test(quiet_beside_a_cut),
		cmocka_unit_test(nothing_works),
		cmocka_unit_test(told_when_asked),
		cmocka_unit_test(told_nobody_else),
		cmocka_unit_test(looked_up_within),
		cmocka_unit_test(time_goes_back),
		cmocka_unit_test(refused_in_time),
		cmocka_unit_test(renewed_meanwhile),
		cmocka_unit_test(early_of_a_dead_flow),
		cmocka_unit_test(probe_needs_a_number),
		cmocka_unit_test(early_of_nobody),
		cmocka_unit_test(patient_without_records),
		cmocka_unit_test(pulls_outlive),
		cmocka_unit_test(timer_before_output),
		cmocka_unit_test(stood_still),
		cmocka_unit_test(slow_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
