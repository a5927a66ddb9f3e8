// SPDX-License-Identifier: BSD-3-Clause
/*
 * Run objects of the device: the memory of one run each. They are made when they are needed, and
 * kept idle with their schedule; when the device has no more, idle ones of others are given back,
 * of those schedules first that were not used for the longest time. Called by kernel_start.c.
 */
#include <stdlib.h>

#include "kernel.h"

#define ASK_AGAIN 10000000 /* ns */
#define LOOKS     4        /* objects that a start looks at before it asks for another one */
/*
 * Runs of a schedule that blocking calls may be ahead of a receiver, whose kernel keeps some of each
 * member's: all members together, but each at least what is acknowledged at once. Who has come so far
 * waits until only half of them are left: there is time, and so it sleeps once for many calls.
 */
#define AHEAD       32
#define AHEAD_LEAST 12

/* Messages of its last run may still wait for their receivers. */
static bool startable(const struct kernel_engine *k, const struct kernel_object *o)
{
	return __atomic_load_n(&k->word[o->id].free, __ATOMIC_ACQUIRE) == o->starts;
}

static struct kernel_object *pop(struct kernel_loaded *l)
{
	struct kernel_object *o = l->idle;

	l->idle = o->next;
	return o;
}

static struct kernel_object *pop_sent(struct kernel_loaded *l)
{
	struct kernel_object *o = l->sent;

	l->sent = o->next;
	if (!l->sent)
		l->sent_last = &l->sent;
	l->nsent--;
	return o;
}

/*
 * Those of the next ones whose messages have been taken become idle; true: there is one. They mostly
 * become so in the order in which they were used; those that cannot go to the end, @most of them,
 * so that the others have their turn.
 */
static bool settle(struct kernel_engine *k, struct kernel_loaded *l, u32 most)
{
	while (l->sent) {
		bool idle = startable(k, l->sent);
		struct kernel_object *o;

		if (!idle && !most--)
			break;
		o = pop_sent(l);
		if (idle) {
			o->next = l->idle;
			l->idle = o;
		} else {
			kernel_object_put(l, o);
		}
	}
	return l->idle;
}

bool kernel_object_ahead(struct kernel_engine *k, const struct goal_group *g,
			 struct kernel_loaded *l, bool waits)
{
	u32 most = g->npeers > 1 ? AHEAD / (g->npeers - 1) : AHEAD;

	if (most < AHEAD_LEAST)
		most = AHEAD_LEAST;
	if (waits)
		most /= 2;
	if (likely(l->nsent < most))
		return false;
	/* Who waits has the time to look at all. */
	settle(k, l, waits ? l->nsent : LOOKS);
	return l->nsent >= most;
}

bool kernel_object_give_back(struct kernel_engine *k, const struct kernel_loaded *but)
{
	struct list *pos;

	list_for(pos, &k->loaded)
	{
		struct kernel_loaded *l = list_entry(pos, struct kernel_loaded, link);
		struct kernel_object *o;
		struct espgoal_id id;

		if (l == but || (!l->idle && !l->sent))
			continue;
		o = l->idle ? pop(l) : pop_sent(l);
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
	if (likely(l->idle || settle(k, l, LOOKS)))
		return pop(l);
	*rc = -ENOSPC;
	/* It was refused since the last run here was over; other processes give memory back, too. */
	if (k->nqueued && k->asked == k->seen && host_now() < k->asked_at + ASK_AGAIN)
		return NULL;
	o = make(k, l, rc);
	if (o)
		return o;
	if (settle(k, l, l->nsent)) {
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
		const struct kernel_object *o = list_entry(pos, struct kernel_loaded, link)->sent;

		for (; o; o = o->next)
			if (!startable(k, o))
				return true;
	}
	return false;
}

void kernel_object_put(struct kernel_loaded *l, struct kernel_object *o)
{
	o->next = NULL;
	*l->sent_last = o;
	l->sent_last = &o->next;
	l->nsent++;
}

static void free_list(struct kernel_object *o)
{
	struct kernel_object *next;

	for (; o; o = next) {
		next = o->next;
		free(o);
	}
}

void kernel_objects_free(struct kernel_loaded *l)
{
	free_list(l->idle);
	free_list(l->sent);
}
