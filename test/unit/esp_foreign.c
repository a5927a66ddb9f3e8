// SPDX-License-Identifier: BSD-3-Clause
/*
 * Hosts that are no node of the job: they speak with whatever names the tests say they know, and get no
 * answer that tells them anything, and take nobody's place.
 */
#include "esp_foreign.h"

/* Who does not know a node's name is not told it, and can open nothing. */
static void no_name(void **state)
{
	static const struct esp_addr nowhere;
	static const u8 none[16];
	const struct esp_hello *t;
	u8 token[16], hash[16];
	u32 i;

	(void)state;
	open3();
	begin(ESP_T_HELLO, 77, 5);
	memcpy(h->node, home.peer[HOST].node, 16);
	say(1, &home.peer[HOST].addr[0]);
	t = answer(ESP_T_TOKEN);
	for (i = 0; i < ESP_PATHS; i++)
		assert_memory_equal(&t->addr[i], &nowhere, sizeof(nowhere));
	assert_memory_not_equal(t->node, home.peer[1].node, 16);
	esp_hello_hash(home.peer[1].node, ESP_T_TOKEN, NULL, &home.peer[1].addr[0], t, hash);
	assert_memory_equal(t->node, hash, 16);
	assert_memory_equal(t->token, none, 16);
	/* Nor with a hash that was made for another address, or is the answer's. */
	ask(1, home.peer[0].node, 77, 5, token);
	assert_memory_equal(token, none, 16);
	begin(ESP_T_HELLO, 77, 5);
	memcpy(h->node, hash, 16);
	say(1, &home.peer[HOST].addr[0]);
	assert_memory_equal(answer(ESP_T_TOKEN)->token, none, 16);
	begin(ESP_T_HELLO, 77, 5);
	esp_hello_hash(home.peer[1].node, ESP_T_HELLO, &home.peer[0].addr[0], &home.peer[1].addr[0],
		       h, h->node);
	say(1, &home.peer[HOST].addr[0]);
	assert_memory_equal(answer(ESP_T_TOKEN)->token, none, 16);
	begin(ESP_T_OPEN, 77, 5);
	memcpy(h->node, home.peer[0].node, 16);
	say(1, &home.peer[HOST].addr[0]);
	assert_int_equal(count(1, ESP_C_drop_token), 1);
	assert_null(home.node[1]->flows);
	ask(1, home.peer[1].node, 77, 5, token);
	assert_memory_not_equal(token, none, 16);
	home_close();
}

/* However many they are, who does know it is answered. */
static void no_flooding(void **state)
{
	struct home_run *r;
	u8 token[16];
	u32 i;

	(void)state;
	open3();
	home.node[1]->n.p.hello_rate = 20;
	home.node[1]->n.hello_pause = ESP_S / 20;
	for (i = 0; i < 10000; i++) {
		begin(ESP_T_HELLO, 77, 5);
		esp_out_end(&o);
		esp_seal(&o, 0xffffffff);
		home_inject(1, 0, &place, o.hdr, o.hdr_len);
	}
	home_pass(100 * ESP_US, NULL);
	assert_true(count(1, ESP_C_drop_hello_rate) > 0);
	ngot = 0;
	ask(1, home.peer[1].node, 77, 6, token);
	r = start(1, GOAL_OP_RECV, 0, 1);
	start(0, GOAL_OP_SEND, 1, 1);
	assert_true(home_pass(ESP_MS, home_idle));
	assert_int_equal(r->run.status, 0);
	home_close();
}

