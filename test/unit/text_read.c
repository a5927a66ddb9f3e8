/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reading GOAL text: libgoal/graph/read.c, scan.c, label.c. Every malformed input, with the line,
 * the column and the sentence it must give; and what is accepted, down to the last space.
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

#include "libgoal/graph/graph.h"

/* In memory of its exact size, so that a read behind the end is seen. */
static int read_exactly(const char *text, size_t bytes, struct goal_program **p,
			struct goal_error *e)
{
	char *copy = malloc(bytes ? bytes : 1);
	int err;

	memcpy(copy, text, bytes);
	err = goal_text_read(bytes ? copy : NULL, bytes, p, e);
	free(copy);
	return err;
}

struct malformed {
	const char *text;
	uint32_t line, column;
	const char *says;
};

#define ONE "num_ranks 1\nrank 0 {\n"
#define TWO "num_ranks 2\nrank 0 {\n"

/* clang-format off */
static const struct malformed malformed[] = {
	/* The frame. */
	{"", 1, 1, "Expected \"num_ranks\", found the end of the text"},
	{"  \n\t\n", 3, 1, "Expected \"num_ranks\", found the end of the text"},
	{"num_rank 2\n", 1, 1, "Expected \"num_ranks\", found \"num_rank\""},
	{"rank 0 {\n}\n", 1, 1, "Expected \"num_ranks\", found \"rank\""},
	{"{", 1, 1, "Expected \"num_ranks\", found \"{\""},
	{"num_ranks", 1, 10, "Expected the number of ranks, found the end of the text"},
	{"num_ranks\n2\n", 1, 10, "Expected the number of ranks, found the end of the line"},
	{"num_ranks two\n", 1, 11, "Expected the number of ranks, found \"two\""},
	{"num_ranks -1\n", 1, 11, "Expected the number of ranks, found \"-\""},
	{"num_ranks 0\n", 1, 11, "There must be at least 1 rank"},
	{"num_ranks 4294967296\n", 1, 11,
	 "The number is too large for the number of ranks, use at most 4294967295"},
	{"num_ranks 99999999999999999999999\n", 1, 11,
	 "The number is too large for the number of ranks, use at most 4294967295"},
	{"num_ranks 1\n", 2, 1, "Expected \"rank\", found the end of the text"},
	{"num_ranks 1\nnum_ranks 1\n", 2, 1, "Expected \"rank\", found \"num_ranks\""},
	{"num_ranks 1\ncalc 5\n", 2, 1, "Expected \"rank\", found \"calc\""},
	{"num_ranks 1\nrank0 {\n}\n", 2, 1, "Expected \"rank\", found \"rank0\""},
	{"num_ranks 1\nrank {\n", 2, 6, "Expected the rank, found \"{\""},
	{"num_ranks 1\nrank 1 {\n}\n", 2, 6, "Expected rank 0 here, ranks stand in ascending order"},
	{"num_ranks 2\nrank 0 {\n}\nrank 0 {\n}\n", 4, 6,
	 "Expected rank 1 here, ranks stand in ascending order"},
	{"num_ranks 3\nrank 0 {\n}\nrank 2 {\n}\n", 4, 6,
	 "Expected rank 1 here, ranks stand in ascending order"},
	{"num_ranks 1\nrank 99999999999 {\n}\n", 2, 6,
	 "The number is too large for the rank, use at most 4294967295"},
	{"num_ranks 1\nrank 0\n{\n}\n", 2, 7, "Expected \"{\", found the end of the line"},
	{"num_ranks 1\nrank 0 // x\n", 2, 8, "Expected \"{\", found \"/\""},
	{ONE, 3, 1, "Expected a statement or \"}\", found the end of the text"},
	{ONE "}\n}\n", 4, 1, "Expected the end of the text after the last rank, found \"}\""},
	{ONE "}\nrank 1 {\n}\n", 4, 1,
	 "Expected the end of the text after the last rank, found \"rank\""},
	{"num_ranks 2\nrank 0 {\n}\n", 4, 1, "Expected \"rank\", found the end of the text"},
	{ONE "num_ranks 3\n}\n", 3, 1, "Expected a statement or \"}\", found \"num_ranks\""},
	{ONE "rank 1 {\n}\n", 3, 1, "Expected a statement or \"}\", found \"rank\""},
	{ONE "\1\n}\n", 3, 1, "Expected a statement or \"}\", found byte 0x01"},
	{ONE "\xc3\xa4: calc 1\n}\n", 3, 1, "Expected a statement or \"}\", found byte 0xc3"},
	{ONE "calc 1\r}\n", 3, 7, "Expected \"cpu\" or the end of the line, found byte 0x0d"},
	/* Comments. */
	{"num_ranks 1\n/* rank 0 {\n}\n", 2, 1, "This comment has no end, close it with */"},
	{ONE "  /* x\n y *", 3, 3, "This comment has no end, close it with */"},
	{ONE "/*/\n}\n", 3, 1, "This comment has no end, close it with */"},
	{ONE "/ x\n}\n", 3, 1, "Expected a statement or \"}\", found \"/\""},
	{ONE "calc 1 // x\n}\n", 3, 8, "Expected \"cpu\" or the end of the line, found \"/\""},
	{ONE "calc /* x */ 1\n}\n", 3, 6, "Expected the cost, found \"/\""},
	{ONE "a: calc 1\na requires a // x\n}\n", 4, 14, "Expected the end of the line, found \"/\""},
	/* Labels. */
	{ONE "1a: calc 5\n}\n", 3, 1, "Expected a statement or \"}\", found \"1a\""},
	{ONE "_a: calc 5\n}\n", 3, 1, "Expected a statement or \"}\", found \"_a\""},
	{ONE "a-b: calc 5\n}\n", 3, 2,
	 "Expected \":\", \"requires\" or \"irequires\" after the label, found \"-\""},
	{ONE "a\n: calc 5\n}\n", 3, 2,
	 "Expected \":\", \"requires\" or \"irequires\" after the label, found the end of the line"},
	{ONE "a:\ncalc 5\n}\n", 3, 3,
	 "Expected \"send\", \"recv\" or \"calc\", found the end of the line"},
	{ONE "a: b: calc 5\n}\n", 3, 4, "Expected \"send\", \"recv\" or \"calc\", found \"b\""},
	{ONE "a: calc 1\n  a: calc 2\n}\n", 4, 3,
	 "Label \"a\" is defined twice in rank 0, the first time in line 3"},
	{ONE "send: calc 5\n}\n", 3, 5, "Expected the size, found \":\""},
	/* calc */
	{ONE "calc\n}\n", 3, 5, "Expected the cost, found the end of the line"},
	{ONE "calc -5\n}\n", 3, 6, "Expected the cost, found \"-\""},
	{ONE "calc 5.5\n}\n", 3, 7, "Expected \"cpu\" or the end of the line, found \".\""},
	{ONE "calc 18446744073709551616\n}\n", 3, 6,
	 "The number is too large for the cost, use at most 18446744073709551615"},
	{ONE "calc 5 nic 1\n}\n", 3, 8, "Expected \"cpu\" or the end of the line, found \"nic\""},
	{ONE "calc 5 tag 1\n}\n", 3, 8, "Expected \"cpu\" or the end of the line, found \"tag\""},
	{ONE "calc 5 cpu\n}\n", 3, 11, "Expected the cpu, found the end of the line"},
	{ONE "calc 5 cpu 256\n}\n", 3, 12, "The number is too large for the cpu, use at most 255"},
	{ONE "calc 5 cpu 1 nic 1\n}\n", 3, 14, "Expected the end of the line, found \"nic\""},
	{ONE "calc 5 }\n", 3, 8, "Expected \"cpu\" or the end of the line, found \"}\""},
	{ONE "Calc 5\n}\n", 3, 6,
	 "Expected \":\", \"requires\" or \"irequires\" after the label, found \"5\""},
	/* send */
	{TWO "send to 1\n}\n", 3, 6, "Expected the size, found \"to\""},
	{TWO "send 8 to 1\n}\n", 3, 8, "Expected \"b\" after the size, found \"to\""},
	{TWO "send 8B to 1\n}\n", 3, 7, "Expected \"b\" after the size, found \"B\""},
	{TWO "send 8b from 1\n}\n", 3, 9, "Expected \"to\", found \"from\""},
	{TWO "send 8b\n}\n", 3, 8, "Expected \"to\", found the end of the line"},
	{TWO "send 8b to\n}\n", 3, 11, "Expected the receiver's rank, found the end of the line"},
	{TWO "send 8b to -1\n}\n", 3, 12, "Expected the receiver's rank, found \"-\""},
	{TWO "send 8b to 2\n}\n", 3, 12, "There is no rank 2, num_ranks is 2"},
	{TWO "send 8b to 4294967296\n}\n", 3, 12,
	 "The number is too large for the receiver's rank, use at most 4294967295"},
	{TWO "send 8b to 1 tag\n}\n", 3, 17, "Expected the tag, found the end of the line"},
	{TWO "send 8b to 1 tag -1\n}\n", 3, 18, "Expected the tag, found \"-\""},
	{TWO "send 8b to 1 tag 2147483647\n}\n", 3, 18,
	 "The number is too large for the tag, use at most 2147483646"},
	{TWO "send 8b to 1 cpu 1 tag 1\n}\n", 3, 20,
	 "Expected \"nic\" or the end of the line, found \"tag\""},
	{TWO "send 8b to 1 nic 1 cpu 1\n}\n", 3, 20, "Expected the end of the line, found \"cpu\""},
	{TWO "send 8b to 1 tag 1 tag 2\n}\n", 3, 20,
	 "Expected \"cpu\", \"nic\" or the end of the line, found \"tag\""},
	{TWO "send 8b to 1 x\n}\n", 3, 14,
	 "Expected \"tag\", \"cpu\", \"nic\" or the end of the line, found \"x\""},
	{TWO "send 8b to 1 nic 256\n}\n", 3, 18,
	 "The number is too large for the nic, use at most 255"},
	{TWO "send 8b to 1 nic\n}\n", 3, 17, "Expected the nic, found the end of the line"},
	{TWO "send 72057594037927937b to 1\n}\n", 3, 6,
	 "The number is too large for the size, use at most 72057594037927936"},
	{TWO "send 8b to 1", 3, 13, "Expected a statement or \"}\", found the end of the text"},
	{TWO "sendx 8b to 1\n}\n", 3, 7,
	 "Expected \":\", \"requires\" or \"irequires\" after the label, found \"8b\""},
	/* recv */
	{TWO "recv 8b to 1\n}\n", 3, 9, "Expected \"from\", found \"to\""},
	{TWO "recv 8b from\n}\n", 3, 13, "Expected the sender's rank, found the end of the line"},
	{TWO "recv 8b from -2\n}\n", 3, 14, "Expected the sender's rank, found \"-\""},
	{TWO "recv 8b from -12\n}\n", 3, 16,
	 "Expected \"tag\", \"cpu\", \"nic\" or the end of the line, found \"2\""},
	{TWO "recv 8b from 7 tag 1\n}\n", 3, 14, "There is no rank 7, num_ranks is 2"},
	{TWO "recv 8b from 1 tag -2\n}\n", 3, 20, "Expected the tag, found \"-\""},
	{TWO "recv 8b from 1 tag 9999999999\n}\n", 3, 20,
	 "The number is too large for the tag, use at most 2147483646"},
	/* Dependencies. */
	{ONE "a: calc 1\na requires b\n}\n", 4, 12, "Label \"b\" is not defined above in rank 0"},
	{ONE "b: calc 1\na requires b\n}\n", 4, 1, "Label \"a\" is not defined above in rank 0"},
	{ONE "a: calc 1\na requires b\nb: calc 1\n}\n", 4, 12,
	 "Label \"b\" is not defined above in rank 0"},
	{ONE "a: calc 1\n a requires a\n}\n", 4, 13, "An operation cannot depend on itself"},
	{ONE "a: calc 1\na requires\n}\n", 4, 11, "Expected a label, found the end of the line"},
	{ONE "a: calc 1\na irequires 5\n}\n", 4, 13, "Expected a label, found \"5\""},
	{ONE "a: calc 1\nb: calc 1\na requires b c\n}\n", 5, 14,
	 "Expected the end of the line, found \"c\""},
	{ONE "a: calc 1\nb: calc 1\na depends b\n}\n", 5, 3,
	 "Expected \":\", \"requires\" or \"irequires\" after the label, found \"depends\""},
	{"num_ranks 2\nrank 0 {\na: calc 1\n}\nrank 1 {\nb: calc 1\nb requires a\n}\n", 7, 12,
	 "Label \"a\" is not defined above in rank 1"},
};
/* clang-format on */

