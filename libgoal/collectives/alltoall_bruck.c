/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Alltoall by Bruck, Ho, Kipnis, Upfal, Weathersby, "Efficient algorithms for all-to-all
 * communications in multiport message-passing systems", 1997, for any number of ranks: log P
 * messages of P / 2 blocks each. Blocks stand by the distance they have to go; in round k all
 * those whose distance has bit k set move on by 2^k. They lie in runs of 2^k, so that packing
 * takes about P copies over all rounds. Called by alltoall.c.
 */
#include "alltoall.h"

/* Blocks with bit @dist set among 0 .. size - 1. */
static uint64_t moving(uint32_t size, uint64_t dist)
{
	uint64_t rest = size % (2 * dist);

	return size / (2 * dist) * dist + (rest > dist ? rest - dist : 0);
}

/* Length of the run of moving blocks that starts at @i. */
static uint64_t run_at(uint32_t size, uint64_t i, uint64_t dist)
{
	return i + dist <= size ? dist : size - i;
}

/* One round; what comes after it waits for the result. */
static int64_t bruck_round(struct draft *d, const struct goal_comm *c, uint64_t bytes,
			   struct place blocks, uint64_t dist, int64_t ready)
{
	uint64_t total = moving(c->size, dist) * bytes, place = 0, n = 0;
	struct place out = draft_scratch(d, total), in = draft_scratch(d, total);
	uint32_t to = (uint32_t)((c->rank + dist) % c->size);
	uint32_t from = (uint32_t)((c->rank + c->size - dist) % c->size);
	int64_t first = DRAFT_NONE, packed, recv;

	for (uint64_t i = dist; i < c->size && !d->err; i += 2 * dist) {
		uint64_t len = run_at(c->size, i, dist) * bytes;
		int64_t pack =
			draft_copy(d, place_add(out, place), place_add(blocks, i * bytes), len);

		draft_after(d, pack, ready);
		first = n++ ? first : pack;
		place += len;
	}
	packed = draft_join(d, first, n);
	draft_after(d, draft_send(d, out, total, to, 0), packed);
	recv = draft_recv(d, in, total, from, 0);
	place = n = 0;
	for (uint64_t i = dist; i < c->size && !d->err; i += 2 * dist) {
		uint64_t len = run_at(c->size, i, dist) * bytes;
		int64_t unpack =
			draft_copy(d, place_add(blocks, i * bytes), place_add(in, place), len);

		draft_after(d, unpack, packed);
		draft_after(d, unpack, recv);
		first = n++ ? first : unpack;
		place += len;
	}
	return draft_join(d, first, n);
}

void alltoall_bruck(struct draft *d, const struct goal_comm *c, uint64_t bytes, bool in_place)
{
	uint32_t src = in_place ? GOAL_BUF_RECV : GOAL_BUF_SEND;
	uint64_t upper = c->size - c->rank;
	struct place blocks = draft_scratch(d, c->size * bytes);
	int64_t ready;

	/* Block i is the one for the rank i above this one. */
	ready = draft_copy(d, blocks, at(src, c->rank * bytes), upper * bytes);
	if (c->rank) {
		draft_copy(d, place_add(blocks, upper * bytes), at(src, 0), c->rank * bytes);
		ready = draft_join(d, ready, 2);
	}
	for (uint64_t dist = 1; dist < c->size; dist *= 2)
		ready = bruck_round(d, c, bytes, blocks, dist, ready);
	/* Now it is the one from the rank i below. */
	for (uint64_t i = 0; i < c->size && !d->err; i++) {
		uint64_t from = (c->rank + c->size - i) % c->size;

		draft_after(d,
			    draft_copy(d, at(GOAL_BUF_RECV, from * bytes),
				       place_add(blocks, i * bytes), bytes),
			    ready);
	}
}
