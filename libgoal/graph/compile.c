/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * From a graph to a schedule: the one writer of the format of goal/espgoal.h. Linear in
 * operations and dependencies, but for a heap where dependencies point forward (order.c).
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <internal/schedule.h>

#include "graph.h"

/* The schedule that is being written, and where its parts begin. */
struct output {
	const struct goal_graph *g;
	uint32_t *number; /* by old number: the new one */
	uint32_t *old;    /* by new number: the old one */
	struct graph_key *key, *tmp;
	struct goal_op *op;
	uint32_t *deps, *succ, *match;
};

static uint64_t schedule_bytes(const struct goal_graph *g)
{
	uint64_t bytes = sizeof(struct goal_sched_hdr) + (uint64_t)g->nops * sizeof(struct goal_op);

	bytes += ((uint64_t)g->nops + g->ndeps + g->nrecv) * sizeof(uint32_t);
	return (bytes + 7) & ~(uint64_t)7;
}

static void write_ops(struct output *w)
{
	uint32_t i;

	for (i = 0; i < w->g->nops; i++) {
		struct goal_op *o = &w->op[i];

		*o = w->g->op[w->old[i]];
		if (o->code == GOAL_OP_NOP)
			o->len = 0;
		if (o->len_from != GOAL_OP_NONE)
			o->len_from = w->number[o->len_from];
	}
}

/*
 * Number the instances of each (peer, tag) among the operations of @code, in the order of
 * creation, and for receives write the match table, which has the same order.
 */
static void write_instances(struct output *w, uint8_t code)
{
	uint32_t n = 0, instance = 0, i;

	for (i = 0; i < w->g->nops; i++) {
		const struct goal_op *o = &w->g->op[i];

		if (o->code == code)
			w->key[n++] = (struct graph_key){ (uint64_t)o->peer << 32 | o->tag, i };
	}
	graph_sort(w->key, w->tmp, n);
	for (i = 0; i < n; i++) {
		uint32_t op = w->number[w->key[i].value];

		instance = i && w->key[i].key == w->key[i - 1].key ? instance + 1 : 0;
		w->op[op].instance = instance;
		if (code == GOAL_OP_RECV) {
			w->op[op].slot = i;
			w->match[i] = op;
		}
	}
}

/*
 * Successor lists in compressed rows: in each, those that require the operation, then those that
 * irequire it, each part ascending, so that operations start in their numbers' order.
 */
static void write_successors(struct output *w)
{
	const struct goal_graph *g = w->g;
	uint32_t place = 0, i;

	for (i = 0; i < g->ndeps; i++) {
		const struct graph_dep *d = &g->dep[i];
		struct goal_op *before = &w->op[w->number[d->before]];

		w->key[i] = (struct graph_key){ w->number[d->op], i };
		w->deps[w->number[d->op]]++;
		if (d->started)
			before->nisucc++;
		else
			before->nsucc++;
	}
	for (i = 0; i < g->nops; i++) {
		w->op[i].succ = place;
		place += w->op[i].nsucc + w->op[i].nisucc;
		/* Both count up again below; old[] has served, and keeps where parts meet. */
		w->old[i] = w->op[i].nsucc;
		w->op[i].nsucc = 0;
		w->op[i].nisucc = 0;
	}
	graph_sort(w->key, w->tmp, g->ndeps);
	for (i = 0; i < g->ndeps; i++) {
		const struct graph_dep *d = &g->dep[w->key[i].value];
		uint32_t number = w->number[d->before];
		struct goal_op *before = &w->op[number];

		if (d->started)
			w->succ[before->succ + w->old[number] + before->nisucc++] = w->key[i].key;
		else
			w->succ[before->succ + before->nsucc++] = w->key[i].key;
	}
}

