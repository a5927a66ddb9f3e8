// SPDX-License-Identifier: BSD-3-Clause
/* How flows, groups and endpoints end, and what changes under way: rails, MTU, restarts. */
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

static void pass(u64 patience)
{
	if (home_pass(patience, home_idle))
		return;
	home_dump();
	fail();
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

static void whole(const struct home_run *r, u32 from, u64 len)
{
	u64 i;

	assert_int_equal(r->run.status, 0);
	for (i = 0; i + 4 <= len; i += 4) {
		u32 want = (u32)(i * 2654435761u) ^ from << 24 ^ r->erun.opid, is;

		memcpy(&is, r->buf + i, 4);
		assert_int_equal(is, want);
	}
}

static struct home_run *transfer(u32 from, u32 to, u32 opid, u64 len, u64 patience)
{
	struct home_run *r = recv_run(to, from, opid, len);

	send_run(from, to, opid, len);
	pass(patience);
	whole(r, from, len);
	return r;
}

/* Everybody sends 64 KiB to rank 0 at once: never more under way than the limit. */
static void incast(void **state)
{
	struct esp_params p = params();
	struct home_op op[HOME_NODES];
	struct home_run *r;
	u32 i;

	(void)state;
	home_open(HOME_NODES, 1, &p);
	for (i = 1; i < HOME_NODES; i++)
		op[i - 1] = (struct home_op){ GOAL_OP_RECV, i, 0, i * 65536, 65536 };
	r = home_start(home.node[0], 1, op, HOME_NODES - 1);
	for (i = 1; i < HOME_NODES; i++)
		send_run(i, 0, 1, 65536);
	pass(50 * ESP_MS);
	assert_int_equal(r->run.status, 0);
	assert_int_equal(home_counted(ESP_C_lost_frames), 0);
	assert_int_equal(home_counted(ESP_C_pull_stalled), 0);
	home_close();
}

/* The receiver's run fails, the sender's hears of it. */
static void truncated(void **state)
{
	static const u64 sent[] = { 100, 5000, 100000 };
	struct esp_params p = params();
	u32 i;

	(void)state;
	home_open(2, 1, &p);
	for (i = 0; i < 3; i++) {
		struct home_run *a = send_run(0, 1, i + 1, sent[i]);
		struct home_run *b = recv_run(1, 0, i + 1, sent[i] - 1);

		pass(50 * ESP_MS);
		assert_int_equal(b->run.status, -EMSGSIZE);
		if (sent[i] > p.eager_max)
			assert_int_equal(a->run.status, -ECONNABORTED);
	}
	home_pass(50 * ESP_MS, NULL);
	transfer(0, 1, 100, 3000, 50 * ESP_MS);
	home_close();
}

/* One rank aborts: every other one's run ends, those not started yet when they are. */
static void abort_reaches(void **state)
{
	struct esp_params p = params();
	struct home_run *r[HOME_NODES];
	u32 i;

	(void)state;
	home_open(HOME_NODES, 1, &p);
	home.loss = 65536 / 5;
	for (i = 0; i < HOME_NODES - 1; i++)
		r[i] = recv_run(i, (i + 1) % HOME_NODES, 5, 8);
	core_cancel(&r[3]->run, -EIO, GOAL_OP_NONE);
	home_pass(2 * ESP_S, NULL);
	r[i] = recv_run(i, 0, 5, 8);
	pass(2 * ESP_S);
	for (i = 0; i < HOME_NODES; i++)
		assert_int_equal(r[i]->run.status, i == 3 ? -EIO : -ECONNABORTED);
	home.loss = 0;
	transfer(2, 6, 6, 100000, 50 * ESP_MS); /* the group goes on */
	home_close();
}

/* A member without a run gives its group up: every other one's runs end, also those started later. */
static void member_fails(void **state)
{
	struct esp_params p = params();
	struct home_run *r[HOME_NODES];
	u32 i;

	(void)state;
	home_open(HOME_NODES, 1, &p);
	home.loss = 65536 / 5;
	for (i = 0; i < HOME_NODES; i++)
		r[i] = i == 2 ? NULL : recv_run(i, (i + 1) % HOME_NODES, 5, 8);
	esp_member_fail(&home.node[2]->m, -ECONNABORTED, GOAL_OP_NONE, home.now);
	r[2] = recv_run(2, 0, 5, 8);
	pass(2 * ESP_S);
	for (i = 0; i < HOME_NODES; i++) {
		assert_int_equal(r[i]->run.status, -ECONNABORTED);
		assert_int_equal(home.node[i]->m.failed_rank, 2);
		assert_int_equal(recv_run(i, 0, 6, 8)->run.status, -ECONNABORTED);
	}
	assert_int_equal(home_counted(ESP_C_abort_group), HOME_NODES);
	home_close();
}

/* A node dies: every member of the group hears of it, also those who never spoke to it. */
static void death(void **state)
{
	struct esp_params p = params();
	struct home_run *r[4];
	u32 i;

	(void)state;
	home_open(4, 1, &p);
	transfer(0, 1, 1, 100, 50 * ESP_MS);
	home_kill(home.node[1]);
	r[0] = recv_run(0, 1, 2, 8); /* waits for the dead one */
	for (i = 2; i < 4; i++)
		r[i] = recv_run(i, i - 2, 2, 8);
	pass(8 * ESP_S);
	for (i = 0; i < 4; i++)
		if (i != 1) {
			assert_int_equal(r[i]->run.status, -EHOSTUNREACH);
			assert_int_equal(r[i]->run.err_peer, 1);
			assert_int_equal(home.node[i]->m.failed, -EHOSTUNREACH);
		}
	assert_int_equal(recv_run(2, 3, 3, 8)->run.status, -EHOSTUNREACH);
	home_close();
}

/* A long message's sender dies in the middle. */
static void death_pull(void **state)
{
	struct esp_params p = params();
	struct home_run *r, *s;

	(void)state;
	home_open(3, 1, &p);
	r = recv_run(0, 1, 1, 3000000);
	s = recv_run(2, 0, 1, 8);
	send_run(1, 0, 1, 3000000);
	home_pass(ESP_MS, NULL);
	assert_false(r->over);
	home_kill(home.node[1]);
	home.node[1]->runs->over |= false;
	home_pass(9 * ESP_S, NULL);
	if (!r->over || !s->over)
		home_dump();
	assert_true(r->over && s->over);
	assert_int_equal(r->run.status, -EHOSTUNREACH);
	assert_int_equal(s->run.status, -EHOSTUNREACH);
	home_close();
}

/* A process is killed; its node says so at once. */
static void killed(void **state)
{
	struct esp_params p = params();
	struct home_run *r[4];
	u32 i;

	(void)state;
	home_open(4, 1, &p);
	for (i = 0; i < 4; i++)
		r[i] = recv_run(i, (i + 1) % 4, 2, 8);
	home_pass(ESP_MS, NULL);
	home_ep_close(home.node[2], false);
	pass(100 * ESP_MS);
	for (i = 0; i < 4; i++) {
		assert_int_equal(r[i]->run.status, -ECONNRESET);
		assert_int_equal(r[i]->run.err_peer, 2);
	}
	home_close();
}

/* Its last message is lost, the endpoint closes cleanly, the message still arrives. */
static void lingers(void **state)
{
	struct esp_params p = params();
	struct home_run *r;

	(void)state;
	home_open(2, 1, &p);
	transfer(0, 1, 1, 8, 50 * ESP_MS);
	r = recv_run(1, 0, 2, 8);
	home.loss = 65535;
	send_run(0, 1, 2, 8);
	home_ep_close(home.node[0], true);
	home_pass(50 * ESP_MS, NULL);
	assert_false(r->over);
	home.loss = 0;
	pass(2 * ESP_S);
	whole(r, 0, 8);
	home_close();
}

/* Nobody ever takes it: given up after the linger time. */
static void lingers_out(void **state)
{
	struct esp_params p = params();

	(void)state;
	p.keep_max = 0;
	home_open(2, 1, &p);
	send_run(0, 1, 2, 8);
	home_ep_close(home.node[0], true);
	home_pass(9 * ESP_S, NULL);
	assert_int_equal(home.node[0]->msgs, 1);
	home_pass(2 * ESP_S, NULL);
	assert_int_equal(home.node[0]->msgs, 0);
	home_pass(30 * ESP_S, NULL); /* and then the flow is forgotten */
	assert_null(home.node[0]->flows);
	assert_null(home.node[1]->flows);
	home_close();
}

static void idle(void **state)
{
	struct esp_params p = params();
	u32 i;

	(void)state;
	home_open(2, 1, &p);
	for (i = 0; i < 5; i++) {
		transfer(i % 2, !(i % 2), i + 1, 3000, 50 * ESP_MS);
		home_pass(20 * ESP_S, NULL);
		assert_null(home.node[0]->flows);
		assert_null(home.node[1]->flows);
	}
	home_close();
}

/* One side forgets a flow that the other still has: RESET, and all arrives in the next one. */
static void forgotten(void **state)
{
	static const u64 len[] = { 8, 3000, 100000 };
	struct esp_params p = params();
	u32 i;

	(void)state;
	home_open(2, 1, &p);
	for (i = 0; i < 3; i++) {
		struct home_flow *f;

		transfer(0, 1, 10 * i + 1, 8, 50 * ESP_MS);
		home_pass(5 * ESP_MS, NULL);
		f = home.node[1]->flows;
		f->refs++;
		esp_flow_kill(&f->f, home.now);
		env_flow_put(&f->f);
		transfer(0, 1, 10 * i + 2, len[i], ESP_S);
	}
	assert_true(home_counted(ESP_C_flow_reset) > 0);
	home_close();
}

/* As if RESET had come. */
static void anew(struct home_node *hn, struct home_flow *f)
{
	struct esp_todo t;

	f->refs++;
	env_flow_lock(&f->f);
	if (f->f.state == ESP_FLOW_UP) {
		esp_todo_init(&t, &hn->n, home.now);
		esp_flow_reset(&f->f, &t);
		env_flow_unlock(&f->f);
		esp_todo_run(&f->f, &t);
		esp_timer(&f->f, home.now);
	} else {
		env_flow_unlock(&f->f);
	}
	env_flow_put(&f->f);
}

/* The same in the middle of long messages of both directions: they begin again. */
static void renewed(void **state)
{
	struct esp_params p = params();
	struct home_run *r[2];
	u32 i, round;

	(void)state;
	home_open(2, 1, &p);
	home.node[0]->late = 1;
	for (round = 1; round <= 10; round++) {
		for (i = 0; i < 2; i++) {
			struct home_op op[3] = { { GOAL_OP_SEND, !i, 0, 0, 400000 },
						 { GOAL_OP_RECV, !i, 0, 0, 400000 },
						 { GOAL_OP_SEND, !i, 1, 0, 64 } };

			op[0].off = 0;
			op[1].off = 2 << 20;
			r[i] = home_start(home.node[i], round, op, 2);
		}
		home_pass(round * 37 * ESP_US, NULL);
		if (home.node[round % 2]->flows)
			anew(home.node[round % 2], home.node[round % 2]->flows);
		pass(ESP_S);
		for (i = 0; i < 2; i++)
			assert_int_equal(r[i]->run.status, 0);
	}
	assert_true(home_counted(ESP_C_flow_renew) > 0);
	assert_true(home_counted(ESP_C_rx_adopted) > 0);
	home_close();
}

/* And when the receptions that wait for their senders hold all the memory there is. */
static void renewed_credit(void **state)
{
	struct esp_params p = params();
	struct home_op op[2] = { { GOAL_OP_RECV, 1, 0, 0, 400000 },
				 { GOAL_OP_RECV, 2, 0, 1 << 20, 400000 } };
	struct home_node *hn;
	struct home_run *r;
	u32 round;

	(void)state;
	home_open(3, 1, &p);
	hn = home.node[0];
	hn->pool_max[ESP_POOL_RX] = 1;
	hn->pool_max[ESP_POOL_RX_POSTED] = 1;
	for (round = 1; round <= 5; round++) {
		struct home_flow *f;

		r = home_start(hn, round, op, 2);
		send_run(1, 0, round, 400000);
		send_run(2, 0, round, 400000);
		while (hn->pool_used[ESP_POOL_RX] + hn->pool_used[ESP_POOL_RX_POSTED] < 2)
			home_pass(10 * ESP_US, NULL);
		for (f = hn->flows; f; f = f->next)
			anew(hn, f);
		pass(5 * ESP_S);
		assert_int_equal(r->run.status, 0);
	}
	assert_true(home_counted(ESP_C_rx_adopted) > 0);
	home_close();
}

static int one_rail(u32 from, u32 to, const u8 *bytes, u32 len)
{
	(void)from;
	(void)to;
	(void)len;
	return bytes[6] == 0 ? HOME_DROP : HOME_PASS; /* the path of the frame */
}

static void rails(void **state)
{
	struct esp_params p = params();

	(void)state;
	home_open(2, 2, &p);
	transfer(0, 1, 1, 1000000, 50 * ESP_MS);
	assert_int_equal(home.node[0]->flows->f.path[0].state, ESP_PATH_UP);
	assert_int_equal(home.node[0]->flows->f.path[1].state, ESP_PATH_UP);
	assert_true(home_counted(ESP_C_lost_frames) <= 2); /* pings ahead of ACCEPT */
	home.fate = one_rail;
	transfer(0, 1, 2, 1000000, ESP_S);
	transfer(0, 1, 3, 1000000, ESP_S);
	home_pass(100 * ESP_MS, NULL);
	assert_int_equal(home.node[0]->flows->f.path[0].state, ESP_PATH_DEAD);
	home.fate = NULL;
	home_pass(ESP_S, NULL);
	assert_int_equal(home.node[0]->flows->f.path[0].state, ESP_PATH_UP);
	esp_rail_down(&home.node[0]->rail[1], home.now);
	transfer(0, 1, 4, 1000000, ESP_S);
	assert_int_equal(home.node[1]->flows->f.path[1].state, ESP_PATH_NONE);
	esp_rail_up(&home.node[0]->rail[1], 1, 1500, home.now);
	home_pass(ESP_S, NULL);
	assert_int_equal(home.node[1]->flows->f.path[1].state, ESP_PATH_UP);
	transfer(0, 1, 5, 1000000, ESP_S);
	home_close();
}

/* Each takes longer for a round trip than the first timeouts: they do not die of that again and again. */
static void slow_rails(void **state)
{
	struct esp_params p = params();
	const struct esp_flow *f;

	(void)state;
	home_open(2, 2, &p);
	home.delay = 5 * ESP_MS;
	transfer(0, 1, 1, 8, ESP_S);
	home_pass(2 * ESP_S, NULL);
	f = &home.node[0]->flows->f;
	assert_int_equal(f->path[0].state, ESP_PATH_UP);
	assert_int_equal(f->path[1].state, ESP_PATH_UP);
	assert_true(f->path[1].rtt_valid);
	assert_true(home_counted(ESP_C_path_dead) <= 2);
	home_close();
}

/* The only rail goes and comes back; for less than the death time nobody minds. */
static void rail_gone(void **state)
{
	struct esp_params p = params();
	struct home_run *r;

	(void)state;
	home_open(2, 1, &p);
	r = recv_run(1, 0, 1, 1000000);
	send_run(0, 1, 1, 1000000);
	home_pass(300 * ESP_US, NULL);
	esp_rail_down(&home.node[0]->rail[0], home.now);
	home_pass(2 * ESP_S, NULL);
	esp_rail_up(&home.node[0]->rail[0], 0, 1500, home.now);
	pass(2 * ESP_S);
	whole(r, 0, 1000000);
	home_close();
}

static void mtu(void **state)
{
	static const u16 sizes[] = { 9000, 576, 4000, 1500, 8999, 600 };
	struct esp_params p = params();
	u32 i, k;

	(void)state;
	home_open(2, 1, &p);
	transfer(0, 1, 1, 100000, 50 * ESP_MS);
	for (i = 0; i < 6; i++) {
		for (k = 0; k < 2; k++)
			esp_rail_mtu(&home.node[k]->rail[0], sizes[i], home.now);
		transfer(0, 1, i + 2, 200000, 50 * ESP_MS);
		home_pass(50 * ESP_MS, NULL);
		assert_int_equal(home.node[0]->flows->f.path[0].mtu, sizes[i]);
		assert_int_equal(home.node[1]->flows->f.path[0].mtu, sizes[i]);
	}
	home_close();
}

/* Large frames vanish without a word, from the beginning or later. */
static void black_hole(void **state)
{
	struct esp_params p = params();

	(void)state;
	home_open(2, 1, &p);
	transfer(0, 1, 1, 200000, 50 * ESP_MS);
	assert_int_equal(home.node[0]->flows->f.path[0].mtu, 1500);
	home.mtu_limit = 1300;
	transfer(0, 1, 2, 200000, 2 * ESP_S);
	assert_true(home_counted(ESP_C_mtu_black_hole) > 0);
	home_pass(ESP_S, NULL);
	assert_int_equal(home.node[0]->flows->f.path[0].mtu, 1280);
	home.mtu_limit = 0;
	home_pass(8 * ESP_S, NULL);
	transfer(0, 1, 3, 200000, 50 * ESP_MS);
	home_pass(8 * ESP_S, NULL);
	transfer(0, 1, 4, 200000, 50 * ESP_MS);
	assert_int_equal(home.node[0]->flows->f.path[0].mtu, 1500);
	home_close();
}

/* A node is started anew at the same address: the old one is dead, the new one welcome. */
static void rebooted(void **state)
{
	struct esp_params p = params();
	struct home_node *old;
	struct esp_peer peer;
	struct esp_rank rank;
	struct home_run *r;

	(void)state;
	home_open(2, 1, &p);
	transfer(0, 1, 1, 8, 50 * ESP_MS);
	r = recv_run(0, 1, 2, 8);
	old = home.node[1];
	peer = home.peer[1];
	rank = home.rank[1];
	home_boot(1, 1, &p);
	home.peer[1] = peer; /* the group's table does not change */
	home.rank[1] = rank;
	/* Rank 0 asks, and learns that nobody there knows it. */
	home_pass(4 * ESP_S, NULL);
	assert_true(r->over);
	assert_int_equal(r->run.status, -EHOSTUNREACH);
	{
		struct home_node *new = home.node[1];

		home.node[1] = old;
		home_close();
		home.node[1] = new;
		home.node[0] = NULL;
		home_close();
	}
}

/* An endpoint was killed before its node knew of the group: who waits for it hears of that. */
static void gone(void **state)
{
	static const u64 len[] = { 8, 100000 };
	struct esp_params p = params();
	struct home_run *r;
	u32 i;

	(void)state;
	for (i = 0; i < 3; i++) {
		home_open(2, 1, &p);
		home.node[1]->has_member = false;
		home.node[1]->ep_state = ESP_EP_GONE;
		r = i < 2 ? send_run(0, 1, 1, len[i]) : recv_run(0, 1, 1, 8);
		home_pass(3 * ESP_S, NULL);
		assert_true(r->over);
		assert_int_equal(home.node[0]->m.failed, -ECONNRESET);
		assert_int_equal(home.node[0]->m.failed_rank, 1);
		if (i)
			assert_int_equal(r->run.status, -ECONNRESET);
		home_close();
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(incast),        cmocka_unit_test(truncated),
		cmocka_unit_test(abort_reaches), cmocka_unit_test(death),
		cmocka_unit_test(death_pull),    cmocka_unit_test(killed),
		cmocka_unit_test(lingers),       cmocka_unit_test(lingers_out),
		cmocka_unit_test(idle),          cmocka_unit_test(forgotten),
		cmocka_unit_test(renewed),       cmocka_unit_test(renewed_credit),
		cmocka_unit_test(rails),         cmocka_unit_test(slow_rails),
		cmocka_unit_test(rail_gone),     cmocka_unit_test(mtu),
		cmocka_unit_test(black_hole),    cmocka_unit_test(gone),
		cmocka_unit_test(rebooted),      cmocka_unit_test(member_fails),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
