/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Scan by doubling (Kogge, Stone, "A parallel algorithm for the efficient solution of a general
 * class of recurrence equations", 1973; Hillis, Steele, "Data parallel algorithms", 1986): in
 * round k a rank knows the reduction of the up to 2^k ranks that end with it, and passes it
 * to the rank 2^k above. Any size, in rank order, log P rounds.
 */
#include "scan.h"

void scan_doubling(struct draft *d, const struct goal_comm *c, uint32_t base,
		   const struct vector *v, struct place own, int64_t ready, uint32_t tag)
{
	struct place sum = at(GOAL_BUF_RECV, 0);
	uint64_t bytes = vector_bytes(v), me = c->rank - base, n = c->size - base;
	int64_t copy = draft_copy(d, sum, own, bytes);

	for (uint64_t dist = 1; dist < n; dist *= 2) {
		/* the first send need not wait for the copy, nor the sum for that send */
		bool direct = dist == 1 && !place_same(own, sum);
		int64_t send = DRAFT_NONE, recv, reduce;
		struct place x;

		if (me + dist < n) {
			send = draft_send(d, direct ? own : sum, bytes, (uint32_t)(c->rank + dist),
					  tag);
			draft_after(d, send, direct ? DRAFT_NONE : ready);
		}
		if (direct) {
			send = DRAFT_NONE;
			ready = copy;
		}
		if (me < dist)
			continue;
		x = draft_scratch(d, bytes);
		recv = draft_recv(d, x, bytes, (uint32_t)(c->rank - dist), tag);
		reduce = draft_reduce(d, sum, x, v->count, v->how);
		draft_after(d, reduce, recv);
		draft_after(d, reduce, ready);
		draft_after(d, reduce, send);
		ready = reduce;
	}
}

int goal_scan(const struct goal_comm *c, enum goal_algorithm alg, uint64_t count,
	      const struct goal_reduction *how, bool in_place, struct goal_graph **graph)
{
	struct vector v = { .count = count, .how = how };
	struct draft d;
	int err;

	err = draft_begin(&d, c, GOAL_SCAN, alg);
	if (err)
		return err;
	draft_check_reduction(&d, how, count);
	if (!d.err && count)
		scan_doubling(&d, c, 0, &v, at(in_place ? GOAL_BUF_RECV : GOAL_BUF_SEND, 0),
			      DRAFT_NONE, 0);
	return draft_end(&d, 1, graph);
}
