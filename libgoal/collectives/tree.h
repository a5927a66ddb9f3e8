/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Binomial trees (Vuillemin, "A data structure for manipulating priority queues", 1978) over ranks
 * counted from the root: rank v has the parent v minus its lowest set bit and the children v + m
 * for the powers of two m below that bit; its subtree is v and what follows it, up to that
 * bit's value of ranks. Internal to libgoal/collectives.
 */
#ifndef GOAL_COLLECTIVES_TREE_H
#define GOAL_COLLECTIVES_TREE_H

#include "draft.h"

struct tree_place {
	uint32_t v; /* (rank - root) mod size */
	uint32_t size, root;
	uint64_t span; /* lowest set bit of v; at the root a power of two not below size */
};

static inline struct tree_place tree_place_of(uint32_t rank, uint32_t size, uint32_t root)
{
	struct tree_place t = { .size = size, .root = root, .span = 1 };

	t.v = rank >= root ? rank - root : rank + (size - root);
	while (t.span < size && !(t.v & t.span))
		t.span *= 2;
	return t;
}

/* The rank that is number @v from the root. */
static inline uint32_t tree_rank(const struct tree_place *t, uint64_t v)
{
	return (uint32_t)((v + t->root) % t->size);
}

static inline uint32_t tree_parent(const struct tree_place *t)
{
	return tree_rank(t, t->v - t->span);
}

/* @m is a power of two below span. */
static inline bool tree_has_child(const struct tree_place *t, uint64_t m)
{
	return t->v + m < t->size;
}

static inline uint32_t tree_child(const struct tree_place *t, uint64_t m)
{
	return tree_rank(t, t->v + m);
}

/* How many ranks the subtree at number @v has when its root's lowest bit is @span. */
static inline uint64_t tree_ranks(const struct tree_place *t, uint64_t v, uint64_t span)
{
	return v + span <= t->size ? span : t->size - v;
}

/*
 * Of the @n blocks from number @v on, in order of ranks counted from the root, those that come
 * before the wrap from the last rank to rank 0.
 */
static inline uint64_t tree_before_wrap(const struct tree_place *t, uint64_t v, uint64_t n)
{
	uint64_t wrap = t->size - t->root; /* the number of rank 0 */

	return v < wrap && v + n > wrap ? wrap - v : n;
}

/*
 * bcast.c: spread RECV over the tree. When @ready has finished the root's data are there, and
 * elsewhere RECV may be overwritten.
 */
void bcast_binomial(struct draft *d, const struct goal_comm *c, uint32_t root, uint64_t bytes,
		    int64_t ready, uint32_t tag);

#endif /* GOAL_COLLECTIVES_TREE_H */
