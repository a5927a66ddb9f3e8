/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Our part of opal_progress: one comparison while there is nothing to do. Registered when the
 * first vote or nonblocking run begins.
 */
#include "coll_goal.h"

/* Somebody is in it: it is entered again from callbacks, and from other threads. */
static volatile int32_t busy;

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
}
