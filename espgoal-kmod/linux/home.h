/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The kernel home: its objects, and what its files call of one another. Locks, contexts and
 * references are in LOCKING.md.
 */
#ifndef ESPGOAL_HOME_H
#define ESPGOAL_HOME_H

#include <linux/atomic.h>
#include <linux/hrtimer.h>
#include <linux/kref.h>
#include <linux/list.h>
#include <linux/mm_types.h>
#include <linux/mutex.h>
#include <linux/netdevice.h>
#include <linux/nospec.h>
#include <linux/percpu.h>
#include <linux/refcount.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/uidgid.h>
#include <linux/wait.h>
#include <linux/workqueue.h>
#include <linux/xarray.h>
#include <net/net_namespace.h>

#include "compat.h"
#include "esp.h"
#include "espgoal.h"
#include "params.h"
#include "request.h"

#define ESPGOAL_MODULE_VERSION "0.1"

#define KHASH_BITS    8 /* heads of a node's tables, as a power of two */
#define KHASH         (1u << KHASH_BITS)
#define KMEMBER_BITS  14   /* of the members' table */
#define KRUN_HEADS    32   /* of a member's active runs */
#define KRUN_ACTIVES  4096 /* of those, at most */
#define KPAST_RANGES  32   /* stretches of run numbers that a member remembers as over */
#define KRAIL_FRAMES  128  /* frames that may be filled in and queued for an interface */
#define KMAX_ROOMS    160  /* messages ahead of their receive, per endpoint */
#define KEP_POOL_SENT 128  /* objects that each endpoint adds to the pools of its node */
#define KEP_POOL_CTL  64
#define KEP_POOL_RX   160
#define KEP_POOL_RXP  16
#define KEP_POOL_FLOW 18
#define KEP_STRANGERS \
	16 /* flows to nodes that no table names, per endpoint: less than the former */
#define KEP_RECENT 16
#define KEARLY     64 /* heads of the messages that wait for an endpoint's runs */

/* Objects of one size, all made in process context, handed out anywhere. */
struct kpool {
	spinlock_t lock;
	void *free; /* linked by their first word */
	u32 size;
	u32 total; /* that exist */
	u32 spare; /* of those, free ones */
	u32 want;  /* that should exist: the surplus is freed when it comes back */
};

/* What one user may have, over all namespaces (user.c). */
enum kuser_kind {
	KUSER_ENDPOINTS,
	KUSER_GROUPS,
	KUSER_RANKS, /* ranks of different tables */
	KUSER_PEERS, /* nodes that tables name, by namespace */
	KUSER_BYTES, /* schedules, run objects, areas, unexpected memory, tables */
	KUSER_KINDS
};

struct kuser {
	struct list_head all;
	kuid_t uid;
	u32 refs; /* under kuser_lock */
	atomic64_t used[KUSER_KINDS];
};

/* Pages that a process maps read-only (area.c). */
struct karea {
	spinlock_t lock;
	struct page **page;
	u32 npages;
	u8 *mem;            /* the same, for the kernel */
	unsigned long *map; /* of 64-byte units behind the words: in use */
	u32 units;
	u32 first; /* byte where the units begin */
};

/* A device that carries frames (rail.c). */
struct krail {
	struct esp_rail r; /* first */
	struct knode *node;
	struct net_device *dev;
	netdevice_tracker tracker;
	spinlock_t lock;
	struct kout *spare;
	struct kout *first, **last; /* queued */
	bool draining, paused, gone;
	u32 tries; /* of the frame that the device would not take */
	struct hrtimer pause;
	u64 __percpu *count; /* enum krail_count */
	struct kout *frames; /* all of them */
	struct rcu_head rcu;
};

enum krail_count {
	KRAIL_FRAMES_IN,
	KRAIL_BYTES_IN,
	KRAIL_FRAMES_OUT,
	KRAIL_BYTES_OUT,
	KRAIL_RETRIED,
	KRAIL_DROPPED,
	KRAIL_COUNTS
};

/* A frame that is being filled in, or waits for the device. */
struct kout {
	struct kout *next;
	struct esp_out out;
};

