/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The kernel engine: /dev/espgoal behind the functions of goal/engine.h. Those come here where
 * host_elsewhere() says so; its objects begin with the host engine's, of which they use what both
 * have.
 *
 * A run needs a run object of the device, which belongs to its schedule. Objects are kept and taken
 * again; where there is none, and none to be had, the run waits in a queue and starts when another is
 * over.
 *
 * Locking: host_lock(), as for the host engine. It is given up around ESPGOAL_START and while waiting,
 * and never held around callbacks.
 */
#ifndef ENGINE_KERNEL_H
#define ENGINE_KERNEL_H

#include "host.h"

#define KERNEL_FREE_RUNS 64 /* idle struct kernel_run, at most */

/* The plain bytes in a struct goal_address. */
struct kernel_address {
	u32 magic;
	u16 abi;      /* ESPGOAL_ABI of the library */
	u16 schedule; /* GOAL_SCHED_VERSION */
	u32 dtypes;   /* what it reduces: bits by enum goal_dtype, ... */
	u32 rops;     /* ... and goal_rop */
	u8 node[16];
	struct espgoal_link link[ESPGOAL_RAILS];
	u64 cookie;
};

_Static_assert(sizeof(struct kernel_address) == 120 &&
		       sizeof(struct kernel_address) <= sizeof(struct goal_address),
	       "it fits, without padding");
_Static_assert(GOAL_TYPES <= 32 && GOAL_ROPS <= 32, "they fit, too");

/* Whether waits spin or sleep: kernel_spin.c. */
struct kernel_spin {
	bool on;
	u8 phase;
	u32 left;    /* waits of this phase, ... */
	u64 sum;     /* ... and ns of those that were */
	u64 took[2]; /* ns of the waits measured last: asleep, spinning */
	u32 robbed;  /* waits in which the spinning ones lost the core to others */
};

/* What is looked at before and after a wait that is measured. */
struct kernel_spin_look {
	u64 at;     /* by host_now() */
	u64 robbed; /* times that this thread was preempted */
};

struct kernel_engine {
	struct goal_engine e;
	int fd;
	const u32 *forks;                /* host_forks(), ... */
	u32 fork_mark;                   /* ... when it was opened */
	const struct espgoal_head *head; /* the mapping */
	const struct espgoal_word *word;
	size_t map_bytes;
	struct espgoal_info info;
	struct kernel_address address;
	u32 seen;     /* head->over, when runs were last looked at */
	u32 asked;    /* the same, when an object was last refused, ... */
	u64 asked_at; /* ... by host_now() */
	struct kernel_spin spin;
	u32 nqueued;                      /* runs without an object */
	u32 nstarting;                    /* ESPGOAL_START under way, ... */
	struct kernel_starting *starting; /* ... each */
	struct list active;               /* struct kernel_run.link: runs with an object */
	struct list queued;               /* and without */
	struct list loaded;               /* struct kernel_loaded.link, the last used one last */
	struct kernel_run *free;
	u32 nfree;
};

/* Behind a struct goal_group. */
struct kernel_group {
	u32 id;
	u32 nactive;
	u32 crowded_at; /* engine's seen, when as many runs were active as the device takes, ... */
	bool crowded;   /* ... if they were */
	u32 dtypes, rops; /* that all members have */
	u8 local[];       /* a bit by rank: of our node */
};

/* Bytes that a run writes into a buffer. */
struct kernel_range {
	u64 off, len;
};

/* A run object of the device. */
struct kernel_object {
	struct kernel_object *next;
	u32 id;
	u32 starts;
	u64 off[GOAL_MAX_BUFS]; /* of its results in the mapping */
};

