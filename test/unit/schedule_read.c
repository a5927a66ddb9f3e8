/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Schedules from elsewhere: libgoal/engine/schedule_read.c. The verifier's own rules are tested
 * with the core; here, that nothing gets past it and that its refusals are put into words.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <goal/graph.h>

/* A schedule with one of everything; the caller frees. */
static struct goal_schedule *example(void)
{
	struct goal_schedule *s;
	struct goal_graph *g;
	int64_t recv, send;

	assert_int_equal(goal_graph_create(0, 4, &g), 0);
	assert_int_equal(goal_scratch(g, 64), 0);
	recv = goal_recv(g, GOAL_BUF_SCRATCH, 0, 64, 1, 0);
	send = goal_send(g, GOAL_BUF_SCRATCH, 0, 64, 2, 1);
	goal_length_from(g, send, recv);
	goal_requires(g, goal_reduce(g, 1, 0, 0, 0, 4, GOAL_TYPE_INT32, GOAL_ROP_MAX), recv);
	goal_irequires(g, goal_copy(g, 1, 64, 0, 0, 8), recv);
	goal_nop(g);
	assert_int_equal(goal_compile(g, &s, NULL), 0);
	goal_graph_free(g);
	return s;
}

static void check_refused(const void *data, size_t bytes, int code, uint64_t where,
			  const char *says)
{
	struct goal_schedule *s = (void *)1;
	struct goal_error e;

	memset(&e, 0xff, sizeof(e));
	assert_int_equal(goal_schedule_read(data, bytes, &s, &e), code);
	assert_ptr_equal(s, (void *)1);
	assert_int_equal(e.code, code);
	assert_int_equal(e.line, 0);
	assert_int_equal(e.column, 0);
	assert_int_equal(e.where, where);
	if (!strstr(e.text, says))
		fail_msg("\"%s\" does not say \"%s\"", e.text, says);
	assert_int_equal(goal_schedule_read(data, bytes, &s, NULL), code);
}

static void read__any_alignment(void **state)
{
	struct goal_schedule *s = example(), *t;
	size_t bytes, bytes_read, shift;
	const void *data = goal_schedule_data(s, &bytes);
	char *room = malloc(bytes + 8);

	(void)state;
	for (shift = 0; shift < 8; shift++) {
		memcpy(room + shift, data, bytes);
		assert_int_equal(goal_schedule_read(room + shift, bytes, &t, NULL), 0);
		assert_memory_equal(goal_schedule_data(t, &bytes_read), data, bytes);
		assert_int_equal(bytes_read, bytes);
		goal_schedule_free(t);
	}
	free(room);
	goal_schedule_free(s);
}

static void read__refusals(void **state)
{
	struct goal_schedule *s = example(), *t;
	size_t bytes;
	const void *data = goal_schedule_data(s, &bytes);
	struct goal_sched_hdr *hdr = malloc(bytes);
	struct goal_op *op = (struct goal_op *)(hdr + 1);
	size_t n;

	(void)state;
	check_refused(NULL, 100, -EINVAL, 0, "at byte 0");
	assert_int_equal(goal_schedule_read(data, bytes, NULL, NULL), -EINVAL);
	/* Cut off anywhere; in memory of exactly that size. */
	for (n = 0; n < bytes; n++) {
		char *cut = malloc(n ? n : 1);

		memcpy(cut, data, n);
		assert_int_equal(goal_schedule_read(cut, n, &t, NULL), -EINVAL);
		free(cut);
	}
	memcpy(hdr, data, bytes);
	hdr->magic++;
	check_refused(hdr, bytes, -EINVAL, 0, "Not a valid schedule at byte 0: ");
	memcpy(hdr, data, bytes);
	hdr->version = 2;
	check_refused(hdr, bytes, -EINVAL, 4, "at byte 4: the format version");
	memcpy(hdr, data, bytes);
	hdr->nops = GOAL_MAX_OPS + 1;
	check_refused(hdr, bytes, -E2BIG, offsetof(struct goal_sched_hdr, nops), "at byte 24: ");
	memcpy(hdr, data, bytes);
	op[3].code = 99;
	check_refused(hdr, bytes, -EINVAL, 3, "at operation 3: ");
	memcpy(hdr, data, bytes);
	op[0].peer = 4;
	check_refused(hdr, bytes, -EINVAL, 0, "at operation 0: a peer must be");
	free(hdr);
	goal_schedule_free(s);
}

/* Whatever a changed bit makes of it: refused with words, or taken over to the letter. */
static void read__every_bit(void **state)
{
	struct goal_schedule *s = example(), *t;
	size_t bytes, i;
	const void *data = goal_schedule_data(s, &bytes);
	unsigned char *copy = malloc(bytes);
	struct goal_error e;
	size_t refused = 0;
	int bit;

	(void)state;
	memcpy(copy, data, bytes);
	for (i = 0; i < bytes; i++) {
		for (bit = 0; bit < 8; bit++) {
			copy[i] ^= 1u << bit;
			e.text[0] = '\0';
			if (goal_schedule_read(copy, bytes, &t, &e)) {
				assert_true(strlen(e.text) > 0);
				refused++;
			} else {
				assert_memory_equal(goal_schedule_data(t, NULL), copy, bytes);
				goal_schedule_free(t);
			}
			copy[i] ^= 1u << bit;
		}
	}
	assert_true(refused > bytes * 4);
	free(copy);
	goal_schedule_free(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(read__any_alignment),
		cmocka_unit_test(read__refusals),
		cmocka_unit_test(read__every_bit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
