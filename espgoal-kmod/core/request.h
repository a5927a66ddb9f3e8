/* SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause */
/*
 * The requests of /dev/espgoal (uapi/espgoal.h), which come from whoever may open it: what they say is
 * checked here, and what they point to is read and checked here. The kernel home carries them out.
 * They are in the core, and know of the kernel no more than it does, so that they can be tried
 * without one (test/fuzz/ioctl.c).
 *
 * Everything is read once, into memory of the home's: what was checked cannot change any more. How,
 * says a third header of a home that takes requests, env_user.h:
 *
 *	int env_user_read(void *to, u64 from, size_t bytes)	from the process that asks: 0; or
 *		-EFAULT, and then what is at @to means nothing
 */
#ifndef REQUEST_H
#define REQUEST_H

#include "core.h"
#include "env_user.h"

#define REQUEST_SEGS_MAX 1024         /* of espgoal_start.nsegs */
#define REQUEST_RUN_MAX  (128u << 20) /* bytes of a run object, messages of its sends included */
#define REQUEST_UNIT     64           /* buffers begin at a cache line */
#define REQUEST_OP_MAX   ESPGOAL_SURE_RUN /* bytes that one operation moves */

struct esp_table;

/* What the home takes: its parameters, and the sizes of its own objects. */
struct request_limits {
	u32 runs_max;  /* espgoal_open.runs */
	u32 area_max;  /* espgoal_open.area */
	u32 ranks_max; /* espgoal_group.nranks */
	u32 sched_max; /* espgoal_load.bytes */
	u32 run_max;   /* bytes of all buffers and scratch of a run */
	u32 eager_max; /* of a message whose payload is kept beside it */
	u32 page;      /* bytes of one, a power of two */
	u32 run_head;  /* bytes of the home's own at the front of a run object */
	u32 msg_head;  /* ... of each message in it; a multiple of 8 */
	u32 node_counters, ep_counters, flow_counters;
	bool fp; /* it reduces floating-point numbers */
};

/* The argument of any request but ESPGOAL_START, which has its own way (request_start.h). */
union request {
	struct espgoal_info info;
	struct espgoal_open open;
	struct espgoal_group group;
	struct espgoal_load load;
	struct espgoal_run run;
	struct espgoal_wait wait;
	struct espgoal_id id;
	struct espgoal_fail fail;
	struct espgoal_counters counters;
	struct espgoal_counter_name name;
	struct espgoal_rail rail;
	struct espgoal_flow flow;
};

/* request.c */
/* Is this one of them? Then its argument has _IOC_SIZE(@cmd) bytes, which fit into the union. */
bool request_known(unsigned int cmd);
/*
 * All that can be said of the argument of a known request by itself: 0, -EINVAL, -E2BIG or -ERANGE.
 * Defaults are filled in, and the area of ESPGOAL_OPEN is rounded up to pages.
 */
int request_check(unsigned int cmd, union request *a, const struct request_limits *l);

/* Counters of a set; 0: there is no such set. */
static inline u32 request_counters(u32 set, const struct request_limits *l)
{
	switch (set) {
	case ESPGOAL_SET_NODE:
		return l->node_counters;
	case ESPGOAL_SET_ENDPOINT:
		return l->ep_counters;
	case ESPGOAL_SET_FLOW:
		return l->flow_counters;
	default:
		return 0;
	}
}

/* Does ESPGOAL_FAIL name a rank of its group, or none? */
static inline bool request_fail_fits(const struct espgoal_fail *a, u32 nranks)
{
	return a->rank == ESPGOAL_NONE || a->rank < nranks;
}

/* request_group.c: rank tables. */
/* The endpoint that asks. */
struct request_self {
	u8 node[16]; /* the name of its node */
	u64 cookie;
	bool rails; /* it can reach other nodes */
};

/* What is known of a table beside who is in it. */
struct request_here {
	u32 local; /* index of our own node among the peers */
	u32 nranks;
	u32 *rank; /* those of our own node, ascending */
};

/* Bytes of memory for the table of a checked request, zeroed or not, aligned to 8. */
size_t request_table_bytes(const struct espgoal_group *g);
/*
 * Read and check the table; it lies in @mem, with its index. 0, -EFAULT, -EINVAL, or -EHOSTUNREACH:
 * there are other nodes in it.
 */
int request_table(const struct espgoal_group *g, const struct request_self *self, void *mem,
		  struct esp_table *t, struct request_here *here);

/* request_load.c: schedules, and where things lie in the memory of their runs. */
struct request_layout {
	u8 buf[GOAL_MAX_BUFS]; /* ESPGOAL_BUF_* */
	bool fp;               /* it reduces floating-point numbers */
	u32 nsends;
	u64 in_bytes;                  /* of all ESPGOAL_BUF_IN buffers */
	u32 run_bytes;                 /* of a run object with all behind it */
	u32 arrays_at;                 /* of core_run_init() */
	u32 msgs_at;                   /* messages of its sends */
	u32 mem_at;                    /* buffers that are not in the area, and scratch */
	u32 buf_at[GOAL_MAX_BUFS + 1]; /* from mem_at, or from the run's part of the area */
	u32 area_bytes;
	u32 *msg_at; /* by operation: of a send, from msgs_at */
};

/*
 * Read the schedule of a checked request into @data, a->bytes bytes aligned to 8. The bytes that
 * request_load() needs at @words; or -EFAULT, or -EINVAL or -E2BIG with a->rule and a->where.
 */
s64 request_load_read(struct espgoal_load *a, void *data);
/*
 * Verify it, and lay out its runs. 0; -EINVAL or -E2BIG, where the verifier says so with a->rule and
 * a->where; -EOPNOTSUPP. @s refers to @data, @lay to @words.
 */
int request_load(struct espgoal_load *a, const void *data, u32 *words,
		 const struct request_limits *l, struct core_sched *s, struct request_layout *lay);
/*
 * The buffers of run @r, whose object is at @object and whose part of the area at @area. @seg: one
 * for each, and one for the scratch.
 */
void request_bind(struct core_run *r, const struct core_sched *s, const struct request_layout *lay,
		  u8 *object, u8 *area, struct core_segment seg[GOAL_MAX_BUFS + 1]);

#endif /* REQUEST_H */
