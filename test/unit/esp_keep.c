// SPDX-License-Identifier: BSD-3-Clause
/*
 * Short messages a little ahead of their run are kept: no refusal, no READY, no second frame. Those
 * too far ahead are refused and called in time, more of them are held back by their sender, and what
 * is kept goes with its run or its group.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

#include "home.h"

#define LEN   8
#define FIRST 1000 /* the run that opens the flow; the stream goes on behind it */

static u64 hold = 10 * ESP_S;

static const struct home_op send_op = { GOAL_OP_SEND, 1, 0, 0, LEN };
static const struct home_op recv_op = { GOAL_OP_RECV, 0, 0, 0, LEN };

static struct home_run *send_run(u32 number)
{
	return home_start(home.node[0], number, &send_op, 1);
}

static struct home_run *receive(u32 number)
{
	return home_start(home.node[1], number, &recv_op, 1);
}

static void open_pair(u32 keep_max, u32 keep_ahead)
{
	struct esp_params p;

	esp_params_default(&p);
	p.keep_max = keep_max;
	p.keep_ahead = keep_ahead;
	p.hold = hold;
	home_open(2, 1, &p);
	home.buf = 4096;
	home.starts = true;
	receive(FIRST);
	send_run(FIRST);
	assert_true(home_pass(50 * ESP_MS, home_idle));
}

static void ends(void)
{
	assert_true(home_pass(500 * ESP_MS, home_idle));
	assert_int_equal(home.node[1]->n.nkept, 0);
	assert_int_equal(home.node[1]->ep.nkept, 0);
	home_close();
	home.starts = false;
}

static void good(const struct home_run *r, u32 number)
{
	u32 want = number, is; /* of rank 0, at 0 */

	assert_true(r->over);
	assert_int_equal(r->run.status, 0);
	memcpy(&is, r->buf, sizeof(is));
	assert_int_equal(is, want);
}

static void good_later(u32 number)
{
	struct home_run *r = receive(number);

	home_pass(50 * ESP_MS, NULL);
	good(r, number);
}

/* A run that starts finds its message: no frame is needed for it any more. */
static void a_few(void **state)
{
	u32 i;

	(void)state;
	open_pair(64, 16);
	for (i = 1; i <= 8; i++)
		send_run(FIRST + i);
	home_pass(50 * ESP_MS, NULL);
	assert_int_equal(home.node[1]->ep.nkept, 8);
	assert_int_equal(home_counted(ESP_C_msg_accepted), 9);
	home.frames = 0;
	for (i = 1; i <= 8; i++)
		good(receive(FIRST + i), FIRST + i);
	home_pass(50 * ESP_MS, NULL);
	assert_int_equal(home.frames, 0);
	assert_int_equal(home_counted(ESP_C_refused_run), 0);
	assert_int_equal(home_counted(ESP_C_rx_kept), 8);
	assert_int_equal(home_counted(ESP_C_rx_kept_run), 8);
	ends();
}

/* Messages of none have no room, and are kept all the same. */
static void of_no_bytes(void **state)
{
	struct home_op s = { GOAL_OP_SEND, 1, 0, 0, 0 }, r = { GOAL_OP_RECV, 0, 0, 0, 0 };

	(void)state;
	open_pair(64, 16);
	home_start(home.node[0], FIRST + 1, &s, 1);
	home_pass(50 * ESP_MS, NULL);
	assert_int_equal(home.node[1]->ep.nkept, 1);
	assert_true(home_start(home.node[1], FIRST + 1, &r, 1)->over);
	ends();
}

/* All at once, so that none knows of the others' refusal: each is refused once, and called with others. */
static void far_ahead(void **state)
{
	enum {
		RUNS = 400
	};
	u64 ready;
	u32 i;

	(void)state;
	open_pair(64, 16);
	for (i = 1; i <= RUNS; i++)
		send_run(FIRST + i);
	home_pass(100 * ESP_MS, NULL);
	assert_int_equal(home.node[1]->ep.nkept, 16);
	assert_int_equal(home.node[1]->flows->f.nwaits, 1);
	assert_int_equal(home_counted(ESP_C_refused_busy), 0);
	for (i = 1; i <= RUNS; i++) {
		struct home_run *r = receive(FIRST + i);

		home_pass(4 * home.delay + 100 * ESP_US, NULL);
		good(r, FIRST + i);
	}
	assert_true(home_counted(ESP_C_msg_parked) <= RUNS);
	ready = home_counted(ESP_C_ready_sent);
	assert_in_range(ready, RUNS / 20, RUNS / 6);
	assert_int_equal(home.node[1]->flows->f.nwaits, 0);
	ends();
}