/* An open flow stays where it is, whatever the stamp says, and goes on. */
static void no_replacing(void **state)
{
	struct home_flow *f;
	u64 cid;

	(void)state;
	open3();
	transfer(0, 1, 1, 50 * ESP_MS);
	f = home.node[1]->flows;
	cid = f->f.cid;
	claim(1, 0, 77, ~0ull);
	assert_int_equal(count(1, ESP_C_drop_hello_elsewhere), 1);
	assert_int_equal(ngot, 0);
	assert_true(home.node[1]->flows == f && f->f.cid == cid);
	/* It was asked whether it lives, and has answered: the next one begins from the start. */
	home_pass(2 * ESP_S, NULL);
	claim(1, 0, 77, ~0ull);
	assert_int_equal(count(1, ESP_C_drop_hello_elsewhere), 2);
	assert_int_equal(f->f.cid, cid);
	transfer(1, 0, 2, 50 * ESP_MS);
	transfer(0, 1, 3, 50 * ESP_MS);
	assert_int_equal(home_counted(ESP_C_flow_renew), 0);
	assert_int_equal(ngot, 0);
	assert_int_equal(stolen, 0);
	home_close();
}

/* While the other one is asked for, too. */
static void no_overtaking(void **state)
{
	struct home_run *r;
	u32 a;

	(void)state;
	open3();
	a = memcmp(home.peer[0].node, home.peer[1].node, 16) < 0 ? 0 : 1;
	r = start(!a, GOAL_OP_RECV, a, 1);
	cut = true; /* its HELLO, and that of the next half millisecond */
	start(a, GOAL_OP_SEND, !a, 1);
	home_pass(50 * ESP_US, NULL);
	claim(a, !a, 77, ~0ull);
	assert_int_equal(count(a, ESP_C_drop_hello_elsewhere), 1);
	cut = false;
	assert_true(home_pass(50 * ESP_MS, home_idle));
	assert_int_equal(r->run.status, 0);
	home_close();
}

/* Whoever comes first has a flow, but no message: that goes to where the rank table says. */
static void no_first(void **state)
{
	struct home_run *r;

	(void)state;
	open3();
	claim(1, 0, 77, ~0ull);
	answer(ESP_T_ACCEPT);
	assert_int_equal(count(1, ESP_C_flow_accept_up), 1);
	r = start(0, GOAL_OP_RECV, 1, 1);
	start(1, GOAL_OP_SEND, 0, 1);
	assert_true(home_pass(50 * ESP_MS, home_idle));
	assert_int_equal(r->run.status, 0);
	assert_int_equal(count(1, ESP_C_flow_disowned), 1);
	assert_int_equal(stolen, 0);
	claim(1, 0, 78, ~0ull);
	assert_int_equal(count(1, ESP_C_drop_hello_elsewhere), 1);
	home_close();
}

/* And keeps nobody out who opens from his own place: the table decides at once. */
static void no_locking_out(void **state)
{
	(void)state;
	open3();
	claim(1, 0, 77, ~0ull);
	answer(ESP_T_ACCEPT);
	transfer(0, 1, 1, 50 * ESP_MS);
	assert_int_equal(count(1, ESP_C_flow_disowned), 1);
	transfer(1, 0, 2, 50 * ESP_MS);
	assert_int_equal(stolen, 0);
	home_close();
}

/* Nor by having many tables asked for names that nobody has. */
static void no_crowding_out(void **state)
{
	struct home_run *r;
	u32 i;

	(void)state;
	open3();
	claim(1, 0, 77, ~0ull);
	answer(ESP_T_ACCEPT);
	for (i = 0; i < 300; i++) {
		invent(i % 3 + 1, 1000 + i, 1000);
		invent(i % 3 + 1, 1000 + i, 999);
	}
	r = start(1, GOAL_OP_RECV, 0, 1);
	start(0, GOAL_OP_SEND, 1, 1);
	assert_true(home_pass(50 * ESP_MS, home_idle));
	assert_int_equal(r->run.status, 0);
	assert_int_equal(count(1, ESP_C_flow_disowned), 1);
	home_close();
}

/* Nor does he make the peer dead by dying himself. */
static void no_dying(void **state)
{
	(void)state;
	open3();
	claim(1, 0, 77, 5);
	answer(ESP_T_ACCEPT);
	home_pass(7 * ESP_S, NULL);
	assert_int_equal(count(1, ESP_C_flow_dead), 1);
	assert_int_equal(home.node[1]->m.failed, 0);
	transfer(0, 1, 1, 50 * ESP_MS);
	home_close();
}

