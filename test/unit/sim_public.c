// SPDX-License-Identifier: BSD-3-Clause
/* The simulator as the library exports it: networks, jobs, results, refusals. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <goal/goal.h>

#define RANKS 7

static struct goal_error error;

static struct goal_sim *network(uint32_t nodes, double drop)
{
	struct goal_sim_attr a;
	struct goal_sim *s;

	goal_sim_attr_init(&a);
	a.nodes = nodes;
	a.drop = drop;
	a.seed = 3;
	assert_int_equal(goal_sim_create(&a, &s, &error), 0);
	return s;
}

/* Schedules of an allreduce of sums over @ranks, or of user elements. */
static void allreduce(uint32_t ranks, uint64_t count, uint32_t dtype, uint32_t rop,
		      struct goal_schedule **schedule)
{
	const struct goal_reduction how = { dtype, rop, 4, true };
	uint32_t i;

	for (i = 0; i < ranks; i++) {
		struct goal_comm c = { .rank = i, .size = ranks };
		struct goal_graph *g;

		assert_true(goal_allreduce(&c, GOAL_ALG_AUTO, count, &how, false, &g) >= 1);
		assert_int_equal(goal_compile(g, &schedule[i], &error), 0);
		goal_graph_free(g);
	}
}

static void free_schedules(uint32_t ranks, struct goal_schedule **schedule)
{
	uint32_t i;

	for (i = 0; i < ranks; i++)
		goal_schedule_free(schedule[i]);
}

static const struct goal_schedule *const *given(struct goal_schedule **schedule)
{
	return (const struct goal_schedule *const *)schedule;
}

/* A rank's memory, the send buffer in two pieces. */
struct memory {
	int32_t in[1000], out[1000];
	struct goal_segment seg[3];
	struct goal_buffer buf[2];
};

static struct memory *memories(const struct goal_buffer **bufs, uint64_t count)
{
	struct memory *m = calloc(RANKS, sizeof(*m));
	uint32_t i, k;

	assert_non_null(m);
	for (i = 0; i < RANKS; i++) {
		for (k = 0; k < count; k++)
			m[i].in[k] = (int32_t)(i * 1000 + k);
		m[i].seg[0] = (struct goal_segment){ m[i].in, 10 };
		m[i].seg[1] = (struct goal_segment){ (char *)m[i].in + 10, 4 * count - 10 };
		m[i].seg[2] = (struct goal_segment){ m[i].out, 4 * count };
		m[i].buf[GOAL_BUF_SEND] = (struct goal_buffer){ m[i].seg, 2 };
		m[i].buf[GOAL_BUF_RECV] = (struct goal_buffer){ m[i].seg + 2, 1 };
		bufs[i] = m[i].buf;
	}
	return m;
}

static void job__works_on_the_users_memory(void **state)
{
	struct goal_sim *s = network(RANKS, 0.05);
	struct goal_schedule *schedule[RANKS];
	const struct goal_buffer *bufs[RANKS];
	struct memory *m = memories(bufs, 1000);
	struct goal_sim_job job = {
		.ranks = RANKS, .schedules = given(schedule), .bufs = bufs, .nbufs = 2, .runs = 3
	};
	struct goal_sim_report r;
	uint32_t i, k;

	(void)state;
	allreduce(RANKS, 1000, GOAL_TYPE_INT32, GOAL_ROP_SUM, schedule);
	assert_int_equal(goal_sim_add(s, &job, &error), 0);
	free_schedules(RANKS, schedule); /* they were copied */
	assert_int_equal(goal_sim_run(s, UINT64_MAX, &error), 0);
	for (i = 0; i < RANKS; i++)
		for (k = 0; k < 1000; k++)
			assert_int_equal(m[i].out[k], 1000 * RANKS * (RANKS - 1) / 2 + RANKS * k);
	goal_sim_report(s, &r);
	assert_int_equal(r.runs, 3 * RANKS);
	assert_int_equal(r.failed, 0);
	assert_int_equal(r.compared, 0);
	assert_true(r.frames > 0 && r.bytes > r.payload && r.wire_bytes > r.bytes);
	assert_true(r.lost > 0 && r.repeated > 0);
	assert_int_equal(goal_sim_free(s, &error), 0);
	free(m);
}

