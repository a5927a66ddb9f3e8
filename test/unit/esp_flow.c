// SPDX-License-Identifier: BSD-3-Clause
/* Flows between a few nodes: every message arrives once and whole, and every run ends. */
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

/* Both send @n messages of @len bytes to each other; then everything is as it should be. */
static void exchange(u32 opid, u32 n, u64 len, u64 patience)
{
	struct home_op op[2 * 16];
	struct home_run *r[2];
	u32 i, k;

	for (k = 0; k < 2; k++) {
		for (i = 0; i < n; i++) {
			op[i] = (struct home_op){ GOAL_OP_SEND, !k, i, 0, len };
			op[n + i] = (struct home_op){ GOAL_OP_RECV, !k, i,
						      (i + 1) * ((len + 7) & ~7ull), len };
		}
		r[k] = home_start(home.node[k], opid, op, 2 * n);
	}
	if (!home_pass(patience, home_idle)) {
		home_dump();
		fail();
	}
	for (k = 0; k < 2; k++) {
		assert_int_equal(r[k]->run.status, 0);
		for (i = 0; i < n; i++) {
			assert_int_equal(r[k]->run.rlen[i], len);
			/* Sent from offset 0. */
			{
				u64 at = (i + 1) * ((len + 7) & ~7ull);
				u64 j;

				for (j = 0; j + 4 <= len; j += 4) {
					u32 want = (u32)(j * 2654435761u) ^ (u32)!k << 24 ^ opid,
					    is;

					memcpy(&is, r[k]->buf + at + j, 4);
					assert_int_equal(is, want);
				}
			}
		}
	}
}

static void sizes(void **state)
{
	static const u64 len[] = { 0, 1, 8, 575, 1000, 1024, 1025, 4000, 65536, 200000 };
	struct esp_params p = params();
	u32 i;

	(void)state;
	home_open(2, 1, &p);
	for (i = 0; i < sizeof(len) / sizeof(len[0]); i++)
		exchange(i + 1, 1, len[i], 50 * ESP_MS);
	assert_int_equal(home_counted(ESP_C_lost_frames), 0);
	assert_int_equal(home_counted(ESP_C_tail_probes), 0);
	home_close();
}

static void many_in_one(void **state)
{
	struct esp_params p = params();

	(void)state;
	home_open(2, 1, &p);
	exchange(1, 1, 8, 50 * ESP_MS);
	home_pass(2 * ESP_MS, NULL);
	home.frames = 0;
	exchange(2, 16, 8, 50 * ESP_MS);
	assert_true(home.frames <= 6);
	home_close();
}

static void not_ready(void **state)
{
	struct home_op s = { GOAL_OP_SEND, 1, 0, 0, 100 }, l = { GOAL_OP_SEND, 1, 1, 0, 100000 };
	struct home_op both[2] = { s, l };
	struct home_op recv[2] = { { GOAL_OP_RECV, 0, 0, 0, 100 },
				   { GOAL_OP_RECV, 0, 1, 1000, 100000 } };
	struct esp_params p = params();
	struct home_run *a, *b;

	(void)state;
	p.keep_max = 0;
	home_open(2, 1, &p);
	a = home_start(home.node[0], 7, both, 2);
	home_pass(5 * ESP_MS, NULL);
	assert_int_equal(home.node[1]->count[ESP_C_refused_run], 2);
	assert_int_equal(home.node[0]->count[ESP_C_msg_parked], 2);
	assert_false(a->over);
	b = home_start(home.node[1], 7, recv, 2);
	assert_true(home_pass(5 * ESP_MS, home_idle));
	assert_int_equal(a->run.status, 0);
	assert_int_equal(b->run.status, 0);
	home_close();
}

static void random_loss(void **state)
{
	struct esp_params p = params();
	u32 i;

	(void)state;
	home_open(2, 1, &p);
	home.loss = 65536 / 10;
	for (i = 0; i < 200; i++)
		exchange(i + 1, 1 + i % 5, i * 37 % 3000, 3 * ESP_S);
	exchange(1000, 2, 500000, 5 * ESP_S);
	home.loss = 65536 * 3 / 10;
	for (i = 0; i < 100; i++)
		exchange(2000 + i, 1 + i % 5, i * 37 % 9000, 4 * ESP_S);
	exchange(3000, 2, 300000, 10 * ESP_S);
	home_close();
}

static int mess(u32 from, u32 to, const u8 *bytes, u32 len)
{
	u32 r = home_random() % 10;

	(void)from;
	(void)to;
	(void)bytes;
	(void)len;
	return r == 0   ? HOME_DROP
	       : r == 1 ? HOME_TWICE
	       : r < 4  ? HOME_LATE
	       : r == 4 ? HOME_FLIP
			: HOME_PASS;
}

static void hostile(void **state)
{
	struct esp_params p = params();
	u32 i;

	(void)state;
	p.pn_first = (u32)-40;
	p.mid_first = (u32)-30;
	home_open(2, 1, &p);
	home.fate = mess;
	home.node[0]->late = 1;
	home.node[1]->late = 1;
	for (i = 0; i < 200; i++)
		exchange(i + 1, 1 + i % 7, i * 101 % 5000, 4 * ESP_S);
	exchange(1000, 2, 300000, 10 * ESP_S);
	assert_true(home_counted(ESP_C_drop_hdr_crc) > 0);
	assert_true(home_counted(ESP_C_drop_pn_duplicate) > 0);
	home_close();
}

