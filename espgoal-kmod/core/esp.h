/* SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause */
/*
 * The protocol half of the core: what a home sees of ESP, as core.h is for the interpreter.
 * The frames are in uapi/esp_wire.h, the rules in doc/protocol.md.
 *
 * Who is who
 *	struct esp_node    this node: rails, parameters, counters, the pull scheduler
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
 * Locks. Only pump_esp.c takes them: one per flow (everything in esp_flow, its messages, receptions
 * and records), one per node (pull scheduler, refusals that wait, members' failures), never two at once and never
 * one together with a run's lock. What must not happen under a lock (moving bytes, transmitting,
 * letting runs advance, ending messages) is put into a struct esp_todo and done afterwards.
 * Any number of entries may run at the same time, also from within env_*() calls made without
 * a lock. A pointer given to an entry is kept alive by its caller until the entry returns.
 *
 * A home supplies, beside what core.h asks for,
 *
 *   in env.h:
 *	le16_to_cpu() ... cpu_to_le64(), offsetof, memset, memcpy, memcmp; u64 division by a constant
 *	power of two only is used
 *
 *   in env_esp.h, included at the end of this file, static inlines:
 *
 *	void env_flow_lock(struct esp_flow *), env_flow_unlock(...)
 *	void env_node_lock(struct esp_node *), env_node_unlock(...)
 *	u64  env_random(struct esp_node *)	not to be guessed
 *	u32  env_crc32c(u32 crc, const void *, u32 len)	without pre- or postconditioning
 *	u64  env_prf(struct esp_node *, u32 which, const void *, u32 len)	keyed hash; which is the
 *		key's number: the home draws a fresh one for each number, keeps the last two
 *	void env_count(struct esp_node *, enum esp_count, u32 by)
 *
 *   memory: any of these may answer NULL or -ENOMEM, at any time
 *	void *env_pool_get(struct esp_node *, enum esp_pool), void env_pool_put(n, pool, void *)
 *	struct esp_flow *env_flow_alloc(struct esp_node *)	zeroed, one reference, the caller's
 *	int  env_room_get(struct esp_ep *, struct esp_rx *, u64 bytes)	unexpected memory for an
 *		eager message: rx->ref names it. Bounded per endpoint; -ENOMEM refuses the message
 *	void env_room_put(struct esp_ep *, struct esp_rx *)
 *
 *   look-ups: what they answer carries a reference, returned by the _put
 *	struct esp_flow *env_flow_by_cid(n, u64 cid), env_flow_by_peer(n, const u8 node[16])
 *	int  env_flow_insert(struct esp_flow *)	both ways, by f->cid and f->peer; takes a
 *		reference of the table's. -EEXIST: one of them is there already
 *	int  env_flow_rename(struct esp_flow *, u64 cid)	new cid, then f->cid = cid; -EEXIST
 *	void env_flow_remove(struct esp_flow *)	out of both, drops the table's reference
 *	void env_flow_get(f), env_flow_put(f)
 *	struct esp_member *env_member_find(n, u64 cookie, u64 nonce), void env_member_put(m)
 *	struct esp_member *env_member_next(n, struct esp_member *prev)	all of them, NULL first
 *		and last; gives back prev's reference
 *	struct esp_run *env_run_find(m, u32 opid, u32 start)	started, not over; env_run_put(r)
 *	struct esp_run *env_run_next(m, struct esp_run *prev)	all started ones of a member
 *	bool env_run_past(m, u32 opid, u32 start)	was started here and is over
 *
 *   frames
 *	const u8 *env_frame_bytes(void *frame, u32 off, u32 len, u8 *buf)	len bytes, in place or
 *		copied to buf
 *	u32  env_frame_crc(void *frame, u32 off, u32 len, u32 crc)
 *	struct esp_out *env_out_get(struct esp_rail *)	a frame to fill in, or NULL
 *	void env_out(struct esp_rail *, struct esp_out *)	called under the flow's lock: only
 *		queues it, and takes the references its payload needs until it is on the wire
 *	void env_kick(struct esp_rail *)	without a lock: transmits what is queued, in order, one
 *		drainer at a time. Each frame is sealed by esp_seal() there
 *
 *   payload
 *	int  env_place(struct esp_rx *rx, struct esp_run *run, u32 op, u64 off, void *frame,
 *		u32 foff, u32 len)	bytes of the frame into the receive @op of @run at @off, or
 *		with run NULL into the unexpected memory of rx. CORE_DONE or CORE_PENDING: then
 *		esp_placed(rx, run, op, len, status) follows; rx is NULL when the message is
 *		complete in this frame. For CORE_PENDING the home keeps frame and run.
 *	int  env_unpack(struct esp_rx *rx, struct core_run *run, u32 op)	from the unexpected memory
 *		into the receive; CORE_DONE, or CORE_PENDING: the home calls core_op_done(), then
 *		esp_rx_done(rx)
 *
 *   results, without a lock
 *	void env_sent(struct esp_msg *, int status)	the message is accepted (0) or given up
 *		(-errno): the core has forgotten it
 *	void env_member_failed(struct esp_member *, s32 status, u32 rank)	cancel every run of
 *		the group with this, and each that is started later
 *	void env_timer(struct esp_flow *, u64 when)	call esp_timer() at this time or a little
 *		later; only the last one counts, ESP_NEVER: none
 *	void env_flow_gone(struct esp_flow *)	nothing in it any more (for bookkeeping only)
 *	struct esp_batch *env_batch(struct esp_node *)	of this CPU or thread
 *
 * Time is u64 nanoseconds, monotonic, given as @now to every entry.
 */
