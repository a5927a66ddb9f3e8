/* SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause */
/*
 * The protocol half of the core: what a home sees of ESP, as core.h is for the interpreter.
 * The frames are in uapi/esp_wire.h, the rules in doc/protocol.md.
 *
 * Who is who
 *	struct esp_node    this node: rails, parameters, the pull scheduler
 *	struct esp_rail    a network interface of this node
 *	struct esp_ep      an endpoint, one process
 *	struct esp_member  an endpoint's place in a group: its rank and the rank table
 *	struct esp_run     a run, beside its struct core_run
 *	struct esp_flow    the connection to one other node
 *	struct esp_msg     a message to be sent, one send operation
 *	struct esp_rx      a message on its way in that one frame does not settle
 * The home embeds them in its own, zeroed, and fills in what is marked (home). The rest belongs
 * to the core.
 *
 * Locks. Only pump_esp.c takes them: one per flow (everything in esp_flow, its messages,
 * receptions and records), one per node (pull scheduler, refusals that wait, what members know
 * of failures). Never two at once, and never one together with a run's. What must not happen
 * under a lock (moving bytes, transmitting, letting runs advance, ending messages) is noted in a
 * struct esp_todo and done afterwards. Any number of entries may run at the same time, also from
 * within those env_*() calls that are made without a lock. Whatever is given to an entry, its
 * caller keeps alive until the entry returns.
 *
 * A home supplies, beside what core.h asks for,
 *
 *   in env.h:
 *	le16_to_cpu() to le64_to_cpu(), cpu_to_le16() to cpu_to_le64(), offsetof, memcmp; __force
 *	and __bitwise if sparse wants them
 *
 *   in env_esp.h, included at the end of this file, as static inlines:
 *
 *	void env_flow_lock(struct esp_flow *), env_flow_unlock(...)
 *	void env_node_lock(struct esp_node *), env_node_unlock(...)
 *	u64  env_random(struct esp_node *)	not to be guessed
 *	u32  env_crc32c(u32 crc, const void *, u32 len)	CRC32C without pre- or postconditioning
 *	u64  env_prf(struct esp_node *, u32 key, const void *, u32 len)	keyed hash. The home draws a
 *		fresh key for each number and needs to keep the last two
 *	void env_count(struct esp_node *, enum esp_count, u64 by)
 *
 *   memory: any of these may answer NULL or -ENOMEM, at any time
 *	void *env_pool_get(struct esp_node *, enum esp_pool), void env_pool_put(n, pool, void *)
 *	struct esp_rx *env_rx_get(struct esp_ep *, enum esp_pool), void env_rx_put(ep, pool, rx)
 *		the same, of ESP_POOL_RX or ESP_POOL_RX_POSTED, for messages to that endpoint, which is kept
 *		until they are given back. A home where endpoints do not trust each other gives each its share
 *	struct esp_ctl *env_ctl_get(struct esp_node *, u64 cookie), void env_ctl_put(n, struct esp_ctl *)
 *		the same, of ESP_POOL_CTL, on account of this endpoint of the node, or of nobody if there is
 *		none. It keeps whose that is in c->account
 *	struct esp_flow *env_flow_alloc(struct esp_node *, const struct esp_peer *, bool wanted)
 *		zeroed, with one reference; for that peer. @wanted: a rank table has it, else it has
 *		opened the flow itself
 *	int  env_room_get(struct esp_ep *, struct esp_rx *, u64 bytes)	unexpected memory for an
 *		eager message, named by rx->ref. Bounded per endpoint; -ENOMEM: the message is
 *		refused
 *	void env_room_put(struct esp_ep *, struct esp_rx *)
 *
 *   look-ups: what they answer carries a reference, to be returned by the _put
 *	struct esp_flow *env_flow_by_cid(n, u64 cid), *env_flow_by_peer(n, const u8 node[16])
 *	struct esp_flow *env_flow_next(n, struct esp_flow *prev)	all of them: NULL first and
 *		last; gives prev's reference back
 *	int  env_flow_insert(struct esp_flow *)	by f->cid and f->peer.node, takes a reference for
 *		the tables; -EEXIST: one of them is in use
 *	int  env_flow_rename(struct esp_flow *, u64 cid)	under its lock: moves it to the new
 *		cid and sets f->cid; -EEXIST: in use
 *	void env_flow_remove(struct esp_flow *)	under its lock: out of the tables, their reference
 *		is given back
 *	void env_flow_get(f), env_flow_put(f)
 *	void env_endings(struct esp_node *, s32 more), bool env_any_ending(n)	a number that each CPU
 *		sees as it is: atomic, with full barriers
 *	struct esp_member *env_member_find(n, u64 cookie, u64 nonce), void env_member_get(m),
 *		env_member_put(m)
 *	struct esp_member *env_member_next(n, struct esp_member *prev)	as above
 *	bool env_any_ep(n)	is any endpoint here that may still send or take something?
 *	enum esp_ep_state env_ep_state(n, u64 cookie)	a home whose endpoints publish their cookies only
 *		when they are open may answer GONE to one it does not know
 *	struct esp_run *env_run_find(m, u32 opid, u32 start)	started and not over; env_run_get(r),
 *		env_run_put(r). Who makes a run known and who looks for it take the same lock, or
 *		one of them sees what the other did before it
 *	struct esp_run *env_run_next(m, struct esp_run *prev)	as above
 *	bool env_run_past(m, u32 opid, u32 start)	was started here and is over
 *
 *   frames
 *	const u8 *env_frame_bytes(void *frame, u32 off, u32 len, u8 *buf)	these bytes, in place
 *		or copied to buf; of a frame, always the one or always the other
 *	u32  env_frame_crc(void *frame, u32 off, u32 len, u32 crc)
 *	struct esp_out *env_out_get(struct esp_rail *)	a frame to be filled in, or NULL;
 *		env_out_put(struct esp_rail *, struct esp_out *) gives it back unsent
 *	void env_out(struct esp_rail *, struct esp_out *)	under a flow's lock: queues it, and takes
 *		the references its payload needs until it is on the wire
 *	void env_kick(struct esp_rail *)	without a lock: transmits what is queued, in order, one
 *		drainer at a time; each frame is sealed by esp_seal() there
 *
 *   payload, without a lock
 *	int  env_place(struct esp_rx *rx, struct esp_run *r, u32 op, u64 off, void *frame,
 *		u32 foff, u32 len)	bytes of the frame into the receive @op of @r at @off, or, when
 *		r is NULL, into the unexpected memory of rx. CORE_DONE, or CORE_PENDING:
 *		esp_placed() with the same arguments follows, and the home keeps the frame and
 *		the run until then. rx is NULL when this is the whole message.
 *	int  env_unpack(struct esp_rx *rx, struct esp_run *r, u32 op)	unexpected memory to the receive.
 *		CORE_DONE, or CORE_PENDING: esp_unpacked() follows, the run is kept until then
 *
 *   results, without a lock
 *	void env_sent(struct esp_msg *, s32 status)	the message is accepted (0) or given up
 *		(-errno): the core has forgotten it
 *	void env_run_cancel(struct esp_run *, s32 status, u32 rank)	the run fails: core_cancel() it (which
 *		does nothing if it has failed already), esp_send_cancel() its long messages, and
 *		esp_run_cancelled(). The caller has a reference
 *	void env_member_failed(struct esp_member *)	the same for every run of it with m->failed
 *		and m->failed_rank
 *	void env_timer(struct esp_flow *, u64 when)	under its lock: call esp_timer() then, or a
 *		little later. Only the last word counts; ESP_NEVER: not at all
 *	void env_look(struct esp_node *)	esp_look() is wanted, soon, and again until it answers
 *		false; from where much may be done, and with pauses in between
 *	struct esp_batch *env_batch(struct esp_node *)	of this CPU or thread
 *
 * Time is u64 nanoseconds, monotonic, greater than 0, given as @now to every entry.
 */
