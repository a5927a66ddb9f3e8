// SPDX-License-Identifier: BSD-3-Clause
/*
 * Several threads in one engine, under ThreadSanitizer: starts, restarts, waits, cancellations,
 * callbacks and a progress thread at the same time.
 */
#include <pthread.h>
#include <sched.h>

#include "engine_pair.h"

#define THREADS 3
#define ROUNDS  150

static struct pair pair;

/* Engines whose endings nobody drives: close them from two threads, as two processes would. */
static void *close_engine(void *arg)
{
	return (void *)(intptr_t)goal_engine_close(arg);
}

static void close_both(void)
{
	pthread_t t;
	void *rc;

	assert_int_equal(goal_group_free(pair.group[0]), 0);
	assert_int_equal(goal_group_free(pair.group[1]), 0);
	assert_int_equal(pthread_create(&t, NULL, close_engine, pair.engine[0]), 0);
	assert_int_equal(goal_engine_close(pair.engine[1]), 0);
	assert_int_equal(pthread_join(t, &rc), 0);
	assert_ptr_equal(rc, NULL);
}

struct worker {
	uint32_t rank, number;
	uint64_t bytes;
	struct goal_loaded *loaded;
	int failures;
	pthread_t thread;
};

static void *work(void *arg)
{
	struct worker *w = arg;
	uint8_t *from = malloc(w->bytes), *to = malloc(w->bytes);
	uint32_t i;

	if (!from || !to) {
		w->failures++;
		goto free_both;
	}
	for (i = 0; i < ROUNDS; i++) {
		struct pair_bufs b;
		struct goal_run_attr attr = { .op_id = w->number, .start = i, .nbufs = 2 };
		struct goal_run *run;
		int rc;

		pair_bind(&b, from, w->bytes, to, w->bytes);
		attr.bufs = b.buf;
		memset(from, (int)(i + w->rank), w->bytes);
		memset(to, 0, w->bytes);
		switch (i % 3) {
		case 0:
			rc = goal_exec(pair.group[w->rank], w->loaded, &attr, NULL);
			break;
		case 1:
			rc = goal_start(pair.group[w->rank], w->loaded, &attr, &run);
			if (rc)
				break;
			rc = goal_run_wait(run, -1);
			goal_run_free(run);
			break;
		default:
			rc = goal_start(pair.group[w->rank], w->loaded, &attr, &run);
			if (rc)
				break;
			while (!(rc = goal_run_test(run)))
				if (!goal_engine_progress(pair.engine[w->rank]))
					sched_yield();
			rc = rc < 0 ? rc : 0;
			goal_run_free(run);
			break;
		}
		if (rc || (w->bytes && (to[0] != (uint8_t)(i + !w->rank) ||
					to[w->bytes - 1] != (uint8_t)(i + !w->rank))))
			w->failures++;
	}
free_both:
	free(from);
	free(to);
	return NULL;
}

static void run_workers(uint32_t flags)
{
	static const uint64_t sizes[THREADS] = { 8, 3000, 60000 };
	const struct goal_engine_attr attr = { .flags = flags, .spin = 50, .yields = 50 };
	struct worker worker[2 * THREADS];
	uint32_t i;

	pair_create(&pair, 2, &attr);
	for (i = 0; i < 2 * THREADS; i++) {
		struct worker *w = &worker[i];

		memset(w, 0, sizeof(*w));
		w->rank = i % 2;
		w->number = i / 2;
		w->bytes = sizes[i / 2];
		w->loaded = pair_load(&pair, w->rank, pair_exchange(w->rank, w->bytes));
	}
	for (i = 0; i < 2 * THREADS; i++)
		assert_int_equal(pthread_create(&worker[i].thread, NULL, work, &worker[i]), 0);
	for (i = 0; i < 2 * THREADS; i++) {
		struct goal_engine_stats s = pair_stats(&pair, 0);

		assert_true(s.runs <= THREADS * ROUNDS);
		assert_int_equal(pthread_join(worker[i].thread, NULL), 0);
		assert_int_equal(worker[i].failures, 0);
	}
	for (i = 0; i < 2 * THREADS; i++)
		assert_int_equal(goal_unload(worker[i].loaded), 0);
	assert_int_equal(pair_stats(&pair, 0).runs, THREADS * ROUNDS);
	assert_int_equal(pair_stats(&pair, 0).runs_failed, 0);
	assert_false(goal_engine_active(pair.engine[0]));
	close_both();
}

