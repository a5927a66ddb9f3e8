// SPDX-License-Identifier: BSD-3-Clause
/*
 * What hosts that are no node of the job can say in the hellos, and have no effect with: tokens that are
 * not theirs, fields that make no sense, addresses that cannot be, refusals.
 */
#include "esp_foreign.h"

/* A token that opens nothing is not taken from who knows its name: its address was just changing. */
static void no_token(void **state)
{
	struct esp_flow *f;

	(void)state;
	open3();
	cut = true;
	start(0, GOAL_OP_SEND, 1, 1);
	f = &home.node[0]->flows->f;
	begin(ESP_T_TOKEN, f->cid, f->stamp);
	((struct esp_hdr *)o.hdr)->cid = cpu_to_le64(f->cid);
	esp_hello_hash(home.peer[1].node, ESP_T_TOKEN, NULL, &home.peer[1].addr[0], h, h->node);
	say(0, &home.peer[1].addr[0]);
	assert_int_equal(count(0, ESP_C_drop_hello_echo), 1);
	assert_int_equal(f->state, ESP_FLOW_HELLO);
	home_close();
}

/* Flows that end at once leave the tokens of others good, and cannot be made again by a copy. */
static void no_voiding(void **state)
{
	u8 token[16];
	u32 i;

	(void)state;
	open3();
	ask(1, home.peer[1].node, 77, 5, token);
	for (i = 0; i < ESP_PASTS; i++) {
		invent(1, 1000 + i, 5);
		reset(1, 1000 + i);
		assert_null(home.node[1]->flows);
	}
	invent(1, 1000, 5);
	assert_int_equal(count(1, ESP_C_drop_token), 1);
	assert_null(home.node[1]->flows);
	begin(ESP_T_OPEN, 77, 5);
	memcpy(h->node, home.peer[HOST].node, 16);
	memcpy(h->token, token, 16);
	say(1, &place);
	answer(ESP_T_ACCEPT);
	/* One more than can be remembered. */
	ask(1, home.peer[1].node, 78, 6, token);
	reset(1, 77);
	begin(ESP_T_OPEN, 78, 6);
	memcpy(h->node, home.peer[HOST].node, 16);
	memcpy(h->token, token, 16);
	say(1, &place);
	assert_int_equal(count(1, ESP_C_drop_token), 2);
	home_close();
}

/* The more flows there are the fewer RESETs are looked into. */
static void no_searching(void **state)
{
	u32 i;

	(void)state;
	open3();
	for (i = 0; i < 64; i++)
		invent(i + 1, 1000 + i, 5);
	home.node[1]->n.p.hello_rate = 100;
	home.node[1]->n.hello_pause = ESP_S / 100;
	for (i = 0; i < 100; i++)
		reset(1, 4711);
	assert_in_range(count(1, ESP_C_drop_reset), 20, 21);
	home_pass(500 * ESP_MS, NULL);
	for (i = 0; i < 100; i++)
		reset(1, 4711);
	assert_in_range(count(1, ESP_C_drop_reset), 30, 32);
	assert_int_equal(count(1, ESP_C_drop_hello_rate) + count(1, ESP_C_drop_reset), 200);
	home_close();
}

