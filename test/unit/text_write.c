/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Writing GOAL text: libgoal/graph/write.c. Text, graph, text is the identity; graphs made by
 * calls come out as text that reads back to the same.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <goal/collectives.h>
#include <goal/graph.h>

static struct goal_program *read_text(const char *text)
{
	struct goal_program *p;
	struct goal_error e;

	if (goal_text_read(text, strlen(text), &p, &e))
		fail_msg("%s\nline %u, column %u: %s", text, e.line, e.column, e.text);
	return p;
}

static char *written(const struct goal_program *p)
{
	char *text;
	size_t bytes;
	FILE *f = open_memstream(&text, &bytes);

	assert_int_equal(goal_text_write(p, f), 0);
	fclose(f);
	return text;
}

static void check_written(struct goal_program *p, const char *want)
{
	char *text = written(p);

	assert_string_equal(text, want);
	free(text);
}

static void write__gives_back_what_was_read(void **state)
{
	const char *text = "num_ranks 3\n"
			   "\n"
			   "rank 0 {\n"
			   "a: send 8b to 1\n"
			   "send 8b to 2 tag 0\n"
			   "b: recv 72057594037927936b from 2 tag 5 cpu 1 nic 2\n"
			   "a irequires b\n"
			   "b requires a\n"
			   "b requires a\n"
			   "recv 0b from -1 tag -1 cpu 0 nic 0\n"
			   "recv 1b from 1 tag -1 nic 255\n"
			   "recv 1b from -1 tag 9\n"
			   "recv 1b from -1 cpu 7\n"
			   "calc 18446744073709551615 cpu 255\n"
			   "very_long_Label_0123456789: calc 0\n"
			   "very_long_Label_0123456789 requires a\n"
			   "calc 1\n"
			   "}\n"
			   "\n"
			   "rank 1 {\n"
			   "}\n"
			   "\n"
			   "rank 2 {\n"
			   "a: calc 1\n"
			   "unused: calc 2\n"
			   "}\n";
	struct goal_program *p = read_text(text);

	(void)state;
	check_written(p, text);
	goal_program_free(p);
}

static void write__canonical_spacing(void **state)
{
	struct goal_program *p = read_text("/* x */ num_ranks 1 rank 0{ // y\r\n"
					   "\tl : calc 007\t cpu 01\r\n"
					   "send 8 b to 0tag 1\n"
					   "}");

	(void)state;
	check_written(p, "num_ranks 1\n"
			 "\n"
			 "rank 0 {\n"
			 "l: calc 7 cpu 1\n"
			 "send 8b to 0 tag 1\n"
			 "}\n");
	goal_program_free(p);
}

static struct goal_graph *graph_of(uint32_t rank, uint32_t npeers)
{
	struct goal_graph *g;

	assert_int_equal(goal_graph_create(rank, npeers, &g), 0);
	return g;
}

static void write__graphs_made_by_calls(void **state)
{
	struct goal_graph *g = graph_of(0, 2);
	struct goal_program *p;
	int64_t a, b, c;

	(void)state;
	assert_int_equal(goal_program_create(2, &p), 0);
	goal_user_size(g, 24);
	a = goal_recv(g, 1, 0, 16, 1, 3);
	goal_send(g, 0, 0, 16, 1, 0);
	b = goal_reduce(g, 2, 0, 1, 0, 4, GOAL_TYPE_INT32, GOAL_ROP_SUM);
	goal_requires(g, b, a);
	c = goal_copy(g, 0, 0, 1, 0, 100);
	goal_irequires(g, a, c);
	goal_reduce(g, 0, 0, 1, 0, 5, GOAL_TYPE_USER, GOAL_ROP_USER);
	goal_nop(g);
	goal_calc(g, 77);
	goal_length_from(g, c, a);
	assert_int_equal(goal_program_set(p, 0, g), 0);
	check_written(p, "num_ranks 2\n"
			 "\n"
			 "rank 0 {\n"
			 "l0: recv 16b from 1 tag 3\n"
			 "send 16b to 1\n"
			 "l2: calc 16\n"
			 "l2 requires l0\n"
			 "l3: calc 100\n"
			 "l0 irequires l3\n"
			 "calc 120\n"
			 "calc 0\n"
			 "calc 77\n"
			 "l3 requires l0\n"
			 "}\n"
			 "\n"
			 "rank 1 {\n"
			 "}\n");
	goal_program_free(p);
}

