/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the man page espgoal(4) and uapi/espgoal.h say of a request, read once more, slowly, and not as
 * the decoders do it: for the fuzz target `ioctl' to compare.
 */
#ifndef FUZZ_IOCTL_NAIVE_H
#define FUZZ_IOCTL_NAIVE_H

#include <stdio.h>
#include <stdlib.h>

#include "core.h"
#include "esp.h"
#include "request.h"

/* An invariant: say which one does not hold, and stop. */
#define demand(truth, ...)                            \
	do {                                          \
		if (!(truth)) {                       \
			fprintf(stderr, "ioctl: ");   \
			fprintf(stderr, __VA_ARGS__); \
			fprintf(stderr, "\n");        \
			abort();                      \
		}                                     \
	} while (0)

/* Errors that may be the answer, as a set. None: the request is to be taken. */
enum {
	SAYS_FAULT = 1 << 0,
	SAYS_INVAL = 1 << 1,
	SAYS_2BIG = 1 << 2,
	SAYS_RANGE = 1 << 3,
	SAYS_UNREACH = 1 << 4,
	SAYS_NOTSUPP = 1 << 5,
	SAYS_NOTTY = 1 << 6,
	SAYS_GOOD = 1 << 7, /* or it is taken */
};

/* Is @rc an answer that is in the set? */
bool naive_says(u32 set, s64 rc);
/* What the man page has for this request, beside what only the kernel can meet. */
u32 naive_documented(u32 cmd);

/* Is there such a request? */
bool naive_known(u32 cmd);
/* Blank all of the argument that is not input of the request. */
void naive_blank(u32 cmd, void *arg);
/* The argument by itself, of START too. */
u32 naive_check(u32 cmd, const void *arg, const struct request_limits *l);

/* The table of a request that was taken so far; and whether @t and @here are what it says. */
u32 naive_table(const struct espgoal_group *g, const struct request_self *self);
void naive_same_table(const struct espgoal_group *g, const struct request_self *self,
		      const struct esp_table *t, const struct request_here *here);

/* A verified schedule, likewise. */
u32 naive_load(const struct espgoal_load *a, const struct core_sched *s,
	       const struct request_limits *l);
void naive_good_layout(const struct espgoal_load *a, const struct core_sched *s,
		       const struct request_limits *l, const struct request_layout *lay);

/* The segments of a start: what they hold, up to @bytes of it, to @to if they can be read. */
u32 naive_segments(const struct espgoal_start *a, u64 bytes, u8 *to);

#endif /* FUZZ_IOCTL_NAIVE_H */
