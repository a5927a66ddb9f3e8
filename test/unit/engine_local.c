// SPDX-License-Identifier: BSD-3-Clause
/*
 * Messages between engines that share memory: each way they can travel, in every order, and
 * what runs do with them.
 */
#include "engine_pair.h"

/* Rank 0 sends @bytes to rank 1. */
static struct goal_graph *one_way(uint32_t rank, uint64_t bytes, uint64_t room)
{
	struct goal_graph *g = pair_graph(rank, 2);

	if (rank == 0)
		assert_true(goal_send(g, GOAL_BUF_SEND, 0, bytes, 1, 0) >= 0);
	else
		assert_true(goal_recv(g, GOAL_BUF_RECV, 0, room, 0, 0) >= 0);
	return g;
}

/* Ranks 0 and 1 send each other @bytes. */
static struct goal_graph *exchange(uint32_t rank, uint64_t bytes)
{
	struct goal_graph *g = pair_graph(rank, 2);

	assert_true(goal_send(g, GOAL_BUF_SEND, 0, bytes, !rank, 0) >= 0);
	assert_true(goal_recv(g, GOAL_BUF_RECV, 0, bytes, !rank, 0) >= 0);
	return g;
}

/* Send @bytes both ways, receiver first or last, and look at every byte. */
static void check_exchange(struct pair *p, uint64_t bytes, uint32_t op_id)
{
	uint8_t *data[4];
	struct pair_bufs b[2];
	struct goal_loaded *l[2];
	struct goal_run *run[2];
	uint32_t i;

	for (i = 0; i < 4; i++) {
		data[i] = calloc(1, bytes + 1);
		assert_non_null(data[i]);
	}
	for (i = 0; i < 2; i++) {
		pair_fill(data[i], bytes, op_id + i);
		pair_bind(&b[i], data[i], bytes, data[2 + i], bytes);
		l[i] = pair_load(p, i, exchange(i, bytes));
	}
	for (i = 0; i < 2; i++) {
		uint32_t who = (i + op_id) % 2;

		run[who] = pair_start(p, who, l[who], op_id, &b[who]);
		if (op_id % 3 == 0)
			pair_settle(p);
	}
	for (i = 0; i < 2; i++)
		assert_int_equal(pair_end(p, run[i]), 0);
	assert_memory_equal(data[0], data[3], bytes);
	assert_memory_equal(data[1], data[2], bytes);
	assert_int_equal(data[2][bytes], 0);
	assert_int_equal(data[3][bytes], 0);
	for (i = 0; i < 2; i++)
		assert_int_equal(goal_unload(l[i]), 0);
	for (i = 0; i < 4; i++)
		free(data[i]);
}

static void exchange__every_size_arrives(void **state)
{
	static const uint64_t sizes[] = { 0,     1,     3,     4,     7,      8,       9,
					  23,    24,    25,    63,    64,     65,      1000,
					  1023,  1024,  1025,  4095,  4096,   4097,    16384,
					  16385, 65535, 65536, 65537, 100000, 1048576, 3000001 };
	struct pair p;
	uint32_t i, op_id = 0;

	(void)state;
	pair_create(&p, 2, NULL);
	for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		uint32_t k;

		for (k = 0; k < 6; k++)
			check_exchange(&p, sizes[i], op_id++);
	}
	assert_true(pair_stats(&p, 0).rendezvous > 0);
	assert_true(pair_stats(&p, 0).unexpected > 0);
	assert_true(pair_stats(&p, 0).early > 0);
	assert_int_equal(pair_stats(&p, 0).drops, 0);
	pair_free(&p);
}

static void exchange__rings_wrap_at_every_place(void **state)
{
	const struct goal_engine_attr attr = { .ring_slots = 8, .ring_bytes = 1024 };
	struct pair p;
	uint32_t i;

	(void)state;
	pair_create(&p, 2, &attr);
	for (i = 0; i < 600; i++)
		check_exchange(&p, i * 7 % 1500, i);
	assert_int_equal(pair_stats(&p, 0).drops, 0);
	pair_free(&p);
}

