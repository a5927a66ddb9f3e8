// SPDX-License-Identifier: BSD-3-Clause
/*
 * What is left for the process: to see in the mapping that runs are over, copy their results, call
 * back; and to wait. While nothing is over, a look costs one load.
 */
#include <sched.h>
#include <stdlib.h>

#include "kernel.h"

#define IDLE_POLLS  128         /* between two calls of idle() while spinning */
#define CLOCK_POLLS 1024        /* between two looks at the clock */
#define SENT_SLEEP  100         /* microseconds, then doubled */
#define SENT_WAIT   20000000ull /* ns */

static u32 load(const __u32 *at)
{
	return __atomic_load_n(at, __ATOMIC_ACQUIRE);
}

static void copy_out(const struct kernel_engine *k, const struct kernel_run *r)
{
	const struct kernel_loaded *l = kernel_loaded(r->run.loaded);
	u32 b, i;

	for (b = 0; b < l->nbufs; b++) {
		const u8 *from = (const u8 *)k->head + r->object->off[b];

		for (i = l->first[b]; i < l->first[b + 1]; i++)
			host_copy_in(&r->run.core.buf[b], l->range[i].off, from + l->range[i].off,
				     l->range[i].len);
	}
}

void kernel_over(struct kernel_engine *k, struct kernel_run *r, s32 status, u32 peer)
{
	struct goal_engine *e = &k->e;

	kernel_group(r->run.group)->nactive--;
	e->active--;
	e->nover++;
	if (likely(!status))
		e->stats.ops += kernel_loaded(r->run.loaded)->nops;
	else
		e->stats.runs_failed += !r->run.refused;
	r->run.core.status = status;
	r->run.core.err_peer = peer;
	if (r->run.done || r->run.given_up) {
		r->run.called = true;
		r->run.next = NULL;
		*e->over_last = &r->run;
		e->over_last = &r->run.next;
		__atomic_store_n(&e->ncalls, e->ncalls + 1, __ATOMIC_RELAXED);
	}
	__atomic_store_n(&r->run.over, 1, __ATOMIC_RELEASE);
}

/* What the owner of the run hears. */
static s32 status_of(const struct kernel_run *r, s32 status)
{
	if (likely(!status))
		return 0;
	if (r->refusal)
		return r->refusal;
	/* Of a group that its owner has failed, in his words. */
	return r->run.group->status ? r->run.group->status : status;
}

u32 kernel_reap(struct kernel_engine *k)
{
	u32 seen = load(&k->head->over), n = 0;
	/* Of those that are being started, their starter hears. */
	s32 ended = k->nstarting ? 0 : (s32)load(&k->head->ended);
	struct list *pos, *next;

	if (seen == k->seen && !ended)
		return 0;
	list_for_safe(pos, next, &k->active)
	{
		struct kernel_run *r = list_entry(pos, struct kernel_run, link);
		const struct espgoal_word *w = &k->word[r->object->id];
		bool over = load(&w->over) == r->starts;
		s32 status = over ? w->status : ended;

		if (!over && !ended)
			continue;
		list_remove(&r->link);
		if (!status)
			copy_out(k, r);
		kernel_object_put(kernel_loaded(r->run.loaded), r->object);
		r->object = NULL;
		kernel_over(k, r, status_of(r, status), over && status ? w->peer : GOAL_OP_NONE);
		n++;
	}
	list_for_safe(pos, next, &k->queued)
	{
		if (!ended)
			break;
		list_remove(pos);
		__atomic_store_n(&k->nqueued, k->nqueued - 1, __ATOMIC_RELAXED);
		kernel_over(k, list_entry(pos, struct kernel_run, link), ended, GOAL_OP_NONE);
		n++;
	}
	/* Behind what was marked: who has read it sees that all those are over. */
	__atomic_store_n(&k->seen, seen, __ATOMIC_RELEASE);
	return n;
}

void kernel_run_put(struct kernel_run *r)
{
	struct kernel_engine *k = kernel_engine(r->run.engine);

	r->run.loaded->nactive--;
	if (k->nfree == KERNEL_FREE_RUNS) {
		free(r);
		return;
	}
	r->next = k->free;
	k->free = r;
	k->nfree++;
}

u32 kernel_dispatch(struct kernel_engine *k)
{
	struct goal_engine *e = &k->e;
	u32 n = 0;

	host_lock(e);
	if (e->dispatching)
		goto unlock;
	e->dispatching = true;
	while (e->over) {
		struct goal_run *r = e->over;

		e->over = r->next;
		if (!e->over)
			e->over_last = &e->over;
		if (r->done) {
			void (*done)(void *arg, int status) = r->done;

			r->done = NULL;
			host_unlock(e);
			done(r->done_arg, r->core.status);
			host_lock(e);
		}
		__atomic_store_n(&e->ncalls, e->ncalls - 1, __ATOMIC_RELAXED);
		r->called = false;
		if (r->given_up)
			kernel_run_put(kernel_run(r));
		n++;
	}
	e->dispatching = false;
unlock:
	host_unlock(e);
	return n;
}