#ifndef ESP_H
#define ESP_H

#include "core.h"
#include "esp_list.h"
#include "esp_wire.h"

#define ESP_NEVER (~0ull)
#define ESP_NS_US 1000ull
#define ESP_NS_MS 1000000ull
#define ESP_NS_S  1000000000ull

#define ESP_SENT_ITEMS 4   /* chunks one record names; more take a further record */
#define ESP_RANGES     16  /* pieces of a message a receiver keeps apart */
#define ESP_LOST       8   /* pieces of a message a sender repeats; more are run together */
#define ESP_TX_HASH    64  /* heads of a flow's messages by id */
#define ESP_RX_HASH    32  /* heads of its receptions by id */
#define ESP_REFUSED    16  /* refusals of a flow its peer has not confirmed */
#define ESP_TOMBS      16  /* aborted runs a member remembers */
#define ESP_ACTIVE     16  /* pulls that hold grants at the same time */
#define ESP_WAIT_HASH  256 /* heads of a node's waiting refusals and early aborts */

#include "esp_count.h"

/* Pools of fixed-size objects, see esp_pool_size(). */
enum esp_pool {
	ESP_POOL_SENT,      /* struct esp_sent: up to ESP_PN_SPAN per busy path */
	ESP_POOL_CTL,       /* struct esp_ctl: aborts, refusals that wait */
	ESP_POOL_QUEUE,     /* struct esp_queue: one per flow and sending endpoint */
	ESP_POOL_RX,        /* struct esp_rx for messages ahead of their receive */
	ESP_POOL_RX_POSTED, /* struct esp_rx for posted receives: must not share the former */
	ESP_POOLS
};

/* Parameters of a node; esp_params_default() fills them in. Times in ns. */
struct esp_params {
	u32 eager_max;   /* longest eager message, at most ESP_EAGER_MAX */
	u32 features;    /* ESP_FEAT_* */
	u32 window_init; /* frames in flight on a fresh path */
	u32 window_max;  /* and at most, up to ESP_PN_SPAN */
	u32 window_min;
	u32 ack_every;    /* acknowledge at the latest after so many frames */
	u32 refuse_max;   /* refusals that wait, per flow */
	u32 pull_bdp_pct; /* granted and not yet here, in % of bandwidth * delay */
	u32 pull_min;     /* ... but at least so many bytes */
	u32 pull_rate;    /* bytes per second of the downlink when no rail knows its speed */
	u64 rtt_init;     /* before there is a measurement */
	u64 rto_min;
	u64 rto_max;
	u64 probe_min;   /* floor of the tail-loss probe */
	u64 ack_delay;   /* at most; also at most a quarter of the smoothed round trip */
	u64 queue_delay; /* the window grows until the round trip exceeds the least one by this
			     * or by its double, whichever is more */
	u64 hello_retry; /* first; doubles */
	u64 death;       /* nothing acknowledged for so long: the peer is dead */
	u64 idle;        /* nothing at all for so long: the flow is forgotten; >= 2 * death */
	u64 watch;       /* runs that wait longer have their peers' flows watched */
	u64 linger;      /* messages outlive their endpoint by this */
	u64 mtu_retry;
	u64 rail_retry; /* a dead path is tried again */
	u64 busy_retry; /* first pause after BUSY; doubles up to 64 times that */
	u32 hello_rate; /* answers to unverified frames per second, and burst */
	u32 pn_first;   /* first packet number, for tests; 0: random */
	u32 mid_first;  /* first message id, for tests */
	bool no_pull;   /* senders treat every long message as granted (for comparison) */
};

