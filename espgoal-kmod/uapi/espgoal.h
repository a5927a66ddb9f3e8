/* SPDX-License-Identifier: (GPL-2.0-only WITH Linux-syscall-note) OR BSD-3-Clause */
/*
 * The ABI of ESPGOAL: the binary schedule format and its codes, and behind them the device
 * /dev/espgoal, which runs schedules in the kernel (man page espgoal(4)).
 *
 * A schedule is the compiled GOAL graph of one rank. It is one block of memory without
 * pointers, in the byte order of the machine, immutable once it has been verified, and
 * runs any number of times. The library writes it (libgoal/graph/compile.c), every engine
 * reads it (core/). Whoever reads it treats it as hostile: core/verify.c is the only
 * gate, doc/schedule.md lists its rules.
 *
 * Layout, without gaps:
 *
 *	struct goal_sched_hdr	header, 64 bytes
 *	struct goal_op		op[nops], 64 bytes each, topologically numbered; those
 *				without dependencies come first (nindep of them)
 *	__u32			deps[nops], number of dependencies of each operation
 *	__u32			succ[nsucc], successor lists (compressed rows, see goal_op)
 *	__u32			match[nrecv], receive operations, ascending by (peer, tag,
 *				instance), no two with the same three
 *	__u8			zero padding up to a multiple of 8 bytes
 */
#ifndef UAPI_ESPGOAL_H
#define UAPI_ESPGOAL_H

#include <linux/ioctl.h>
#include <linux/types.h>

#define GOAL_SCHED_MAGIC   0x4c414f47u /* "GOAL" in memory, little-endian */
#define GOAL_SCHED_VERSION 1

/* Limits that every engine enforces; a schedule above one of them is refused with -E2BIG. */
#define GOAL_MAX_OPS   (1u << 24)   /* operations of one schedule */
#define GOAL_MAX_SUCC  (1u << 26)   /* entries of the successor lists */
#define GOAL_MAX_BUFS  16           /* buffers a schedule may name */
#define GOAL_MAX_TAGS  0x7fffffffu  /* tags are 0 .. ntags - 1 */
#define GOAL_MAX_BYTES (1ull << 56) /* of an offset, a length, the scratch */

/* Buffer numbers below GOAL_MAX_BUFS are bound by the run; this one is the run's scratch. */
#define GOAL_BUF_SCRATCH 0xffffu

/* No operation (goal_op.len_from). */
#define GOAL_OP_NONE 0xffffffffu

/* Operation codes (goal_op.code). */
enum goal_op_code {
	GOAL_OP_NOP = 0,    /* nothing; joins dependencies */
	GOAL_OP_SEND = 1,   /* len bytes of src to (peer, tag, instance) */
	GOAL_OP_RECV = 2,   /* at most len bytes of (peer, tag, instance) to dst */
	GOAL_OP_COPY = 3,   /* len bytes of src to dst; must not overlap */
	GOAL_OP_REDUCE = 4, /* dst[i] = src[i] rop dst[i], len elements of dtype; no overlap */
	GOAL_OP_CODES
};

/* Element types of a reduction (goal_op.dtype). Pair types have the layout of the C struct. */
enum goal_dtype {
	GOAL_TYPE_NONE = 0,
	GOAL_TYPE_INT8,
	GOAL_TYPE_INT16,
	GOAL_TYPE_INT32,
	GOAL_TYPE_INT64,
	GOAL_TYPE_UINT8,
	GOAL_TYPE_UINT16,
	GOAL_TYPE_UINT32,
	GOAL_TYPE_UINT64,
	GOAL_TYPE_BOOL, /* one byte, 0 or 1: C bool, C++ bool */
	GOAL_TYPE_FLOAT,
	GOAL_TYPE_DOUBLE,
	GOAL_TYPE_LONG_DOUBLE, /* from here on: process homes only */
	GOAL_TYPE_FLOAT_COMPLEX,
	GOAL_TYPE_DOUBLE_COMPLEX,
	GOAL_TYPE_LONG_DOUBLE_COMPLEX,
	GOAL_TYPE_FLOAT_INT,
	GOAL_TYPE_DOUBLE_INT,
	GOAL_TYPE_LONG_INT,
	GOAL_TYPE_2INT,
	GOAL_TYPE_SHORT_INT,
	GOAL_TYPE_LONG_DOUBLE_INT,
	GOAL_TYPE_2FLOAT,
	GOAL_TYPE_2DOUBLE, /* Fortran's 2REAL, 2DOUBLE PRECISION */
	GOAL_TYPE_USER,    /* hdr.user_size bytes, reduced by a callback */
	GOAL_TYPES
};

