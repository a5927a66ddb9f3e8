// SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause
/*
 * Reductions of the types that only processes have: long double, complex, and the pairs of
 * MAXLOC and MINLOC in the layout of the C struct. inout[i] = in[i] rop inout[i]. No kernel
 * compiles this file.
 */
#include "reduce.h"

REDUCE_LOOP(long_double_max, long double, a > b ? a : b)
REDUCE_LOOP(long_double_min, long double, a < b ? a : b)
REDUCE_LOOP(long_double_sum, long double, a + b)
REDUCE_LOOP(long_double_prod, long double, a *b)

/* The product is C's (annex G), as everybody's who multiplies complex numbers in C. */
#define COMPLEX(name, elem)                  \
	REDUCE_LOOP(name##_sum, elem, a + b) \
	REDUCE_LOOP(name##_prod, elem, a *b)

COMPLEX(float_complex, float _Complex)
COMPLEX(double_complex, double _Complex)
COMPLEX(long_double_complex, long double _Complex)

/*
 * Pairs: the better value with its index; of equal values the lower index. With a NaN nothing
 * compares, and inout stays. Taking a pair over takes its padding over.
 */
#define PAIR_LOOP(name, value_type, index_type, better)                                          \
	static void name(const void *in, void *inout, u64 count)                                 \
	{                                                                                        \
		struct pair {                                                                    \
			value_type value;                                                        \
			index_type index;                                                        \
		} a, b;                                                                          \
		const char *x = in;                                                              \
		char *y = inout;                                                                 \
                                                                                                 \
		for (; count; count--, x += sizeof(a), y += sizeof(b)) {                         \
			memcpy(&a, x, sizeof(a));                                                \
			memcpy(&b, y, sizeof(b));                                                \
			if (a.value better b.value || (a.value == b.value && a.index < b.index)) \
				memcpy(y, x, sizeof(a));                                         \
		}                                                                                \
	}

#define PAIR(name, value_type, index_type)                  \
	PAIR_LOOP(name##_maxloc, value_type, index_type, >) \
	PAIR_LOOP(name##_minloc, value_type, index_type, <)

PAIR(float_int, float, int)
PAIR(double_int, double, int)
PAIR(long_int, long, int)
PAIR(two_int, int, int)
PAIR(short_int, short, int)
PAIR(long_double_int, long double, int)
PAIR(two_float, float, float)
PAIR(two_double, double, double)

#define COMPLEX_ROW(name)                                                   \
	{                                                                   \
		[GOAL_ROP_SUM] = name##_sum, [GOAL_ROP_PROD] = name##_prod, \
	}
#define PAIR_ROW(name)                                                                \
	{                                                                             \
		[GOAL_ROP_MAXLOC] = name##_maxloc, [GOAL_ROP_MINLOC] = name##_minloc, \
	}

/* clang-format off */
static reduce_fn *const table[][GOAL_ROPS] = {
	[GOAL_TYPE_LONG_DOUBLE] = {
		[GOAL_ROP_MAX] = long_double_max,
		[GOAL_ROP_MIN] = long_double_min,
		[GOAL_ROP_SUM] = long_double_sum,
		[GOAL_ROP_PROD] = long_double_prod,
	},
	[GOAL_TYPE_FLOAT_COMPLEX] = COMPLEX_ROW(float_complex),
	[GOAL_TYPE_DOUBLE_COMPLEX] = COMPLEX_ROW(double_complex),
	[GOAL_TYPE_LONG_DOUBLE_COMPLEX] = COMPLEX_ROW(long_double_complex),
	[GOAL_TYPE_FLOAT_INT] = PAIR_ROW(float_int),
	[GOAL_TYPE_DOUBLE_INT] = PAIR_ROW(double_int),
	[GOAL_TYPE_LONG_INT] = PAIR_ROW(long_int),
	[GOAL_TYPE_2INT] = PAIR_ROW(two_int),
	[GOAL_TYPE_SHORT_INT] = PAIR_ROW(short_int),
	[GOAL_TYPE_LONG_DOUBLE_INT] = PAIR_ROW(long_double_int),
	[GOAL_TYPE_2FLOAT] = PAIR_ROW(two_float),
	[GOAL_TYPE_2DOUBLE] = PAIR_ROW(two_double),
};
/* clang-format on */

int core_reduce_host(u32 dtype, u32 rop, const void *in, void *inout, u64 count)
{
	if (dtype < GOAL_TYPE_LONG_DOUBLE || dtype > GOAL_TYPE_2DOUBLE)
		return -EINVAL;
	return reduce_by(table[dtype], dtype, rop, in, inout, count);
}
