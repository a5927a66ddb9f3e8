/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `goal`, the command line of the library: finds the command and prints help.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "goal_config.h"
#include "tool.h"

int tool_failed(const char *fmt, ...)
{
	va_list ap;

	fputs("goal: ", stderr);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
	return TOOL_FAILED;
}

int tool_usage(const char *fmt, ...)
{
	va_list ap;

	fputs("goal: ", stderr);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputs("; see `goal --help'\n", stderr);
	return TOOL_USAGE;
}

bool tool_number(const char *text, uint64_t max, uint64_t *number)
{
	char *end;
	unsigned long long n;

	if (*text < '0' || *text > '9')
		return false;
	errno = 0;
	n = strtoull(text, &end, 10);
	if (errno || *end || n > max)
		return false;
	*number = n;
	return true;
}

char *tool_read_file(const char *path, size_t *bytes)
{
	FILE *f = strcmp(path, "-") ? fopen(path, "r") : stdin;
	size_t room = 1 << 16, used = 0, got;
	char *text = NULL, *more;

	if (!f) {
		tool_failed("%s: %s", path, strerror(errno));
		return NULL;
	}
	for (;;) {
		more = realloc(text, room);
		if (!more) {
			tool_failed("%s: There is not enough memory for it", path);
			goto close_file;
		}
		text = more;
		got = fread(text + used, 1, room - used, f);
		used += got;
		if (used < room)
			break;
		room *= 2;
	}
	if (ferror(f)) {
		tool_failed("%s: %s", path, strerror(errno));
		goto close_file;
	}
	if (f != stdin)
		fclose(f);
	*bytes = used;
	return text;

close_file:
	if (f != stdin)
		fclose(f);
	free(text);
	return NULL;
}

struct goal_program *tool_read_program(const char *path)
{
	struct goal_program *p = NULL;
	struct goal_error e;
	size_t bytes;
	char *text = tool_read_file(path, &bytes);

	if (!text)
		return NULL;
	/* In the form that editors jump to. */
	if (goal_text_read(text, bytes, &p, &e))
		fprintf(stderr, "%s:%u:%u: %s\n", path, e.line, e.column, e.text);
	free(text);
	return p;
}

static void print_algorithms(enum goal_coll coll)
{
	int alg;

	for (alg = GOAL_ALG_AUTO; alg < GOAL_ALGS; alg++)
		if (goal_algorithm_valid(coll, alg, false))
			printf(" %s", goal_algorithm_name(alg));
}

static int command_list(void)
{
	int coll;

	for (coll = 0; coll < GOAL_COLLS; coll++) {
		printf("%-24s", goal_coll_name(coll));
		print_algorithms(coll);
		putchar('\n');
	}
	return TOOL_OK;
}

static void print_help(void)
{
	fputs("Usage: goal text COLLECTIVE -n RANKS [OPTION]...   write its GOAL text, all ranks\n"
	      "       goal check FILE...                         read, compile, match messages\n"
	      "       goal run FILE [-t SECONDS] [-e ENGINE]     run it here, a process per rank\n"
	      "       goal sim COLLECTIVE|FILE [OPTION]...       simulate it over the protocol, "
	      "see goal-sim(1)\n"
	      "       goal info [-a]                             the kernel module, and what it "
	      "counted\n"
	      "       goal list                                  collectives and their algorithms\n"
	      "       goal --help | --version\n"
	      "\n"
	      "Options of `goal text':\n"
	      "  -n, --ranks=N         ranks\n"
	      "  -b, --bytes=N         bytes of a block; of a broadcast or reduction: of the\n"
	      "                        whole (default 8)\n"
	      "  -r, --root=RANK       the root, where there is one (default 0)\n"
	      "  -a, --algorithm=NAME  see `goal list' (default auto)\n"
	      "  -N, --node-ranks=N    each N ranks share a node (default: all share one)\n"
	      "  -d, --dims=AxBx...    periodic grid of a neighborhood collective\n"
	      "                        (default: a ring of all ranks)\n"
	      "  -i, --in-place        contributions stand in the receive buffer\n"
	      "  -o, --output=FILE     write to FILE instead of standard output\n"
	      "\n"
	      "FILE may be - for standard input. Exit status: 0 good, 1 not good, 2 wrong usage.\n",
	      stdout);
}

int main(int argc, char **argv)
{
	const char *command = argc > 1 ? argv[1] : NULL;
	int status;

	if (!command)
		return tool_usage("A command is missing");
	argc--;
	argv++;
	if (!strcmp(command, "text")) {
		status = tool_text(argc, argv);
	} else if (!strcmp(command, "check")) {
		status = tool_check(argc, argv);
	} else if (!strcmp(command, "run")) {
		status = tool_run(argc, argv);
	} else if (!strcmp(command, "sim")) {
		status = tool_sim(argc, argv);
	} else if (!strcmp(command, "info")) {
		status = tool_info(argc, argv);
	} else if (!strcmp(command, "list")) {
		status = argc > 1 ? tool_usage("`goal list' takes no argument") : command_list();
	} else if (!strcmp(command, "--help") || !strcmp(command, "-h")) {
		print_help();
		status = TOOL_OK;
	} else if (!strcmp(command, "--version")) {
		puts("goal (ESPGOAL) " PACKAGE_VERSION);
		status = TOOL_OK;
	} else {
		status = tool_usage("There is no command `%s'", command);
	}
	/* A full disk must not pass for success. */
	if (!status && (fflush(stdout) || ferror(stdout)))
		return tool_failed("Standard output: %s", strerror(errno));
	return status;
}
