// SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause
/*
 * Refusals and what ends them: the notes that become READY when a run starts or posts a receive.
 * Part of the pump, called by pump_take.c for messages that find no place, and by homes for
 * runs. The records are esp_wait.c's.
 */
#include "esp_int.h"

/* @c, which nothing leads to any more, is said: for its run, or up to the last one it stands for. */
static void say_ready(struct esp_flow *f, struct esp_ctl *c, u64 now)
{
	if (c->kind == ESP_CTL_AHEAD) {
		c->group = true;
		c->key.opid = (u32)(c->upto >> 32);
		c->key.start = (u32)c->upto;
	}
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

/*
 * READY for the run @k, or for those up to it if @upto is set, for which @c stands among others; for
 * the others, too, if there is no memory.
 */
static void ready_some(struct esp_ctl *c, const struct esp_key *k, bool upto, u64 now)
{
	struct esp_ctl *some = env_ctl_get(c->flow->node, k->cookie);
	struct esp_flow *f = c->flow;

	if (some) {
		esp_ctl_init(some);
		some->kind = ESP_CTL_READY;
		some->flow = f;
		some->key = *k;
		some->group = upto;
		esp_say(f, some, now);
	} else {
		env_node_lock(f->node);
		c->fired = true;
		env_node_unlock(f->node);
	}
	esp_refusal_end(f, c, false, now);
}

/* What is to be said when a run has started. */
struct release {
	u64 number; /* of the run */
	u32 nflows; /* that have sent ahead of runs of its stream */
	u64 near;   /* a message for one up to here would be kept, and for as many again, up to: */
	u64 upto;
	/* esp_ctl.link, by what READY calls: the run, those up to upto, all the record has. */
	struct esp_link one, some, last;
};

static bool of_stream(const struct release *w, const struct esp_ctl *c)
{
	return c->from >> 32 == w->number >> 32;
}

/*
 * All who wait get the same share of the half of what may be kept in which nobody is refused (see
 * esp_keep_most()): with more, they would be called only to be refused again. A flow is that of a node,
 * on which there may be several members.
 */
static void set_upto(struct release *w, const struct esp_member *m)
{
	u32 most = esp_keep_most(m->ep), share = m->ep->node->p.keep_max / 2;
	const struct esp_table *t = m->table;

	/* There may be none: other streams, and other groups, have notes in the same list. */
	if (w->nflows) {
		share /= w->nflows;
		share /= (t->nranks - 1) / t->npeers + 1; /* apart, since a product may overflow */
	}
	most = esp_min(most, esp_max(share, 1u));
	w->near = w->number + most / 2;
	w->upto = esp_min(w->number + most, w->number | 0xffffffff);
}

/* Under the node's lock. */
static void release(struct release *w, struct esp_ctl *c)
{
	bool stream = of_stream(w, c);

	if (stream ? c->from > w->near : w->number < c->from || w->number > c->upto)
		return;
	if (c->adding) {
		c->fired = true;
		return;
	}
	env_flow_get(c->flow);
	if (stream ? c->upto <= w->upto : c->upto == w->number) {
		if (stream)
			c->upto = w->upto;
		esp_wait_remove(c);
		esp_append(&w->last, &c->link);
		return;
	}
	c->adding++;
	esp_append(stream ? &w->some : &w->one, &c->link);
	if (stream)
		c->from = w->upto + 1;
}

/* The next one of a list, out of it; NULL: it is empty. */
static struct esp_ctl *pop(struct esp_link *list)
{
	struct esp_link *l = list->next;

	if (l == list)
		return NULL;
	esp_unlink(l);
	return esp_entry(l, struct esp_ctl, link);
}

/*
 * Run @k of @m is here: READY to those who were refused ahead of it, and of the runs that go on from
 * there. Who sends ahead of runs is called when half of what may be kept is free for him, so that
 * one READY calls many messages while there is still work here. With other runs of the group in
 * between it is said for each run when it starts. When nothing more stands behind a record it ends:
 * runs may start out of order, and what is still too far ahead is refused again. The work is
 * proportional to the flows that have sent ahead of runs.
 */
static void release_ahead(struct esp_member *m, const struct esp_key *k, u64 now)
{
	struct esp_node *n = m->ep->node;
	struct esp_ctl *c, *next;
	struct release w;
	struct esp_key key;

	w.number = esp_run_number(k);
	w.nflows = 0;
	esp_link_init(&w.one);
	esp_link_init(&w.some);
	esp_link_init(&w.last);
	wait_key(&key, k, ESP_CTL_AHEAD);
	env_node_lock(n);
	for (c = NULL; (c = esp_wait_next(n, c, &key, ESP_CTL_AHEAD)) != NULL;)
		w.nflows += of_stream(&w, c);
	set_upto(&w, m);
	for (c = esp_wait_next(n, NULL, &key, ESP_CTL_AHEAD); c; c = next) {
		next = esp_wait_next(n, c, &key, ESP_CTL_AHEAD);
		release(&w, c);
	}
	env_node_unlock(n);
	esp_batch_enter(n);
	while ((c = pop(&w.last)) != NULL) {
		struct esp_flow *f = c->flow;

		say_ready(f, c, now);
		env_flow_put(f);
	}
	while ((c = pop(&w.one)) != NULL) {
		struct esp_flow *f = c->flow;

		ready_some(c, k, false, now);
		env_flow_put(f);
	}
	key.opid = (u32)(w.upto >> 32);
	key.start = (u32)w.upto;
	while ((c = pop(&w.some)) != NULL) {
		struct esp_flow *f = c->flow;

		ready_some(c, &key, true, now);
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
	esp_keep_ran(r);
	/*
	 * The run can be found: who notes a refusal or keeps a message from now on looks for it
	 * after that.
	 */
	if (likely(!ESP_PEEK(n->nwaits) && !ESP_PEEK(n->nkept)))
		return;
	run_key(r, &k);
	if (ESP_PEEK(n->nkept))
		esp_keep_run(r, &k, now);
	wait_key(&w, &k, ESP_CTL_AHEAD);
	if (esp_wait_any(n, &w))
		release_ahead(r->m, &k, now);
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
