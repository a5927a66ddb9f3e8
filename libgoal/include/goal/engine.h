/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Engines: what runs schedules. The host engine interprets them in this process, over shared
 * memory between the processes of a node and over a remote transport that its user supplies
 * between nodes. The kernel engine has /dev/espgoal run them (man page espgoal(4)), between nodes
 * too, whatever the process does meanwhile; all that is left to do here is to see that a run is
 * over, copy its result, and call back. It copies payload at the start and at the end of a run, takes
 * runs of limited size (-E2BIG), and reduces what the kernel computes (-EOPNOTSUPP).
 *
 * How runs fail. The outcome of a run is 0 or the first error: -EMSGSIZE: a message was longer
 * than its receive; -ECONNRESET: a peer has died (its groups have failed then), or it closed
 * its engine and what it had sent was not enough; -ECONNABORTED: a peer's part of the run has
 * failed, and it will not send what this one waits for; -ENOBUFS: a peer of this node could not
 * answer, for want of a mailbox of ours (memory, or descriptors), and no run that needs it will
 * do any more; -ECANCELED: goal_run_cancel(); -EPROTO: a peer writes nonsense; -ENOMEM, -ENOSPC
 * and the like: the same want here; what a callback or the remote transport answered.
 * goal_run_peer() names the peer.
 *
 * Who hears of it. A failed run, also one that goal_start() refuses, tells the peers that wait for
 * messages of it, those behind a remote transport when that can hear(). There it goes on until
 * each of its messages has met its receive (an empty one stands for what it does not send), for
 * which its peers must have started their parts: so no message is left for a later run to meet.
 * That a group has failed is told to nobody on the host engine: its user lets the others know, by
 * ways of its own, and fails theirs (goal_group_fail()). The kernel engine tells them; it also fails the
 * group of a run that it has no memory left to start, or to fail.
 *
 * After fork() an engine stays with the parent: in the child its functions do nothing, and those
 * that start something say -ECHILD; only goal_engine_close() gives back the child's memory.
 */
#ifndef GOAL_ENGINE_H
#define GOAL_ENGINE_H

#include <stdbool.h>

#include <goal/graph.h>

GOAL_BEGIN_DECLS

struct goal_engine; /* opaque: this process's endpoint */
struct goal_group;  /* opaque: a communicator, as the engine knows it */
struct goal_loaded; /* opaque: a schedule loaded on an engine */
struct goal_run;    /* opaque: one execution */

enum goal_engine_kind {
	GOAL_ENGINE_HOST = 0,
	GOAL_ENGINE_KERNEL = 1 /* /dev/espgoal */
};

#define GOAL_ENGINE_THREADS 0x1u /* several threads call in */
#define GOAL_ENGINE_PROGRESS \
	0x2u                         /* with a thread of its own that makes progress;
					 * implies GOAL_ENGINE_THREADS */
#define GOAL_ENGINE_REMOTE_ONLY 0x4u /* no shared memory: every peer is remote */

/* How to open an engine. Zero in a field means its default. */
struct goal_engine_attr {
	uint32_t kind;       /* enum goal_engine_kind */
	uint32_t flags;      /* GOAL_ENGINE_* */
	uint32_t node;       /* a number that splits a machine into nodes: only endpoints
				 * with the same one share memory (for tests) */
	uint32_t ring_slots; /* 64-byte slots of a mailbox, power of two; default 128 */
	uint32_t ring_bytes; /* data bytes of a mailbox, power of two; default 64 KiB */
	uint32_t eager;      /* largest message sent unasked, bytes; default 4096 */
	uint32_t spin;       /* polls before a blocking wait yields, where there are enough
				 * cores; default 10000. The kernel engine measures whether
				 * spinning is worth while, and else sleeps at once */
	uint32_t yields;     /* fruitless yields before it sleeps; default 1000 */
	uint32_t sleep_us;   /* longest sleep, microseconds; default 1000 */
	/* Of the kernel engine; it has no use for node, ring_slots, ring_bytes, eager and yields. */
	uint32_t runs; /* that are active or kept for the next start, at most; default 4096 */
	uint32_t area; /* bytes for results of all of them; default 2 MiB */
};