struct kflow {
	struct esp_flow f; /* first */
	spinlock_t lock;
	refcount_t refs;
	struct hlist_node by_cid, by_peer;
	struct list_head all; /* of the node, by serial */
	u64 serial;
	bool listed, stranger;
	struct hrtimer timer;
	u64 when;  /* the core's last word */
	u64 armed; /* what the timer is or will be set to; ESP_NEVER: not, and holds no reference */
	bool set;  /* it is queued, or its function has not come to the lock yet */
	bool to_arm; /* in the list of a gate, with a reference */
	struct kflow *arm_next;
	u32 count[ESP_COUNTERS];
	struct rcu_head rcu;
};

/* A rank table, shared by the endpoints of a user that are in the same group (group.c). */
struct ktable {
	struct hlist_node all;
	u32 refs; /* under kuser_lock */
	struct kuser *user;
	struct knode *node;
	u64 nonce;
	u32 local; /* index of our own node among the peers, or npeers */
	size_t bytes;
	u32 nhere;
	u32 *here; /* ranks of our own node */
	struct esp_table t;
};

/* Run numbers that are over. */
struct kpast {
	u32 n;
	struct {
		u64 from, to;
	} range[KPAST_RANGES]; /* ascending */
};

struct kmember {
	struct esp_member m; /* first */
	refcount_t refs;
	struct kep *ep; /* with a reference */
	struct ktable *table;
	u32 id;
	spinlock_t lock;
	struct hlist_head run[KRUN_HEADS];
	struct list_head active; /* the same, by serial */
	u64 run_serial;
	u32 nactive;
	bool closed; /* starts nothing any more */
	s32 failed;  /* by ESPGOAL_FAIL */
	u32 failed_rank;
	unsigned long flags;         /* KMEMBER_FAILS */
	struct list_head failing;    /* of a gate, with a reference, ... */
	struct esp_run *failed_upto; /* ... and how far that is, with a reference */
	struct kpast past;
	struct hlist_node by_name;
	struct list_head all; /* of the node, by serial */
	u64 serial;
	bool listed;
	bool needs; /* esp_member_timer() */
	struct rcu_work work;
};

#define KMEMBER_FAILS 0 /* in the list of a gate: its runs are being cancelled */

enum kep_state {
	KEP_OPEN,
	KEP_LEFT, /* closed cleanly, lingers */
	KEP_GONE,
};

/* What is remembered of an endpoint that has left when nothing of it is under way any more. */
struct kleft {
	struct hlist_node by_cookie;
	struct list_head all; /* of the node, the first one first */
	u64 cookie;
	u64 at;
	struct rcu_head rcu;
};

/*
 * One open file description. What sleeps for the endpoint does so here, since it may have begun to
 * before there was one.
 */
struct kfile {
	struct kref refs;   /* the file's, and its endpoint's */
	struct mutex mutex; /* of becoming an endpoint */
	struct kep *ep;     /* once it is one */
	wait_queue_head_t wait;
	/* under wait_lock: those that wait for a while */
	spinlock_t wait_lock;
	u32 nwait;
	u64 due; /* when the first of them has waited for long enough; ESP_NEVER */
	struct hrtimer timer;
	u64 timer_at; /* it is set to that; ESP_NEVER: it is not */
};

/* What an endpoint has of records that may outlive it: each holds a reference. */
struct kshare {
	refcount_t refs;
	atomic_t ctls;
};

static inline void kshare_put(struct kshare *s)
{
	if (refcount_dec_and_test(&s->refs))
		kfree(s);
}