/* Reduction operations (goal_op.rop), named for those of MPI. */
enum goal_rop {
	GOAL_ROP_NONE = 0,
	GOAL_ROP_MAX,
	GOAL_ROP_MIN,
	GOAL_ROP_SUM,
	GOAL_ROP_PROD,
	GOAL_ROP_LAND,
	GOAL_ROP_BAND,
	GOAL_ROP_LOR,
	GOAL_ROP_BOR,
	GOAL_ROP_LXOR,
	GOAL_ROP_BXOR,
	GOAL_ROP_MAXLOC,
	GOAL_ROP_MINLOC,
	GOAL_ROP_REPLACE, /* dst = src */
	GOAL_ROP_NO_OP,   /* dst stays */
	GOAL_ROP_USER,    /* the callback of the run; dtype is USER too */
	GOAL_ROPS
};

struct goal_sched_hdr {
	__u32 magic;   /* GOAL_SCHED_MAGIC */
	__u16 version; /* GOAL_SCHED_VERSION */
	__u16 flags;   /* must be 0 */
	__u64 total;   /* bytes of the whole schedule, padding included */
	__u32 rank;    /* the rank it was compiled for */
	__u32 npeers;  /* peers are 0 .. npeers - 1 */
	__u32 nops;
	__u32 nindep; /* op[0 .. nindep - 1] have no dependencies */
	__u32 nsucc;
	__u32 nrecv;     /* receive operations, so entries of match */
	__u32 nbufs;     /* buffers are 0 .. nbufs - 1, or GOAL_BUF_SCRATCH */
	__u32 ntags;     /* tags are 0 .. ntags - 1 */
	__u64 scratch;   /* bytes of scratch a run needs, zeroed or not */
	__u32 user_size; /* bytes of one GOAL_TYPE_USER element; 0: none used */
	__u32 reserved;  /* must be 0 */
};

struct goal_op {
	__u8 code;      /* enum goal_op_code */
	__u8 dtype;     /* enum goal_dtype, of a reduction, else 0 */
	__u8 rop;       /* enum goal_rop, of a reduction, else 0 */
	__u8 flags;     /* must be 0 */
	__u32 peer;     /* send, recv: the peer's rank; else 0 */
	__u32 tag;      /* send, recv; else 0 */
	__u32 instance; /* the how-manyth of this (peer, tag) and direction, from 0 */
	__u16 src_buf;  /* send, copy, reduce; else 0 */
	__u16 dst_buf;  /* recv, copy, reduce; else 0 */
	__u32 slot;     /* recv: its place in match[]; else 0 */
	__u32 succ;     /* first of its entries in succ[]: behind those of the operation before */
	__u32 nsucc;    /* those that require this operation, from succ on */
	__u32 nisucc;   /* those that irequire it, behind the former */
	__u32 len_from; /* a recv, required directly, whose received length is the length of
				 * this send or copy, at most len; or GOAL_OP_NONE */
	__u64 src_off;  /* bytes into src_buf */
	__u64 dst_off;  /* bytes into dst_buf */
	__u64 len;      /* bytes; of a reduction: elements */
};

