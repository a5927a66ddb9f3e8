// SPDX-License-Identifier: BSD-3-Clause
/*
 * Run objects of the device: the memory of one run each. They are made when they are needed, and
 * kept idle with their schedule; when the device has no more, idle ones of others are given back,
 * of those schedules first that were not used for the longest time. Called by kernel_start.c.
 */
#include <stdlib.h>

#include "kernel.h"

#define ASK_AGAIN 10000000 /* ns */
#define LOOKS     4        /* idle objects that a start looks at before it asks for another one */
/*
 * Runs of a schedule that blocking calls may be ahead of a receiver. Those that only send, as all of a
 * gather but its root, wait for nobody else: they may be so by that many all together, which is
 * less than the receiver's kernel keeps; but each by some. The others are slowed down by what they receive,
 * and must not be by acknowledgements that wait for a message to go with.
 */
#define AHEAD       32
#define AHEAD_LEAST 2

/* Messages of its last run may still wait for their receivers. */
static bool startable(const struct kernel_engine *k, const struct kernel_object *o)
{
	return __atomic_load_n(&k->word[o->id].free, __ATOMIC_ACQUIRE) == o->starts;
}

/* The first idle one, off the list. */
static struct kernel_object *pop(struct kernel_loaded *l)
{
	struct kernel_object *o = l->idle;

	l->idle = o->next;
	if (!l->idle)
		l->idle_last = &l->idle;
	l->nidle--;
	return o;
}

/*
 * Is one of @most that can be started the first now? They mostly become so in the order in which
 * they were used; those that cannot go to the end, so that the others have their turn.
 */
static bool turn_to_idle(struct kernel_engine *k, struct kernel_loaded *l, u32 most)
{
	u32 n = l->nidle < most ? l->nidle : most;

	for (; n; n--) {
		if (startable(k, l->idle))
			return true;
		kernel_object_put(l, pop(l));
	}
	return false;
}

bool kernel_object_ahead(struct kernel_engine *k, const struct goal_group *g,
			 struct kernel_loaded *l)
{
	u32 most = AHEAD;

	if (!l->nrecv && g->npeers > 1)
		most /= g->npeers - 1;
	if (most < AHEAD_LEAST)
		most = AHEAD_LEAST;
	return l->nidle >= most && !turn_to_idle(k, l, LOOKS);
}

bool kernel_object_give_back(struct kernel_engine *k, const struct kernel_loaded *but)
{
	struct list *pos;

	list_for(pos, &k->loaded)
	{
		struct kernel_loaded *l = list_entry(pos, struct kernel_loaded, link);
		struct kernel_object *o = l->idle;
		struct espgoal_id id;

		if (l == but || !o)
			continue;
		pop(l);
		l->nobjects--;
		l->loaded->bytes -= sizeof(*o);
		id = (struct espgoal_id){ .id = o->id };
		(void)kernel_device_request(k->fd, ESPGOAL_RUN_FREE, &id);
		free(o);
		return true;
	}
	return false;
}

static struct kernel_object *make(struct kernel_engine *k, struct kernel_loaded *l, int *rc)
{
	struct espgoal_run run = { .sched = l->id };
	struct kernel_object *o = host_alloc(&k->e, sizeof(*o));

	*rc = -ENOMEM;
	if (!o)
		return NULL;
	do {
		*rc = kernel_device_request(k->fd, ESPGOAL_RUN, &run);
	} while (kernel_exhausted(*rc) && kernel_object_give_back(k, l));
	if (*rc) {
		free(o);
		return NULL;
	}
	o->id = run.id;
	memcpy(o->off, run.off, sizeof(o->off));
	l->nobjects++;
	l->loaded->bytes += sizeof(*o);
	return o;
}

struct kernel_object *kernel_object_get(struct kernel_engine *k, struct kernel_loaded *l, int *rc)
{
	struct kernel_object *o;

	*rc = 0;
	if (likely(turn_to_idle(k, l, LOOKS)))
		return pop(l);
	*rc = -ENOSPC;
	/* It was refused since the last run here was over; other processes give memory back, too. */
	if (k->nqueued && k->asked == k->seen && host_now() < k->asked_at + ASK_AGAIN)
		return NULL;
	o = make(k, l, rc);
	if (o)
		return o;
	if (turn_to_idle(k, l, l->nidle)) {
		*rc = 0;
		return pop(l);
	}
	k->asked = k->seen;
	k->asked_at = host_now();
	return NULL;
}

bool kernel_object_sending(const struct kernel_engine *k)
{
	struct list *pos;

	list_for(pos, &k->loaded)
	{
		const struct kernel_object *o = list_entry(pos, struct kernel_loaded, link)->idle;

		for (; o; o = o->next)
			if (!startable(k, o))
				return true;
	}
	return false;
}

void kernel_object_put(struct kernel_loaded *l, struct kernel_object *o)
{
	o->next = NULL;
	*l->idle_last = o;
	l->idle_last = &o->next;
	l->nidle++;
}

void kernel_objects_free(struct kernel_loaded *l)
{
	struct kernel_object *o;

	while ((o = l->idle)) {
		l->idle = o->next;
		free(o);
	}
}
