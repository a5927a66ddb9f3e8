/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The kernel home's side of a run, for core/pump.c. Where each lives: sends in send.c and early.c,
 * moves in payload.c, the end in run.c, the budget in gate.c.
 */
#ifndef ESPGOAL_ENV_RUN_H
#define ESPGOAL_ENV_RUN_H

#include "home.h"
#include "trace.h"

static inline void env_run_lock(struct core_run *r)
{
	spin_lock(&krun_of(r)->lock);
}

static inline void env_run_unlock(struct core_run *r)
{
	spin_unlock(&krun_of(r)->lock);
}

/* Before each operation: may it be carried out now? */
static inline bool env_run_more(struct core_run *cr)
{
	struct krun *r = krun_of(cr);
	struct kgate *g = kgate_here(r->ep->node);

	if (unlikely(g->ops <= 0 || g->bytes <= 0))
		return false;
	if (unlikely(g->turn <= 0 && !list_empty(&g->pump)))
		return false;
	if (unlikely(r->sched->lay.fp && !kpayload_ready(r))) {
		g->again = true; /* not before this CPU has done something else */
		return false;
	}
	g->ops--;
	g->turn--;
	return true;
}

/* Each is the end of a message, of whoever has sent it. */
static inline bool env_drop_more(struct core_run *cr)
{
	return kgate_here(krun_of(cr)->ep->node)->ops-- > 0;
}

static inline void env_run_later(struct core_run *r)
{
	set_bit(KRUN_RESUME, &krun_of(r)->flags);
	kgate_pump(krun_of(r));
}

/*
 * Something for the run was refused and may wait for just this. Who refuses looks again behind
 * us.
 */
static inline bool env_post_wanted(struct core_run *r, u32 op)
{
	return READ_ONCE(krun_of(r)->e.refused);
}

static inline void env_op_done(struct core_run *r, u32 op)
{
	trace_espgoal_op_done(krun_of(r), op);
}

int env_send(struct core_run *r, u32 op);
int env_post(struct core_run *r, u32 op);
int env_deliver(struct core_run *r, u32 op, void *msg);
int env_move(struct core_run *r, u32 op);
int env_reduce(struct core_run *r, u32 op);
void env_msg_drop(struct core_run *r, void *msg);

void env_run_failed(struct core_run *r);
void env_run_done(struct core_run *r);

#endif /* ESPGOAL_ENV_RUN_H */