/* All numbers below @cum, of path 0. */
static void acknowledge(u32 to, u64 cid, u32 cum)
{
	struct esp_ack *a;

	memset(&o, 0, sizeof(o));
	esp_out_begin(&o, ESP_T_DATA, cid);
	a = (struct esp_ack *)(o.hdr + o.hdr_len);
	a->c.kind = ESP_K_ACK;
	a->c.len = cpu_to_le16(sizeof(*a));
	a->cum = cpu_to_le32(cum);
	o.hdr_len += sizeof(*a);
	o.total_len += sizeof(*a);
	say(to, &home.peer[HOST].addr[0]);
}

/* Nor by having forgotten everything at once: nobody is asked at the addresses that he gave. */
static void no_calling(void **state)
{
	(void)state;
	open3();
	claim(1, 0, 77, 5);
	answer(ESP_T_ACCEPT);
	esp_say_gone(&home.node[1]->flows->f, 4711, home.now);
	home_pass(ESP_MS, NULL);
	reset(1, 77);
	assert_int_equal(count(1, ESP_C_flow_reset), 1);
	assert_null(home.node[1]->flows);
	home_pass(7 * ESP_S, NULL);
	assert_int_equal(ngot, 0);
	assert_int_equal(count(1, ESP_C_flow_dead), 0);
	assert_int_equal(home.node[1]->m.failed, 0);
	transfer(0, 1, 1, 50 * ESP_MS);
	home_close();
}

/* The peer that has really begun anew goes on with what was on its way. */
static void going_on(void **state)
{
	struct home_op op = { GOAL_OP_RECV, 0, 0, 0, 1 << 20 };
	struct home_run *r;

	(void)state;
	open3();
	r = home_start(home.node[1], 1, &op, 1);
	op = (struct home_op){ GOAL_OP_SEND, 1, 0, 0, 1 << 20 };
	home_start(home.node[0], 1, &op, 1);
	home_pass(500 * ESP_US, NULL);
	assert_true(esp_linked(&home.node[1]->flows->f.rx));
	reset(1, home.node[0]->flows->f.cid);
	assert_int_equal(count(1, ESP_C_flow_reset), 1);
	assert_true(home_pass(100 * ESP_MS, home_idle));
	assert_int_equal(r->run.status, 0);
	assert_int_equal(count(1, ESP_C_rx_adopted), 1);
	home_close();
}

/* A chunk with a value, in a frame of the flow. */
static void say_value(u32 to, const struct esp_flow *f, u8 kind, u64 value,
		      const struct esp_addr *from)
{
	struct esp_hdr *b = (struct esp_hdr *)o.hdr;
	struct esp_ping *c;

	memset(&o, 0, sizeof(o));
	esp_out_begin(&o, ESP_T_DATA, f->cid);
	if (kind == ESP_K_PING) {
		b->flags = ESP_F_NUMBERED;
		b->pn = cpu_to_le32(f->path[0].rx_top + 1);
	}
	c = (struct esp_ping *)(o.hdr + o.hdr_len);
	c->c.kind = kind;
	c->c.len = cpu_to_le16(sizeof(*c));
	c->value = cpu_to_le64(value);
	o.hdr_len += sizeof(*c);
	o.total_len += sizeof(*c);
	say(to, from);
}

/* Who has taken the place of one who was silent gives it back when that one comes from where the table has him. */
static struct home_run *take_place(void)
{
	struct home_run *r;

	open3();
	transfer(0, 1, 1, 50 * ESP_MS);
	r = start(1, GOAL_OP_RECV, 0, 2);
	home_pass(ESP_MS, NULL);
	cut = true;
	claim(1, 0, 77, ~0ull - 1);
	home_pass(2 * ESP_S, NULL);
	ngot = 0;
	claim(1, 0, 77, ~0ull);
	answer(ESP_T_ACCEPT);
	assert_int_equal(count(1, ESP_C_flow_replaced), 1);
	assert_memory_equal(&home.node[1]->flows->f.shown, &place, sizeof(place));
	cut = false;
	return r;
}

