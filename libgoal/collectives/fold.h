/* SPDX-License-Identifier: BSD-3-Clause */
/* Reductions as parts of other collectives. Internal to libgoal/collectives. */
#ifndef GOAL_COLLECTIVES_FOLD_H
#define GOAL_COLLECTIVES_FOLD_H

#include "draft.h"

/* Elements to reduce, and how. */
struct vector {
	uint64_t count;
	const struct goal_reduction *how;
};

static inline uint64_t vector_bytes(const struct vector *v)
{
	return v->count * v->how->size;
}

/*
 * fold.c: @acc = x0 op x1 op ... op x(n - 1), strictly in rank order, where x(i) comes from peer i
 * with @tag, but stands at @own (not changed) for i == @self. No self: self >= n. @acc and @own
 * differ. The operation that finishes it.
 */
int64_t fold_linear(struct draft *d, const struct vector *v, uint32_t n, uint32_t self,
		    struct place own, struct place acc, uint32_t tag);
/*
 * reduce.c: every rank's @own, reduced to @root's @acc by linear or binomial; @own may be @acc
 * (in place). Takes two tags from 0. What finishes the result at the root; elsewhere what has to
 * finish before @own may change.
 */
int64_t reduce_to(struct draft *d, const struct goal_comm *c, enum goal_algorithm alg,
		  uint32_t root, const struct vector *v, struct place own, struct place acc);
/*
 * fold.c: between groups: every rank's @acc becomes the reduction of the remote group's SEND, the
 * same bits for all. Takes three tags from 0. The operation that finishes it.
 */
int64_t fold_inter(struct draft *d, const struct goal_comm *c, const struct vector *v,
		   struct place acc);

#endif /* GOAL_COLLECTIVES_FOLD_H */
