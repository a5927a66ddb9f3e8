/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reduce.
 *
 * linear: everybody sends to the root, which reduces in rank order (fold.c); the only way between
 * groups.
 * binomial: each rank reduces its subtree's vectors, which stand for a contiguous range of
 * ranks, in their order (tree.h). Ranks are counted from the root when the operation
 * commutes; else from rank 0, which passes the result on to the root.
 *
 * The order of operands depends on the communicator's size and the root only: the same bits from
 * run to run.
 */
#include "fold.h"
#include "tree.h"

static int64_t reduce_binomial(struct draft *d, const struct goal_comm *c, const struct vector *v,
			       uint32_t root, struct place own, struct place acc)
{
	struct tree_place t = tree_place_of(c->rank, c->size, v->how->commutative ? root : 0);
	uint64_t bytes = vector_bytes(v);
	struct place part[32], sum = own;
	int64_t recv[32], done = DRAFT_NONE, send;
	uint32_t n = 0;
	bool here = t.v == 0 && c->rank == root;

	/* The last child's vector is the right operand of all that follows, down to our own. */
	for (uint64_t m = 1; m < t.span && tree_has_child(&t, m); m *= 2) {
		bool last = m * 2 >= t.span || !tree_has_child(&t, m * 2);

		part[n] = last && here ? acc : draft_scratch(d, bytes);
		recv[n] = draft_recv(d, part[n], bytes, tree_child(&t, m), 0);
		n++;
	}
	if (n) {
		sum = part[n - 1];
		done = recv[n - 1];
	} else if (here) {
		done = draft_copy(d, acc, own, bytes);
	}
	for (uint32_t i = n; i-- > 0;) {
		int64_t reduce = draft_reduce(d, sum, i ? part[i - 1] : own, v->count, v->how);

		draft_after(d, reduce, done);
		draft_after(d, reduce, i ? recv[i - 1] : DRAFT_NONE);
		done = reduce;
	}
	if (t.v || !here) {
		send = draft_send(d, sum, bytes, t.v ? tree_parent(&t) : root, t.v ? 0 : 1);
		draft_after(d, send, done);
		done = send;
	}
	if (c->rank == root && !here) {
		int64_t result = draft_recv(d, acc, bytes, 0, 1);

		draft_after(d, result, done);
		done = result;
	}
	return done;
}

int64_t reduce_to(struct draft *d, const struct goal_comm *c, enum goal_algorithm alg,
		  uint32_t root, const struct vector *v, struct place own, struct place acc)
{
	bool aside = c->rank == root && place_same(own, acc) && c->size > 1;
	/* In place the own vector is needed last, so the sum grows elsewhere. */
	struct place sum = aside ? draft_scratch(d, vector_bytes(v)) : acc;
	int64_t done, copy;

	if (alg != GOAL_ALG_LINEAR)
		done = reduce_binomial(d, c, v, root, own, sum);
	else if (c->rank == root)
		done = fold_linear(d, v, c->size, c->rank, own, sum, 0);
	else
		done = draft_send(d, own, vector_bytes(v), root, 0);
	if (!aside)
		return done;
	copy = draft_copy(d, acc, sum, vector_bytes(v));
	draft_after(d, copy, done);
	return copy;
}

static void reduce_inter(struct draft *d, const struct goal_comm *c, int64_t root,
			 const struct vector *v)
{
	if (root == GOAL_ROOT_HERE)
		fold_linear(d, v, c->remote_size, c->remote_size, at(GOAL_BUF_RECV, 0),
			    at(GOAL_BUF_RECV, 0), 0);
	else
		draft_send(d, at(GOAL_BUF_SEND, 0), vector_bytes(v), (uint32_t)root, 0);
}

int goal_reduce_to(const struct goal_comm *c, enum goal_algorithm alg, int64_t root, uint64_t count,
		   const struct goal_reduction *how, bool in_place, struct goal_graph **graph)
{
	struct vector v = { .count = count, .how = how };
	struct place own = at(in_place ? GOAL_BUF_RECV : GOAL_BUF_SEND, 0);
	struct draft d;
	uint32_t ntags;
	int err;

	err = draft_begin(&d, c, GOAL_REDUCE, alg);
	if (err)
		return err;
	draft_check_root(&d, c, root);
	draft_check_in_place(&d, c, in_place, root == c->rank);
	draft_check_reduction(&d, how, count);
	if (alg == GOAL_ALG_AUTO)
		alg = c->remote_size ? GOAL_ALG_LINEAR : GOAL_ALG_BINOMIAL;
	ntags = alg == GOAL_ALG_BINOMIAL ? 2 : 1;
	if (d.err || count == 0 || root == GOAL_ROOT_NONE)
		return draft_end(&d, ntags, graph);
	if (c->remote_size)
		reduce_inter(&d, c, root, &v);
	else
		reduce_to(&d, c, alg, (uint32_t)root, &v, own, at(GOAL_BUF_RECV, 0));
	return draft_end(&d, ntags, graph);
}