/* What no node sends. */
static void nonsense(void **state)
{
	struct esp_addr group;
	u32 i, bad = 0;

	(void)state;
	open3();
	group = home.peer[0].addr[0];
	group.addr[0] |= 1;
	begin(ESP_T_HELLO, 77, 5);
	say(1, &group);
	assert_int_equal(count(1, ESP_C_drop_source), 1);
	/* DATA of an unknown flow would be answered with RESET. */
	esp_out_begin(&o, ESP_T_DATA, 4711);
	say(1, &group);
	assert_int_equal(count(1, ESP_C_drop_source), 2);
	assert_int_equal(count(1, ESP_C_resets_out), 0);
	esp_out_begin(&o, ESP_T_DATA, 4711);
	say(1, &home.peer[0].addr[0]);
	assert_int_equal(count(1, ESP_C_resets_out), 1);
	begin(ESP_T_HELLO, 77, 5);
	say(1, &home.peer[1].addr[0]);
	assert_int_equal(count(1, ESP_C_drop_hello_self), 1);

	for (i = 0; i < 5; i++) {
		begin(i < 3 ? ESP_T_HELLO : ESP_T_TOKEN, 77, 5);
		h->pn = cpu_to_le32(i % 3 == 0);
		h->mid = cpu_to_le32(i % 3 == 1);
		h->token[15] = i == 2;
		say(1, &home.peer[0].addr[0]);
		assert_int_equal(count(1, ESP_C_drop_hello_fields), ++bad);
	}

	/* With the stamp 0 no attempt is newer than none. */
	begin(ESP_T_OPEN, 77, 0);
	memcpy(h->node, home.peer[0].node, 16);
	esp_hello_token(&home.node[1]->n, home.now >> 32, &home.peer[0].addr[0],
			&home.peer[1].addr[0], h, h->token);
	say(1, &home.peer[0].addr[0]);
	assert_int_equal(count(1, ESP_C_drop_hello_fields), ++bad);
	assert_null(home.node[1]->flows);
	home_close();
}

/* OPEN from the place where the host is, as node 0, with this as its address on path 1. */
static void open_with(const struct esp_addr *other, u64 stamp)
{
	u8 token[16];

	ask(1, home.peer[1].node, 77, stamp, token);
	begin(ESP_T_OPEN, 77, stamp);
	memcpy(h->node, home.peer[0].node, 16);
	memcpy(h->token, token, 16);
	h->addr[1] = *other;
	say(1, &place);
}

/* What cannot be the address of one interface, or is one of another network, is nobody's. */
static void addresses(void **state)
{
	static const struct esp_addr bad[] = {
		{ .port = 1 },
		{ .addr = { 1 } },
		{ .carrier = 4 },
		{ .carrier = ESP_CARRIER_ETHER, .addr = { 0xff, 0xff, 0xff, 0xff, 0xff, 0xff } },
		{ .carrier = ESP_CARRIER_ETHER, .addr = { 3 } },
		{ .carrier = ESP_CARRIER_ETHER },
		{ .carrier = ESP_CARRIER_ETHER, .addr = { 2 }, .reserved = 1 },
		{ .carrier = ESP_CARRIER_ETHER, .addr = { 2 }, .port = 1 },
		{ .carrier = ESP_CARRIER_ETHER, .addr = { 2, 0, 0, 0, 0, 0, 1 } },
		{ .carrier = ESP_CARRIER_UDP4, .port = 1 },
		{ .carrier = ESP_CARRIER_UDP4, .addr = { 224, 0, 0, 1 } },
		{ .carrier = ESP_CARRIER_UDP4, .addr = { 255, 255, 255, 255, 255, 255 } },
		{ .carrier = ESP_CARRIER_UDP4, .addr = { 10, 0, 0, 1, 1 } },
		{ .carrier = ESP_CARRIER_UDP6 },
		{ .carrier = ESP_CARRIER_UDP6, .addr = { 0xff, 2 } },
	};
	struct esp_addr other = { .carrier = ESP_CARRIER_UDP4, .addr = { 10, 0, 0, 1 } };
	u32 i;

	(void)state;
	open_rails(2);
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		open_with(&bad[i], i + 1);
		assert_int_equal(count(1, ESP_C_drop_hello_fields), i + 1);
		assert_int_equal(ngot, 0);
		assert_false(esp_addr_good(&bad[i]));
	}
	open_with(&other, 100);
	answer(ESP_T_ACCEPT);
	assert_int_equal(home.node[1]->flows->f.path[1].state, ESP_PATH_NONE);
	home_pass(7 * ESP_S, NULL);
	other.carrier = ESP_CARRIER_ETHER;
	other.addr[5] = HOST;
	open_with(&other, 200);
	answer(ESP_T_ACCEPT);
	assert_int_equal(home.node[1]->flows->f.path[1].state, ESP_PATH_PROBING);
	home_close();
}

