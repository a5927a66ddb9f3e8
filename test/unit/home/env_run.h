/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The test home's side of a run, for pump.c: everything goes to the functions that the test
 * gave the run, so that it can answer early, late, or with an error, as it likes.
 */
#ifndef HOME_ENV_RUN_H
#define HOME_ENV_RUN_H

#include "home.h"

static inline void env_run_lock(struct core_run *r)
{
	home_lock(home_run(r));
}

static inline void env_run_unlock(struct core_run *r)
{
	home_unlock(home_run(r));
}

static inline bool env_run_more(struct core_run *r)
{
	(void)r;
	return true;
}

static inline bool env_drop_more(struct core_run *r)
{
	return !home_run(r)->ops->drop_more || home_run(r)->ops->drop_more(home_run(r));
}

static inline void env_run_later(struct core_run *r)
{
	if (home_run(r)->ops->later)
		home_run(r)->ops->later(home_run(r));
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

static inline int env_send(struct core_run *r, u32 op)
{
	return home_run(r)->ops->send(home_run(r), op);
}

static inline int env_post(struct core_run *r, u32 op)
{
	return home_run(r)->ops->post(home_run(r), op);
}

static inline int env_deliver(struct core_run *r, u32 op, void *msg)
{
	return home_run(r)->ops->deliver(home_run(r), op, msg);
}

static inline int env_move(struct core_run *r, u32 op)
{
	return home_run(r)->ops->move(home_run(r), op);
}

static inline int env_reduce(struct core_run *r, u32 op)
{
	return home_run(r)->ops->reduce(home_run(r), op);
}

static inline void env_msg_drop(struct core_run *r, void *msg)
{
	home_run(r)->ops->drop(home_run(r), msg);
}

static inline void env_run_failed(struct core_run *r)
{
	if (home_run(r)->ops->failed)
		home_run(r)->ops->failed(home_run(r));
}

static inline void env_run_done(struct core_run *r)
{
	home_run(r)->ops->done(home_run(r));
}

#endif /* HOME_ENV_RUN_H */