u32 kernel_progress(struct goal_engine *e)
{
	struct kernel_engine *k = kernel_of(e);
	u32 n;

	if (!k)
		return 0;
	if (likely(load(&k->head->over) == __atomic_load_n(&k->seen, __ATOMIC_RELAXED) &&
		   !__atomic_load_n(&k->nqueued, __ATOMIC_RELAXED) &&
		   !__atomic_load_n(&e->ncalls, __ATOMIC_RELAXED) && !load(&k->head->ended)))
		return 0;
	if (!host_trylock(e))
		return 0;
	n = kernel_reap(k);
	if (k->nqueued)
		n += kernel_queue(k);
	host_unlock(e);
	return n + kernel_dispatch(k);
}

static inline void relax(void)
{
#if defined(__x86_64__) || defined(__i386__)
	__builtin_ia32_pause();
#elif defined(__aarch64__)
	__asm__ volatile("yield" ::: "memory");
#else
	__asm__ volatile("" ::: "memory");
#endif
}

static bool over(const struct goal_run *r)
{
	return __atomic_load_n(&r->over, __ATOMIC_ACQUIRE);
}

/* Sleep until more runs are over than @seen, at most @ns. */
static void nap(struct kernel_engine *k, u32 seen, u64 ns)
{
	struct espgoal_wait w = { .run = ESPGOAL_NONE, .seen = seen, .timeout = ns };

	(void)kernel_device_request(k->fd, ESPGOAL_WAIT, &w);
	host_lock(&k->e);
	k->e.stats.sleeps++;
	host_unlock(&k->e);
}

/* One that waits. */
struct waiter {
	bool spins;
	u32 polls, us;
	void (*idle)(void);
};

/*
 * Between two looks: spin, or sleep until more runs are over than @seen, for ever or for a while.
 * True: it is time to look at the clock.
 */
static bool wait_a_bit(struct kernel_engine *k, struct waiter *w, u32 seen, bool ever)
{
	if (w->spins && w->polls < k->e.attr.spin) {
		w->polls++;
		if (w->idle && !(w->polls % IDLE_POLLS))
			w->idle();
		relax();
		return !(w->polls % CLOCK_POLLS);
	}
	ever &= !w->idle && !__atomic_load_n(&k->nqueued, __ATOMIC_RELAXED);
	if (w->idle)
		w->idle();
	/* What waits for an object is started by us, and nobody wakes us up for that. */
	if (__atomic_load_n(&k->nqueued, __ATOMIC_RELAXED) && w->us > SENT_SLEEP)
		w->us = SENT_SLEEP;
	nap(k, seen, ever ? ESPGOAL_EVER : w->us * 1000ull);
	w->us = w->us * 2 < k->e.attr.sleep_us ? w->us * 2 : k->e.attr.sleep_us;
	return true;
}

int kernel_wait(struct kernel_engine *k, struct goal_run *r, int timeout_ms, bool spins,
		void (*idle)(void))
{
	u64 deadline = timeout_ms < 0 ? 0 : host_now() + (u64)timeout_ms * 1000000;
	/* The end of the run ends the nap: waking up before that is for idle() alone. */
	struct waiter w = { .spins = spins, .us = k->e.attr.sleep_us, .idle = idle };

	for (;;) {
		/*
		 * Before the look: what comes after it ends the nap, and what another thread is
		 * about to mark as over is not in it.
		 */
		u32 seen = load(&k->seen);

		kernel_progress(&k->e);
		if (over(r))
			return r->core.status;
		if (wait_a_bit(k, &w, seen, timeout_ms < 0) && timeout_ms >= 0 &&
		    host_now() >= deadline)
			return over(r) ? r->core.status : -ETIMEDOUT;
	}
}

/*
 * It only keeps a sender from making work for receivers that are behind, so it is not for ever: they
 * may come to this schedule by a way on which they need something else of this process first.
 */
void kernel_wait_sent(struct kernel_engine *k, const struct goal_group *g, struct kernel_loaded *l,
		      void (*idle)(void))
{
	/* Nobody will wake it up. There is no hurry: others may need this core to catch up. */
	struct waiter w = { .us = SENT_SLEEP, .idle = idle };
	u64 deadline = host_now() + SENT_WAIT;

	for (;;) {
		u32 seen = load(&k->seen);
		bool ahead;

		host_lock(&k->e);
		ahead = !g->status && kernel_object_ahead(k, g, l, true);
		host_unlock(&k->e);
		if (!ahead || load(&k->head->ended))
			return;
		if (wait_a_bit(k, &w, seen, false) && host_now() >= deadline)
			return;
		kernel_progress(&k->e);
	}
}
