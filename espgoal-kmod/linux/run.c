// SPDX-License-Identifier: GPL-2.0-only
/*
 * Run objects: the memory of one run, made once. Their references, and the end of a run, which the
 * process sees in a word of the area.
 */
#include <linux/mm.h>
#include <linux/slab.h>

#include "env_run.h"
#include "home.h"
#include "trace.h"

static void free_run(struct rcu_head *rcu)
{
	struct krun *r = container_of(rcu, struct krun, rcu);
	struct ksched *s = r->sched;
	struct kep *e = r->ep;

	if (s->lay.area_bytes)
		karea_give(&e->area, r->area_at, s->lay.area_bytes);
	kep_uncharge(e, s->lay.run_bytes);
	kvfree(r);
	ksched_put(s);
	kep_put(e);
}

void krun_put(struct krun *r)
{
	if (refcount_dec_and_test(&r->refs))
		call_rcu(&r->rcu, free_run);
}

/* The last one that looked at the run as it was: it may be started anew. */
void krun_unuse(struct krun *r)
{
	struct kmember *m;
	u32 starts;

	if (!atomic_dec_and_test(&r->busy))
		return;
	starts = r->starts;
	m = r->m;
	atomic_set_release(&r->state, KRUN_IDLE);
	spin_lock_bh(&r->send_lock);
	/* It may have been started and ended again by now. */
	if (r->word && (s32)(starts - r->word->free) > 0)
		smp_store_release(&r->word->free, starts); /* with the process */
	spin_unlock_bh(&r->send_lock);
	kmember_put(m);
	krun_put(r);
}

void env_run_get(struct esp_run *r)
{
	atomic_inc(&krun_of_esp(r)->busy);
}

void env_run_put(struct esp_run *r)
{
	krun_unuse(krun_of_esp(r));
}

bool krun_active(const struct krun *r)
{
	int state = atomic_read_acquire(&r->state);

	return state == KRUN_STARTING || (state == KRUN_ACTIVE && !READ_ONCE(r->core.over));
}

static int free_id(struct kep *e, u32 *id)
{
	*id = (u32)find_next_zero_bit(e->run_used, e->nruns, e->next_run);
	if (*id >= e->nruns)
		*id = (u32)find_first_zero_bit(e->run_used, e->nruns);
	return *id < e->nruns ? 0 : -ENOSPC;
}

/* Under the endpoint's mutex. */
int krun_new(struct kep *e, struct espgoal_run *a)
{
	struct ksched *s = xa_load(&e->scheds, a->sched);
	struct krun *r;
	s64 area = 0;
	u32 id, b;
	int rc;

	if (!s)
		return -ENOENT;
	rc = free_id(e, &id);
	if (rc)
		return rc;
	rc = kep_charge(e, s->lay.run_bytes);
	if (rc)
		return rc;
	rc = -ENOMEM;
	r = kvzalloc(s->lay.run_bytes, GFP_KERNEL_ACCOUNT);
	if (!r)
		goto uncharge;
	if (s->lay.area_bytes) {
		area = karea_take(&e->area, s->lay.area_bytes);
		if (area < 0) {
			rc = (int)area;
			goto free_memory;
		}
	}
	spin_lock_init(&r->lock);
	spin_lock_init(&r->send_lock);
	refcount_set(&r->refs, 1);
	INIT_LIST_HEAD(&r->active);
	INIT_LIST_HEAD(&r->pump);
	INIT_HLIST_NODE(&r->by_name);
	r->sched = s;
	r->ep = e;
	r->id = id;
	r->area_at = (u32)area;
	r->e.run = &r->core;
	core_run_init(&r->core, &s->s, (u8 *)r + s->lay.arrays_at);
	request_bind(&r->core, &s->s, &s->lay, (u8 *)r, e->area.mem + r->area_at, r->seg);
	r->word = (struct espgoal_word *)(e->head + 1) + id;
	memset(r->word, 0, sizeof(*r->word));
	refcount_inc(&s->refs);
	s->nruns++;
	kep_get(e);
	__set_bit(id, e->run_used);
	e->next_run = id + 1;
	rcu_assign_pointer(e->run[id], r);

	a->id = id;
	for (b = 0; b < s->s.hdr->nbufs; b++)
		if (s->lay.buf[b] & ESPGOAL_BUF_OUT)
			a->off[b] = r->area_at + s->lay.buf_at[b];
	return 0;

free_memory:
	kvfree(r);
uncharge:
	kep_uncharge(e, s->lay.run_bytes);
	return rc;
}