static void no_staying(void **state)
{
	struct home_run *r;
	u32 era;

	(void)state;
	r = take_place();
	era = home.node[1]->n.token_era;
	start(0, GOAL_OP_SEND, 1, 2);
	assert_true(home_pass(2 * ESP_S, home_idle));
	assert_int_equal(r->run.status, 0);
	assert_int_equal(count(1, ESP_C_flow_replaced), 2);
	assert_int_equal(count(0, ESP_C_flow_dead), 0);
	/* The first of its OPENs might have been a late copy: all tokens became void, and another one came. */
	assert_true(count(1, ESP_C_drop_hello_stale) >= 1);
	assert_int_equal(home.node[1]->n.token_era, era + 1);
	/* Once more he has to wait until the peer is silent. */
	ngot = 0;
	claim(1, 0, 78, ~0ull);
	assert_int_equal(ngot, 0);
	transfer(1, 0, 3, 50 * ESP_MS);
	assert_int_equal(stolen, 0);
	home_close();
}

/* Nor does he make the peer dead by having forgotten the flow that he has taken, and by denying who he is. */
static void no_denying(void **state)
{
	struct home_run *r;

	(void)state;
	r = take_place();
	reset(1, 77);
	assert_int_equal(count(1, ESP_C_flow_reset), 1);
	home_pass(ESP_S, NULL);
	start(0, GOAL_OP_SEND, 1, 2);
	assert_true(home_pass(2 * ESP_S, home_idle));
	assert_int_equal(r->run.status, 0);
	assert_int_equal(home_counted(ESP_C_flow_dead), 0);
	assert_int_equal(stolen, 0);
	home_close();
}

/* Nor does he keep the place of one who came up after him: a table that was asked has that one there. */
static void no_keeping(void **state)
{
	struct home_run *r;

	(void)state;
	open3();
	cut = true;
	r = start(1, GOAL_OP_RECV, 0, 2);
	start(1, GOAL_OP_SEND, 0, 3);
	home_pass(2 * ESP_MS, NULL);
	claim(1, 0, 77, ~0ull - 1);
	home_pass(2 * ESP_S, NULL);
	ngot = 0;
	claim(1, 0, 77, ~0ull);
	assert_int_equal(count(1, ESP_C_flow_guessed), 1);
	assert_true(home.node[1]->flows->f.guessed);
	cut = false;
	start(0, GOAL_OP_SEND, 1, 2);
	home_pass(2 * ESP_S, home_idle);
	assert_true(r->over);
	assert_int_equal(r->run.status, 0);
	assert_false(home.node[1]->flows->f.guessed);
	assert_int_equal(count(0, ESP_C_flow_dead), 0);
	start(0, GOAL_OP_RECV, 1, 3);
	assert_true(home_pass(ESP_S, home_idle));
	home_close();
}

/* Nor is the peer silent that could not be asked yet. */
static void no_hurrying(void **state)
{
	struct home_node *n;
	u32 i;

	(void)state;
	open3();
	transfer(0, 1, 1, 50 * ESP_MS);
	home_pass(50 * ESP_MS, NULL);
	n = home.node[1];
	n->pool_max[ESP_POOL_SENT] = 0;
	n->flows->f.spare_used = true; /* the flow's own one, too */
	for (i = 0; i < 4; i++) {
		claim(1, 0, 77, ~0ull - 4 + i);
		home_pass(ESP_S, NULL);
	}
	assert_int_equal(ngot, 0);
	n->flows->f.spare_used = false;
	n->pool_max[ESP_POOL_SENT] = 4096;
	home_pass(ESP_S / 2, NULL);
	claim(1, 0, 77, ~0ull);
	assert_int_equal(ngot, 0);
	assert_int_equal(count(1, ESP_C_flow_replaced), 0);
	transfer(0, 1, 2, 50 * ESP_MS);
	home_close();
}

