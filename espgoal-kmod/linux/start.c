// SPDX-License-Identifier: GPL-2.0-only
/*
 * Starts. A start claims the run object, copies payload in while nobody else knows of the
 * run, and lets the core go as far as it can.
 */
#include <linux/slab.h>

#include "home.h"
#include "request_start.h"
#include "trace.h"

static noinline int copy_far(struct krun *r, const struct espgoal_start *a)
{
	const struct ksched *s = r->sched;
	struct espgoal_seg *seg;
	int rc;

	seg = kvmalloc_array(a->nsegs, sizeof(*seg), GFP_KERNEL_ACCOUNT);
	if (!seg)
		return -ENOMEM;
	rc = request_start_segs(a, seg);
	if (!rc)
		rc = request_start_read(seg, a->nsegs, &s->s, &s->lay, r->seg);
	kvfree(seg);
	return rc;
}

/* Not inline: those that bring nothing along would save and restore registers for it. */
static noinline int copy_in(struct krun *r, const struct espgoal_start *a)
{
	const struct ksched *s = r->sched;

	if (unlikely(request_start_far(a)))
		return copy_far(r, a);
	return request_start_read(a->seg, a->nsegs, &s->s, &s->lay, r->seg);
}

/* Payload is in place: from here on the run is in the open. */
static int go(struct krun *r, struct kmember *m, const struct espgoal_start *a)
{
	struct knode *n = r->ep->node;
	u32 rank;
	s32 status;
	int rc;

	r->m = m;
	r->e.m = &m->m;
	r->e.opid = a->op_id;
	r->e.start = a->start;
	r->e.refused = false;
	core_run_reset(&r->core);

	kgate_enter(n);
	rc = kmember_enter(m, r);
	if (rc) {
		kgate_leave(n);
		return rc;
	}
	kep_count(r->ep, KEP_C_starts, 1);
	trace_espgoal_start(r, 0);
	status = READ_ONCE(m->failed);
	rank = READ_ONCE(m->failed_rank);
	if (!status && unlikely(READ_ONCE(m->m.failed) || READ_ONCE(m->m.tombs)))
		status = esp_run_doomed(&m->m, a->op_id, a->start, &rank);
	if (!status && a->flags & ESPGOAL_START_FAILED) {
		status = -ECANCELED;
		rank = m->m.rank;
	}
	if (unlikely(status))
		core_cancel(&r->core, status, rank);
	esp_run_started(&r->e, know_here(n));
	klocal_started(r);
	core_start(&r->core);
	kgate_leave(n);
	return 0;
}

int krun_start(struct kep *e, const struct espgoal_start *a)
{
	struct kmember *m;
	struct krun *r;
	u32 starts;
	int rc = request_start_check(a);

	if (rc)
		return rc;
	rcu_read_lock();
	r = krun_look(e, a->run);
	m = kmember_look(e, a->group);
	rcu_read_unlock();
	if (!r) {
		rc = -ENOENT;
		goto put_any_member;
	}
	rc = -EBUSY;
	if (atomic_cmpxchg(&r->state, KRUN_IDLE, KRUN_STARTING) != KRUN_IDLE)
		goto put_run;
	rc = -ENOENT;
	if (!m)
		goto idle;
	rc = -EINVAL;
	if (!request_start_fits(&r->sched->s, m->m.rank, m->m.table->nranks))
		goto idle;
	if (request_start_reads(a, &r->sched->lay)) {
		rc = copy_in(r, a);
		if (rc)
			goto idle;
	}
	starts = r->starts + 1;
	rc = go(r, m, a);
	if (rc)
		goto idle;
	if (a->flags & ESPGOAL_START_WAIT)
		kwait_started(r, starts, a->timeout);
	krun_put(r);
	return 0;

idle:
	atomic_set_release(&r->state, KRUN_IDLE);
put_run:
	krun_put(r);
put_any_member:
	if (m)
		kmember_put(m);
	return rc;
}