/* One after the other: what would be refused is not even sent, but for a scout now and then. */
static void held_back(void **state)
{
	enum {
		RUNS = 400
	};
	u32 i;

	(void)state;
	open_pair(64, 16);
	for (i = 1; i <= RUNS; i++) {
		send_run(FIRST + i);
		home_pass(3 * home.delay + ESP_MS, NULL);
	}
	assert_int_equal(home.node[1]->ep.nkept, 16);
	assert_int_equal(home_counted(ESP_C_refused_run), 1);
	assert_int_equal(home.node[0]->flows->f.nheld, RUNS - 17);
	home.frames = 0;
	for (i = 1; i <= RUNS; i++) {
		good(receive(FIRST + i), FIRST + i);
		home_pass(4 * home.delay + ESP_MS, NULL);
	}
	assert_int_equal(home.node[0]->flows->f.nheld, 0);
	assert_true(home_counted(ESP_C_refused_run) <= RUNS / 8 + 2);
	assert_true(home.frames <= RUNS);
	ends();
}

/* All who are called have room for what they are called for: hardly any is refused again. */
static void shared(void **state)
{
	enum {
		SENDERS = 4,
		RUNS = 150
	};
	struct home_op r[SENDERS];
	struct esp_params p;
	u64 refused;
	u32 i, k;

	(void)state;
	esp_params_default(&p);
	p.keep_max = 64;
	p.keep_ahead = 32;
	p.hold = hold;
	home_open(1 + SENDERS, 1, &p);
	home.buf = 4096;
	home.starts = true;
	for (k = 0; k < SENDERS; k++)
		r[k] = (struct home_op){ GOAL_OP_RECV, k + 1, 0, k * LEN, LEN };
	for (i = 0; i <= RUNS; i++) {
		for (k = 0; k < SENDERS; k++) {
			struct home_op s = { GOAL_OP_SEND, 0, 0, 0, LEN };

			home_start(home.node[k + 1], FIRST + i, &s, 1);
		}
		/* The flows are open before they are many. */
		if (!i) {
			home_start(home.node[0], FIRST, r, SENDERS);
			assert_true(home_pass(50 * ESP_MS, home_idle));
		}
	}
	home_pass(100 * ESP_MS, NULL);
	refused = home_counted(ESP_C_refused_run);
	assert_true(refused > SENDERS);
	for (i = 1; i <= RUNS; i++) {
		struct home_run *run = home_start(home.node[0], FIRST + i, r, SENDERS);

		home_pass(4 * home.delay + 100 * ESP_US, NULL);
		assert_true(run->over);
		assert_int_equal(run->run.status, 0);
		assert_true(home.node[0]->ep.nkept <= 32);
	}
	assert_int_equal(home_counted(ESP_C_refused_run), refused);
	assert_int_equal(home.node[0]->n.nkept, 0);
	assert_true(home_pass(500 * ESP_MS, home_idle));
	home_close();
	home.starts = false;
}

/* Only those of the same stream are: others may have started long ago. */
static void others_are_not_held(void **state)
{
	struct home_run *r;
	u32 i;

	(void)state;
	open_pair(64, 16);
	for (i = 1; i <= 40; i++) {
		send_run(FIRST + i);
		home_pass(3 * home.delay + ESP_MS, NULL);
	}
	assert_true(home.node[0]->flows->f.nheld > 0);
	home.starts = false;
	home.table.npeers = 1; /* as if ranks shared nodes, which divides what is called */
	r = receive(5000);
	send_run(5000);
	home_pass(3 * home.delay + ESP_MS, NULL);
	good(r, 5000);
	home.table.npeers = 2;
	home.starts = true;
	for (i = 1; i <= 40; i++)
		receive(FIRST + i);
	ends();
}