/*
 * Nor does he get there by a frame with the peer's address, an acknowledgement of what he never got,
 * and an answer that he guesses.
 */
static void no_pretending(void **state)
{
	struct home_run *r;
	struct home_flow *f;
	u64 value;
	u32 pn;

	(void)state;
	open3();
	home.node[1]->has_member = false;
	claim(1, 0, 77, ~0ull - 1);
	answer(ESP_T_ACCEPT);
	f = home.node[1]->flows;
	cut = true;
	pn = f->f.path[0].pn;
	value = f->f.path[0].value; /* he may have seen it, at his own place */
	say_value(1, &f->f, ESP_K_PING, 4711, &home.peer[0].addr[0]);
	assert_int_equal(f->f.path[0].state, ESP_PATH_PROBING);
	assert_memory_equal(&f->f.path[0].addr, &home.peer[0].addr[0], sizeof(struct esp_addr));
	acknowledge(1, f->f.cid, f->f.path[0].pn);
	assert_true(f->f.path[0].pn != pn);
	assert_int_equal(f->f.path[0].nsent, 0);
	assert_int_equal(f->f.path[0].state, ESP_PATH_PROBING);
	say_value(1, &f->f, ESP_K_PONG, value, &place);
	assert_int_equal(f->f.path[0].state, ESP_PATH_PROBING);
	assert_int_equal(count(1, ESP_C_skip_pong_unknown), 1);
	cut = false;
	home_join(home.node[1]);
	r = start(0, GOAL_OP_RECV, 1, 1);
	start(1, GOAL_OP_SEND, 0, 1);
	assert_int_equal(count(1, ESP_C_flow_disowned), 1);
	assert_true(home_pass(50 * ESP_MS, home_idle));
	assert_int_equal(r->run.status, 0);
	assert_int_equal(stolen, 0);
	home_close();
}

/* Nor does it become his by coming from two places, where nobody else could answer yet. */
static void no_moving(void **state)
{
	struct home_run *r;

	(void)state;
	open3();
	home.node[1]->has_member = false;
	claim(1, 0, 77, 5);
	answer(ESP_T_ACCEPT);
	place.addr[1] = 1;
	claim(1, 0, 78, 6);
	assert_int_equal(count(1, ESP_C_drop_hello_elsewhere), 1);
	home_pass(1100 * ESP_MS, NULL);
	claim(1, 0, 78, 7);
	answer(ESP_T_ACCEPT);
	assert_int_equal(count(1, ESP_C_flow_replaced), 1);
	home_join(home.node[1]);
	r = start(0, GOAL_OP_RECV, 1, 1);
	start(1, GOAL_OP_SEND, 0, 1);
	assert_true(home_pass(50 * ESP_MS, home_idle));
	assert_int_equal(r->run.status, 0);
	assert_int_equal(count(1, ESP_C_flow_disowned), 1);
	assert_int_equal(stolen, 0);
	home_close();
}

/* Somebody's wrong table makes the peer nobody's dead. */
static void wrong_table(void **state)
{
	struct esp_flow *f;
	struct esp_peer peer;

	(void)state;
	open3();
	transfer(0, 1, 1, 50 * ESP_MS);
	home_pass(20 * ESP_MS, NULL);
	peer = home.peer[0];
	peer.addr[0].addr[5] = 99; /* there is nobody */
	f = esp_flow_to(&home.node[1]->n, &peer, home.now);
	env_flow_put(f);
	assert_int_equal(count(1, ESP_C_flow_disowned), 1);
	home_pass(7 * ESP_S, NULL);
	assert_int_equal(count(1, ESP_C_flow_dead), 1);
	assert_int_equal(home.node[1]->m.failed, 0);
	transfer(1, 0, 2, 50 * ESP_MS);
	home_close();
}