static int largest(void *arg, const void *in, void *inout, uint64_t count)
{
	const int32_t *a = in;
	int32_t *b = inout;

	++*(uint32_t *)arg;
	for (; count; count--, a++, b++)
		*b = *a > *b ? *a : *b;
	return 0;
}

static void job__reduces_as_the_user_says(void **state)
{
	struct goal_sim *s = network(RANKS, 0);
	struct goal_schedule *schedule[RANKS];
	const struct goal_buffer *bufs[RANKS];
	struct memory *m = memories(bufs, 100);
	uint32_t calls = 0, i, k;
	struct goal_sim_job job = { .ranks = RANKS,
				    .schedules = given(schedule),
				    .bufs = bufs,
				    .nbufs = 2,
				    .reduce = largest,
				    .reduce_arg = &calls };

	(void)state;
	allreduce(RANKS, 100, GOAL_TYPE_USER, GOAL_ROP_USER, schedule);
	assert_int_equal(goal_sim_add(s, &job, &error), 0);
	assert_int_equal(goal_sim_run(s, UINT64_MAX, &error), 0);
	assert_true(calls >= RANKS);
	for (i = 0; i < RANKS; i++)
		for (k = 0; k < 100; k++)
			assert_int_equal(m[i].out[k], 1000 * (RANKS - 1) + k);
	assert_int_equal(goal_sim_free(s, &error), 0);
	free_schedules(RANKS, schedule);
	free(m);
}

static uint64_t time_of(double drop, uint64_t step)
{
	struct goal_sim *s = network(RANKS, drop);
	struct goal_schedule *schedule[RANKS];
	uint32_t place[RANKS] = { 3, 1, 6, 0, 2, 5, 4 };
	struct goal_sim_job job = { .ranks = RANKS,
				    .schedules = given(schedule),
				    .place = place,
				    .runs = 10,
				    .overlap = 4 };
	struct goal_sim_report r;
	int rc;

	allreduce(RANKS, 500, GOAL_TYPE_INT32, GOAL_ROP_SUM, schedule);
	assert_int_equal(goal_sim_add(s, &job, &error), 0);
	free_schedules(RANKS, schedule);
	do {
		rc = goal_sim_run(s, step, &error);
	} while (rc == -ETIMEDOUT);
	assert_int_equal(rc, 0);
	goal_sim_report(s, &r);
	assert_int_equal(r.runs, 10 * RANKS);
	assert_int_equal(r.compared, 10 * RANKS * 2 * 2000); /* both buffers */
	assert_int_equal(goal_sim_free(s, &error), 0);
	return r.ns;
}

static void run__is_the_same_again_and_in_steps(void **state)
{
	uint64_t calm = time_of(0, UINT64_MAX), lossy = time_of(0.1, UINT64_MAX);

	(void)state;
	assert_true(calm > 10000 && lossy > calm);
	assert_int_equal(time_of(0.1, UINT64_MAX), lossy);
	assert_int_equal(time_of(0.1, 1000), lossy);
}

/*
 * Ranks whose part is a send alone begin hundreds of gathers before the root has ended the first.
 * What it has no record for must not have to wait for its pause each time.
 */
static void job__keeps_pace_with_who_is_ahead(void **state)
{
	struct goal_sim *s = network(4, 0);
	struct goal_schedule *schedule[4];
	struct goal_sim_job job = { .ranks = 4, .schedules = given(schedule), .runs = 400 };
	struct goal_sim_report r;
	uint32_t i;

	(void)state;
	for (i = 0; i < 4; i++) {
		struct goal_comm c = { .rank = i, .size = 4 };
		struct goal_graph *g;

		assert_true(goal_gather(&c, GOAL_ALG_AUTO, 0, 64, false, &g) >= 1);
		assert_int_equal(goal_compile(g, &schedule[i], &error), 0);
		goal_graph_free(g);
	}
	assert_int_equal(goal_sim_add(s, &job, &error), 0);
	free_schedules(4, schedule);
	assert_int_equal(goal_sim_run(s, UINT64_MAX, &error), 0);
	goal_sim_report(s, &r);
	assert_int_equal(r.runs, 4 * 400);
	assert_true(r.ns < 400 * 200000ull); /* virtual: a pause grows to 12.8 ms */
	assert_int_equal(goal_sim_free(s, &error), 0);
}