/*
 * The device.
 *
 * A process opens /dev/espgoal, asks ESPGOAL_INFO whether it speaks this ABI, and makes the
 * descriptor an endpoint (ESPGOAL_OPEN). It adds groups (ESPGOAL_GROUP), loads schedules
 * (ESPGOAL_LOAD) and makes run objects for them (ESPGOAL_RUN): the memory of one run, made once and
 * started any number of times (ESPGOAL_START). A run is carried on by the kernel, whatever the
 * process does meanwhile. Its end shows in memory that the process maps (read-only, offset 0,
 * espgoal_open.map_bytes):
 *
 *	struct espgoal_head
 *	struct espgoal_word	word[espgoal_open.runs], by run id
 *	the area		from espgoal_open.area_off on: buffers marked ESPGOAL_BUF_OUT
 *
 * Payload is copied: ESPGOAL_BUF_IN buffers from the process at ESPGOAL_START, and those marked
 * ESPGOAL_BUF_OUT lie in the area, where the process reads them when the run is over, until
 * it starts that run object again. A buffer may be both (then it holds at first what was
 * copied in). Others hold what earlier runs of the object left there, zeros at first. What is too
 * large for this is refused (-E2BIG) and belongs on the host engine.
 *
 * An endpoint belongs to the process that made it (its address space, user, network namespace): a
 * child that inherits the descriptor gets -ECHILD. It ends with that process, whoever else holds the
 * descriptor. Ids (groups, schedules, runs) are small numbers of this endpoint.
 *
 * Structures have the same layout for 32 and 64 bit processes; pointers are __aligned_u64. Whatever
 * is reserved, and flags without a name, must be 0 (-EINVAL), and is 0 in answers. Unknown requests get
 * -ENOTTY. What fails has no effect, unless said otherwise. Which errors mean what: espgoal(4).
 */
#define ESPGOAL_ABI  1 /* grows when something is added here, or changes its meaning */
#define ESPGOAL_PATH "/dev/espgoal"

#define ESPGOAL_RAILS 4           /* interfaces of a node */
#define ESPGOAL_NONE  0xffffffffu /* no such rank, run, ... */
#define ESPGOAL_EVER  (~0ull)     /* a timeout: none */

/*
 * What every module takes, whatever its parameters: so ranks may choose by these without asking. An
 * operation moves ESPGOAL_SURE_RUN bytes at most, also where runs may be larger.
 */
#define ESPGOAL_SURE_RUN   65536   /* espgoal_info.run_max is at least that */
#define ESPGOAL_SURE_SCHED 1048576 /* sched_max */
#define ESPGOAL_SURE_RANKS 4096    /* ranks_max */
#define ESPGOAL_SURE_EAGER 1024    /* eager_max */

/* A link address, opaque: given out by one node, handed back to another. All 0: none. */
struct espgoal_link {
	__u8 bytes[20];
};

/*
 * (1) What is here, what it takes. Also on a descriptor that is no endpoint yet. This request
 * stays as it is, so that every program can ask every module. The module speaks the ABIs from
 * abi_oldest to abi: a program works with it if its own ESPGOAL_ABI is one of them.
 */
struct espgoal_info {
	__u32 abi;           /* out: ESPGOAL_ABI of the module */
	__u32 sched_version; /* GOAL_SCHED_VERSION it runs */
	char version[32];    /* of the module, 0-terminated */
	__u8 node[16];       /* name of this node (network namespace since the module was loaded) */
	__u32 rails;         /* interfaces in use now; 0: peers of this node only */
	__u32 flags;         /* ESPGOAL_INFO_* */
	__aligned_u64 dtypes;    /* bit by enum goal_dtype: it reduces those */
	__aligned_u64 rops;      /* bit by enum goal_rop, of its types */
	__aligned_u64 run_max;   /* bytes of all buffers and scratch of a run */
	__aligned_u64 sched_max; /* bytes of a schedule */
	__aligned_u64 area_max;  /* espgoal_open.area at most */
	__u32 runs_max;          /* espgoal_open.runs at most */
	__u32 ranks_max;         /* ranks of a group */
	__u32 eager_max;         /* longest message that needs no receiver to be sent */
	__u32 segs_max;          /* espgoal_start.nsegs at most */
	__u32 node_counters;     /* ESPGOAL_COUNT of ESPGOAL_SET_NODE */
	__u32 ep_counters;       /* ... of ESPGOAL_SET_ENDPOINT */
	__u32 flow_counters;     /* ... of ESPGOAL_SET_FLOW */
	__u32 abi_oldest;        /* the oldest one that the module still speaks */
	__aligned_u64 reserved[4];
};

