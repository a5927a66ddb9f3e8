/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reducing what many peers send, one after another in rank order. Called by the reductions of this
 * directory. A reduction is dst = src op dst, so the chain starts with the highest rank:
 * x0 op (x1 op (... op x(n - 1))).
 */
#include "fold.h"

/* Places for vectors that wait for their turn; a peer's place is used again after its reduction. */
#define FOLD_SLOTS 8

int64_t fold_linear(struct draft *d, const struct vector *v, uint32_t n, uint32_t self,
		    struct place own, struct place acc, uint32_t tag)
{
	uint64_t bytes = vector_bytes(v), stride = (bytes + 63) / 64 * 64, used = 0;
	int64_t busy[FOLD_SLOTS], last;
	uint32_t others = self < n ? n - 1 : n;
	struct place slots = { 0 };

	if (n - 1 == self) {
		last = draft_copy(d, acc, own, bytes);
	} else {
		last = draft_recv(d, acc, bytes, n - 1, tag);
		others--;
	}
	if (others)
		slots = draft_scratch(d, stride * (others < FOLD_SLOTS ? others : FOLD_SLOTS));
	for (uint32_t r = n - 1; r-- > 0 && !d->err;) {
		struct place x = own;
		int64_t recv = DRAFT_NONE, reduce;

		if (r != self) {
			x = place_add(slots, used % FOLD_SLOTS * stride);
			recv = draft_recv(d, x, bytes, r, tag);
			if (used >= FOLD_SLOTS)
				draft_after(d, recv, busy[used % FOLD_SLOTS]);
		}
		reduce = draft_reduce(d, acc, x, v->count, v->how);
		draft_after(d, reduce, recv);
		draft_after(d, reduce, last);
		last = reduce;
		if (r != self)
			busy[used++ % FOLD_SLOTS] = reduce;
	}
	return last;
}

/*
 * Everybody sends to the other group's rank 0. That reduces for its own group, which it reaches
 * by way of the other rank 0, since no rank can talk to its own group.
 */
int64_t fold_inter(struct draft *d, const struct goal_comm *c, const struct vector *v,
		   struct place acc)
{
	uint64_t bytes = vector_bytes(v);
	struct place relay;
	int64_t done, recv;

	draft_send(d, at(GOAL_BUF_SEND, 0), bytes, 0, 0);
	if (c->rank)
		return draft_recv(d, acc, bytes, 0, 2);
	done = fold_linear(d, v, c->remote_size, c->remote_size, acc, acc, 0);
	if (c->size > 1)
		draft_after(d, draft_send(d, acc, bytes, 0, 1), done);
	if (c->remote_size > 1) {
		relay = draft_scratch(d, bytes);
		recv = draft_recv(d, relay, bytes, 0, 1);
		for (uint32_t r = 1; r < c->remote_size && !d->err; r++)
			draft_after(d, draft_send(d, relay, bytes, r, 2), recv);
	}
	return done;
}
