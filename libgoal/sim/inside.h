/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The inside of the simulator, for the files of this folder and the tests that reach into it.
 */
#ifndef SIM_INSIDE_H
#define SIM_INSIDE_H

#include <setjmp.h>

#include "esp.h"
#include "sim.h"
#include "random.h"
#include "queue.h"

#define SIM_CPUS     4 /* entries of a node that may be under way at the same time */
#define SIM_ETH      14
#define SIM_ETH_MIN  46 /* bytes a frame is padded to, behind the Ethernet header */
#define SIM_ETH_WIRE 24 /* preamble, checksum, gap */
#define SIM_START    ESP_S

/* What an event is; its object is the pointer beside it. */
enum sim_event {
	SIM_EV_HOP,    /* struct sim_frame: at a switch */
	SIM_EV_FRAME,  /* struct sim_frame: at a node */
	SIM_EV_FLOW,   /* struct sim_flow: timer */
	SIM_EV_LATE,   /* struct sim_late: a move ends */
	SIM_EV_LOCAL,  /* struct sim_local: a message within a node */
	SIM_EV_MEMBER, /* struct sim_member: its timer */
	SIM_EV_RANK,   /* struct sim_seat: may start its next run */
	SIM_EV_JOIN,   /* struct sim_member: becomes known */
	SIM_EV_LEAVE,  /* struct sim_member: its endpoint closes */
	SIM_EV_FAULT,  /* struct sim_fault: the adversary's next deed */
	SIM_EV_RESUME, /* struct sim_run: goes on after its budget was used up */
	SIM_EV_PUMP,   /* struct sim_run: was cancelled, and hears of it */
	SIM_EV_LOOK,   /* struct sim_node: esp_look() */
	SIM_EV_EVENTS
};

/* A frame, being filled in and on its way. */
struct sim_frame {
	struct sim_frame *next;
	struct sim_frame *all; /* whatever becomes of it */
	struct sim *s;
	struct esp_addr from;
	u32 src, dst; /* nodes */
	u32 len;      /* bytes on the wire behind the Ethernet header, padding included */
	u16 refs;
	u8 rail, hop;
	bool forged;        /* no node has sent it */
	const char *wrong;  /* it must be dropped, because of this */
	u8 *bytes;          /* out.hdr, and on */
	struct esp_out out; /* last: its header is the first part of the bytes */
};

struct sim_flow {
	struct esp_flow f; /* first */
	struct sim *s;
	struct sim_flow *next, *prev;      /* of the node, by serial */
	struct sim_flow *by_cid, *by_peer; /* next of the same head */
	struct sim_flow *touched_next;
	u64 serial;
	u64 when;   /* the timer's last word */
	u64 queued; /* the event that counts */
	u32 refs;
	u32 events; /* queued, stale ones included */
	u64 stamp;  /* the highest stamp_peer so far */
	bool in_table, touched;
	bool vouched, guessed, led; /* as it was when it was looked at */
};

struct sim_rail {
	struct esp_rail r;               /* first */
	u64 tx_free;                     /* ps: when the link to the switch is free */
	u64 port_free;                   /* ps: when the switch's link to us is free */
	struct sim_frame *first, **last; /* queued by env_out() */
	bool draining;
	bool present, cut; /* cut: the cable is out, and nobody was told */
	u32 backlog;
	u16 hole;  /* larger frames vanish; 0: none do */
	u16 tried; /* the largest frame that was only to find out whether it gets through */
};

struct sim_node {
	struct esp_node n; /* first */
	struct sim *s;
	u32 index;
	bool alive;
	u32 eps;      /* that are open */
	bool to_look; /* SIM_EV_LOOK will come */
	u32 looking;  /* entries that are at it */
	u8 side;      /* of a partition */
	struct sim_rail rail[ESP_PATHS];
	struct esp_batch batch[SIM_CPUS];
	s32 endings;
	struct sim_flow *flows, *flows_last;
	struct sim_member *members;
	u32 pool_used[ESP_POOLS];
	u64 prf_key[2]; /* SipHash key, from the seed */
	struct esp_peer me;
};

struct sim_ep {
	struct esp_ep e; /* first */
	struct sim_node *node;
	bool alive, clean; /* clean: so it has closed, at @closed */
	u64 closed;
	u64 room_used;
	u32 rooms;
};