static void read__malformed(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(malformed) / sizeof(*malformed); i++) {
		const struct malformed *m = &malformed[i];
		struct goal_program *p = (void *)1;
		struct goal_error e;
		int err;

		memset(&e, 0xff, sizeof(e));
		err = read_exactly(m->text, strlen(m->text), &p, &e);
		if (err != -EINVAL || e.code != -EINVAL || e.line != m->line ||
		    e.column != m->column || strcmp(e.text, m->says))
			fail_msg("%s\ngave %d, line %u, column %u: %s\nnot line %u, column %u: %s",
				 m->text, err, e.line, e.column, e.text, m->line, m->column,
				 m->says);
		assert_ptr_equal(p, (void *)1);
		/* Without an error record the answer is the same. */
		assert_int_equal(goal_text_read(m->text, strlen(m->text), &p, NULL), -EINVAL);
	}
}

static void read__arguments(void **state)
{
	struct goal_program *p;
	struct goal_error e;

	(void)state;
	assert_int_equal(goal_text_read(NULL, 5, &p, &e), -EINVAL);
	assert_int_equal(goal_text_read("x", 1, NULL, &e), -EINVAL);
	assert_true(strlen(e.text) > 0);
	/* Bytes behind @bytes do not count, nor does a 0 byte end the text. */
	assert_int_equal(goal_text_read(ONE "}\n", strlen(ONE), &p, &e), -EINVAL);
	assert_int_equal(goal_text_read("num_ranks 1\0rank 0 {}", 21, &p, &e), -EINVAL);
	assert_int_equal(e.line, 1);
	assert_int_equal(e.column, 12);
	assert_string_equal(e.text, "Expected \"rank\", found byte 0x00");
}

