// SPDX-License-Identifier: BSD-3-Clause
/*
 * Peers that share no memory: over a transport inside this process (engine_wire.h) that completes
 * late, fails and refuses on demand. What it does not do is to bring word of failed runs.
 */
#include "engine_wire.h"

static struct goal_graph *one_way(uint32_t rank, uint64_t bytes, uint64_t room)
{
	struct goal_graph *g = pair_graph(rank, 2);

	if (rank == 0)
		assert_true(goal_send(g, GOAL_BUF_SEND, 0, bytes, 1, 5) >= 0);
	else
		assert_true(goal_recv(g, GOAL_BUF_RECV, 0, room, 0, 5) >= 0);
	return g;
}

static void remote__messages_arrive_late_and_early(void **state)
{
	static const uint64_t sizes[] = { 0, 8, 5000, 1000000 };
	struct pair p;
	uint32_t i, delay, op_id = 0;

	(void)state;
	wire_create(&p, 2, NULL, false);
	assert_false(goal_group_local(p.group[0], 0));
	assert_false(goal_group_local(p.group[0], 1));
	for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		for (delay = 0; delay < 20; delay += 7) {
			uint8_t *from = calloc(1, sizes[i] + 1), *to = calloc(1, sizes[i] + 1);
			struct goal_loaded *l[2];
			struct goal_run *run[2];
			struct pair_bufs b;
			uint32_t k;

			assert_non_null(from);
			assert_non_null(to);
			wire.delay = delay;
			pair_fill(from, sizes[i], op_id);
			pair_bind(&b, from, sizes[i], to, sizes[i]);
			for (k = 0; k < 2; k++)
				l[k] = pair_load(&p, k, one_way(k, sizes[i], sizes[i]));
			for (k = 0; k < 2; k++) {
				uint32_t who = (op_id + k) % 2;

				run[who] = wire_start(&p, who, l[who], op_id, &b);
			}
			op_id++;
			if (delay)
				assert_int_equal(goal_run_test(run[1]), 0);
			for (k = 0; k < 2; k++)
				assert_int_equal(pair_end(&p, run[k]), 0);
			assert_memory_equal(from, to, sizes[i] + 1);
			for (k = 0; k < 2; k++)
				assert_int_equal(goal_unload(l[k]), 0);
			free(from);
			free(to);
		}
	}
	assert_int_equal(pair_stats(&p, 0).msgs_remote, op_id);
	assert_int_equal(pair_stats(&p, 0).msgs_local, 0);
	assert_int_equal(wire.active, 0);
	pair_free(&p);
}

/* The k-th send of a (peer, tag) meets the k-th receive, whatever lies between. */
static void remote__equal_tags_match_in_order(void **state)
{
	enum {
		MESSAGES = 50
	};
	uint64_t from[MESSAGES], to[MESSAGES] = { 0 };
	struct goal_graph *g[2] = { pair_graph(0, 2), pair_graph(1, 2) };
	struct goal_loaded *l[2];
	struct goal_run *run[2];
	struct pair_bufs b;
	struct pair p;
	uint32_t i;

	(void)state;
	wire_create(&p, 2, NULL, false);
	wire.delay = 3;
	for (i = 0; i < MESSAGES; i++) {
		from[i] = i + 1;
		assert_true(goal_send(g[0], GOAL_BUF_SEND, 8 * i, 8, 1, i % 2) >= 0);
		assert_true(goal_recv(g[1], GOAL_BUF_RECV, 8 * i, 8, 0, i % 2) >= 0);
	}
	pair_bind(&b, from, sizeof(from), to, sizeof(to));
	for (i = 0; i < 2; i++)
		l[i] = pair_load(&p, i, g[i]);
	for (i = 0; i < 2; i++)
		run[i] = wire_start(&p, i, l[i], 0, &b);
	for (i = 0; i < 2; i++)
		assert_int_equal(pair_end(&p, run[i]), 0);
	assert_memory_equal(from, to, sizeof(from));
	for (i = 0; i < 2; i++)
		assert_int_equal(goal_unload(l[i]), 0);
	pair_free(&p);
}

