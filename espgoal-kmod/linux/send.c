// SPDX-License-Identifier: GPL-2.0-only
/*
 * Sends of a run, and their messages, which live in the run's memory. Short payload is copied into
 * the message, so that the operation is over at once; the memory stays until the message is
 * accepted.
 */
#include "env_run.h"
#include "home.h"
#include "trace.h"

/* In one part. */
#define LOOKS 2048 /* operations looked at */
#define ENDS  32   /* messages ended */

static struct kmsg *msg_of(struct krun *r, u32 op)
{
	return (struct kmsg *)((u8 *)r + r->sched->lay.msgs_at + r->sched->lay.msg_at[op]);
}

/* The message of send @op; it holds the run until kmsg_end(). */
struct kmsg *kmsg_begin(struct krun *r, u32 op, u64 len, bool local)
{
	const struct goal_op *o = &r->core.sched->op[op];
	struct kmsg *k = msg_of(r, op);
	bool eager = len <= r->ep->node->n.p.eager_max;

	k->run = r;
	k->op = op;
	k->len = (u32)len;
	k->local = local;
	k->parked = false;
	k->at = NULL;
	k->phase = eager ? KMSG_EAGER : KMSG_SENDING;
	k->early.mark = false;
	INIT_LIST_HEAD(&k->early.in);
	INIT_LIST_HEAD(&k->mine);
	if (eager && len) {
		memcpy(k->copy, kpayload_at(r, o->src_buf, o->src_off), len);
		kpayload_moved(r, len);
	}
	atomic_inc(&r->busy);
	return k;
}

/*
 * A message whose operation is over long since will not get there, and whoever waits for it
 * would do so for ever: the group has failed. Its runs only note that here, and end in their
 * turn.
 */
static void lost(struct krun *r, u32 op, s32 status)
{
	esp_member_fail(&r->m->m, status, r->core.sched->op[op].peer, know_here(r->ep->node));
}

/* The receiver has it, or it was given up. */
void kmsg_end(struct kmsg *k, s32 status)
{
	struct krun *r = k->run;
	u8 phase = READ_ONCE(k->phase);

	/* What is short stays in that phase, and nobody else is about it. */
	if (likely(phase == KMSG_EAGER)) {
		WRITE_ONCE(k->phase, KMSG_FREE);
	} else {
		spin_lock(&r->send_lock);
		phase = k->phase;
		k->phase = KMSG_FREE;
		spin_unlock(&r->send_lock);
	}
	if (phase != KMSG_EAGER && phase != KMSG_ORPHAN) {
		core_op_done_quiet(&r->core, k->op, status);
		kgate_pump(r);
	} else if (unlikely(status) && phase == KMSG_EAGER && status != -ECANCELED &&
		   status != -ESHUTDOWN) {
		lost(r, k->op, status);
	}
	krun_unuse(r);
}

/* Long messages of a run that has failed. */
static void give_up(struct kmsg *k)
{
	struct krun *r = k->run;
	struct esp_flow *f = NULL;
	bool mine, local;

	spin_lock(&r->send_lock);
	mine = k->phase == KMSG_LONG;
	local = k->local;
	if (mine) {
		k->phase = local ? KMSG_ORPHAN : KMSG_GIVEN_UP;
		if (!local) {
			/* The message's own reference lasts until kmsg_end(). */
			f = k->m.flow;
			env_flow_get(f);
		}
	}
	spin_unlock(&r->send_lock);
	if (!mine)
		return;
	if (!local) {
		esp_send_cancel(&k->m, know_here(r->ep->node));
		env_flow_put(f);
		return;
	}
	core_op_done_quiet(&r->core, k->op, -ECANCELED);
	kgate_pump(r);
	if (klocal_unpark(k))
		kmsg_end(k, -ECANCELED);
}

/*
 * A part of what a failed run has under way ends: true if there may be more. All of the largest
 * schedule that is taken by default, 60,000 sends, would take 20 ms, in softirq.
 */
bool kmsg_give_up(struct krun *r)
{
	const struct core_sched *s = r->core.sched;
	u32 looked, ended = 0;

	for (looked = 0; r->failed_op < s->hdr->nops && looked < LOOKS && ended < ENDS; looked++) {
		u32 i = r->failed_op++;

		if (s->op[i].code != GOAL_OP_SEND || READ_ONCE(msg_of(r, i)->phase) != KMSG_LONG)
			continue;
		give_up(msg_of(r, i));
		ended++;
	}
	kgate_here(r->ep->node)->ops -= (s32)(1 + looked / 128 + ended);
	return r->failed_op < s->hdr->nops;
}

/* What is long waits in the core now, unless it has ended or its run has failed meanwhile. */
int kmsg_waits(struct kmsg *k)
{
	struct krun *r = k->run;
	bool waits;

	spin_lock(&r->send_lock);
	waits = k->phase == KMSG_SENDING;
	if (waits)
		k->phase = KMSG_LONG;
	spin_unlock(&r->send_lock);
	if (waits && READ_ONCE(r->core.dead))
		give_up(k);
	return CORE_PENDING;
}

int env_send(struct core_run *cr, u32 op)
{
	struct krun *r = krun_of(cr);
	struct kmember *m = r->m;
	const struct goal_op *o = &cr->sched->op[op];
	const struct esp_table *t = m->m.table;
	const struct esp_rank *to = &t->rank[o->peer];
	struct knode *n = r->ep->node;
	u64 len = core_op_bytes(cr, o);
	struct kmsg *k;
	bool eager;
	int rc;

	kep_count(r->ep, KEP_C_bytes_sent, len);
	if (to->peer == m->table->local)
		return klocal_send(r, op, len);
	k = kmsg_begin(r, op, len, false);
	eager = k->phase == KMSG_EAGER;
	k->m.key.nonce = m->m.nonce;
	k->m.key.cookie = to->cookie;
	k->m.key.opid = r->e.opid;
	k->m.key.start = r->e.start;
	k->m.key.src = m->m.rank;
	k->m.key.tag = o->tag;
	k->m.key.instance = o->instance;
	k->m.ep = &r->ep->e;
	k->m.ref = k;
	k->m.len = len;
	kep_count(r->ep, KEP_C_messages_remote, 1);
	rc = esp_send(&n->n, &k->m, &t->peer[to->peer], know_here(n));
	if (likely(!rc))
		return eager ? CORE_DONE : kmsg_waits(k);
	k->phase = KMSG_FREE;
	krun_unuse(r);
	return rc;
}

void env_sent(struct esp_msg *m, s32 status)
{
	kmsg_end((struct kmsg *)m, status);
}
