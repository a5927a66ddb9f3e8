// SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause
/*
 * Reductions of float and double: inout[i] = in[i] rop inout[i]. Apart from the rest because a
 * kernel compiles this file, and no other, with floating point, and calls it between
 * kernel_fpu_begin() and kernel_fpu_end(): so no float in a signature. Compiled with
 * -ffp-contract=off everywhere: the same bits in every home.
 *
 * A comparison with a NaN is false, so MAX and MIN of a NaN and x leave what is in inout.
 */
#include "reduce.h"

#define FLOATING(name, elem)                         \
	REDUCE_LOOP(name##_max, elem, a > b ? a : b) \
	REDUCE_LOOP(name##_min, elem, a < b ? a : b) \
	REDUCE_LOOP(name##_sum, elem, a + b)         \
	REDUCE_LOOP(name##_prod, elem, a *b)

FLOATING(float, float)
FLOATING(double, double)

#define FLOATING_ROW(name)                                                  \
	{                                                                   \
		[GOAL_ROP_MAX] = name##_max, [GOAL_ROP_MIN] = name##_min,   \
		[GOAL_ROP_SUM] = name##_sum, [GOAL_ROP_PROD] = name##_prod, \
	}

static reduce_fn *const float_row[GOAL_ROPS] = FLOATING_ROW(float);
static reduce_fn *const double_row[GOAL_ROPS] = FLOATING_ROW(double);

int core_reduce_fp(u32 dtype, u32 rop, const void *in, void *inout, u64 count)
{
	if (dtype == GOAL_TYPE_FLOAT)
		return reduce_by(float_row, dtype, rop, in, inout, count);
	if (dtype == GOAL_TYPE_DOUBLE)
		return reduce_by(double_row, dtype, rop, in, inout, count);
	return -EINVAL;
}
