// SPDX-License-Identifier: BSD-3-Clause
/*
 * How the kernel engine finds out whether its waits are shorter spinning or asleep: with times made up
 * here.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "kernel.h"

#define US 1000ull

static struct kernel_engine k;
static uint64_t robbed; /* how often a wait that spins loses the core */

static int fresh(void **state)
{
	(void)state;
	memset(&k, 0, sizeof(k));
	k.e.spins = true;
	robbed = 0;
	kernel_spin_init(&k.spin);
	return 0;
}

/* So many waits, which take @spinning or @asleep nanoseconds; how many of them spun. */
static uint32_t waits(uint32_t n, uint64_t spinning, uint64_t asleep)
{
	uint32_t spun = 0;

	while (n--) {
		bool on = kernel_spin_on(&k);

		spun += on;
		kernel_spin_waited(&k, on, on ? spinning : asleep, on ? robbed : 0);
	}
	return spun;
}

static void sleeps__where_that_is_faster(void **state)
{
	uint32_t spun;

	(void)state;
	waits(1000, 900 * US, 500 * US);
	spun = waits(100000, 900 * US, 500 * US);
	assert_true(spun > 0);    /* it tries again now and then, ... */
	assert_true(spun < 2000); /* ... and that is all */
}

static void spins__where_that_is_faster(void **state)
{
	(void)state;
	waits(1000, 10 * US, 20 * US);
	assert_true(waits(100000, 10 * US, 20 * US) > 98000);
}

static void spins__only_where_it_is_clearly_faster(void **state)
{
	(void)state;
	waits(1000, 95 * US, 100 * US);
	assert_true(waits(100000, 95 * US, 100 * US) < 2000);
}

static void spins__again_when_it_became_faster(void **state)
{
	(void)state;
	waits(10000, 90 * US, 30 * US);
	waits(3000, 10 * US, 30 * US);
	assert_true(waits(1000, 10 * US, 30 * US) == 1000);
}

static void late__peers_do_not_decide(void **state)
{
	(void)state;
	/* One wait among those that are measured took an hour, since somebody computed. */
	kernel_spin_waited(&k, kernel_spin_on(&k), 3600000000000ull, 0);
	waits(15, 400 * US, 800 * US);
	assert_true(kernel_spin_on(&k));
	kernel_spin_waited(&k, kernel_spin_on(&k), 3600000000000ull, 1000);
	waits(3, 400 * US, 800 * US);
	kernel_spin_waited(&k, kernel_spin_on(&k), 3000 * US, 1000);
	waits(500, 400 * US, 800 * US);
	assert_true(kernel_spin_on(&k));
}

/* However slow it is, a trial takes no longer than so many waits of the other kind. */
static void trials__end_when_they_are_lost(void **state)
{
	(void)state;
	assert_int_equal(waits(1000, 3000 * US, 10 * US), 1);
	fresh(NULL);
	assert_int_equal(waits(1000, 10 * US, 3000 * US), 1000 - 16);
	/* In the next trial one wait is enough to see that. */
	assert_int_equal(waits(2000, 10 * US, 3000 * US), 1999);
}

/* Nobody need look at the clock while nothing is measured; a wait that did not does not count. */
static void clock__is_looked_at_in_trials_alone(void **state)
{
	uint32_t looks = 0;

	(void)state;
	kernel_spin_waited(&k, kernel_spin_on(&k), 0, 0);
	for (uint32_t n = 0; n < 16 + 1 + 2048; n++) {
		bool on = kernel_spin_on(&k), look = kernel_spin_measures(&k);

		looks += look;
		kernel_spin_waited(&k, on, !look ? 0 : on ? 900 * US : 20 * US, 0);
	}
	assert_int_equal(looks, 16 + 1);
	assert_true(kernel_spin_measures(&k));
}

static void spins__only_with_cores_enough(void **state)
{
	(void)state;
	k.e.spins = false;
	assert_int_equal(waits(10000, 10 * US, 20 * US), 0);
	k.e.spins = true;
	assert_true(waits(10000, 10 * US, 20 * US) > 9000);
}

static void sleeps__where_others_want_the_core(void **state)
{
	(void)state;
	robbed = 1;
	/* Four waits of each trial of 16 tell. */
	assert_int_equal(waits(16 + 4, 10 * US, 20 * US), 4);
	assert_int_equal(waits(2048 + 16 + 4, 10 * US, 20 * US), 4);
	robbed = 0;
	waits(2048 + 16 + 16, 10 * US, 20 * US);
	assert_int_equal(waits(1000, 10 * US, 20 * US), 1000);
	/* It stops soon after they have come. */
	robbed = 1;
	waits(64 + 16 + 16, 10 * US, 20 * US);
	assert_true(waits(10000, 10 * US, 20 * US) < 100);
}

static void other__threads_waits_do_not_count(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < 10000; i++)
		kernel_spin_waited(&k, !kernel_spin_on(&k), US, 0);
	assert_false(kernel_spin_on(&k));
	waits(1000, 500 * US, 900 * US);
	assert_true(kernel_spin_on(&k));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(sleeps__where_that_is_faster, fresh),
		cmocka_unit_test_setup(spins__where_that_is_faster, fresh),
		cmocka_unit_test_setup(spins__only_where_it_is_clearly_faster, fresh),
		cmocka_unit_test_setup(spins__again_when_it_became_faster, fresh),
		cmocka_unit_test_setup(late__peers_do_not_decide, fresh),
		cmocka_unit_test_setup(trials__end_when_they_are_lost, fresh),
		cmocka_unit_test_setup(clock__is_looked_at_in_trials_alone, fresh),
		cmocka_unit_test_setup(spins__only_with_cores_enough, fresh),
		cmocka_unit_test_setup(sleeps__where_others_want_the_core, fresh),
		cmocka_unit_test_setup(other__threads_waits_do_not_count, fresh),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
