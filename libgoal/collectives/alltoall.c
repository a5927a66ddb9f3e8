/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Alltoall. Short blocks between many ranks go by Bruck's algorithm (alltoall_bruck.c), all else
 * straight: everybody sends to everybody, all at once. In place, blocks that come
 * wait in scratch until those that they replace have left; an exchange of two blocks through
 * the one buffer would have each side wait for the other.
 */
#include "alltoall.h"

/* Rounds of packing pay where a message costs more than copying its block log P times. */
#define ALLTOALL_BRUCK_BYTES 256
#define ALLTOALL_BRUCK_SIZE  16

static void alltoall_linear(struct draft *d, const struct goal_comm *c, uint64_t send_bytes,
			    uint64_t recv_bytes, bool in_place)
{
	uint32_t src = in_place ? GOAL_BUF_RECV : GOAL_BUF_SEND;
	struct alltoall a = { .peers = comm_peers(c), .in_place = in_place };
	uint32_t n = a.peers;

	/* Everybody starts elsewhere, so that not all send to the same rank at a time. */
	for (uint64_t i = c->remote_size ? 0 : 1; i < n && send_bytes; i++) {
		uint32_t peer = (uint32_t)((c->rank + i) % n);

		alltoall_send(d, &a, at(src, peer * send_bytes), send_bytes, peer);
	}
	for (uint64_t i = c->remote_size ? 0 : 1; i < n && recv_bytes; i++) {
		uint32_t peer = (uint32_t)((c->rank % n + n - i) % n);

		alltoall_recv(d, &a, at(GOAL_BUF_RECV, peer * recv_bytes), recv_bytes, peer);
	}
	if (!c->remote_size)
		draft_copy(d, at(GOAL_BUF_RECV, c->rank * recv_bytes),
			   at(src, c->rank * send_bytes), send_bytes);
	alltoall_end(&a);
}

int goal_alltoall(const struct goal_comm *c, enum goal_algorithm alg, uint64_t send_bytes,
		  uint64_t recv_bytes, bool in_place, struct goal_graph **graph)
{
	struct draft d;
	int err;

	err = draft_begin(&d, c, GOAL_ALLTOALL, alg);
	if (err)
		return err;
	draft_check_in_place(&d, c, in_place, true);
	draft_check_bytes(&d, send_bytes, comm_peers(c));
	draft_check_bytes(&d, recv_bytes, comm_peers(c));
	if (!c->remote_size && send_bytes != recv_bytes)
		draft_fail(&d, -EINVAL);
	if (alg == GOAL_ALG_AUTO)
		alg = !c->remote_size && c->size > ALLTOALL_BRUCK_SIZE &&
				      send_bytes <= ALLTOALL_BRUCK_BYTES
			      ? GOAL_ALG_BRUCK
			      : GOAL_ALG_LINEAR;
	if (d.err || (send_bytes == 0 && recv_bytes == 0))
		return draft_end(&d, 1, graph);
	if (alg == GOAL_ALG_BRUCK)
		alltoall_bruck(&d, c, send_bytes, in_place);
	else
		alltoall_linear(&d, c, send_bytes, recv_bytes, in_place);
	return draft_end(&d, 1, graph);
}
