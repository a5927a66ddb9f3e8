/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Allgather.
 *
 * linear: everybody sends its block to everybody; the only way between groups.
 * bruck: Bruck, Ho, Kipnis, Upfal, Weathersby, "Efficient algorithms for all-to-all
 * communications in multiport message-passing systems", 1997: in round k a rank passes the up to
 * 2^k blocks that it has, its own and the following ones, to the rank 2^k below it. Blocks
 * travel between their final places here: what wraps around at the last rank goes as a
 * second message, and nothing is copied or rotated afterwards.
 * recursive doubling: any size, see doubling.h.
 */
#include "doubling.h"
#include "draft.h"

/* Larger blocks go straight, unless there are so many ranks that messages cost more. */
#define ALLGATHER_BRUCK_BYTES 1024
#define ALLGATHER_BRUCK_SIZE  256

static void allgather_linear(struct draft *d, const struct goal_comm *c, uint64_t send_bytes,
			     uint64_t recv_bytes, bool in_place)
{
	struct place own = in_place ? at(GOAL_BUF_RECV, c->rank * recv_bytes)
				    : at(GOAL_BUF_SEND, 0);
	struct window w = { .n = 0 };
	uint32_t n = comm_peers(c);

	/* Everybody starts elsewhere, so that not all send to the same rank at a time. */
	for (uint64_t i = c->remote_size ? 0 : 1; i < n && send_bytes; i++)
		draft_send(d, own, send_bytes, (uint32_t)((c->rank + i) % n), 0);
	for (uint64_t i = c->remote_size ? 0 : 1; i < n && recv_bytes; i++) {
		uint32_t peer = (uint32_t)((c->rank % n + n - i) % n);

		window_add(d, &w,
			   draft_recv(d, at(GOAL_BUF_RECV, peer * recv_bytes), recv_bytes, peer, 0),
			   recv_bytes);
	}
	if (!c->remote_size)
		draft_copy(d, at(GOAL_BUF_RECV, c->rank * recv_bytes), own, recv_bytes);
}

/* The blocks of a round: up to two ranges, each a message with a tag of its own. */
struct ranges {
	uint64_t n[2]; /* to the last rank, and from rank 0 on */
};

/* @n blocks from rank @first on, around the end. */
static struct ranges around(uint64_t first, uint64_t n, uint32_t size)
{
	struct ranges r = { .n = { n, 0 } };

	if (first + n > size) {
		r.n[0] = size - first;
		r.n[1] = n - r.n[0];
	}
	return r;
}

static void allgather_bruck(struct draft *d, const struct goal_comm *c, uint64_t bytes,
			    bool in_place)
{
	struct place own = at(GOAL_BUF_RECV, c->rank * bytes);
	/* What the next round's first send waits for; its second one starts with it. */
	int64_t ready[2] = { DRAFT_NONE, DRAFT_NONE }, started = DRAFT_NONE;

	for (uint64_t dist = 1; dist < c->size; dist *= 2) {
		uint64_t n = dist <= c->size - dist ? dist : c->size - dist;
		uint32_t to = (uint32_t)((c->rank + c->size - dist) % c->size);
		uint32_t from = (uint32_t)((c->rank + dist) % c->size);
		struct ranges out = around(c->rank, n, c->size);
		struct ranges in = around(from, n, c->size);
		/* the first block need not wait for its copy */
		bool direct = dist == 1 && !in_place;

		int64_t send =
			draft_send(d, direct ? at(GOAL_BUF_SEND, 0) : own, out.n[0] * bytes, to, 0);

		draft_after(d, send, ready[0]);
		draft_after(d, send, ready[1]);
		draft_after_start(d, send, started);
		if (out.n[1])
			draft_after_start(
				d, draft_send(d, at(GOAL_BUF_RECV, 0), out.n[1] * bytes, to, 1),
				send);
		started = send;
		ready[0] = draft_recv(d, at(GOAL_BUF_RECV, from * bytes), in.n[0] * bytes, from, 0);
		ready[1] = DRAFT_NONE;
		if (in.n[1])
			ready[1] = draft_recv(d, at(GOAL_BUF_RECV, 0), in.n[1] * bytes, from, 1);
		else if (direct)
			ready[1] = draft_copy(d, own, at(GOAL_BUF_SEND, 0), bytes);
	}
	if (c->size == 1 && !in_place)
		draft_copy(d, own, at(GOAL_BUF_SEND, 0), bytes);
}

