/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `goal check': would this GOAL text run? Every rank must compile, every send must meet a
 * receive that has room for it, and every receive a send.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tool.h"

/* One end of a message. */
struct message_end {
	uint32_t from, to, tag, instance;
	uint64_t bytes;
	bool receive;
};

struct census {
	struct message_end *end;
	size_t used, room;
	uint64_t ops, deps, sends, recvs;
	size_t schedule_bytes; /* of the largest rank */
};

static bool census_add(struct census *c, const struct message_end *m)
{
	if (c->used == c->room) {
		size_t room = c->room ? c->room * 2 : 1024;
		struct message_end *more = realloc(c->end, room * sizeof(*more));

		if (!more)
			return false;
		c->end = more;
		c->room = room;
	}
	c->end[c->used++] = *m;
	return true;
}

static bool census_rank(struct census *c, const struct goal_schedule *s)
{
	size_t bytes;
	const struct goal_sched_hdr *hdr = goal_schedule_data(s, &bytes);
	const struct goal_op *op = (const struct goal_op *)(hdr + 1);
	uint32_t i;

	if (bytes > c->schedule_bytes)
		c->schedule_bytes = bytes;
	c->ops += hdr->nops;
	c->deps += hdr->nsucc;
	c->recvs += hdr->nrecv;
	for (i = 0; i < hdr->nops; i++) {
		struct message_end m = {
			.tag = op[i].tag,
			.instance = op[i].instance,
			.bytes = op[i].len,
			.receive = op[i].code == GOAL_OP_RECV,
		};

		if (op[i].code != GOAL_OP_SEND && op[i].code != GOAL_OP_RECV)
			continue;
		m.from = m.receive ? op[i].peer : hdr->rank;
		m.to = m.receive ? hdr->rank : op[i].peer;
		c->sends += !m.receive;
		if (!census_add(c, &m))
			return false;
	}
	return true;
}

static int compare(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

static int compare_ends(const void *a, const void *b)
{
	const struct message_end *x = a, *y = b;
	int order = compare(x->from, y->from);

	if (!order)
		order = compare(x->to, y->to);
	if (!order)
		order = compare(x->tag, y->tag);
	if (!order)
		order = compare(x->instance, y->instance);
	return order ? order : compare(x->receive, y->receive);
}

/* Sends and receives in pairs; each that is alone, or does not fit, is named. Their number. */
static uint64_t census_match(struct census *c, const char *path)
{
	uint64_t wrong = 0;
	size_t i;

	/* Of an empty array there may be no address. */
	if (c->used)
		qsort(c->end, c->used, sizeof(*c->end), compare_ends);
	for (i = 0; i < c->used; i++) {
		const struct message_end *m = &c->end[i], *other = m + 1;

		if (i + 1 < c->used && m->from == other->from && m->to == other->to &&
		    m->tag == other->tag && m->instance == other->instance) {
			i++;
			if (m->bytes <= other->bytes)
				continue;
			fprintf(stderr,
				"%s: Message %u with tag %u from rank %u to rank %u has %" PRIu64
				" bytes, its receive has room for %" PRIu64 "\n",
				path, m->instance, m->tag, m->from, m->to, m->bytes, other->bytes);
		} else {
			fprintf(stderr,
				"%s: %s of message %u with tag %u from rank %u to rank %u has no "
				"%s\n",
				path, m->receive ? "The receive" : "The send", m->instance, m->tag,
				m->from, m->to, m->receive ? "send" : "receive");
		}
		wrong++;
	}
	return wrong;
}

static bool compile_all(const struct goal_program *p, const char *path, struct census *c)
{
	bool good = true;
	uint32_t rank;

	for (rank = 0; rank < goal_program_ranks(p); rank++) {
		struct goal_schedule *s;
		struct goal_error e;
		bool counted;

		if (goal_compile(goal_program_graph(p, rank), &s, &e)) {
			if (e.line)
				fprintf(stderr, "%s:%u:%u: %s\n", path, e.line, e.column, e.text);
			else
				fprintf(stderr, "%s: rank %u: %s\n", path, rank, e.text);
			good = false;
			continue;
		}
		counted = census_rank(c, s);
		goal_schedule_free(s);
		if (!counted) {
			tool_failed("%s: There is not enough memory to match its messages", path);
			return false;
		}
	}
	return good;
}

static int check_file(const char *path)
{
	struct goal_program *p = tool_read_program(path);
	struct census c = { 0 };
	int status = TOOL_FAILED;

	if (!p)
		return TOOL_FAILED;
	/* Messages of a rank that does not compile would only repeat the complaint. */
	if (compile_all(p, path, &c) && !census_match(&c, path)) {
		printf("%s: %u ranks, %" PRIu64 " operations, %" PRIu64 " messages, %" PRIu64
		       " dependencies; largest schedule %zu bytes\n",
		       path, goal_program_ranks(p), c.ops, c.sends, c.deps, c.schedule_bytes);
		status = TOOL_OK;
	}
	free(c.end);
	goal_program_free(p);
	return status;
}

int tool_check(int argc, char **argv)
{
	int status = TOOL_OK, i;

	if (argc < 2)
		return tool_usage("The name of a GOAL text is missing");
	for (i = 1; i < argc; i++)
		if (argv[i][0] == '-' && argv[i][1])
			return tool_usage("`goal check' has no option `%s'", argv[i]);
	for (i = 1; i < argc; i++)
		if (check_file(argv[i]))
			status = TOOL_FAILED;
	return status;
}