#define ESPGOAL_INFO_DEBUG 0x1u /* built with ESPGOAL_DEBUG: not for use */

/* (2) Make the descriptor an endpoint. */
struct espgoal_open {
	__u32 flags;        /* must be 0 */
	__u32 runs;         /* in: run objects it may have, 1 .. runs_max; 0: 256. out: as given */
	__aligned_u64 area; /* in: bytes of the area; 0: 256 KiB. out: rounded up to pages */
	__aligned_u64 map_bytes; /* out: length of the mapping */
	__aligned_u64 area_off;  /* out: where the area begins in it */
	/* out: what the members of a group tell each other: struct espgoal_peer and the cookie */
	__u8 node[16];
	struct espgoal_link link[ESPGOAL_RAILS]; /* by path, those that are up now */
	__aligned_u64 cookie; /* names the endpoint; who knows it may send to it */
};

/* (3) Add a group. */
struct espgoal_peer { /* a node */
	__u8 node[16];
	struct espgoal_link link[ESPGOAL_RAILS];
};

struct espgoal_rank {
	__aligned_u64 cookie; /* of its endpoint */
	__u32 peer;           /* its node: index into the peers */
	__u32 reserved;
};

struct espgoal_group {
	__aligned_u64 nonce; /* names the group, the same at every member, never reused; not 0 */
	__u32 nranks;
	__u32 npeers;
	__u32 rank;          /* of this endpoint; its entry has our own cookie and node */
	__u32 id;            /* out */
	__aligned_u64 ranks; /* struct espgoal_rank[nranks]; each endpoint at most once */
	__aligned_u64 peers; /* struct espgoal_peer[npeers], no two with the same name */
	__u32 flags;         /* must be 0 */
	__u32 reserved;
};

/* (4) Load a schedule. The bytes are copied, then verified. */
#define ESPGOAL_BUF_IN    0x1u
#define ESPGOAL_BUF_OUT   0x2u
#define ESPGOAL_BUF_KNOWN 0x3u

struct espgoal_load {
	__aligned_u64 data;      /* doc/schedule.md */
	__aligned_u64 bytes;     /* its length, multiple of 8 */
	__u8 buf[GOAL_MAX_BUFS]; /* ESPGOAL_BUF_*, by buffer; of those it does not have: 0 */
	__u32 flags;             /* must be 0 */
	__u32 id;                /* out */
	/* out, with -EINVAL and -E2BIG of the verifier, else 0: as in struct core_error */
	__u32 rule;
	__u32 reserved;
	__aligned_u64 where;
	__aligned_u64 need[GOAL_MAX_BUFS]; /* out: bytes of each buffer */
};

/* (5) Make a run object of a schedule. */
struct espgoal_run {
	__u32 sched;
	__u32 id;    /* out: also the index of its word */
	__u32 flags; /* must be 0 */
	__u32 reserved;
	__aligned_u64
		off[GOAL_MAX_BUFS]; /* out: of the BUF_OUT buffers, from the start of the mapping;
					   * multiples of 64; else 0 */
};

/*
 * (6) Start a run. The segments, one behind another, are the BUF_IN buffers, in ascending order,
 * each of espgoal_load.need bytes: both have the same length in sum. Every member starts the
 * schedule for its rank under the same (op_id, start), which no two runs of a group share, ever.
 */
struct espgoal_seg {
	__aligned_u64 addr;
	__aligned_u64 len;
};

#define ESPGOAL_START_WAIT 0x1u /* do not return before it is over, or the timeout is */
#define ESPGOAL_START_FAILED \
	0x2u /* without segments: this member cannot run it, which ends it with
				   * -ECANCELED, and its peers hear of that */
#define ESPGOAL_START_KNOWN 0x3u

struct espgoal_start {
	__u32 run;
	__u32 group;
	__u32 op_id;
	__u32 start;
	__u32 flags;               /* ESPGOAL_START_* */
	__u32 nsegs;               /* up to 2: seg[]; more: at segs */
	__aligned_u64 timeout;     /* of START_WAIT, ns; ESPGOAL_EVER; else 0 */
	__aligned_u64 segs;        /* struct espgoal_seg[nsegs]; or 0 */
	struct espgoal_seg seg[2]; /* the unused: 0 */
};