/* What a place deep in a long line, or a long word, does to the message. */
static void read__long_lines(void **state)
{
	struct goal_program *p;
	struct goal_error e;
	char *text = malloc(400000);

	(void)state;
	strcpy(text, ONE);
	memset(text + strlen(ONE), ' ', 100000);
	strcpy(text + strlen(ONE) + 100000, "!");
	assert_int_equal(goal_text_read(text, strlen(text), &p, &e), -EINVAL);
	assert_int_equal(e.line, 3);
	assert_int_equal(e.column, 100001);

	strcpy(text, ONE);
	memset(text + strlen(ONE), 'x', 100000);
	strcpy(text + strlen(ONE) + 100000, " requires y\n}\n");
	assert_int_equal(goal_text_read(text, strlen(text), &p, &e), -EINVAL);
	assert_int_equal(e.line, 3);
	assert_int_equal(e.column, 1);
	assert_true(strlen(e.text) < sizeof(e.text));
	free(text);
}

static struct goal_program *accepted(const char *text)
{
	struct goal_program *p;
	struct goal_error e;

	if (read_exactly(text, strlen(text), &p, &e))
		fail_msg("%s\nline %u, column %u: %s", text, e.line, e.column, e.text);
	return p;
}

static void check_op(const struct goal_graph *g, uint32_t op, uint8_t code, uint64_t len,
		     uint32_t peer, uint32_t tag)
{
	assert_int_equal(g->op[op].code, code);
	assert_int_equal(g->op[op].len, len);
	assert_int_equal(g->op[op].peer, peer);
	assert_int_equal(g->op[op].tag, tag);
}