struct kep {
	struct esp_ep e; /* first */
	struct knode *node;
	refcount_t refs;
	struct mutex mutex; /* ids, state changes */
	u8 state;           /* enum kep_state; read without the mutex by env_ep_state() */
	bool wants_close;   /* its process is gone */
	struct kuser *user;
	struct kmm *mm;
	struct list_head of_mm;
	struct xarray groups;                     /* kmember */
	struct kmember __rcu *recent[KEP_RECENT]; /* the same, by the low bits of their ids */
	struct xarray scheds;                     /* ksched */
	u32 nruns;
	u32 next_run;            /* where to look for a free id */
	struct krun __rcu **run; /* by id */
	unsigned long *run_used; /* which ids are */
	struct karea area;
	struct espgoal_head *head;
	struct kfile *file; /* with a reference */
	u32 over;           /* completions; head->over repeats it */
	u32 read;           /* those that read() has told */
	spinlock_t over_lock;
	struct kpool room;
	atomic_t rx_held[2];  /* of ESP_POOL_RX, of ESP_POOL_RX_POSTED */
	struct kshare *share; /* with a reference */
	/* under early_lock: messages of this node that wait for its runs */
	spinlock_t early_lock;
	struct list_head early[KEARLY]; /* kearly.in, by run */
	u32 nearly;
	bool early_closed; /* there will be no more runs */
	spinlock_t parked_lock;
	struct list_head parked; /* kmsg.mine: its own that wait for others' runs */
	u64 closed_at;
	struct kleft *left;  /* for then */
	u64 __percpu *count; /* enum kep_count */
	struct hlist_node by_cookie;
	struct list_head all; /* of the node */
	u64 charged;          /* KUSER_BYTES, for good */
	struct rcu_work work;
};

/* A loaded schedule. */
struct ksched {
	refcount_t refs;
	struct kep *ep;
	u32 id;
	struct core_sched s;
	struct request_layout lay; /* of a struct krun with all behind it */
	u32 nruns;                 /* objects, under the endpoint's mutex */
	void *data;
	size_t bytes; /* all that was charged */
};

enum krun_state {
	KRUN_IDLE,
	KRUN_STARTING,
	KRUN_ACTIVE,
};

/*
 * In a list of messages that wait: one of them, or how far somebody is who goes through the list in
 * parts.
 */
struct kearly {
	struct list_head in;
	bool mark;
};

struct krun {
	struct core_run core; /* first */
	struct esp_run e;
	spinlock_t lock;
	spinlock_t send_lock; /* kmsg.phase */
	refcount_t refs;      /* its id, and one while it is busy */
	atomic_t busy;        /* being active, messages, look-ups; 0: may be started */
	atomic_t state;       /* enum krun_state */
	struct ksched *sched;
	struct kep *ep;    /* with a reference */
	struct kmember *m; /* with a reference while it is busy */
	u32 id;
	u32 starts; /* so far */
	u32 over;   /* of those, as the word says */
	struct espgoal_word *word;
	u32 area_at; /* its part of the area */
	struct hlist_node by_name;
	struct list_head active;
	u64 serial;
	struct list_head pump;    /* of a gate */
	unsigned long flags;      /* KRUN_PUMP, KRUN_RESUME, KRUN_FAILED */
	u32 failed_op, failed_rx; /* of the latter: how far that is */
	bool looking;       /* for what came ahead of it, under early_lock of its endpoint, ... */
	struct kearly look; /* ... from here on */
	struct rcu_head rcu;
	struct core_segment seg[GOAL_MAX_BUFS + 1];
};

#define KRUN_PUMP   0 /* in the list of a gate */
#define KRUN_RESUME 1 /* its pump was stopped by the budget */
#define KRUN_FAILED 2 /* it has failed, and not all it has under way has been ended yet */

enum kmsg_phase {
	KMSG_FREE,
	KMSG_EAGER,    /* its payload is a copy, its operation is over */
	KMSG_SENDING,  /* long, on its way into the core */
	KMSG_LONG,     /* its operation waits */
	KMSG_GIVEN_UP, /* the core has been told to end it */
	KMSG_ORPHAN,   /* local: its operation was ended, its receiver still has it */
};

/* A message of a send: to another node, or to a rank of this one that was not ready. */
struct kmsg {
	struct esp_msg m; /* first */
	struct krun *run;
	u32 op;
	u32 len;
	u8 phase; /* enum kmsg_phase, under run->send_lock */
	bool local;
	bool parked;    /* it waits for its run: under early_lock of @at, */
	struct kep *at; /* whose run that is; NULL: it never did */
	struct kearly early;
	struct list_head mine;  /* kep.parked */
	u8 copy[] __aligned(8); /* of up to eager_max bytes */
};