/*
 * ESPGOAL_START answers 0 when the run has been started: with START_WAIT also when a signal or
 * the timeout came before its end (see the word). A run of a group that has failed is over at
 * once, with its error in the word. Otherwise nothing was started: -EBUSY: the run object is
 * active, or its last messages are still needed (word.free).
 */

/*
 * (7) Wait until a word, or the head, is not as the caller knows it. 0, -ETIMEDOUT, -EINTR.
 * After a signal it is the caller's to wait again, who has to count what is left of a timeout
 * that is a length of time; a point in time stays what it is.
 */
#define ESPGOAL_WAIT_UNTIL 0x1u /* timeout is a time of CLOCK_MONOTONIC, as the caller reads it */
#define ESPGOAL_WAIT_KNOWN 0x1u

struct espgoal_wait {
	__u32 run;             /* or ESPGOAL_NONE: any run of the endpoint */
	__u32 seen;            /* word.over; of ESPGOAL_NONE: head.over */
	__aligned_u64 timeout; /* ns; 0, or a time that is over: only look; ESPGOAL_EVER */
	__u32 flags;           /* ESPGOAL_WAIT_* */
	__u32 reserved;
};

/* The mapping. The kernel writes what is read last, @over, with release order. */
struct espgoal_word {
	__u32 over;   /* starts of this run object that are over, modulo 2^32 */
	__s32 status; /* of the last one: 0 or -errno */
	__u32 peer;   /* the rank whose failure ended it, or ESPGOAL_NONE */
	__u32 free;   /* starts that need the object no more: when it equals over, start again;
		       * else messages of it wait for their receivers: take another object */
};

struct espgoal_head {
	__u32 over;   /* runs of this endpoint that are over, modulo 2^32 */
	__u32 failed; /* those with an error */
	__u32 ended;  /* not 0: the endpoint is over (its namespace ends): -errno */
	__u32 reserved[13];
};

/* (8) Cancel an active run: it ends with -ECANCELED, soon. (9) to (11): give an object back. */
struct espgoal_id {
	__u32 id;
	__u32 reserved;
};

/* (12) Every run of a group, now and later, ends with @status, which names @rank; its other members
 * hear of it, and their runs end with an error, too. */
struct espgoal_fail {
	__u32 group;
	__s32 status; /* -ECONNRESET, -ECONNABORTED, -EHOSTUNREACH or -ECANCELED */
	__u32 rank;   /* or ESPGOAL_NONE */
	__u32 reserved;
};

/* (14) Counters. */
enum espgoal_set {
	ESPGOAL_SET_NODE = 0,     /* of this network namespace */
	ESPGOAL_SET_ENDPOINT = 1, /* of this endpoint */
	ESPGOAL_SET_FLOW = 2,     /* of a flow */
	ESPGOAL_SETS
};

struct espgoal_counters {
	__u32 set;           /* enum espgoal_set */
	__u32 n;             /* in: room for so many. out: there are so many */
	__aligned_u64 value; /* __u64[n] */
	__aligned_u64 flow;  /* of ESPGOAL_SET_FLOW: espgoal_flow.id; else 0 */
	__u32 flags;         /* must be 0 */
	__u32 reserved;
};

/* (15) The name of a counter; -ERANGE behind the last one. */
struct espgoal_counter_name {
	__u32 set; /* enum espgoal_set */
	__u32 index;
	char name[40]; /* out, 0-terminated */
};

/* (16) The interfaces of this namespace; -ERANGE behind the last path. */
struct espgoal_rail {
	__u32 path;    /* in: 0 .. ESPGOAL_RAILS - 1 */
	__u32 state;   /* out: ESPGOAL_RAIL_* */
	__u32 ifindex; /* 0: none */
	__u32 mtu;
	char name[16];
	struct espgoal_link link;
	__u32 speed; /* Mb/s; 0: unknown */
	__aligned_u64 frames_in, frames_out, bytes_in, bytes_out, retried, dropped;
};

