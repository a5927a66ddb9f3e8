/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Our part of opal_progress: one comparison while there is nothing to do. Registered when the
 * first vote or nonblocking run begins.
 */
#include "coll_goal.h"

/* Somebody is in it: it is entered again from callbacks, and from other threads. */
static volatile int32_t busy;

/* A run was refused, and its engine is busy with letting others know. */
static struct coll_goal_module *lingering;

void coll_goal_linger(struct coll_goal_module *m)
{
	bool known;

	coll_goal_lock();
	known = m->lingers;
	if (!known) {
		m->lingers = true;
		m->next_lingering = lingering;
		lingering = m;
		OBJ_RETAIN(m->comm);
	}
	coll_goal_unlock();
	if (!known)
		coll_goal_work(1);
}

/* The engines have nothing to do any more. */
static void part(void)
{
	struct coll_goal_module *list, *next;

	coll_goal_lock();
	list = lingering;
	lingering = NULL;
	for (struct coll_goal_module *m = list; m; m = m->next_lingering)
		m->lingers = false;
	coll_goal_unlock();
	for (; list; list = next) {
		next = list->next_lingering;
		coll_goal_work(-1);
		OBJ_RELEASE(list->comm);
	}
}

int coll_goal_progress(void)
{
	struct coll_goal_component *c = &mca_coll_goal_component;
	int events = 0, rc;

	if (coll_goal_likely(!c->work))
		return 0;
	if (c->votes)
		events += coll_goal_votes_progress();
	if (c->deferred && !__atomic_exchange_n(&busy, 1, __ATOMIC_ACQUIRE)) {
		events += coll_goal_deferred_progress();
		__atomic_store_n(&busy, 0, __ATOMIC_RELEASE);
	}
	if (c->finished)
		events += coll_goal_finished();
	rc = goal_engine_progress(c->engine);
	if (rc > 0)
		events += rc;
	if (c->kernel) {
		rc = goal_engine_progress(c->kernel);
		if (rc > 0)
			events += rc;
	}
	if (coll_goal_unlikely(lingering != NULL) && !goal_engine_active(c->engine) &&
	    !(c->kernel && goal_engine_active(c->kernel)))
		part();
	if (c->graves)
		coll_goal_reap();
	if (coll_goal_unlikely(coll_goal_ft()))
		coll_goal_ft_check();
	return events;
}

void coll_goal_progress_need(void)
{
	struct coll_goal_component *c = &mca_coll_goal_component;

	if (coll_goal_likely(c->registered))
		return;
	c->registered = true;
	(void)opal_progress_register(coll_goal_progress);
}

void coll_goal_idle(void)
{
	/* Open MPI 5.0 counts events here, 4.1 does not. */
	(void)opal_progress();
	/* Nothing else would end a blocking call whose communicator is broken. */
	if (coll_goal_unlikely(coll_goal_ft()))
		coll_goal_ft_check();
}
