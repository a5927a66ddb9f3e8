// SPDX-License-Identifier: BSD-3-Clause
/* Matching: every name against a search through all receives. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "home/build.h"
#include "home/random.h"

static u32 search(const struct core_sched *s, u32 src, u32 tag, u32 instance)
{
	u32 i;

	for (i = 0; i < s->hdr->nops; i++)
		if (s->op[i].code == GOAL_OP_RECV && s->op[i].peer == src && s->op[i].tag == tag &&
		    s->op[i].instance == instance)
			return i;
	return GOAL_OP_NONE;
}

static void match__finds_each_receive_and_no_other(void **state)
{
	static struct build b;
	u32 seed, k, peer, tag, instance, found = 0;

	(void)state;
	for (seed = 0; seed < 60; seed++) {
		struct random r = { seed };
		struct core_sched s;
		struct core_run run = { .sched = &s };
		struct core_error e;
		size_t len;
		void *data;

		memset(&b, 0, sizeof(b));
		b.hdr = (struct goal_sched_hdr){ .npeers = 4, .nbufs = 1, .ntags = 3 };
		/* Sends of the same names stand between the receives. */
		for (k = 0; k < seed; k++) {
			if (random_chance(&r, 180))
				build_recv(&b, 0, 0, 8, random_below(&r, 4), random_below(&r, 3));
			else
				build_send(&b, 0, 0, 8, random_below(&r, 4), random_below(&r, 3));
		}
		data = build_bytes(&b, &len);
		assert_int_equal(build_verify(data, len, &s, &e), 0);
		for (peer = 0; peer < 6; peer++)
			for (tag = 0; tag < 5; tag++)
				for (instance = 0; instance < 12; instance++) {
					u32 want = search(&s, peer, tag, instance);

					found += want != GOAL_OP_NONE;
					assert_int_equal(core_match(&run, peer, tag, instance),
							 want);
				}
		assert_int_equal(core_match(&run, ~0u, ~0u, ~0u), GOAL_OP_NONE);
		/* Whichever came last, the name alone decides. */
		for (k = 0; k < 300; k++) {
			peer = random_below(&r, 5);
			tag = random_below(&r, 4);
			instance = random_below(&r, 12);
			assert_int_equal(core_match(&run, peer, tag, instance),
					 search(&s, peer, tag, instance));
		}
		free(data);
	}
	assert_true(found > 500);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(match__finds_each_receive_and_no_other),
	};

	return cmocka_run_group_tests_name("core_match", tests, NULL, NULL);
}
