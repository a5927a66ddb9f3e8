/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The host engine's objects, and what its files offer each other.
 *
 * Locking. One lock per engine (host_lock()) covers everything here; it exists only with
 * GOAL_ENGINE_THREADS. The core is entered with it held, so the runs need no lock of their own.
 * It is never held around foreign code: callbacks of a run, the remote transport, idle(); such
 * calls are put on lists and made by dispatch.c, by one thread at a time.
 */
#ifndef ENGINE_HOST_H
#define ENGINE_HOST_H

#include <pthread.h>
#include <sys/types.h>

#include <goal/engine.h>

#include "core.h"
#include "list.h"
#include "shm.h"

#define HOST_RUN_HASH   256    /* buckets of active runs; power of two */
#define HOST_EARLY_HASH 64     /* buckets of runs that messages came too early for */
#define HOST_PEER_HASH  64     /* buckets of known endpoints */
#define HOST_FAILED     256    /* failed runs that are remembered, to drop what comes late */
#define HOST_FRAGMENT   16384u /* longest fragment of a rendezvous */
#define HOST_NO_RX      0xffffffffu
#define HOST_FREED      64         /* removed groups that are remembered, for the same reason */
#define HOST_FREE_RUNS  64         /* idle runs kept with a loaded schedule, at most */
#define HOST_FREE_BYTES (1u << 20) /* scratch of all of them but one, at most */

/* The plain bytes in a struct goal_address. */
struct host_address {
	u64 magic;
	u32 version;
	u32 pid;
	u8 boot[16]; /* boot id of the kernel: another one is another machine */
	u64 cookie;  /* random: names the endpoint for ever */
	u64 since;   /* start time of the process, in clock ticks since boot */
	u32 node;    /* goal_engine_attr.node */
	u32 uid;
	s32 fd; /* of its segment, -1: it has none */
	u32 spare;
};

_Static_assert(sizeof(struct host_address) <= sizeof(struct goal_address), "it fits");

/* One mailbox of our own segment that has a producer. */
struct host_rx {
	struct shm_slot *next; /* the slot that is read next */
	u32 lap;               /* its stamp, once it is written */
	u32 head;              /* slots read, free running */
	u32 published;         /* how many of them the producer knows of */
	u32 data_head;         /* payload bytes read, free running */
	u32 msgs, bytes;       /* eager messages given up, and their bytes */
	u32 held;              /* messages of it that are kept in memory */
	u32 index;             /* of the mailbox */
	struct shm_box *box;
	struct host_peer *peer;
};

/* An endpoint of this node, as one that messages are sent to. */
struct host_peer {
	/* The mailbox in its segment that is ours; room is 0 while there is none. */
	u32 room; /* eager messages that can be sent without looking anything up */
	u32 tail; /* slots written, free running */
	struct shm_slot *slots;
	u32 slot_mask, slot_shift;
	struct shm_header *shm; /* its segment's header */
	u64 msgs, bytes;        /* eager messages sent, and their bytes */

	struct shm_box *box;
	u8 *data;
	u32 data_mask, data_tail;
	u32 eager; /* longest payload that it takes unasked from us */
	u32 credit_msgs, credit_bytes;
	struct shm_taken taken; /* what we last read there */

	struct list pending; /* transfers that wait for room (host_xfer.link) */
	struct goal_engine *engine;
	struct host_peer *hash_next;
	struct list all; /* engine->peers */
	struct goal_address address;
	u64 cookie;
	u64 since;
	size_t map_bytes;
	void *map; /* of the mailbox */
	u32 refs;  /* groups, mailboxes and kept messages that name it */
	u64 first, stride;
	u32 boxes;     /* in its segment */
	u32 box_index; /* of our mailbox there */
	u32 rx;        /* engine->rx[] of its mailbox here, or HOST_NO_RX */
	u32 told;      /* last failed run that it was told of (engine->telling) */
	int fd;        /* of its segment, until the mailbox is mapped */
	int pidfd;     /* -1: the kernel has none; then pid and since tell */
	u32 pid;
	u32 unheard; /* shm->nunheard, as last seen */
	bool mute;   /* it got no mailbox of ours: nothing will come from it */
	bool self;   /* it is this engine */
	bool dead;   /* its process is gone, or its engine is closed */
};

