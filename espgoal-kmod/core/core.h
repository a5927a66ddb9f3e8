/* SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause */
/*
 * The freestanding core: what the three homes (Linux kernel, host process, simulator) see of it.
 *
 * The state machines (verify.c, run.c, match.c) take no lock, allocate nothing, never block
 * and never recurse over the edges of a schedule. pump.c is the one file that takes locks:
 * it lets a run advance, and carries out what that asks for through the home's env.h, with
 * no lock held. A home calls pump.c only, and run.c where it holds the only reference.
 *
 * Which env is meant is decided by the include path, one folder per home: libgoal/engine,
 * libgoal/sim, espgoal-kmod/linux. It has two headers. env.h, included here, supplies
 *
 *	fixed-width types u8..u64, s8..s64, bool, size_t, NULL, EINVAL & co., memcpy, memset,
 *	likely, unlikely
 *
 * and env_run.h, included by pump.c alone and behind this file, the home's side of a run, as
 * static inlines (struct core_run *run, u32 op: the operation's number, void *msg):
 *
 *	env_run_lock(run), env_run_unlock(run)
 *
 *	int env_send(run, op)		give the message of a send to its peer
 *	bool env_post_wanted(run, op)	is env_post() to be called for a receive that has started? False: it
 *					would answer CORE_PENDING. Asked under the run's lock
 *	int env_post(run, op)		a receive has started and nothing for it is here
 *	int env_deliver(run, op, msg)	move an arrived message to its receive's buffer and
 *					give up msg; sets run->rlen[slot]; -EMSGSIZE when
 *					the message is longer than the receive (msg is
 *					given up all the same)
 *	int env_move(run, op)		carry out a copy
 *	int env_reduce(run, op)		carry out a reduction
 *	void env_op_done(run, op)	an operation is finished; for tracing. Under the run's lock
 *	bool env_run_more(run)		may the next operation be carried out now? Asked under the run's
 *					lock
 *	void env_run_later(run)		it may not: call core_resume() soon. Without the lock; the
 *					run is not over before that
 *	void env_msg_drop(run, msg)	give up an arrived message that nobody wants
 *	bool env_drop_more(run)		may the next one, of a run that has failed, be given up now?
 *					False: env_run_later() follows. Without the lock
 *	void env_run_failed(run)	the run has failed (run->status, err_peer) and is over
 *					as soon as nothing is busy any more: once, before
 *					env_run_done(). The home may take operations that have
 *					not started over: core_op_take()
 *	void env_run_done(run)		the run is over: run->status is its outcome. The core
 *					does not touch the run any more: it may be freed or
 *					reset and started again, also from in here
 *
 * The int ones answer CORE_DONE (the operation is finished), CORE_PENDING (it will be ended by
 * core_op_done(), from anywhere, at any time, also before env_*() returns), or -errno
 * (the run fails with it). The core never touches payload by itself.
 *
 * env_post() has one answer more, since a receive that merely waits keeps no run alive:
 *
 *	CORE_PENDING	posted. Its message will come by core_message(), or is claimed by
 *			core_message_claim(). When the run is cancelled the receive is forgotten.
 *	CORE_BUSY	the home has taken the receive over (a transport of its own writes to
 *			the buffer) and ends it by core_op_done(), also before env_post() returns,
 *			also after a cancellation: until then the run is not over. The home
 *			gives the core no message for this receive and claims none.
 *	CORE_DONE	it found the message after all and delivered it (and set rlen).
 *
 * rlen[slot] must be set (also to 0) before a receive is ended with status 0; until then its
 * contents mean nothing.
 */
#ifndef CORE_H
#define CORE_H

#include "env.h"
#include "espgoal.h"

/* What is rare stays out of its caller, which has fewer registers to save without it. */
#define CORE_APART __attribute__((__noinline__))

#define CORE_DONE    0
#define CORE_PENDING 1
#define CORE_BUSY    2 /* of env_post() only */

/* What went wrong where, for a caller who wants to say it in words. */
struct core_error {
	s32 code;  /* -errno */
	u32 rule;  /* enum core_rule, which check failed */
	u64 where; /* operation number; of MATCH: entry of match[]; of the header's rules and
		    * PADDING: byte offset */
};

/*
 * A verified schedule, as the interpreter uses it: pointers into its bytes, which the home
 * keeps unchanged and out of reach of user space as long as this lives.
 */
struct core_sched {
	const struct goal_sched_hdr *hdr;
	const struct goal_op *op;
	const u32 *deps;
	const u32 *succ;
	const u32 *match;
	u64 need[GOAL_MAX_BUFS]; /* bytes a run must bind to each buffer */
	u32 host_only;           /* uses a type that only a process home reduces */
};