static void start__many_messages_without_credit(void **state)
{
	const struct goal_engine_attr attr = { .ring_slots = 4, .ring_bytes = 1024 };
	enum {
		MESSAGES = 200,
		BYTES = 100
	};
	static uint8_t from[MESSAGES * BYTES], to[MESSAGES * BYTES];
	struct goal_graph *g[2];
	struct goal_loaded *l[2];
	struct goal_run *run[2];
	struct pair_bufs b[2];
	struct pair p;
	uint32_t i;

	(void)state;
	pair_create(&p, 2, &attr);
	pair_fill(from, sizeof(from), 5);
	memset(to, 0, sizeof(to));
	g[0] = pair_graph(0, 2);
	g[1] = pair_graph(1, 2);
	for (i = 0; i < MESSAGES; i++) {
		assert_true(goal_send(g[0], GOAL_BUF_SEND, i * BYTES, BYTES, 1, i % 3) >= 0);
		assert_true(goal_recv(g[1], GOAL_BUF_RECV, i * BYTES, BYTES, 0, i % 3) >= 0);
	}
	for (i = 0; i < 2; i++) {
		l[i] = pair_load(&p, i, g[i]);
		pair_bind(&b[i], from, sizeof(from), to, sizeof(to));
	}
	/* All of them early: what the credit covers waits here, the rest at the sender. */
	run[0] = pair_start(&p, 0, l[0], 1, &b[0]);
	pair_settle(&p);
	assert_int_equal(goal_run_test(run[0]), 0);
	assert_true(pair_stats(&p, 0).rendezvous > 0);
	run[1] = pair_start(&p, 1, l[1], 1, &b[1]);
	assert_int_equal(pair_end(&p, run[0]), 0);
	assert_int_equal(pair_end(&p, run[1]), 0);
	assert_memory_equal(from, to, sizeof(from));
	for (i = 0; i < 2; i++)
		assert_int_equal(goal_unload(l[i]), 0);
	pair_free(&p);
}

/* Each run's messages use up the credit; the first run of the other side is started last. */
static void start__no_credit_left_for_the_first_run(void **state)
{
	const struct goal_engine_attr attr = { .ring_slots = 4, .ring_bytes = 1024 };
	enum {
		RUNS = 100
	};
	uint64_t from[RUNS], to[RUNS] = { 0 };
	struct goal_run *run[2][RUNS];
	struct goal_loaded *l[2];
	struct pair_bufs b[2][RUNS];
	struct pair p;
	uint32_t i;

	(void)state;
	pair_create(&p, 2, &attr);
	l[0] = pair_load(&p, 0, one_way(0, 8, 8));
	l[1] = pair_load(&p, 1, one_way(1, 8, 8));
	for (i = 0; i < RUNS; i++) {
		from[i] = i * 3 + 1;
		pair_bind(&b[0][i], &from[i], 8, NULL, 0);
		pair_bind(&b[1][i], NULL, 0, &to[i], 8);
		run[0][i] = pair_start(&p, 0, l[0], RUNS - i, &b[0][i]);
		pair_settle(&p);
	}
	for (i = RUNS; i-- > 0;) {
		run[1][i] = pair_start(&p, 1, l[1], RUNS - i, &b[1][i]);
		assert_int_equal(pair_end(&p, run[1][i]), 0);
		assert_int_equal(pair_end(&p, run[0][i]), 0);
		assert_int_equal(to[i], from[i]);
	}
	assert_int_equal(goal_unload(l[0]), 0);
	assert_int_equal(goal_unload(l[1]), 0);
	pair_free(&p);
}

static void group_create__messages_come_before_the_group(void **state)
{
	uint64_t from[3] = { 11, 22, 33 }, to[3] = { 0 };
	struct goal_loaded *l[2];
	struct goal_run *run[3];
	struct pair_bufs b;
	struct pair p;
	uint32_t i;

	(void)state;
	pair_open(&p, 2, NULL);
	p.group[0] = pair_join(&p, 0, 77);
	l[0] = pair_load(&p, 0, one_way(0, 8, 8));
	l[1] = pair_load(&p, 1, one_way(1, 8, 8));
	for (i = 0; i < 3; i++) {
		pair_bind(&b, &from[i], 8, NULL, 0);
		assert_int_equal(pair_end(&p, pair_start(&p, 0, l[0], i, &b)), 0);
	}
	pair_settle(&p);
	assert_int_equal(pair_stats(&p, 1).early, 3);
	p.group[1] = pair_join(&p, 1, 77);
	for (i = 3; i-- > 0;) {
		pair_bind(&b, NULL, 0, &to[i], 8);
		run[i] = pair_start(&p, 1, l[1], i, &b);
		/* Nothing has to arrive any more. */
		assert_int_equal(goal_run_test(run[i]), 1);
		goal_run_free(run[i]);
		assert_int_equal(to[i], from[i]);
	}
	assert_int_equal(goal_unload(l[0]), 0);
	assert_int_equal(goal_unload(l[1]), 0);
	pair_free(&p);
}