static int refuse_wildcard(const struct goal_graph *g, struct goal_error *e)
{
	uint32_t i;

	for (i = 0; i < g->nattr; i++) {
		const struct graph_attr *a = &g->attr[i];

		if (!(a->flags & GRAPH_ATTR_ANY))
			continue;
		return graph_error_at(
			e, -EINVAL, a->line, a->column, i,
			a->flags & GRAPH_ATTR_ANY_PEER
				? "A receive \"from -1\" can be simulated but not run, "
				  "name the rank it receives from"
				: "A receive with \"tag -1\" can be simulated but not run, "
				  "give it the tag of its message");
	}
	return 0;
}

static int refuse_cycle(const struct goal_graph *g, uint32_t op, struct goal_error *e)
{
	const struct graph_attr *a = graph_attr_of(g, op);
	const char *label = graph_label(g, op);

	return graph_error_at(e, -EINVAL, a ? a->line : 0, a ? a->column : 0, op,
			      "Operation %u%s%.40s%s waits for itself through its dependencies, "
			      "take one of them away",
			      op, label ? " (" : "", label ? label : "", label ? ")" : "");
}

static struct goal_schedule *schedule_new(const struct goal_graph *g, uint32_t nindep)
{
	uint64_t bytes = schedule_bytes(g);
	struct goal_schedule *s = calloc(1, offsetof(struct goal_schedule, hdr) + bytes);

	if (!s)
		return NULL;
	s->bytes = bytes;
	s->hdr = (struct goal_sched_hdr){
		.magic = GOAL_SCHED_MAGIC,
		.version = GOAL_SCHED_VERSION,
		.total = bytes,
		.rank = g->rank,
		.npeers = g->npeers,
		.nops = g->nops,
		.nindep = nindep,
		.nsucc = g->ndeps,
		.nrecv = g->nrecv,
		.nbufs = g->nbufs,
		.ntags = g->ntags,
		.scratch = g->scratch,
		.user_size = g->nuser ? g->user_size : 0,
	};
	return s;
}

int goal_compile(const struct goal_graph *graph, struct goal_schedule **schedule,
		 struct goal_error *error)
{
	struct output w = { .g = graph };
	struct goal_schedule *s;
	uint32_t nindep, cycle;
	size_t rows;
	int err;

	if (!graph || !schedule)
		return graph_error(error, -EINVAL, 0, "There is no graph to compile");
	if (graph->nwild)
		return refuse_wildcard(graph, error);

	/* One sort needs a key per operation, the other one per dependency. */
	rows = graph->nops > graph->ndeps ? graph->nops : graph->ndeps;
	err = -ENOMEM;
	w.number = malloc(((size_t)graph->nops + 1) * sizeof(*w.number));
	w.old = malloc(((size_t)graph->nops + 1) * sizeof(*w.old));
	w.key = malloc((rows + 1) * sizeof(*w.key));
	w.tmp = malloc((rows + 1) * sizeof(*w.tmp));
	if (!w.number || !w.old || !w.key || !w.tmp)
		goto no_memory;
	err = graph_order(graph, w.number, w.old, &nindep, &cycle);
	if (err == -EINVAL) {
		refuse_cycle(graph, cycle, error);
		goto free_work;
	}
	if (err)
		goto no_memory;
	err = -ENOMEM;
	s = schedule_new(graph, nindep);
	if (!s)
		goto no_memory;
	w.op = (struct goal_op *)s->body;
	w.deps = (uint32_t *)(w.op + graph->nops);
	w.succ = w.deps + graph->nops;
	w.match = w.succ + graph->ndeps;
	write_ops(&w);
	write_instances(&w, GOAL_OP_SEND);
	write_instances(&w, GOAL_OP_RECV);
	write_successors(&w);
	*schedule = s;
	err = 0;
	goto free_work;

no_memory:
	graph_error(error, err, 0, "There is not enough memory to compile %u operations",
		    graph->nops);
free_work:
	free(w.tmp);
	free(w.key);
	free(w.old);
	free(w.number);
	return err;
}