/* Names that are made up keep clear of those that were read. */
static void write__names_do_not_clash(void **state)
{
	struct goal_program *p = read_text("num_ranks 1\n"
					   "rank 0 {\n"
					   "l1: calc 1\n"
					   "calc 2\n"
					   "l0001: calc 3\n"
					   "}\n");
	struct goal_graph *g = goal_program_graph(p, 0);

	(void)state;
	goal_requires(g, 1, 0);
	goal_requires(g, goal_nop(g), 1);
	check_written(p, "num_ranks 1\n"
			 "\n"
			 "rank 0 {\n"
			 "l1: calc 1\n"
			 "l00001: calc 2\n"
			 "l0001: calc 3\n"
			 "l00001 requires l1\n"
			 "l00003: calc 0\n"
			 "l00003 requires l00001\n"
			 "}\n");
	goal_program_free(p);
}

static void write__errors(void **state)
{
	struct goal_program *p;
	FILE *full = fopen("/dev/full", "w");

	(void)state;
	assert_int_equal(goal_program_create(2, &p), 0);
	assert_int_equal(goal_text_write(NULL, stdout), -EINVAL);
	assert_int_equal(goal_text_write(p, NULL), -EINVAL);
	assert_non_null(full);
	assert_int_equal(goal_text_write(p, full), -EIO);
	fclose(full);
	goal_program_free(p);
}

static uint32_t seed;

static uint32_t random_below(uint32_t n)
{
	seed = seed * 1664525 + 1013904223;
	return (uint64_t)(seed >> 8) * n >> 24;
}

static void random_message(FILE *f, uint32_t ranks)
{
	const bool send = random_below(2);
	const bool any = !send && !random_below(5);

	fprintf(f, "%s %ub %s ", send ? "send" : "recv", random_below(5000), send ? "to" : "from");
	if (any)
		fprintf(f, "-1");
	else
		fprintf(f, "%u", random_below(ranks));
	if (random_below(2)) {
		if (!send && !random_below(4))
			fprintf(f, " tag -1");
		else
			fprintf(f, " tag %u", random_below(4));
	}
	if (!random_below(3))
		fprintf(f, " cpu %u", random_below(256));
	if (!random_below(3))
		fprintf(f, " nic %u", random_below(256));
}

/* A text in canonical spacing, from the present seed. */
static char *random_text(void)
{
	static const char *const style[] = { "l%u", "Op_%u", "x%u_", "requires%u" };
	uint32_t ranks = 1 + random_below(5), r;
	char *text;
	size_t bytes;
	FILE *f = open_memstream(&text, &bytes);

	fprintf(f, "num_ranks %u\n", ranks);
	for (r = 0; r < ranks; r++) {
		const char *name = style[random_below(4)];
		uint32_t n = random_below(40), labels = 0, i;

		fprintf(f, "\nrank %u {\n", r);
		for (i = 0; i < n; i++) {
			if (labels > 1 && !random_below(3)) {
				uint32_t a = random_below(labels), b = random_below(labels - 1);

				fprintf(f, name, a);
				fprintf(f, random_below(2) ? " requires " : " irequires ");
				fprintf(f, name, b < a ? b : b + 1);
			} else {
				if (random_below(2)) {
					fprintf(f, name, labels++);
					fprintf(f, ": ");
				}
				if (random_below(3))
					random_message(f, ranks);
				else
					fprintf(f, "calc %u%s", random_below(100000),
						random_below(3) ? "" : " cpu 4");
			}
			fputc('\n', f);
		}
		fprintf(f, "}\n");
	}
	fclose(f);
	return text;
}

