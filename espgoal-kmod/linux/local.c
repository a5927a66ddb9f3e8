// SPDX-License-Identifier: GPL-2.0-only
/*
 * Messages between ranks of this node: no frame is sent. One whose receive is posted is copied
 * once, from buffer to buffer. Others become messages of their sender's run: given to the
 * receiver's run, or parked at its endpoint until that starts. The receiver must be a member with
 * the very same rank table, which only endpoints of one user and one namespace share, and have the
 * rank the table gives it.
 *
 * How many may be parked has no limit of its own, since a sender that had to wait for one could
 * wait in a circle: with the message of another group that its receiver starts first. Each is in the
 * memory of a run object, which its user is charged for. But only endpoints of the same user park
 * at an endpoint, and whoever looks for what is parked there goes through a list in parts, of which
 * none takes long: so nobody waits for another user's messages.
 */
#include <linux/jhash.h>

#include "env_run.h"
#include "home.h"

/* In one part. */
#define LOOKS 64 /* messages looked at */
#define TAKES 16 /* messages given to their run, or dropped */

/* A word that the core takes for a message: it cannot be the address of a struct esp_rx. */
static void *tag(struct kmsg *k)
{
	return (u8 *)k + 1;
}

static struct kmsg *untag(void *msg)
{
	return (unsigned long)msg & 1 ? (struct kmsg *)((u8 *)msg - 1) : NULL;
}

static struct list_head *early_head(struct kep *e, u64 nonce, u32 opid, u32 start)
{
	u32 h = jhash_3words((u32)nonce, opid, start, (u32)(nonce >> 32));

	return &e->early[h % KEARLY];
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

/* False: there is no endpoint any more where it could wait. */
static bool park(struct kmsg *k)
{
	struct krun *r = k->run;
	struct kep *from = r->ep, *to = kep_by_cookie(from->node, cookie_of(k));
	bool open;

	if (!to)
		return false;
	k->at = to;
	spin_lock(&to->early_lock);
	open = !to->early_closed;
	if (open) {
		list_add_tail(&k->early.in, early_head(to, r->m->m.nonce, r->e.opid, r->e.start));
		k->parked = true;
		WRITE_ONCE(to->nearly, to->nearly + 1);
		spin_lock(&from->parked_lock);
		list_add_tail(&k->mine, &from->parked);
		spin_unlock(&from->parked_lock);
	}
	spin_unlock(&to->early_lock);
	return open;
}

/* Under early_lock: it is the caller's now. */
static void unpark(struct kmsg *k)
{
	struct kep *from = k->run->ep;

	list_del_init(&k->early.in);
	k->parked = false;
	WRITE_ONCE(k->at->nearly, k->at->nearly - 1);
	spin_lock(&from->parked_lock);
	list_del_init(&k->mine);
	spin_unlock(&from->parked_lock);
}

/* True: it was parked, and is the caller's now. */
bool klocal_unpark(struct kmsg *k)
{
	struct kep *at = k->at; /* in a gate, so it is not freed */
	bool was;

	if (!at)
		return false;
	spin_lock(&at->early_lock);
	was = k->parked;
	if (was)
		unpark(k);
	spin_unlock(&at->early_lock);
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

/* No such member: 0 if it may still come; 1: it has left, nothing is to be done. Or -errno. */
static int nobody(const struct krun *r, u64 cookie)
{
	struct knode *n = r->ep->node;
	const struct kep *e;

	switch (env_ep_state(&n->n, cookie)) {
	case ESP_EP_LEFT:
		knode_count(n, KNODE_C_local_gone);
		return 1;
	case ESP_EP_GONE:
		return -ECONNRESET;
	default:
		break;
	}
	e = kep_by_cookie(n, cookie);
	if (!e || e->user == r->ep->user)
		return 0;
	knode_count(n, KNODE_C_refused_local);
	return -EACCES; /* it never has this table */
}

/* The receiver of what @r sends to @peer, with a reference; *@rc if there is none. */
static struct kmember *receiver(struct krun *r, u32 peer, int *rc)
{
	struct kmember *m = r->m, *to;
	struct knode *n = r->ep->node;
	u64 cookie = m->table->t.rank[peer].cookie;
	struct esp_member *em = env_member_find(&n->n, cookie, m->m.nonce);

	if (!em) {
		*rc = nobody(r, cookie);
		return NULL;
	}
	*rc = 0;
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
			kmsg_end(k, rc < 0 ? rc : 0);
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
	} else if (likely(park(k))) {
		smp_mb(); /* either it sees that, or we see it */
		/* It may have started in between, and looked before this was there. */
		retry(k, o->peer);
	} else {
		rc = nobody(r, cookie_of(k));
		kmsg_end(k, rc < 0 ? rc : 0);
	}
	return eager ? CORE_DONE : kmsg_waits(k);
}

int klocal_deliver(struct krun *r, u32 op, struct kmsg *k)
{
	int rc = copy(r, op, payload(k), k->len);

	kmsg_end(k, 0);
	return rc;
}

/* Entries from @at on, up to LOOKS: those that are for @r go to @mine. Where the next part begins. */
static struct list_head *search(struct krun *r, struct list_head *at, const struct list_head *head,
				struct list_head *mine)
{
	struct list_head *next;
	u32 looked, taken = 0;