#ifndef ESP_H
#define ESP_H

#include "core.h"
#include "esp_list.h"
#include "esp_wire.h"
#include "esp_count.h"

/*
 * For what is filled in before it is read, and is too large to be cleared for every frame, as
 * compilers are told to do with all variables.
 */
#if defined(__has_attribute)
#if __has_attribute(uninitialized)
#define ESP_UNSET __attribute__((uninitialized))
#endif
#endif
#ifndef ESP_UNSET
#define ESP_UNSET
#endif

#define ESP_NEVER (~0ull)
#define ESP_US    1000ull
#define ESP_MS    1000000ull
#define ESP_S     1000000000ull

#define ESP_SENT_ITEMS   4    /* things one record names; more take a further record */
#define ESP_RANGES       16   /* pieces of a message a receiver keeps apart */
#define ESP_TX_HASH      64   /* heads of a flow's messages by id */
#define ESP_RX_HASH      32   /* heads of its receptions by id */
#define ESP_RX_KEYS      64   /* heads of its receptions by key */
#define ESP_QUEUE_HASH   32   /* heads of its queues by endpoint */
#define ESP_PARK_HASH    32   /* heads of its refused messages by group; bits of a u32 */
#define ESP_PAUSES       7    /* lengths of the pause after BUSY */
#define ESP_REFUSED      16   /* refusals of a flow that its peer has not confirmed */
#define ESP_REFUSED_SAID 0x80 /* in esp_flow.refused_how: it is in flight */
#define ESP_GONES        8    /* endpoints of which a flow has to say that they are gone */
#define ESP_PASTS        64   /* OPENs that a node remembers not to believe again */
#define ESP_TOMBS        16   /* aborted runs a member remembers */
#define ESP_ACTIVE       16   /* pulls that hold grants at the same time */
#define ESP_STREAMS      4    /* operation ids of which a member knows the last run */
#define ESP_WAIT_HASH    256  /* heads of what waits at a node: refusals, early aborts */
#define ESP_FANOUT       32   /* members an abort is passed on to: rank + 2^k */