static void check_attr(const struct goal_graph *g, uint32_t op, uint32_t line, uint32_t column,
		       uint8_t flags, uint8_t cpu, uint8_t nic, const char *label)
{
	const struct graph_attr *a = graph_attr_of(g, op);

	assert_int_equal(a->line, line);
	assert_int_equal(a->column, column);
	assert_int_equal(a->flags, flags);
	assert_int_equal(a->cpu, cpu);
	assert_int_equal(a->nic, nic);
	if (label)
		assert_string_equal(graph_label(g, op), label);
	else
		assert_null(graph_label(g, op));
}

static void read__operations(void **state)
{
	struct goal_program *p = accepted("num_ranks 2\n"
					  "rank 0 {\n"
					  "send 8b to 1\n"
					  " l1: send 72057594037927936b to 1 tag 2147483646\n"
					  "recv 0b from 0 tag 0 cpu 255 nic 7\n"
					  "calc 18446744073709551615\n"
					  "c: calc 007 cpu 3\n"
					  "c requires l1\n"
					  "l1 irequires c\n"
					  "recv 5b from -1 tag -1 nic 0\n"
					  "x9_: recv 5b from 1 tag -1\n"
					  "}\n"
					  "rank 1 {\n"
					  "l1: calc 1\n"
					  "}\n");
	const struct goal_graph *g = goal_program_graph(p, 0);

	(void)state;
	assert_int_equal(goal_program_ranks(p), 2);
	assert_int_equal(goal_graph_rank(g), 0);
	assert_int_equal(goal_graph_npeers(g), 2);
	assert_int_equal(goal_graph_ops(g), 7);
	check_op(g, 0, GOAL_OP_SEND, 8, 1, 0);
	check_attr(g, 0, 3, 1, 0, 0, 0, NULL);
	assert_int_equal(g->op[0].src_buf, GOAL_BUF_SEND);
	check_op(g, 1, GOAL_OP_SEND, GOAL_MAX_BYTES, 1, GOAL_MAX_TAGS - 1);
	check_attr(g, 1, 4, 2, GRAPH_ATTR_TAG, 0, 0, "l1");
	check_op(g, 2, GOAL_OP_RECV, 0, 0, 0);
	check_attr(g, 2, 5, 1, GRAPH_ATTR_TAG | GRAPH_ATTR_CPU | GRAPH_ATTR_NIC, 255, 7, NULL);
	assert_int_equal(g->op[2].dst_buf, GOAL_BUF_RECV);
	check_op(g, 3, GOAL_OP_NOP, UINT64_MAX, 0, 0);
	check_op(g, 4, GOAL_OP_NOP, 7, 0, 0);
	check_attr(g, 4, 7, 1, GRAPH_ATTR_CPU, 3, 0, "c");
	/* Wildcards: the place is theirs. */
	check_op(g, 5, GOAL_OP_RECV, 5, 0, 0);
	check_attr(g, 5, 10, 14, GRAPH_ATTR_ANY | GRAPH_ATTR_TAG | GRAPH_ATTR_NIC, 0, 0, NULL);
	check_attr(g, 6, 11, 25, GRAPH_ATTR_ANY_TAG | GRAPH_ATTR_TAG, 0, 0, "x9_");
	assert_int_equal(g->nwild, 2);
	assert_int_equal(g->ndeps, 2);
	assert_int_equal(g->dep[0].op, 4);
	assert_int_equal(g->dep[0].before, 1);
	assert_int_equal(g->dep[0].started, 0);
	assert_int_equal(g->dep[0].at, 5);
	assert_int_equal(g->dep[1].op, 1);
	assert_int_equal(g->dep[1].started, 1);

	g = goal_program_graph(p, 1);
	assert_int_equal(goal_graph_ops(g), 1);
	assert_string_equal(graph_label(g, 0), "l1");
	assert_null(goal_program_graph(p, 2));
	goal_program_free(p);
}

