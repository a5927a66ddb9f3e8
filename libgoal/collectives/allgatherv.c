/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Allgather of blocks of different sizes: everybody sends its block to everybody. Blocks of no
 * bytes are sent too, since their receivers may believe that there are some. But where no rank of
 * a group has any there are no messages at all: everybody knows, and MPI libraries need
 * not even call.
 */
#include "draft.h"

static bool nothing(const struct goal_comm *c, const struct goal_blocks *recv)
{
	for (uint32_t r = 0; r < c->size; r++)
		if (recv->bytes[r])
			return false;
	return true;
}

int goal_allgatherv(const struct goal_comm *c, enum goal_algorithm alg, uint64_t send_bytes,
		    const struct goal_blocks *recv, bool in_place, struct goal_graph **graph)
{
	struct window w = { .n = 0 };
	struct place own = at(GOAL_BUF_SEND, 0);
	struct draft d;
	uint32_t n;
	int err;

	err = draft_begin(&d, c, GOAL_ALLGATHERV, alg);
	if (err)
		return err;
	draft_check_in_place(&d, c, in_place, true);
	if (!recv)
		draft_fail(&d, -EINVAL);
	if (d.err || (!c->remote_size && nothing(c, recv)))
		return draft_end(&d, 1, graph);
	n = comm_peers(c);
	if (in_place) {
		own = at(GOAL_BUF_RECV, recv->off[c->rank]);
		send_bytes = recv->bytes[c->rank];
	}
	for (uint64_t i = c->remote_size ? 0 : 1; i < n; i++)
		draft_send(&d, own, send_bytes, (uint32_t)((c->rank + i) % n), 0);
	for (uint64_t i = c->remote_size ? 0 : 1; i < n; i++) {
		uint32_t peer = (uint32_t)((c->rank % n + n - i) % n);

		window_add(&d, &w,
			   draft_recv(&d, at(GOAL_BUF_RECV, recv->off[peer]), recv->bytes[peer],
				      peer, 0),
			   recv->bytes[peer]);
	}
	if (!c->remote_size)
		draft_copy_block(&d, at(GOAL_BUF_RECV, recv->off[c->rank]), recv->bytes[c->rank],
				 own, send_bytes);
	return draft_end(&d, 1, graph);
}