static void group_free__drops_what_was_kept(void **state)
{
	struct goal_engine_stats s;
	struct goal_loaded *l;
	struct pair_bufs b;
	uint64_t from = 1;
	struct pair p;
	uint32_t i;

	(void)state;
	pair_create(&p, 2, NULL);
	l = pair_load(&p, 0, one_way(0, 8, 8));
	pair_bind(&b, &from, 8, NULL, 0);
	for (i = 0; i < 5; i++)
		assert_int_equal(pair_end(&p, pair_start(&p, 0, l, i, &b)), 0);
	pair_settle(&p);
	assert_int_equal(goal_group_free(p.group[1]), 0);
	s = pair_stats(&p, 1);
	assert_int_equal(s.early, 5);
	assert_int_equal(s.drops, 5);
	/* A new group of another name never sees them. */
	p.group[1] = pair_join(&p, 1, 78);
	assert_int_equal(goal_unload(l), 0);
	pair_free(&p);
}

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
		l[r] = pair_load(&p, r, exchange(r, 8));
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
	l = pair_load(&p, 1, one_way(1, 8, 8));
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
	l = pair_load(&p, 1, one_way(1, 8, 8));
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

/* A longer message than its receive has room for: @bytes, eager or by rendezvous. */
static void check_truncation(struct pair *p, uint64_t bytes, bool early, uint32_t op_id)
{
	uint8_t *from = calloc(1, bytes), *to = calloc(1, bytes);
	struct goal_loaded *l[2];
	struct goal_run *run[2];
	struct pair_bufs b[2];

	assert_non_null(from);
	assert_non_null(to);
	memset(from, 0xaa, bytes);
	l[0] = pair_load(p, 0, one_way(0, bytes, 0));
	l[1] = pair_load(p, 1, one_way(1, 0, bytes - 1));
	pair_bind(&b[0], from, bytes, NULL, 0);
	pair_bind(&b[1], NULL, 0, to, bytes);
	if (early) {
		run[0] = pair_start(p, 0, l[0], op_id, &b[0]);
		pair_settle(p);
		run[1] = pair_start(p, 1, l[1], op_id, &b[1]);
	} else {
		run[1] = pair_start(p, 1, l[1], op_id, &b[1]);
		run[0] = pair_start(p, 0, l[0], op_id, &b[0]);
	}
	assert_int_equal(pair_wait(p, run[1]), -EMSGSIZE);
	assert_int_equal(goal_run_peer(run[1]), 0);
	goal_run_free(run[1]);
	/* The sender has done its part. */
	assert_int_equal(pair_end(p, run[0]), 0);
	assert_int_equal(to[bytes - 1], 0);
	assert_int_equal(goal_unload(l[0]), 0);
	assert_int_equal(goal_unload(l[1]), 0);
	free(from);
	free(to);
}

static void receive__too_long_is_an_error_of_that_run(void **state)
{
	static const uint64_t sizes[] = { 1, 24, 25, 4096, 4097, 300000 };
	struct pair p;
	uint32_t i;

	(void)state;
	pair_create(&p, 2, NULL);
	for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		check_truncation(&p, sizes[i], false, 2 * i);
		check_truncation(&p, sizes[i], true, 2 * i + 1);
		check_exchange(&p, 100, 1000 + i);
	}
	pair_free(&p);
}

