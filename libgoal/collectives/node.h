/* SPDX-License-Identifier: BSD-3-Clause */
/* The nodes of a communicator. Internal to libgoal/collectives. */
#ifndef GOAL_COLLECTIVES_NODE_H
#define GOAL_COLLECTIVES_NODE_H

#include <goal/collectives.h>

/* Some ranks of a communicator, ascending, seen from one of them. */
struct rank_list {
	uint32_t *rank; /* [n], owned; NULL: member i is rank i */
	uint32_t n;
	uint32_t me; /* the place of this rank in it; n: not in it */
};

static inline uint32_t rank_list_at(const struct rank_list *l, uint64_t i)
{
	return l->rank ? l->rank[i] : (uint32_t)i;
}

/* The ranks of this rank's node. 0 or -ENOMEM. */
int node_members(const struct goal_comm *c, struct rank_list *l);
/* The first rank of every node. 0 or -ENOMEM. */
int node_leaders(const struct goal_comm *c, struct rank_list *l);
void rank_list_free(struct rank_list *l);

#endif /* GOAL_COLLECTIVES_NODE_H */