/* Two messages of one peer and tag; @order: the second waits for the first, 1, or the other way, 2. */
static struct goal_graph *two(uint32_t rank, int order)
{
	struct goal_graph *g = pair_graph(rank, 2);
	int64_t op[2];

	for (uint32_t i = 0; i < 2; i++) {
		if (rank)
			op[i] = goal_recv(g, GOAL_BUF_RECV, 8 * i, 8, 0, 0);
		else
			op[i] = goal_send(g, GOAL_BUF_SEND, 8 * i, 8, 1, 0);
		assert_true(op[i] >= 0);
	}
	if (order == 1)
		assert_int_equal(goal_requires(g, op[1], op[0]), 0);
	else if (order == 2)
		assert_int_equal(goal_requires(g, op[0], op[1]), 0);
	return g;
}

/* The transport matches in the order of calls: where that differs from the documented one, refuse. */
static void remote__an_order_that_would_mix_up_messages_is_refused(void **state)
{
	uint64_t from[2] = { 1, 2 }, to[2] = { 0 };

	(void)state;
	for (int order = 0; order < 3; order++) {
		struct goal_loaded *l[2];
		struct goal_run *run[2];
		struct pair_bufs b;
		struct pair p;

		memset(to, 0, sizeof(to));
		wire_create(&p, 2, NULL, false);
		pair_bind(&b, from, sizeof(from), to, sizeof(to));
		for (uint32_t i = 0; i < 2; i++)
			l[i] = pair_load(&p, i, two(i, i ? order : 0));
		if (order == 2) {
			struct goal_run_attr attr = { .nbufs = 2, .bufs = b.buf };

			assert_int_equal(goal_start(p.group[1], l[1], &attr, &run[1]), -EINVAL);
			assert_int_equal(goal_exec(p.group[1], l[1], &attr, NULL), -EINVAL);
		} else {
			for (uint32_t i = 0; i < 2; i++)
				run[i] = wire_start(&p, i, l[i], 0, &b);
			for (uint32_t i = 0; i < 2; i++)
				assert_int_equal(pair_end(&p, run[i]), 0);
			assert_memory_equal(from, to, sizeof(from));
		}
		for (uint32_t i = 0; i < 2; i++)
			assert_int_equal(goal_unload(l[i]), 0);
		pair_free(&p);
	}
}

/* The transport gets one piece of memory, the buffers have many. */
static void remote__segments_are_bounced(void **state)
{
	uint8_t from[30], to[40];
	struct goal_segment seg[2][3] = { { { from, 7 }, { from + 7, 13 }, { from + 20, 10 } },
					  { { to, 11 }, { to + 15, 9 }, { to + 30, 10 } } };
	struct goal_buffer buf[2][2] = { { { seg[0], 3 }, { NULL, 0 } },
					 { { NULL, 0 }, { seg[1], 3 } } };
	struct goal_run *run[2];
	struct goal_loaded *l[2];
	uint64_t allocs;
	struct pair p;
	uint32_t i;

	(void)state;
	wire_create(&p, 2, NULL, false);
	pair_fill(from, sizeof(from), 3);
	memset(to, 0xdd, sizeof(to));
	for (i = 0; i < 2; i++)
		l[i] = pair_load(&p, i, one_way(i, 30, 30));
	allocs = pair_stats(&p, 0).allocs;
	for (i = 0; i < 2; i++) {
		struct goal_run_attr attr = { .nbufs = 2, .bufs = buf[i] };

		assert_int_equal(goal_start(p.group[i], l[i], &attr, &run[i]), 0);
	}
	for (i = 0; i < 2; i++)
		assert_int_equal(pair_end(&p, run[i]), 0);
	assert_memory_equal(to, from, 11);
	assert_memory_equal(to + 15, from + 11, 9);
	assert_memory_equal(to + 30, from + 20, 10);
	assert_int_equal(to[11], 0xdd);
	assert_int_equal(to[24], 0xdd);
	assert_int_equal(pair_stats(&p, 0).allocs, allocs + 1);
	for (i = 0; i < 2; i++)
		assert_int_equal(goal_unload(l[i]), 0);
	pair_free(&p);
}