static void receive__shorter_is_fine_and_its_length_goes_on(void **state)
{
	uint8_t from[64], to[64];
	struct goal_loaded *l[2];
	struct goal_run *run[2];
	struct goal_graph *g;
	struct pair_bufs b[2];
	struct pair p;
	int64_t recv, copy;

	(void)state;
	pair_create(&p, 2, NULL);
	pair_fill(from, sizeof(from), 1);
	memset(to, 0xee, sizeof(to));
	l[0] = pair_load(&p, 0, one_way(0, 10, 0));
	g = pair_graph(1, 2);
	recv = goal_recv(g, GOAL_BUF_RECV, 0, 32, 0, 0);
	copy = goal_copy(g, GOAL_BUF_RECV, 32, GOAL_BUF_RECV, 0, 32);
	assert_true(recv >= 0 && copy >= 0);
	assert_int_equal(goal_length_from(g, copy, recv), 0);
	l[1] = pair_load(&p, 1, g);
	pair_bind(&b[0], from, sizeof(from), NULL, 0);
	pair_bind(&b[1], NULL, 0, to, sizeof(to));
	run[1] = pair_start(&p, 1, l[1], 1, &b[1]);
	run[0] = pair_start(&p, 0, l[0], 1, &b[0]);
	assert_int_equal(pair_end(&p, run[0]), 0);
	assert_int_equal(pair_end(&p, run[1]), 0);
	assert_memory_equal(to, from, 10);
	assert_memory_equal(to + 32, from, 10);
	assert_int_equal(to[10], 0xee);
	assert_int_equal(to[42], 0xee);
	assert_int_equal(goal_unload(l[0]), 0);
	assert_int_equal(goal_unload(l[1]), 0);
	pair_free(&p);
}

/* A rank sends to itself; the receive starts before or after the send. */
static void send__to_itself(void **state)
{
	static const uint64_t sizes[] = { 0, 8, 100, 5000, 200000 };
	uint32_t i, late;
	struct pair p;

	(void)state;
	pair_create(&p, 1, NULL);
	for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		for (late = 0; late < 2; late++) {
			uint8_t *from = calloc(1, sizes[i] + 1), *to = calloc(1, sizes[i] + 1);
			struct goal_graph *g = pair_graph(0, 1);
			struct goal_loaded *l;
			struct pair_bufs b;
			int64_t send, recv, nop;

			assert_non_null(from);
			assert_non_null(to);
			pair_fill(from, sizes[i], i);
			send = goal_send(g, GOAL_BUF_SEND, 0, sizes[i], 0, 3);
			nop = goal_nop(g);
			recv = goal_recv(g, GOAL_BUF_RECV, 0, sizes[i], 0, 3);
			if (late) {
				assert_int_equal(goal_irequires(g, nop, send), 0);
				assert_int_equal(goal_requires(g, recv, nop), 0);
			} else {
				assert_int_equal(goal_irequires(g, nop, recv), 0);
				assert_int_equal(goal_requires(g, send, nop), 0);
			}
			l = pair_load(&p, 0, g);
			pair_bind(&b, from, sizes[i], to, sizes[i]);
			assert_int_equal(pair_end(&p, pair_start(&p, 0, l, 2 * i + late, &b)), 0);
			assert_memory_equal(from, to, sizes[i] + 1);
			assert_int_equal(goal_unload(l), 0);
			free(from);
			free(to);
		}
	}
	pair_free(&p);
}

/* A send to itself waits for a receive that waits for a peer who never sends: cancel. */
static void cancel__ends_a_send_to_itself(void **state)
{
	struct goal_graph *g = pair_graph(0, 2);
	uint64_t from = 3, to[2];
	struct goal_loaded *l;
	struct goal_run *run;
	struct pair_bufs b;
	struct pair p;
	int64_t peer, recv;

	(void)state;
	pair_create(&p, 2, NULL);
	assert_true(goal_send(g, GOAL_BUF_SEND, 0, 8, 0, 0) >= 0);
	peer = goal_recv(g, GOAL_BUF_RECV, 0, 8, 1, 0);
	recv = goal_recv(g, GOAL_BUF_RECV, 8, 8, 0, 0);
	assert_int_equal(goal_requires(g, recv, peer), 0);
	l = pair_load(&p, 0, g);
	pair_bind(&b, &from, 8, to, 16);
	run = pair_start(&p, 0, l, 0, &b);
	pair_settle(&p);
	assert_int_equal(goal_run_test(run), 0);
	goal_run_cancel(run);
	assert_int_equal(pair_end(&p, run), -ECANCELED);
	assert_int_equal(goal_unload(l), 0);
	pair_free(&p);
}

