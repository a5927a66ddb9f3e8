// SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause
/*
 * How a run advances: the entries that the homes call, and the one loop behind them. The only
 * file of the core that takes a lock, the run's, and it holds that for bookkeeping alone: each
 * env_*() that does something is called without it.
 *
 * One thread pumps a run at a time (run->pumping). An entry that makes an operation ready puts it
 * on the worklist and leaves when somebody is pumping, else it becomes the pump itself, without
 * letting go of the lock in between: so nobody can end the run between its bookkeeping and its
 * pumping, and its caller needs no reference for that.
 */
#include "core.h"
#include "env_run.h"

/* For sparse, which knows them in a kernel: the function is entered with the lock held. */
#ifndef __releases
#define __releases(lock)
#endif

static inline void push(struct core_run *r, u32 i)
{
	r->queue[r->qtail++] = i;
}

/* Take one dependency off each of @n operations. */
static inline void release(struct core_run *r, u32 first, u32 n)
{
	const u32 *succ = r->sched->succ + first;
	const u32 *end = succ + n;

	for (; succ < end; succ++)
		if (--r->left[*succ] == 0)
			push(r, *succ);
}

/* @op starts: those that irequire it may follow. They come behind it on the worklist. */
static inline void begin(struct core_run *r, const struct goal_op *op)
{
	if (unlikely(op->nisucc))
		release(r, op->succ + op->nsucc, op->nisucc);
}

/* Operation @i is finished: those that require it may follow. */
static inline void finish(struct core_run *r, u32 i, const struct goal_op *op)
{
	r->state[i] = CORE_OP_DONE;
	r->undone--;
	env_op_done(r, i);
	release(r, op->succ, op->nsucc);
}

/* The first error is the run's. */
static void fail(struct core_run *r, int status, u32 peer)
{
	if (r->dead)
		return;
	r->dead = true;
	r->status = status;
	r->err_peer = peer;
}

static void fail_op(struct core_run *r, u32 i, const struct goal_op *op, int status)
{
	bool message = op->code == GOAL_OP_SEND || op->code == GOAL_OP_RECV;

	r->state[i] = CORE_OP_DONE;
	fail(r, status, message ? op->peer : GOAL_OP_NONE);
}

/* A busy operation has ended. */
static inline void end(struct core_run *r, u32 i, const struct goal_op *op, int status)
{
	r->busy--;
	if (likely(status == 0))
		finish(r, i, op);
	else
		fail_op(r, i, op, status);
}

/* A receive starts. Between the locks its message may come, or its end. */
static inline void post(struct core_run *r, u32 i, const struct goal_op *op)
{
	int rc;

	r->state[i] = CORE_OP_POSTED;
	if (likely(!env_post_wanted(r, i)))
		return;
	env_run_unlock(r);
	rc = env_post(r, i);
	env_run_lock(r);
	if (likely(rc == CORE_PENDING) || r->state[i] != CORE_OP_POSTED)
		return;
	if (rc == CORE_BUSY) {
		r->state[i] = CORE_OP_BUSY;
		r->busy++;
	} else if (rc == CORE_DONE) {
		finish(r, i, op);
	} else {
		fail_op(r, i, op, rc);
	}
}

/* Carry out operation @i of the worklist. */
static inline void step(struct core_run *r, u32 i)
{
	const struct goal_op *op = &r->sched->op[i];
	void *msg = NULL;
	int rc;

	if (likely(r->state[i] == CORE_OP_IDLE))
		begin(r, op);
	if (op->code == GOAL_OP_NOP) {
		finish(r, i, op);
		return;
	}
	if (op->code == GOAL_OP_RECV) {
		msg = r->arrived[op->slot];
		if (!msg) {
			post(r, i, op);
			return;
		}
		r->arrived[op->slot] = NULL;
	}

	/* Busy before the home hears of it: core_op_done() may come before env_*() returns. */
	r->state[i] = CORE_OP_BUSY;
	r->busy++;
	env_run_unlock(r);
	switch (op->code) {
	case GOAL_OP_SEND:
		rc = env_send(r, i);
		break;
	case GOAL_OP_RECV:
		rc = env_deliver(r, i, msg);
		break;
	case GOAL_OP_COPY:
		rc = env_move(r, i);
		break;
	default: /* GOAL_OP_REDUCE: the verifier knows no other */
		rc = env_reduce(r, i);
		break;
	}
	env_run_lock(r);
	if (rc != CORE_PENDING)
		end(r, i, op, rc);
}

#define EMPTY_MOST 1024 /* slots without a message that cost as much as one */

/*
 * Give up what came ahead of receives that never started. Nothing arrives any more: dead. False: not
 * all of it yet.
 */
static bool drop_arrived(struct core_run *r)
{
	u32 n = r->sched->hdr->nrecv, empty = 0;

	for (; r->dropped < n; r->dropped++) {
		void *msg = r->arrived[r->dropped];

		if (!msg && ++empty % EMPTY_MOST)
			continue;
		if (!env_drop_more(r))
			return false;
		if (!msg)
			continue;
		r->arrived[r->dropped] = NULL;
		env_msg_drop(r, msg);
	}
	return true;
}

/*
 * Let @r advance as far as it can. The lock is held on entry and released on return, and the
 * caller has set pumping. Do not touch the run afterwards.
 */
