/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Executes schedules in the test home, as nastily as the contract of core.h allows: operations
 * end at once, late, or before env_*() returned; receives are delivered, claimed or taken over;
 * buffers are exactly as long as they must be and cut into odd segments. Checks on the way that
 * every operation starts and ends once, after what it depends on, and that no lock is held.
 */
#ifndef HOME_EXEC_H
#define HOME_EXEC_H

#include "home.h"
#include "random.h"

struct message {
	u32 src, dst, tag, instance;
	u64 len;
	u8 data[];
};

/* Messages that exist; 0 when nothing has leaked. */
extern u32 messages_alive;

struct message *message_create(u32 src, u32 dst, const struct goal_op *send, u64 len);
void message_free(struct message *m);

struct exec_pending {
	u32 op;
	struct message *msg; /* of a receive */
};

#define EXEC_BINDINGS (GOAL_MAX_BUFS + 1) /* the last one is the scratch */

struct exec {
	struct home_run home; /* first: converted */
	struct core_sched sched;
	void *arrays;
	u8 *mem[EXEC_BINDINGS];
	u64 bytes[EXEC_BINDINGS];
	struct core_segment *seg[EXEC_BINDINGS];
	struct random *random;
	u32 rank;
	u32 late;          /* of 256 operations, how many end late */
	u32 taken_over;    /* bit p: receives from peer p are taken over (CORE_BUSY) */
	u8 *started;       /* by operation */
	u8 *finished;      /* by operation */
	u32 *pred, *ipred; /* dependencies by operation, see exec.c */
	u32 *pred_row, *ipred_row;
	struct exec_pending *pending; /* operations that end late */
	u32 npending;
	struct message **parked; /* by slot: came before a receive that is taken over */
	bool *taken;             /* by slot: and those receives */
	u32 done_calls;
	void (*sent)(struct exec *x, struct message *m); /* takes over @m */
	void *arg;
};

/* For @sched, whose bytes stay. @random cuts the segments and decides everything. */
void exec_init(struct exec *x, const struct core_sched *sched, u32 rank, struct random *random);
void exec_fini(struct exec *x);
/* Ready for core_start(), memory unchanged. */
void exec_reset(struct exec *x);
/* Give it a message, by one of the ways; takes over @m. What the core said. */
int exec_message(struct exec *x, struct message *m);
/* End the @k-th pending operation. */
void exec_finish(struct exec *x, u32 k);
/* Everything is finished, once; or (failed runs) nothing is half done. */
void exec_check_over(struct exec *x);

#endif /* HOME_EXEC_H */