/* Buffers in many pieces, none of them aligned. */
static void start__buffers_of_many_segments(void **state)
{
	enum {
		BYTES = 50000
	};
	static uint8_t from[BYTES], to[2 * BYTES];
	struct goal_segment seg[2][400];
	struct goal_buffer buf[2][2];
	static const uint64_t sizes[] = { 8, 24, 1000, 4000, 50000 };
	struct pair p;
	uint32_t i, k;

	(void)state;
	pair_create(&p, 2, NULL);
	pair_fill(from, sizeof(from), 9);
	for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		struct goal_run_attr attr[2] = { { .op_id = i, .nbufs = 2, .bufs = buf[0] },
						 { .op_id = i, .nbufs = 2, .bufs = buf[1] } };
		struct goal_run *run[2];
		struct goal_loaded *l[2];
		uint64_t at, n;

		memset(buf, 0, sizeof(buf));
		memset(to, 0, sizeof(to));
		/* Sender: pieces of 1, 2, 3, ...; receiver: pieces with gaps. */
		for (at = 0, k = 0; at < sizes[i]; at += n, k++) {
			n = k + 1 < sizes[i] - at ? k + 1 : sizes[i] - at;
			seg[0][k].base = from + at;
			seg[0][k].len = n;
		}
		buf[0][0].seg = seg[0];
		buf[0][0].nseg = k;
		for (at = 0, k = 0; at < sizes[i]; at += n, k++) {
			n = 137 < sizes[i] - at ? 137 : sizes[i] - at;
			seg[1][k].base = to + k * 138;
			seg[1][k].len = n;
		}
		buf[1][1].seg = seg[1];
		buf[1][1].nseg = k;
		l[0] = pair_load(&p, 0, one_way(0, sizes[i], 0));
		l[1] = pair_load(&p, 1, one_way(1, 0, sizes[i]));
		for (k = 0; k < 2; k++)
			assert_int_equal(goal_start(p.group[k], l[k], &attr[k], &run[k]), 0);
		for (k = 0; k < 2; k++) {
			assert_int_equal(pair_end(&p, run[k]), 0);
			assert_int_equal(goal_unload(l[k]), 0);
		}
		for (at = 0; at < sizes[i]; at++)
			assert_int_equal(to[at / 137 * 138 + at % 137], from[at]);
		if (sizes[i] > 137)
			assert_int_equal(to[137], 0);
	}
	pair_free(&p);
}

/* Cancel one side of a transfer at each of its stages; the other side ends, too. */
static void cancel__at_every_stage(void **state)
{
	static const uint64_t sizes[] = { 8, 4000, 500000 };
	uint8_t *from = calloc(1, 500000), *to = calloc(1, 500000);
	uint32_t i, who, turns, k, op_id = 0;

	(void)state;
	assert_non_null(from);
	assert_non_null(to);
	for (i = 0; i < 3; i++) {
		for (who = 0; who < 2; who++) {
			struct pair p;

			pair_create(&p, 2, NULL);
			for (turns = 0; turns < 12; turns++) {
				struct goal_loaded *l[2];
				struct goal_run *run[2];
				struct pair_bufs b[2];
				int rc;

				for (k = 0; k < 2; k++) {
					l[k] = pair_load(&p, k, one_way(k, sizes[i], sizes[i]));
					pair_bind(&b[k], from, sizes[i], to, sizes[i]);
				}
				run[0] = pair_start(&p, 0, l[0], op_id, &b[0]);
				run[1] = pair_start(&p, 1, l[1], op_id, &b[1]);
				op_id++;
				for (k = 0; k < turns; k++)
					goal_engine_progress(p.engine[k % 2]);
				goal_run_cancel(run[who]);
				rc = pair_wait(&p, run[who]);
				assert_true(rc == 0 || rc == -ECANCELED);
				rc = pair_wait(&p, run[!who]);
				assert_true(rc == 0 || rc == -ECONNABORTED);
				if (rc)
					assert_int_equal(goal_run_peer(run[!who]), who);
				pair_settle(&p);
				for (k = 0; k < 2; k++) {
					goal_run_free(run[k]);
					assert_int_equal(goal_unload(l[k]), 0);
				}
			}
			/* Nothing is out of step afterwards. */
			check_exchange(&p, sizes[i], op_id++);
			pair_free(&p);
		}
	}
	free(from);
	free(to);
}

