/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Element sizes, and which reduction goes with which type. The core has the same two functions for
 * the verifier; a graph may not lean on it, so they stand here again and a unit test holds
 * the two together. Called by ops.c and the text writer.
 */
#include <complex.h>

#include "graph.h"

uint32_t graph_type_size(uint32_t dtype)
{
	/* clang-format off */
	static const uint8_t size[GOAL_TYPES] = {
		[GOAL_TYPE_INT8] = 1,
		[GOAL_TYPE_INT16] = 2,
		[GOAL_TYPE_INT32] = 4,
		[GOAL_TYPE_INT64] = 8,
		[GOAL_TYPE_UINT8] = 1,
		[GOAL_TYPE_UINT16] = 2,
		[GOAL_TYPE_UINT32] = 4,
		[GOAL_TYPE_UINT64] = 8,
		[GOAL_TYPE_BOOL] = 1,
		[GOAL_TYPE_FLOAT] = sizeof(float),
		[GOAL_TYPE_DOUBLE] = sizeof(double),
		[GOAL_TYPE_LONG_DOUBLE] = sizeof(long double),
		[GOAL_TYPE_FLOAT_COMPLEX] = sizeof(float complex),
		[GOAL_TYPE_DOUBLE_COMPLEX] = sizeof(double complex),
		[GOAL_TYPE_LONG_DOUBLE_COMPLEX] = sizeof(long double complex),
		[GOAL_TYPE_FLOAT_INT] = sizeof(struct { float v; int i; }),
		[GOAL_TYPE_DOUBLE_INT] = sizeof(struct { double v; int i; }),
		[GOAL_TYPE_LONG_INT] = sizeof(struct { long v; int i; }),
		[GOAL_TYPE_2INT] = sizeof(struct { int v; int i; }),
		[GOAL_TYPE_SHORT_INT] = sizeof(struct { short v; int i; }),
		[GOAL_TYPE_LONG_DOUBLE_INT] = sizeof(struct { long double v; int i; }),
		[GOAL_TYPE_2FLOAT] = sizeof(struct { float v; float i; }),
		[GOAL_TYPE_2DOUBLE] = sizeof(struct { double v; double i; }),
	};
	/* clang-format on */

	return dtype < GOAL_TYPES ? size[dtype] : 0;
}

#define BIT(rop) (1u << (rop))

/* The reductions that make sense for @dtype, as a mask of BIT(rop). */
static uint32_t reductions_of(uint32_t dtype)
{
	const uint32_t any = BIT(GOAL_ROP_REPLACE) | BIT(GOAL_ROP_NO_OP);
	const uint32_t sums = BIT(GOAL_ROP_SUM) | BIT(GOAL_ROP_PROD);
	const uint32_t order = BIT(GOAL_ROP_MAX) | BIT(GOAL_ROP_MIN);
	const uint32_t logic = BIT(GOAL_ROP_LAND) | BIT(GOAL_ROP_LOR) | BIT(GOAL_ROP_LXOR);
	const uint32_t bits = BIT(GOAL_ROP_BAND) | BIT(GOAL_ROP_BOR) | BIT(GOAL_ROP_BXOR);

	switch (dtype) {
	case GOAL_TYPE_INT8:
	case GOAL_TYPE_INT16:
	case GOAL_TYPE_INT32:
	case GOAL_TYPE_INT64:
	case GOAL_TYPE_UINT8:
	case GOAL_TYPE_UINT16:
	case GOAL_TYPE_UINT32:
	case GOAL_TYPE_UINT64:
		return any | sums | order | logic | bits;
	case GOAL_TYPE_BOOL:
		return any | logic;
	case GOAL_TYPE_FLOAT:
	case GOAL_TYPE_DOUBLE:
	case GOAL_TYPE_LONG_DOUBLE:
		return any | sums | order;
	case GOAL_TYPE_FLOAT_COMPLEX:
	case GOAL_TYPE_DOUBLE_COMPLEX:
	case GOAL_TYPE_LONG_DOUBLE_COMPLEX:
		return any | sums;
	case GOAL_TYPE_FLOAT_INT:
	case GOAL_TYPE_DOUBLE_INT:
	case GOAL_TYPE_LONG_INT:
	case GOAL_TYPE_2INT:
	case GOAL_TYPE_SHORT_INT:
	case GOAL_TYPE_LONG_DOUBLE_INT:
	case GOAL_TYPE_2FLOAT:
	case GOAL_TYPE_2DOUBLE:
		return any | BIT(GOAL_ROP_MAXLOC) | BIT(GOAL_ROP_MINLOC);
	case GOAL_TYPE_USER:
		return BIT(GOAL_ROP_USER);
	default:
		return 0;
	}
}

bool graph_reduce_valid(uint32_t dtype, uint32_t rop)
{
	return rop < GOAL_ROPS && (reductions_of(dtype) & BIT(rop));
}