/* Space where it may be, none where it need not be, comments, both kinds of line ends. */
static void read__spacing(void **state)
{
	struct goal_program *p =
		accepted("// first\r\n"
			 "/* over\n two lines */ num_ranks\t2 /* x */ rank 0{ // here\n"
			 "\r\n"
			 "\tsend 8b to 1tag 5cpu 6nic 7\r\n"
			 "/**/a:calc5\n"
			 "b \t:\trecv\t8 b\tfrom-1tag-1 \n"
			 "/* */ /* / * */ // x\n"
			 " calc 1\t\n"
			 "arequires : calc 2\n"
			 "a requires b\n"
			 "b irequiresarequires\n"
			 "requires: calc 3\n"
			 "requires requires a\n"
			 "}rank 1 { }// last\n"
			 "/* done */");
	const struct goal_graph *g = goal_program_graph(p, 0);

	(void)state;
	assert_int_equal(goal_graph_ops(g), 6);
	check_op(g, 0, GOAL_OP_SEND, 8, 1, 5);
	assert_int_equal(g->attr[0].cpu, 6);
	assert_int_equal(g->attr[0].nic, 7);
	check_op(g, 1, GOAL_OP_NOP, 5, 0, 0);
	check_op(g, 2, GOAL_OP_RECV, 8, 0, 0);
	assert_int_equal(g->attr[2].flags & GRAPH_ATTR_ANY, GRAPH_ATTR_ANY);
	assert_string_equal(graph_label(g, 4), "arequires");
	assert_string_equal(graph_label(g, 5), "requires");
	assert_int_equal(g->ndeps, 3);
	assert_int_equal(g->dep[1].before, 4);
	assert_int_equal(g->dep[2].op, 5);
	assert_int_equal(goal_graph_ops(goal_program_graph(p, 1)), 0);
	goal_program_free(p);
}

