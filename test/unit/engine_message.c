// SPDX-License-Identifier: BSD-3-Clause
/*
 * Messages between engines that share memory: each way they can travel, in every order.
 */
#include "engine_pair.h"

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
			pair_check_exchange(&p, sizes[i], op_id++);
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
		pair_check_exchange(&p, i * 7 % 1500, i);
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
	l[0] = pair_load(&p, 0, pair_one_way(0, 8, 8));
	l[1] = pair_load(&p, 1, pair_one_way(1, 8, 8));
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
	l[0] = pair_load(&p, 0, pair_one_way(0, 8, 8));
	l[1] = pair_load(&p, 1, pair_one_way(1, 8, 8));
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
	static uint8_t long_message[50000];
	struct goal_engine_stats s;
	struct goal_loaded *l, *big;
	struct pair_bufs b;
	uint64_t from = 1;
	struct pair p;
	uint32_t i;

	(void)state;
	pair_create(&p, 2, NULL);
	l = pair_load(&p, 0, pair_one_way(0, 8, 8));
	pair_bind(&b, &from, 8, NULL, 0);
	for (i = 0; i < 5; i++)
		assert_int_equal(pair_end(&p, pair_start(&p, 0, l, i, &b)), 0);
	pair_settle(&p);
	assert_int_equal(goal_group_free(p.group[1]), 0);
	s = pair_stats(&p, 1);
	assert_int_equal(s.early, 5);
	assert_int_equal(s.drops, 5);
	/* What comes still later is dropped at once; long messages are refused to their sender. */
	for (i = 5; i < 8; i++)
		assert_int_equal(pair_end(&p, pair_start(&p, 0, l, i, &b)), 0);
	pair_settle(&p);
	assert_int_equal(pair_stats(&p, 1).drops, 8);
	big = pair_load(&p, 0, pair_one_way(0, sizeof(long_message), 0));
	pair_bind(&b, long_message, sizeof(long_message), NULL, 0);
	assert_int_equal(pair_end(&p, pair_start(&p, 0, big, 8, &b)), 0);
	assert_int_equal(pair_stats(&p, 1).drops, 9);
	assert_int_equal(goal_unload(big), 0);
	/* A new group of another name never sees them. */
	p.group[1] = pair_join(&p, 1, 78);
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
	l[0] = pair_load(p, 0, pair_one_way(0, bytes, 0));
	l[1] = pair_load(p, 1, pair_one_way(1, 0, bytes - 1));
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
		pair_check_exchange(&p, 100, 1000 + i);
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
	l[0] = pair_load(&p, 0, pair_one_way(0, 10, 0));
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
		l[0] = pair_load(&p, 0, pair_one_way(0, sizes[i], 0));
		l[1] = pair_load(&p, 1, pair_one_way(1, 0, sizes[i]));
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
			l[k] = pair_load(&p, k, pair_exchange(k, sizes[i]));
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
		l[k] = pair_load(&p, k, pair_one_way(k, 8, 8));
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
		cmocka_unit_test(receive__too_long_is_an_error_of_that_run),
		cmocka_unit_test(receive__shorter_is_fine_and_its_length_goes_on),
		cmocka_unit_test(send__to_itself),
		cmocka_unit_test(start__buffers_of_many_segments),
		cmocka_unit_test(start__again_allocates_nothing),
		cmocka_unit_test(group_create__again_and_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
