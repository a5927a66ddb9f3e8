/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory of the component, counted: coll_goal_allocs shows that a call from the cache asks for
 * none. The engine counts its own, pvars.c adds both.
 */
#include "coll_goal.h"

void *coll_goal_malloc(size_t bytes)
{
	coll_goal_count(&mca_coll_goal_component.stats.allocs);
	/* A block of no bytes shall not look like a failure. */
	return malloc(bytes ? bytes : 1);
}

void *coll_goal_calloc(size_t n, size_t bytes)
{
	coll_goal_count(&mca_coll_goal_component.stats.allocs);
	return calloc(n ? n : 1, bytes ? bytes : 1);
}