/* What other processes need to reach this endpoint: plain bytes, sent as they are. */
struct goal_address {
	uint8_t bytes[128];
};

/* Counters of an engine since it was opened (goal_engine_stats()). */
struct goal_engine_stats {
	uint64_t runs;        /* runs started */
	uint64_t runs_failed; /* runs that ended with an error */
	uint64_t ops;         /* operations finished */
	uint64_t loads;       /* schedules loaded */
	uint64_t allocs;      /* times any part of the engine asked malloc for memory */
	uint64_t msgs_local;  /* messages sent through shared memory */
	uint64_t msgs_remote; /* messages given to remote transports */
	uint64_t bytes_local, bytes_remote;
	uint64_t unexpected;     /* messages that came before their receive was posted */
	uint64_t early;          /* messages that came before their run was started */
	uint64_t rendezvous;     /* messages sent only once the receive was posted */
	uint64_t drops;          /* messages for no receive, run or group; discarded */
	uint64_t yields, sleeps; /* of blocking waits */
};

/*
 * Open an endpoint. @attr may be NULL. -EINVAL: an attribute is out of range (@error says which);
 * -ENOMEM, -EMFILE and what the system says. Of the kernel engine: -ENODEV: /dev/espgoal is missing;
 * -EACCES: it is not for this user; -EPROTO: the module speaks another ABI; -EDQUOT: this user has
 * no endpoint or memory left there.
 */
GOAL_API int goal_engine_open(const struct goal_engine_attr *attr, struct goal_engine **engine,
			      struct goal_error *error);
/*
 * Close it. Groups and loaded schedules must be gone (-EBUSY; its own thread has ended all the
 * same). What was sent lies in its
 * receivers' memory and still counts. Waits, at most 10 s, until what found no room there, word of
 * failed runs, is sent or its receivers are gone.
 */
GOAL_API int goal_engine_close(struct goal_engine *engine);
GOAL_API void goal_engine_address(const struct goal_engine *engine, struct goal_address *address);
GOAL_API void goal_engine_stats(const struct goal_engine *engine, struct goal_engine_stats *stats);
/*
 * @ranks processes that wait share @cores cores of this node: decides whether blocking waits
 * spin, or yield at once (ranks above cores). Default: cores unknown, so yield soon.
 */
GOAL_API void goal_engine_cores(struct goal_engine *engine, uint32_t ranks, uint32_t cores);
/*
 * Are the owners of two addresses of the same kind of engine and of versions that go together? Are
 * they on the same node? Everybody gets the same answer.
 */
GOAL_API bool goal_address_kin(const struct goal_address *a, const struct goal_address *b);
GOAL_API bool goal_address_near(const struct goal_address *a, const struct goal_address *b);
/*
 * Can the owner of @address be a peer, on the host engine one that shares memory? 0 or -errno; of
 * the kernel engine -EPROTO: its kernel speaks another ABI, -EHOSTUNREACH: it is on another node, and
 * this one has no interface in use.
 */
GOAL_API int goal_engine_reach(struct goal_engine *engine, const struct goal_address *address);
/*
 * Take what has arrived, finish what can be finished, and call back. Number of events (0:
 * nothing to do). Never waits; another thread that is at it is left alone (0).
 */
GOAL_API int goal_engine_progress(struct goal_engine *engine);
/* goal_engine_progress() would have something to poll: runs are active or messages unsent. */
GOAL_API bool goal_engine_active(const struct goal_engine *engine);

/*
 * Cores that processes with the affinity masks @masks[0 .. n - 1] (hwloc list syntax, as
 * goal_cores_mask() gives them) may use together, capped by this process's cgroup quota
 * (rounded up). At least 1.
 */
GOAL_API uint32_t goal_cores_union(const char *const *masks, uint32_t n);
/* This process's own mask, into @text (0-terminated). -ENOSPC. */
GOAL_API int goal_cores_mask(char *text, size_t bytes);