static void sim__ends_in_the_middle(void **state)
{
	struct goal_sim *s = network(RANKS, 0);
	struct goal_schedule *schedule[RANKS];
	struct goal_sim_job job = { .ranks = RANKS, .schedules = given(schedule) };

	(void)state;
	allreduce(RANKS, 500, GOAL_TYPE_INT32, GOAL_ROP_SUM, schedule);
	assert_int_equal(goal_sim_add(s, &job, &error), 0);
	assert_int_equal(goal_sim_run(s, 5000, &error), -ETIMEDOUT);
	assert_int_equal(goal_sim_free(s, &error), 0);
	assert_int_equal(goal_sim_free(NULL, NULL), 0);
	free_schedules(RANKS, schedule);
}

static void run__says_that_nobody_is_reached(void **state)
{
	struct goal_sim *s = network(2, 1);
	struct goal_schedule *schedule[2];
	struct goal_sim_job job = { .ranks = 2, .schedules = given(schedule) };

	(void)state;
	allreduce(2, 500, GOAL_TYPE_INT32, GOAL_ROP_SUM, schedule);
	assert_int_equal(goal_sim_add(s, &job, &error), 0);
	assert_int_equal(goal_sim_run(s, UINT64_MAX, &error), -EIO);
	assert_non_null(strstr(error.text, "Seed 3"));
	assert_int_equal(goal_sim_run(s, UINT64_MAX, &error), -EIO);
	assert_int_equal(goal_sim_add(s, &job, &error), -EIO);
	assert_int_equal(goal_sim_free(s, NULL), 0); /* nothing new */
	free_schedules(2, schedule);
}

static void create__refuses_what_is_out_of_range(void **state)
{
	static const char *const about[] = {
		"endpoints", "rails", "MTU", "rate", "Shares", "Times"
	};
	struct goal_sim_attr a;
	struct goal_sim *s = NULL;
	uint32_t i;

	(void)state;
	for (i = 0; i < sizeof(about) / sizeof(*about); i++) {
		goal_sim_attr_init(&a);
		a.nodes = i == 0 ? 0 : a.nodes;
		a.rails = i == 1 ? 5 : a.rails;
		a.mtu = i == 2 ? 575 : a.mtu;
		a.rate = i == 3 ? 10 : a.rate;
		a.late = i == 4 ? 1.5 : a.late;
		a.latency = i == 5 ? UINT64_MAX : a.latency;
		assert_int_equal(goal_sim_create(&a, &s, &error), -EINVAL);
		assert_int_equal(error.code, -EINVAL);
		assert_non_null(strstr(error.text, about[i]));
		assert_int_equal(goal_sim_create(&a, &s, NULL), -EINVAL);
		assert_null(s);
	}
}

static void add__refuses_what_does_not_fit(void **state)
{
	struct goal_sim *s = network(RANKS, 0);
	struct goal_schedule *schedule[RANKS], *swapped[RANKS];
	const struct goal_buffer *bufs[RANKS];
	struct memory *m = memories(bufs, 100);
	const struct goal_sim_job good = { .ranks = RANKS, .schedules = given(schedule) };
	uint32_t place[RANKS] = { 0, 1, 2, 3, 4, 5, 5 };
	struct goal_sim_job job = good;

	(void)state;
	allreduce(RANKS, 101, GOAL_TYPE_INT32, GOAL_ROP_SUM, schedule);
	memcpy(swapped, schedule, sizeof(swapped));
	swapped[2] = schedule[3];
	job.ranks = RANKS + 1;
	assert_int_equal(goal_sim_add(s, &job, &error), -EINVAL);
	job.ranks = 0;
	assert_int_equal(goal_sim_add(s, &job, &error), -EINVAL);
	job.ranks = RANKS - 1;
	assert_int_equal(goal_sim_add(s, &job, &error), -EINVAL);
	job = good;
	job.schedules = given(swapped);
	assert_int_equal(goal_sim_add(s, &job, &error), -EINVAL);
	assert_non_null(strstr(error.text, "rank 2"));
	job.schedules = NULL;
	assert_int_equal(goal_sim_add(s, &job, &error), -EINVAL);
	job = good;
	job.place = place;
	assert_int_equal(goal_sim_add(s, &job, &error), -EINVAL);
	assert_non_null(strstr(error.text, "Rank 6"));
	job = good;
	job.bufs = bufs;
	job.nbufs = 2;
	assert_int_equal(goal_sim_add(s, &job, &error), -EFAULT);
	job.nbufs = 1;
	assert_int_equal(goal_sim_add(s, &job, NULL), -EFAULT);
	job.nbufs = 2;
	job.overlap = 2;
	assert_int_equal(goal_sim_add(s, &job, &error), -EINVAL);
	job = good;
	job.reduce = largest;
	assert_int_equal(goal_sim_add(s, &job, &error), -EINVAL);
	/* And none of it did any harm. */
	assert_int_equal(goal_sim_add(s, &good, &error), 0);
	assert_int_equal(goal_sim_run(s, UINT64_MAX, &error), 0);
	assert_int_equal(goal_sim_free(s, &error), 0);
	free_schedules(RANKS, schedule);
	free(m);
}

