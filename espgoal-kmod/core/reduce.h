/* SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause */
/*
 * What reduce_int.c, reduce_fp.c and reduce_host.c share: how a loop over elements is written,
 * and how the one for a type and an operation is found. Only they include it.
 */
#ifndef CORE_REDUCE_H
#define CORE_REDUCE_H

#include "core.h"

/* A loop for one type and operation: pointers only, since a kernel passes no floats. */
typedef void reduce_fn(const void *in, void *inout, u64 count);

/*
 * User memory may lie anywhere, and what is in it was written as whatever the user likes: elements
 * are accessed through a packed structure that may alias. The pieces of constant length let
 * the compiler vectorise at -O2 already, where it takes no loop of unknown length.
 */
#define REDUCE_PIECE 64

#define REDUCE_LOOP(name, elem, result)                                            \
	static void name(const void *restrict in, void *restrict inout, u64 count) \
	{                                                                          \
		struct __attribute__((packed, may_alias)) any {                    \
			elem value;                                                \
		};                                                                 \
		const struct any *x = in;                                          \
		struct any *y = inout;                                             \
		u64 i;                                                             \
                                                                                   \
		for (; count >= REDUCE_PIECE; count -= REDUCE_PIECE) {             \
			for (i = 0; i < REDUCE_PIECE; i++) {                       \
				const elem a = x[i].value, b = y[i].value;         \
				y[i].value = (result);                             \
			}                                                          \
			x += REDUCE_PIECE;                                         \
			y += REDUCE_PIECE;                                         \
		}                                                                  \
		for (i = 0; i < count; i++) {                                      \
			const elem a = x[i].value, b = y[i].value;                 \
			y[i].value = (result);                                     \
		}                                                                  \
	}

/*
 * Reduce with the loop that @row, the one of @dtype, has for @rop; REPLACE and NO_OP are the same
 * for every type. The verifier lets no undefined combination pass, but callers of a library may
 * ask for one.
 */
static inline int reduce_by(reduce_fn *const *row, u32 dtype, u32 rop, const void *in, void *inout,
			    u64 count)
{
	if (!core_reduce_valid(dtype, rop))
		return -EINVAL;
	if (rop == GOAL_ROP_REPLACE)
		memcpy(inout, in, count * core_type_size(dtype));
	else if (rop != GOAL_ROP_NO_OP)
		row[rop](in, inout, count);
	return 0;
}

#endif /* CORE_REDUCE_H */