/* An arrived message that has no receive yet: the core's opaque msg. */
enum host_msg_kind {
	HOST_MSG_EAGER, /* payload is here */
	HOST_MSG_RTS,   /* payload is at the sender */
	HOST_MSG_SELF,  /* payload is in the sending operation's buffer, in the same run */
	HOST_MSG_GONE   /* no message: the sender's part of the run failed */
};

struct host_msg {
	struct host_msg *next;
	struct host_peer *peer; /* who sent it; NULL for SELF */
	u32 kind;
	bool large; /* which pool it came from */
	u32 src, tag, instance;
	u64 len;
	struct shm_id sender; /* RTS, SELF */
	u8 data[];
};

#define HOST_MSG_SMALL 64 /* payload bytes of a small message object */

/* Messages of a run that has not been started here (or of a group that is not here yet). */
struct host_early {
	struct host_early *next;
	u64 nonce, key;
	struct host_msg *first, **last;
};

enum host_xfer_state {
	HOST_XFER_FREE = 0,
	/* Waiting for room in the peer's mailbox, on peer->pending: */
	HOST_XFER_EAGER,  /* a small message */
	HOST_XFER_RTS,    /* an RTS */
	HOST_XFER_FRAGS,  /* fragments */
	HOST_XFER_CTS,    /* a CTS, then ASKED */
	HOST_XFER_REFUSE, /* a CTS that says: forget it; no run */
	HOST_XFER_ABORT,  /* a fragment that says: no more; no run */
	HOST_XFER_GONE,   /* word of a message that will not come; no run */
	/* Waiting for the peer: */
	HOST_XFER_OFFERED, /* RTS is sent; CTS will come */
	HOST_XFER_ASKED,   /* CTS is sent; fragments will come */
	HOST_XFER_SELF,    /* to this rank itself: the receive will start */
	/* Waiting for the dispatcher: */
	HOST_XFER_REDUCE, /* a reduction by the run's callback */
	HOST_XFER_ISEND,  /* to be given to the remote transport */
	HOST_XFER_IRECV,
	HOST_XFER_WORD,    /* word of a failed run, to be given to it; no run */
	HOST_XFER_SENDING, /* given to it */
	HOST_XFER_RECEIVING,
	/* A failed run's empty message in place of one that it has not sent: */
	HOST_XFER_HELD /* until its peer has said that it knows */
};

/* What a failed run says to a remote peer. The same on every machine that can run together. */
struct host_word {
	u64 key; /* of the run */
	u32 magic;
	u32 src;    /* whose part of it has failed, as the peer knows it */
	u32 answer; /* to a word: needs none */
	u32 spare;
};

#define HOST_WORD_MAGIC 0x676f6e65u

/* An operation that takes more than one step. From a pool that grows at load time. */
struct host_xfer {
	struct list link;     /* pool, peer->pending, a dispatcher's list, or none */
	struct list run_link; /* run->xfers */
	struct goal_run *run; /* NULL: the run is over; the peer is still told */
	struct host_peer *peer;
	struct shm_id id;     /* ours */
	struct shm_id remote; /* the peer's: receiver of FRAGS, sender of CTS */
	u32 state;            /* enum host_xfer_state */
	u32 op;
	u64 bytes; /* of the message, after CTS what is asked for */
	u64 done;  /* moved so far */
	/* Names the message when the run is gone. */
	u64 nonce, key;
	u32 src, tag, instance;
	bool cancelling;
	bool drain;               /* the message is taken for the transport's sake alone */
	bool told;                /* HELD: its peer is told */
	struct goal_group *group; /* of what goes through the remote transport */
	void *request;            /* that's */
	void *bounce;             /* contiguous copy for it */
	struct goal_run *teller;  /* whose word it is, and waits until it is said */
	struct host_word word;
};

struct goal_engine {
	/* What each poll looks at. */
	struct host_rx *rx;
	u32 nrx, room_rx;
	u32 bell; /* shm->bell, as last seen */
	struct shm_header *shm;
	struct goal_run *last; /* the last run that a message was for */
	u32 npending;          /* transfers on some peer->pending */
	u32 nearly;            /* messages that wait for a run to start */
	u32 ncalls;            /* entries of the dispatcher's lists */
	u32 active;            /* runs */
	u32 nover;             /* runs that are over */
	bool threads;
	bool dispatching; /* somebody is in host_dispatch() */
	u32 *fork_seen;   /* counts forks in the child; host_elsewhere() */
	u32 fork_mark;
	struct goal_run *hash[HOST_RUN_HASH];