static struct goal_program *text(const char *t)
{
	struct goal_program *p;

	assert_int_equal(goal_text_read(t, strlen(t), &p, &error), 0);
	return p;
}

static void program__is_simulated_and_predicted(void **state)
{
	struct goal_program *p = text("num_ranks 2\n"
				      "rank 0 {\na: calc 100\nb: send 1000b to 1 tag 5\n"
				      "b requires a\n}\n"
				      "rank 1 {\nr: recv 1000b from 0 tag 5\n}\n");
	struct goal_program *bad = text("num_ranks 2\nrank 0 {\nb: send 1000b to 1 tag 5\n}\n"
					"rank 1 {\nr: recv 1000b from 0 tag 6\n}\n");
	struct goal_program *small = text("num_ranks 2\nrank 0 {\nb: send 1000b to 1 tag 5\n}\n"
					  "rank 1 {\nr: recv 999b from 0 tag 5\n}\n");
	const struct goal_sim_loggops m = { .L = 1000, .o = 10, .G = 1 };
	struct goal_sim_job job = { .ranks = 2, .program = p, .apart = true };
	struct goal_sim *s = network(2, 0);
	const char *name;
	uint64_t value;
	uint32_t i;
	double ns;
	bool seen = false;

	(void)state;
	assert_int_equal(goal_sim_add(s, &job, &error), 0);
	job.program = bad;
	assert_int_equal(goal_sim_add(s, &job, &error), -EDEADLK);
	job.program = small;
	assert_int_equal(goal_sim_add(s, &job, &error), -EMSGSIZE);
	assert_int_equal(goal_sim_run(s, UINT64_MAX, &error), 0);
	for (i = 0; !goal_sim_counter(s, i, &name, &value); i++)
		if (!strcmp(name, "flow_open_up")) {
			seen = true;
			assert_int_equal(value, 1);
		}
	assert_true(seen);
	assert_int_equal(goal_sim_free(s, &error), 0);
	/* calc; o + L; the receive's o and its bytes */
	assert_int_equal(goal_sim_predict(p, &m, &ns), 0);
	assert_true(ns > 100 + 10 + 1000 + 10 + 998.5 && ns < 100 + 10 + 1000 + 10 + 999.5);
	assert_int_equal(goal_sim_predict(bad, &m, &ns), -EDEADLK);
	goal_program_free(p);
	goal_program_free(bad);
	goal_program_free(small);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(job__works_on_the_users_memory),
		cmocka_unit_test(job__reduces_as_the_user_says),
		cmocka_unit_test(run__is_the_same_again_and_in_steps),
		cmocka_unit_test(job__keeps_pace_with_who_is_ahead),
		cmocka_unit_test(sim__ends_in_the_middle),
		cmocka_unit_test(run__says_that_nobody_is_reached),
		cmocka_unit_test(create__refuses_what_is_out_of_range),
		cmocka_unit_test(add__refuses_what_does_not_fit),
		cmocka_unit_test(program__is_simulated_and_predicted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