/* One piece of a bound buffer. */
struct core_segment {
	void *base;
	u64 len;
};

/* A bound buffer: the concatenation of its segments. */
struct core_binding {
	const struct core_segment *seg;
	u32 nseg;
	u64 len; /* sum over the segments */
};

/* Where an operation of a run stands. */
enum core_op_state {
	CORE_OP_IDLE = 0, /* waits for its dependencies, or for its turn on the worklist */
	CORE_OP_POSTED,   /* recv: started, no message yet */
	CORE_OP_QUEUED,   /* recv: was posted, its message is here, waits for its turn */
	CORE_OP_BUSY,     /* handed to the home, not finished */
	CORE_OP_DONE
};

/*
 * One execution of a schedule. The home embeds it, fills in what is marked (home), and gives
 * core_run_init() core_run_bytes() bytes for the arrays. Everything else belongs to the core
 * and changes under the run's lock.
 */
struct core_run {
	const struct core_sched *sched; /* (home, by core_run_init) */
	u32 *left;                      /* dependencies left, by operation */
	u32 *queue;       /* worklist, nops + nrecv entries, filled once from front to back: an
			   * operation when its last dependency falls, a posted receive once more
			   * when its message comes */
	void **arrived;   /* by recv slot: a message ahead of its receive */
	u64 *rlen;        /* by recv slot: bytes received */
	u8 *state;        /* enum core_op_state, by operation */
	u32 qhead, qtail; /* of the worklist */
	u32 next;         /* in the schedule's match[]: behind the message that came last */
	u32 undone;       /* operations not finished */
	u32 busy;         /* operations handed to the home, posted ones excluded */
	u32 dropped;      /* of a failed run: recv slots whose messages were given up */
	s32 status;       /* 0, or the first error */
	u32 err_peer;     /* the peer it came from, or GOAL_OP_NONE */
	bool dead;        /* failed, cancelled or over: starts nothing and takes nothing any more */
	bool pumping;     /* somebody lets it advance, or it waits for core_start() */
	bool told;        /* env_run_failed() was or is being called */
	bool over;        /* env_run_done() was or is being called */
	struct core_binding scratch;            /* (home) one segment, or none */
	struct core_binding buf[GOAL_MAX_BUFS]; /* (home) */
};

/* verify.c */
enum core_rule {
	CORE_RULE_OK = 0,
	CORE_RULE_SIZE,
	CORE_RULE_ALIGN,
	CORE_RULE_MAGIC,
	CORE_RULE_VERSION,
	CORE_RULE_RESERVED,
	CORE_RULE_LIMIT,
	CORE_RULE_TOTAL,
	CORE_RULE_PADDING,
	CORE_RULE_RANK,
	CORE_RULE_INDEP,
	CORE_RULE_CODE,
	CORE_RULE_PEER,
	CORE_RULE_TAG,
	CORE_RULE_INSTANCE,
	CORE_RULE_BUFFER,
	CORE_RULE_SCRATCH,
	CORE_RULE_EXTENT,
	CORE_RULE_DTYPE,
	CORE_RULE_ROP,
	CORE_RULE_LEN_FROM,
	CORE_RULE_UNUSED,
	CORE_RULE_SUCC_RANGE,
	CORE_RULE_SUCC_ORDER,
	CORE_RULE_DEPS,
	CORE_RULE_MATCH,
	CORE_RULE_OVERLAP,
	CORE_RULE_USER,
	CORE_RULES
};

/*
 * Check @len bytes at @data (8-byte aligned) and describe them in @s. @tmp: nops u32 of working
 * memory (core_verify_tmp() tells how many bytes a plausible header asks for). 0, or -EINVAL
 * or -E2BIG with @e filled in; @s is written only on success.
 */
int core_verify(const void *data, u64 len, u32 *tmp, struct core_sched *s, struct core_error *e);
s64 core_verify_tmp(const void *data, u64 len, struct core_error *e);
/* A sentence without a full stop that says what @rule demands; never NULL. */
const char *core_rule_text(u32 rule);

/* types.c: element sizes, and which operation goes with which type. */
u32 core_type_size(u32 dtype); /* 0: unknown, NONE or USER */
bool core_type_host_only(u32 dtype);
bool core_reduce_valid(u32 dtype, u32 rop);