/* Simulators run wildcards, engines do not. */
static void compile__refuses_wildcards(void **state)
{
	struct goal_program *p = accepted(TWO "calc 1\n"
					      "recv 8b from 1\n"
					      "x: recv 8b from -1\n"
					      "}\n"
					      "rank 1 {\n"
					      "\n"
					      "recv 8b from 0 tag -1\n"
					      "}\n");
	struct goal_schedule *s;
	struct goal_error e;

	(void)state;
	assert_int_equal(goal_compile(goal_program_graph(p, 0), &s, &e), -EINVAL);
	assert_int_equal(e.line, 5);
	assert_int_equal(e.column, 17);
	assert_int_equal(e.where, 2);
	assert_non_null(strstr(e.text, "from -1"));
	assert_int_equal(goal_compile(goal_program_graph(p, 1), &s, &e), -EINVAL);
	assert_int_equal(e.line, 9);
	assert_int_equal(e.column, 20);
	assert_non_null(strstr(e.text, "tag -1"));
	goal_program_free(p);
}

static void compile__cycle_has_label_and_line(void **state)
{
	struct goal_program *p = accepted(ONE "first: calc 1\n"
					      "second: calc 1\n"
					      "  third: calc 1\n"
					      "second requires first\n"
					      "second requires third\n"
					      "third irequires second\n"
					      "}\n");
	struct goal_schedule *s;
	struct goal_error e;

	(void)state;
	assert_int_equal(goal_compile(goal_program_graph(p, 0), &s, &e), -EINVAL);
	if (e.where == 1) {
		assert_int_equal(e.line, 4);
		assert_int_equal(e.column, 1);
		assert_non_null(strstr(e.text, "Operation 1 (second)"));
	} else {
		assert_int_equal(e.where, 2);
		assert_int_equal(e.line, 5);
		assert_int_equal(e.column, 3);
		assert_non_null(strstr(e.text, "Operation 2 (third)"));
	}
	goal_program_free(p);
}