struct esp_node;
struct esp_flow;
struct esp_msg;
struct esp_rx;

/* A network interface. */
struct esp_rail {
	struct esp_node *node; /* (home) */
	struct esp_addr addr;  /* (home) ours */
	u64 speed;             /* (home) bytes per second, 0: unknown */
	u16 mtu;               /* largest total_len it carries, ESP_MTU_MIN..ESP_MTU_MAX */
	u8 place;              /* in node->rail */
	bool up;
};

/* Another node, as rank tables name it: read-only for the core. */
struct esp_peer {
	u8 node[16];
	u32 naddr;
	struct esp_addr addr[ESP_PATHS];
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
};

struct esp_key {
	u64 nonce;
	u64 cookie; /* of the receiving endpoint */
	u32 opid;
	u32 start;
	u32 src; /* sender's rank */
	u32 tag;
	u32 instance;
};

struct esp_ep {
	struct esp_node *node; /* (home) */
	u64 cookie;            /* (home) */
	bool closed;           /* lingers or is dead */
	u64 closed_at;
};

/* A run that was aborted here, so that its late start fails and its abort is passed on once. */
struct esp_tomb {
	u32 opid, start;
	u32 rank;
	s32 status;
	u64 at;
	bool used;
};

struct esp_member {
	struct esp_ep *ep;             /* (home) */
	const struct esp_table *table; /* (home) */
	u64 nonce;                     /* (home) */
	u32 rank;                      /* (home) */
	/* under the node's lock */
	s32 failed; /* 0, or the status of every run */
	u32 failed_rank;
	u32 tell; /* bit k: the group's end is still to be told to rank + 2^k */
	struct esp_tomb tomb[ESP_TOMBS];
	u32 tomb_tell[ESP_TOMBS]; /* the same for an aborted run */
};

struct esp_run {
	struct core_run *run; /* (home) */
	struct esp_member *m; /* (home) */
	u32 opid, start;      /* (home) */
	u64 started;          /* time */
	u32 nwait;            /* refusals that wait for it; under the node's lock */
};

/* A piece [from, to) of a message. */
struct esp_range {
	u64 from, to;
};

enum esp_msg_state {
	ESP_MSG_IDLE = 0, /* not ours */
	ESP_MSG_QUEUED,   /* eager: has bytes to send. long: its RTS is to be sent */
	ESP_MSG_FLIGHT,   /* everything allowed is sent, not all acknowledged */
	ESP_MSG_PARKED,   /* refused: waits for READY */
	ESP_MSG_PAUSED,   /* refused with BUSY: waits for its time */
};

/* A message to be sent. */
struct esp_msg {
	struct esp_key key; /* (home) */
	struct esp_ep *ep;  /* (home) sender; NULL once it has closed */
	void *ref;          /* (home) names the payload; the core hands it to env_out() only */
	u64 len;            /* (home) */
	struct esp_flow *flow;
	struct esp_queue *queue;
	struct esp_link link;  /* in its queue, or in flow->parked */
	struct esp_link open;  /* in flow->open by mid, while its id holds the window */
	struct esp_msg *hash;  /* next of the same head */
	struct esp_link items; /* esp_item.of_msg: the records that name it */
	u64 next;              /* first byte never sent */
	u64 granted;           /* long: may be sent up to here */
	u64 acked;             /* bytes acknowledged, each once */
	struct esp_range lost[ESP_LOST];
	u64 due; /* PAUSED: when to try again; endpoint closed: when to give up */
	u32 nlost;
	u32 mid;
	u8 state;                                                   /* enum esp_msg_state */
	u8 tries;                                                   /* how often it was BUSY */
	bool has_mid, eager, rts_acked, rts_lost, cancelled, ready; /* ready: READY came first */
	s32 status;
};

enum esp_item_kind {
	ESP_ITEM_NONE = 0,
	ESP_ITEM_BYTES, /* of a message, eager or pulled */
	ESP_ITEM_RTS,
	ESP_ITEM_GRANT, /* of a reception, by mid */
	ESP_ITEM_REFUSED,
	ESP_ITEM_CTL,
	ESP_ITEM_MTU,
	ESP_ITEM_ADDR,
	ESP_ITEM_OVER, /* STOP or CANCEL, by mid */
};

