// SPDX-License-Identifier: BSD-3-Clause
/* A run at rest: what its bindings must cover, lengths, its arrays; and that bytes say it all. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "home/build.h"
#include "home/exec.h"

/* A schedule, and a run of it that is never started. */
struct rest {
	struct build build;
	struct core_sched sched;
	struct core_run run;
	void *data, *arrays;
};

static struct rest *rest_new(void)
{
	struct rest *t = calloc(1, sizeof(*t));

	assert_non_null(t);
	t->build.hdr = (struct goal_sched_hdr){ .npeers = 4, .nbufs = 2, .ntags = 2 };
	return t;
}

static struct core_run *rest_ready(struct rest *t)
{
	struct core_error e;
	size_t len;

	t->data = build_bytes(&t->build, &len);
	assert_int_equal(build_verify(t->data, len, &t->sched, &e), 0);
	t->arrays = malloc(core_run_bytes(&t->sched));
	memset(t->arrays, 0xa5, core_run_bytes(&t->sched));
	core_run_init(&t->run, &t->sched, t->arrays);
	core_run_reset(&t->run);
	return &t->run;
}

static void rest_free(struct rest *t)
{
	free(t->data);
	free(t->arrays);
	free(t);
}

static void run_bytes__is_what_the_arrays_take(void **state)
{
	struct rest *t = rest_new();
	struct core_run *r;
	u32 i;

	(void)state;
	r = rest_ready(t); /* no operation at all */
	assert_true(core_run_bytes(&t->sched) > 0);
	assert_int_equal(r->undone, 0);
	free(t->data);
	free(t->arrays);

	for (i = 0; i < 5; i++)
		build_recv(&t->build, 0, 0, 8, 1, 0);
	build_nop(&t->build);
	build_nop(&t->build);
	build_edge(&t->build, 0, 6, false);
	r = rest_ready(t);
	/* The last byte of the last array is the last one that was asked for. */
	assert_ptr_equal(r->state + t->sched.hdr->nops,
			 (u8 *)t->arrays + core_run_bytes(&t->sched));
	assert_int_equal(core_run_bytes(&t->sched), 7 * 9 + 5 * (12 + sizeof(void *)));
	for (i = 0; i < 5; i++)
		assert_null(r->arrived[i]);
	for (i = 0; i < 7; i++) {
		assert_int_equal(r->state[i], CORE_OP_IDLE);
		assert_int_equal(r->left[i], i == 6);
	}
	assert_int_equal(r->qtail - r->qhead, 6);
	assert_int_equal(r->undone, 7);
	assert_int_equal(r->err_peer, GOAL_OP_NONE);
	assert_false(r->dead || r->over);
	rest_free(t);
}

static void run_check__wants_every_buffer_long_enough(void **state)
{
	struct rest *t = rest_new();
	struct core_run *r;

	(void)state;
	t->build.hdr.scratch = 64;
	build_copy(&t->build, 1, 100, 0, 0, 28);
	r = rest_ready(t);
	r->buf[0].len = 28;
	r->buf[1].len = 128;
	r->scratch.len = 64;
	assert_int_equal(core_run_check(r), 0);
	r->buf[0].len--;
	assert_int_equal(core_run_check(r), -EFAULT);
	r->buf[0].len++;
	r->buf[1].len--;
	assert_int_equal(core_run_check(r), -EFAULT);
	r->buf[1].len++;
	r->scratch.len--;
	assert_int_equal(core_run_check(r), -EFAULT);
	rest_free(t);
}

static void op_bytes__are_what_was_received(void **state)
{
	struct rest *t = rest_new();
	struct core_run *r;

	(void)state;
	build_recv(&t->build, 0, 0, 100, 1, 0);
	build_recv(&t->build, 0, 100, 100, 2, 0);
	build_send(&t->build, 0, 0, 50, 3, 0);
	build_len_from(&t->build, 2, 1);
	r = rest_ready(t);
	r->rlen[0] = 7;
	r->rlen[1] = 49;
	assert_int_equal(core_op_bytes(r, &t->sched.op[2]), 49);
	r->rlen[1] = 51;
	assert_int_equal(core_op_bytes(r, &t->sched.op[2]), 50);
	r->rlen[1] = 0;
	assert_int_equal(core_op_bytes(r, &t->sched.op[2]), 0);
	t->build.op[2].len_from = GOAL_OP_NONE;
	assert_int_equal(core_op_bytes(r, &t->build.op[2]), 50);
	rest_free(t);
}