static void drain(struct core_run *r) __releases(r)
{
	while (r->qhead != r->qtail && likely(!r->dead)) {
		if (unlikely(!env_run_more(r))) {
			/* pumping stays set: nobody else goes on before core_resume(). */
			env_run_unlock(r);
			env_run_later(r);
			return;
		}
		step(r, r->queue[r->qhead++]);
	}

	if (unlikely(r->dead && !r->told)) {
		r->told = true;
		env_run_unlock(r);
		env_run_failed(r);
		env_run_lock(r);
	}
	if (likely(r->busy || (r->undone && !r->dead))) {
		r->pumping = false;
		env_run_unlock(r);
		return;
	}

	/* Over. pumping stays set, so that nobody else comes here. */
	if (unlikely(r->status)) {
		env_run_unlock(r);
		if (!drop_arrived(r)) {
			env_run_later(r);
			return;
		}
		env_run_lock(r);
	}
	r->over = true;
	r->dead = true;
	env_run_unlock(r);
	env_run_done(r);
}

/* Pump, unless somebody does. The lock is held on entry and released on return. */
static inline void go(struct core_run *r) __releases(r)
{
	if (r->pumping) {
		env_run_unlock(r);
		return;
	}
	r->pumping = true;
	drain(r);
}

void core_start(struct core_run *r)
{
	env_run_lock(r);
	drain(r); /* pumping is set since core_run_reset() */
}

int core_message(struct core_run *r, u32 src, u32 tag, u32 instance, void *msg)
{
	void **arrived;
	u32 i;
	int rc;

	env_run_lock(r);
	i = core_match(r, src, tag, instance);
	rc = -ENOENT;
	if (unlikely(i == GOAL_OP_NONE))
		goto unlock;
	rc = -ECANCELED;
	if (unlikely(r->dead))
		goto unlock;
	arrived = &r->arrived[r->sched->op[i].slot];
	if (r->state[i] == CORE_OP_POSTED) {
		*arrived = msg;
		r->state[i] = CORE_OP_QUEUED;
		push(r, i);
		go(r);
		return 0;
	}
	rc = -EEXIST;
	if (likely(r->state[i] == CORE_OP_IDLE && !*arrived)) {
		*arrived = msg;
		rc = 0;
	}
unlock:
	env_run_unlock(r);
	return rc;
}

/*
 * The receive that is posted for a message, or what core_message_claim() answers. Under the
 * lock.
 */
static inline s64 posted(struct core_run *r, u32 src, u32 tag, u32 instance)
{
	u32 i = core_match(r, src, tag, instance);

	if (unlikely(i == GOAL_OP_NONE))
		return -ENOENT;
	if (unlikely(r->dead))
		return -ECANCELED;
	if (likely(r->state[i] == CORE_OP_POSTED))
		return i;
	if (r->state[i] == CORE_OP_IDLE && !r->arrived[r->sched->op[i].slot])
		return -EAGAIN;
	return -EEXIST;
}

s64 core_message_claim(struct core_run *r, u32 src, u32 tag, u32 instance)
{
	s64 i;

	env_run_lock(r);
	i = posted(r, src, tag, instance);
	if (likely(i >= 0)) {
		r->state[i] = CORE_OP_BUSY;
		r->busy++;
	}
	env_run_unlock(r);
	return i;
}

int core_message_empty(struct core_run *r, u32 src, u32 tag, u32 instance)
{
	const struct goal_op *op;
	s64 i;

	env_run_lock(r);
	i = posted(r, src, tag, instance);
	if (unlikely(i < 0)) {
		env_run_unlock(r);
		return (int)i;
	}
	op = &r->sched->op[i];
	r->rlen[op->slot] = 0;
	finish(r, (u32)i, op);
	go(r);
	return 0;
}

/* Bookkeeping of core_op_done(), under the lock. */
static inline void op_done(struct core_run *r, u32 i, int status)
{
	const struct goal_op *op = &r->sched->op[i];

	if (likely(r->state[i] == CORE_OP_BUSY)) {
		end(r, i, op, status);
	} else if (r->state[i] == CORE_OP_POSTED) {
		/* env_post() will answer CORE_BUSY, but has not returned yet. */
		if (status == 0)
			finish(r, i, op);
		else
			fail_op(r, i, op, status);
	}
}

void core_op_done(struct core_run *r, u32 op, int status)
{
	env_run_lock(r);
	op_done(r, op, status);
	go(r);
}

void core_op_done_quiet(struct core_run *r, u32 op, int status)
{
	env_run_lock(r);
	op_done(r, op, status);
	env_run_unlock(r);
}

bool core_op_take(struct core_run *r, u32 op)
{
	bool taken;

	env_run_lock(r);
	taken = r->state[op] == CORE_OP_IDLE;
	if (taken) {
		r->state[op] = CORE_OP_BUSY;
		r->busy++;
	}
	env_run_unlock(r);
	return taken;
}

void core_cancel(struct core_run *r, int status, u32 peer)
{
	env_run_lock(r);
	fail(r, status, peer);
	go(r);
}

void core_cancel_quiet(struct core_run *r, int status, u32 peer)
{
	env_run_lock(r);
	fail(r, status, peer);
	env_run_unlock(r);
}

void core_resume(struct core_run *r)
{
	env_run_lock(r);
	drain(r); /* pumping is set since env_run_more() or env_drop_more() said no */
}

void core_pump(struct core_run *r)
{
	env_run_lock(r);
	go(r);
}
