/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The simulated home's side of a run: what the interpreter asks for. Included by core/pump.c. A
 * run's lock is a place where other entries may come in between (interleave.c).
 */
#ifndef SIM_ENV_RUN_H
#define SIM_ENV_RUN_H

#include "inside.h"

static inline void env_run_lock(struct core_run *r)
{
	sim_lock(sim_run_of(r)->s, r);
}

static inline void env_run_unlock(struct core_run *r)
{
	sim_unlock(sim_run_of(r)->s, r);
}

/* As if what this entry may do were used up. */
static inline bool env_run_more(struct core_run *r)
{
	struct sim *s = sim_run_of(r)->s;

	return s->ending || !sim_chance(&s->random, s->c.adversary.pause);
}

static inline bool env_drop_more(struct core_run *r)
{
	return env_run_more(r);
}

void env_run_later(struct core_run *r);

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

int env_send(struct core_run *r, u32 op);
int env_post(struct core_run *r, u32 op);
int env_deliver(struct core_run *r, u32 op, void *msg);
int env_move(struct core_run *r, u32 op);
int env_reduce(struct core_run *r, u32 op);
void env_msg_drop(struct core_run *r, void *msg);

void env_run_failed(struct core_run *r);
void env_run_done(struct core_run *r);

#endif /* SIM_ENV_RUN_H */