/* A process, for as long as it has endpoints (mm.c). */
struct kmm;

/* This CPU is in the core (gate.c). */
struct kgate {
	struct esp_batch batch;
	struct list_head pump; /* runs that can go on */
	struct list_head fail; /* members whose runs fail */
	struct knode *node;
	struct kflow *flow;       /* the one locked last: what is counted is its */
	struct kflow *arm;        /* whose timers are to be set once frames have left */
	u64 now;                  /* of the entry, or read later when much was done since */
	s32 ops, bytes;           /* left of the budget */
	s32 ops_then, bytes_then; /* when the time was read */
	bool again;               /* what is left waits for the next bottom half */
	s32 turn;                 /* operations left to the run that is pumped, while others wait */
	kbh_t bh;
};

struct knode {
	struct esp_node n; /* first */
	struct net *net;
	spinlock_t lock;
	spinlock_t table_lock;
	spinlock_t prf_lock;
	struct hlist_head cid[KHASH], peer[KHASH], ep[KHASH], left[KHASH];
	struct hlist_head *member; /* made for the first endpoint */
	struct list_head flows, members, eps, lefts;
	u64 serial;
	u32 nflows;
	u32 nstrangers;   /* of those: to nodes that no table names */
	atomic_t open;    /* endpoints, lingering ones included */
	atomic_t endings; /* flows that end: env_endings() */
	struct kgate __percpu *gate;
	u64 __percpu *count; /* enum esp_count, then enum knode_count */
	struct kpool pool[ESP_POOLS];
	struct kpool flow_pool;
	struct {
		u32 number;
		bool set;
		u64 key[2];
	} prf[2];
	char list[128];      /* /proc/sys/net/espgoal/interfaces */
	u8 state[ESP_PATHS]; /* enum espgoal_rail_state, of paths without a rail */
	struct krail __rcu *rail[ESP_PATHS];
	struct delayed_work work; /* once a second while there are endpoints */
	struct work_struct look;  /* esp_look() */
	struct ctl_table_header *sysctl;
	struct ctl_table *ctl;
	struct dentry *debugfs;
	bool exiting;
};

/* Counted by this home, behind the core's. */
#define KNODE_COUNTS(X)                                                         \
	X(drop_not_for_us) /* of another host, or no Ethernet */                \
	X(drop_no_rail)    /* on an interface that is not in the list */        \
	X(drop_shared)     /* no memory to own the frame */                     \
	X(frames_seen)                                                          \
	X(no_flow_memory)                                                       \
	X(no_room_for_stranger) /* a flow that no table here names */           \
	X(no_skb)                                                               \
	X(runs_resumed)  /* went on after their budget was used up */           \
	X(refused_local) /* a local message whose receiver is no such member */ \
	X(local_gone)    /* a local message whose receiver has left */

#define KEP_COUNTS(X)                                                   \
	X(starts)                                                       \
	X(runs_good)                                                    \
	X(runs_failed)                                                  \
	X(messages_remote)                                              \
	X(messages_local)       /* straight into a posted receive */    \
	X(messages_local_early) /* kept until their receive or run */   \
	X(bytes_sent)                                                   \
	X(bytes_received)                                               \
	X(room_taken) /* messages ahead of their receive */             \
	X(room_refused)                                                 \
	X(share_used_up) /* of records: for messages, refusals, news */ \
	X(waits)                                                        \
	X(sleeps)                                                       \
	X(foreign) /* calls of another process */

/* clang-format off */
#define KNODE_ENUM(x) KNODE_C_##x,
enum knode_count { KNODE_COUNTS(KNODE_ENUM) KNODE_COUNTERS };
#define KEP_ENUM(x) KEP_C_##x,
enum kep_count { KEP_COUNTS(KEP_ENUM) KEP_COUNTERS };
/* clang-format on */

static inline struct knode *knode_of(const struct esp_node *n)
{
	return (struct knode *)n;
}

static inline struct kflow *kflow_of(const struct esp_flow *f)
{
	return (struct kflow *)f;
}

static inline struct kmember *kmember_of(const struct esp_member *m)
{
	return (struct kmember *)m;
}

