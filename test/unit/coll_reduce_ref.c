/* SPDX-License-Identifier: BSD-3-Clause */
/* The reductions that the tests of the collectives use, independent of the core's. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "coll_world.h"

static void reduce_range(const struct world_range *a, struct world_range *b, uint64_t count)
{
	for (uint64_t i = 0; i < count; i++) {
		bool good = a[i].from <= a[i].to && a[i].to == b[i].from && b[i].from <= b[i].to &&
			    a[i].index == b[i].index;

		if (good)
			b[i].from = a[i].from;
		else
			b[i] = (struct world_range){ .from = 1, .to = 0, .index = ~0u };
	}
}

static void reduce_float(const float *a, float *b, uint64_t count, uint32_t rop)
{
	for (uint64_t i = 0; i < count; i++) {
		if (rop == GOAL_ROP_SUM)
			b[i] = a[i] + b[i];
		else if (rop == GOAL_ROP_MAX) /* not commutative for zeroes of both signs, NaN */
			b[i] = a[i] > b[i] ? a[i] : b[i];
		else
			fail_msg("The tests have no reduction %u of floats", rop);
	}
}

static void reduce_int(const int32_t *a, int32_t *b, uint64_t count, uint32_t rop)
{
	for (uint64_t i = 0; i < count; i++) {
		if (rop == GOAL_ROP_SUM)
			b[i] = (int32_t)((uint32_t)a[i] + (uint32_t)b[i]);
		else if (rop == GOAL_ROP_MAX)
			b[i] = a[i] > b[i] ? a[i] : b[i];
		else
			fail_msg("The tests have no reduction %u of integers", rop);
	}
}

/* 2INT, MAXLOC: value and place; the lower place of equal values. */
static void reduce_maxloc(const int32_t *a, int32_t *b, uint64_t count)
{
	for (uint64_t i = 0; i < 2 * count; i += 2) {
		if (a[i] == b[i]) {
			b[i + 1] = a[i + 1] < b[i + 1] ? a[i + 1] : b[i + 1];
		} else if (a[i] > b[i]) {
			b[i] = a[i];
			b[i + 1] = a[i + 1];
		}
	}
}

void world_reduce(const void *in, void *inout, uint64_t count, uint32_t dtype, uint32_t rop)
{
	if (dtype == GOAL_TYPE_USER && rop == GOAL_ROP_USER)
		reduce_range(in, inout, count);
	else if (dtype == GOAL_TYPE_FLOAT)
		reduce_float(in, inout, count, rop);
	else if (dtype == GOAL_TYPE_INT32)
		reduce_int(in, inout, count, rop);
	else if (dtype == GOAL_TYPE_2INT && rop == GOAL_ROP_MAXLOC)
		reduce_maxloc(in, inout, count);
	else
		fail_msg("The tests have no reduction %u of type %u", rop, dtype);
}