/* Behind a struct goal_loaded. */
struct kernel_loaded {
	struct goal_loaded *loaded;
	struct list link;
	u32 id;
	u32 nops, nbufs;
	u8 flags[GOAL_MAX_BUFS]; /* ESPGOAL_BUF_* */
	u64 need[GOAL_MAX_BUFS];
	struct kernel_range *range; /* of buffer b: first[b] to first[b + 1] */
	u32 first[GOAL_MAX_BUFS + 1];
	u32 nobjects, nsent;
	struct kernel_object *idle; /* can be started, the one used last first */
	/* Messages of theirs may still wait for receivers: oldest first, mostly. */
	struct kernel_object *sent, **sent_last;
};

/* A thread that starts a run, without the lock. */
struct kernel_starting {
	struct kernel_starting *next;
	const struct kernel_run *run; /* may be over, and another one's, by now: see starts */
	bool cancel;                  /* it is to be cancelled when the device knows it */
};

struct kernel_run {
	struct goal_run run;
	struct list link; /* engine's active or queued */
	struct kernel_run *next;
	struct kernel_object *object; /* NULL: queued */
	u64 queued_at;                /* by host_now() */
	u32 starts;                   /* word.over, when it is over */
	u32 op_id, start;
	bool failed; /* it only lets the others know that it fails, */
	int refusal; /* and why, if its owner still waits for it */
};

static inline bool kernel_kind(const struct goal_engine *e)
{
	return e->attr.kind == GOAL_ENGINE_KERNEL;
}

static inline struct kernel_engine *kernel_engine(struct goal_engine *e)
{
	return (struct kernel_engine *)e;
}

static inline struct kernel_group *kernel_group(const struct goal_group *g)
{
	return (struct kernel_group *)(g + 1);
}

static inline struct kernel_loaded *kernel_loaded(const struct goal_loaded *l)
{
	return (struct kernel_loaded *)(l + 1);
}

static inline struct kernel_run *kernel_run(struct goal_run *r)
{
	return (struct kernel_run *)r;
}

/* kernel.c: the engine as such. */
/* @e as a kernel engine of this process, or NULL. */
struct kernel_engine *kernel_of(const struct goal_engine *e);
int kernel_open(const struct goal_engine_attr *attr, struct goal_engine **engine,
		struct goal_error *error);
int kernel_close(struct goal_engine *e);
void kernel_address(const struct goal_engine *e, struct goal_address *address);
bool kernel_address_valid(const struct goal_address *a, struct kernel_address *out);
void kernel_stats(struct goal_engine *e, struct goal_engine_stats *stats);
bool kernel_active(struct goal_engine *e);

/* kernel_group.c */
int kernel_reach(const struct goal_engine *e, const struct goal_address *address);
int kernel_group_create(struct goal_engine *e, const struct goal_group_attr *attr,
			struct goal_group **group, struct goal_error *error);
int kernel_group_free(struct goal_group *g);
void kernel_group_fail(struct goal_group *g, int status, u32 peer);
/* This member cannot even say that a run fails: the group does, for all. The lock is held. */
void kernel_group_lost(struct goal_group *g);
bool kernel_group_local(const struct goal_group *g, u32 peer);
bool kernel_group_computes(const struct goal_group *g, u32 dtype, u32 rop);

/* kernel_load.c */
int kernel_load(struct goal_engine *e, const struct goal_schedule *schedule,
		struct goal_loaded **loaded, struct goal_error *error);
int kernel_unload(struct goal_loaded *l);
size_t kernel_loaded_bytes(const struct goal_loaded *l);

/* kernel_usage.c: which buffers @s reads and writes, and where: 0 or -ENOMEM. */
int kernel_usage(struct goal_engine *e, struct kernel_loaded *l, const struct goal_sched_hdr *s);

/* There may be room later. */
static inline bool kernel_exhausted(int rc)
{
	return rc == -ENOSPC || rc == -EDQUOT || rc == -ENOMEM;
}