/* Nor are messages lost to where it says, if another table says the right place meanwhile. */
static void second_table(void **state)
{
	struct esp_flow *f;
	struct esp_peer peer;
	struct home_run *r;

	(void)state;
	open_rails(2);
	peer = home.peer[0];
	peer.addr[0].addr[5] = 99;              /* there is nobody */
	peer.addr[1] = home.peer[HOST].addr[0]; /* and there somebody else */
	f = esp_flow_to(&home.node[1]->n, &peer, home.now);
	env_flow_put(f);
	home_pass(100 * ESP_MS, NULL);
	assert_int_equal(f->state, ESP_FLOW_HELLO);
	r = start(0, GOAL_OP_RECV, 1, 1);
	start(1, GOAL_OP_SEND, 0, 1);
	assert_int_equal(count(1, ESP_C_flow_elsewhere), 1);
	assert_true(home_pass(100 * ESP_MS, home_idle));
	assert_int_equal(r->run.status, 0);
	assert_int_equal(stolen, 0);
	/* Neither answers: the group that looked for it where it should be hears of that. */
	home_kill(home.node[0]);
	f = &home.node[1]->flows->f;
	env_flow_get(f);
	esp_flow_kill(f, home.now);
	env_flow_put(f);
	f = esp_flow_to(&home.node[1]->n, &peer, home.now);
	env_flow_put(f);
	home_pass(3 * ESP_S, NULL);
	start(1, GOAL_OP_SEND, 0, 2);
	home_pass(4 * ESP_S, NULL);
	assert_int_equal(home.node[1]->m.failed, 0);
	home_pass(2 * ESP_S, NULL);
	assert_int_equal(home.node[1]->m.failed, -EHOSTUNREACH);
	home_close();
}

/* And who says that he is the peer while a wrong table is asked gets nothing of other tables. */
static void no_guessing(void **state)
{
	struct esp_flow *f;
	struct esp_peer peer;
	struct home_run *r;

	(void)state;
	open3();
	peer = home.peer[0];
	peer.addr[0].addr[5] = 99; /* there is nobody */
	f = esp_flow_to(&home.node[1]->n, &peer, home.now);
	claim(1, 0, 77, 5);
	assert_int_equal(count(1, ESP_C_drop_hello_elsewhere), 1);
	home_pass(1100 * ESP_MS, NULL);
	claim(1, 0, 78, 6);
	answer(ESP_T_ACCEPT);
	assert_int_equal(count(1, ESP_C_flow_guessed), 1);
	/* For who has the wrong table it is as good as anybody. */
	env_flow_put(f);
	f = esp_flow_to(&home.node[1]->n, &peer, home.now);
	env_flow_put(f);
	assert_int_equal(f->state, ESP_FLOW_UP);
	assert_int_equal(count(1, ESP_C_flow_disowned), 0);
	r = start(0, GOAL_OP_RECV, 1, 1);
	start(1, GOAL_OP_SEND, 0, 1);
	assert_int_equal(count(1, ESP_C_flow_disowned), 1);
	assert_true(home_pass(50 * ESP_MS, home_idle));
	assert_int_equal(r->run.status, 0);
	assert_int_equal(stolen, 0);
	home_close();
}

/* Nor does his death mean anything; and when he forgets it, the table's place is asked again. */
static void guessed(void **state)
{
	struct esp_peer peer;
	struct esp_flow *f;

	(void)state;
	open3();
	peer = home.peer[0];
	peer.addr[0].addr[5] = 99;
	f = esp_flow_to(&home.node[1]->n, &peer, home.now);
	claim(1, 0, 77, 5);
	home_pass(1100 * ESP_MS, NULL);
	claim(1, 0, 78, 6);
	answer(ESP_T_ACCEPT);
	f->watch_until = home.now + 20 * ESP_S; /* somebody waits */
	reset(1, 78);
	assert_int_equal(f->state, ESP_FLOW_HELLO);
	assert_memory_equal(f->peer.addr, peer.addr, sizeof(peer.addr));
	assert_int_equal(ngot, 0);
	home_pass(7 * ESP_S, NULL);
	assert_int_equal(f->state, ESP_FLOW_DEAD);
	assert_int_equal(home.node[1]->m.failed, 0);
	env_flow_put(f);
	home_close();
}

