/* SPDX-License-Identifier: BSD-3-Clause */
/* A run's side of the home: messages go to ESP, there is nothing else. */
#ifndef ENV_RUN_H
#define ENV_RUN_H

struct core_run;

static inline void env_run_lock(struct core_run *r)
{
	(void)r;
}

static inline void env_run_unlock(struct core_run *r)
{
	(void)r;
}

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

int env_send(struct core_run *r, u32 op);
int env_post(struct core_run *r, u32 op);
int env_deliver(struct core_run *r, u32 op, void *msg);
int env_move(struct core_run *r, u32 op);
int env_reduce(struct core_run *r, u32 op);
void env_msg_drop(struct core_run *r, void *msg);

/* Peers hear of failed runs by the protocol. */
static inline void env_run_failed(struct core_run *r)
{
	(void)r;
}

void env_run_done(struct core_run *r);

#endif /* ENV_RUN_H */
