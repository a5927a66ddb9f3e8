/* SPDX-License-Identifier: BSD-3-Clause */
/* What the two forms of reduce_scatter share. Internal to libgoal/collectives. */
#ifndef GOAL_COLLECTIVES_REDUCE_SCATTER_H
#define GOAL_COLLECTIVES_REDUCE_SCATTER_H

#include "draft.h"

/* Rank r's part has counts[r] elements, or @count each when @counts is NULL. */
int reduce_scatter(const struct goal_comm *c, enum goal_coll coll, enum goal_algorithm alg,
		   const uint64_t *counts, uint64_t count, const struct goal_reduction *how,
		   bool in_place, struct goal_graph **graph);

#endif /* GOAL_COLLECTIVES_REDUCE_SCATTER_H */
