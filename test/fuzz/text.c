/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fuzzes the GOAL text reader: any bytes are refused with a place inside the text, or give a
 * program that compiles or not, and that comes back the same when it is written and read.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <goal/graph.h>

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t bytes);

static void demand(int truth, const char *what)
{
	if (truth)
		return;
	fprintf(stderr, "text: %s\n", what);
	abort();
}

static char *written(const struct goal_program *p, size_t *bytes)
{
	char *text;
	FILE *f = open_memstream(&text, bytes);

	demand(f != NULL, "no memory for a stream");
	demand(goal_text_write(p, f) == 0, "what was read cannot be written");
	fclose(f);
	return text;
}

static void check_compile(const struct goal_graph *g)
{
	struct goal_schedule *s, *again;
	struct goal_error e;
	size_t bytes;
	const void *data;

	if (goal_compile(g, &s, &e)) {
		demand(e.code == -EINVAL && e.line > 0, "a refusal without its line");
		return;
	}
	data = goal_schedule_data(s, &bytes);
	demand(goal_schedule_read(data, bytes, &again, &e) == 0, "the verifier refuses it");
	goal_schedule_free(again);
	goal_schedule_free(s);
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t bytes)
{
	struct goal_program *p, *q;
	struct goal_error e = { 0 };
	size_t first_bytes, second_bytes;
	char *first, *second;
	uint32_t rank;

	if (goal_text_read((const char *)data, bytes, &p, &e)) {
		demand(e.code == -EINVAL || e.code == -E2BIG, "an error of another kind");
		demand(e.line >= 1 && e.line <= bytes + 1, "a line outside of the text");
		demand(e.column >= 1 && e.column <= bytes + 1, "a column outside of the text");
		demand(memchr(e.text, '\0', sizeof(e.text)) && e.text[0], "no sentence");
		return 0;
	}
	for (rank = 0; rank < goal_program_ranks(p); rank++)
		check_compile(goal_program_graph(p, rank));
	first = written(p, &first_bytes);
	demand(goal_text_read(first, first_bytes, &q, &e) == 0, "what was written is refused");
	second = written(q, &second_bytes);
	demand(first_bytes == second_bytes && !memcmp(first, second, first_bytes),
	       "writing, reading, writing gives another text");
	free(first);
	free(second);
	goal_program_free(q);
	goal_program_free(p);
	return 0;
}