	pthread_mutex_t lock;
	struct goal_engine_stats stats;
	struct host_address address;
	struct goal_engine_attr attr;

	/* memory */
	struct host_msg *free_msg[2]; /* small, large */
	struct host_early *free_early;
	struct list free_xfers;
	u32 nfree_xfers;
	struct host_xfer **xfers; /* by id.index */
	u32 nxfers;
	void **blocks; /* everything the pools were cut from */
	u32 nblocks, room_blocks;

	struct host_early *early[HOST_EARLY_HASH];
	struct host_peer *peer_hash[HOST_PEER_HASH];
	struct list peers;
	struct list groups;
	u32 nloaded;
	struct {
		u64 nonce, key;
	} failed[HOST_FAILED];
	u32 nfailed;
	u32 telling;
	u64 freed[HOST_FREED]; /* nonces of groups that were removed */
	u32 nfreed;
	u64 early_nonce; /* last one of an early message that is not among them */

	/* the dispatcher's lists */
	struct list reductions;
	struct list remote_posts;
	struct list remote_active;
	struct goal_run *over, **over_last; /* with a callback, or given up */
	u32 nfailing;                       /* failed runs that remote peers must still know of */
	u32 remote_rounds;                  /* since the clock was looked at */
	u64 listened;                       /* when peers were last listened to */

	/* waiting */
	bool spins; /* enough cores: spin before yielding */
	u64 moved;  /* events so far */
	u64 quiet_mark, quiet_since, quiet_checked;
	u32 quiet_polls;

	/* endpoint */
	int fd;
	u32 boxes;
	u64 first, stride; /* our own copy: others can write to the segment */
	size_t map_bytes;
	u8 known[SHM_BOXES / 8]; /* mailboxes in rx[] */

	/* progress thread */
	pthread_t thread;
	bool has_thread;
	bool stop;
};

struct goal_group {
	struct goal_engine *engine;
	u64 nonce;
	u32 rank, npeers;
	u32 nremote; /* peers that only the transport reaches */
	const struct goal_remote_ops *remote;
	void *remote_arg;
	struct list link; /* engine->groups */
	struct list runs; /* active */
	int64_t word;     /* base tag for word of failed runs */
	int status;       /* of a group that has failed */
	u32 status_peer;
	bool left;                /* a peer has died, closed its engine, or cannot reach us */
	struct host_peer *peer[]; /* by rank; NULL: remote */
};

struct goal_loaded {
	struct goal_engine *engine;
	struct goal_run *free; /* idle runs */
	u32 nfree, nactive;
	u32 keep;   /* idle runs, at most */
	bool user;  /* has a reduction by callback */
	bool loose; /* not for remote peers (order.c) */
	size_t bytes;
	struct core_sched sched;
	u64 data[]; /* the schedule's bytes */
};

struct goal_run {
	struct core_run core;
	struct goal_engine *engine;
	struct goal_group *group;
	u64 nonce, key;
	struct goal_run *hash_next, **hash_prev;
	struct list group_link;
	struct list xfers; /* of it, unfinished */
	struct goal_loaded *loaded;
	struct goal_run *next; /* loaded->free, or engine->over */
	s32 over;              /* set last, with release */
	bool given_up;         /* goal_run_free() was called */
	bool called;           /* on engine->over, or its callback runs */
	bool refused;          /* never started: peers are told, nothing else */
	bool failing;          /* counted in engine->nfailing */
	bool lacking;          /* memory, to see to all of its remote operations */
	u32 lost;              /* one of them that nothing stands for yet, or GOAL_OP_NONE */
	bool ended;            /* the core is done with it; it waits for holds */
	u32 holds;             /* words being said, and looks for words, which need the group */
	u32 unsent;            /* the send that has failed it, or GOAL_OP_NONE */
	int64_t remote_tag;
	int (*reduce)(void *arg, const void *in, void *inout, uint64_t count);
	void *reduce_arg;
	void (*done)(void *arg, int status);
	void *done_arg;
	struct core_segment scratch;
};

