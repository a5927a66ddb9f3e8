/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Scatter, gather's mirror image.
 *
 * linear: the root sends to everybody.
 * binomial: subtrees travel together (tree.h) and are taken apart on the way. A subtree whose
 * blocks wrap around at the last rank leaves the root in two pieces.
 */
#include "draft.h"
#include "tree.h"

#define SCATTER_LINEAR_SIZE 64
#define SCATTER_TREE_BYTES  4096

static void scatter_linear(struct draft *d, const struct goal_comm *c, int64_t root, uint64_t bytes,
			   bool in_place)
{
	bool here = c->remote_size ? root == GOAL_ROOT_HERE : root == c->rank;

	if (!here) {
		draft_recv(d, at(GOAL_BUF_RECV, 0), bytes, (uint32_t)root, 0);
		return;
	}
	for (uint32_t r = 0; r < comm_peers(c); r++)
		if (c->remote_size || r != c->rank)
			draft_send(d, at(GOAL_BUF_SEND, r * bytes), bytes, r, 0);
	if (!c->remote_size && !in_place)
		draft_copy(d, at(GOAL_BUF_RECV, 0), at(GOAL_BUF_SEND, c->rank * bytes), bytes);
}

static void scatter_root(struct draft *d, const struct tree_place *t, uint64_t bytes, bool in_place)
{
	for (uint64_t m = t->span / 2; m; m /= 2) {
		uint64_t n, part;

		if (!tree_has_child(t, m))
			continue;
		n = tree_ranks(t, m, m);
		part = tree_before_wrap(t, m, n);
		draft_send(d, at(GOAL_BUF_SEND, tree_child(t, m) * bytes), part * bytes,
			   tree_child(t, m), 0);
		if (part < n)
			draft_send(d, at(GOAL_BUF_SEND, 0), (n - part) * bytes, tree_child(t, m),
				   1);
	}
	if (!in_place)
		draft_copy(d, at(GOAL_BUF_RECV, 0), at(GOAL_BUF_SEND, t->root * bytes), bytes);
}

static void scatter_binomial(struct draft *d, const struct goal_comm *c, uint32_t root,
			     uint64_t bytes, bool in_place)
{
	struct tree_place t = tree_place_of(c->rank, c->size, root);
	uint64_t n = tree_ranks(&t, t.v, t.span), part = n;
	int64_t ready[2] = { DRAFT_NONE, DRAFT_NONE };
	struct place own = at(GOAL_BUF_RECV, 0);

	if (t.v == 0) {
		scatter_root(d, &t, bytes, in_place);
		return;
	}
	if (n > 1)
		own = draft_scratch(d, n * bytes);
	if (t.v == t.span)
		part = tree_before_wrap(&t, t.v, n);
	ready[0] = draft_recv(d, own, part * bytes, tree_parent(&t), 0);
	if (part < n)
		ready[1] = draft_recv(d, place_add(own, part * bytes), (n - part) * bytes,
				      tree_parent(&t), 1);
	for (uint64_t m = t.span / 2; m; m /= 2) {
		int64_t send;
		uint64_t child;

		if (!tree_has_child(&t, m))
			continue;
		child = tree_ranks(&t, t.v + m, m);
		send = draft_send(d, place_add(own, m * bytes), child * bytes, tree_child(&t, m),
				  0);
		if (m < part)
			draft_after(d, send, ready[0]);
		if (m + child > part)
			draft_after(d, send, ready[1]);
	}
	if (n > 1)
		draft_after(d, draft_copy(d, at(GOAL_BUF_RECV, 0), own, bytes), ready[0]);
}

int goal_scatter(const struct goal_comm *c, enum goal_algorithm alg, int64_t root, uint64_t bytes,
		 bool in_place, struct goal_graph **graph)
{
	struct draft d;
	uint32_t ntags;
	int err;

	err = draft_begin(&d, c, GOAL_SCATTER, alg);
	if (err)
		return err;
	draft_check_root(&d, c, root);
	draft_check_bytes(&d, bytes, comm_peers(c));
	draft_check_in_place(&d, c, in_place, root == c->rank);
	if (alg == GOAL_ALG_AUTO)
		alg = c->remote_size || c->size <= SCATTER_LINEAR_SIZE || bytes > SCATTER_TREE_BYTES
			      ? GOAL_ALG_LINEAR
			      : GOAL_ALG_BINOMIAL;
	ntags = alg == GOAL_ALG_BINOMIAL ? 2 : 1;
	if (d.err || bytes == 0 || root == GOAL_ROOT_NONE)
		return draft_end(&d, ntags, graph);
	if (alg == GOAL_ALG_LINEAR)
		scatter_linear(&d, c, root, bytes, in_place);
	else
		scatter_binomial(&d, c, (uint32_t)root, bytes, in_place);
	return draft_end(&d, ntags, graph);
}