/* Pools of fixed-size objects; esp_pool_size(): their bytes. */
enum esp_pool {
	ESP_POOL_SENT,  /* up to ESP_PN_SPAN per busy path, and more for frames full of messages */
	ESP_POOL_CTL,   /* refusals that wait, aborts */
	ESP_POOL_QUEUE, /* one per flow and sending endpoint */
	ESP_POOL_RX,    /* messages ahead of their receive */
	ESP_POOL_RX_POSTED, /* long ones and fragments for posted receives: never shared with the
			     * former, or deadlock. One is enough to make progress */
	ESP_POOLS
};

/* Parameters of a node; esp_params_default() fills them in. Times in ns. */
struct esp_params {
	u32 eager_max;   /* longest eager message, at most ESP_EAGER_MAX */
	u32 features;    /* ESP_FEAT_* */
	u32 window_init; /* frames in flight on a fresh path */
	u32 window_max;  /* and at most, up to ESP_PN_SPAN */
	u32 window_min;
	u32 ack_every;  /* acknowledge at the latest after so many frames */
	u32 refuse_max; /* refusals that wait, per flow */
	u32 keep_max;   /* messages ahead of their run that are kept, per endpoint */
	u32 keep_ahead; /* ... by at most so many runs, and by fewer the more are kept */
	u32 pull_pct;   /* granted and not yet here, in % of bandwidth * delay */
	u32 pull_min;   /* ... but at least so many bytes */
	u64 pull_rate;  /* bytes per second of the downlink when no rail knows its speed */
	u32 hello_rate; /* answers to unverified frames per second; the burst too */
	u32 pn_first;   /* first packet number; 0: random */
	u32 mid_first;  /* first message id; 0: random */
	bool no_pull;   /* grants every long message at once (for comparison) */
	u64 rtt_init;   /* before there is a measurement */
	u64 rto_min;
	u64 rto_max;
	u64 probe_min;   /* the tail-loss probe waits that much longer than it would have to */
	u64 ack_delay;   /* of those that nobody waits for, at least: answers mostly come before */
	u64 queue_delay; /* the window grows until the round trip exceeds the least one by this or
			   * by its double, whichever is more */
	u64 hello_retry; /* first pause; doubles, up to 64 times that */
	u64 death;       /* nothing acknowledged for so long: the peer is dead */
	u64 idle;        /* nothing at all for so long: the flow is forgotten; at least 2 * death */
	u64 watch;       /* a peer somebody waits for is asked this often whether it lives */
	u64 linger;      /* messages outlive their endpoint by this */
	u64 mtu_retry;
	u64 rail_retry; /* a dead path is tried again */
	u64 busy_retry; /* pause after BUSY; doubles up to 64 times that */
	u64 hold;       /* messages held behind others go after that, a few at a time */
	u64 local_retry; /* pause after the home had no frame or no record; doubles up to 128 times */
};

struct esp_node;
struct esp_flow;
struct esp_queue;
struct esp_ctl;
struct esp_rx;

/* A network interface. */
struct esp_rail {
	struct esp_node *node; /* (home) */
	struct esp_addr addr;  /* (home) ours */
	u64 speed;             /* (home) bytes per second, 0: unknown */
	u16 mtu;               /* largest total_len it carries, ESP_MTU_MIN to ESP_MTU_MAX */
	u8 place;              /* in node->rail: its path */
	bool up;
};

/* Another node, as rank tables name it. */
struct esp_peer {
	u8 node[16];
	struct esp_addr addr[ESP_PATHS]; /* by path, carrier NONE: none */
};

/* Who a group's ranks are; shared by the members, read-only. */
struct esp_rank {
	u64 cookie; /* of the endpoint */
	u32 peer;   /* index into esp_table.peer */
};

struct esp_table {
	u32 nranks;
	u32 npeers;
	const struct esp_rank *rank;
	const struct esp_peer *peer;
	u32 *index; /* esp_table_index(), or NULL: few enough to be searched from front to back */
};

/* The receive a message is for. */
struct esp_key {
	u64 nonce;  /* of the group */
	u64 cookie; /* of the receiving endpoint */
	u32 opid, start;
	u32 src; /* the sender's rank */
	u32 tag, instance;
};

struct esp_ep {
	struct esp_node *node; /* (home) */
	u64 cookie;            /* (home) */
	u32 nkept;             /* messages ahead of their run; under the node's lock */
};

/* What a node knows of an endpoint, by its cookie: env_ep_state(). */
enum esp_ep_state {
	ESP_EP_OPEN = 0, /* it is here, or may still come */
	ESP_EP_LEFT, /* closed cleanly, less than params.linger ago: what comes for it is too late */
	ESP_EP_GONE, /* closed otherwise, or long ago: who waits for it waits in vain */
};

/* A run that was aborted, so that its late start fails and its abort is passed on once. */
struct esp_tomb {
	u64 at; /* 0: unused */
	u32 opid, start;
	u32 rank;
	s32 status;
	u32 tell; /* bit k: still to be told to rank + 2^k */
};

struct esp_member {
	struct esp_ep *ep;             /* (home) */
	const struct esp_table *table; /* (home) */
	u64 nonce;                     /* (home) */
	u32 rank;                      /* (home) */
	u64 ran[ESP_STREAMS]; /* the run started last, opid and start: a hint, without a lock */
	/* under the node's lock */
	s32 failed; /* 0, or the status of every run */
	u32 failed_rank;
	u32 tell;     /* bit k: the failure is still to be told to rank + 2^k */
	bool telling; /* in esp_node.tell_first */
	struct esp_member *tell_next;
	/* of esp_member_watch() */
	u32 watched;                  /* how often all runs were looked at */
	u32 watch_steps, watch_peers; /* that this round has taken */
	/* under the node's lock */
	bool tombs; /* there are any */
	struct esp_tomb tomb[ESP_TOMBS];
};

