/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Allreduce.
 *
 * recursive doubling: any size, see doubling.h. The two sides of an exchange stand for
 * adjacent ranges of ranks and both compute lower op upper, so the operation need not
 * commute and every rank gets the same bits.
 * linear, binomial: reduce to rank 0 that way (fold.h), then broadcast over a binomial tree.
 * Between groups: fold_inter().
 */
#include "doubling.h"
#include "fold.h"
#include "tree.h"

/* The vector that grows, on its way from the user's data to GOAL_BUF_RECV. */
struct sum {
	struct place at;
	int64_t ready;     /* what wrote it */
	int64_t sent;      /* the last send from where it is */
	int64_t recv_sent; /* the last send from GOAL_BUF_RECV */
	uint32_t below;    /* steps to come in which it moves to where the upper range is */
	bool in_place;
};

static bool sum_in(const struct sum *s, uint32_t buf)
{
	return s->at.buf == buf;
}

static void sum_send(struct draft *d, struct sum *s, uint64_t bytes, uint32_t peer)
{
	s->sent = draft_send(d, s->at, bytes, peer, 0);
	draft_after(d, s->sent, s->ready);
	if (sum_in(s, GOAL_BUF_RECV))
		s->recv_sent = s->sent;
}

/* @peer's range is above ours: receive it, x = sum op x, and go on with x. */
static void sum_below(struct draft *d, struct sum *s, const struct vector *v, uint32_t peer)
{
	struct place x = at(GOAL_BUF_RECV, 0);
	int64_t recv, reduce;

	if (--s->below || s->in_place)
		x = draft_scratch(d, vector_bytes(v));
	recv = draft_recv(d, x, vector_bytes(v), peer, 0);
	reduce = draft_reduce(d, x, s->at, v->count, v->how);
	draft_after(d, reduce, recv);
	draft_after(d, reduce, s->ready);
	s->at = x;
	s->ready = reduce;
	s->sent = DRAFT_NONE;
}

/* @peer's range is below ours: receive it, sum = x op sum, once what was sent has left. */
static void sum_above(struct draft *d, struct sum *s, const struct vector *v, uint32_t peer)
{
	struct place x = draft_scratch(d, vector_bytes(v)), to;
	int64_t recv, reduce;

	if (sum_in(s, GOAL_BUF_SEND)) {
		to = s->below ? draft_scratch(d, vector_bytes(v)) : at(GOAL_BUF_RECV, 0);
		s->ready = draft_copy(d, to, s->at, vector_bytes(v));
		s->at = to;
		s->sent = DRAFT_NONE;
	}
	recv = draft_recv(d, x, vector_bytes(v), peer, 0);
	reduce = draft_reduce(d, s->at, x, v->count, v->how);
	draft_after(d, reduce, recv);
	draft_after(d, reduce, s->ready);
	draft_after(d, reduce, s->sent);
	s->ready = reduce;
}

static void allreduce_doubling(struct draft *d, const struct goal_comm *c, const struct vector *v,
			       bool in_place)
{
	struct doubling r = doubling_of(c->rank, c->size);
	struct place own = at(in_place ? GOAL_BUF_RECV : GOAL_BUF_SEND, 0);
	struct place result = at(GOAL_BUF_RECV, 0);
	struct sum s = { .at = own, .in_place = in_place, .below = r.paired };
	uint64_t bytes = vector_bytes(v);
	int64_t copy;

	s.ready = s.sent = s.recv_sent = DRAFT_NONE;
	if (!r.active) {
		sum_send(d, &s, bytes, c->rank - 1);
		draft_after(d, draft_recv(d, result, bytes, c->rank - 1, 0), s.recv_sent);
		return;
	}
	for (uint32_t mask = 1; mask < r.pow2; mask *= 2)
		s.below += !(r.v & mask);
	if (r.paired)
		sum_below(d, &s, v, c->rank + 1);
	for (uint32_t mask = 1; mask < r.pow2; mask *= 2) {
		uint32_t peer = doubling_rank(&r, r.v ^ mask);

		sum_send(d, &s, bytes, peer);
		if (r.v & mask)
			sum_above(d, &s, v, peer);
		else
			sum_below(d, &s, v, peer);
	}
	if (r.paired)
		sum_send(d, &s, bytes, c->rank + 1);
	copy = draft_copy(d, result, s.at, bytes);
	draft_after(d, copy, s.ready);
	draft_after(d, copy, s.recv_sent);
}

static void allreduce_tree(struct draft *d, const struct goal_comm *c, enum goal_algorithm alg,
			   const struct vector *v, bool in_place)
{
	struct place own = at(in_place ? GOAL_BUF_RECV : GOAL_BUF_SEND, 0);
	struct place result = at(GOAL_BUF_RECV, 0);
	int64_t done = reduce_to(d, c, alg, 0, v, own, result);

	/* in place, a result must not come before the own vector has left */
	if (c->rank && !in_place)
		done = DRAFT_NONE;
	bcast_binomial(d, c, 0, vector_bytes(v), done, 2);
}

int goal_allreduce(const struct goal_comm *c, enum goal_algorithm alg, uint64_t count,
		   const struct goal_reduction *how, bool in_place, struct goal_graph **graph)
{
	struct vector v = { .count = count, .how = how };
	struct draft d;
	uint32_t ntags;
	int err;

	err = draft_begin(&d, c, GOAL_ALLREDUCE, alg);
	if (err)
		return err;
	draft_check_in_place(&d, c, in_place, true);
	draft_check_reduction(&d, how, count);
	if (alg == GOAL_ALG_AUTO && !c->remote_size)
		alg = GOAL_ALG_RECURSIVE_DOUBLING;
	ntags = alg == GOAL_ALG_RECURSIVE_DOUBLING ? 1 : 3;
	if (d.err || count == 0)
		return draft_end(&d, ntags, graph);
	if (c->remote_size)
		fold_inter(&d, c, &v, at(GOAL_BUF_RECV, 0));
	else if (alg == GOAL_ALG_RECURSIVE_DOUBLING)
		allreduce_doubling(&d, c, &v, in_place);
	else
		allreduce_tree(&d, c, alg, &v, in_place);
	return draft_end(&d, ntags, graph);
}