/*
 * The remote transport: how messages reach peers that share no memory. Supplied per group.
 * Everything is called without a lock of the engine's held, from whoever makes progress.
 */
struct goal_remote_ops {
	/*
	 * Start sending @bytes at @buf to @peer / receiving at most @bytes from it. Messages
	 * of one @peer and @tag match in the order of these calls (which is that of their
	 * creation; goal_start() refuses other schedules). @tag is base tag of the run
	 * (goal_run_attr.remote_tag) and tag of the operation. *@request is the transport's own.
	 * 0, or -errno, which fails the run. The memory stays valid until test said done.
	 */
	int (*isend)(void *arg, uint32_t peer, int64_t base, uint32_t tag, const void *buf,
		     uint64_t bytes, void **request);
	int (*irecv)(void *arg, uint32_t peer, int64_t base, uint32_t tag, void *buf,
		     uint64_t bytes, void **request);
	/* 1: done, *@got bytes were received, and the request is gone; 0: not yet; -errno:
	 * failed (-EMSGSIZE: longer than asked for), and the request is gone. */
	int (*test)(void *arg, void *request, uint64_t *got);
	/* Try to cancel. 0: cancelled and gone; -EBUSY: it must be tested to its end. */
	int (*cancel)(void *arg, void *request);
	/*
	 * Take what any peer has sent by isend() with @base goal_group_attr.remote_word and tag
	 * 0: @bytes bytes. 1: taken; 0: there is nothing; -errno. NULL: no way to do so; then
	 * nobody is told of failed runs, and their receives are cancelled.
	 */
	int (*hear)(void *arg, int64_t base, void *word, uint64_t bytes);
};

struct goal_group_attr {
	uint64_t nonce; /* names the group, the same at every member, never reused;
					 * not 0 */
	uint32_t rank;  /* as the peers know us */
	uint32_t npeers;
	const struct goal_address *addresses; /* of the peers, of this kind of engine; NULL: all
					 * of them are remote; copied */
	const struct goal_remote_ops *remote; /* may be NULL when no peer is remote */
	void *remote_arg;
	int64_t remote_word; /* a base tag that no run of any group has, for word of failed ones */
};

/*
 * Add a group. Members need not do so at the same time: messages that come early wait.
 * -EHOSTUNREACH: a peer is not in reach and there is no remote transport (@error says which). The
 * kernel engine needs addresses and no transport, and the member itself among them.
 */
GOAL_API int goal_group_create(struct goal_engine *engine, const struct goal_group_attr *attr,
			       struct goal_group **group, struct goal_error *error);
/*
 * The same for programs without a launcher: @allgather (a callback that gives every member the
 * @bytes of all of them, in rank order; 0 or -errno) exchanges addresses and the nonce.
 * When one member cannot go on, all get an error.
 */
typedef int (*goal_allgather_fn)(void *arg, const void *mine, void *all, size_t bytes);
GOAL_API int goal_group_bootstrap(struct goal_engine *engine, uint32_t rank, uint32_t npeers,
				  goal_allgather_fn allgather, void *arg, struct goal_group **group,
				  struct goal_error *error);
/* Remove it. -EBUSY: runs are active. Messages that were kept for it are dropped. */
GOAL_API int goal_group_free(struct goal_group *group);
/*
 * Every run of it, now and later, ends with @status, which names @peer. -errno: 0 and more, which
 * would be no failure, count as -ECANCELED.
 */
GOAL_API void goal_group_fail(struct goal_group *group, int status, uint32_t peer);
/* Does @peer share memory with us (host engine), or the node (kernel engine)? */
GOAL_API bool goal_group_local(const struct goal_group *group, uint32_t peer);
/* Do the engines of all members reduce with @rop (enum goal_rop) elements of @dtype themselves? */
GOAL_API bool goal_group_computes(const struct goal_group *group, uint32_t dtype, uint32_t rop);

/*
 * Make @schedule ready to run: verified, with memory for one run set aside; further runs that
 * overlap get theirs when they start, kept for reuse: 64 of them, as long as their scratch stays
 * within 1 MiB, that of one left out. The bytes are copied.
 */