static inline struct goal_run *host_run(struct core_run *r)
{
	return (struct goal_run *)((char *)r - offsetof(struct goal_run, core));
}

static inline void host_lock(struct goal_engine *e)
{
	if (unlikely(e->threads))
		pthread_mutex_lock(&e->lock);
}

static inline bool host_trylock(struct goal_engine *e)
{
	return likely(!e->threads) || pthread_mutex_trylock(&e->lock) == 0;
}

static inline void host_unlock(struct goal_engine *e)
{
	if (unlikely(e->threads))
		pthread_mutex_unlock(&e->lock);
}

/*
 * @e is not for the host engine's functions: it is a kernel engine, or this process is a child that
 * has inherited it and must leave it alone. The functions of kernel.h tell which.
 */
static inline bool host_elsewhere(const struct goal_engine *e)
{
	return unlikely(READ_ONCE(*e->fork_seen) != e->fork_mark);
}

/* engine.c: how many forks led to this process; counted from the first call on. */
u32 *host_forks(void);
/* Flags and the attributes of waiting: defaults, then ranges. */
int host_check_attr(struct goal_engine_attr *a, u32 flags, struct goal_error *error);

static inline u32 host_hash(u64 nonce, u64 key, u32 buckets)
{
	u64 h = (nonce ^ key * 0x9e3779b97f4a7c15ull) * 0xff51afd7ed558ccdull;

	return (u32)(h >> 40) & (buckets - 1);
}

