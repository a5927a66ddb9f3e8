// SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause
/*
 * A run at rest: its memory, its reset, what its bindings must cover. Called by the homes
 * when they load and start a schedule; what happens in between is pump.c.
 */
#include "core.h"

/* The arrays, largest elements first, so that each is aligned when the block is. */
size_t core_run_bytes(const struct core_sched *s)
{
	size_t nops = s->hdr->nops, nrecv = s->hdr->nrecv;

	/* Never 0, so that nobody has to care whether an allocator gives NULL for that. */
	if (!nops)
		return sizeof(u64);
	return nrecv * (sizeof(u64) + sizeof(void *) + sizeof(u32)) +
	       nops * (2 * sizeof(u32) + sizeof(u8));
}

void core_run_init(struct core_run *r, const struct core_sched *s, void *arrays)
{
	u32 nops = s->hdr->nops, nrecv = s->hdr->nrecv, i;

	r->sched = s;
	r->rlen = arrays;
	r->arrived = (void **)(r->rlen + nrecv);
	r->left = (u32 *)(r->arrived + nrecv);
	r->queue = r->left + nops;
	r->state = (u8 *)(r->queue + nops + nrecv);

	/* A run leaves no arrived message behind, so this is done once and not at each reset. */
	for (i = 0; i < nrecv; i++)
		r->arrived[i] = NULL;
	/*
	 * The worklist begins with the independent operations. It is filled from front to back
	 * and never wraps, so they stay there, too.
	 */
	for (i = 0; i < s->hdr->nindep; i++)
		r->queue[i] = i;
}

int core_run_check(const struct core_run *r)
{
	const struct core_sched *s = r->sched;
	u32 i;

	for (i = 0; i < s->hdr->nbufs; i++)
		if (unlikely(r->buf[i].len < s->need[i]))
			return -EFAULT;
	return likely(r->scratch.len >= s->hdr->scratch) ? 0 : -EFAULT;
}

void core_run_reset(struct core_run *r)
{
	const struct core_sched *s = r->sched;

	memcpy(r->left, s->deps, s->hdr->nops * sizeof(u32));
	memset(r->state, CORE_OP_IDLE, s->hdr->nops);
	r->qhead = 0;
	r->qtail = s->hdr->nindep;
	r->next = 0;
	r->undone = s->hdr->nops;
	r->busy = 0;
	r->dropped = 0;
	r->status = 0;
	r->err_peer = GOAL_OP_NONE;
	r->dead = false;
	r->told = false;
	r->over = false;
	/* core_start() will pump; whoever comes before it only leaves word. */
	r->pumping = true;
}

u64 core_op_bytes(const struct core_run *r, const struct goal_op *op)
{
	u64 got;

	if (likely(op->len_from == GOAL_OP_NONE))
		return op->len;
	got = r->rlen[r->sched->op[op->len_from].slot];
	return got < op->len ? got : op->len;
}