enum espgoal_rail_state {
	ESPGOAL_RAIL_NONE = 0, /* no interface on this path */
	ESPGOAL_RAIL_DOWN = 1, /* there is one, and it is down or its MTU is too small */
	ESPGOAL_RAIL_UP = 2,
	ESPGOAL_RAIL_MISSING = 3, /* the list names one that does not exist or is no Ethernet */
};

/* (17) The flows of this namespace, one after another; -ERANGE: no more. */
struct espgoal_path {
	__u32 state; /* enum esp_path_state: 0 none, 1 probing, 2 up, 3 dead */
	__u32 mtu;
	__u32 window;   /* bytes */
	__u32 inflight; /* bytes */
	__u32 srtt_us;
	__u32 backoff;
	struct espgoal_link link; /* the peer's */
	__u32 reserved;
};

struct espgoal_flow {
	__aligned_u64 cursor; /* in: 0, then as answered. out: of the next one */
	__aligned_u64 id;     /* for espgoal_counters.flow */
	__u8 node[16];        /* the peer */
	__u32 state;          /* enum esp_flow_state: 1 hello, 2 open, 3 up, 4 dead */
	__u32 messages;       /* under way to it */
	__u32 refusals;       /* its messages that wait for a run here */
	__u32 reserved;
	__aligned_u64 idle_us; /* since something was heard */
	struct espgoal_path path[ESPGOAL_RAILS];
};

/* clang-format off */
#define ESPGOAL_IOC 0xe9
#define ESPGOAL_INFO         _IOR(ESPGOAL_IOC, 1, struct espgoal_info)
#define ESPGOAL_OPEN         _IOWR(ESPGOAL_IOC, 2, struct espgoal_open)
#define ESPGOAL_GROUP        _IOWR(ESPGOAL_IOC, 3, struct espgoal_group)
#define ESPGOAL_LOAD         _IOWR(ESPGOAL_IOC, 4, struct espgoal_load)
#define ESPGOAL_RUN          _IOWR(ESPGOAL_IOC, 5, struct espgoal_run)
#define ESPGOAL_START        _IOW(ESPGOAL_IOC, 6, struct espgoal_start)
#define ESPGOAL_WAIT         _IOW(ESPGOAL_IOC, 7, struct espgoal_wait)
#define ESPGOAL_CANCEL       _IOW(ESPGOAL_IOC, 8, struct espgoal_id) /* a run */
#define ESPGOAL_RUN_FREE     _IOW(ESPGOAL_IOC, 9, struct espgoal_id) /* -EBUSY: it is active */
#define ESPGOAL_UNLOAD       _IOW(ESPGOAL_IOC, 10, struct espgoal_id) /* with its run objects */
#define ESPGOAL_GROUP_FREE   _IOW(ESPGOAL_IOC, 11, struct espgoal_id) /* -EBUSY: runs are active */
#define ESPGOAL_FAIL         _IOW(ESPGOAL_IOC, 12, struct espgoal_fail)
/* A clean end: active runs are cancelled, what was sent still gets there (lingers). Without it, closing
 * the descriptor and the end of the process count as death: groups fail at their other members. */
#define ESPGOAL_CLOSE        _IO(ESPGOAL_IOC, 13)
#define ESPGOAL_COUNT        _IOWR(ESPGOAL_IOC, 14, struct espgoal_counters)
#define ESPGOAL_COUNTER_NAME _IOWR(ESPGOAL_IOC, 15, struct espgoal_counter_name)
#define ESPGOAL_RAIL         _IOWR(ESPGOAL_IOC, 16, struct espgoal_rail)
#define ESPGOAL_FLOW         _IOWR(ESPGOAL_IOC, 17, struct espgoal_flow)
/* clang-format on */

/*
 * read(2) of 8 bytes: how many runs are over since the last read, as __u64; waits until there is
 * one, or with O_NONBLOCK answers -EAGAIN. poll(2), epoll: readable when there is one; POLLERR
 * when the endpoint is over. A descriptor that is no endpoint yet has nothing to tell, and can
 * be watched already.
 */

#endif /* UAPI_ESPGOAL_H */
