/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The writer of GOAL text. What a simulator has no statement for becomes a calc: a copy or a
 * reduction costs one unit per byte, a nop what goal_calc() was told. Called by goal_text_write()'s
 * users: tools/goal, tests, and whoever dumps a collective.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "program.h"

/*
 * Operations that came without a label and take part in a dependency are called l<number>. Where
 * labels exist, the number is filled up with zeros until it is longer than all of them, so
 * that it cannot be one of them.
 */
struct names {
	const struct goal_graph *g;
	uint8_t *needed; /* by operation: it takes part in a dependency */
	int digits;
};

static int names_init(struct names *n, const struct goal_graph *g)
{
	size_t longest = 0;
	uint32_t i;

	n->g = g;
	n->needed = calloc((size_t)g->nops + 1, 1);
	if (!n->needed)
		return -ENOMEM;
	for (i = 0; i < g->ndeps; i++) {
		n->needed[g->dep[i].op] = 1;
		n->needed[g->dep[i].before] = 1;
	}
	for (i = 0; i < g->labels_bytes; i += strlen(g->labels + i) + 1)
		if (strlen(g->labels + i) > longest)
			longest = strlen(g->labels + i);
	n->digits = longest;
	return 0;
}

static void write_name(const struct names *n, uint32_t op, FILE *out)
{
	const char *label = graph_label(n->g, op);

	if (label)
		fputs(label, out);
	else
		fprintf(out, "l%0*" PRIu32, n->digits, op);
}

static void write_message(const struct goal_op *o, const struct graph_attr *a, FILE *out)
{
	uint8_t flags = a ? a->flags : 0;

	fprintf(out, "%s %" PRIu64 "b ", o->code == GOAL_OP_SEND ? "send" : "recv",
		(uint64_t)o->len);
	if (flags & GRAPH_ATTR_ANY_PEER)
		fputs("from -1", out);
	else
		fprintf(out, "%s %" PRIu32, o->code == GOAL_OP_SEND ? "to" : "from", o->peer);
	if (flags & GRAPH_ATTR_ANY_TAG)
		fputs(" tag -1", out);
	else if (o->tag || (flags & GRAPH_ATTR_TAG))
		fprintf(out, " tag %" PRIu32, o->tag);
}

/* What @o costs a simulator, in its unit of time. */
static uint64_t cost_of(const struct goal_graph *g, const struct goal_op *o)
{
	switch (o->code) {
	case GOAL_OP_REDUCE:
		if (o->dtype == GOAL_TYPE_USER)
			return o->len * g->user_size;
		return o->len * graph_type_size(o->dtype);
	default:
		return o->len;
	}
}

static void write_operation(const struct names *n, uint32_t op, FILE *out)
{
	const struct graph_attr *a = graph_attr_of(n->g, op);
	const struct goal_op *o = &n->g->op[op];

	if (n->needed[op] || graph_label(n->g, op)) {
		write_name(n, op, out);
		fputs(": ", out);
	}
	if (o->code == GOAL_OP_SEND || o->code == GOAL_OP_RECV)
		write_message(o, a, out);
	else
		fprintf(out, "calc %" PRIu64, cost_of(n->g, o));
	if (a && (a->flags & GRAPH_ATTR_CPU))
		fprintf(out, " cpu %u", a->cpu);
	if (a && (a->flags & GRAPH_ATTR_NIC))
		fprintf(out, " nic %u", a->nic);
	putc('\n', out);
}

static int write_graph(const struct goal_graph *g, FILE *out)
{
	struct names n;
	uint32_t op = 0, dep = 0;
	int err = names_init(&n, g);

	if (err)
		return err;
	/* Statements in the order in which they were made. */
	while (op < g->nops || dep < g->ndeps) {
		if (dep < g->ndeps && g->dep[dep].at <= op) {
			const struct graph_dep *d = &g->dep[dep++];

			write_name(&n, d->op, out);
			fputs(d->started ? " irequires " : " requires ", out);
			write_name(&n, d->before, out);
			putc('\n', out);
		} else {
			write_operation(&n, op++, out);
		}
	}
	free(n.needed);
	return ferror(out) ? -EIO : 0;
}

int goal_text_write(const struct goal_program *program, FILE *out)
{
	uint32_t rank;
	int err;

	if (!program || !out)
		return -EINVAL;
	fprintf(out, "num_ranks %" PRIu32 "\n", program->ranks);
	for (rank = 0; rank < program->ranks; rank++) {
		fprintf(out, "\nrank %" PRIu32 " {\n", rank);
		if (program->graph[rank]) {
			err = write_graph(program->graph[rank], out);
			if (err)
				return err;
		}
		fputs("}\n", out);
	}
	return fflush(out) || ferror(out) ? -EIO : 0;
}