static void threads__all_ways_to_run(void **state)
{
	(void)state;
	run_workers(GOAL_ENGINE_THREADS);
}

static void threads__with_a_progress_thread(void **state)
{
	(void)state;
	run_workers(GOAL_ENGINE_PROGRESS);
}

/* Callbacks come on whatever thread makes progress, and start the next run. */
struct chain {
	struct goal_group *group;
	struct goal_loaded *loaded;
	uint32_t left, failures;
	uint32_t finished; /* atomic */
};

static void next(void *arg, int status)
{
	struct chain *c = arg;
	struct goal_run_attr attr = { .op_id = 77, .done = next, .done_arg = c };
	struct goal_run *run;

	if (status)
		c->failures++;
	if (!c->left) {
		__atomic_store_n(&c->finished, 1, __ATOMIC_RELEASE);
		return;
	}
	attr.start = c->left--;
	if (goal_start(c->group, c->loaded, &attr, &run))
		c->failures++;
	else
		goal_run_free(run);
}

static void threads__callbacks_start_runs(void **state)
{
	const struct goal_engine_attr attr = { .flags = GOAL_ENGINE_PROGRESS };
	struct chain chain[2];
	uint32_t i;

	(void)state;
	pair_create(&pair, 2, &attr);
	for (i = 0; i < 2; i++) {
		memset(&chain[i], 0, sizeof(chain[i]));
		chain[i].group = pair.group[i];
		chain[i].loaded = pair_load(&pair, i, pair_exchange(i, 0));
		chain[i].left = 300;
	}
	for (i = 0; i < 2; i++)
		next(&chain[i], 0);
	for (i = 0; i < 2; i++) {
		while (!__atomic_load_n(&chain[i].finished, __ATOMIC_ACQUIRE))
			sched_yield();
		assert_int_equal(chain[i].failures, 0);
		/* The last run is given back after its callback returned. */
		while (goal_unload(chain[i].loaded))
			sched_yield();
	}
	close_both();
}

/* The same run again and again, by a thread that hears of its end from another one. */
struct repeater {
	struct goal_group *group;
	struct goal_loaded *loaded;
	uint32_t rank, number, failures;
	uint32_t told; /* atomic */
	pthread_t thread;
};

static void tell(void *arg, int status)
{
	struct repeater *r = arg;

	if (status)
		r->failures++;
	__atomic_store_n(&r->told, 1, __ATOMIC_RELEASE);
}

static void *repeat(void *arg)
{
	struct repeater *r = arg;
	uint64_t from, to;
	struct pair_bufs b;
	struct goal_run_attr attr = {
		.op_id = 90 + r->number, .nbufs = 2, .bufs = b.buf, .done = tell, .done_arg = r
	};
	struct goal_run *run = NULL;
	uint32_t i;
	int rc;

	pair_bind(&b, &from, 8, &to, 8);
	for (i = 0; i < ROUNDS; i++) {
		from = 10 * i + r->rank;
		to = 0;
		if (!i)
			rc = goal_start(r->group, r->loaded, &attr, &run);
		else
			while ((rc = goal_restart(run, i)) == -EBUSY)
				sched_yield();
		while (!rc && !__atomic_exchange_n(&r->told, 0, __ATOMIC_ACQUIRE))
			sched_yield();
		r->failures += rc || to != 10 * i + !r->rank;
	}
	goal_run_free(run);
	return NULL;
}

static void threads__restart(void **state)
{
	const struct goal_engine_attr attr = { .flags = GOAL_ENGINE_PROGRESS };
	struct repeater r[4];
	uint32_t i;

	(void)state;
	pair_create(&pair, 2, &attr);
	for (i = 0; i < 4; i++) {
		memset(&r[i], 0, sizeof(r[i]));
		r[i].rank = i % 2;
		r[i].number = i / 2;
		r[i].group = pair.group[i % 2];
		r[i].loaded = pair_load(&pair, i % 2, pair_exchange(i % 2, 8));
	}
	for (i = 0; i < 4; i++)
		assert_int_equal(pthread_create(&r[i].thread, NULL, repeat, &r[i]), 0);
	for (i = 0; i < 4; i++) {
		assert_int_equal(pthread_join(r[i].thread, NULL), 0);
		assert_int_equal(r[i].failures, 0);
		while (goal_unload(r[i].loaded))
			sched_yield();
	}
	close_both();
}

