/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Alltoall of blocks of different sizes at arbitrary places (also alltoallw: a schedule knows
 * bytes only), and the straight exchange that alltoall.c uses too. Both ends of a
 * message know its size, so that blocks of no bytes need none.
 */
#include <stdlib.h>

#include "alltoall.h"

void alltoall_send(struct draft *d, struct alltoall *a, struct place src, uint64_t bytes,
		   uint32_t peer)
{
	int64_t send = draft_send(d, src, bytes, peer, 0);

	if (!a->in_place || d->err)
		return;
	if (!a->sent) {
		a->sent = malloc(a->peers * sizeof(*a->sent));
		if (!a->sent) {
			draft_fail(d, -ENOMEM);
			return;
		}
	}
	a->sent[peer] = send;
}

void alltoall_recv(struct draft *d, struct alltoall *a, struct place dst, uint64_t bytes,
		   uint32_t peer)
{
	struct place to = a->in_place ? draft_scratch(d, bytes) : dst;
	int64_t recv = draft_recv(d, to, bytes, peer, 0);
	int64_t copy;

	window_add(d, &a->w, recv, bytes);
	if (!a->in_place)
		return;
	copy = draft_copy(d, dst, to, bytes);
	draft_after(d, copy, recv);
	if (!d->err)
		draft_after(d, copy, a->sent[peer]);
}

void alltoall_end(struct alltoall *a)
{
	free(a->sent);
}

int goal_alltoallv(const struct goal_comm *c, enum goal_algorithm alg,
		   const struct goal_blocks *send, const struct goal_blocks *recv, bool in_place,
		   struct goal_graph **graph)
{
	struct alltoall a = { .in_place = in_place };
	struct draft d;
	uint32_t src = GOAL_BUF_SEND, n;
	int err;

	err = draft_begin(&d, c, GOAL_ALLTOALLV, alg);
	if (err)
		return err;
	draft_check_in_place(&d, c, in_place, true);
	if (!recv || (!send && !in_place))
		draft_fail(&d, -EINVAL);
	if (d.err)
		return draft_end(&d, 1, graph);
	if (in_place) {
		send = recv;
		src = GOAL_BUF_RECV;
	}
	a.peers = n = comm_peers(c);
	for (uint64_t i = c->remote_size ? 0 : 1; i < n; i++) {
		uint32_t peer = (uint32_t)((c->rank + i) % n);

		if (send->bytes[peer])
			alltoall_send(&d, &a, at(src, send->off[peer]), send->bytes[peer], peer);
	}
	for (uint64_t i = c->remote_size ? 0 : 1; i < n; i++) {
		uint32_t peer = (uint32_t)((c->rank % n + n - i) % n);

		if (recv->bytes[peer])
			alltoall_recv(&d, &a, at(GOAL_BUF_RECV, recv->off[peer]), recv->bytes[peer],
				      peer);
	}
	if (!c->remote_size)
		draft_copy_block(&d, at(GOAL_BUF_RECV, recv->off[c->rank]), recv->bytes[c->rank],
				 at(src, send->off[c->rank]), send->bytes[c->rank]);
	alltoall_end(&a);
	return draft_end(&d, 1, graph);
}
