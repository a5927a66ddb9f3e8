// SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause
/*
 * Refusals and what ends them: the notes that become READY when a run starts or posts a receive.
 * Part of the pump, called by pump_take.c for messages that find no place, and by homes for
 * runs. The records are esp_wait.c's.
 */
#include "esp_int.h"

/* @c, which nothing leads to any more, is said: for its run, or for all of its group. */
static void say_ready(struct esp_flow *f, struct esp_ctl *c, u64 now)
{
	c->group = c->kind == ESP_CTL_AHEAD;
	c->kind = ESP_CTL_READY;
	esp_say(f, c, now);
}

/*
 * The record that stands for @k: of its run, which is here, or of all those of its group that
 * are not.
 */
static void wait_key(struct esp_key *w, const struct esp_key *k, u8 kind)
{
	memset(w, 0, sizeof(*w));
	w->nonce = k->nonce;
	w->cookie = k->cookie;
	if (kind == ESP_CTL_WAIT) {
		w->opid = k->opid;
		w->start = k->start;
	}
}

/*
 * A refusal is about to be noted: find or make the record that becomes READY. What it waits for
 * may come at any moment from here on, so the caller looks once more, and says when it is done
 * (esp_refusal_end()).
 */
struct esp_ctl *esp_refusal_begin(struct esp_flow *f, const struct esp_key *k, u8 kind, u32 renewed)
{
	struct esp_node *n = f->node;
	struct esp_ctl *spare = env_ctl_get(n, k->cookie), *c;
	u64 number = esp_run_number(k);
	struct esp_member *m;
	struct esp_run *r;
	struct esp_key w;

	wait_key(&w, k, kind);
	if (spare)
		esp_ctl_init(spare);
	env_node_lock(n);
	c = esp_wait_find(n, f, &w, kind);
	if (!c && spare && f->nwaits < n->p.refuse_max) {
		c = spare;
		spare = NULL;
		c->renewed = renewed;
		c->from = number;
		c->upto = number;
		esp_wait_insert(n, f, c, &w, kind);
	}
	if (c) {
		c->adding++;
		c->from = esp_min(c->from, number);
		c->upto = esp_max(c->upto, number);
		if (esp_before(c->renewed, renewed))
			c->renewed = renewed;
	}
	env_node_unlock(n);
	if (spare)
		env_ctl_put(n, spare);
	if (!c || kind != ESP_CTL_WAIT)
		return c;
	m = env_member_find(n, k->cookie, k->nonce);
	r = m ? env_run_find(m, k->opid, k->start) : NULL;
	if (r) {
		r->refused = true;
		env_run_put(r);
	}
	if (m)
		env_member_put(m);
	return c;
}

/* @noted: the refusal is among those that every acknowledgement repeats. */
void esp_refusal_end(struct esp_flow *f, struct esp_ctl *c, bool noted, u64 now)
{
	struct esp_node *n = f->node;
	bool ready = false, gone = false;

	env_node_lock(n);
	c->held += noted;
	if (--c->adding == 0) {
		gone = c->gone || !c->held;
		ready = !gone && c->fired;
		if (!c->gone && (gone || ready))
			esp_wait_remove(c);
	}
	env_node_unlock(n);
	if (ready)
		say_ready(f, c, now);
	else if (gone)
		env_ctl_put(n, c);
}

/* What was refused by run @k and comes in by @f goes: READY to its sender. */
static void release_waits(struct esp_flow *f, const struct esp_key *k, u64 now)
{
	struct esp_node *n = f->node;
	struct esp_ctl *c;

	env_node_lock(n);
	c = esp_wait_find(n, f, k, ESP_CTL_WAIT);
	if (c && c->adding) {
		c->fired = true;
		c = NULL;
	}
	if (c)
		esp_wait_remove(c);
	env_node_unlock(n);
	if (c)
		say_ready(f, c, now);
}

/* READY for the run @k alone, for which @c stands among others; @c if there is no memory. */
static void ready_one(struct esp_ctl *c, const struct esp_key *k, u64 now)
{
	struct esp_ctl *one = env_ctl_get(c->flow->node, k->cookie);
	struct esp_flow *f = c->flow;

	if (one) {
		esp_ctl_init(one);
		one->kind = ESP_CTL_READY;
		one->flow = f;
		one->key = *k;
		esp_say(f, one, now);
	} else {
		env_node_lock(f->node);
		c->fired = true;
		env_node_unlock(f->node);
	}
	esp_refusal_end(f, c, false, now);
}

/*
 * Run @k is here: READY to all who were refused ahead of it. When it is the last run a record
 * stands for, that ends, with a READY for all of the group: runs may have started out of order,
 * and what is still ahead of its run is refused again. The work is proportional to the flows
 * that READY goes to.
 */
static void release_ahead(struct esp_node *n, const struct esp_key *k, u64 now)
{
	u64 number = esp_run_number(k);
	struct esp_link some, last;
	struct esp_ctl *c, *next;
	struct esp_key w;

	esp_link_init(&some);
	esp_link_init(&last);
	wait_key(&w, k, ESP_CTL_AHEAD);
	env_node_lock(n);
	for (c = esp_wait_next(n, NULL, &w, ESP_CTL_AHEAD); c; c = next) {
		next = esp_wait_next(n, c, &w, ESP_CTL_AHEAD);
		if (number < c->from || number > c->upto)
			continue;
		if (c->adding) {
			c->fired = true;
			continue;
		}
		env_flow_get(c->flow);
		if (number == c->upto) {
			esp_wait_remove(c);
			esp_append(&last, &c->link);
		} else {
			c->adding++;
			esp_append(&some, &c->link);
		}
	}
	env_node_unlock(n);
	esp_batch_enter(n);
	while (esp_linked(&some) || esp_linked(&last)) {
		struct esp_link *l = esp_linked(&last) ? last.next : some.next;
		bool all = esp_linked(&last);
		struct esp_flow *f;

		c = esp_entry(l, struct esp_ctl, link);
		f = c->flow;
		esp_unlink(l);
		if (all)
			say_ready(f, c, now);
		else
			ready_one(c, k, now);
		env_flow_put(f);
	}
	esp_batch_leave(n, now);
}

static void run_key(const struct esp_run *r, struct esp_key *k)
{
	memset(k, 0, sizeof(*k));
	k->nonce = r->m->nonce;
	k->cookie = r->m->ep->cookie;
	k->opid = r->opid;
	k->start = r->start;
}

void esp_run_started(struct esp_run *r, u64 now)
{
	struct esp_node *n = r->m->ep->node;
	struct esp_key k, w;

	r->started = now;
	r->watched = r->m->watched - 1;
	/* The run can be found: who notes a refusal from now on looks for it after that. */
	if (likely(!ESP_PEEK(n->nwaits)))
		return;
	run_key(r, &k);
	wait_key(&w, &k, ESP_CTL_AHEAD);
	if (esp_wait_any(n, &w))
		release_ahead(n, &k, now);
}

void esp_run_posted(struct esp_run *r, u32 op, u64 now)
{
	struct esp_node *n = r->m->ep->node;
	const struct esp_table *tab = r->m->table;
	struct esp_flow *f;
	struct esp_key k;

	if (!r->refused)
		return;
	f = env_flow_by_peer(n, tab->peer[tab->rank[r->run->sched->op[op].peer].peer].node);
	if (!f)
		return;
	run_key(r, &k);
	release_waits(f, &k, now);
	env_flow_put(f);
}