/* Runs that nobody answers are cancelled while others make progress. */
static void *cancel(void *arg)
{
	struct worker *w = arg;
	uint32_t i;

	for (i = 0; i < ROUNDS; i++) {
		struct goal_run_attr attr = { .op_id = 50 + w->number, .start = i };
		struct goal_run *run;

		if (goal_start(pair.group[w->rank], w->loaded, &attr, &run)) {
			w->failures++;
			continue;
		}
		if (i % 2)
			goal_engine_progress(pair.engine[w->rank]);
		goal_run_cancel(run);
		if (goal_run_wait(run, -1) != -ECANCELED)
			w->failures++;
		goal_run_free(run);
	}
	return NULL;
}

static void threads__cancel(void **state)
{
	const struct goal_engine_attr attr = { .flags = GOAL_ENGINE_PROGRESS };
	struct worker worker[4];
	uint32_t i;

	(void)state;
	pair_create(&pair, 2, &attr);
	for (i = 0; i < 4; i++) {
		memset(&worker[i], 0, sizeof(worker[i]));
		worker[i].rank = i % 2;
		/* No two have a number in common: nobody's messages meet. */
		worker[i].number = i;
		worker[i].loaded = pair_load(&pair, i % 2, pair_exchange(i % 2, 0));
	}
	for (i = 0; i < 4; i++)
		assert_int_equal(pthread_create(&worker[i].thread, NULL, cancel, &worker[i]), 0);
	for (i = 0; i < 4; i++) {
		assert_int_equal(pthread_join(worker[i].thread, NULL), 0);
		assert_int_equal(worker[i].failures, 0);
		assert_int_equal(goal_unload(worker[i].loaded), 0);
	}
	close_both();
}

/* A reduction by callback on whichever thread; the engine's lock is not held: it asks the engine. */
static int add(void *arg, const void *in, void *inout, uint64_t count)
{
	uint64_t i;

	if (!goal_engine_active(arg))
		return -EINVAL;
	for (i = 0; i < count; i++)
		((uint64_t *)inout)[i] += ((const uint64_t *)in)[i];
	return 0;
}

static void threads__reduction_without_the_lock(void **state)
{
	const struct goal_engine_attr attr = { .flags = GOAL_ENGINE_PROGRESS };
	struct goal_graph *g = pair_graph(0, 1);
	uint64_t in = 1, out = 0;
	struct goal_loaded *l;
	struct pair_bufs b;
	uint32_t i;

	(void)state;
	pair_create(&pair, 1, &attr);
	assert_int_equal(goal_user_size(g, 8), 0);
	assert_true(goal_reduce(g, GOAL_BUF_RECV, 0, GOAL_BUF_SEND, 0, 1, GOAL_TYPE_USER,
				GOAL_ROP_USER) >= 0);
	l = pair_load(&pair, 0, g);
	pair_bind(&b, &in, 8, &out, 8);
	for (i = 0; i < 200; i++) {
		struct goal_run_attr run = { .op_id = i,
					     .nbufs = 2,
					     .bufs = b.buf,
					     .reduce = add,
					     .reduce_arg = pair.engine[0] };

		assert_int_equal(goal_exec(pair.group[0], l, &run, NULL), 0);
	}
	assert_int_equal(out, 200);
	assert_int_equal(goal_unload(l), 0);
	assert_int_equal(goal_group_free(pair.group[0]), 0);
	assert_int_equal(goal_engine_close(pair.engine[0]), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(threads__all_ways_to_run),
		cmocka_unit_test(threads__with_a_progress_thread),
		cmocka_unit_test(threads__callbacks_start_runs),
		cmocka_unit_test(threads__restart),
		cmocka_unit_test(threads__cancel),
		cmocka_unit_test(threads__reduction_without_the_lock),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
