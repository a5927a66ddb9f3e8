/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The input of the fuzz target `ioctl': a byte of circumstances, the number of requests, the requests
 * (input_request()), and the memory of the process that makes them. What chance would hardly ever get
 * right is put right where a request asks for it.
 */
#ifndef FUZZ_IOCTL_INPUT_H
#define FUZZ_IOCTL_INPUT_H

#include "request.h"

#define INPUT_REQUESTS 8    /* at most */
#define INPUT_OPS      8    /* of a schedule that is made up, at most */
#define INPUT_RAILS    0x80 /* of the circumstances: there are some; the rest chooses the limits */
#define INPUT_NODE     0x11 /* each byte of our node's name */
#define INPUT_COOKIE   0x2222 /* ours */
#define INPUT_OTHER    0xff   /* a request whose whole number follows */

#define FIX_POINTERS 0x01 /* they point into the memory */
#define FIX_BLANK    0x02 /* what has to be 0 is */
#define FIX_COUNTS   0x04 /* of a group: small, and fitting one another; nodes of its ranks, too */
#define FIX_SELF     0x08 /* of a group: we are in it */
#define FIX_SCHEDULE 0x10 /* what is at data describes a schedule: this is loaded */
#define FIX_SEGMENTS 0x20 /* of a start: as long as they have to be */
#define FIX_ALL      0x3f
#define FIX_EDGE     0x40 /* counts and sizes: at their limits, or one beside */
#define FIX_ASTRAY   0x80 /* with FIX_SELF: our node is the one behind */

/* What FIX_SCHEDULE makes an operation of. */
struct input_op {
	u8 code, dtype, rop, buf;
	u32 large; /* odd: len as it is, else a short one */
	__aligned_u64 len;
};

/* What such a schedule takes, at the end of the memory. */
#define INPUT_SCHEDULE \
	(sizeof(struct goal_sched_hdr) + INPUT_OPS * (sizeof(struct goal_op) + 2 * sizeof(u32)))

struct input {
	u32 cmd;
	u8 how;            /* FIX_* */
	union request arg; /* of START, too */
};

/* What a request is mended for. */
struct input_world {
	const struct request_limits *l;
	struct request_self self;
	u32 rank, ranks; /* in the group that was added last, at first one of a single rank */
	u64 in_bytes;    /* of the schedule that was loaded last */
};

/* The place of a request in the input. */
u8 input_code(u32 cmd);
/* Reads one; how many bytes it took. */
size_t input_request(const u8 *data, size_t size, struct input *in);
/* Puts it right; may write into the memory, and append to it. */
void input_fix(struct input *in, const struct input_world *w);

#endif /* FUZZ_IOCTL_INPUT_H */
