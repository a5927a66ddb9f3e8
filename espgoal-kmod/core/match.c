// SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause
/*
 * Matching: from the name of a message to the receive that takes it. A schedule's receives have
 * names that differ, and match[] lists them in ascending order, so a run needs no queues of
 * posted and unexpected messages. Called by pump.c for every arriving message.
 */
#include "core.h"

static CORE_APART u32 search(const struct core_sched *s, u32 src, u32 tag, u32 instance, u32 *next)
{
	u64 want = (u64)tag << 32 | instance;
	u32 low = 0, n = s->hdr->nrecv;

	/* Invariant: the receive is in match[low .. low + n - 1] or nowhere. */
	while (n) {
		u32 half = n >> 1;
		u32 i = s->match[low + half];
		const struct goal_op *op = &s->op[i];
		u64 have = (u64)op->tag << 32 | op->instance;

		if (op->peer == src && have == want) {
			*next = low + half + 1;
			return i;
		}
		if (op->peer < src || (op->peer == src && have < want)) {
			low += half + 1;
			n -= half + 1;
		} else {
			n = half;
		}
	}
	return GOAL_OP_NONE;
}

u32 core_match(struct core_run *r, u32 src, u32 tag, u32 instance)
{
	const struct core_sched *s = r->sched;

	if (likely(r->next < s->hdr->nrecv)) {
		u32 i = s->match[r->next];
		const struct goal_op *op = &s->op[i];

		if (op->peer == src && op->tag == tag && op->instance == instance) {
			r->next++;
			return i;
		}
	}
	return search(s, src, tag, instance, &r->next);
}