/* error.c: fill in @error, when there is one, and return @code. */
int host_error(struct goal_error *error, int code, u64 where, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

/* memory.c: pools, and every malloc of the engine. The lock is held, or nobody else is there. */
void *host_alloc(struct goal_engine *e, size_t bytes); /* zeroed; counted */
int host_pools_init(struct goal_engine *e);
void host_pools_free(struct goal_engine *e);
struct host_msg *host_msg_get(struct goal_engine *e, u64 payload);
void host_msg_put(struct goal_engine *e, struct host_msg *m);
int host_early_reserve(struct goal_engine *e);
struct host_early *host_early_get(struct goal_engine *e);
void host_early_put(struct goal_engine *e, struct host_early *early);
int host_xfer_reserve(struct goal_engine *e, u32 n); /* have at least @n free ones */
struct host_xfer *host_xfer_get(struct goal_engine *e, struct goal_run *r, u32 op, u32 state);
void host_xfer_put(struct goal_engine *e, struct host_xfer *x);
struct host_xfer *host_xfer_find(struct goal_engine *e, struct shm_id id);

/* endpoint.c: our own segment. */
int host_endpoint_open(struct goal_engine *e, struct goal_error *error);
void host_endpoint_close(struct goal_engine *e, bool forked);
void host_endpoint_scan(struct goal_engine *e); /* the bell rang: mailboxes came or went */
void host_endpoint_retire(struct goal_engine *e);
void host_endpoint_reclaim(struct goal_engine *e);
bool host_rx_empty(const struct host_rx *rx);
u64 host_process_since(u32 pid); /* start time of a process; 0: there is none */

/* peer.c: other endpoints. */
bool host_address_valid(const struct goal_address *a, struct host_address *out);
bool host_address_near(const struct goal_engine *e, const struct host_address *a);
int host_peer_get(struct goal_engine *e, const struct goal_address *a, struct host_peer **peer);
int host_peer_attach(struct goal_engine *e, struct host_peer *p);
int host_peer_claim(struct goal_engine *e, struct host_peer *p); /* our mailbox there */
void host_peer_unheard(struct goal_engine *e, const struct host_peer *p);
void host_peer_put(struct goal_engine *e, struct host_peer *p);
bool host_peer_gone(struct host_peer *p);
void host_run_check_peers(struct goal_run *r);
void host_peers_check(struct goal_engine *e); /* look for dead ones, and end runs */
void host_peers_free(struct goal_engine *e, bool forked);

/* progress.c: take what has arrived. The lock is held. Number of events. */
u32 host_poll(struct goal_engine *e);
/* Everything that goal_engine_progress() does; the lock is not held. */
u32 host_progress(struct goal_engine *e);
struct goal_run *host_run_find(struct goal_engine *e, u64 nonce, u64 key);

/* message.c: messages without a receive. */
void host_message(struct goal_run *r, struct host_msg *m); /* give it to the run, or drop it */
void host_message_early(struct goal_engine *e, u64 nonce, u64 key, struct host_msg *m);
void host_message_start(struct goal_run *r);
void host_message_drop(struct goal_engine *e, struct host_msg *m);
void host_messages_forget(struct goal_engine *e, u64 nonce); /* 0: of every group */
int host_deliver(struct goal_run *r, u32 op, struct host_msg *m);

/* send.c, rendezvous.c: what env_send() cannot do with one store. */
int host_send(struct goal_run *r, u32 op, u64 bytes);
u32 host_pending(struct goal_engine *e); /* try again to send what found no room */
void host_xfer_end(struct goal_engine *e, struct host_xfer *x, int status);
void host_xfer_send(struct goal_engine *e, struct host_xfer *x);
void host_send_gone(struct goal_run *r, u32 op, struct host_peer *p);
bool host_xfer_push(struct goal_engine *e, struct host_xfer *x);
bool host_push_fragments(struct host_xfer *x);
int host_receive(struct goal_run *r, u32 op, struct host_peer *p, struct shm_id sender, u64 bytes);
int host_refuse(struct goal_engine *e, struct host_peer *p, struct shm_id sender);
void host_granted(struct goal_engine *e, struct host_peer *p, const struct shm_cts *cts);
void host_fragment(struct goal_engine *e, struct host_peer *p, const struct shm_frag *frag,
		   const void *data, u32 len);
void host_xfer_detach(struct host_xfer *x);                             /* its run failed */
void host_xfers_drop(struct goal_engine *e, const struct host_peer *p); /* the peer died */

/* move.c: bytes between buffers of a run. */
void host_copy_out(const struct core_binding *b, u64 off, void *to, u64 len);
void host_copy_in(const struct core_binding *b, u64 off, const void *from, u64 len);
int host_move(struct goal_run *r, u32 op);
int host_reduce(struct goal_run *r, u32 op);
int host_reduce_user(struct goal_run *r, u32 op);
int host_self_send(struct goal_run *r, u32 op, u64 bytes);
int host_self_deliver(struct goal_run *r, u32 op, struct host_msg *m);

/* order.c: 0 or -ENOMEM. */
int host_order(struct goal_engine *e, const struct core_sched *s, bool *loose);

/* remote.c */
int host_remote(struct goal_run *r, u32 op, u64 bytes, bool send);
u32 host_remote_post(struct goal_engine *e);
u32 host_remote_test(struct goal_engine *e);

/* failed.c: what remote peers must know of failed runs. */
static inline bool host_tells(const struct goal_group *g)
{
	return g->remote->hear;
}

void host_failed(struct goal_run *r);
void host_failed_release(struct goal_run *r);
void host_failed_over(struct goal_run *r);
void host_failed_hold(struct host_xfer *x, int status);
bool host_failed_lost(struct goal_run *r, u32 op);
void host_failed_told(struct goal_run *r, u32 src);
void host_failed_said(struct goal_engine *e, struct host_xfer *x, int status);
u32 host_failed_listen(struct goal_engine *e);

/* dispatch.c: call foreign code. The lock is not held. Number of events. */
u32 host_dispatch(struct goal_engine *e);

/* run.c */
void host_run_failed(struct goal_run *r);
void host_run_done(struct goal_run *r);
void host_run_put(struct goal_run *r);
struct goal_run *host_run_new(struct goal_loaded *l, u64 scratch);
void host_run_fail(struct goal_run *r, int status, u32 peer);

/* group.c */
void host_group_fail(struct goal_group *g, int status, u32 peer);

/* wait.c */
void host_wake(struct shm_header *shm);
int host_wait(struct goal_engine *e, struct goal_run *r, int timeout_ms, void (*idle)(void));
u32 host_sleep(struct goal_engine *e, u32 us);
u64 host_now(void); /* monotonic ns */
void host_quiet(struct goal_engine *e);

/* thread.c */
int host_thread_start(struct goal_engine *e);
void host_thread_stop(struct goal_engine *e);

#endif /* ENGINE_HOST_H */
