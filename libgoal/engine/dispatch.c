// SPDX-License-Identifier: BSD-3-Clause
/*
 * Calls of foreign code: reductions by a run's callback, the remote transport, and the callbacks
 * of runs that are over. They are queued where they come up, under the lock and in the midst of
 * the interpreter, and made here, without the lock, by one thread at a time. A callback that
 * starts runs only queues more; so the stack does not grow with the length of a chain.
 */
#include "host.h"

static u32 reductions(struct goal_engine *e)
{
	u32 n = 0;

	while (!list_empty(&e->reductions)) {
		struct host_xfer *x = list_entry(e->reductions.next, struct host_xfer, link);
		struct goal_run *r = x->run;
		int rc = -ECANCELED;

		list_remove(&x->link);
		if (!r->core.dead) {
			host_unlock(e);
			rc = host_reduce_user(r, x->op);
			host_lock(e);
		}
		e->ncalls--;
		host_xfer_end(e, x, rc);
		n++;
	}
	return n;
}

static u32 over(struct goal_engine *e)
{
	u32 n = 0;

	while (e->over) {
		struct goal_run *r = e->over;

		e->over = r->next;
		if (!e->over)
			e->over_last = &e->over;
		if (r->done) {
			host_unlock(e);
			r->done(r->done_arg, r->core.status);
			host_lock(e);
		}
		e->ncalls--;
		r->called = false;
		if (r->given_up)
			host_run_put(r);
		n++;
	}
	return n;
}

u32 host_dispatch(struct goal_engine *e)
{
	u32 n, sum = 0;
	bool tested = false;

	host_lock(e);
	if (e->dispatching)
		goto unlock;
	e->dispatching = true;
	do {
		n = reductions(e);
		if (!list_empty(&e->remote_posts))
			n += host_remote_post(e);
		if (!tested) {
			if (!list_empty(&e->remote_active))
				n += host_remote_test(e);
			n += host_failed_listen(e);
		}
		tested = true;
		n += over(e);
		sum += n;
	} while (n && e->ncalls);
	e->dispatching = false;
	e->moved += sum;
unlock:
	host_unlock(e);
	return sum;
}