/* kernel_object.c. The lock is held. */
/* Give an idle object back to the device that is not of @but; false: there is none. */
bool kernel_object_give_back(struct kernel_engine *k, const struct kernel_loaded *but);
/* An object that can be started, out of the idle ones; or NULL and *@rc says why there is none. */
struct kernel_object *kernel_object_get(struct kernel_engine *k, struct kernel_loaded *l, int *rc);
/* Messages of runs that are over still wait for their receivers, which keeps memory. */
bool kernel_object_sending(const struct kernel_engine *k);
/*
 * So many runs of @l have ended here whose messages nobody has taken yet that a blocking call waits
 * for the receivers: who runs hundreds of calls ahead only makes work for them. @waits: it does so
 * already.
 */
bool kernel_object_ahead(struct kernel_engine *k, const struct goal_group *g,
			 struct kernel_loaded *l, bool waits);
void kernel_object_put(struct kernel_loaded *l, struct kernel_object *o);
void kernel_objects_free(struct kernel_loaded *l); /* those of an unloaded schedule */

/* kernel_run.c */
int kernel_start(struct goal_group *g, struct goal_loaded *l, const struct goal_run_attr *attr,
		 struct goal_run **run);
int kernel_exec(struct goal_group *g, struct goal_loaded *l, const struct goal_run_attr *attr,
		void (*idle)(void));
void kernel_run_cancel(struct goal_run *r);
void kernel_run_free(struct goal_run *r);
int kernel_restart(struct goal_run *r);
int kernel_run_wait(struct goal_run *r, int timeout_ms);

/* kernel_start.c */
/*
 * Start @r, which is on no list: at once, or when there is an object for it. The lock is held, and
 * given up meanwhile. With @wait_ns the call returns when the run is over, or so much later. 0; -errno:
 * it is not started, and not on a list.
 */
int kernel_go(struct kernel_run *r, u64 wait_ns);
/* Try again to start those that wait; how many were. The same about the lock. */
u32 kernel_queue(struct kernel_engine *k);

/* kernel_spin.c */
void kernel_spin_init(struct kernel_spin *s);
/* May the next wait spin? */
bool kernel_spin_on(const struct kernel_engine *k);
/* Is it of interest how long the next wait takes? The lock is held; so it is for the next one. */
bool kernel_spin_measures(const struct kernel_engine *k);
void kernel_spin_look(struct kernel_spin_look *l);
/*
 * One of that kind has ended; @ns from its start to there, 0 if that was not of interest; meanwhile this
 * thread was preempted @robbed times.
 */
void kernel_spin_waited(struct kernel_engine *k, bool spun, u64 ns, u64 robbed);

/* kernel_progress.c */
/* Look at the runs that are active. The lock is held. How many are over. */
u32 kernel_reap(struct kernel_engine *k);
/* Everything that goal_engine_progress() does. The lock is not held. */
u32 kernel_progress(struct goal_engine *e);
/* Callbacks, where there are some and nobody is at it. The lock is not held. */
u32 kernel_dispatch(struct kernel_engine *k);
/* @r, which is on no list, is over. The lock is held. */
void kernel_over(struct kernel_engine *k, struct kernel_run *r, s32 status, u32 peer);
/* Nobody knows @r any more. The lock is held. */
void kernel_run_put(struct kernel_run *r);
/* Make progress until @r is over: 0, its error, or -ETIMEDOUT. */
int kernel_wait(struct kernel_engine *k, struct goal_run *r, int timeout_ms, bool spins,
		void (*idle)(void));
/* Make progress until a blocking call may start a run of @l: see kernel_object_ahead(). Not for long. */
void kernel_wait_sent(struct kernel_engine *k, const struct goal_group *g, struct kernel_loaded *l,
		      void (*idle)(void));

/* kernel_device.c: the system calls. 0 (or a descriptor) or -errno. */
int kernel_device_open(void);
void kernel_device_close(int fd);
int kernel_device_request(int fd, unsigned long code, void *arg);
void *kernel_device_map(int fd, size_t bytes); /* NULL: errno says why */
void kernel_device_unmap(const void *map, size_t bytes);

#endif /* ENGINE_KERNEL_H */
