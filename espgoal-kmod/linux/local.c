// SPDX-License-Identifier: GPL-2.0-only
/*
 * Messages between ranks of this node: no frame is sent. One whose receive is posted is copied
 * once, from buffer to buffer. Others become messages of their sender's run: given to the
 * receiver's run, or parked here until that starts. The receiver must be a member with the very
 * same rank table, which only endpoints of one user and one namespace share, and have the rank
 * the table gives it.
 */
#include <linux/jhash.h>

#include "env_run.h"
#include "home.h"

/* A word that the core takes for a message: it cannot be the address of a struct esp_rx. */
static void *tag(struct kmsg *k)
{
	return (u8 *)k + 1;
}

static struct kmsg *untag(void *msg)
{
	return (unsigned long)msg & 1 ? (struct kmsg *)((u8 *)msg - 1) : NULL;
}

static struct list_head *early_head(struct knode *n, u64 nonce, u32 opid, u32 start)
{
	u32 h = jhash_3words((u32)nonce, opid, start, (u32)(nonce >> 32));

	return &n->early[h & (KHASH - 1)];
}

static const void *payload(const struct kmsg *k)
{
	const struct goal_op *o = &k->run->core.sched->op[k->op];

	return k->len <= k->run->ep->node->n.p.eager_max
		       ? (const void *)k->copy
		       : kpayload_at(k->run, o->src_buf, o->src_off);
}

static u64 cookie_of(const struct kmsg *k)
{
	const struct krun *r = k->run;

	return r->m->table->t.rank[r->core.sched->op[k->op].peer].cookie;
}

static void park(struct kmsg *k)
{
	struct krun *r = k->run;
	struct knode *n = r->ep->node;

	spin_lock(&n->early_lock);
	list_add_tail(&k->early, early_head(n, r->m->m.nonce, r->e.opid, r->e.start));
	k->parked = true;
	WRITE_ONCE(n->nparked, n->nparked + 1);
	spin_unlock(&n->early_lock);
}

/* True: it was parked, and is the caller's now. */
bool klocal_unpark(struct kmsg *k)
{
	struct knode *n = k->run->ep->node;
	bool was;

	spin_lock(&n->early_lock);
	was = k->parked;
	if (was) {
		list_del_init(&k->early);
		k->parked = false;
		WRITE_ONCE(n->nparked, n->nparked - 1);
	}
	spin_unlock(&n->early_lock);
	return was;
}

/* Bytes into the receive @op of @to. */
static int copy(struct krun *to, u32 op, const void *from, u64 len)
{
	const struct goal_op *o = &to->core.sched->op[op];

	if (len > o->len)
		return -EMSGSIZE;
	if (len)
		memcpy(kpayload_at(to, o->dst_buf, o->dst_off), from, len);
	kpayload_moved(to, len);
	kep_count(to->ep, KEP_C_bytes_received, len);
	to->core.rlen[o->slot] = len;
	return 0;
}

/* The receiver of what @r sends to @peer, with a reference; *@rc if there is none. */
static struct kmember *receiver(struct krun *r, u32 peer, int *rc)
{
	struct kmember *m = r->m, *to;
	struct knode *n = r->ep->node;
	u64 cookie = m->table->t.rank[peer].cookie;
	struct esp_member *em = env_member_find(&n->n, cookie, m->m.nonce);

	*rc = 0;
	if (!em) {
		switch (env_ep_state(&n->n, cookie)) {
		case ESP_EP_LEFT:
			knode_count(n, KNODE_C_local_gone);
			*rc = 1;
			break;
		case ESP_EP_GONE:
			*rc = -ECONNRESET;
			break;
		default:
			break;
		}
		return NULL;
	}
	to = kmember_of(em);
	if (to->table == m->table && to->m.rank == peer)
		return to;
	knode_count(n, KNODE_C_refused_local);
	kmember_put(to);
	*rc = -EACCES;
	return NULL;
}

/* Too late: the run is over there, or will never be. */
static bool too_late(struct kmember *to, const struct krun *r)
{
	u32 rank;

	return env_run_past(&to->m, r->e.opid, r->e.start) ||
	       esp_run_doomed(&to->m, r->e.opid, r->e.start, &rank);
}

/* The message to a run that has started. */
static void give(struct kmsg *k, struct krun *to)
{
	struct krun *r = k->run;
	const struct goal_op *o = &r->core.sched->op[k->op];
	int rc = core_message(&to->core, r->m->m.rank, o->tag, o->instance, tag(k));

	if (likely(!rc))
		return;
	if (rc == -ENOENT)
		env_run_cancel(&to->e, -EPROTO, r->m->m.rank);
	kmsg_end(k, 0);
}

/* What is parked goes to its run if that is there by now. */
static void retry(struct kmsg *k, u32 peer)
{
	struct krun *r = k->run;
	struct esp_run *er;
	struct kmember *to;
	int rc;

	to = receiver(r, peer, &rc);
	if (!to) {
		if (rc && klocal_unpark(k))
			kmsg_end(k, 0);
		return;
	}
	er = env_run_find(&to->m, r->e.opid, r->e.start);
	if (er) {
		if (klocal_unpark(k))
			give(k, krun_of_esp(er));
		env_run_put(er);
	} else if (too_late(to, r)) {
		if (klocal_unpark(k))
			kmsg_end(k, 0);
	}
	kmember_put(to);
}

