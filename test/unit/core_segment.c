// SPDX-License-Identifier: BSD-3-Clause
/* Buffers: which binding a number names, and where an offset lies in it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "core.h"

static void buffer__is_bound_or_scratch(void **state)
{
	static struct core_run run;

	(void)state;
	assert_ptr_equal(core_buffer(&run, 0), &run.buf[0]);
	assert_ptr_equal(core_buffer(&run, GOAL_MAX_BUFS - 1), &run.buf[GOAL_MAX_BUFS - 1]);
	assert_ptr_equal(core_buffer(&run, GOAL_BUF_SCRATCH), &run.scratch);
}

static void segment_at__finds_every_byte(void **state)
{
	static char memory[64];
	/* Out of order, with empty pieces at the ends and between. */
	const struct core_segment seg[] = {
		{ NULL, 0 },   { memory + 40, 5 }, { memory + 1, 0 },
		{ memory, 7 }, { memory + 20, 1 }, { NULL, 0 },
	};
	const struct core_binding b = { seg, 6, 13 };
	u64 off, run;

	(void)state;
	for (off = 0; off < 13; off++) {
		char *at = core_segment_at(&b, off, &run);

		if (off < 5) {
			assert_ptr_equal(at, memory + 40 + off);
			assert_int_equal(run, 5 - off);
		} else if (off < 12) {
			assert_ptr_equal(at, memory + off - 5);
			assert_int_equal(run, 12 - off);
		} else {
			assert_ptr_equal(at, memory + 20);
			assert_int_equal(run, 1);
		}
	}
}

static void segment_at__has_nothing_behind_the_end(void **state)
{
	static char memory[4];
	const struct core_segment seg[] = { { memory, 4 } };
	const struct core_binding one = { seg, 1, 4 }, none = { NULL, 0, 0 };
	u64 run = 1;

	(void)state;
	assert_null(core_segment_at(&one, 4, &run));
	assert_int_equal(run, 0);
	run = 1;
	assert_null(core_segment_at(&one, ~0ull, &run));
	assert_int_equal(run, 0);
	run = 1;
	assert_null(core_segment_at(&none, 0, &run));
	assert_int_equal(run, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(buffer__is_bound_or_scratch),
		cmocka_unit_test(segment_at__finds_every_byte),
		cmocka_unit_test(segment_at__has_nothing_behind_the_end),
	};

	return cmocka_run_group_tests_name("core_segment", tests, NULL, NULL);
}