struct esp_run {
	struct core_run *run; /* (home) */
	struct esp_member *m; /* (home) */
	u32 opid, start;      /* (home) */
	u64 started;
	u32 watch_at; /* the next one of its operations whose peer is to be watched */
	u32 watched;  /* esp_member.watched when it was looked at last */
	bool refused; /* something for it was refused and may wait for its receive */
};

/* The bytes [from, to) of a message. */
struct esp_range {
	u64 from, to;
};

enum esp_msg_state {
	ESP_MSG_IDLE = 0, /* not ours */
	ESP_MSG_QUEUED,   /* has something to be said */
	ESP_MSG_FLIGHT,   /* everything allowed is said, and not all of it acknowledged */
	ESP_MSG_PARKED,   /* refused, waits for READY; or held */
	ESP_MSG_PAUSED,   /* refused with BUSY, waits for its time */
};

/*
 * In a list that is gone through in parts: one of what the list is of, or how far somebody has got
 * with it, which the others pass over.
 */
struct esp_row {
	struct esp_link link;
	bool mark;
};

/* A message to be sent. */
struct esp_msg {
	struct esp_key key;    /* (home) */
	struct esp_ep *ep;     /* (home) the sender; NULL when it has closed */
	void *ref;             /* (home) names the payload; for env_out() only */
	u64 len;               /* (home) */
	struct esp_flow *flow; /* with a reference */
	struct esp_queue *queue;
	struct esp_row all;    /* in queue->msgs */
	struct esp_link link;  /* in a list of its queue, or of refused ones; then of an esp_todo */
	struct esp_link open;  /* in flow->open while its id holds the window */
	struct esp_link leave; /* in flow->leaving once its endpoint has closed */
	struct esp_link items; /* esp_item.of: what is in flight */
	struct esp_link lost;  /* esp_item.of: bytes to be sent again, ascending */
	struct esp_range again; /* the same, when flow->spare carried them */
	struct esp_msg *hash;   /* next of the same head, while it has an id */
	u64 next;               /* first byte never sent */
	u64 granted;            /* long: may be sent up to here */
	u64 acked;              /* bytes acknowledged */
	u64 again_at;           /* PAUSED: to be tried again; held: to be sent all the same */
	u64 due;                /* its endpoint has closed: to be given up */
	u32 mid;
	s32 status;
	u8 state; /* enum esp_msg_state */
	u8 tries; /* how often it was BUSY */
	bool has_mid;
	bool eager;
	bool head;      /* RTS, or an eager message of no bytes: is to be said */
	bool cancelled; /* CANCEL is to be said, or was */
	bool ahead;     /* PARKED, because its run is not there yet */
	bool held;      /* PARKED, and was never sent: behind one of those */
	bool scout;     /* was held, and is sent to learn whether more may follow */
};

enum esp_item_kind {
	ESP_ITEM_NONE = 0,
	ESP_ITEM_BYTES,   /* [from, to) of msg */
	ESP_ITEM_HEAD,    /* RTS of msg, or its only MSG of no bytes */
	ESP_ITEM_CANCEL,  /* of msg */
	ESP_ITEM_CTL,     /* ctl */
	ESP_ITEM_GONE,    /* of the endpoint whose cookie from is */
	ESP_ITEM_GRANT,   /* of the reception mid */
	ESP_ITEM_STOP,    /* of the reception mid */
	ESP_ITEM_REFUSED, /* of mid */
	ESP_ITEM_MTU,     /* of path mid */
	ESP_ITEM_ADDR,    /* of path mid */
};

/*
 * One thing a frame carried. Each byte of a message is in one item at most, and each item leads to
 * its record: what was lost stays in it until it has been sent again.
 */
struct esp_item {
	struct esp_link of; /* esp_msg.items, esp_msg.lost, esp_ctl.items */
	union {
		struct esp_msg *msg;
		struct esp_ctl *ctl;
	};
	u64 from, to;
	u32 mid;
	u8 place;   /* in esp_sent.item */
	u8 kind;    /* enum esp_item_kind */
	bool again; /* BYTES: in esp_msg.lost */
};

/* A numbered frame in flight, or what is left of a lost one. */
struct esp_sent {
	struct esp_link link;  /* in path->sent, ascending */
	struct esp_sent *more; /* further items, while in flight */
	u64 at;
	u32 pn;
	u16 bytes;
	u8 n;
	u8 live;        /* items in use */
	bool flying;    /* neither acknowledged nor lost */
	bool mtu_probe; /* its loss says nothing of the network's load */
	struct esp_item item[ESP_SENT_ITEMS];
};