static void write__random_texts(void **state)
{
	uint32_t round;

	(void)state;
	for (round = 0; round < 1000; round++) {
		struct goal_program *p;
		char *text;

		seed = round;
		text = random_text();
		p = read_text(text);
		check_written(p, text);
		goal_program_free(p);
		free(text);
	}
}

/* A random graph made by calls, written, read and written again: the two texts are the same. */
static void write__random_graphs(void **state)
{
	uint32_t round, i;

	(void)state;
	for (round = 0; round < 300; round++) {
		struct goal_graph *g = graph_of(0, 3);
		struct goal_program *p, *q;
		char *text;

		seed = round;
		goal_send(g, 0, 0, 1, 1, 0);
		for (i = 0; i < 30; i++) {
			switch (random_below(6)) {
			case 0:
				goal_send(g, 0, i, i, random_below(3), random_below(3));
				break;
			case 1:
				goal_recv(g, 1, i, i, random_below(3), random_below(3));
				break;
			case 2:
				goal_copy(g, 1, i, 0, i, i);
				break;
			case 3:
				goal_calc(g, i);
				break;
			default:
				goal_requires(g, random_below(goal_graph_ops(g)),
					      random_below(goal_graph_ops(g)));
			}
		}
		assert_int_equal(goal_program_create(3, &p), 0);
		assert_int_equal(goal_program_set(p, 0, g), 0);
		text = written(p);
		q = read_text(text);
		check_written(q, text);
		assert_int_equal(goal_graph_ops(goal_program_graph(q, 0)), goal_graph_ops(g));
		goal_program_free(q);
		goal_program_free(p);
		free(text);
	}
}

/* A collective as text has the same messages and dependencies: it compiles to the same shape. */
static void write__collective(void **state)
{
	const uint32_t size = 7;
	struct goal_program *p, *q;
	struct goal_error e;
	uint32_t r, i;
	char *text;

	(void)state;
	assert_int_equal(goal_program_create(size, &p), 0);
	for (r = 0; r < size; r++) {
		struct goal_comm c = { .rank = r, .size = size };
		struct goal_graph *g;

		assert_true(goal_gather(&c, GOAL_ALG_BINOMIAL, 2, 8, false, &g) >= 1);
		assert_int_equal(goal_program_set(p, r, g), 0);
	}
	text = written(p);
	q = read_text(text);
	for (r = 0; r < size; r++) {
		struct goal_schedule *a, *b;
		const struct goal_sched_hdr *ha, *hb;
		const struct goal_op *oa, *ob;

		assert_int_equal(goal_compile(goal_program_graph(p, r), &a, &e), 0);
		assert_int_equal(goal_compile(goal_program_graph(q, r), &b, &e), 0);
		ha = goal_schedule_data(a, NULL);
		hb = goal_schedule_data(b, NULL);
		assert_int_equal(ha->nops, hb->nops);
		assert_int_equal(ha->nsucc, hb->nsucc);
		assert_int_equal(ha->nrecv, hb->nrecv);
		oa = (const struct goal_op *)(ha + 1);
		ob = (const struct goal_op *)(hb + 1);
		for (i = 0; i < ha->nops; i++) {
			assert_int_equal(oa[i].peer, ob[i].peer);
			assert_int_equal(oa[i].tag, ob[i].tag);
			assert_int_equal(oa[i].nsucc, ob[i].nsucc);
			if (oa[i].code == GOAL_OP_SEND || oa[i].code == GOAL_OP_RECV) {
				assert_int_equal(oa[i].code, ob[i].code);
				assert_int_equal(oa[i].len, ob[i].len);
			}
		}
		goal_schedule_free(a);
		goal_schedule_free(b);
	}
	goal_program_free(q);
	goal_program_free(p);
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(write__gives_back_what_was_read),
		cmocka_unit_test(write__canonical_spacing),
		cmocka_unit_test(write__graphs_made_by_calls),
		cmocka_unit_test(write__names_do_not_clash),
		cmocka_unit_test(write__errors),
		cmocka_unit_test(write__random_texts),
		cmocka_unit_test(write__random_graphs),
		cmocka_unit_test(write__collective),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
