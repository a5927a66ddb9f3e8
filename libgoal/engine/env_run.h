/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The host home's side of a run: what the interpreter asks for, carried out. Included by
 * core/pump.c. The engine's lock is held (host.h), so runs have none.
 */
#ifndef ENGINE_ENV_RUN_H
#define ENGINE_ENV_RUN_H

#include "core.h"
#include "host.h"
#include "mailbox.h"

static inline void env_run_lock(struct core_run *r)
{
	(void)r;
}

static inline void env_run_unlock(struct core_run *r)
{
	(void)r;
}

/* A process carries on with a run as long as it can. */
static inline bool env_run_more(struct core_run *r)
{
	(void)r;
	return true;
}

static inline bool env_drop_more(struct core_run *r)
{
	(void)r;
	return true;
}

static inline void env_run_later(struct core_run *r)
{
	(void)r;
}

static inline bool env_post_wanted(struct core_run *r, u32 op)
{
	(void)r;
	(void)op;
	return true;
}

static inline void env_op_done(struct core_run *r, u32 op)
{
	(void)r;
	(void)op;
}

static inline const struct core_binding *env_buffer(const struct core_run *cr, u32 buf)
{
	return unlikely(buf == GOAL_BUF_SCRATCH) ? &cr->scratch : &cr->buf[buf];
}

/* Copy a few bytes without a call. */
static inline void env_copy(void *to, const void *from, u64 len)
{
	if (len == 8)
		memcpy(to, from, 8);
	else if (len == 4)
		memcpy(to, from, 4);
	else
		memcpy(to, from, len);
}

/* A message to a process of this node that fits into a slot is written here and now. */
static inline int env_send(struct core_run *cr, u32 op)
{
	struct goal_run *r = host_run(cr);
	const struct goal_op *o = &cr->sched->op[op];
	struct host_peer *p = r->group->peer[o->peer];
	u64 len = core_op_bytes(cr, o);
	struct shm_slot *s;

	if (unlikely(!p || !p->room || len > SHM_INLINE))
		return host_send(r, op, len);

	s = box_slot(p);
	box_name(s, SHM_EAGER, (u32)len, r->nonce, r->key, r->group->rank, o->tag, o->instance);
	if (len) {
		const struct core_binding *b = env_buffer(cr, o->src_buf);

		if (likely(b->nseg == 1))
			env_copy(s->u.bytes, (const u8 *)b->seg->base + o->src_off, len);
		else
			host_copy_out(b, o->src_off, s->u.bytes, len);
	}
	p->room--;
	p->msgs++;
	p->bytes += len;
	box_publish(p, s);
	return CORE_DONE;
}

/* Local messages are looked for by polling, remote ones must be asked for. */
static inline int env_post(struct core_run *cr, u32 op)
{
	struct goal_run *r = host_run(cr);

	if (likely(r->group->peer[cr->sched->op[op].peer]))
		return CORE_PENDING;
	return host_remote(r, op, cr->sched->op[op].len, false);
}

static inline int env_deliver(struct core_run *cr, u32 op, void *msg)
{
	return host_deliver(host_run(cr), op, msg);
}

static inline int env_move(struct core_run *cr, u32 op)
{
	const struct goal_op *o = &cr->sched->op[op];
	const struct core_binding *to = env_buffer(cr, o->dst_buf);
	const struct core_binding *from = env_buffer(cr, o->src_buf);
	u64 len = core_op_bytes(cr, o);

	if (unlikely(to->nseg != 1 || from->nseg != 1 || !len))
		return host_move(host_run(cr), op);
	env_copy((u8 *)to->seg->base + o->dst_off, (const u8 *)from->seg->base + o->src_off, len);
	return CORE_DONE;
}

static inline int env_reduce(struct core_run *cr, u32 op)
{
	return host_reduce(host_run(cr), op);
}

static inline void env_msg_drop(struct core_run *cr, void *msg)
{
	host_message_drop(host_run(cr)->engine, msg);
}

static inline void env_run_failed(struct core_run *cr)
{
	host_run_failed(host_run(cr));
}

static inline void env_run_done(struct core_run *cr)
{
	host_run_done(host_run(cr));
}

#endif /* ENGINE_ENV_RUN_H */