/* Something small that is said until acknowledged, or waits until it may be said. */
enum esp_ctl_kind {
	ESP_CTL_WAIT = 1, /* was refused by its run: becomes READY; in node->wait and flow->waits */
	ESP_CTL_AHEAD,    /* was refused ahead of its run, of whatever run from..upto; the same */
	ESP_CTL_READY,    /* in flow->ctl until said */
	ESP_CTL_ABORT,    /* in flow->ctl until said */
	ESP_CTL_ASK,      /* the same; key names the run, src the rank that waits */
	ESP_CTL_EARLY,    /* an abort ahead of its group; in node->wait and flow->waits */
};

struct esp_ctl {
	struct esp_link link;  /* flow->ctl while it is to be said */
	struct esp_link all;   /* flow->ctls, while READY or ABORT */
	struct esp_link wait;  /* node->wait[] */
	struct esp_link waits; /* flow->waits */
	struct esp_link items;
	void *account; /* (home) on whose it is, or NULL */
	struct esp_flow *flow;
	struct esp_key key; /* ABORT, EARLY: src is the one that tells */
	u32 rank, code;     /* ABORT, EARLY */
	u64 from, upto;     /* AHEAD: numbers of runs */
	u32 renewed;        /* WAIT, AHEAD: esp_flow.renewed when it was wanted last */
	u8 kind;            /* enum esp_ctl_kind */
	bool group;         /* ABORT of the group; READY of it, up to the run of the key */
	/* WAIT, AHEAD */
	bool fired; /* is to become READY once nobody is adding to it */
	bool gone;  /* its flow has ended */
	u32 adding; /* entries that have not recorded their refusal yet, or say READY */
	u32 held;   /* refusals recorded */
};

/* What one endpoint sends in one flow. */
struct esp_queue {
	struct esp_link link; /* flow->queues while something is to be sent */
	struct esp_link all;  /* flow->allq[] */
	struct esp_link msgs; /* esp_msg.all: all that point here. Those of who has closed come last,
				* unless the queue is the common one */
	struct esp_link small; /* messages: eager, RTS, CANCEL */
	struct esp_link bulk;  /* messages: granted bytes */
	struct esp_ep *ep;     /* NULL: it has closed */
	s32 deficit;
	u32 inflight; /* bytes */
	u32 nmsgs;    /* messages that point here */
	u32 turns;    /* of short messages while long ones wait */
};

enum esp_rx_state {
	ESP_RX_NEW = 0,
	ESP_RX_ARRIVING, /* eager, fragments come into unexpected memory */
	ESP_RX_WAITING,  /* a run has it as a message ahead of its receive */
	ESP_RX_BOUND,    /* bytes go straight to its receive */
	ESP_RX_ORPHAN,   /* bound; the flow has begun anew, the sender will too */
	ESP_RX_STOP,     /* over here, the sender is to be told */
	ESP_RX_OVER,
};

/* A message on its way in. */
struct esp_rx {
	struct esp_key key;
	struct esp_ep *ep;
	struct esp_flow *flow; /* with a reference */
	struct esp_run *run;   /* BOUND, ORPHAN: with a reference */
	void *ref;             /* (home) the unexpected memory */
	struct esp_row of_flow; /* flow->rx; node->kept ahead of its run; then in a struct esp_todo */
	struct esp_link say;    /* flow->say: a grant or STOP is to be said */
	struct esp_rx *hash;    /* next of the same head, while it has an id in the flow */
	struct esp_rx *same;    /* of the same head of keys, while it is in flow->rx */
	u64 total;
	u64 here; /* bytes that came, each counted once */
	u64 granted;
	struct esp_range range[ESP_RANGES];
	u32 nrange;
	u32 mid;
	u32 serial; /* of its name: a new one in each incarnation */
	u32 op;
	u32 busy; /* fragments on their way into place */
	s32 status;
	u8 state; /* enum esp_rx_state */
	u8 pool;  /* enum esp_pool */
	bool pull, has_mid, room;
	/* of the pull scheduler, under the node's lock */
	struct esp_rx *child, *next, *prev; /* pairing heap; prev of a first child is its parent */
	struct esp_link p_link;             /* esp_pull.granted */
	u64 p_granted, p_here, p_last, p_patience;
	u32 p_mid, p_serial; /* whom its grants are for */
	u32 p_unit;          /* payload of a full frame */
	u32 p_limit;         /* of what this one may have outstanding */
	u8 p_state;          /* 0: not there */
	bool p_stalled;
};

/* Which senders may send how much, over all flows of a node. */
struct esp_pull {
	struct esp_rx *heap; /* those without a grant, fewest bytes first */
	struct esp_rx *active[ESP_ACTIVE];
	u32 nactive;
	struct esp_link granted; /* those that have all they need */
	u64 out;                 /* granted and not here; stalled ones do not count */
	u64 limit;               /* the most it ever was */
	u64 rate;                /* of the downlink, bytes per 2^20 ns */
};

enum esp_path_state {
	ESP_PATH_NONE = 0, /* one side has no rail there */
	ESP_PATH_PROBING,  /* not known to work */
	ESP_PATH_UP,
	ESP_PATH_DEAD, /* did work; is tried again */
};