/* A flow that was opened from the right place is not begun anew. */
static void vouched(void **state)
{
	(void)state;
	open3();
	transfer(0, 1, 1, 50 * ESP_MS);
	transfer(1, 0, 2, 50 * ESP_MS);
	assert_int_equal(home_counted(ESP_C_flow_disowned), 0);
	assert_int_equal(home_counted(ESP_C_flow_renew), 0);
	home_close();
}

static void forget(u32 node)
{
	struct home_flow *f = home.node[node]->flows;

	f->refs++;
	esp_flow_kill(&f->f, home.now);
	env_flow_put(&f->f);
}

/* Who has forgotten the flow replaces it at once from where he was, by another path of it, too. */
static void forgotten(void **state)
{
	struct esp_params p;

	(void)state;
	esp_params_default(&p);
	home_open(2, 2, &p);
	transfer(0, 1, 1, 50 * ESP_MS);
	home_pass(20 * ESP_MS, NULL);
	forget(0);
	transfer(0, 1, 2, 5 * ESP_MS);
	assert_int_equal(count(1, ESP_C_flow_replaced), 1);
	home_pass(20 * ESP_MS, NULL);
	forget(0);
	esp_rail_down(&home.node[0]->rail[0], home.now);
	transfer(0, 1, 3, 5 * ESP_MS);
	assert_int_equal(count(1, ESP_C_flow_replaced), 2);
	assert_int_equal(count(1, ESP_C_drop_hello_elsewhere), 0);
	home_close();
}

/* Who comes back at another address is believed when nothing has answered at the old one for a while. */
static void moved(void **state)
{
	u32 side;

	(void)state;
	for (side = 0; side < 2; side++) {
		open3();
		transfer(0, 1, 1, 50 * ESP_MS);
		home_pass(20 * ESP_MS, NULL);
		forget(side);
		mover = side;
		home.node[side]->rail[0].addr = home.peer[HOST].addr[0];
		transfer(side, !side, 2, 4 * ESP_S);
		assert_true(count(!side, ESP_C_drop_hello_elsewhere) > 0);
		assert_int_equal(count(!side, ESP_C_flow_dead), 0);
		transfer(!side, side, 3, 100 * ESP_MS);
		home_close();
	}
}

/* ACCEPT goes again to where OPEN comes from again: the initiator's address may have changed. */
static void accepted_again(void **state)
{
	(void)state;
	open3();
	claim(1, HOST, 77, 5);
	answer(ESP_T_ACCEPT);
	begin(ESP_T_OPEN, 77, 5);
	memcpy(h->node, home.peer[HOST].node, 16);
	esp_hello_token(&home.node[1]->n, home.now >> 32, &home.peer[0].addr[0],
			&home.peer[1].addr[0], h, h->token);
	say(1, &home.peer[0].addr[0]);
	assert_int_equal(ngot, 0);
	assert_int_equal(count(0, ESP_C_drop_cid), 1);
	home_close();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_name),        cmocka_unit_test(no_replacing),
		cmocka_unit_test(no_overtaking),  cmocka_unit_test(no_first),
		cmocka_unit_test(no_locking_out), cmocka_unit_test(no_dying),
		cmocka_unit_test(no_moving),      cmocka_unit_test(accepted_again),
		cmocka_unit_test(no_flooding),    cmocka_unit_test(no_crowding_out),
		cmocka_unit_test(wrong_table),    cmocka_unit_test(second_table),
		cmocka_unit_test(no_guessing),    cmocka_unit_test(guessed),
		cmocka_unit_test(no_staying),     cmocka_unit_test(no_hurrying),
		cmocka_unit_test(no_denying),     cmocka_unit_test(no_keeping),
		cmocka_unit_test(no_pretending),  cmocka_unit_test(no_calling),
		cmocka_unit_test(going_on),       cmocka_unit_test(vouched),
		cmocka_unit_test(forgotten),      cmocka_unit_test(moved),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