/* What a sent frame carried, so that it can be said again. */
struct esp_item {
	struct esp_link of_msg; /* in esp_msg.items or esp_ctl.items */
	union {
		struct esp_msg *msg;
		struct esp_ctl *ctl;
	};
	u64 from;
	u32 to_len;
	u32 mid;
	u8 kind; /* enum esp_item_kind */
	u8 arg;
};

/* A numbered frame in flight. */
struct esp_sent {
	struct esp_link link; /* in path->sent, ascending by pn; further records behind the first */
	struct esp_sent *more;
	u64 at;
	u32 pn;
	u16 bytes;
	u8 n;
	bool probe; /* of the MTU: its loss means nothing else */
	struct esp_item item[ESP_SENT_ITEMS];
};

/* Something small that is said until it is acknowledged, or waits until it is to be said. */
enum esp_ctl_kind {
	ESP_CTL_WAIT = 1, /* refused here, nothing to say yet; in node->wait */
	ESP_CTL_READY,    /* to be said */
	ESP_CTL_ABORT,    /* to be said */
	ESP_CTL_EARLY,    /* an abort that came before its group; in node->wait */
};

struct esp_ctl {
	struct esp_link link;    /* in flow->ctl when it is to be said */
	struct esp_link wait;    /* in node->wait */
	struct esp_link of_flow; /* in flow->waits */
	struct esp_link items;
	struct esp_flow *flow;
	struct esp_key key;
	u32 rank, code;
	u8 kind; /* enum esp_ctl_kind */
	bool any, room, group;
};

/* The messages of one endpoint in one flow. */
struct esp_queue {
	struct esp_link link; /* in flow->queues while it has something to send */
	struct esp_link all;  /* in flow->all */
	struct esp_link msgs; /* those with something to send */
	struct esp_ep *ep;
	s32 deficit;
	u32 inflight; /* bytes */
	u32 nmsgs;    /* messages that point here */
};

enum esp_rx_state {
	ESP_RX_FREE = 0,
	ESP_RX_ARRIVING, /* eager, some fragments are here, into unexpected memory */
	ESP_RX_WAITING,  /* complete in unexpected memory, or a long one's RTS: with its run */
	ESP_RX_BOUND,    /* to its receive, bytes go there */
	ESP_RX_ORPHAN,   /* bound; the flow has begun anew and the sender will too */
};

/* A message on its way in. */
struct esp_rx {
	struct esp_key key;
	struct esp_ep *ep;
	struct esp_flow *flow;   /* holds a reference */
	struct esp_run *run;     /* bound: holds a reference */
	void *ref;               /* (home) the unexpected memory */
	struct esp_link of_flow; /* in flow->rx */
	struct esp_rx *hash;
	struct esp_link link; /* flow->grants: a grant is to be said */
	u64 total;
	u64 here;  /* bytes that arrived, each once */
	u64 moved; /* and are in place */
	u64 granted;
	struct esp_range range[ESP_RANGES];
	u32 nrange;
	u32 mid;
	u32 op;
	s32 status;
	u8 state; /* enum esp_rx_state */
	bool pull, posted_pool, over;
	/* of the pull scheduler, under the node's lock */
	struct esp_rx *child, *sibling, *parent; /* pairing heap by bytes not granted */
	u64 p_granted, p_here;                   /* its own view of granted and here */
	u64 p_last;                              /* when bytes came last */
	bool p_queued, p_active, p_stalled;
};

/* Pulls of a node: who may send how much. */
struct esp_pull {
	struct esp_rx *heap;
	struct esp_rx *active[ESP_ACTIVE];
	u32 nactive;
	u64 out;   /* granted and not here, stalled ones excluded */
	u64 limit; /* of out */
};

enum esp_path_state {
	ESP_PATH_NONE = 0, /* one side has no rail there */
	ESP_PATH_PROBING,  /* not known to work */
	ESP_PATH_UP,
	ESP_PATH_DEAD, /* worked once; is tried again */
};