/* Hardly any memory: one of everything. */
static void single_credit(void **state)
{
	struct esp_params p = params();
	u32 i, k;

	(void)state;
	home_open(2, 1, &p);
	for (k = 0; k < 2; k++) {
		home.node[k]->rooms_max = 1;
		home.node[k]->pool_max[ESP_POOL_SENT] = 1;
		home.node[k]->pool_max[ESP_POOL_CTL] = 1;
		home.node[k]->pool_max[ESP_POOL_QUEUE] = 0;
		home.node[k]->pool_max[ESP_POOL_RX] = 1;
		home.node[k]->pool_max[ESP_POOL_RX_POSTED] = 1;
	}
	for (i = 0; i < 30; i++)
		exchange(i + 1, 1 + i % 9, i * 1013 % 20000, 3 * ESP_S);
	home.loss = 65536 / 10;
	for (i = 0; i < 30; i++)
		exchange(100 + i, 1 + i % 9, i * 1013 % 20000, 10 * ESP_S);
	home_close();
}

static int numbered_lost(u32 from, u32 to, const u8 *bytes, u32 len)
{
	(void)to;
	(void)len;
	return from == 1 && bytes[1] == ESP_T_DATA && (bytes[7] & ESP_F_NUMBERED) ? HOME_DROP
										  : HOME_PASS;
}

/* Who has no record to send anything with acknowledges as always. */
static void acknowledges(void **state)
{
	struct home_op s = { GOAL_OP_SEND, 1, 0, 0, 8 }, back = { GOAL_OP_SEND, 0, 0, 0, 8 };
	struct esp_params p = params();
	u64 probes;
	u32 i;

	(void)state;
	home_open(2, 1, &p);
	exchange(1, 1, 8, 50 * ESP_MS);
	home_pass(50 * ESP_MS, NULL);
	home.node[1]->pool_max[ESP_POOL_SENT] = 0;
	home.fate = numbered_lost;
	for (i = 0; i < 20; i++)
		home_start(home.node[1], 10 + i, &back, 1);
	home_pass(3 * ESP_MS, NULL);
	assert_true(home.node[1]->flows->f.pauses > 5);
	probes = home.node[0]->count[ESP_C_tail_probes];
	for (i = 0; i < ESP_REFUSED; i++) { /* more are not acknowledged */
		home_start(home.node[0], 100 + i, &s, 1);
		home_pass(300 * ESP_US, NULL);
	}
	home_pass(ESP_MS, NULL);
	assert_int_equal(home.node[0]->count[ESP_C_tail_probes], probes);
	assert_int_equal(home.node[0]->flows->f.path[0].nsent, 0);
	home_close();
}

/* Each answers @thinks after it was sent to: how many acknowledgements needed a frame, and how many probes. */
static void turns(u64 delay, u64 thinks, u64 *acks, u64 *probes)
{
	struct esp_params p = params();
	u32 i;

	home_open(2, 1, &p);
	home.delay = delay;
	exchange(1000, 1, 100000, 500 * ESP_MS); /* some of it is acknowledged at once */
	for (i = 0; i < 60; i++) {
		struct home_op s = { GOAL_OP_SEND, 1 - i % 2, 0, 0, 8 };
		struct home_op r = { GOAL_OP_RECV, i % 2, 0, 64, 8 };

		if (i == 40) { /* both know the round trip by now */
			*acks = home_counted(ESP_C_acks_out);
			*probes = home_counted(ESP_C_tail_probes);
		}
		home_start(home.node[1 - i % 2], i, &r, 1);
		home_start(home.node[i % 2], i, &s, 1);
		home_pass(delay + thinks, NULL);
	}
	*acks = home_counted(ESP_C_acks_out) - *acks;
	*probes = home_counted(ESP_C_tail_probes) - *probes;
	assert_true(home_pass(50 * ESP_MS, home_idle));
	home_close();
}

/* Who only receives acknowledges soon, however long he thinks that the way is. */
static void without_answers(void **state)
{
	struct home_op s = { GOAL_OP_SEND, 1, 0, 0, 8 }, r = { GOAL_OP_RECV, 0, 0, 64, 8 };
	struct esp_params p = params();
	u64 probes;
	u32 i;

	(void)state;
	home_open(2, 1, &p);
	exchange(1, 1, 100000, 500 * ESP_MS);
	home_pass(50 * ESP_MS, NULL);
	home.node[1]->flows->f.path[0].srtt = 5 * ESP_MS;
	probes = home_counted(ESP_C_tail_probes);
	for (i = 2; i < 20; i++) {
		home_start(home.node[1], i, &r, 1);
		home_start(home.node[0], i, &s, 1);
		home_pass(5 * ESP_MS, NULL);
	}
	assert_int_equal(home_counted(ESP_C_tail_probes), probes);
	home_close();
}

/* An acknowledgement goes with the answer, if that comes in time; how long it waits depends on the way. */
static void with_answers(void **state)
{
	u64 acks, probes;

	(void)state;
	turns(5 * ESP_US, 300 * ESP_US, &acks, &probes);
	assert_int_equal(acks, 0);
	turns(5 * ESP_US, 700 * ESP_US, &acks, &probes);
	assert_int_equal(acks, 20);
	turns(300 * ESP_US, 700 * ESP_US, &acks, &probes);
	assert_int_equal(acks, 0);
	assert_int_equal(probes, 0);
	turns(5 * ESP_MS, 1500 * ESP_US, &acks, &probes);
	assert_int_equal(acks, 0);
	turns(5 * ESP_MS, 2500 * ESP_US, &acks, &probes);
	assert_int_equal(acks, 20);
	assert_int_equal(probes, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sizes),           cmocka_unit_test(many_in_one),
		cmocka_unit_test(not_ready),       cmocka_unit_test(random_loss),
		cmocka_unit_test(hostile),         cmocka_unit_test(single_credit),
		cmocka_unit_test(acknowledges),    cmocka_unit_test(with_answers),
		cmocka_unit_test(without_answers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
