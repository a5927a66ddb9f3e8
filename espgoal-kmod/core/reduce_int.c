// SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause
/*
 * Reductions of integers and of BOOL: inout[i] = in[i] rop inout[i]. Called by every home's
 * env_reduce(). Signed sums and products wrap, as two's complement does.
 */
#include "reduce.h"

/*
 * Sums and products are computed in an unsigned type that is at least as wide as int, so that
 * nothing is promoted to a signed one on the way (65535 * 65535 overflows an int).
 */
#define INTEGER(name, elem, wide)                                 \
	REDUCE_LOOP(name##_max, elem, a > b ? a : b)              \
	REDUCE_LOOP(name##_min, elem, a < b ? a : b)              \
	REDUCE_LOOP(name##_sum, elem, (elem)((wide)a + (wide)b))  \
	REDUCE_LOOP(name##_prod, elem, (elem)((wide)a * (wide)b)) \
	REDUCE_LOOP(name##_land, elem, (a != 0) & (b != 0))       \
	REDUCE_LOOP(name##_band, elem, a &b)                      \
	REDUCE_LOOP(name##_lor, elem, (a != 0) | (b != 0))        \
	REDUCE_LOOP(name##_bor, elem, a | b)                      \
	REDUCE_LOOP(name##_lxor, elem, (a != 0) ^ (b != 0))       \
	REDUCE_LOOP(name##_bxor, elem, a ^ b)

INTEGER(int8, s8, u32)
INTEGER(int16, s16, u32)
INTEGER(int32, s32, u32)
INTEGER(int64, s64, u64)
INTEGER(uint8, u8, u32)
INTEGER(uint16, u16, u32)
INTEGER(uint32, u32, u32)
INTEGER(uint64, u64, u64)

/* A bool is one byte. Any value but 0 counts as true, and what is written is 0 or 1. */
REDUCE_LOOP(bool_land, u8, (a != 0) & (b != 0))
REDUCE_LOOP(bool_lor, u8, (a != 0) | (b != 0))
REDUCE_LOOP(bool_lxor, u8, (a != 0) ^ (b != 0))

#define INTEGER_ROW(name)                                                     \
	{                                                                     \
		[GOAL_ROP_MAX] = name##_max, [GOAL_ROP_MIN] = name##_min,     \
		[GOAL_ROP_SUM] = name##_sum, [GOAL_ROP_PROD] = name##_prod,   \
		[GOAL_ROP_LAND] = name##_land, [GOAL_ROP_BAND] = name##_band, \
		[GOAL_ROP_LOR] = name##_lor, [GOAL_ROP_BOR] = name##_bor,     \
		[GOAL_ROP_LXOR] = name##_lxor, [GOAL_ROP_BXOR] = name##_bxor, \
	}

/* clang-format off */
static reduce_fn *const table[][GOAL_ROPS] = {
	[GOAL_TYPE_INT8] = INTEGER_ROW(int8),
	[GOAL_TYPE_INT16] = INTEGER_ROW(int16),
	[GOAL_TYPE_INT32] = INTEGER_ROW(int32),
	[GOAL_TYPE_INT64] = INTEGER_ROW(int64),
	[GOAL_TYPE_UINT8] = INTEGER_ROW(uint8),
	[GOAL_TYPE_UINT16] = INTEGER_ROW(uint16),
	[GOAL_TYPE_UINT32] = INTEGER_ROW(uint32),
	[GOAL_TYPE_UINT64] = INTEGER_ROW(uint64),
	[GOAL_TYPE_BOOL] = {
		[GOAL_ROP_LAND] = bool_land,
		[GOAL_ROP_LOR] = bool_lor,
		[GOAL_ROP_LXOR] = bool_lxor,
	},
};
/* clang-format on */

int core_reduce_int(u32 dtype, u32 rop, const void *in, void *inout, u64 count)
{
	if (dtype > GOAL_TYPE_BOOL)
		return -EINVAL;
	return reduce_by(table[dtype], dtype, rop, in, inout, count);
}