/* One rail to one rail of the peer. */
struct esp_path {
	struct esp_rail *rail;
	struct esp_addr addr; /* the peer's */
	u8 id;
	u8 state;                   /* enum esp_path_state */
	bool addr_dirty, mtu_dirty; /* ours is to be said */
	/* numbers we give out */
	struct esp_link sent;
	u32 nsent;
	u32 inflight;  /* bytes */
	u32 pn;        /* next */
	u32 acked_top; /* highest one acknowledged */
	bool acked_any;
	/* round trip */
	bool rtt_valid;
	u8 backoff;
	u64 srtt, rttvar, rtt_min, rtt_last;
	u64 probe_at; /* tail-loss probe, or retransmission timeout; ESP_NEVER */
	u64 loss_at;  /* a frame is lost if nothing came until then; ESP_NEVER */
	u64 sent_at;  /* last frame that wants an acknowledgement */
	u64 retry_at; /* PROBING, DEAD: next try */
	u64 heard_at; /* last acknowledgement of something new */
	/* window */
	u32 window;               /* bytes */
	u32 epoch_pn;             /* ends the current round */
	u32 round_ok, round_lost; /* bytes */
	u32 share;                /* smoothed share lost, 1/65536 */
	bool starting;            /* doubles every round */
	bool limited;             /* the window was full in this round */
	u8 probes;                /* probes to be sent outside the window */
	/* numbers the peer gives out */
	u32 rx_top, rx_cum;
	bool rx_any;
	u64 rx_bits[ESP_PN_SPAN / 64];
	u64 rx_top_at;
	u32 rx_unacked; /* numbered frames since the last acknowledgement sent */
	u64 ack_at;     /* one is due; ESP_NEVER */
	/* MTU */
	u16 mtu;      /* works */
	u16 mtu_peer; /* the peer takes */
	u16 mtu_bad;  /* known not to work, 0: none */
	u16 mtu_try;  /* in flight, 0: none */
	u8 mtu_tries, big_lost;
	u64 mtu_at; /* next probe; ESP_NEVER */
};

enum esp_flow_state {
	ESP_FLOW_IDLE = 0, /* made, nothing said */
	ESP_FLOW_HELLO,    /* HELLO is out */
	ESP_FLOW_OPEN,     /* OPEN is out */
	ESP_FLOW_UP,
	ESP_FLOW_DEAD, /* the peer does not answer: everything ends with an error */
	ESP_FLOW_GONE  /* forgotten */
};

struct esp_flow {
	struct esp_node *node;
	struct esp_peer peer;
	u64 cid;      /* ours */
	u64 cid_peer; /* theirs, 0 before it is known */
	u8 token[16];
	u8 state; /* enum esp_flow_state */
	u8 hello_tries, hello_addr;
	bool batched; /* in a batch: somebody will flush it */
	bool pcrc;    /* payload is checksummed */
	bool initiator;
	u64 hello_at; /* next try, ESP_NEVER */
	u64 hello_since;
	u64 heard;       /* last good frame */
	u64 used;        /* last time there was something to do */
	u64 progress;    /* last time something outstanding was acknowledged, or began to be */
	u64 watch_until; /* kept alive with pings until then */
	u64 ping_at;
	bool ping;               /* to be said */
	u64 timer;               /* what the home was told last */
	struct esp_batch *batch; /* next in it */
	struct esp_flow *batch_next;
	struct esp_path path[ESP_PATHS];
	/* messages out */
	u32 mid;              /* next */
	struct esp_link open; /* messages whose id holds the window, ascending */
	struct esp_msg *tx_hash[ESP_TX_HASH];
	struct esp_link queues; /* those with something to send, round robin */
	struct esp_link all;    /* all of them */
	struct esp_link parked; /* PARKED and PAUSED */
	struct esp_link ctl;    /* to be said */
	struct esp_link waits;  /* struct esp_ctl of this flow */
	u32 nwaits;
	u64 paused_at; /* earliest esp_msg.due */
	/* messages in */
	u32 mid_base; /* every id below was seen */
	bool mid_any;
	u64 mid_seen[ESP_MID_SPAN / 64];
	struct esp_rx *rx_hash[ESP_RX_HASH];
	struct esp_link rx;
	struct esp_link grants;
	u32 refused[ESP_REFUSED];    /* ids refused, to be said until confirmed */
	u8 refused_how[ESP_REFUSED]; /* kind of the chunk */
	u32 nrefused;
	u32 over[ESP_REFUSED]; /* STOP and CANCEL to be said */
	u8 over_how[ESP_REFUSED];
	u32 nover;
};

/* A frame to be sent. */
struct esp_piece {
	void *ref; /* esp_msg.ref, NULL: zeros */
	u64 off;
	u32 len;
};