static inline struct kep *kep_of(const struct esp_ep *e)
{
	return (struct kep *)e;
}

static inline struct krail *krail_of(const struct esp_rail *r)
{
	return (struct krail *)r;
}

static inline struct krun *krun_of(const struct core_run *r)
{
	return (struct krun *)r;
}

static inline struct krun *krun_of_esp(const struct esp_run *r)
{
	return container_of(r, struct krun, e);
}

static inline void knode_count(struct knode *n, enum knode_count c)
{
	this_cpu_inc(n->count[ESP_COUNTERS + c]);
}

static inline void kep_count(struct kep *e, enum kep_count c, u64 by)
{
	this_cpu_add(e->count[c], by);
}

static inline u64 know(void)
{
	return ktime_get_ns();
}

static inline void kcopy_8(void *to, const void *from)
{
	put_unaligned(get_unaligned((const u64 *)from), (u64 *)to);
}

/* A header: short, and in multiples of 4 bytes as a rule. */
static inline void kcopy_header(void *to, const void *from, size_t len)
{
	size_t i;

	for (i = 0; i + 32 <= len; i += 32) {
		kcopy_8(to + i, from + i);
		kcopy_8(to + i + 8, from + i + 8);
		kcopy_8(to + i + 16, from + i + 16);
		kcopy_8(to + i + 24, from + i + 24);
	}
	for (; i + 8 <= len; i += 8)
		kcopy_8(to + i, from + i);
	if (i + 4 <= len) {
		put_unaligned(get_unaligned((const u32 *)(from + i)), (u32 *)(to + i));
		i += 4;
	}
	for (; i < len; i++)
		((u8 *)to)[i] = ((const u8 *)from)[i];
}

/* In a gate, or where bottom halves are off. */
static inline struct kgate *kgate_here(struct knode *n)
{
	return this_cpu_ptr(n->gate);
}

/* The time, in a gate. */
static inline u64 know_here(struct knode *n)
{
	return kgate_here(n)->now;
}

/* node.c */
extern unsigned int knode_id;
extern struct workqueue_struct *knode_wq;
struct knode *knode_of_net(struct net *net);
int knode_module_init(void);
void knode_module_drain(void); /* waits until what lingers is acknowledged */
void knode_module_exit(void);
void knode_poke(struct knode *n); /* its work is wanted now */
u64 knode_sum(const u64 __percpu *count, u32 c);

/* pool.c */
void kpool_init(struct kpool *p, u32 size);
int kpool_grow(struct kpool *p, u32 n, gfp_t gfp); /* may sleep */
void kpool_shrink(struct kpool *p, u32 n);
void kpool_want_less(struct kpool *p, u32 n); /* what is out now will be freed instead */
void kpool_free(struct kpool *p);             /* all that are spare; none is out */
void kpool_put(struct kpool *p, void *object);

/* In a gate, or where bottom halves are off otherwise. */
static inline void *kpool_get(struct kpool *p)
{
	void *object;

	spin_lock(&p->lock);
	object = p->free;
	if (object) {
		p->free = *(void **)object;
		p->spare--;
	}
	spin_unlock(&p->lock);
	return object;
}

/* user.c */
extern struct mutex kuser_lock;
struct kuser *kuser_get(kuid_t uid);
void kuser_put(struct kuser *u);
int kuser_charge(struct kuser *u, enum kuser_kind kind, u64 n); /* 0 or -EDQUOT */
void kuser_uncharge(struct kuser *u, enum kuser_kind kind, u64 n);
bool kuser_has_room(const struct kuser *u, enum kuser_kind kind, u64 n); /* at this moment */

/* flow.c */
bool kflow_exists(struct knode *n, const u8 node[16]);
bool kflows_busy(struct knode *n);
void kflows_stop(struct knode *n);
void kflow_arm(struct kflow *f); /* for a gate; takes over its reference */

/* area.c */
int karea_init(struct karea *a, u32 head, u64 bytes);
void karea_free(struct karea *a);
int karea_mmap(struct karea *a, struct vm_area_struct *vma);
s64 karea_take(struct karea *a, u32 bytes); /* offset in the mapping, or -ENOSPC */
void karea_give(struct karea *a, u32 at, u32 bytes);