static void remote__too_long_is_an_error_of_the_run(void **state)
{
	uint8_t from[64] = { 0 }, to[64];
	struct goal_loaded *l[2];
	struct goal_run *run[2];
	struct pair_bufs b;
	struct pair p;
	uint32_t i;

	(void)state;
	wire_create(&p, 2, NULL, false);
	pair_bind(&b, from, sizeof(from), to, sizeof(to));
	l[0] = pair_load(&p, 0, one_way(0, 64, 0));
	l[1] = pair_load(&p, 1, one_way(1, 0, 63));
	for (i = 0; i < 2; i++)
		run[i] = wire_start(&p, i, l[i], 0, &b);
	assert_int_equal(pair_end(&p, run[0]), 0);
	assert_int_equal(pair_wait(&p, run[1]), -EMSGSIZE);
	assert_int_equal(goal_run_peer(run[1]), 0);
	goal_run_free(run[1]);
	for (i = 0; i < 2; i++)
		assert_int_equal(goal_unload(l[i]), 0);
	pair_free(&p);
}

static void remote__failures_end_the_run_and_name_the_peer(void **state)
{
	uint8_t from[8] = { 0 }, to[8];
	struct goal_loaded *l[2];
	struct goal_run *run;
	struct pair_bufs b;
	struct pair p;

	(void)state;
	wire_create(&p, 2, NULL, false);
	pair_bind(&b, from, 8, to, 8);
	l[0] = pair_load(&p, 0, one_way(0, 8, 8));
	l[1] = pair_load(&p, 1, one_way(1, 8, 8));

	wire.fail_isend = -ENETDOWN;
	run = wire_start(&p, 0, l[0], 0, &b);
	assert_int_equal(pair_wait(&p, run), -ENETDOWN);
	assert_int_equal(goal_run_peer(run), 1);
	goal_run_free(run);

	wire.fail_irecv = -ENOBUFS;
	run = wire_start(&p, 1, l[1], 0, &b);
	assert_int_equal(pair_wait(&p, run), -ENOBUFS);
	assert_int_equal(goal_run_peer(run), 0);
	goal_run_free(run);

	wire.fail_irecv = 0;
	run = wire_start(&p, 1, l[1], 1, &b);
	assert_int_equal(goal_run_test(run), 0);
	wire.fail_test = -EIO;
	assert_int_equal(pair_wait(&p, run), -EIO);
	assert_int_equal(goal_run_peer(run), 0);
	goal_run_free(run);
	assert_int_equal(goal_unload(l[0]), 0);
	assert_int_equal(goal_unload(l[1]), 0);
	pair_free(&p);
}

