/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `goal text': the GOAL text of a collective, for a simulator or for a look at an algorithm.
 */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "tool.h"

bool tool_collective(const char *name, enum goal_coll *coll)
{
	int i;

	for (i = 0; i < GOAL_COLLS; i++) {
		if (strcmp(goal_coll_name(i), name))
			continue;
		*coll = i;
		return true;
	}
	return false;
}

bool tool_algorithm(const char *name, enum goal_algorithm *alg)
{
	int i;

	for (i = 0; i < GOAL_ALGS; i++) {
		if (strcmp(goal_algorithm_name(i), name))
			continue;
		*alg = i;
		return true;
	}
	return false;
}

/* "4x3x2" */
static bool read_dims(const char *text, struct build_request *q)
{
	const uint32_t most = sizeof(q->dims) / sizeof(*q->dims);
	char copy[128], *at = copy, *part;
	uint64_t n;

	if (strlen(text) >= sizeof(copy))
		return false;
	strcpy(copy, text);
	q->ndims = 0;
	while ((part = strsep(&at, "x"))) {
		if (q->ndims == most || !tool_number(part, UINT32_MAX, &n) || n == 0)
			return false;
		q->dims[q->ndims++] = n;
	}
	return true;
}

struct text_options {
	struct build_request q;
	const char *output;
	bool root_given, bytes_given;
};

static int read_options(int argc, char **argv, struct text_options *o)
{
	static const struct option longs[] = {
		{ "algorithm", required_argument, NULL, 'a' },
		{ "bytes", required_argument, NULL, 'b' },
		{ "dims", required_argument, NULL, 'd' },
		{ "in-place", no_argument, NULL, 'i' },
		{ "ranks", required_argument, NULL, 'n' },
		{ "node-ranks", required_argument, NULL, 'N' },
		{ "output", required_argument, NULL, 'o' },
		{ "root", required_argument, NULL, 'r' },
		{ NULL, 0, NULL, 0 },
	};
	uint64_t n;
	int opt;

	opterr = 0;
	while ((opt = getopt_long(argc, argv, ":a:b:d:in:N:o:r:", longs, NULL)) != -1) {
		switch (opt) {
		case 'a':
			if (!tool_algorithm(optarg, &o->q.alg))
				return tool_usage(
					"There is no algorithm `%s', `goal list' names them",
					optarg);
			break;
		case 'b':
			if (!tool_number(optarg, GOAL_MAX_BYTES, &o->q.bytes))
				return tool_usage("-b takes a number of bytes, not `%s'", optarg);
			o->bytes_given = true;
			break;
		case 'd':
			if (!read_dims(optarg, &o->q))
				return tool_usage("-d takes up to 8 numbers like 4x3x2, not `%s'",
						  optarg);
			break;
		case 'i':
			o->q.in_place = true;
			break;
		case 'n':
			if (!tool_number(optarg, INT32_MAX, &n) || n == 0)
				return tool_usage("-n takes a number of ranks above 0, not `%s'",
						  optarg);
			o->q.ranks = n;
			break;
		case 'N':
			if (!tool_number(optarg, INT32_MAX, &n) || n == 0)
				return tool_usage("-N takes a number of ranks above 0, not `%s'",
						  optarg);
			o->q.per_node = n;
			break;
		case 'o':
			o->output = optarg;
			break;
		case 'r':
			if (!tool_number(optarg, INT32_MAX, &n))
				return tool_usage("-r takes a rank, not `%s'", optarg);
			o->q.root = n;
			o->root_given = true;
			break;
		case ':':
			return tool_usage("Option `%s' takes a value", argv[optind - 1]);
		default:
			return tool_usage("There is no option `%s'", argv[optind - 1]);
		}
	}
	return TOOL_OK;
}

/* What is asked for must fit together; options without an effect are refused too. */
static int check_options(struct text_options *o)
{
	struct build_request *q = &o->q;
	const char *name = goal_coll_name(q->coll);
	uint64_t product = 1;
	uint32_t d;

	if (!q->ranks)
		return tool_usage("-n RANKS is missing");
	if (!goal_algorithm_valid(q->coll, q->alg, false))
		return tool_usage("%s has no algorithm `%s', `goal list' names those it has", name,
				  goal_algorithm_name(q->alg));
	if (o->root_given && !build_rooted(q->coll))
		return tool_usage("%s has no root, leave -r away", name);
	if (q->root >= q->ranks)
		return tool_usage("Root %lld is not below the number of ranks, %u",
				  (long long)q->root, q->ranks);
	if (o->bytes_given && q->coll == GOAL_BARRIER)
		return tool_usage("barrier moves no data, leave -b away");
	if (q->ndims && !build_neighborhood(q->coll))
		return tool_usage("%s has no neighbors, leave -d away", name);
	if (q->in_place &&
	    (q->coll == GOAL_BARRIER || q->coll == GOAL_BCAST || build_neighborhood(q->coll)))
		return tool_usage("%s does not work in place, leave -i away", name);
	if (q->bytes > GOAL_MAX_BYTES / q->ranks)
		return tool_usage("%u blocks of %llu bytes are too much", q->ranks,
				  (unsigned long long)q->bytes);
	if (!q->ndims) {
		q->ndims = 1;
		q->dims[0] = q->ranks;
	}
	for (d = 0; d < q->ndims; d++) {
		product *= q->dims[d];
		if (product > q->ranks)
			break;
	}
	if (product != q->ranks)
		return tool_usage("The dimensions of -d do not make %u ranks", q->ranks);
	return TOOL_OK;
}

static int write_program(const struct goal_program *p, const char *output)
{
	FILE *out = output ? fopen(output, "w") : stdout;
	int err;

	if (!out)
		return tool_failed("%s: %s", output, strerror(errno));
	errno = 0;
	err = goal_text_write(p, out);
	if (err == -EIO && errno)
		err = -errno;
	if (output && fclose(out) && !err)
		err = -errno;
	if (err)
		return tool_failed("%s: %s", output ? output : "Standard output", strerror(-err));
	return TOOL_OK;
}

int tool_text(int argc, char **argv)
{
	struct text_options o = { .q.bytes = 8 };
	struct goal_program *p;
	uint32_t rank;
	int status, err;

	status = read_options(argc, argv, &o);
	if (status)
		return status;
	if (optind == argc)
		return tool_usage("The name of a collective is missing");
	if (optind + 1 < argc)
		return tool_usage("One collective at a time, not also `%s'", argv[optind + 1]);
	if (!tool_collective(argv[optind], &o.q.coll))
		return tool_usage("There is no collective `%s', `goal list' names them",
				  argv[optind]);
	status = check_options(&o);
	if (status)
		return status;
	err = build_program(&o.q, &p, &rank);
	if (err)
		return tool_failed("%s, rank %u: %s", goal_coll_name(o.q.coll), rank,
				   strerror(-err));
	status = write_program(p, o.output);
	goal_program_free(p);
	return status;
}
