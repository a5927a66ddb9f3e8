/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Programs: one graph per rank, what a GOAL text holds. Called by tools and tests, and by
 * the text reader, which does not know how many ranks really come and so grows the array.
 */
#include <errno.h>
#include <stdlib.h>

#include "program.h"

int program_new(uint32_t room, struct goal_program **program)
{
	struct goal_program *p = calloc(1, sizeof(*p));

	if (!p)
		return -ENOMEM;
	if (room) {
		p->graph = calloc(room, sizeof(*p->graph));
		if (!p->graph) {
			free(p);
			return -ENOMEM;
		}
		p->room = room;
	}
	*program = p;
	return 0;
}

int program_append(struct goal_program *p, struct goal_graph *graph)
{
	int err = graph_reserve((void **)&p->graph, &p->room, p->ranks, 1, UINT32_MAX,
				sizeof(*p->graph));

	if (err)
		return err;
	p->graph[p->ranks++] = graph;
	return 0;
}

int goal_program_create(uint32_t ranks, struct goal_program **program)
{
	int err;

	if (!program || ranks == 0)
		return -EINVAL;
	err = program_new(ranks, program);
	if (err)
		return err;
	(*program)->ranks = ranks;
	return 0;
}

void goal_program_free(struct goal_program *program)
{
	uint32_t i;

	if (!program)
		return;
	for (i = 0; i < program->ranks; i++)
		goal_graph_free(program->graph[i]);
	free(program->graph);
	free(program);
}

uint32_t goal_program_ranks(const struct goal_program *program)
{
	return program->ranks;
}

struct goal_graph *goal_program_graph(const struct goal_program *program, uint32_t rank)
{
	return rank < program->ranks ? program->graph[rank] : NULL;
}

int goal_program_set(struct goal_program *program, uint32_t rank, struct goal_graph *graph)
{
	if (!program || rank >= program->ranks)
		return -EINVAL;
	if (graph && (graph->rank != rank || graph->npeers != program->ranks))
		return -EINVAL;
	if (graph != program->graph[rank])
		goal_graph_free(program->graph[rank]);
	program->graph[rank] = graph;
	return 0;
}