/* A rank of a group at its endpoint. */
struct sim_member {
	struct esp_member m; /* first */
	struct sim *s;
	struct sim_group *g;
	struct sim_node *node;
	struct sim_ep *ep;
	struct sim_member *next;    /* of the node */
	struct sim_member *by_name; /* of the hash table */
	struct sim_run *runs;       /* active, oldest first */
	struct sim_run *idle;       /* to be used again */
	struct sim_local *early;    /* of runs not started */
	struct sim_seat *seat;
	u32 refs;
	bool known;    /* in the tables */
	bool timer;    /* an event is queued */
	bool left;     /* its endpoint has closed */
	u32 past_from; /* every run number below was started here and is over */
	u64 past[16];  /* bit i: so was past_from + i */
};

/* A message between two ranks of a node, or one that has come and waits. */
struct sim_local {
	struct sim_local *next;
	struct sim_member *to;
	u32 opid, start, src, tag, instance;
	u64 len;
	u8 bytes[];
};

struct sim_msg {
	struct esp_msg m; /* first */
	struct sim *s;
	struct sim_run *run;          /* of a long one, with a reference */
	struct sim_msg *next, **prev; /* long ones of the run */
	u32 op;
	u32 refs;
	bool eager, given_up;
	u8 copy[];
};

struct sim_late {
	struct sim *s;
	enum {
		SIM_PLACE,
		SIM_UNPACK,
		SIM_MOVE,
		SIM_REDUCE
	} what;
	struct sim_node *node;
	struct esp_rx *rx;
	struct sim_run *run; /* with a reference; NULL: unexpected memory */
	u32 op;
	u64 off;
	struct sim_frame *frame; /* with a reference */
	u32 foff, len;
};

struct sim_run {
	struct core_run run; /* first */
	struct esp_run e;
	struct sim *s;
	struct sim_member *m;
	struct sim_program *p;
	struct sim_run *next;
	struct sim_msg *sends; /* long ones under way */
	u32 number;
	u32 refs;
	bool active; /* in member->runs */
	bool over;
	u64 began;
	u64 *placed; /* by receive: bytes that were put into its buffer */
	u8 *mem;     /* buffers, then scratch */
	struct core_segment seg[3 * GOAL_MAX_BUFS + 1];
};

/* One rank's part of a program. */
struct sim_part {
	void *bytes;
	struct core_sched sched;
	u64 mem;                    /* bytes of its buffers together, without the scratch */
	u64 all;                    /* with it */
	u64 off[GOAL_MAX_BUFS + 1]; /* of each in the memory; last: scratch */
	u8 *ref;                    /* what they must hold in the end */
};

struct sim_program {
	struct sim_program *next;
	struct sim *s;
	u64 seed;
	u32 ranks;
	bool referenced;
	bool lent; /* its buffers are the user's */
	struct sim_part *part;
};

/* A rank's place in a job. */
struct sim_seat {
	struct sim_job *job;
	struct sim_member *m;
	u32 next; /* run number to be started */
	u32 active;
	bool asked; /* an event is queued */
	bool gone;
};

struct sim_job {
	struct sim_job *next;
	struct sim_group *g;
	struct sim_plan plan;
	struct sim_program **program;
	struct sim_seat *seat;
	struct core_binding *lent; /* by rank and buffer; NULL: ours */
	struct core_segment *pieces;
	u64 left;  /* runs of a rank not over */
	u32 round; /* lockstep */
	u32 in_round;
	u64 round_began;
};

struct sim_group {
	struct sim_group *next;
	struct sim *s;
	u32 ranks;
	u64 nonce;
	struct esp_table table;
	struct esp_rank *rank;
	struct esp_peer *peer;
	u32 *index;                 /* of the table */
	struct sim_member **member; /* by rank; NULL: gone */
	u32 base;                   /* jobs so far have used run numbers below */
};

enum sim_deed {
	SIM_DEED_FORGE,
	SIM_DEED_FLOOD,
	SIM_DEED_CUT,
	SIM_DEED_HEAL,
	SIM_DEED_RAIL,
	SIM_DEED_MTU,
	SIM_DEED_HOLE,
	SIM_DEED_KILL,
	SIM_DEED_RESTART,
	SIM_DEED_FORGET,
	SIM_DEED_RAIL_UP,
	SIM_DEED_STRANGER,
	SIM_DEED_TABLE,
	SIM_DEEDS
};

