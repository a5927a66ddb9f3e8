/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What every part of libgoal shares: visibility, buffer numbers, the error record.
 * Included by the other public headers.
 */
#ifndef GOAL_TYPES_H
#define GOAL_TYPES_H

#include <stddef.h>
#include <stdint.h>

#include <goal/espgoal.h> /* op, type and reduction codes; limits */

#ifdef __cplusplus
#define GOAL_BEGIN_DECLS extern "C" {
#define GOAL_END_DECLS   }
#else
#define GOAL_BEGIN_DECLS
#define GOAL_END_DECLS
#endif

/* Marks what libgoal.so exports; the library is built with hidden visibility. */
#define GOAL_API __attribute__((visibility("default")))

/* The buffers that the collectives of goal/collectives.h name. */
#define GOAL_BUF_SEND 0u
#define GOAL_BUF_RECV 1u

/*
 * What went wrong, and where. Functions that parse, compile or verify fill in a caller's record
 * when it is not NULL. Contents are defined only after a failure.
 */
struct goal_error {
	int code;        /* -errno, as returned */
	uint32_t line;   /* of GOAL text, from 1; 0: not about text */
	uint32_t column; /* of GOAL text, from 1; 0: not about text */
	uint64_t where;  /* operation number; bytes into a schedule's header */
	char text[160];  /* one sentence without a full stop, never empty */
};

#endif /* GOAL_TYPES_H */