/* gate.c */
void kgate_init(struct knode *n);
void kgate_stop(struct knode *n);
void kgate_enter(struct knode *n);
void kgate_leave(struct knode *n);
/* The same for who has bottom halves off and is in an RCU section already. */
void kgate_enter_bh(struct knode *n);
void kgate_leave_bh(struct knode *n);
void kgate_pump(struct krun *r);    /* takes a reference of its own */
void kgate_fail(struct kmember *m); /* the same */

/* mm.c */
struct kmm *kmm_get(struct kep *e); /* of current, or ERR_PTR */
void kmm_put(struct kmm *m, struct kep *e);
bool kmm_is_current(const struct kmm *m);
void kmm_module_exit(void);

/* endpoint.c */
int kep_open(struct net *net, struct kfile *f, struct espgoal_open *a, struct kep **ep);
void kep_close(struct kep *e, bool clean); /* once; may sleep */
void kep_get(struct kep *e);
void kep_put(struct kep *e);
void kep_linger(struct knode *n, u64 now, bool all);
int kep_charge(struct kep *e, u64 bytes);
void kep_uncharge(struct kep *e, u64 bytes);
u32 kep_self(struct knode *n, u8 node[16], struct espgoal_link link[ESPGOAL_RAILS]);
struct kep *kep_by_cookie(struct knode *n, u64 cookie); /* in a gate, and until that is left */

/* group.c, member.c */
struct ktable *ktable_get(struct kep *e, const struct espgoal_group *g);
void ktable_put(struct ktable *t);
int kmember_new(struct kep *e, struct espgoal_group *g);
int kmember_remove(struct kep *e, u32 id);
void kmember_end(struct kmember *m); /* its endpoint closes: its runs end */
void kmember_erase(struct kmember *m);
void kmember_leave(struct kmember *m);
struct kmember *kmember_by_id(struct kep *e, u32 id); /* with a reference */

/* The same for who is in an RCU section already. */
static inline struct kmember *kmember_look(struct kep *e, u32 id)
{
	struct kmember *m = rcu_dereference(e->recent[id % KEP_RECENT]);

	if (unlikely(!m || m->id != id))
		m = xa_load(&e->groups, id);
	return m && refcount_inc_not_zero(&m->refs) ? m : NULL;
}

struct kmember *kmember_next(struct knode *n, struct kmember *prev);
int kmember_fail(struct kep *e, const struct espgoal_fail *f);
void kmembers_without(struct knode *n, u64 cookie); /* may sleep */
void kmember_put(struct kmember *m);
void kmember_second(struct knode *n);                 /* once a second */
int kmember_enter(struct kmember *m, struct krun *r); /* it becomes active */
void kmember_over(struct kmember *m, struct krun *r);
bool kmember_fail_part(struct kmember *m); /* some of its runs; true: there may be more */

/*
 * peer.c: the nodes a table names. Without a lock: memory for so many that are new, and what is
 * left
 */
struct kpeers {
	struct hlist_head all;
	u32 n;
};

int kpeers_prepare(struct kpeers *spare, u32 count, const struct ktable *t);
void kpeers_give_back(struct kpeers *spare, struct knode *n);
/* Under kuser_lock: how many are new; what they cost; and with memory for them. */
u32 kpeers_new(const struct ktable *t, struct knode *n);
int kpeers_charge(const struct ktable *t, u32 count);
void kpeers_uncharge(const struct ktable *t, u32 count);
void kpeers_get(const struct ktable *t, struct knode *n, struct kpeers *spare);
void kpeers_put(const struct ktable *t, struct knode *n);
bool kpeers_know(const struct knode *n, const u8 node[16]); /* in a gate */

/* past.c */
void kpast_add(struct kpast *p, u64 number);
bool kpast_has(const struct kpast *p, u64 number);

/* sched.c */
int ksched_load(struct kep *e, struct espgoal_load *a);
int ksched_unload(struct kep *e, u32 id);
void ksched_put(struct ksched *s);