struct esp_out {
	struct esp_rail *rail;
	struct esp_addr to;
	u16 hdr_len;
	u16 total_len;
	u8 npiece;
	bool pcrc;
	struct esp_piece piece[ESP_MSG_MAX + 1];
	u8 hdr[ESP_HDR_MAX];
};

/* Flows that have something to send when the entry is through. */
struct esp_batch {
	u32 depth;
	struct esp_flow *first;
};

struct esp_node {
	u8 id[16];           /* (home) boot id and network namespace: who we are */
	struct esp_params p; /* (home) */
	struct esp_rail *rail[ESP_PATHS];
	struct esp_pull pull;
	struct esp_link wait[ESP_WAIT_HASH];
	u64 hello_tokens, hello_filled; /* rate limit of unverified answers */
};

/* What an entry has to do after the lock. */
struct esp_todo;

/* pump_esp.c: the entries. */
void esp_params_default(struct esp_params *p);
size_t esp_pool_size(enum esp_pool pool);
void esp_node_init(struct esp_node *n, const u8 id[16], const struct esp_params *p);

/* Rails: @place is its path number, the same network has the same place on all nodes. */
void esp_rail_up(struct esp_rail *r, u8 place, u16 mtu, u64 now);
void esp_rail_down(struct esp_rail *r, u64 now);
void esp_rail_mtu(struct esp_rail *r, u16 mtu, u64 now);
/* ... each then has to be told to every flow: */
void esp_flow_rails(struct esp_flow *f, u64 now);

/* A frame of @len bytes came in on @r from @from. The core keeps nothing of it. */
void esp_frame_in(struct esp_rail *r, const struct esp_addr *from, void *frame, u32 len, u64 now);
/* The header's checksums, once the payload is final; @payload_crc: of the pieces, 0xffffffff first. */
void esp_seal(struct esp_out *o, u32 payload_crc);

/*
 * Send @m to rank @rank of @table. 0: env_sent() will follow; -errno: it will not. Messages up to eager_max
 * are eager: the home may end their operation at once, if m->ref is a copy.
 */
int esp_send(struct esp_node *n, struct esp_msg *m, const struct esp_peer *peer, u64 now);
/* Give a message up; env_sent(-ECANCELED) follows unless it was accepted already. */
void esp_send_cancel(struct esp_msg *m, u64 now);

void esp_timer(struct esp_flow *f, u64 now);

/* Around everything that may call esp_send() several times: frames leave at the outermost end. */
void esp_batch_enter(struct esp_node *n);
void esp_batch_leave(struct esp_node *n, u64 now);

/* Runs. After the run can be found by env_run_find(), and core_start() returned: */
void esp_run_started(struct esp_run *r, u64 now);
/* From env_post(), when the message of @op is not here (remote peers only): */
void esp_run_posted(struct esp_run *r, u32 op, u64 now);
/* From env_deliver() and env_msg_drop(), for a message that came by core_message(): */
int esp_deliver(struct esp_run *r, u32 op, struct esp_rx *rx, u64 now);
void esp_drop(struct esp_rx *rx, u64 now);
/* Ends of what env_place() and env_unpack() answered CORE_PENDING to. */
void esp_placed(struct esp_rx *rx, struct esp_run *r, u32 op, u32 len, s32 status, u64 now);
void esp_rx_done(struct esp_rx *rx, u64 now);
/* The run is over with an error that began here or came from a peer: tell the group. */
void esp_run_abort(struct esp_run *r, s32 status, u32 rank, u64 now);
/* 0, or the status with which a run that is about to be started has failed already. */
s32 esp_run_doomed(struct esp_member *m, u32 opid, u32 start, u32 *rank);

/* Groups: after it can be found by env_member_find(); before it cannot any more. */
void esp_member_added(struct esp_member *m, u64 now);
void esp_member_removed(struct esp_member *m, u64 now);
/* About once per params.watch while it has runs: watches over their peers, goes on telling. */
void esp_member_timer(struct esp_member *m, u64 now);

/* An endpoint closes: cleanly (its eager messages linger) or not (its groups end). */
void esp_ep_close(struct esp_ep *ep, bool clean, u64 now);
/* Lets go of a flow at once (the home unloads): everything in it ends with -ESHUTDOWN. */
void esp_flow_kill(struct esp_flow *f, u64 now);

/* When a flow wants its esp_timer(). */
u64 esp_next_timer(const struct esp_flow *f);

const char *esp_count_name(enum esp_count c);

#include "env_esp.h"

#endif /* ESP_H */
