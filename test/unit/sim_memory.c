// SPDX-License-Identifier: BSD-3-Clause
/*
 * No memory: the n-th allocation fails, for every n until none does, in making a simulation, in
 * adding a job, while time passes, and at the end. Each time the answer is -ENOMEM, the simulation
 * can be freed, and nothing leaks. Linked with --wrap for malloc, calloc and realloc.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>

#include <cmocka.h>

#include <goal/goal.h>

#include "no_memory.h"

#define RANKS 3

static struct goal_schedule *schedule[RANKS];

static int simulate(const struct goal_sim_job *job)
{
	struct goal_sim_attr a;
	struct goal_sim *s;
	struct goal_error e = { .text = "" };
	int rc;

	goal_sim_attr_init(&a);
	a.nodes = RANKS;
	a.drop = 0.1;
	rc = goal_sim_create(&a, &s, &e);
	if (rc)
		return rc;
	rc = goal_sim_add(s, job, &e);
	if (!rc)
		rc = goal_sim_run(s, UINT64_MAX, &e);
	if (rc && (e.code != rc || !e.text[0]))
		rc = -EBADMSG;
	if (goal_sim_free(s, &e))
		rc = -EBADMSG;
	return rc;
}

static void for_every_allocation(const struct goal_sim_job *job)
{
	long n;

	for (n = 0;; n++) {
		int rc;

		fail_in = n;
		rc = simulate(job);
		if (fail_in >= 0) {
			/* It came to its end without reaching the n-th. */
			fail_in = -1;
			assert_int_equal(rc, 0);
			break;
		}
		/* The very last ones may be those of the end, which needs none. */
		assert_true(rc == -ENOMEM || rc == 0);
	}
	assert_true(n > 100);
}

static void sim__without_memory(void **state)
{
	struct goal_sim_job job = { .ranks = RANKS,
				    .schedules = (const struct goal_schedule *const *)schedule,
				    .runs = 2 };
	static char memory[2][RANKS][4000];
	struct goal_segment seg[RANKS][2];
	struct goal_buffer buf[RANKS][2];
	const struct goal_buffer *bufs[RANKS];
	uint32_t i, b;

	(void)state;
	for (i = 0; i < RANKS; i++) {
		const struct goal_reduction how = { GOAL_TYPE_INT32, GOAL_ROP_SUM, 4, true };
		struct goal_comm c = { .rank = i, .size = RANKS };
		struct goal_graph *g;

		assert_true(goal_allreduce(&c, GOAL_ALG_AUTO, 1000, &how, false, &g) >= 1);
		assert_int_equal(goal_compile(g, &schedule[i], NULL), 0);
		goal_graph_free(g);
		for (b = 0; b < 2; b++) {
			seg[i][b] = (struct goal_segment){ memory[b][i], sizeof(memory[b][i]) };
			buf[i][b] = (struct goal_buffer){ &seg[i][b], 1 };
		}
		bufs[i] = buf[i];
	}
	for_every_allocation(&job);
	job.bufs = bufs;
	job.nbufs = 2;
	for_every_allocation(&job);
	for (i = 0; i < RANKS; i++)
		goal_schedule_free(schedule[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sim__without_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