/* run.c */
int krun_new(struct kep *e, struct espgoal_run *a);
int krun_free(struct kep *e, u32 id);
void krun_drop(struct kep *e, struct krun *r); /* under the mutex */
bool krun_active(const struct krun *r);
struct krun *krun_by_id(struct kep *e, u32 id); /* with a reference to the memory */

/* The same for who is in an RCU section already. */
static inline struct krun *krun_look(struct kep *e, u32 id)
{
	struct krun *r;

	if (id >= e->nruns)
		return NULL;
	r = rcu_dereference(e->run[array_index_nospec(id, e->nruns)]);
	return r && refcount_inc_not_zero(&r->refs) ? r : NULL;
}

void krun_put(struct krun *r);

/* A reference that keeps it from being started anew. */
static inline bool krun_use(struct krun *r)
{
	return atomic_inc_not_zero(&r->busy);
}

void krun_unuse(struct krun *r);
void krun_end_parts(struct krun *r); /* KRUN_FAILED: a further part */

/* start.c */
int krun_start(struct kep *e, const struct espgoal_start *a);

/* wait.c */
void kwait_init(struct kfile *f);
void kwait_exit(struct kfile *f);
void kwait_started(struct krun *r, u32 starts, u64 timeout); /* part of that start */
int kwait(struct kep *e, const struct espgoal_wait *a);

/* send.c */
struct kmsg *kmsg_begin(struct krun *r, u32 op, u64 len, bool local);
bool kmsg_give_up(struct krun *r);
void kmsg_end(struct kmsg *k, s32 status);
int kmsg_waits(struct kmsg *k);

/* local.c: messages between ranks of this node */
int klocal_send(struct krun *r, u32 op, u64 len);
int klocal_deliver(struct krun *r, u32 op, struct kmsg *k);
void klocal_started(struct krun *r);
void klocal_more(struct krun *r); /* krun.looking: a further part */
bool klocal_unpark(struct kmsg *k);
/* What waits for runs of @e, in the group of @table or, for good, in any, is dropped. May sleep. */
void klocal_forget(struct kep *e, const struct ktable *table);
/* The same for what @e has sent, and others have not come to. */
void klocal_take_back(struct kep *e);

/* payload.c */
bool kpayload_fpu(void);                   /* can floating-point numbers be reduced here? */
bool kpayload_ready(const struct krun *r); /* may its next operation be carried out now? */
void kpayload_moved(struct krun *r, u64 bytes);

/* A run's buffers are in one piece each, and the verifier has checked every extent. */
static inline void *kpayload_at(struct krun *r, u32 buf, u64 off)
{
	return (u8 *)core_buffer(&r->core, buf)->seg->base + off;
}

/* rail.c, iface.c, tx.c, rx.c */
struct krail *krail_new(struct knode *n, struct net_device *dev);
void krail_start(struct krail *r, u8 place);
void krail_stop(struct krail *r);    /* RTNL; frees it after a grace period */
void krails_update(struct knode *n); /* RTNL */
void krails_stop(struct knode *n);   /* RTNL */
u16 krail_mtu(const struct net_device *dev);
u64 krail_speed(struct net_device *dev); /* RTNL */
int kiface_module_init(void);
void kiface_module_exit(void);
int ksysctl_init(struct knode *n);
void ksysctl_exit(struct knode *n);
void krail_drain(struct krail *r);
void krail_purge(struct krail *r);
int krx_module_init(void);
void krx_module_exit(void);

/* query.c, debugfs.c */
int kquery_counters(struct kep *e, struct knode *n, struct espgoal_counters *a);
int kquery_name(struct espgoal_counter_name *a);
int kquery_rail(struct knode *n, struct espgoal_rail *a);
int kquery_flow(struct knode *n, struct espgoal_flow *a);
const char *kquery_node_counter(u32 i);
const char *kquery_ep_counter(u32 i);
void kdebugfs_init(void);
void kdebugfs_exit(void);
void kdebugfs_node(struct knode *n);
void kdebugfs_node_exit(struct knode *n);

/* dev.c */
extern struct request_limits kdev_limits;
int kdev_init(void);
void kdev_exit(void);
void kfile_put(struct kfile *f);

#include "env_inline.h"

#endif /* ESPGOAL_HOME_H */
