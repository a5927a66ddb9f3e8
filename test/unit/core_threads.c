// SPDX-License-Identifier: BSD-3-Clause
/*
 * Several threads enter one run at once: messages, ends of operations, cancellation, pumps. Built
 * with ThreadSanitizer. Each run must end once, with every operation done once, and
 * whoever ends operations must not touch the run after its end.
 */
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "home/build.h"
#include "home/home.h"
#include "home/random.h"

#define LANES   4  /* independent chains of the schedule */
#define STEPS   12 /* receive, copy, send of each */
#define ROUNDS  150
#define ENDERS  2
#define NOPS    (LANES * STEPS * 3)
#define NO_WORK GOAL_OP_NONE

/* A run that several threads work at. */
struct shared {
	struct home_run home; /* first: converted */
	struct core_sched *sched;
	void *arrays;
	struct work {
		pthread_mutex_t mutex;
		u32 op[NOPS + 1];
		u32 n;
	} * work; /* operations to be ended; not in the run's memory, which may go first */
	atomic_uint ended[NOPS];
	atomic_uint delivered, dropped, refused, done;
	atomic_uint *gone; /* set when the run's memory is given up in its end; or NULL */
	bool taken_over;   /* receives are ended by the enders, too */
};

static struct shared *shared_of(struct home_run *h)
{
	return (struct shared *)h;
}

static void work_add(struct work *w, u32 op)
{
	pthread_mutex_lock(&w->mutex);
	w->op[w->n++] = op;
	pthread_mutex_unlock(&w->mutex);
}

static u32 work_take(struct work *w)
{
	u32 op = NO_WORK;

	pthread_mutex_lock(&w->mutex);
	if (w->n)
		op = w->op[--w->n];
	pthread_mutex_unlock(&w->mutex);
	return op;
}

/* Every other operation ends late. */
static int answer(struct home_run *h, u32 op)
{
	struct shared *s = shared_of(h);

	must(atomic_load(&s->done) == 0);
	must(atomic_fetch_add(&s->ended[op], 1) == 0);
	if (op % 2)
		return CORE_DONE;
	work_add(s->work, op);
	return CORE_PENDING;
}

static int shared_post(struct home_run *h, u32 op)
{
	struct shared *s = shared_of(h);

	if (!s->taken_over)
		return CORE_PENDING;
	must(atomic_fetch_add(&s->ended[op], 1) == 0);
	h->core.rlen[s->sched->op[op].slot] = 8;
	work_add(s->work, op);
	return CORE_BUSY;
}

static int shared_deliver(struct home_run *h, u32 op, void *msg)
{
	struct shared *s = shared_of(h);

	must(msg == h);
	h->core.rlen[s->sched->op[op].slot] = 8;
	atomic_fetch_add(&s->delivered, 1);
	return answer(h, op);
}

static void shared_drop(struct home_run *h, void *msg)
{
	must(msg == h);
	atomic_fetch_add(&shared_of(h)->dropped, 1);
}

static void shared_done(struct home_run *h)
{
	struct shared *s = shared_of(h);
	atomic_uint *gone = s->gone;

	must(h->core.busy == 0);
	must(atomic_fetch_add(&s->done, 1) == 0);
	if (gone) {
		pthread_mutex_destroy(&h->mutex);
		free(s->arrays);
		free(s);
		atomic_store(gone, 1);
	}
}

static const struct home_ops shared_ops = {
	.send = answer,
	.post = shared_post,
	.deliver = shared_deliver,
	.move = answer,
	.reduce = answer,
	.drop = shared_drop,
	.done = shared_done,
};

static void *data;
static struct core_sched sched;

/* Lanes of receive, copy of what came, send on; joined by a nop at each step. */
static void build_schedule(void)
{
	struct build *b = calloc(1, sizeof(*b));
	u32 last[LANES], lane, step, op;
	struct core_error e;
	size_t len;

	must(b);
	b->hdr = (struct goal_sched_hdr){ .npeers = LANES, .nbufs = 2, .ntags = 1 };
	for (step = 0; step < STEPS; step++) {
		for (lane = 0; lane < LANES; lane++) {
			op = build_recv(b, 0, 8 * lane, 8, lane, 0);
			if (step)
				build_edge(b, last[lane], op, step % 2);
			op = build_copy(b, 1, 8 * lane, 0, 8 * lane, 8);
			build_len_from(b, op, op - 1);
			op = build_send(b, 1, 8 * lane, 8, (lane + 1) % LANES, 0);
			build_edge(b, op - 1, op, false);
			if (step)
				build_edge(b, last[(lane + 1) % LANES], op, false);
			last[lane] = op;
		}
	}
	data = build_bytes(b, &len);
	must(build_verify(data, len, &sched, &e) == 0);
	must(sched.hdr->nops == NOPS);
	free(b);
}

/* What a thread works with: no pointer into the run but the run itself. */
struct job {
	struct shared *s;
	struct work *work;
	atomic_uint *over; /* ends the thread */
	struct random random;
	u32 first; /* messages: of the lanes first, first + 2, ... */
};

static void *end_operations(void *arg)
{
	struct job *j = arg;

	while (!atomic_load(j->over)) {
		u32 op = work_take(j->work);

		if (op == NO_WORK)
			sched_yield();
		else
			core_op_done(&j->s->home.core, op, 0);
	}
	return NULL;
}