/* What a stranger knows of a flow that it has opened, or wants to. */
#define SIM_LINES 8
struct sim_line {
	u64 cid, cid_peer, stamp;
	u64 value; /* of the last PING that it got */
	u8 token[16];
	u32 victim, as; /* nodes */
	u32 pn, top;    /* its next number, and the highest it got */
	u8 rail, state;
	bool moved; /* to its other address */
};

struct sim_fault {
	struct sim *s;
	enum sim_deed deed;
	u32 node, rail;
};

/* Memory in classes of sizes, kept for reuse. */
#define SIM_CLASSES 12 /* 64 bytes to 128 KiB */

struct sim {
	struct sim_config c;
	struct esp_params p;
	u64 now;
	struct sim_queue queue;
	struct sim_random random;  /* of the network and the adversary */
	struct sim_random secrets; /* ids, cookies, numbers */
	u32 cpu;
	const void *held; /* the lock */
	bool ending;
	bool failed;
	char failure[400];
	bool no_memory;
	jmp_buf *escape; /* where to go when there is no memory; NULL: nowhere */
	struct sim_stats t;
	u64 count[ESP_COUNTERS];
	struct sim_node *node;
	struct sim_ep *ep;
	u32 neps;
	u64 ps_kib; /* of a link: picoseconds for 1024 bytes */
	u64 ps_kib_up;
	u64 *up_free, *down_free; /* ps: by rail and leaf */
	u32 leaves;
	struct sim_frame *frames_free, *frames_all;
	u32 frame_room;
	u64 frames_out; /* not in the pool */
	void *free[SIM_CLASSES];
	void *chunks;
	struct alone *alone;
	u8 *chunk;
	size_t chunk_left;
	s64 objects;
	struct sim_flow **cid, **peer;
	u32 flow_heads, nflows;
	u64 flow_serial;
	struct sim_member **member;
	u32 member_heads, nmembers;
	struct sim_flow *touched;
	struct sim_group *groups;
	struct sim_program *programs;
	struct sim_job *jobs;
	u64 jobs_left; /* runs of a rank not over, all jobs */
	u64 pcap_frames;
	u32 kills;
	struct sim_line line[SIM_LINES];
	u32 sides; /* a partition is on */
	u64 fnv;   /* of everything that happened: equal for equal seeds */
};

static inline struct sim_node *sim_node_of(const struct esp_node *n)
{
	return (struct sim_node *)n;
}

static inline struct sim_flow *sim_flow_of(const struct esp_flow *f)
{
	return (struct sim_flow *)f;
}

static inline struct sim_member *sim_member_of(const struct esp_member *m)
{
	return (struct sim_member *)m;
}

static inline struct sim_run *sim_run_of(const struct core_run *r)
{
	return (struct sim_run *)r;
}

static inline struct sim_run *sim_erun_of(const struct esp_run *r)
{
	return esp_entry(r, struct sim_run, e);
}

/* run numbers cross the wire as (operation id, start number) */
/* So many runs, as a power of two, are starts of one operation. */
#define SIM_STARTS 4

static inline u32 sim_opid(u32 number)
{
	return number >> SIM_STARTS;
}

static inline u32 sim_startno(u32 number)
{
	return (number & ((1u << SIM_STARTS) - 1)) + 1;
}

static inline u32 sim_number(u32 opid, u32 start)
{
	return opid << SIM_STARTS | (start - 1);
}