/* One rail to one rail of the peer. */
struct esp_path {
	struct esp_rail *rail;
	struct esp_addr addr; /* the peer's */
	u8 id;
	u8 state; /* enum esp_path_state */
	bool say_addr, say_mtu, say_ping, say_pong;
	u64 value; /* of our PINGs, since it is in this state, which began ... */
	u64 since; /* ... then */
	u64 pong;  /* of the peer's last PING */
	/* numbers we give out */
	bool acked_any, starting, limited, rtt_valid;
	bool answers; /* a message went out here since the last frame of acknowledgements only */
	u8 backoff;
	u8 probes; /* frames that may be sent in spite of the window */
	struct esp_link sent;
	u32 nsent;
	u32 inflight; /* bytes */
	u32 pn;       /* next */
	u32 acked_top;
	/* round trip */
	u64 srtt, rttvar, rtt_min;
	u64 sent_at;  /* last numbered frame */
	u64 probe_at; /* tail-loss probe or retransmission timeout */
	u64 loss_at;  /* the oldest frame is lost unless acknowledged until then */
	u64 retry_at; /* PROBING, DEAD: next try */
	/* window, in bytes */
	u32 window;
	u32 round_pn; /* its acknowledgement ends the round */
	u32 round_ok, round_lost;
	u32 share; /* smoothed share lost, of 65536 */
	/* numbers the peer gives out */
	u32 rx_top, rx_cum;
	u32 rx_unacked; /* numbered frames since the last acknowledgement we sent */
	u64 rx_bits[ESP_PN_SPAN / 64];
	u64 rx_top_at;
	u64 ack_at; /* an acknowledgement is due */
	/* MTU: what works, what the peer takes, known not to work, to be tried, in flight */
	u16 mtu, mtu_peer, mtu_bad, mtu_want, mtu_try;
	u8 mtu_tries, big_lost;
	u64 mtu_at;
};

enum esp_flow_state {
	ESP_FLOW_IDLE = 0,
	ESP_FLOW_HELLO, /* HELLO is out */
	ESP_FLOW_OPEN,  /* OPEN is out */
	ESP_FLOW_UP,
	ESP_FLOW_DEAD /* forgotten, or the peer is dead; out of the tables */
};

struct esp_flow {
	struct esp_node *node;
	struct esp_peer peer;
	u64 cid;                               /* ours */
	u32 renewed;                           /* how often it has begun anew */
	u64 cid_peer;                          /* theirs, once it is known */
	u64 stamp_peer;                        /* of its last attempt that was believed */
	u64 taken;                             /* when */
	u64 taken_cid;                         /* the id in it */
	struct esp_addr shown;                 /* where the peer's last OPEN or ACCEPT came from */
	u64 asked;                             /* when a table was asked because of an OPEN */
	struct esp_addr addr_table[ESP_PATHS]; /* of the peer, in the table that vouched for it */
	bool led;     /* to who was believed from elsewhere when the peer was silent */
	bool returns; /* an OPEN came from where a table has the peer, late perhaps */
	u64 doubted; /* when an OPEN came from elsewhere, and since then nothing from the peer; 0 */
	u8 token[16];
	u8 state;  /* enum esp_flow_state */
	s32 ended; /* DEAD: with this status all that is left in it ends */
	u8 hello_tries, hello_path, hello_rounds;
	u8 strangers; /* bit p: at the peer's address of place p is somebody else */
	u8 strangers_else;
	bool elsewhere; /* never open yet, and a second table has the peer at other addresses: */
	struct esp_addr addr_else[ESP_PATHS];
	bool guessed; /* nobody answered there, but somebody from elsewhere says that he is the peer; */
	struct esp_addr addr_first[ESP_PATHS]; /* ... there, and at addr_else if elsewhere is set */
	bool batched;                          /* in a batch: somebody will flush it */
	bool pcrc;                             /* payload is checksummed */
	bool waiting;                          /* something was missing after the last entry */
	bool vouched; /* a rank table has the peer where it is, or was; else it opened the flow itself */
	u64 stamp; /* of our attempt */
	u64 hello_at;
	u64 heard;    /* last good frame */
	u64 answered; /* last acknowledgement of something new */
	u64 progress; /* last acknowledgement of something new, or beginning of something to wait for */
	u64 used;     /* last time there was anything to do */
	u64 watch_until;
	u64 ping_at;
	u64 pause_at;          /* the home had nothing to give: again then */
	u32 pauses;            /* ... so many times in a row */
	bool pause_acks;       /* ... not even a frame, so acknowledgements wait as well */
	u64 park_at;           /* earliest esp_msg.again_at or esp_msg.due, or before it */
	u64 pull_at;           /* look for stalled pulls */
	u64 timer;             /* what the home was told last */
	struct esp_sent spare; /* for when the pool is empty: losses hold records, too */
	bool spare_used;
	struct esp_flow *batch_next;
	struct esp_path path[ESP_PATHS];
	u8 npaths; /* those behind have had neither a rail nor an address said */
	/* out */
	u32 mid;                 /* next message id */
	u32 pn_first, mid_first; /* of this incarnation */
	u32 nmsgs;
	struct esp_link open;                  /* messages whose id holds the window, ascending */
	struct esp_link parked[ESP_PARK_HASH]; /* PARKED, by group */
	u32 nheld;                             /* of them, esp_msg.held */
	u32 scouts, unhold;     /* bit h: of parked[h] a scout is out; it is to be looked for one */
	u32 accepted;           /* ... with others, since the last one was accepted */
	u64 hold_at;            /* earliest esp_msg.again_at of those held, or before it */
	u8 late[ESP_PARK_HASH]; /* log2 of how many go at a time that were held for too long */
	struct esp_link paused[ESP_PAUSES]; /* PAUSED, by the length of the pause: in order of time */
	struct esp_link leaving;            /* those with a due time, in order */
	struct esp_queue common;            /* for endpoints the pool had no queue for */
	struct esp_link queues; /* struct esp_queue with something to send, round robin */
	struct esp_link allq[ESP_QUEUE_HASH];
	struct esp_link ctl;  /* to be said */
	struct esp_link ctls; /* those and the ones in flight */
	struct esp_link say;  /* receptions: grants, STOP */
	u64 gone[ESP_GONES]; /* cookies of endpoints of which GONE is to be said, or is under way */
	u32 ngone, gone_said; /* gone_said: bits, those under way */
	u64 gone_at;          /* so much of the time that the peer's GONEs may take is used up */
	struct esp_msg *tx_hash[ESP_TX_HASH];
	/* in */
	u8 nrefused;
	u32 serial;                      /* of the last reception named */
	u32 mid_base;                    /* every id below is settled */
	u64 mid_seen[ESP_MID_SPAN / 64]; /* settled */
	u64 mid_busy[ESP_MID_SPAN / 64]; /* being taken in */
	struct esp_link rx;              /* esp_rx.of_flow */
	u32 nrx;
	struct esp_rx *rx_hash[ESP_RX_HASH];
	struct esp_rx *rx_key[ESP_RX_KEYS];
	u64 seed;                 /* of the hash of keys: not to be guessed */
	u32 refused[ESP_REFUSED]; /* ids refused, until the peer has confirmed that it knows */
	u8 refused_how[ESP_REFUSED];
	/* under the node's lock */
	struct esp_link waits;
	u32 nwaits;
	struct esp_flow *look_next; /* in esp_node.look_first, with a reference */
	u64 gone_heard[ESP_GONES];  /* cookies, for esp_look() */
	u8 ngone_heard;
	u8 look; /* why it is in that list; 0: it is not */
};