static void swallow(struct exec *x, struct message *m)
{
	(void)x;
	message_free(m);
}

/* Runs @data on bytes 0, 1, 2, ... and gives back buffer 1. */
static void run_bytes(const void *data, size_t len, u8 out[32])
{
	struct random random = { 1 };
	struct core_sched s;
	struct core_error e;
	struct exec x;
	u32 k;

	assert_int_equal(build_verify(data, len, &s, &e), 0);
	exec_init(&x, &s, 0, &random);
	x.sent = swallow;
	for (k = 0; k < x.bytes[0]; k++)
		x.mem[0][k] = (u8)(k * k + 1);
	for (k = 0; k < x.bytes[1]; k++)
		x.mem[1][k] = (u8)(200 - k);
	exec_reset(&x);
	core_start(&x.home.core);
	exec_check_over(&x);
	memset(out, 0, 32);
	memcpy(out, x.mem[1], x.bytes[1]);
	exec_fini(&x);
}

/* Nothing but the bytes of the schedule says what is done. */
static void run__does_what_the_bytes_say(void **state)
{
	static const struct {
		u32 op;
		size_t offset;
		u8 value;
	} change[] = {
		{ 0, offsetof(struct goal_op, src_off), 1 },
		{ 0, offsetof(struct goal_op, dst_off), 1 },
		{ 0, offsetof(struct goal_op, len), 7 },
		{ 0, offsetof(struct goal_op, src_buf), 1 },
		{ 1, offsetof(struct goal_op, src_off), 9 },
		{ 1, offsetof(struct goal_op, len), 1 },
		{ 1, offsetof(struct goal_op, dtype), GOAL_TYPE_UINT8 },
		{ 1, offsetof(struct goal_op, rop), GOAL_ROP_MAX },
		{ 1, offsetof(struct goal_op, rop), GOAL_ROP_NO_OP },
	};
	struct build *b = calloc(1, sizeof(*b));
	u8 before[32], after[32];
	size_t len, k, j;
	u8 *data;

	(void)state;
	b->hdr = (struct goal_sched_hdr){ .npeers = 1, .nbufs = 2, .ntags = 1 };
	build_copy(b, 1, 0, 0, 0, 8);
	build_reduce(b, 1, 8, 0, 8, 2, GOAL_TYPE_UINT32, GOAL_ROP_SUM);
	build_copy(b, 1, 24, 0, 24, 8);
	build_edge(b, 0, 1, false);
	data = build_bytes(b, &len);
	run_bytes(data, len, before);
	for (k = 0; k < sizeof(change) / sizeof(change[0]); k++) {
		/* build_bytes() put the independent copies first. */
		u32 op = b->pos[change[k].op];
		u8 *at = data + sizeof(struct goal_sched_hdr) + op * sizeof(struct goal_op) +
			 change[k].offset;
		u8 old = *at;

		*at = change[k].value;
		if (change[k].offset == offsetof(struct goal_op, src_buf))
			at[offsetof(struct goal_op, src_off) - offsetof(struct goal_op, src_buf)] =
				24;
		run_bytes(data, len, after);
		for (j = 0; j < sizeof(after) && after[j] == before[j]; j++)
			;
		if (j == sizeof(after))
			fail_msg("change %zu made no difference", k);
		*at = old;
		if (change[k].offset == offsetof(struct goal_op, src_buf))
			at[offsetof(struct goal_op, src_off) - offsetof(struct goal_op, src_buf)] =
				0;
	}
	run_bytes(data, len, after);
	assert_memory_equal(before, after, sizeof(after));
	free(data);
	free(b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(run_bytes__is_what_the_arrays_take),
		cmocka_unit_test(run_check__wants_every_buffer_long_enough),
		cmocka_unit_test(op_bytes__are_what_was_received),
		cmocka_unit_test(run__does_what_the_bytes_say),
	};

	return cmocka_run_group_tests_name("core_run", tests, NULL, NULL);
}