static void reject(const struct esp_addr *from, u8 reason, u8 reserved)
{
	struct esp_rejected *j;

	esp_out_begin(&o, ESP_T_REJECT, home.node[0]->flows->f.cid);
	j = (struct esp_rejected *)(o.hdr + o.hdr_len);
	memset(j, 0, sizeof(*j));
	j->reason = reason;
	j->reserved[1] = reserved;
	o.hdr_len += sizeof(*j);
	o.total_len += sizeof(*j);
	say(0, from);
}

/*
 * REJECT speaks to an OPEN of ours, from where that went. With anything in its reserved bytes it says
 * nothing; that there is no room yet says that the peer lives.
 */
static void rejected(void **state)
{
	u32 i;

	(void)state;
	open3();
	cut = true;
	start(0, GOAL_OP_SEND, 1, 1);
	home_pass(100 * ESP_US, NULL);
	reject(&home.peer[1].addr[0], ESP_REJECT_ORDER, 0);
	assert_int_equal(count(0, ESP_C_drop_hello_state), 1);
	cut = false;
	unheard = ESP_T_OPEN;
	home_pass(2 * ESP_MS, NULL);
	assert_int_equal(home.node[0]->flows->f.state, ESP_FLOW_OPEN);
	reject(&home.peer[1].addr[0], ESP_REJECT_ORDER, 1);
	assert_int_equal(count(0, ESP_C_drop_hello_fields), 1);
	reject(&home.peer[HOST].addr[0], ESP_REJECT_ORDER, 0);
	assert_int_equal(count(0, ESP_C_drop_hello_echo), 1);
	assert_int_equal(count(0, ESP_C_hello_rejected), 0);
	for (i = 0; i < 700; i++) {
		if (home.node[0]->flows->f.state == ESP_FLOW_OPEN)
			reject(&home.peer[1].addr[0], ESP_REJECT_FULL, 0);
		home_pass(10 * ESP_MS, NULL);
	}
	assert_true(count(0, ESP_C_hello_rejected) > 10);
	assert_int_equal(count(0, ESP_C_flow_dead), 0);
	while (home.node[0]->flows->f.state != ESP_FLOW_OPEN)
		home_pass(ESP_MS, NULL);
	reject(&home.peer[1].addr[0], ESP_REJECT_ORDER, 0);
	assert_int_equal(count(0, ESP_C_flow_dead), 1);
	assert_int_equal(home.node[0]->m.failed, -EHOSTUNREACH);
	home_close();
}

/* Somebody else at one of the peer's addresses does not make it dead as long as there are others. */
static void not_there(void **state)
{
	struct home_run *r;
	struct esp_flow *f;
	u32 when;

	(void)state;
	for (when = 0; when < 2; when++) {
		open_rails(2);
		home.peer[1].addr[0] = place;
		r = start(1, GOAL_OP_RECV, 0, 1);
		start(0, GOAL_OP_SEND, 1, 1);
		f = &home.node[0]->flows->f;
		home_pass(100 * ESP_US, NULL);
		answer(ESP_T_HELLO);
		if (when) { /* takes himself for the peer first, as who has its name */
			begin(ESP_T_TOKEN, f->cid, f->stamp);
			((struct esp_hdr *)o.hdr)->cid = cpu_to_le64(f->cid);
			esp_hello_hash(home.peer[1].node, ESP_T_TOKEN, NULL, &place, h, h->node);
			h->token[0] = 1;
			say(0, &place);
			assert_int_equal(f->state, ESP_FLOW_OPEN);
			answer(ESP_T_OPEN);
		}
		begin(ESP_T_TOKEN, f->cid, f->stamp);
		((struct esp_hdr *)o.hdr)->cid = cpu_to_le64(f->cid);
		say(0, &place);
		assert_int_equal(f->strangers, 1);
		assert_true(home_pass(ESP_MS, home_idle));
		assert_int_equal(r->run.status, 0);
		assert_int_equal(ngot, 0);
		assert_int_equal(count(0, ESP_C_flow_dead), 0);
		home_close();
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_voiding), cmocka_unit_test(no_searching),
		cmocka_unit_test(no_token),   cmocka_unit_test(nonsense),
		cmocka_unit_test(addresses),  cmocka_unit_test(rejected),
		cmocka_unit_test(not_there),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