/* The first failure is kept; everything stops. */
void sim_fail(struct sim *s, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* interleave.c */
void sim_come_between(struct sim *s);
u64 sim_entry(struct sim *s); /* the time of an entry that begins */
void sim_lock_fault(struct sim *s, const void *what, bool unlock);

static inline void sim_lock(struct sim *s, const void *what)
{
	if (unlikely(s->held))
		sim_lock_fault(s, what, false);
	s->held = what;
}

static inline void sim_unlock(struct sim *s, const void *what)
{
	if (unlikely(s->held != what))
		sim_lock_fault(s, what, true);
	s->held = NULL;
	if (unlikely(s->c.adversary.interleave))
		sim_come_between(s);
}

/* memory.c */
void *sim_get(struct sim *s, size_t bytes); /* contents undefined; never NULL */
void sim_put(struct sim *s, void *p, size_t bytes);
void sim_memory_free(struct sim *s);
void sim_no_memory(struct sim *s) __attribute__((noreturn));
bool sim_denied(struct sim *s); /* the adversary says there is no memory */

/* frame.c */
struct sim_frame *sim_frame_get(struct sim *s);
void sim_frame_put(struct sim_frame *fr);
void sim_frames_free(struct sim *s);

/* net.c */
void sim_net_send(struct sim_frame *fr); /* from its source's interface */
void sim_net_hop(struct sim_frame *fr);  /* at the first switch */
void sim_net_arrive(struct sim_frame *fr);
void sim_net_deliver(struct sim_frame *fr);
void sim_net_inject(struct sim_frame *fr, u64 after); /* at its destination's door */
void sim_address(struct esp_addr *a, u32 node, u32 rail);

/* fate.c */
/* What becomes of a frame at the door of its destination; false: nothing, it is gone. */
bool sim_fate(struct sim_frame *fr);
void sim_fault_start(struct sim *s);
void sim_fault(struct sim_fault *x);
/* mangle.c: make it one that must be dropped; false: that cannot be made of this one. */
void sim_seal(struct sim_frame *fr); /* its checksum over the header is right again */
bool sim_mangle(struct sim_frame *fr);
/* Add bytes of a message that its receiver has not granted, which must have no effect. */
void sim_beyond(struct sim_frame *fr);
/* forge.c */
void sim_forge(struct sim *s, bool flood);
void sim_wrong_table(struct sim *s);
/* stranger.c: the next thing it does; and what it is sent. */
void sim_stranger(struct sim *s);
void sim_stranger_hears(struct sim_frame *fr);

/* table.c */
void sim_flow_event(struct sim_flow *f, u64 at);
void sim_flow_check_free(struct sim_flow *f); /* if nobody refers to it */
void sim_tables_free(struct sim *s);
void sim_member_insert(struct sim_member *m);
void sim_member_unlink(struct sim_member *m);

/* node.c */
void sim_boot(struct sim_node *n);
void sim_node_kill(struct sim_node *n);
void sim_node_look(struct sim_node *n);
void sim_ep_kill(struct sim_ep *e, bool clean);
void sim_flow_forget(struct sim_node *n);

/* run.c */
void sim_seat_go(struct sim_seat *seat);
void sim_run_free(struct sim_run *r);
void sim_run_again(struct sim_run *r, bool pump);
void sim_local_arrive(struct sim_local *l);
void sim_run_release(struct sim_run *r);
bool sim_past(const struct sim_member *m, u32 number);

/* job.c */
void sim_seat_ask(struct sim_seat *seat);
void sim_seat_gone(struct sim_seat *seat);
void sim_seat_left(struct sim_seat *seat);
void sim_seat_over(struct sim_seat *seat, u32 number, u64 ns);
void sim_job_free(struct sim_job *j);

/* member.c */
struct sim_member *sim_member_new(struct sim_group *g, u32 rank, struct sim_ep *ep);
void sim_member_join(struct sim_member *m);
void sim_member_leave(struct sim_member *m);
void sim_member_timer(struct sim_member *m);
void sim_member_arm(struct sim_member *m);

/* payload.c */
void sim_copy_out(const struct core_binding *b, u64 off, u8 *to, u64 len);
void sim_copy_in(const struct core_binding *b, u64 off, const u8 *from, u64 len);
void sim_late_end(struct sim_late *l);

/* program.c */
void sim_program_free(struct sim_program *p);
/* Its buffers are the user's from now on. */
void sim_program_lend(struct sim_program *p);
void sim_fill(const struct sim_program *p, u32 rank, u8 *mem);

/* check.c */
void sim_check_touched(struct sim *s);

/* loop.c */
void sim_dispatch(struct sim *s, enum sim_event kind, void *object);
static inline void sim_at(struct sim *s, u64 when, enum sim_event kind, void *object)
{
	sim_queue_push(&s->queue, when < s->now ? s->now : when, kind, object);
}

/* pcap.c */
void sim_pcap_open(struct sim *s);
void sim_pcap(struct sim *s, const struct sim_frame *fr);

#endif /* SIM_INSIDE_H */
