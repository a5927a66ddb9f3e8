/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the commands of `goal` share.
 */
#ifndef TOOL_H
#define TOOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <goal/goal.h>

/* Exit statuses. */
enum {
	TOOL_OK = 0,
	TOOL_FAILED = 1, /* the input is wrong, or the machine refused */
	TOOL_USAGE = 2,  /* the command line is wrong */
};

/* Print "goal: " and the sentence on stderr; give back the status. */
int tool_failed(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* The same, with a pointer to --help. */
int tool_usage(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* A decimal number of at most @max, all of @text. */
bool tool_number(const char *text, uint64_t max, uint64_t *number);
/* A whole file ("-": standard input) in memory; the caller frees. Complains by itself. */
char *tool_read_file(const char *path, size_t *bytes);
/* Read GOAL text from @path; complains by itself. NULL: failed. */
struct goal_program *tool_read_program(const char *path);

/* The commands; argv[0] is the command's name. */
int tool_text(int argc, char **argv);
int tool_check(int argc, char **argv);
int tool_run(int argc, char **argv);
int tool_sim(int argc, char **argv);
int tool_info(int argc, char **argv);

/* text.c: by their names. False: there is none. */
bool tool_collective(const char *name, enum goal_coll *coll);
bool tool_algorithm(const char *name, enum goal_algorithm *alg);

/* build.c: what `goal text` is asked for. */
struct build_request {
	enum goal_coll coll;
	enum goal_algorithm alg;
	uint32_t ranks;
	uint32_t per_node; /* ranks of a node; 0: one node */
	int64_t root;
	uint64_t bytes; /* of a block, or of the whole of a broadcast or reduction */
	bool in_place;
	uint32_t dims[8]; /* of the periodic grid of a neighborhood collective */
	uint32_t ndims;
};

/* The graphs of all ranks; *@rank gets where it failed. 0 or -errno. */
int build_program(const struct build_request *q, struct goal_program **program, uint32_t *rank);
/* Has the collective a root? Neighbors? */
bool build_rooted(enum goal_coll coll);
bool build_neighborhood(enum goal_coll coll);

#endif /* TOOL_H */