/* Rank 0 cancels before its second send, which rank 1 waits for, and rank 1's send to 2 as well. */
static void cancel__spreads_to_those_who_would_wait(void **state)
{
	struct goal_loaded *l[3];
	struct goal_run *run[3];
	struct goal_graph *g[3];
	uint64_t from = 1, to = 0;
	struct pair_bufs b;
	struct pair p;
	int64_t first, second;
	uint32_t i, late;

	(void)state;
	pair_create(&p, 3, NULL);
	for (i = 0; i < 3; i++)
		g[i] = pair_graph(i, 3);
	/* 0 waits for 2, then sends to 1; 1 waits for 0, then sends to 2; 2 waits for 1. */
	first = goal_recv(g[0], GOAL_BUF_RECV, 0, 8, 2, 0);
	second = goal_send(g[0], GOAL_BUF_SEND, 0, 8, 1, 0);
	assert_int_equal(goal_requires(g[0], second, first), 0);
	first = goal_recv(g[1], GOAL_BUF_RECV, 0, 8, 0, 0);
	second = goal_send(g[1], GOAL_BUF_SEND, 0, 8, 2, 0);
	assert_int_equal(goal_requires(g[1], second, first), 0);
	first = goal_recv(g[2], GOAL_BUF_RECV, 0, 8, 1, 0);
	second = goal_send(g[2], GOAL_BUF_SEND, 0, 8, 0, 0);
	assert_int_equal(goal_requires(g[2], second, first), 0);
	for (i = 0; i < 3; i++)
		l[i] = pair_load(&p, i, g[i]);
	pair_bind(&b, &from, 8, &to, 8);
	for (late = 0; late < 2; late++) {
		run[0] = pair_start(&p, 0, l[0], late, &b);
		if (!late)
			for (i = 1; i < 3; i++)
				run[i] = pair_start(&p, i, l[i], late, &b);
		pair_settle(&p);
		goal_run_cancel(run[0]);
		pair_settle(&p);
		if (late)
			for (i = 1; i < 3; i++)
				run[i] = pair_start(&p, i, l[i], late, &b);
		assert_int_equal(pair_end(&p, run[0]), -ECANCELED);
		assert_int_equal(pair_wait(&p, run[1]), -ECONNABORTED);
		assert_int_equal(goal_run_peer(run[1]), 0);
		goal_run_free(run[1]);
		assert_int_equal(pair_wait(&p, run[2]), -ECONNABORTED);
		assert_int_equal(goal_run_peer(run[2]), 1);
		goal_run_free(run[2]);
	}
	for (i = 0; i < 3; i++)
		assert_int_equal(goal_unload(l[i]), 0);
	pair_free(&p);
}

