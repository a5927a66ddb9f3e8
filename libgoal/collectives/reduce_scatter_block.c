/* SPDX-License-Identifier: BSD-3-Clause */
/* Reduce_scatter with parts of equal size: as reduce_scatter.c, which does the work. */
#include "reduce_scatter.h"

int goal_reduce_scatter_block(const struct goal_comm *c, enum goal_algorithm alg, uint64_t count,
			      const struct goal_reduction *how, bool in_place,
			      struct goal_graph **graph)
{
	return reduce_scatter(c, GOAL_REDUCE_SCATTER_BLOCK, alg, NULL, count, how, in_place, graph);
}