	for (looked = 0; at != head && looked < LOOKS && taken < TAKES; looked++, at = next) {
		struct kmsg *k = container_of(at, struct kmsg, early.in);

		next = at->next;
		if (k->early.mark || k->run->e.opid != r->e.opid || k->run->e.start != r->e.start ||
		    k->run->m->table != r->m->table)
			continue;
		unpark(k);
		list_add_tail(&k->early.in, mine);
		taken++;
	}
	kgate_here(r->ep->node)->ops -= (s32)(1 + looked / 8 + taken);
	return at;
}

/* Two CPUs may come here: each takes a part. */
void klocal_more(struct krun *r)
{
	struct kep *e = r->ep;
	struct list_head *head = early_head(e, r->m->m.nonce, r->e.opid, r->e.start);
	struct list_head *at, mine;
	struct kmsg *k, *next;

	INIT_LIST_HEAD(&mine);
	spin_lock(&e->early_lock);
	if (r->looking) {
		at = search(r, r->look.in.next, head, &mine);
		list_move_tail(&r->look.in, at);
		if (at == head) { /* what comes from here on looks for the run itself */
			list_del_init(&r->look.in);
			WRITE_ONCE(r->looking, false);
		}
	}
	spin_unlock(&e->early_lock);
	list_for_each_entry_safe(k, next, &mine, early.in) {
		list_del_init(&k->early.in);
		give(k, r);
	}
}

/* @r can be found: what waits for it. A part at once, what is left in the turns of the run. */
void klocal_started(struct krun *r)
{
	struct kep *e = r->ep;

	if (!READ_ONCE(e->nearly)) /* whoever parks now looks for the run behind that */
		return;
	r->look.mark = true;
	spin_lock(&e->early_lock);
	list_add(&r->look.in, early_head(e, r->m->m.nonce, r->e.opid, r->e.start));
	WRITE_ONCE(r->looking, true);
	spin_unlock(&e->early_lock);
	klocal_more(r);
	if (READ_ONCE(r->looking))
		kgate_pump(r);
}

/* A part of what klocal_forget() is to do, from @at on. False: there is no more in the list. */
static bool forget(struct kep *e, struct kearly *at, const struct list_head *head,
		   const struct ktable *table)
{
	s32 status = READ_ONCE(e->state) == KEP_GONE ? -ECONNRESET : 0;
	struct list_head mine, *l, *next;
	struct kmsg *k, *n;
	u32 looked = 0;

	INIT_LIST_HEAD(&mine);
	kgate_enter(e->node);
	spin_lock(&e->early_lock);
	for (l = at->in.next; l != head && looked < LOOKS; looked++, l = next) {
		next = l->next;
		k = container_of(l, struct kmsg, early.in);
		if (k->early.mark || (table && k->run->m->table != table))
			continue;
		unpark(k);
		list_add_tail(&k->early.in, &mine);
	}
	list_move_tail(&at->in, l);
	if (l == head)
		list_del_init(&at->in);
	spin_unlock(&e->early_lock);
	list_for_each_entry_safe(k, n, &mine, early.in) {
		list_del_init(&k->early.in);
		kmsg_end(k, status);
	}
	kgate_leave(e->node);
	cond_resched();
	return l != head;
}

void klocal_forget(struct kep *e, const struct ktable *table)
{
	struct kearly at = { .mark = true };
	u32 i;

	spin_lock_bh(&e->early_lock);
	if (!table)
		e->early_closed = true;
	spin_unlock_bh(&e->early_lock);
	for (i = 0; i < KEARLY && READ_ONCE(e->nearly); i++) {
		spin_lock_bh(&e->early_lock);
		list_add(&at.in, &e->early[i]);
		spin_unlock_bh(&e->early_lock);
		while (forget(e, &at, &e->early[i], table))
			;
	}
}

/* One of them, with a use of its run; NULL: there is none. */
static struct kmsg *first_parked(struct kep *e)
{
	struct kmsg *k;

	spin_lock(&e->parked_lock);
	k = list_first_entry_or_null(&e->parked, struct kmsg, mine);
	if (k && WARN_ON_ONCE(!krun_use(k->run))) /* it has a use of its own */
		k = NULL;
	spin_unlock(&e->parked_lock);
	return k;
}

void klocal_take_back(struct kep *e)
{
	struct kmsg *k;
	u32 i;

	do {
		kgate_enter(e->node);
		for (i = 0; i < LOOKS && (k = first_parked(e)) != NULL; i++) {
			struct krun *r = k->run;

			if (klocal_unpark(k))
				kmsg_end(k, 0);
			krun_unuse(r);
		}
		kgate_leave(e->node);
		cond_resched();
	} while (k);
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