GOAL_API int goal_load(struct goal_engine *engine, const struct goal_schedule *schedule,
		       struct goal_loaded **loaded, struct goal_error *error);
/* -EBUSY: runs of it are active, or have not been freed. */
GOAL_API int goal_unload(struct goal_loaded *loaded);
/* Bytes of memory that @loaded holds, schedule and run memory together, scratch left out. */
GOAL_API size_t goal_loaded_bytes(const struct goal_loaded *loaded);

struct goal_segment {
	void *base;
	uint64_t len;
};

/* A buffer: the concatenation of @nseg segments. The array must stay while the run is active. */
struct goal_buffer {
	const struct goal_segment *seg;
	uint32_t nseg;
};

struct goal_run_attr {
	uint32_t op_id;     /* operation id and start number: with the group they name the */
	uint32_t start;     /* run, the same at every member, never reused; ordered */
	int64_t remote_tag; /* base tag handed to the remote transport */
	uint32_t nbufs;
	const struct goal_buffer *bufs; /* by buffer number; copied */
	/* inout[i] = in[i] op inout[i] for @count GOAL_TYPE_USER elements; 0 or -errno. */
	int (*reduce)(void *arg, const void *in, void *inout, uint64_t count);
	void *reduce_arg;
	/*
	 * Called once when the run is over, with 0 or -errno, and without a lock held, from
	 * within any call into the engine, also before goal_start() returns. It may start other
	 * runs. NULL: test or wait for it.
	 */
	void (*done)(void *arg, int status);
	void *done_arg;
};

/*
 * Start @loaded on @group. Every member starts the schedule compiled for its rank with the
 * same op_id and start. 0 and *@run, or -EINVAL (peers of the schedule do not fit the group, or
 * a missing callback or remote transport, or remote peers and an order of messages that may differ
 * from that of their creation, see goal_send()), -EFAULT (a buffer is too small), -ENOMEM, or the
 * error the group has failed with. Nothing has started then, but (-EINVAL apart) its peers are told,
 * and the name of the run is used up. The caller ends the
 * run with goal_run_free(), also from its done callback.
 */
GOAL_API int goal_start(struct goal_group *group, struct goal_loaded *loaded,
			const struct goal_run_attr *attr, struct goal_run **run);
/*
 * Start @run, which is over, again: with all that it was started with, segments and group included,
 * but for the start number. For who runs the same again and again: it is the cheapest start.
 * As goal_start(), and -EBUSY: it is not over, or its done callback has not returned. On error @run
 * stays as it was, for goal_run_free().
 */
GOAL_API int goal_restart(struct goal_run *run, uint32_t start);
/*
 * goal_start(), wait, goal_run_free() in one: the fast way. @idle (may be NULL) is called now
 * and then while waiting. The outcome of the run.
 */
GOAL_API int goal_exec(struct goal_group *group, struct goal_loaded *loaded,
		       const struct goal_run_attr *attr, void (*idle)(void));
/* 1: over and good; 0: active; -errno: over and failed. Makes no progress by itself. */
GOAL_API int goal_run_test(const struct goal_run *run);
/* Make progress until it is over: 0 or -errno. @timeout_ms < 0: for ever; else -ETIMEDOUT. */
GOAL_API int goal_run_wait(struct goal_run *run, int timeout_ms);
/* End it early with -ECANCELED; it is over once its transfers have stopped. */
GOAL_API void goal_run_cancel(struct goal_run *run);
/* The peer whose failure ended the run, or -1. */
GOAL_API int64_t goal_run_peer(const struct goal_run *run);
/* Give it up: at once when it is over, else as soon as it is (it is not cancelled). */
GOAL_API void goal_run_free(struct goal_run *run);

/*
 * inout[i] = in[i] @rop inout[i] for @count elements of @dtype, here and now, with the bits that
 * a run gives. -EINVAL: the two do not go together, or need a callback.
 */
GOAL_API int goal_reduce_local(uint32_t dtype, uint32_t rop, const void *in, void *inout,
			       uint64_t count);

GOAL_END_DECLS

#endif /* GOAL_ENGINE_H */