/* Its id goes; the memory as soon as nothing uses it. Under the endpoint's mutex. */
void krun_drop(struct kep *e, struct krun *r)
{
	RCU_INIT_POINTER(e->run[r->id], NULL);
	__clear_bit(r->id, e->run_used);
	r->sched->nruns--;
	spin_lock_bh(&r->send_lock);
	r->word = NULL;
	spin_unlock_bh(&r->send_lock);
	krun_put(r);
}

int krun_free(struct kep *e, u32 id)
{
	struct krun *r;

	if (id >= e->nruns)
		return -ENOENT;
	r = rcu_dereference_protected(e->run[id], lockdep_is_held(&e->mutex));
	if (!r)
		return -ENOENT;
	if (krun_active(r))
		return -EBUSY;
	krun_drop(e, r);
	return 0;
}

struct krun *krun_by_id(struct kep *e, u32 id)
{
	struct krun *r;

	rcu_read_lock();
	r = krun_look(e, id);
	rcu_read_unlock();
	return r;
}

/*
 * What is under way of a failed run ends: long sends, then receptions. What is left after a part of
 * them has its turns as runs have; the run is not over before, since these are busy.
 */
void krun_end_parts(struct krun *r)
{
	struct knode *n = r->ep->node;

	if (!kmsg_give_up(r) && !esp_run_cancelled(&r->e, &r->failed_rx, know_here(n)))
		return;
	if (READ_ONCE(r->core.over))
		return;
	set_bit(KRUN_FAILED, &r->flags);
	kgate_pump(r);
}

void env_run_failed(struct core_run *cr)
{
	struct krun *r = krun_of(cr);

	r->failed_op = 0;
	r->failed_rx = 0;
	krun_end_parts(r);
}

/*
 * It ends at the outermost gate: the end of one run makes others fail, and with a rank for each
 * they would fill the stack.
 */
void env_run_cancel(struct esp_run *r, s32 status, u32 rank)
{
	core_cancel_quiet(r->run, status, rank);
	kgate_pump(krun_of_esp(r));
}

/* The process sees it: what it reads first is written last. */
static void tell(struct krun *r, s32 status, u32 rank)
{
	struct kep *e = r->ep;

	spin_lock(&r->send_lock);
	WRITE_ONCE(r->over, r->starts);
	if (r->word) {
		WRITE_ONCE(r->word->status, status);
		WRITE_ONCE(r->word->peer, rank);
		smp_store_release(&r->word->over, r->starts); /* with the process */
	}
	spin_unlock(&r->send_lock);
	spin_lock(&e->over_lock);
	WRITE_ONCE(e->over, e->over + 1);
	if (status)
		WRITE_ONCE(e->head->failed, e->head->failed + 1);
	smp_store_release(&e->head->over, e->over); /* with the process */
	spin_unlock(&e->over_lock);
	if (wq_has_sleeper(&e->file->wait))
		wake_up_all(&e->file->wait);
}

void env_run_done(struct core_run *cr)
{
	struct krun *r = krun_of(cr);
	struct kmember *m = r->m;
	s32 status = cr->status;
	u32 rank = cr->err_peer;

	trace_espgoal_run_done(r, status);
	kmember_over(m, r);
	kep_count(r->ep, status ? KEP_C_runs_failed : KEP_C_runs_good, 1);
	tell(r, status, rank);
	if (status)
		esp_run_abort(&r->e, status, rank, know_here(r->ep->node));
	krun_unuse(r);
}
