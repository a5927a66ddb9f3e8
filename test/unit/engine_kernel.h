/* SPDX-License-Identifier: BSD-3-Clause */
/* What the tests of the kernel engine over a device of their own have in common. */
#ifndef ENGINE_KERNEL_H
#define ENGINE_KERNEL_H

#include "engine_pair.h"
#include "fake_device.h"

/* Numbers of requests: what fake.calls and fake.rc count by. */
#define INFO   1
#define OPEN   2
#define GROUP  3
#define LOAD   4
#define RUN    5
#define START  6
#define WAIT   7
#define CANCEL 8
#define FREE   9

static const struct goal_engine_attr kernel = { .kind = GOAL_ENGINE_KERNEL };
static inline void nothing_left(void)
{
	assert_int_equal(fake.open | fake.mapped | fake.endpoints, 0);
	assert_int_equal(fake.groups | fake.scheds | fake.made, 0);
}

static inline struct goal_graph *barrier(uint32_t rank, uint32_t n)
{
	struct goal_comm c = { .rank = rank, .size = n };
	struct goal_graph *g = NULL;

	assert_true(goal_barrier(&c, GOAL_ALG_DISSEMINATION, &g) > 0);
	return g;
}

static inline int end(void **state)
{
	(void)state;
	fake_reset();
	return 0;
}

#endif /* ENGINE_KERNEL_H */