/* A posted receive: one copy. -EAGAIN: it is not posted. */
static int direct(struct krun *r, const struct goal_op *o, u64 len, struct krun *to)
{
	s64 op = core_message_claim(&to->core, r->m->m.rank, o->tag, o->instance);
	int rc;

	if (unlikely(op < 0)) {
		if (op == -ENOENT)
			env_run_cancel(&to->e, -EPROTO, r->m->m.rank);
		return op == -EAGAIN ? -EAGAIN : CORE_DONE;
	}
	rc = copy(to, (u32)op, len ? kpayload_at(r, o->src_buf, o->src_off) : NULL, len);
	core_op_done_quiet(&to->core, (u32)op, rc);
	kgate_pump(to);
	kep_count(r->ep, KEP_C_messages_local, 1);
	return CORE_DONE;
}

int klocal_send(struct krun *r, u32 op, u64 len)
{
	const struct goal_op *o = &r->core.sched->op[op];
	struct kmember *to;
	struct esp_run *er = NULL;
	struct kmsg *k;
	bool eager, late = false;
	int rc;

	to = receiver(r, o->peer, &rc);
	if (!to && rc)
		return rc > 0 ? CORE_DONE : rc;
	rc = -EAGAIN;
	if (to) {
		er = env_run_find(&to->m, r->e.opid, r->e.start);
		if (er)
			rc = direct(r, o, len, krun_of_esp(er));
		else
			late = too_late(to, r);
		kmember_put(to);
	}
	if (rc != -EAGAIN || late) {
		if (er)
			env_run_put(er);
		return CORE_DONE;
	}
	kep_count(r->ep, KEP_C_messages_local_early, 1);
	k = kmsg_begin(r, op, len, true);
	eager = k->phase == KMSG_EAGER;
	if (er) {
		give(k, krun_of_esp(er));
		env_run_put(er);
	} else {
		park(k);
		/* It may have started in between, and looked before this was there. */
		retry(k, o->peer);
	}
	return eager ? CORE_DONE : kmsg_waits(k);
}

int klocal_deliver(struct krun *r, u32 op, struct kmsg *k)
{
	int rc = copy(r, op, payload(k), k->len);

	kmsg_end(k, 0);
	return rc;
}

/* @r can be found: what waits for it. */
void klocal_started(struct krun *r)
{
	struct knode *n = r->ep->node;
	struct kmember *m = r->m;
	struct list_head *head, mine;
	struct kmsg *k, *next;

	if (!READ_ONCE(n->nparked)) /* whoever parks now looks for the run behind that */
		return;
	head = early_head(n, m->m.nonce, r->e.opid, r->e.start);
	INIT_LIST_HEAD(&mine);
	spin_lock(&n->early_lock);
	list_for_each_entry_safe(k, next, head, early) {
		const struct krun *s = k->run;

		if (s->e.opid != r->e.opid || s->e.start != r->e.start || s->m->table != m->table ||
		    cookie_of(k) != r->ep->e.cookie)
			continue;
		k->parked = false;
		WRITE_ONCE(n->nparked, n->nparked - 1);
		list_move_tail(&k->early, &mine);
	}
	spin_unlock(&n->early_lock);
	list_for_each_entry_safe(k, next, &mine, early) {
		list_del_init(&k->early);
		give(k, r);
	}
}

/* What is parked for the endpoint @to, with @table if given, or comes from @from, is dropped. */
void klocal_forget(struct knode *n, const struct kep *to, const struct ktable *table,
		   const struct kep *from)
{
	struct list_head mine;
	struct kmsg *k, *next;
	u32 i;

	INIT_LIST_HEAD(&mine);
	spin_lock(&n->early_lock);
	for (i = 0; i < KHASH; i++)
		list_for_each_entry_safe(k, next, &n->early[i], early) {
			bool its = to && cookie_of(k) == to->e.cookie &&
				   (!table || k->run->m->table == table);

			if (!its && k->run->ep != from)
				continue;
			k->parked = false;
			WRITE_ONCE(n->nparked, n->nparked - 1);
			list_move_tail(&k->early, &mine);
		}
	spin_unlock(&n->early_lock);
	list_for_each_entry_safe(k, next, &mine, early) {
		list_del_init(&k->early);
		kmsg_end(k, 0);
	}
}

int env_deliver(struct core_run *cr, u32 op, void *msg)
{
	struct krun *r = krun_of(cr);
	struct kmsg *k = untag(msg);

	if (!k)
		return esp_deliver(&r->e, op, msg, know_here(r->ep->node));
	return klocal_deliver(r, op, k);
}

void env_msg_drop(struct core_run *cr, void *msg)
{
	struct kmsg *k = untag(msg);

	if (k)
		kmsg_end(k, 0);
	else
		esp_drop(msg, know_here(krun_of(cr)->ep->node));
}
