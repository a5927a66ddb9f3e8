/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Scatter of blocks whose sizes only the root knows: the root sends to everybody, also blocks of
 * no bytes, since their receivers may believe that there are some.
 */
#include "draft.h"

int goal_scatterv(const struct goal_comm *c, enum goal_algorithm alg, int64_t root, uint64_t bytes,
		  const struct goal_blocks *blocks, bool in_place, struct goal_graph **graph)
{
	struct draft d;
	bool here;
	int err;

	err = draft_begin(&d, c, GOAL_SCATTERV, alg);
	if (err)
		return err;
	draft_check_root(&d, c, root);
	draft_check_in_place(&d, c, in_place, root == c->rank);
	if (d.err || root == GOAL_ROOT_NONE)
		return draft_end(&d, 1, graph);
	here = c->remote_size ? root == GOAL_ROOT_HERE : root == c->rank;
	if (!here) {
		draft_recv(&d, at(GOAL_BUF_RECV, 0), bytes, (uint32_t)root, 0);
		return draft_end(&d, 1, graph);
	}
	if (!blocks)
		draft_fail(&d, -EINVAL);
	for (uint32_t r = 0; r < comm_peers(c) && !d.err; r++)
		if (c->remote_size || r != c->rank)
			draft_send(&d, at(GOAL_BUF_SEND, blocks->off[r]), blocks->bytes[r], r, 0);
	if (!c->remote_size && !in_place && !d.err)
		draft_copy_block(&d, at(GOAL_BUF_RECV, 0), bytes,
				 at(GOAL_BUF_SEND, blocks->off[c->rank]), blocks->bytes[c->rank]);
	return draft_end(&d, 1, graph);
}
