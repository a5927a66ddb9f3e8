/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Broadcast.
 *
 * binomial: Vuillemin's tree, 1978, on ranks counted from the root; the largest subtree, which
 * has the longest way to go, is served first.
 * linear: the root sends to everybody; the only way between groups.
 */
#include "draft.h"
#include "tree.h"

/* At most this many ranks hear from the root directly: a tree would be no shorter. */
#define BCAST_LINEAR_SIZE 3

static void bcast_linear(struct draft *d, const struct goal_comm *c, int64_t root, uint64_t bytes)
{
	bool here = c->remote_size ? root == GOAL_ROOT_HERE : root == c->rank;

	if (!here) {
		draft_recv(d, at(GOAL_BUF_RECV, 0), bytes, (uint32_t)root, 0);
		return;
	}
	for (uint32_t r = 0; r < comm_peers(c); r++)
		if (c->remote_size || r != c->rank)
			draft_send(d, at(GOAL_BUF_RECV, 0), bytes, r, 0);
}

void bcast_binomial(struct draft *d, const struct goal_comm *c, uint32_t root, uint64_t bytes,
		    int64_t ready, uint32_t tag)
{
	struct tree_place t = tree_place_of(c->rank, c->size, root);

	if (t.v) {
		int64_t recv = draft_recv(d, at(GOAL_BUF_RECV, 0), bytes, tree_parent(&t), tag);

		draft_after(d, recv, ready);
		ready = recv;
	}
	for (uint64_t m = t.span / 2; m; m /= 2) {
		if (!tree_has_child(&t, m))
			continue;
		draft_after(d, draft_send(d, at(GOAL_BUF_RECV, 0), bytes, tree_child(&t, m), tag),
			    ready);
	}
}

int goal_bcast(const struct goal_comm *c, enum goal_algorithm alg, int64_t root, uint64_t bytes,
	       struct goal_graph **graph)
{
	struct draft d;
	int err;

	err = draft_begin(&d, c, GOAL_BCAST, alg);
	if (err)
		return err;
	draft_check_root(&d, c, root);
	draft_check_bytes(&d, bytes, 1);
	if (alg == GOAL_ALG_AUTO)
		alg = c->remote_size || c->size <= BCAST_LINEAR_SIZE ? GOAL_ALG_LINEAR
								     : GOAL_ALG_BINOMIAL;
	if (d.err || bytes == 0 || root == GOAL_ROOT_NONE)
		return draft_end(&d, 1, graph);
	if (alg == GOAL_ALG_LINEAR)
		bcast_linear(&d, c, root, bytes);
	else
		bcast_binomial(&d, c, (uint32_t)root, bytes, DRAFT_NONE, 0);
	return draft_end(&d, 1, graph);
}
