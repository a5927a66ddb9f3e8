/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The kernel home's side of a run, for core/pump.c.
 *
 * The module has no device yet through which a process could load a schedule, so no run exists,
 * and whatever one would ask for is answered with an error that ends it.
 */
#ifndef ESPGOAL_ENV_RUN_H
#define ESPGOAL_ENV_RUN_H

#include <linux/spinlock.h>

#include "core.h"

struct kmod_run {
	struct core_run core;
	spinlock_t lock; /* entered from softirq and from processes */
};

static inline struct kmod_run *kmod_run(struct core_run *r)
{
	return container_of(r, struct kmod_run, core);
}

static inline void env_run_lock(struct core_run *r)
{
	spin_lock_bh(&kmod_run(r)->lock);
}

static inline void env_run_unlock(struct core_run *r)
{
	spin_unlock_bh(&kmod_run(r)->lock);
}

static inline int env_send(struct core_run *r, u32 op)
{
	return -EOPNOTSUPP;
}

static inline int env_post(struct core_run *r, u32 op)
{
	return -EOPNOTSUPP;
}

static inline int env_deliver(struct core_run *r, u32 op, void *msg)
{
	return -EOPNOTSUPP;
}

static inline int env_move(struct core_run *r, u32 op)
{
	return -EOPNOTSUPP;
}

static inline int env_reduce(struct core_run *r, u32 op)
{
	return -EOPNOTSUPP;
}

static inline void env_msg_drop(struct core_run *r, void *msg)
{
}

static inline void env_run_failed(struct core_run *r)
{
}

static inline void env_run_done(struct core_run *r)
{
}

#endif /* ESPGOAL_ENV_RUN_H */