/*
 * Nor for long: the run of one that is held may start first, and the others may wait for that. They go
 * by 1, 2, 4 and so on.
 */
static void held_for(bool scout_is_out)
{
	struct home_run *r;
	u32 i, left;

	hold = 20 * ESP_MS;
	open_pair(0, 1);
	hold = 10 * ESP_S;
	r = receive(FIRST + 9);
	for (i = 1; i <= 10; i++) {
		send_run(FIRST + i);
		home_pass(3 * home.delay + 100 * ESP_US, NULL);
	}
	assert_int_equal(home.node[0]->flows->f.nheld, 9);
	if (scout_is_out) /* another group's, which is refused again and again */
		home.node[0]->flows->f.scouts = ~0u;
	assert_false(r->over);
	for (i = 1, left = 9; i <= 4; i *= 2) {
		home_pass(20 * ESP_MS, NULL);
		left -= i;
		assert_int_equal(home.node[0]->flows->f.nheld, left);
		assert_false(r->over);
	}
	home_pass(20 * ESP_MS, NULL);
	good(r, FIRST + 9);
	assert_int_equal(home.node[0]->flows->f.nheld, 0);
	for (i = 1; i <= 10; i++)
		if (i != 9)
			good_later(FIRST + i);
	ends();
}

static void not_for_long(void **state)
{
	(void)state;
	held_for(false);
	held_for(true);
}

/* The one that the others are held behind ends: another one is sent instead. */
static void the_first_ends(void **state)
{
	struct esp_flow *f;
	struct esp_link *l;
	u32 i;

	(void)state;
	open_pair(2, 1);
	for (i = 1; i <= 10; i++) {
		send_run(FIRST + i);
		home_pass(3 * home.delay + ESP_MS, NULL);
	}
	f = &home.node[0]->flows->f;
	assert_int_equal(home_counted(ESP_C_refused_run), 1);
	assert_int_equal(f->nheld, 8);
	for (i = 0; i < ESP_PARK_HASH && !esp_linked(&f->parked[i]); i++)
		;
	l = f->parked[i].next;
	esp_send_cancel(esp_entry(l, struct esp_msg, link), home.now);
	home_pass(3 * home.delay + ESP_MS, NULL);
	assert_int_equal(home_counted(ESP_C_msg_scout), 1);
	assert_int_equal(f->nheld, 7);
	for (i = 1; i <= 10; i++)
		if (i != 2)
			good_later(FIRST + i);
	ends();
}

/* The fuller, the nearer must a run be: the next one's message finds room. */
static void less_when_full(void **state)
{
	u32 most, i;

	(void)state;
	open_pair(8, 8);
	most = esp_keep_most(&home.node[1]->ep);
	assert_int_equal(most, 8);
	for (i = 0; i < 7; i++)
		send_run(FIRST + 8 - i);
	home_pass(50 * ESP_MS, NULL);
	assert_int_equal(home.node[1]->ep.nkept, 5);
	i = home.node[1]->ep.nkept;
	send_run(FIRST + 1);
	home_pass(50 * ESP_MS, NULL);
	assert_int_equal(home.node[1]->ep.nkept, i + 1);
	for (i = 1; i <= 8; i++)
		receive(FIRST + i);
	ends();
}

/* Without room it is refused, and READY follows. */
static void no_room(void **state)
{
	struct home_run *r;

	(void)state;
	open_pair(64, 16);
	home.node[1]->rooms_max = 0;
	send_run(FIRST + 1);
	home_pass(50 * ESP_MS, NULL);
	assert_int_equal(home.node[1]->ep.nkept, 0);
	assert_int_equal(home_counted(ESP_C_refused_run), 1);
	r = receive(FIRST + 1);
	home_pass(50 * ESP_MS, NULL);
	good(r, FIRST + 1);
	ends();
}

static void long_ones_are_not(void **state)
{
	struct home_op s = { GOAL_OP_SEND, 1, 0, 0, 3000 }, r = { GOAL_OP_RECV, 0, 0, 0, 3000 };

	(void)state;
	open_pair(64, 16);
	home_start(home.node[0], FIRST + 1, &s, 1);
	home_pass(50 * ESP_MS, NULL);
	assert_int_equal(home.node[1]->ep.nkept, 0);
	home_start(home.node[1], FIRST + 1, &r, 1);
	ends();
}

