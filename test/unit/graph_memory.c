/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * No memory: the n-th allocation fails, for every n until none does, in building, compiling,
 * reading and writing. Each time the answer is -ENOMEM, what was there is unchanged, and nothing
 * leaks. Linked with --wrap for malloc, calloc and realloc.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <goal/graph.h>

#include "no_memory.h"

/* Run @what with its n-th allocation failing, n = 0, 1, ... until it succeeds. */
static void for_every_allocation(int (*what)(void *arg), void *arg, long at_least)
{
	long n;
	int err;

	for (n = 0;; n++) {
		fail_in = n;
		err = what(arg);
		if (fail_in >= 0) {
			/* It came to its end without reaching the n-th. */
			fail_in = -1;
			assert_int_equal(err, 0);
			break;
		}
		assert_int_equal(err, -ENOMEM);
	}
	assert_true(n >= at_least);
}

static int build(void *arg)
{
	struct goal_graph *g = NULL;
	int64_t id;
	int err, i;

	(void)arg;
	err = goal_graph_create(0, 4, &g);
	if (err)
		return err;
	for (i = 0; i < 40; i++) {
		uint64_t before = goal_graph_ops(g);

		id = goal_send(g, 0, 0, 8, i % 4, 0);
		if (id < 0) {
			assert_int_equal(goal_graph_ops(g), before);
			err = id;
			break;
		}
		err = i ? goal_requires(g, id, id - 1) : 0;
		if (err)
			break;
	}
	goal_graph_free(g);
	return err;
}

static int compile(void *arg)
{
	struct goal_schedule *s = NULL;
	struct goal_error e = { 0 };
	int err = goal_compile(arg, &s, &e);

	if (err) {
		assert_null(s);
		assert_int_equal(e.code, err);
		assert_true(strlen(e.text) > 0);
	}
	goal_schedule_free(s);
	return err;
}

static int read_back(void *arg)
{
	struct goal_schedule *s = NULL;
	struct goal_error e = { 0 };
	size_t bytes;
	const void *data = goal_schedule_data(arg, &bytes);
	int err = goal_schedule_read(data, bytes, &s, &e);

	if (err)
		assert_int_equal(e.code, err);
	goal_schedule_free(s);
	return err;
}

static int read_text(void *arg)
{
	struct goal_program *p = NULL;
	struct goal_error e = { 0 };
	int err = goal_text_read(arg, strlen(arg), &p, &e);

	if (err) {
		assert_null(p);
		assert_int_equal(e.code, err);
		assert_true(strlen(e.text) > 0);
	}
	goal_program_free(p);
	return err;
}

static int create_program(void *arg)
{
	struct goal_program *p = NULL;
	int err = goal_program_create(5, &p);

	(void)arg;
	goal_program_free(p);
	return err;
}

static FILE *sink;

static int write_text(void *arg)
{
	return goal_text_write(arg, sink);
}

static void memory__build(void **state)
{
	(void)state;
	/* The graph, and operations and dependencies that grow to 16, 32 and 64. */
	for_every_allocation(build, NULL, 7);
	for_every_allocation(create_program, NULL, 2);
}

static void memory__compile(void **state)
{
	struct goal_schedule *s;
	struct goal_graph *g;

	(void)state;
	assert_int_equal(goal_graph_create(0, 4, &g), 0);
	goal_nop(g);
	goal_nop(g);
	goal_requires(g, 1, 0);
	for_every_allocation(compile, g, 6);
	/* Through the heap. */
	goal_nop(g);
	goal_requires(g, 0, 2);
	for_every_allocation(compile, g, 9);
	assert_int_equal(goal_compile(g, &s, NULL), 0);
	for_every_allocation(read_back, s, 2);
	goal_schedule_free(s);
	goal_graph_free(g);
}

static void memory__text(void **state)
{
	struct goal_program *p;
	char text[2000], *at = text;
	int i;

	(void)state;
	at += sprintf(at, "num_ranks 2\nrank 0 {\n");
	for (i = 0; i < 40; i++)
		at += sprintf(at, "label%d: calc 1\n", i);
	for (i = 1; i < 20; i++)
		at += sprintf(at, "label%d requires label%d\n", i, i - 1);
	at += sprintf(at, "}\nrank 1 {\nsend 8b to 1\n}\n");
	for_every_allocation(read_text, text, 15);

	sink = fopen("/dev/null", "w");
	assert_int_equal(goal_text_read(text, strlen(text), &p, NULL), 0);
	/* The stream takes its own buffer first. */
	assert_int_equal(write_text(p), 0);
	for_every_allocation(write_text, p, 2);
	goal_program_free(p);
	fclose(sink);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(memory__build),
		cmocka_unit_test(memory__compile),
		cmocka_unit_test(memory__text),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
