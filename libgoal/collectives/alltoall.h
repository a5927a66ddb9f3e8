/* SPDX-License-Identifier: BSD-3-Clause */
/* What alltoall and alltoallv share. Internal to libgoal/collectives. */
#ifndef GOAL_COLLECTIVES_ALLTOALL_H
#define GOAL_COLLECTIVES_ALLTOALL_H

#include "draft.h"

/*
 * A straight exchange in the making: sends first, then receives. In place, a received block
 * goes through scratch and replaces the sent one of the same peer, which must have left.
 */
struct alltoall {
	uint32_t peers;
	bool in_place;
	int64_t *sent; /* by peer, when in place and something was sent */
	struct window w;
};

void alltoall_send(struct draft *d, struct alltoall *a, struct place src, uint64_t bytes,
		   uint32_t peer);
void alltoall_recv(struct draft *d, struct alltoall *a, struct place dst, uint64_t bytes,
		   uint32_t peer);
void alltoall_end(struct alltoall *a);

/* alltoall_bruck.c: blocks of @bytes, intra. */
void alltoall_bruck(struct draft *d, const struct goal_comm *c, uint64_t bytes, bool in_place);

#endif /* GOAL_COLLECTIVES_ALLTOALL_H */