/* Receives are cancelled where the transport can; sends keep their buffer to their end. */
static void remote__cancel(void **state)
{
	uint8_t from[8] = { 0 }, to[8];
	struct goal_loaded *l[2];
	struct goal_run *run;
	struct pair_bufs b;
	struct pair p;
	uint32_t i;

	(void)state;
	wire_create(&p, 2, NULL, false);
	pair_bind(&b, from, 8, to, 8);
	l[0] = pair_load(&p, 0, one_way(0, 8, 8));
	l[1] = pair_load(&p, 1, one_way(1, 8, 8));

	run = wire_start(&p, 1, l[1], 0, &b);
	goal_run_cancel(run);
	assert_int_equal(pair_end(&p, run), -ECANCELED);
	assert_int_equal(wire.cancels, 1);
	assert_int_equal(wire.active, 0);

	/* A receive that cannot be cancelled is waited for. */
	wire.refuse_cancel = true;
	run = wire_start(&p, 1, l[1], 1, &b);
	goal_run_cancel(run);
	pair_settle(&p);
	assert_int_equal(goal_run_test(run), 0);
	assert_int_equal(wire.cancels, 2);
	assert_int_equal(pair_end(&p, wire_start(&p, 0, l[0], 1, &b)), 0);
	assert_int_equal(pair_end(&p, run), -ECANCELED);
	assert_int_equal(wire.cancels, 2);

	/* A send is over only when the transport says so. */
	run = wire_start(&p, 0, l[0], 2, &b);
	goal_run_cancel(run);
	for (i = 0; i < 10; i++)
		goal_engine_progress(p.engine[0]);
	assert_int_equal(goal_run_test(run), 0);
	assert_int_equal(goal_group_free(p.group[0]), -EBUSY);
	assert_int_equal(pair_end(&p, wire_start(&p, 1, l[1], 2, &b)), 0);
	assert_int_equal(pair_end(&p, run), -ECANCELED);
	assert_int_equal(wire.active, 0);
	assert_int_equal(goal_unload(l[0]), 0);
	assert_int_equal(goal_unload(l[1]), 0);
	pair_free(&p);
}

/* Ranks 0, 1 on one node, 2, 3 on another: an allgather takes both ways. */
static void remote__nodes_split_by_number(void **state)
{
	struct goal_engine_attr attr = { 0 };
	struct goal_comm comm = { .size = 4 };
	struct goal_loaded *l[4];
	struct goal_run *run[4];
	struct pair_bufs b[4];
	uint64_t from[4], to[4][4];
	struct pair p;
	uint32_t i, k;

	(void)state;
	memset(&wire, 0, sizeof(wire));
	memset(&p, 0, sizeof(p));
	p.n = 4;
	for (i = 0; i < 4; i++) {
		struct goal_error error;

		attr.node = i / 2;
		assert_int_equal(goal_engine_open(&attr, &p.engine[i], &error), 0);
		goal_engine_address(p.engine[i], &p.address[i]);
	}
	assert_int_equal(goal_engine_reach(p.engine[0], &p.address[1]), 0);
	assert_int_equal(goal_engine_reach(p.engine[0], &p.address[0]), 0);
	assert_int_equal(goal_engine_reach(p.engine[0], &p.address[2]), -EHOSTUNREACH);
	for (i = 0; i < 4; i++) {
		struct goal_group_attr group = { .nonce = 99,
						 .rank = i,
						 .npeers = 4,
						 .addresses = p.address,
						 .remote = &wire_ops,
						 .remote_arg = &wire_ends[i] };
		struct goal_graph *g;
		struct goal_error error;

		assert_int_equal(goal_group_create(p.engine[i], &group, &p.group[i], &error), 0);
		for (k = 0; k < 4; k++)
			assert_int_equal(goal_group_local(p.group[i], k), k / 2 == i / 2);
		comm.rank = i;
		assert_true(goal_allgather(&comm, GOAL_ALG_LINEAR, 8, 8, false, &g) > 0);
		l[i] = pair_load(&p, i, g);
		from[i] = i * 5 + 1;
		pair_bind(&b[i], &from[i], 8, to[i], 32);
	}
	wire.delay = 2;
	for (i = 0; i < 4; i++)
		run[i] = wire_start(&p, i, l[i], 0, &b[i]);
	for (i = 0; i < 4; i++) {
		assert_int_equal(pair_end(&p, run[i]), 0);
		assert_memory_equal(to[i], from, 32);
		assert_int_equal(pair_stats(&p, i).msgs_remote, 2);
		assert_int_equal(goal_unload(l[i]), 0);
	}
	pair_free(&p);
}

