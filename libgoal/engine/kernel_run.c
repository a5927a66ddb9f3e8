// SPDX-License-Identifier: BSD-3-Clause
/*
 * Runs of the kernel engine: start, wait, cancel, give up. Called by run.c.
 */
#include <stdlib.h>

#include "kernel.h"

static struct kernel_run *run_get(struct kernel_engine *k)
{
	struct kernel_run *r = k->free;

	if (unlikely(!r))
		return host_alloc(&k->e, sizeof(*r));
	k->free = r->next;
	k->nfree--;
	return r;
}

static int bind(struct kernel_run *r, const struct kernel_loaded *l,
		const struct goal_run_attr *attr)
{
	u32 i, n;

	for (i = 0; i < l->nbufs; i++) {
		struct core_binding *b = &r->run.core.buf[i];

		b->seg = i < attr->nbufs ? (const struct core_segment *)attr->bufs[i].seg : NULL;
		b->nseg = i < attr->nbufs ? attr->bufs[i].nseg : 0;
		b->len = 0;
		for (n = 0; n < b->nseg; n++)
			b->len += b->seg[n].len;
		if (b->len < l->need[i])
			return -EFAULT;
	}
	return 0;
}

/* Start a run. If that cannot be, the others hear of it. The lock is held. */
static int begin(struct goal_group *g, struct goal_loaded *l, const struct goal_run_attr *attr,
		 u64 wait_ns, struct goal_run **run)
{
	struct kernel_engine *k = kernel_engine(g->engine);
	struct kernel_run *r;
	int rc;

	if (l->engine != g->engine)
		return -EINVAL;
	r = run_get(k);
	if (!r) {
		kernel_group_lost(g);
		return -ENOMEM;
	}
	r->run.engine = g->engine;
	r->run.group = g;
	r->run.loaded = l;
	r->run.given_up = r->run.called = r->run.refused = false;
	r->run.done = attr->done;
	r->run.done_arg = attr->done_arg;
	r->run.over = 0;
	r->object = NULL;
	r->op_id = attr->op_id;
	r->start = attr->start;
	r->failed = false;
	r->refusal = 0;
	l->nactive++;
	kernel_group(g)->nactive++;
	k->e.active++;
	rc = g->status;
	if (!rc)
		rc = bind(r, kernel_loaded(l), attr);
	if (likely(!rc)) {
		/* Before its callback can be called, and give it up. */
		*run = &r->run;
		k->e.stats.runs++;
		rc = kernel_go(r, wait_ns);
		if (likely(!rc))
			return 0;
		k->e.stats.runs--;
		*run = NULL;
	}
	r->run.refused = true;
	r->run.given_up = true;
	r->run.done = NULL;
	r->failed = true;
	if (kernel_go(r, 0)) {
		kernel_over(k, r, rc, GOAL_OP_NONE);
		kernel_group_lost(g);
	}
	return rc;
}

int kernel_start(struct goal_group *g, struct goal_loaded *l, const struct goal_run_attr *attr,
		 struct goal_run **run)
{
	struct kernel_engine *k = kernel_of(g->engine);
	int rc;

	if (!k)
		return -ECHILD;
	host_lock(&k->e);
	rc = begin(g, l, attr, 0, run);
	host_unlock(&k->e);
	/* Among the ranks of a node it may be over by now. */
	kernel_progress(&k->e);
	return rc;
}

/* How long the start itself may wait. */
static u64 patience(const struct kernel_engine *k, bool spins, void (*idle)(void))
{
	if (spins)
		return 0;
	/* Others' callbacks, and Open MPI's progress, want their turn. */
	return idle || k->e.active ? k->e.attr.sleep_us * 1000ull : ESPGOAL_EVER;
}

int kernel_exec(struct goal_group *g, struct goal_loaded *l, const struct goal_run_attr *attr,
		void (*idle)(void))
{
	struct kernel_engine *k = kernel_of(g->engine);
	struct goal_run_attr a = *attr;
	struct goal_run *r;
	struct kernel_spin_look begun, over = { 0 };
	bool spins, measures;
	int rc;

	if (!k)
		return -ECHILD;
	a.done = NULL;
	host_lock(&k->e);
	if (unlikely(l->engine == g->engine &&
		     kernel_object_ahead(k, g, kernel_loaded(l), false))) {
		host_unlock(&k->e);
		kernel_wait_sent(k, g, kernel_loaded(l), idle);
		host_lock(&k->e);
	}
	spins = kernel_spin_on(k);
	measures = kernel_spin_measures(k);
	begun = over;
	if (unlikely(measures))
		kernel_spin_look(&begun);
	rc = begin(g, l, &a, patience(k, spins, idle), &r);
	host_unlock(&k->e);
	if (unlikely(rc)) {
		kernel_progress(&k->e);
		return rc;
	}
	rc = kernel_wait(k, r, -1, spins, idle);
	if (unlikely(measures))
		kernel_spin_look(&over);
	host_lock(&k->e);
	kernel_spin_waited(k, spins, over.at - begun.at, over.robbed - begun.robbed);
	kernel_run_put(kernel_run(r));
	host_unlock(&k->e);
	return rc;
}

int kernel_run_wait(struct goal_run *r, int timeout_ms)
{
	struct kernel_engine *k = kernel_of(r->engine);

	return k ? kernel_wait(k, r, timeout_ms, kernel_spin_on(k), NULL) : -ECHILD;
}

/* Its object is used again by a start, when the run was freed: that is as cheap. */
int kernel_restart(struct goal_run *r)
{
	return kernel_of(r->engine) ? -EBUSY : -ECHILD;
}

void kernel_run_cancel(struct goal_run *run)
{
	struct kernel_engine *k = kernel_of(run->engine);
	struct kernel_run *r = kernel_run(run);
	struct kernel_starting *s;
	struct espgoal_id id;

	if (!k)
		return;
	host_lock(&k->e);
	if (r->object) {
		id = (struct espgoal_id){ .id = r->object->id };
		/* While it is being started, the device would not know what is meant. */
		for (s = k->starting; s; s = s->next)
			s->cancel |= s->run == r;
		(void)kernel_device_request(k->fd, ESPGOAL_CANCEL, &id);
		kernel_reap(k);
	} else if (!run->over && !r->failed) {
		/* It has not even started; the others wait for it all the same. */
		r->failed = true;
		r->refusal = -ECANCELED;
	}
	host_unlock(&k->e);
	kernel_dispatch(k);
}

void kernel_run_free(struct goal_run *r)
{
	struct kernel_engine *k = kernel_of(r->engine);

	if (!k)
		return;
	host_lock(&k->e);
	if (r->over && !r->called)
		kernel_run_put(kernel_run(r));
	else
		r->given_up = true;
	host_unlock(&k->e);
}
