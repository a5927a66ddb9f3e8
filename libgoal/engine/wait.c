// SPDX-License-Identifier: BSD-3-Clause
/*
 * Waiting: spin where there are cores enough, else yield at once; after many fruitless yields
 * sleep on a futex that senders ring, for a bounded time. And the look at the peers' health,
 * which is taken only when nothing has moved for a while.
 */
#include <linux/futex.h>
#include <sched.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "host.h"

#define QUIET_NS    10000000 /* without an event, before peers are looked at */
#define QUIET_POLLS 1024     /* between two looks at the clock */
#define IDLE_POLLS  128      /* between two calls of idle() while spinning */
#define IDLE_YIELDS 4        /* and while yielding */
#define SLEEP_FIRST 50       /* microseconds, then doubled */

u64 host_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (u64)t.tv_sec * 1000000000ull + (u64)t.tv_nsec;
}

/* Wake the owner of @shm, who said that it sleeps. */
void host_wake(struct shm_header *shm)
{
	if (!__atomic_exchange_n(&shm->sleeping, 0, __ATOMIC_ACQ_REL))
		return;
	__atomic_fetch_add(&shm->wake, 1, __ATOMIC_RELEASE);
	syscall(SYS_futex, &shm->wake, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

/* A round without an event. The lock is held. */
void host_quiet(struct goal_engine *e)
{
	u64 now;

	if (likely(++e->quiet_polls < QUIET_POLLS))
		return;
	e->quiet_polls = 0;
	if (!e->active && !e->npending)
		return;
	now = host_now();
	if (e->moved != e->quiet_mark) {
		e->quiet_mark = e->moved;
		e->quiet_since = now;
	}
	if (now - e->quiet_since < QUIET_NS || now - e->quiet_checked < QUIET_NS)
		return;
	e->quiet_checked = now;
	host_peers_check(e);
}

/* Waiting has left the fast lane: polls are few now, so look at the clock at once. */
static void hurry(struct goal_engine *e)
{
	if (!host_trylock(e))
		return;
	e->quiet_polls = QUIET_POLLS;
	host_unlock(e);
}

/* Sleep until something is rung for us, at most @us. */
u32 host_sleep(struct goal_engine *e, u32 us)
{
	struct timespec t = { .tv_sec = us / 1000000, .tv_nsec = us % 1000000 * 1000L };
	u32 seq = __atomic_load_n(&e->shm->wake, __ATOMIC_ACQUIRE);
	u32 n;

	/*
	 * Senders look at this after they have written, without a fence; so look at what they
	 * wrote some time after setting it: a yield is longer than any store takes.
	 */
	__atomic_store_n(&e->shm->sleeping, 1, __ATOMIC_SEQ_CST);
	sched_yield();
	n = host_progress(e);
	if (!n)
		syscall(SYS_futex, &e->shm->wake, FUTEX_WAIT, seq, &t, NULL, 0);
	__atomic_store_n(&e->shm->sleeping, 0, __ATOMIC_RELAXED);
	return n;
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

/* Make progress until @r is over: 0, its error, or -ETIMEDOUT. */
int host_wait(struct goal_engine *e, struct goal_run *r, int timeout_ms, void (*idle)(void))
{
	u64 deadline = timeout_ms < 0 ? 0 : host_now() + (u64)timeout_ms * 1000000;
	bool spins = __atomic_load_n(&e->spins, __ATOMIC_RELAXED);
	bool remote = r->group->nremote;
	u32 polls = 0, yields = 0, us = SLEEP_FIRST, rounds = 0;
	u64 nyields = 0, nsleeps = 0;
	int rc;

	for (;;) {
		u32 n = host_progress(e);

		if (over(r)) {
			rc = r->core.status;
			break;
		}
		if (n) {
			polls = 0;
			yields = 0;
			us = SLEEP_FIRST;
			continue;
		}
		/* Only the user's own progress moves remote messages. */
		if (idle && remote)
			idle();
		polls++;
		if (spins && polls < e->attr.spin) {
			if (idle && !remote && !(polls % IDLE_POLLS))
				idle();
			relax();
			if (polls % QUIET_POLLS)
				continue;
		} else if (remote || yields < e->attr.yields) {
			yields++;
			nyields++;
			sched_yield();
			if (idle && !remote && !(yields % IDLE_YIELDS))
				idle();
			if (++rounds % 64)
				goto clock;
			hurry(e);
		} else {
			if (idle)
				idle();
			nsleeps++;
			hurry(e);
			if (!host_sleep(e, us)) {
				us *= 2;
				if (us > e->attr.sleep_us)
					us = e->attr.sleep_us;
			}
		}
clock:
		if (timeout_ms >= 0 && host_now() >= deadline) {
			rc = over(r) ? r->core.status : -ETIMEDOUT;
			break;
		}
	}
	if (nyields) {
		host_lock(e);
		e->stats.yields += nyields;
		e->stats.sleeps += nsleeps;
		host_unlock(e);
	}
	return rc;
}