/* The place behind the blocks of active ranks below @v. */
static uint64_t doubling_end(const struct doubling *r, uint32_t v, uint32_t size)
{
	return v < r->pow2 ? doubling_rank(r, v) : size;
}

static void allgather_doubling(struct draft *d, const struct goal_comm *c, uint64_t bytes,
			       bool in_place)
{
	struct doubling r = doubling_of(c->rank, c->size);
	struct place own = in_place ? at(GOAL_BUF_RECV, c->rank * bytes) : at(GOAL_BUF_SEND, 0);
	int64_t ready[2] = { DRAFT_NONE, DRAFT_NONE }, started = DRAFT_NONE, send;

	if (!r.active) {
		/* Everything comes back, the own block too: it must have left by then. */
		send = draft_send(d, own, bytes, c->rank - 1, 0);
		draft_after(d, draft_recv(d, at(GOAL_BUF_RECV, 0), c->size * bytes, c->rank - 1, 0),
			    in_place ? send : DRAFT_NONE);
		return;
	}
	ready[0] = draft_copy(d, at(GOAL_BUF_RECV, c->rank * bytes), own, bytes);
	if (r.paired)
		ready[1] = draft_recv(d, at(GOAL_BUF_RECV, (c->rank + 1) * bytes), bytes,
				      c->rank + 1, 0);
	for (uint32_t mask = 1; mask < r.pow2; mask *= 2) {
		uint32_t mine = r.v & ~(mask - 1), other = mine ^ mask;
		uint32_t peer = doubling_rank(&r, r.v ^ mask);
		uint64_t my_first = doubling_rank(&r, mine);
		uint64_t first = doubling_rank(&r, other);
		/* a block that goes alone need not wait for its copy */
		bool direct = mask == 1 && !r.paired;

		send = draft_send(d, direct ? own : at(GOAL_BUF_RECV, my_first * bytes),
				  (doubling_end(&r, mine + mask, c->size) - my_first) * bytes, peer,
				  0);
		if (!direct) {
			draft_after(d, send, ready[0]);
			draft_after(d, send, ready[1]);
		}
		draft_after_start(d, send, started);
		started = send;
		ready[1] = direct ? ready[0] : DRAFT_NONE;
		ready[0] = draft_recv(d, at(GOAL_BUF_RECV, first * bytes),
				      (doubling_end(&r, other + mask, c->size) - first) * bytes,
				      peer, 0);
	}
	if (r.paired) {
		send = draft_send(d, at(GOAL_BUF_RECV, 0), c->size * bytes, c->rank + 1, 0);
		draft_after(d, send, ready[0]);
		draft_after(d, send, ready[1]);
		draft_after_start(d, send, started);
	}
}

int goal_allgather(const struct goal_comm *c, enum goal_algorithm alg, uint64_t send_bytes,
		   uint64_t recv_bytes, bool in_place, struct goal_graph **graph)
{
	struct draft d;
	uint32_t ntags;
	int err;

	err = draft_begin(&d, c, GOAL_ALLGATHER, alg);
	if (err)
		return err;
	draft_check_in_place(&d, c, in_place, true);
	draft_check_bytes(&d, send_bytes, 1);
	draft_check_bytes(&d, recv_bytes, comm_peers(c));
	if (!c->remote_size && send_bytes != recv_bytes)
		draft_fail(&d, -EINVAL);
	if (alg == GOAL_ALG_AUTO)
		alg = !c->remote_size && (recv_bytes <= ALLGATHER_BRUCK_BYTES ||
					  c->size > ALLGATHER_BRUCK_SIZE)
			      ? GOAL_ALG_BRUCK
			      : GOAL_ALG_LINEAR;
	ntags = alg == GOAL_ALG_BRUCK ? 2 : 1;
	if (d.err || (send_bytes == 0 && recv_bytes == 0))
		return draft_end(&d, ntags, graph);
	switch (alg) {
	case GOAL_ALG_BRUCK:
		allgather_bruck(&d, c, recv_bytes, in_place);
		break;
	case GOAL_ALG_RECURSIVE_DOUBLING:
		allgather_doubling(&d, c, recv_bytes, in_place);
		break;
	default:
		allgather_linear(&d, c, send_bytes, recv_bytes, in_place);
		break;
	}
	return draft_end(&d, ntags, graph);
}
