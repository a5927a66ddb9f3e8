/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Gather.
 *
 * linear: everybody sends to the root, which takes long blocks in its own order, a bounded
 * number at a time, since the root is where messages pile up.
 * binomial: subtrees are collected in scratch on the way (tree.h). Ranks are counted from
 * the root, so that a subtree is a range of blocks that may wrap around at the last rank. It
 * is sent to the root in two pieces then, each to its final place.
 */
#include "draft.h"
#include "tree.h"

/* The root takes messages from so many ranks faster than a tree could bring them. */
#define GATHER_LINEAR_SIZE 64
/* Blocks above this are not worth copying on the way. */
#define GATHER_TREE_BYTES 4096

static void gather_linear(struct draft *d, const struct goal_comm *c, int64_t root, uint64_t bytes,
			  bool in_place)
{
	bool here = c->remote_size ? root == GOAL_ROOT_HERE : root == c->rank;
	struct window w = { .n = 0 };

	if (!here) {
		draft_send(d, at(GOAL_BUF_SEND, 0), bytes, (uint32_t)root, 0);
		return;
	}
	for (uint32_t r = 0; r < comm_peers(c); r++)
		if (c->remote_size || r != c->rank)
			window_add(d, &w, draft_recv(d, at(GOAL_BUF_RECV, r * bytes), bytes, r, 0),
				   bytes);
	if (!c->remote_size && !in_place)
		draft_copy(d, at(GOAL_BUF_RECV, c->rank * bytes), at(GOAL_BUF_SEND, 0), bytes);
}

static void gather_binomial(struct draft *d, const struct goal_comm *c, uint32_t root,
			    uint64_t bytes, bool in_place)
{
	struct tree_place t = tree_place_of(c->rank, c->size, root);
	uint64_t n = tree_ranks(&t, t.v, t.span);
	uint64_t first = tree_before_wrap(&t, t.v, n);
	struct place own = at(GOAL_BUF_SEND, 0);
	int64_t ready[33]; /* one receive for each power of two, and the copy */
	uint32_t nready = 0;
	bool to_root = t.v == t.span;

	if (t.v == 0) {
		for (uint64_t m = 1; m < t.span; m *= 2) {
			uint64_t child = tree_ranks(&t, m, m);
			uint64_t part = tree_before_wrap(&t, m, child);

			draft_recv(d, at(GOAL_BUF_RECV, tree_rank(&t, m) * bytes), part * bytes,
				   tree_child(&t, m), 0);
			if (part < child)
				draft_recv(d, at(GOAL_BUF_RECV, 0), (child - part) * bytes,
					   tree_child(&t, m), 1);
		}
		if (!in_place)
			draft_copy(d, at(GOAL_BUF_RECV, c->rank * bytes), own, bytes);
		return;
	}
	if (n > 1) {
		own = draft_scratch(d, n * bytes);
		for (uint64_t m = 1; m < t.span && tree_has_child(&t, m); m *= 2)
			ready[nready++] = draft_recv(d, place_add(own, m * bytes),
						     tree_ranks(&t, t.v + m, m) * bytes,
						     tree_child(&t, m), 0);
		ready[nready++] = draft_copy(d, own, at(GOAL_BUF_SEND, 0), bytes);
	}
	if (!to_root)
		first = n; /* pieces only where the destination is the root's buffer */
	for (uint64_t done = 0; done < n; done += first, first = n - first) {
		int64_t send = draft_send(d, place_add(own, done * bytes),
					  (done ? n - done : first) * bytes, tree_parent(&t),
					  done ? 1 : 0);

		for (uint32_t i = 0; i < nready; i++)
			draft_after(d, send, ready[i]);
	}
}

int goal_gather(const struct goal_comm *c, enum goal_algorithm alg, int64_t root, uint64_t bytes,
		bool in_place, struct goal_graph **graph)
{
	struct draft d;
	uint32_t ntags;
	int err;

	err = draft_begin(&d, c, GOAL_GATHER, alg);
	if (err)
		return err;
	draft_check_root(&d, c, root);
	draft_check_bytes(&d, bytes, comm_peers(c));
	draft_check_in_place(&d, c, in_place, root == c->rank);
	if (alg == GOAL_ALG_AUTO)
		alg = c->remote_size || c->size <= GATHER_LINEAR_SIZE || bytes > GATHER_TREE_BYTES
			      ? GOAL_ALG_LINEAR
			      : GOAL_ALG_BINOMIAL;
	ntags = alg == GOAL_ALG_BINOMIAL ? 2 : 1;
	if (d.err || bytes == 0 || root == GOAL_ROOT_NONE)
		return draft_end(&d, ntags, graph);
	if (alg == GOAL_ALG_LINEAR)
		gather_linear(&d, c, root, bytes, in_place);
	else
		gather_binomial(&d, c, (uint32_t)root, bytes, in_place);
	return draft_end(&d, ntags, graph);
}
