// SPDX-License-Identifier: BSD-3-Clause
/*
 * Does who waits in goal_exec() look on, or sleep in the start? Which is faster depends on the wire, on
 * what waking up costs here and on who else wants this core, a hypervisor's threads for instance, so
 * it is measured: now and then some waits of each kind, then for a long while the better one. Members
 * of a group count the same calls, so that they mostly try the same at the same time. Who spins may be
 * faster himself and yet keep the others from running, until all spin and everything is slow; so nobody
 * does where spinning processes are preempted. Called by kernel_run.c.
 */
#include <sys/resource.h>

#include "kernel.h"

#define TRIED  16          /* waits of a kind that are measured, ... */
#define STAYED 2048        /* ... and those until that is done again */
#define GLANCE 64          /* of those that spin meanwhile one in so many is looked at, too */
#define MOST   4000000ull  /* ns: how long others compute says nothing about either kind */
#define SLICES 50000000ull /* ns: in longer ones everybody is preempted some time */
#define ROBBED 4           /* waits of a trial that may lose the core to others: fewer */

enum {
	STAY,
	TRY_SAME,
	TRY_OTHER
};

void kernel_spin_init(struct kernel_spin *s)
{
	*s = (struct kernel_spin){ .phase = TRY_SAME, .left = TRIED };
}

bool kernel_spin_on(const struct kernel_engine *k)
{
	return __atomic_load_n(&k->e.spins, __ATOMIC_RELAXED) &&
	       __atomic_load_n(&k->spin.on, __ATOMIC_RELAXED);
}

bool kernel_spin_measures(const struct kernel_engine *k)
{
	const struct kernel_spin *s = &k->spin;

	return __atomic_load_n(&k->e.spins, __ATOMIC_RELAXED) &&
	       (s->phase != STAY || (s->on && !(s->left % GLANCE)));
}

void kernel_spin_look(struct kernel_spin_look *l)
{
	struct rusage u;

	l->at = host_now();
	l->robbed = getrusage(RUSAGE_THREAD, &u) ? 0 : (u64)u.ru_nivcsw;
}

static void choose(struct kernel_spin *s, bool on)
{
	__atomic_store_n(&s->on, on, __ATOMIC_RELAXED);
}

/* The core is of more use to others: spinning must be clearly faster. */
static bool spinning_is_better(const struct kernel_spin *s, u64 spinning, u64 asleep)
{
	return s->robbed < ROBBED && spinning + spinning / 8 < asleep;
}

/* What is tried has taken too long already. */
static bool is_lost(const struct kernel_spin *s)
{
	if (s->phase != TRY_OTHER)
		return false;
	return s->on ? !spinning_is_better(s, s->sum, s->took[false])
		     : spinning_is_better(s, s->took[true], s->sum);
}

void kernel_spin_waited(struct kernel_engine *k, bool spun, u64 ns, u64 robbed)
{
	struct kernel_spin *s = &k->spin;

	/* Another thread's waits may have changed it meanwhile, or begun to measure. */
	if (spun != s->on || !__atomic_load_n(&k->e.spins, __ATOMIC_RELAXED) ||
	    (!ns && s->phase != STAY))
		return;
	s->sum += ns < MOST ? ns : MOST;
	if (spun && s->phase != STAY && ns < SLICES)
		s->robbed += robbed > 0;
	/* Who shares the core since lately is noticed before thousands of slow waits. */
	if (s->phase == STAY && spun && robbed && ns < SLICES)
		s->left = 1;
	if (--s->left && !is_lost(s))
		return;
	s->took[s->on] = s->sum;
	s->sum = 0;
	s->left = TRIED;
	switch (s->phase) {
	case STAY:
		s->phase = TRY_SAME;
		s->robbed = 0;
		return;
	case TRY_SAME:
		s->phase = TRY_OTHER;
		choose(s, !s->on);
		return;
	default:
		s->phase = STAY;
		s->left = STAYED;
		choose(s, spinning_is_better(s, s->took[true], s->took[false]));
		return;
	}
}
