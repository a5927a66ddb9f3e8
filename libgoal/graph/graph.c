/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Graphs under construction: their life, memory, dependencies and sizes. The operations
 * themselves are added in ops.c. Called by whoever builds collectives, and by the text reader.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "graph.h"

int goal_graph_create(uint32_t rank, uint32_t npeers, struct goal_graph **graph)
{
	struct goal_graph *g;

	if (!graph || npeers == 0)
		return -EINVAL;
	g = calloc(1, sizeof(*g));
	if (!g)
		return -ENOMEM;
	g->rank = rank;
	g->npeers = npeers;
	*graph = g;
	return 0;
}

void goal_graph_free(struct goal_graph *graph)
{
	if (!graph)
		return;
	free(graph->op);
	free(graph->dep);
	free(graph->attr);
	free(graph->labels);
	free(graph);
}

int graph_reserve(void **array, uint32_t *room, uint32_t used, uint32_t more, uint32_t limit,
		  size_t element)
{
	uint64_t need = (uint64_t)used + more;
	uint64_t grown;
	void *moved;

	if (need > limit)
		return -E2BIG;
	if (need <= *room)
		return 0;
	/* Doubling keeps the cost of an element constant; 16 spares small graphs the steps. */
	grown = (uint64_t)*room * 2;
	if (grown < 16)
		grown = 16;
	if (grown < need)
		grown = need;
	if (grown > limit)
		grown = limit;
	moved = realloc(*array, grown * element);
	if (!moved)
		return -ENOMEM;
	*array = moved;
	*room = grown;
	return 0;
}

int graph_add_dep(struct goal_graph *g, int64_t op, int64_t before, bool started)
{
	int err;

	if (!g || op < 0 || op >= g->nops || before < 0 || before >= g->nops || op == before)
		return -EINVAL;
	err = graph_reserve((void **)&g->dep, &g->dep_room, g->ndeps, 1, GOAL_MAX_SUCC,
			    sizeof(*g->dep));
	if (err)
		return err;
	g->dep[g->ndeps++] = (struct graph_dep){
		.op = op,
		.before = before,
		.started = started,
		.at = g->nops,
	};
	return 0;
}

int goal_requires(struct goal_graph *graph, int64_t op, int64_t before)
{
	return graph_add_dep(graph, op, before, false);
}

int goal_irequires(struct goal_graph *graph, int64_t op, int64_t before)
{
	return graph_add_dep(graph, op, before, true);
}

int goal_length_from(struct goal_graph *graph, int64_t op, int64_t recv)
{
	struct goal_op *o;
	int err;

	if (!graph || op < 0 || op >= graph->nops || recv < 0 || recv >= graph->nops)
		return -EINVAL;
	o = &graph->op[op];
	if ((o->code != GOAL_OP_SEND && o->code != GOAL_OP_COPY) || o->len_from != GOAL_OP_NONE ||
	    graph->op[recv].code != GOAL_OP_RECV)
		return -EINVAL;
	err = graph_add_dep(graph, op, recv, false);
	if (err)
		return err;
	o->len_from = recv;
	return 0;
}

int goal_user_size(struct goal_graph *graph, uint32_t bytes)
{
	if (!graph || bytes == 0)
		return -EINVAL;
	/* Operations already there were checked against the size they know. */
	if (graph->nuser && bytes != graph->user_size)
		return -EINVAL;
	graph->user_size = bytes;
	return 0;
}

int64_t goal_scratch(struct goal_graph *graph, uint64_t bytes)
{
	uint64_t off;

	if (!graph)
		return -EINVAL;
	off = (graph->scratch + 63) & ~(uint64_t)63;
	if (bytes > GOAL_MAX_BYTES || off > GOAL_MAX_BYTES - bytes)
		return -E2BIG;
	graph->scratch = off + bytes;
	return off;
}

int goal_tags(struct goal_graph *graph, uint32_t ntags)
{
	if (!graph)
		return -EINVAL;
	if (ntags > GOAL_MAX_TAGS)
		return -E2BIG;
	if (ntags > graph->ntags)
		graph->ntags = ntags;
	return 0;
}

uint32_t goal_graph_rank(const struct goal_graph *graph)
{
	return graph->rank;
}

uint32_t goal_graph_npeers(const struct goal_graph *graph)
{
	return graph->npeers;
}

uint64_t goal_graph_ops(const struct goal_graph *graph)
{
	return graph->nops;
}

const struct graph_attr *graph_attr_of(const struct goal_graph *g, uint32_t op)
{
	return op < g->nattr ? &g->attr[op] : NULL;
}

const char *graph_label(const struct goal_graph *g, uint32_t op)
{
	const struct graph_attr *a = graph_attr_of(g, op);

	return a && a->label ? g->labels + a->label - 1 : NULL;
}
