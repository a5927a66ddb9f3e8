/* SPDX-License-Identifier: (GPL-2.0-only WITH Linux-syscall-note) OR BSD-3-Clause */
/*
 * The ABI of ESPGOAL: the binary schedule format and its codes.
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

#endif /* UAPI_ESPGOAL_H */