/* reduce_int.c, reduce_fp.c, reduce_host.c: inout[i] = in[i] rop inout[i]. 0 or -EINVAL. */
int core_reduce_int(u32 dtype, u32 rop, const void *in, void *inout, u64 count);
int core_reduce_fp(u32 dtype, u32 rop, const void *in, void *inout, u64 count);
int core_reduce_host(u32 dtype, u32 rop, const void *in, void *inout, u64 count);

/* run.c: a run at rest. Callers hold the only reference to it. */
size_t core_run_bytes(const struct core_sched *s); /* of the arrays */
/* @arrays: core_run_bytes() bytes, 8-byte aligned, contents do not matter. */
void core_run_init(struct core_run *r, const struct core_sched *s, void *arrays);
int core_run_check(const struct core_run *r); /* bindings cover need[]? 0 or -EFAULT */
/*
 * Ready to start (again), after core_run_init() or once it is over. From here on messages and
 * cancellation may come; they take effect in core_start(), which must follow.
 */
void core_run_reset(struct core_run *r);
/* Bytes that a send or copy which has started moves: its length, or what len_from says. */
u64 core_op_bytes(const struct core_run *r, const struct goal_op *op);

/*
 * match.c: the receive of @r that takes (@src, @tag, @instance); GOAL_OP_NONE if there is none.
 * Under the run's lock: where the last one was found is remembered, since many come in order.
 */
u32 core_match(struct core_run *r, u32 src, u32 tag, u32 instance);

/* segment.c: contiguous pieces of (buffer, offset, length). */
/* The buffer @buf names, GOAL_BUF_SCRATCH included. */
const struct core_binding *core_buffer(const struct core_run *r, u32 buf);
/* First piece of @b at @off: its address; *@run gets how many bytes are contiguous there. */
void *core_segment_at(const struct core_binding *b, u64 off, u64 *run);

/*
 * pump.c: the entries of a run. Each takes the run's lock for bookkeeping only, and carries out
 * through env_*() what became possible, without it. One thread at a time pumps a run; others
 * leave word on the worklist and return. They may be called from within env_*().
 *
 * env_run_done() is called once, by the thread that pumps, when every operation is finished, or
 * when the run has failed and nothing is busy. An entry that ends an operation (core_op_done)
 * never touches the run after it left the lock, so the busy operation itself is reference enough
 * for it; every other entry may find the run over, and its caller needs a reference of the
 * home's that keeps the memory until the call returns.
 */
/* Start a run that was reset and bound. */
void core_start(struct core_run *r);
/*
 * A message (@src, @tag, @instance) for @r is here; the core takes @msg, an opaque word of the
 * home that is not NULL. 0: taken (delivered now or later); -ENOENT: no such receive; -EEXIST:
 * that receive had its message; -ECANCELED: the run has failed or is over. On error @msg stays
 * the caller's.
 */
int core_message(struct core_run *r, u32 src, u32 tag, u32 instance, void *msg);
/*
 * The fast form, for a home that has the message at hand and can move it at once: claims the
 * receive for the caller when it is posted. Its operation number (then move the bytes,
 * set rlen, and call core_op_done()), or -EAGAIN (use core_message()) or an error as above.
 */
s64 core_message_claim(struct core_run *r, u32 src, u32 tag, u32 instance);
/*
 * The same for a message of no bytes, whose receive ends at once when it is posted (0), and the run
 * goes on.
 */
int core_message_empty(struct core_run *r, u32 src, u32 tag, u32 instance);
/* End operation @op, which had answered CORE_PENDING or was claimed: @status 0 or -errno. */
void core_op_done(struct core_run *r, u32 op, int status);
/*
 * The same, without going on: more of them will follow, and then core_pump(). In between somebody
 * else may bring the run to its end: the caller needs a reference as said above.
 */
void core_op_done_quiet(struct core_run *r, u32 op, int status);
/*
 * From within env_run_failed(): operation @op, a send or a receive, is the home's, which ends it
 * by core_op_done(); until then the run is not over. False: it had started.
 */
bool core_op_take(struct core_run *r, u32 op);
/*
 * Fail the run with @status (-errno) for @peer (or GOAL_OP_NONE): nothing more starts, posted
 * receives and messages ahead of theirs are dropped; it is over as soon as what the home is busy
 * with ends. Does nothing to a run that has failed already or is over.
 */
void core_cancel(struct core_run *r, int status, u32 peer);
/*
 * The same, without going on: core_pump() will follow. For a home in which the end of one run
 * makes others fail, and they must not end within one another.
 */
void core_cancel_quiet(struct core_run *r, int status, u32 peer);
/* Let the run advance as far as it can. */
void core_pump(struct core_run *r);
/* The same, once for each env_run_later(). */
void core_resume(struct core_run *r);

#endif /* CORE_H */