/* Another rank says that a run has failed. */
static void abort_run(u32 number)
{
	struct esp_abort a;

	memset(&a, 0, sizeof(a));
	a.nonce = cpu_to_le64(home.node[1]->m.nonce);
	a.cookie = cpu_to_le64(home.node[1]->ep.cookie);
	a.opid = cpu_to_le32(1);
	a.start = cpu_to_le32(number);
	a.code = cpu_to_le32(ESP_ABORT_RUN);
	esp_abort_in(&home.node[1]->flows->f, &a, home.now);
}

static void run_fails(void **state)
{
	struct home_run *r;

	(void)state;
	open_pair(64, 16);
	send_run(FIRST + 1);
	send_run(FIRST + 2);
	home_pass(50 * ESP_MS, NULL);
	assert_int_equal(home.node[1]->ep.nkept, 2);
	abort_run(FIRST + 1);
	assert_int_equal(home.node[1]->ep.nkept, 1);
	assert_int_equal(home_counted(ESP_C_rx_kept_dropped), 1);
	r = receive(FIRST + 1);
	assert_true(r->over);
	assert_int_equal(r->run.status, -ECONNABORTED);
	good(receive(FIRST + 2), FIRST + 2);
	ends();
}

static void group_fails(void **state)
{
	(void)state;
	open_pair(64, 16);
	send_run(FIRST + 1);
	send_run(FIRST + 2);
	home_pass(50 * ESP_MS, NULL);
	assert_int_equal(home.node[1]->rooms, 2);
	esp_member_fail(&home.node[1]->m, -ECANCELED, 1, home.now);
	assert_int_equal(home.node[1]->rooms, 0);
	assert_int_equal(home_counted(ESP_C_rx_kept_dropped), 2);
	send_run(FIRST + 3);
	ends();
}

/* It fits no receive of its run: that fails, as it does with messages that come in time. */
static void fits_nothing(void **state)
{
	struct home_op s = { GOAL_OP_SEND, 1, 7, 0, LEN };
	struct home_run *r;

	(void)state;
	open_pair(64, 16);
	home_start(home.node[0], FIRST + 1, &s, 1);
	home_pass(50 * ESP_MS, NULL);
	assert_int_equal(home.node[1]->ep.nkept, 1);
	r = receive(FIRST + 1);
	home_pass(50 * ESP_MS, NULL);
	assert_true(r->over);
	assert_int_equal(r->run.status, -EPROTO);
	assert_int_equal(home_counted(ESP_C_skip_unmatched), 1);
	ends();
}

/* The run comes at the very moment in which nobody is looking. */
static struct home_run *meanwhile;
static u32 locks, at;

static void start_between(void)
{
	if (meanwhile || ++locks < at)
		return;
	home.between = NULL;
	meanwhile = receive(FIRST + 1);
}

static void at_any_moment(void **state)
{
	bool came = true;

	(void)state;
	for (at = 1; came; at++) {
		open_pair(64, 16);
		meanwhile = NULL;
		locks = 0;
		send_run(FIRST + 1);
		home.between = start_between;
		home_pass(50 * ESP_MS, NULL);
		home.between = NULL;
		came = meanwhile != NULL;
		if (!came)
			meanwhile = receive(FIRST + 1);
		home_pass(50 * ESP_MS, NULL);
		good(meanwhile, FIRST + 1);
		ends();
	}
	assert_true(at > 4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_few),
		cmocka_unit_test(of_no_bytes),
		cmocka_unit_test(far_ahead),
		cmocka_unit_test(held_back),
		cmocka_unit_test(shared),
		cmocka_unit_test(others_are_not_held),
		cmocka_unit_test(not_for_long),
		cmocka_unit_test(the_first_ends),
		cmocka_unit_test(less_when_full),
		cmocka_unit_test(no_room),
		cmocka_unit_test(long_ones_are_not),
		cmocka_unit_test(run_fails),
		cmocka_unit_test(group_fails),
		cmocka_unit_test(fits_nothing),
		cmocka_unit_test(at_any_moment),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
