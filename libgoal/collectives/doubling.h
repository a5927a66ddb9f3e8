/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Recursive doubling for any number of ranks (Thakur, Rabenseifner, Gropp, "Optimization of
 * Collective Communication Operations in MPICH", 2005, section 4.4): the excess over a power of
 * two folds in beforehand and out afterwards. Of the first 2 * excess ranks each odd one folds
 * into the even one below it, so every active rank, and every group that forms on the
 * way, stands for a contiguous range of ranks. Internal to libgoal/collectives.
 */
#ifndef GOAL_COLLECTIVES_DOUBLING_H
#define GOAL_COLLECTIVES_DOUBLING_H

#include <stdbool.h>
#include <stdint.h>

struct doubling {
	uint32_t pow2;   /* active ranks */
	uint32_t excess; /* the others */
	uint32_t v;      /* this rank's number among the active ones */
	bool active;
	bool paired; /* folds, or somebody folds into it; the other one is rank ^ 1 */
};

/* The rank of active rank @v, also the first rank that it stands for. */
static inline uint32_t doubling_rank(const struct doubling *d, uint32_t v)
{
	return v < d->excess ? 2 * v : v + d->excess;
}

static inline struct doubling doubling_of(uint32_t rank, uint32_t size)
{
	struct doubling d = { .pow2 = 1 };

	while (d.pow2 <= size / 2)
		d.pow2 *= 2;
	d.excess = size - d.pow2;
	d.paired = rank < 2 * (uint64_t)d.excess;
	d.active = !d.paired || rank % 2 == 0;
	d.v = d.paired ? rank / 2 : rank - d.excess;
	return d;
}

#endif /* GOAL_COLLECTIVES_DOUBLING_H */