/* A frame to be sent: @hdr, then the pieces. */
struct esp_piece {
	void *ref; /* esp_msg.ref; NULL: zeros */
	u64 off;
	u32 len;
};

struct esp_out {
	struct esp_rail *rail;
	struct esp_addr to;
	u16 hdr_len;
	u16 total_len;
	u8 npiece;
	bool pcrc; /* the payload is to be checksummed */
	struct esp_piece piece[ESP_MSG_MAX + 1];
	u8 hdr[ESP_HDR_MAX];
};

/* Flows that have something to send when the outermost entry is through. */
struct esp_batch {
	u32 depth;
	struct esp_flow *first;
};

/* What the unverified may cost a second, each kind by itself: none keeps the others out. */
enum esp_bucket_kind {
	ESP_BUCKET_HELLO = 0, /* of who knows our name */
	ESP_BUCKET_WRONG,     /* of who does not */
	ESP_BUCKET_RESET,
	ESP_BUCKET_SEARCH,
	ESP_BUCKETS
};

/* An OPEN whose flow has ended while its token was still good. */
struct esp_past {
	u64 cid, stamp, at; /* at 0: none */
};

struct esp_bucket {
	u64 left, filled;
};

struct esp_node {
	u8 id[16];
	struct esp_params p;
	struct esp_rail *rail[ESP_PATHS];
	/* under the node's lock */
	struct esp_pull pull;
	struct esp_link wait[ESP_WAIT_HASH];
	u32 nwaits;                          /* what is in them */
	struct esp_link kept[ESP_WAIT_HASH]; /* receptions ahead of their run */
	u32 nkept;
	struct esp_member *tell_first; /* those that have something to tell */
	struct esp_flow *look_first;   /* those for which all tables are to be looked through */
	struct esp_bucket bucket[ESP_BUCKETS];
	struct esp_past past[ESP_PASTS];
	u64 hello_pause; /* ns for one of a bucket */
	u32 token_era;   /* tokens of an earlier one are not ours any more; read without the lock */
	u32 token_ends;  /* changes of that and of past; the same */
};

/* pump_esp.c: the entries. */
void esp_params_default(struct esp_params *p);
size_t esp_pool_size(enum esp_pool pool);
void esp_node_init(struct esp_node *n, const u8 id[16], const struct esp_params *p);

/*
 * Rails. @place is its path: rails of the same place reach one another, on all nodes. The rail is
 * in use until esp_rail_down() returns, and frames for it may still be queued by the home then.
 */
void esp_rail_up(struct esp_rail *r, u8 place, u16 mtu, u64 now);
void esp_rail_down(struct esp_rail *r, u64 now);
void esp_rail_mtu(struct esp_rail *r, u16 mtu, u64 now);

