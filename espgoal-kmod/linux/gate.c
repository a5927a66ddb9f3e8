// SPDX-License-Identifier: GPL-2.0-only
/*
 * The gate through which everything enters the core: one CPU is in it once, with bottom halves off.
 * Nested entries only deepen the batch. When the outermost one is through, runs that became able
 * to go on have their turns, each for a while, and what they had to send leaves in common frames.
 * An entry that has used up its budget leaves the rest to a bottom half that comes soon.
 */
#include "esp_batch.h"
#include "home.h"

#define TURN 16 /* operations of one run in a row, when others wait */

/* Read the time, unless little has been done since that was done last. */
static void look_at_clock(struct kgate *g)
{
	if (g->ops_then - g->ops <= 4 && g->bytes_then - g->bytes <= 2048)
		return;
	g->now = know();
	g->ops_then = g->ops;
	g->bytes_then = g->bytes;
}

static void budget(struct kgate *g)
{
	g->ops = (s32)kparam_budget_ops;
	g->turn = TURN;
	g->again = false;
	g->bytes = (s32)kparam_budget_bytes;
	g->ops_then = g->ops;
	g->bytes_then = g->bytes;
}

void kgate_enter_bh(struct knode *n)
{
	struct kgate *g = kgate_here(n);

	if (!g->batch.depth) {
		g->flow = NULL;
		g->now = know();
		budget(g);
	}
	g->batch.depth++;
}

void kgate_enter(struct knode *n)
{
	local_bh_disable();
	rcu_read_lock();
	__release(RCU); /* for sparse: kgate_leave() ends it */
	kgate_enter_bh(n);
}

static bool idle(const struct kgate *g)
{
	return list_empty(&g->pump) && likely(list_empty(&g->fail));
}

/* Some runs of a member that has failed. */
static void fail_some(struct kgate *g)
{
	struct kmember *m = list_first_entry(&g->fail, struct kmember, failing);

	list_del_init(&m->failing);
	if (kmember_fail_part(m)) {
		list_add_tail(&m->failing, &g->fail);
		return;
	}
	clear_bit_unlock(KMEMBER_FAILS, &m->flags);
	kmember_put(m);
}

/* Runs in turn, until none is left or the budget is used up. */
static void pump(struct kgate *g)
{
	while (!idle(g) && g->ops > 0 && g->bytes > 0 && !g->again) {
		struct krun *r;

		look_at_clock(g);
		if (unlikely(!list_empty(&g->fail)))
			fail_some(g);
		r = list_first_entry_or_null(&g->pump, struct krun, pump);
		if (unlikely(!r))
			continue;
		list_del_init(&r->pump);
		/* Whoever sets RESUME and finds PUMP set relies on this order. */
		clear_bit_unlock(KRUN_PUMP, &r->flags);
		smp_mb__after_atomic(); /* with env_run_later() */
		g->turn = TURN;
		g->ops--; /* ends have their price, too */
		if (unlikely(READ_ONCE(r->looking)))
			klocal_more(r);
		if (unlikely(test_bit(KRUN_FAILED, &r->flags)) &&
		    test_and_clear_bit(KRUN_FAILED, &r->flags))
			krun_end_parts(r);
		if (test_and_clear_bit(KRUN_RESUME, &r->flags))
			core_resume(&r->core);
		else
			core_pump(&r->core);
		if (unlikely(READ_ONCE(r->looking)))
			kgate_pump(r);
		krun_unuse(r);
	}
}

void kgate_leave_bh(struct knode *n)
{
	struct kgate *g = kgate_here(n);
	bool outermost = g->batch.depth == 1;

	for (;;) {
		if (outermost)
			pump(g);
		look_at_clock(g);
		esp_batch_leave(&n->n, g->now);
		/* What was sent may have ended messages that runs were waiting for. */
		if (!outermost || idle(g))
			break;
		if (g->ops <= 0 || g->bytes <= 0 || g->again) {
			g->again = false;
			knode_count(n, KNODE_C_runs_resumed);
			kbh_schedule(&g->bh);
			break;
		}
		g->batch.depth++;
	}
	while (unlikely(outermost && g->arm)) {
		struct kflow *f = g->arm;

		g->arm = f->arm_next;
		kflow_arm(f);
	}
	if (outermost)
		g->flow = NULL; /* what is counted outside is nobody's */
}

void kgate_leave(struct knode *n)
{
	kgate_leave_bh(n);
	__acquire(RCU);
	rcu_read_unlock();
	local_bh_enable();
}

/* @r can go on: at this CPU's outermost gate. */
void kgate_pump(struct krun *r)
{
	struct kgate *g = kgate_here(r->ep->node);

	/* It may have been resumed elsewhere, and have come to its end. */
	if (!krun_use(r))
		return;
	if (test_and_set_bit(KRUN_PUMP, &r->flags)) {
		krun_unuse(r);
		return;
	}
	list_add_tail(&r->pump, &g->pump);
}

/* The runs of @m, which has failed, are cancelled: some at this CPU's outermost gate, others later. */
void kgate_fail(struct kmember *m)
{
	/* Those that start from here on know by themselves. */
	if (test_and_set_bit(KMEMBER_FAILS, &m->flags))
		return;
	refcount_inc(&m->refs);
	list_add_tail(&m->failing, &kgate_here(m->ep->node)->fail);
}

static kbh_callback(later)
{
	struct kgate *g = kbh_container(struct kgate, bh);
	struct knode *n = g->node;

	kgate_enter(n);
	/* The CPU whose gate this is may have gone; its lists are nobody's then. */
	if (unlikely(g != kgate_here(n))) {
		list_splice_tail_init(&g->pump, &kgate_here(n)->pump);
		list_splice_tail_init(&g->fail, &kgate_here(n)->fail);
	}
	kgate_leave(n);
}

void kgate_init(struct knode *n)
{
	int cpu;

	for_each_possible_cpu(cpu) {
		struct kgate *g = per_cpu_ptr(n->gate, cpu);

		memset(g, 0, sizeof(*g));
		g->node = n;
		INIT_LIST_HEAD(&g->pump);
		INIT_LIST_HEAD(&g->fail);
		kbh_init(&g->bh, later);
	}
}

/* No endpoint and no run is left. */
void kgate_stop(struct knode *n)
{
	int cpu;

	for_each_possible_cpu(cpu)
		kbh_stop(&per_cpu_ptr(n->gate, cpu)->bh);
}
