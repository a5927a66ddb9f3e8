// SPDX-License-Identifier: BSD-3-Clause
/*
 * Does who waits in goal_exec() look on, or sleep in the start? Which is faster depends on the wire, on
 * what waking up costs here and on who else wants this core, a hypervisor's threads for instance, so
 * it is measured: now and then some waits of each kind, then for a long while the better one. Members
 * of a group count the same calls, so that they mostly try the same at the same time. Called by
 * kernel_run.c and kernel_progress.c.
 */
#include "kernel.h"

#define TRIED  32         /* waits of a kind that are measured, ... */
#define STAYED 2048       /* ... and those until that is done again */
#define MOST   4000000ull /* ns: how long others compute says nothing about either kind */

enum {
	STAY,
	TRY_SAME,
	TRY_OTHER
};

void kernel_spin_init(struct kernel_spin *s)
{
	*s = (struct kernel_spin){ .on = true, .phase = TRY_SAME, .left = TRIED };
}

bool kernel_spin_on(const struct kernel_engine *k)
{
	return __atomic_load_n(&k->e.spins, __ATOMIC_RELAXED) &&
	       __atomic_load_n(&k->spin.on, __ATOMIC_RELAXED);
}

static void choose(struct kernel_spin *s, bool on)
{
	__atomic_store_n(&s->on, on, __ATOMIC_RELAXED);
}

void kernel_spin_waited(struct kernel_engine *k, bool spun, u64 ns)
{
	struct kernel_spin *s = &k->spin;

	/* Another thread's waits may have changed it meanwhile. */
	if (spun != s->on || !__atomic_load_n(&k->e.spins, __ATOMIC_RELAXED))
		return;
	s->sum += ns < MOST ? ns : MOST;
	if (--s->left)
		return;
	s->took[s->on] = s->sum;
	s->sum = 0;
	s->left = TRIED;
	switch (s->phase) {
	case STAY:
		s->phase = TRY_SAME;
		return;
	case TRY_SAME:
		s->phase = TRY_OTHER;
		choose(s, !s->on);
		return;
	default:
		/* The core is of more use to others: spinning must be clearly faster. */
		s->phase = STAY;
		s->left = STAYED;
		choose(s, s->took[true] + s->took[true] / 8 < s->took[false]);
		return;
	}
}