/* An engine without shared memory reaches itself, and everybody else by the transport. */
static void remote__engine_of_remote_peers_only(void **state)
{
	const struct goal_engine_attr attr = { .flags = GOAL_ENGINE_REMOTE_ONLY };
	struct goal_group_attr group = { .nonce = 4, .rank = 0, .npeers = 2 };
	struct goal_group *none = NULL;
	struct goal_loaded *l[2];
	struct goal_run *run[2];
	struct goal_error error;
	struct pair_bufs b[2];
	uint64_t from[2] = { 1, 2 }, to[2][2];
	struct pair p;
	uint32_t i;

	(void)state;
	wire_create(&p, 2, &attr, true);
	group.addresses = p.address;
	assert_int_equal(goal_group_create(p.engine[0], &group, &none, &error), -EHOSTUNREACH);
	assert_int_equal(error.where, 1);
	assert_null(none);
	for (i = 0; i < 2; i++) {
		struct goal_comm comm = { .rank = i, .size = 2 };
		struct goal_graph *g;

		assert_true(goal_group_local(p.group[i], i));
		assert_false(goal_group_local(p.group[i], !i));
		assert_false(goal_group_local(p.group[i], 2));
		assert_true(goal_allgather(&comm, GOAL_ALG_AUTO, 8, 8, false, &g) > 0);
		l[i] = pair_load(&p, i, g);
		pair_bind(&b[i], &from[i], 8, to[i], 16);
	}
	for (i = 0; i < 2; i++)
		run[i] = wire_start(&p, i, l[i], 0, &b[i]);
	for (i = 0; i < 2; i++) {
		assert_int_equal(pair_end(&p, run[i]), 0);
		assert_memory_equal(to[i], from, 16);
		assert_int_equal(goal_unload(l[i]), 0);
	}
	pair_free(&p);
}

/* goal_exec() waits by idle() and test() alone when all are remote. */
static uint32_t idles;
static struct pair *idle_pair;
static struct goal_run *idle_run;

static void idle(void)
{
	idles++;
	goal_engine_progress(idle_pair->engine[1]);
	if (goal_run_test(idle_run) == 1)
		wire.delay = 0;
}

static void remote__exec_calls_idle(void **state)
{
	uint8_t from[8] = { 7 }, to[8] = { 0 };
	struct goal_run_attr attr = { .remote_tag = 1000, .nbufs = 2 };
	struct goal_loaded *l[2];
	struct pair_bufs b;
	struct pair p;

	(void)state;
	wire_create(&p, 2, NULL, false);
	wire.delay = 50;
	pair_bind(&b, from, 8, to, 8);
	attr.bufs = b.buf;
	l[0] = pair_load(&p, 0, one_way(0, 8, 8));
	l[1] = pair_load(&p, 1, one_way(1, 8, 8));
	idle_pair = &p;
	idle_run = wire_start(&p, 1, l[1], 0, &b);
	assert_int_equal(goal_exec(p.group[0], l[0], &attr, idle), 0);
	assert_true(idles > 10);
	assert_int_equal(pair_end(&p, idle_run), 0);
	assert_memory_equal(from, to, 8);
	assert_int_equal(goal_unload(l[0]), 0);
	assert_int_equal(goal_unload(l[1]), 0);
	pair_free(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(remote__messages_arrive_late_and_early),
		cmocka_unit_test(remote__equal_tags_match_in_order),
		cmocka_unit_test(remote__an_order_that_would_mix_up_messages_is_refused),
		cmocka_unit_test(remote__segments_are_bounced),
		cmocka_unit_test(remote__too_long_is_an_error_of_the_run),
		cmocka_unit_test(remote__failures_end_the_run_and_name_the_peer),
		cmocka_unit_test(remote__cancel),
		cmocka_unit_test(remote__nodes_split_by_number),
		cmocka_unit_test(remote__engine_of_remote_peers_only),
		cmocka_unit_test(remote__exec_calls_idle),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
