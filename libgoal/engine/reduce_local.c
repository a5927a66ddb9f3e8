// SPDX-License-Identifier: BSD-3-Clause
/*
 * The core's arithmetic by itself, for callers that reduce without a run and want the bits that
 * a run would give: coll/goal's MPI_Reduce_local.
 */
#include "core.h"

#include <goal/engine.h>

int goal_reduce_local(uint32_t dtype, uint32_t rop, const void *in, void *inout, uint64_t count)
{
	if (!core_reduce_valid(dtype, rop))
		return -EINVAL;
	if (core_type_host_only(dtype))
		return core_reduce_host(dtype, rop, in, inout, count);
	if (dtype == GOAL_TYPE_FLOAT || dtype == GOAL_TYPE_DOUBLE)
		return core_reduce_fp(dtype, rop, in, inout, count);
	return core_reduce_int(dtype, rop, in, inout, count);
}