static void *send_messages(void *arg)
{
	struct job *j = arg;
	struct core_run *r = &j->s->home.core;
	u32 names[LANES * STEPS], n = 0, lane, step;

	for (lane = j->first; lane < LANES; lane += 2)
		for (step = 0; step < STEPS; step++)
			names[n++] = lane * STEPS + step;
	while (n) {
		u32 k = random_below(&j->random, n), src = names[k] / STEPS;
		u32 instance = names[k] % STEPS;
		s64 op;

		names[k] = names[--n];
		op = random_chance(&j->random, 128) ? core_message_claim(r, src, 0, instance)
						    : -EAGAIN;
		if (op >= 0) {
			must(atomic_fetch_add(&j->s->ended[op], 1) == 0);
			r->rlen[sched.op[op].slot] = 8;
			core_op_done(r, (u32)op, 0);
		} else if (op == -ECANCELED ||
			   core_message(r, src, 0, instance, j->s) == -ECANCELED) {
			atomic_fetch_add(&j->s->refused, 1);
		}
		if (random_chance(&j->random, 32))
			sched_yield();
	}
	return NULL;
}

static void *pump_and_cancel(void *arg)
{
	struct job *j = arg;
	u32 k, n = random_below(&j->random, 300);

	for (k = 0; k < n; k++) {
		core_pump(&j->s->home.core);
		sched_yield();
	}
	core_cancel(&j->s->home.core, -EPIPE, 1);
	return NULL;
}

static struct shared *shared_new(void)
{
	struct shared *s = calloc(1, sizeof(*s));

	must(s);
	s->home.ops = &shared_ops;
	pthread_mutex_init(&s->home.mutex, NULL);
	s->sched = &sched;
	s->arrays = malloc(core_run_bytes(&sched));
	s->work = calloc(1, sizeof(*s->work));
	must(s->arrays && s->work);
	pthread_mutex_init(&s->work->mutex, NULL);
	core_run_init(&s->home.core, &sched, s->arrays);
	core_run_reset(&s->home.core);
	return s;
}

static void work_free(struct work *w)
{
	must(w->n == 0);
	pthread_mutex_destroy(&w->mutex);
	free(w);
}

/* Messages from two threads, ends from two, perhaps a cancellation, against one run. */
static u32 race(u64 seed, bool cancel)
{
	struct shared *s = shared_new();
	pthread_t thread[ENDERS + 3];
	struct job job[ENDERS + 3];
	u32 n = 0, k, failed;

	for (k = 0; k < ENDERS + 3; k++)
		job[k] = (struct job){ s, s->work, &s->done, { seed * 8 + k }, 0 };
	job[ENDERS + 1].first = 1;
	for (k = 0; k < ENDERS; k++, n++)
		must(!pthread_create(&thread[n], NULL, end_operations, &job[n]));
	for (k = 0; k < 2; k++, n++)
		must(!pthread_create(&thread[n], NULL, send_messages, &job[n]));
	if (cancel) {
		must(!pthread_create(&thread[n], NULL, pump_and_cancel, &job[n]));
		n++;
	}
	core_start(&s->home.core);
	for (k = 0; k < n; k++)
		must(!pthread_join(thread[k], NULL));

	must(atomic_load(&s->done) == 1);
	failed = s->home.core.status != 0;
	if (failed) {
		must(cancel && s->home.core.status == -EPIPE);
	} else {
		must(s->home.core.undone == 0 && atomic_load(&s->dropped) == 0);
		must(atomic_load(&s->refused) == 0);
		for (k = 0; k < NOPS; k++)
			must(atomic_load(&s->ended[k]) == 1);
	}
	work_free(s->work);
	pthread_mutex_destroy(&s->home.mutex);
	free(s->arrays);
	free(s);
	return failed;
}

static void threads__end_a_run_once(void **state)
{
	u32 k;

	(void)state;
	for (k = 0; k < ROUNDS; k++)
		assert_int_equal(race(k, false), 0);
}

static void threads__cancel_a_run_once(void **state)
{
	u32 failed = 0, k;

	(void)state;
	for (k = 0; k < ROUNDS; k++)
		failed += race(k, true);
	assert_true(failed > 0);
}

/*
 * The run's memory is given up in env_run_done(): the busy operation is all the reference that
 * core_op_done() needs.
 */
static void threads__do_not_touch_a_run_after_its_end(void **state)
{
	u32 round, k;

	(void)state;
	for (round = 0; round < ROUNDS; round++) {
		struct shared *s = shared_new();
		struct work *work = s->work;
		atomic_uint gone;
		pthread_t thread[ENDERS];
		struct job job[ENDERS];

		atomic_init(&gone, 0);
		s->gone = &gone;
		s->taken_over = true;
		for (k = 0; k < ENDERS; k++) {
			job[k] = (struct job){ s, work, &gone, { k }, 0 };
			must(!pthread_create(&thread[k], NULL, end_operations, &job[k]));
		}
		core_start(&s->home.core);
		for (k = 0; k < ENDERS; k++)
			must(!pthread_join(thread[k], NULL));
		assert_int_equal(atomic_load(&gone), 1);
		work_free(work);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(threads__end_a_run_once),
		cmocka_unit_test(threads__cancel_a_run_once),
		cmocka_unit_test(threads__do_not_touch_a_run_after_its_end),
	};

	int failed;

	build_schedule();
	failed = cmocka_run_group_tests_name("core_threads", tests, NULL, NULL);
	free(data);
	return failed;
}