/* Many labels, in many ranks: each is found, none of another rank. */
static void read__many_labels(void **state)
{
	const int ranks = 3, labels = 3000;
	char *text = malloc(1 << 20), *at = text;
	struct goal_program *p;
	int r, i;

	(void)state;
	at += sprintf(at, "num_ranks %d\n", ranks);
	for (r = 0; r < ranks; r++) {
		at += sprintf(at, "rank %d {\n", r);
		for (i = 0; i < labels; i++)
			at += sprintf(at, "l%d: calc %d\n", i * 7, i);
		for (i = 1; i < labels; i++)
			at += sprintf(at, "l%d requires l%d\n", i * 7, (i - 1) * 7);
		at += sprintf(at, "}\n");
	}
	p = accepted(text);
	for (r = 0; r < ranks; r++) {
		const struct goal_graph *g = goal_program_graph(p, r);

		assert_int_equal(g->ndeps, labels - 1);
		for (i = 1; i < labels; i++) {
			assert_int_equal(g->dep[i - 1].op, i);
			assert_int_equal(g->dep[i - 1].before, i - 1);
		}
	}
	goal_program_free(p);
	free(text);
}

/* num_ranks is only a claim: memory follows what is there. */
static void read__claimed_ranks(void **state)
{
	struct goal_program *p;
	struct goal_error e;
	const char *text = "num_ranks 4294967295\nrank 0 {\n}\n";

	(void)state;
	assert_int_equal(goal_text_read(text, strlen(text), &p, &e), -EINVAL);
	assert_int_equal(e.line, 4);
}

static void program__set(void **state)
{
	struct goal_program *p;
	struct goal_graph *a, *b;

	(void)state;
	assert_int_equal(goal_program_create(0, &p), -EINVAL);
	assert_int_equal(goal_program_create(1, NULL), -EINVAL);
	assert_int_equal(goal_program_create(2, &p), 0);
	assert_int_equal(goal_program_ranks(p), 2);
	assert_null(goal_program_graph(p, 0));
	assert_null(goal_program_graph(p, 2));
	assert_int_equal(goal_graph_create(1, 2, &a), 0);
	assert_int_equal(goal_graph_create(1, 3, &b), 0);
	assert_int_equal(goal_program_set(p, 0, a), -EINVAL);
	assert_int_equal(goal_program_set(p, 2, a), -EINVAL);
	assert_int_equal(goal_program_set(p, 1, b), -EINVAL);
	assert_int_equal(goal_program_set(NULL, 1, a), -EINVAL);
	goal_graph_free(b);
	assert_int_equal(goal_program_set(p, 1, a), 0);
	assert_int_equal(goal_program_set(p, 1, a), 0);
	assert_ptr_equal(goal_program_graph(p, 1), a);
	assert_int_equal(goal_graph_create(1, 2, &b), 0);
	assert_int_equal(goal_program_set(p, 1, b), 0);
	assert_ptr_equal(goal_program_graph(p, 1), b);
	goal_program_free(p);
	goal_program_free(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(read__malformed),
		cmocka_unit_test(read__arguments),
		cmocka_unit_test(read__long_lines),
		cmocka_unit_test(read__operations),
		cmocka_unit_test(read__spacing),
		cmocka_unit_test(read__many_labels),
		cmocka_unit_test(read__claimed_ranks),
		cmocka_unit_test(compile__refuses_wildcards),
		cmocka_unit_test(compile__cycle_has_label_and_line),
		cmocka_unit_test(program__set),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
