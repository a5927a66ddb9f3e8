// SPDX-License-Identifier: BSD-3-Clause
/*
 * The interpreter against random graphs of several ranks: the memory of every rank against a
 * naive executor's, every operation once and in order, runs cancelled at any moment.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "home/world.h"

/* More by hand: GOAL_SEEDS=100000 test/unit/core_random */
static u32 seeds(void)
{
	const char *text = getenv("GOAL_SEEDS");

	return text ? (u32)strtoul(text, NULL, 0) : 1500;
}

static struct world world;

static void random_graphs__run_like_the_reference(void **state)
{
	u32 n = seeds(), k;

	(void)state;
	for (k = 0; k < n; k++) {
		world_create(&world, k, 1 + k % 40);
		/* Again in the same memory: a run leaves nothing behind. */
		assert_true(world_run(&world, 2 * k, 0));
		assert_true(world_run(&world, 2 * k + 1, 0));
		world_free(&world);
	}
}

static void random_graphs__end_once_when_cancelled(void **state)
{
	u32 n = seeds(), failed = 0, k;

	(void)state;
	for (k = 0; k < n; k++) {
		world_create(&world, k, 1 + k % 30);
		failed += !world_run(&world, k, 1500);
		/* What was cancelled runs again, and well. */
		assert_true(world_run(&world, k + 1, 0));
		world_free(&world);
	}
	assert_in_range(failed, n / 4, n);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_graphs__run_like_the_reference),
		cmocka_unit_test(random_graphs__end_once_when_cancelled),
	};

	return cmocka_run_group_tests_name("core_random", tests, NULL, NULL);
}