static void group_fail__ends_all_runs_now_and_later(void **state)
{
	struct goal_run_attr attr = { .op_id = 9, .nbufs = 2 };
	struct goal_run *run[3], *later = NULL;
	struct goal_loaded *l;
	struct pair_bufs b;
	uint64_t to[3];
	struct pair p;
	uint32_t i;

	(void)state;
	pair_create(&p, 2, NULL);
	l = pair_load(&p, 1, one_way(1, 8, 8));
	for (i = 0; i < 3; i++) {
		pair_bind(&b, NULL, 0, &to[i], 8);
		run[i] = pair_start(&p, 1, l, i, &b);
	}
	goal_group_fail(p.group[1], -EPIPE, 0);
	for (i = 0; i < 3; i++) {
		assert_int_equal(goal_run_test(run[i]), -EPIPE);
		assert_int_equal(goal_run_peer(run[i]), 0);
		goal_run_free(run[i]);
	}
	attr.bufs = b.buf;
	assert_int_equal(goal_start(p.group[1], l, &attr, &later), -EPIPE);
	assert_int_equal(goal_exec(p.group[1], l, &attr, NULL), -EPIPE);
	assert_int_equal(pair_stats(&p, 1).runs_failed, 3);
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

/* inout = in * 2 + inout: neither commutative nor anything the core knows. */
static int twice(void *arg, const void *in, void *inout, uint64_t count)
{
	const uint64_t *a = in;
	uint64_t *b = inout, i;

	*(uint32_t *)arg += 1;
	for (i = 0; i < count; i++)
		b[i] = a[i] * 2 + b[i];
	return 0;
}

static int refuse(void *arg, const void *in, void *inout, uint64_t count)
{
	(void)arg;
	(void)in;
	(void)inout;
	(void)count;
	return -EDOM;
}

static void reduce__by_callback(void **state)
{
	uint64_t in[4] = { 1, 2, 3, 4 }, out[4] = { 10, 20, 30, 40 };
	struct goal_graph *g = pair_graph(0, 1);
	struct goal_run_attr attr = { .nbufs = 2, .reduce = twice };
	/* The second element of each straddles two segments. */
	struct goal_segment cut_in[2] = { { in, 12 }, { (char *)in + 12, 20 } };
	struct goal_segment cut_out[2] = { { out, 13 }, { (char *)out + 13, 19 } };
	struct goal_buffer cut[2] = { { cut_in, 2 }, { cut_out, 2 } };
	struct goal_loaded *l;
	struct pair_bufs b;
	uint32_t calls = 0, i;
	struct pair p;

	(void)state;
	pair_create(&p, 1, NULL);
	assert_int_equal(goal_user_size(g, 8), 0);
	assert_true(goal_reduce(g, GOAL_BUF_RECV, 0, GOAL_BUF_SEND, 0, 4, GOAL_TYPE_USER,
				GOAL_ROP_USER) >= 0);
	l = pair_load(&p, 0, g);
	pair_bind(&b, in, sizeof(in), out, sizeof(out));
	attr.bufs = b.buf;
	attr.reduce_arg = &calls;
	assert_int_equal(goal_exec(p.group[0], l, &attr, NULL), 0);
	assert_int_equal(calls, 1);
	for (i = 0; i < 4; i++)
		assert_int_equal(out[i], 12 * (i + 1));
	attr.bufs = cut;
	attr.op_id = 1;
	/* Elements in pieces are aligned for the callback, whole ones lie where they are bound. */
	assert_int_equal(goal_exec(p.group[0], l, &attr, NULL), 0);
	for (i = 0; i < 4; i++)
		assert_int_equal(out[i], 14 * (i + 1));
	attr.op_id = 2;
	attr.bufs = b.buf;
	attr.reduce = refuse;
	assert_int_equal(goal_exec(p.group[0], l, &attr, NULL), -EDOM);
	assert_int_equal(goal_unload(l), 0);
	pair_free(&p);
}

static void reduce__element_across_segments(void **state)
{
	int32_t in[4] = { 1, 2, 3, 4 }, out[4] = { 10, 20, 30, 40 };
	struct goal_segment cut_in[2] = { { in, 6 }, { (char *)in + 6, 10 } };
	struct goal_segment cut_out[1] = { { out, 16 } };
	struct goal_buffer cut[2] = { { cut_in, 2 }, { cut_out, 1 } };
	struct goal_run_attr attr = { .nbufs = 2, .bufs = cut };
	struct goal_graph *g = pair_graph(0, 1);
	struct goal_loaded *l;
	struct pair p;
	uint32_t i;

	(void)state;
	pair_create(&p, 1, NULL);
	assert_true(goal_reduce(g, GOAL_BUF_RECV, 0, GOAL_BUF_SEND, 0, 4, GOAL_TYPE_INT32,
				GOAL_ROP_SUM) >= 0);
	l = pair_load(&p, 0, g);
	assert_int_equal(goal_exec(p.group[0], l, &attr, NULL), 0);
	for (i = 0; i < 4; i++)
		assert_int_equal(out[i], 11 * ((int32_t)i + 1));
	assert_int_equal(goal_unload(l), 0);
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

/* After the first rounds starts ask for no memory, whatever way the messages take. */
static void start__again_allocates_nothing(void **state)
{
	static const uint64_t sizes[] = { 0, 8, 2000, 100000 };
	uint8_t *data[4];
	struct pair p;
	uint32_t i, k, round, op_id = 0;

	(void)state;
	for (i = 0; i < 4; i++) {
		data[i] = calloc(1, 100000);
		assert_non_null(data[i]);
	}
	pair_create(&p, 2, NULL);
	for (i = 0; i < 4; i++) {
		struct goal_engine_stats before[2];
		struct goal_loaded *l[2];
		struct pair_bufs b[2];

		for (k = 0; k < 2; k++) {
			l[k] = pair_load(&p, k, exchange(k, sizes[i]));
			pair_bind(&b[k], data[k], sizes[i], data[2 + k], sizes[i]);
		}
		for (round = 0; round < 60; round++) {
			struct goal_run *run[2];

			if (round == 10)
				for (k = 0; k < 2; k++)
					before[k] = pair_stats(&p, k);
			for (k = 0; k < 2; k++) {
				run[k] = pair_start(&p, k, l[k], op_id, &b[k]);
				if (round % 2)
					pair_settle(&p);
			}
			for (k = 0; k < 2; k++)
				assert_int_equal(pair_end(&p, run[k]), 0);
			op_id++;
		}
		for (k = 0; k < 2; k++) {
			assert_int_equal(pair_stats(&p, k).allocs, before[k].allocs);
			assert_int_equal(goal_unload(l[k]), 0);
		}
	}
	pair_free(&p);
	for (i = 0; i < 4; i++)
		free(data[i]);
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
	l = pair_load(&p, 1, one_way(1, 8, 8));
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
	l[0] = pair_load(&p, 0, one_way(0, 8, 8));
	l[1] = pair_load(&p, 1, one_way(1, 8, 8));
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
	l = pair_load(&p, 1, one_way(1, 8, 8));
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

/* Thousands of groups that come and go leave nothing behind. */
static void group_create__again_and_again(void **state)
{
	struct goal_engine_stats before[2];
	struct goal_loaded *l[2];
	struct pair_bufs b[2];
	uint64_t from = 7, to;
	struct pair p;
	uint32_t i, k;

	(void)state;
	pair_open(&p, 2, NULL);
	for (k = 0; k < 2; k++) {
		l[k] = pair_load(&p, k, one_way(k, 8, 8));
		pair_bind(&b[k], &from, 8, &to, 8);
	}
	for (i = 0; i < 2000; i++) {
		struct goal_run *run[2];

		p.group[0] = pair_join(&p, 0, 1 + i);
		run[0] = pair_start(&p, 0, l[0], 0, &b[0]);
		p.group[1] = pair_join(&p, 1, 1 + i);
		to = 0;
		run[1] = pair_start(&p, 1, l[1], 0, &b[1]);
		for (k = 0; k < 2; k++)
			assert_int_equal(pair_end(&p, run[k]), 0);
		assert_int_equal(to, 7);
		for (k = 0; k < 2; k++) {
			assert_int_equal(goal_group_free(p.group[k]), 0);
			p.group[k] = NULL;
		}
		if (i == 10)
			for (k = 0; k < 2; k++)
				before[k] = pair_stats(&p, k);
	}
	for (k = 0; k < 2; k++) {
		/* One for each group. */
		assert_int_equal(pair_stats(&p, k).allocs - before[k].allocs, 2000 - 11);
		assert_int_equal(goal_unload(l[k]), 0);
	}
	pair_free(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(exchange__every_size_arrives),
		cmocka_unit_test(exchange__rings_wrap_at_every_place),
		cmocka_unit_test(start__many_messages_without_credit),
		cmocka_unit_test(start__no_credit_left_for_the_first_run),
		cmocka_unit_test(group_create__messages_come_before_the_group),
		cmocka_unit_test(group_free__drops_what_was_kept),
		cmocka_unit_test(start__overlapping_runs_in_any_order),
		cmocka_unit_test(start__same_identity_twice_is_refused),
		cmocka_unit_test(start__what_does_not_fit_is_refused),
		cmocka_unit_test(receive__too_long_is_an_error_of_that_run),
		cmocka_unit_test(receive__shorter_is_fine_and_its_length_goes_on),
		cmocka_unit_test(send__to_itself),
		cmocka_unit_test(cancel__ends_a_send_to_itself),
		cmocka_unit_test(start__buffers_of_many_segments),
		cmocka_unit_test(cancel__at_every_stage),
		cmocka_unit_test(cancel__spreads_to_those_who_would_wait),
		cmocka_unit_test(group_fail__ends_all_runs_now_and_later),
		cmocka_unit_test(done__starts_the_next_run_without_recursion),
		cmocka_unit_test(reduce__by_callback),
		cmocka_unit_test(reduce__element_across_segments),
		cmocka_unit_test(exec__changed_bytes_change_the_result),
		cmocka_unit_test(start__again_allocates_nothing),
		cmocka_unit_test(load__counts_its_memory),
		cmocka_unit_test(run_free__before_the_end),
		cmocka_unit_test(run_wait__gives_up_in_time),
		cmocka_unit_test(group_create__again_and_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