/* A frame of @len bytes came in on @r from @from. The core keeps nothing of it. */
void esp_frame_in(struct esp_rail *r, const struct esp_addr *from, void *frame, u32 len, u64 now);
/*
 * Fill in the checksums when the payload is final. @payload: env_crc32c() over the pieces,
 * begun with 0xffffffff; any value if there are none, or o->pcrc is false.
 */
void esp_seal(struct esp_out *o, u32 payload);

/*
 * Send @m to @peer. 0: env_sent() will follow, perhaps before this returns; -errno: it will not.
 * Messages of up to params.eager_max bytes are eager: their operation may end at once if m->ref
 * is a copy.
 */
int esp_send(struct esp_node *n, struct esp_msg *m, const struct esp_peer *peer, u64 now);
/*
 * Give a message up: the core does not look at its payload any more when this returns (frames that
 * were given to env_out() before have references of their own); env_sent() follows, or was already
 * called. The caller makes sure that @m, and the flow it names, exist until this returns: @m was
 * given to esp_send() with success, and either env_sent() has not been called for it yet, or that
 * call waits for the caller.
 */
void esp_send_cancel(struct esp_msg *m, u64 now);

void esp_timer(struct esp_flow *f, u64 now);

void esp_batch_flush(struct esp_node *n, u64 now); /* for esp_batch.h */

/* Runs. Once env_run_find() finds it, before core_start(): */
void esp_run_started(struct esp_run *r, u64 now);
/* From env_post(), if the peer of @op is remote: */
void esp_run_posted(struct esp_run *r, u32 op, u64 now);
/* From env_deliver() and env_msg_drop(), for a message that came from here: */
int esp_deliver(struct esp_run *r, u32 op, struct esp_rx *rx, u64 now);
void esp_drop(struct esp_rx *rx, u64 now);
/* The ends of what env_place() and env_unpack() answered CORE_PENDING to. */
void esp_placed(struct esp_rx *rx, struct esp_run *r, u32 op, u32 len, s32 status, u64 now);
void esp_unpacked(struct esp_rx *rx, struct esp_run *r, u32 op, s32 status, u64 now);
/*
 * From env_run_cancel(), also when the home itself cancels the run: receptions into it end. A part of
 * them: @at is 0 at first, and left alone in between. True: there may be more.
 */
bool esp_run_cancelled(struct esp_run *r, u32 *at, u64 now);
/* The run is over with an error (from env_run_done()): the group hears of it, once. */
void esp_run_abort(struct esp_run *r, s32 status, u32 rank, u64 now);
/*
 * All its runs, now and later, have failed with @status, by @rank's fault: the group hears of
 * it, once.
 */
void esp_member_fail(struct esp_member *m, s32 status, u32 rank, u64 now);
/* 0, or the status with which this run, not started yet, has failed already, and the rank. */
s32 esp_run_doomed(struct esp_member *m, u32 opid, u32 start, u32 *rank);

/* Groups: once it can be found; and when it cannot be found any more. */
void esp_member_added(struct esp_member *m, u64 now);
void esp_member_removed(struct esp_member *m, u64 now);
/* Every params.watch while the member has something to tell: true if it still has. */
bool esp_member_timer(struct esp_member *m, u64 now);
/*
 * Every params.watch while the member has runs: look whether those live whom they wait for. A few
 * runs at a time: NULL first and last, with a reference in between, as env_run_next().
 */
struct esp_run *esp_member_watch(struct esp_member *m, struct esp_run *prev, u64 now);

/* How far the look through all tables is that env_look() asked for; zeroed at first. */
struct esp_look {
	struct esp_flow *flow;
	struct esp_member *member;
	u64 gone[ESP_GONES]; /* cookies */
	u8 ngone, why;
};

/* A part of it. False: there is nothing left to look for. */
bool esp_look(struct esp_node *n, struct esp_look *l, u64 now);

/*
 * esp_table.c: an index of a table of many ranks, in @index, which has to live as long as the
 * table. 0, or -EINVAL: two ranks have one cookie, or two peers one name.
 */
size_t esp_table_index_size(u32 nranks, u32 npeers);
int esp_table_index(struct esp_table *t, u32 *index);
/* The rank with @cookie, or nranks. */
u32 esp_table_rank(const struct esp_table *t, u64 cookie);

/* How far the end of an endpoint is; zeroed at first, and where it is until the end. */
struct esp_close {
	struct esp_flow *flow;
	struct esp_row msg, rx; /* in its lists */
	bool begun;
};

/*
 * An endpoint closes. @clean: its eager messages linger; otherwise they end, and before, the
 * home has failed its members with -ECONNRESET. Long messages and receptions end at once in both
 * cases. A part of it, since messages may be many: again until it answers false, with pauses in
 * between. Nothing is sent for the endpoint any more.
 */
bool esp_ep_close(struct esp_ep *ep, struct esp_close *c, bool clean, u64 now);
/* The home unloads: everything in the flow ends with -ESHUTDOWN. */
void esp_flow_kill(struct esp_flow *f, u64 now);

/* When @f wants esp_timer(), under its lock. */
u64 esp_next_timer(const struct esp_flow *f);

const char *esp_count_name(u32 c);

#include "env_esp.h"

#endif /* ESP_H */
