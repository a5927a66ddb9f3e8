// SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause
/*
 * Failures and ends, as they cross from flows to groups and from groups to flows: aborts heard and
 * told, and what others ask. Part of the pump: takes the locks, one at a time.
 */
#include "esp_int.h"

#define TELL_MEMBERS 32 /* whose news is told at once */

static void free_ctls(struct esp_node *n, struct esp_link *ctls)
{
	while (esp_linked(ctls)) {
		struct esp_link *l = ctls->next;

		esp_unlink(l);
		env_ctl_put(n, esp_entry(l, struct esp_ctl, link));
	}
}

/* Nobody waits for what @c stands for any more. Under the node's lock. */
static void forget(struct esp_ctl *c, struct esp_link *freed)
{
	esp_wait_remove(c);
	c->gone = true;
	if (!c->adding)
		esp_append(freed, &c->link);
}

/* Forget what waits for the run @k. */
static void forget_run(struct esp_node *n, const struct esp_key *k, u64 now)
{
	struct esp_ctl *c, *next;
	struct esp_link freed;

	esp_link_init(&freed);
	env_node_lock(n);
	for (c = esp_wait_next(n, NULL, k, ESP_CTL_WAIT); c; c = next) {
		next = esp_wait_next(n, c, k, ESP_CTL_WAIT);
		forget(c, &freed);
	}
	env_node_unlock(n);
	free_ctls(n, &freed);
	esp_keep_forget(n, k, false, now);
}

/* Forget what waits for any run of the group and endpoint of @k, or for themselves. */
static void forget_group(struct esp_node *n, const struct esp_key *k, u64 now)
{
	struct esp_link *l, *next, freed;
	u32 i;

	esp_link_init(&freed);
	for (i = 0; i < ESP_WAIT_HASH; i++) {
		env_node_lock(n); /* for one head at a time: it may be long */
		for (l = n->wait[i].next; l != &n->wait[i]; l = next) {
			struct esp_ctl *c = esp_entry(l, struct esp_ctl, wait);

			next = l->next;
			if (c->key.nonce == k->nonce && c->key.cookie == k->cookie)
				forget(c, &freed);
		}
		env_node_unlock(n);
	}
	free_ctls(n, &freed);
	esp_keep_forget(n, k, true, now);
}

/*
 * The flow is over (2), or has begun anew (1) for the @renewed time: the peer may have sent in the
 * new incarnation already, and what was refused of that waits.
 */
void esp_waits_drop(struct esp_flow *f, u8 which, u32 renewed)
{
	struct esp_node *n = f->node;
	struct esp_link *l, *next, freed;

	esp_link_init(&freed);
	env_node_lock(n);
	for (l = f->waits.next; l != &f->waits; l = next) {
		struct esp_ctl *c = esp_entry(l, struct esp_ctl, waits);

		next = l->next;
		if (which == 1 && (c->kind == ESP_CTL_EARLY || !esp_before(c->renewed, renewed)))
			continue;
		forget(c, &freed);
	}
	env_node_unlock(n);
	free_ctls(n, &freed);
}

/* @m has something to tell. Under the node's lock. */
static void telling(struct esp_member *m)
{
	struct esp_node *n = m->ep->node;

	if (m->telling)
		return;
	m->telling = true;
	m->tell_next = n->tell_first;
	n->tell_first = m;
	env_member_get(m);
}

static void member_key(const struct esp_member *m, struct esp_key *k)
{
	memset(k, 0, sizeof(*k));
	k->nonce = m->nonce;
	k->cookie = m->ep->cookie;
}

/* The group has failed: false if that is known already. */
bool esp_note_group(struct esp_member *m, s32 status, u32 rank, u64 now)
{
	struct esp_node *n = m->ep->node;
	struct esp_key k;
	bool first;

	env_node_lock(n);
	first = !m->failed;
	if (first) {
		m->failed = status;
		m->failed_rank = rank;
		m->tell = esp_tell_mask(m);
		telling(m);
	}
	env_node_unlock(n);
	if (!first)
		return false;
	env_count(n, ESP_C_abort_group, 1);
	member_key(m, &k);
	forget_group(n, &k, now);
	env_member_failed(m);
	return true;
}

/* A run has failed, here or elsewhere. */
static bool note_run(struct esp_member *m, u32 opid, u32 start, s32 status, u32 rank, u64 now)
{
	struct esp_node *n = m->ep->node;
	struct esp_tomb *t = NULL;
	struct esp_key k;
	struct esp_run *r;
	bool known;

	env_node_lock(n);
	known = m->failed || esp_tomb_find(m, opid, start);
	if (!known) {
		t = esp_tomb_add(m, opid, start, status, rank, now);
		if (t)
			telling(m);
	}
	env_node_unlock(n);
	if (known)
		return false;
	if (!t)
		return esp_note_group(m, status, rank, now);
	env_count(n, ESP_C_abort_run, 1);
	member_key(m, &k);
	k.opid = opid;
	k.start = start;
	forget_run(n, &k, now);
	r = env_run_find(m, opid, start);
	if (r) {
		env_run_cancel(r, status, rank);
		env_run_put(r);
	}
	return true;
}

/* What is to be told next. */
struct news {
	u32 opid, start, rank, bit;
	s32 status;
	bool group;
};

static bool next_news(struct esp_member *m, struct news *w)
{
	u32 i;

	memset(w, 0, sizeof(*w));
	if (m->tell) {
		w->bit = m->tell & -m->tell;
		m->tell &= ~w->bit;
		w->group = true;
		w->status = m->failed;
		w->rank = m->failed_rank;
		return true;
	}
	for (i = 0; i < ESP_TOMBS; i++) {
		struct esp_tomb *t = &m->tomb[i];

		if (!t->at || !t->tell)
			continue;
		w->bit = t->tell & -t->tell;
		t->tell &= ~w->bit;
		w->opid = t->opid;
		w->start = t->start;
		w->status = t->status;
		w->rank = t->rank;
		return true;
	}
	return false;
}

/* Not now: put it back. */
static void news_back(struct esp_member *m, const struct news *w)
{
	struct esp_tomb *t;

	if (w->group) {
		m->tell |= w->bit;
		return;
	}
	t = esp_tomb_find(m, w->opid, w->start);
	if (t)
		t->tell |= w->bit;
}

static u32 bit_number(u32 bit)
{
	u32 k = 0;

	while (bit >>= 1)
		k++;
	return k;
}

/* ABORT to rank @to, which is on the other side of @f. False: no memory. */
static bool say_abort(struct esp_flow *f, const struct esp_member *m, u32 to, const struct news *w,
		      u64 now)
{
	struct esp_ctl *c = env_ctl_get(f->node, m->ep->cookie);

	if (!c)
		return false;
	esp_ctl_init(c);
	c->kind = ESP_CTL_ABORT;
	c->flow = f;
	c->group = w->group;
	c->key.nonce = m->nonce;
	c->key.cookie = m->table->rank[to].cookie;
	c->key.opid = w->opid;
	c->key.start = w->start;
	c->key.src = m->rank;
	c->rank = w->rank;
	c->code = esp_abort_code(w->status);
	env_count(f->node, ESP_C_abort_told, 1);
	esp_say(f, c, now);
	return true;
}

/* Nobody can name a member of another one's group his neighbour: its table has to say so, too. */
static bool same_group(const struct esp_member *local, const struct esp_member *m)
{
	const struct esp_table *tab = local->table;

	return m->rank < tab->nranks && tab->rank[m->rank].cookie == m->ep->cookie;
}

/* False: no memory, later. */
static bool tell_one(struct esp_member *m, const struct news *w, u64 now)
{
	struct esp_node *n = m->ep->node;
	const struct esp_table *tab = m->table;
	u32 to = esp_tell_rank(m, bit_number(w->bit));
	const struct esp_peer *peer = &tab->peer[tab->rank[to].peer];
	struct esp_flow *f;
	bool told;

	if (w->status == -EHOSTUNREACH && w->rank < tab->nranks &&
	    tab->rank[w->rank].peer == tab->rank[to].peer)
		return true; /* it is dead */
	if (!memcmp(peer->node, n->id, sizeof(n->id))) {
		struct esp_member *local = env_member_find(n, tab->rank[to].cookie, m->nonce);

		if (!local)
			return true;
		if (w->group && same_group(local, m))
			esp_note_group(local, w->status, w->rank, now);
		else if (same_group(local, m))
			note_run(local, w->opid, w->start, w->status, w->rank, now);
		env_member_put(local);
		return true;
	}
	f = esp_flow_to(n, peer, now);
	if (!f)
		return false;
	told = say_abort(f, m, to, w, now);
	env_flow_put(f);
	return told;
}

/*
 * Tell what is to be told, of whatever member: one member's news may be another one's here. With
 * very many of them the rest is left to esp_look().
 */
void esp_tell_all(struct esp_node *n, u64 now)
{
	u32 i;

	esp_batch_enter(n);
	for (i = 0; i < TELL_MEMBERS; i++) {
		struct esp_member *m;
		bool ok = true;

		env_node_lock(n);
		m = n->tell_first;
		if (m) {
			n->tell_first = m->tell_next;
			m->telling = false;
		}
		env_node_unlock(n);
		if (!m)
			break;
		while (ok) {
			struct news w;

			env_node_lock(n);
			ok = next_news(m, &w);
			env_node_unlock(n);
			if (!ok || tell_one(m, &w, now))
				continue;
			env_node_lock(n);
			news_back(m, &w); /* esp_member_timer() goes on */
			env_node_unlock(n);
			ok = false;
		}
		env_member_put(m);
	}
	if (i == TELL_MEMBERS && ESP_PEEK(n->tell_first))
		env_look(n);
	esp_batch_leave(n, now);
}

/* Under the node's lock. */
static bool has_news(const struct esp_member *m)
{
	bool any = m->tell != 0;
	u32 i;

	for (i = 0; i < ESP_TOMBS; i++)
		any |= m->tomb[i].at && m->tomb[i].tell;
	return any;
}

bool esp_member_timer(struct esp_member *m, u64 now)
{
	struct esp_node *n = m->ep->node;
	bool any;

	env_node_lock(n);
	any = has_news(m);
	if (any)
		telling(m);
	env_node_unlock(n);
	if (!any)
		return false;
	esp_tell_all(n, now);
	env_node_lock(n);
	any = has_news(m);
	env_node_unlock(n);
	return any;
}

/* It came ahead of its group. */
static void early(struct esp_flow *f, const struct esp_abort *a)
{
	struct esp_node *n = f->node;
	struct esp_ctl *spare = env_ctl_get(n, le64_to_cpu(a->cookie)), *c = NULL;
	struct esp_key k;
	bool dead;

	memset(&k, 0, sizeof(k));
	k.nonce = le64_to_cpu(a->nonce);
	k.cookie = le64_to_cpu(a->cookie);
	k.tag = le32_to_cpu(a->opid); /* not as its run: it is looked for by its group */
	k.instance = le32_to_cpu(a->start);
	if (!spare)
		return;
	esp_ctl_init(spare);
	spare->group = a->c.flags & ESP_ABORT_GROUP;
	spare->rank = le32_to_cpu(a->rank);
	spare->code = le32_to_cpu(a->code);
	env_node_lock(n);
	do {
		c = esp_wait_next(n, c, &k, ESP_CTL_EARLY);
	} while (c && (c->flow != f || !esp_same_key(&c->key, &k) || c->group != spare->group));
	if (!c && f->nwaits < n->p.refuse_max) {
		esp_wait_insert(n, f, spare, &k, ESP_CTL_EARLY);
		spare = NULL;
	}
	env_node_unlock(n);
	if (spare) {
		env_ctl_put(n, spare);
		return;
	}
	env_count(n, ESP_C_abort_early, 1);
	/* If the flow has ended meanwhile, nobody else would ever drop it. */
	env_flow_lock(f);
	dead = f->state == ESP_FLOW_DEAD;
	env_flow_unlock(f);
	if (dead)
		esp_waits_drop(f, 2, 0);
}

/* A rank that an abort names, or GOAL_OP_NONE if the group does not have it. */
static u32 rank_named(const struct esp_member *m, u32 rank)
{
	return rank < m->table->nranks ? rank : GOAL_OP_NONE;
}

void esp_abort_in(struct esp_flow *f, const struct esp_abort *a, u64 now)
{
	struct esp_node *n = f->node;
	struct esp_member *m = env_member_find(n, le64_to_cpu(a->cookie), le64_to_cpu(a->nonce));
	s32 status = esp_abort_status(le32_to_cpu(a->code));
	bool news;
	u32 rank;

	if (!m) {
		if (env_ep_state(n, le64_to_cpu(a->cookie)) == ESP_EP_OPEN)
			early(f, a);
		return;
	}
	rank = rank_named(m, le32_to_cpu(a->rank));
	if (a->c.flags & ESP_ABORT_GROUP)
		news = esp_note_group(m, status, rank, now);
	else
		news = note_run(m, le32_to_cpu(a->opid), le32_to_cpu(a->start), status, rank, now);
	env_count(n, news ? ESP_C_abort_heard : ESP_C_skip_abort_unknown, 1);
	env_member_put(m);
	esp_tell_all(n, now);
}

void esp_run_abort(struct esp_run *r, s32 status, u32 rank, u64 now)
{
	struct esp_member *m = r->m;

	note_run(m, r->opid, r->start, status, rank == GOAL_OP_NONE ? m->rank : rank, now);
	esp_tell_all(m->ep->node, now);
}

void esp_member_fail(struct esp_member *m, s32 status, u32 rank, u64 now)
{
	esp_note_group(m, status, rank == GOAL_OP_NONE ? m->rank : rank, now);
	esp_tell_all(m->ep->node, now);
}

s32 esp_run_doomed(struct esp_member *m, u32 opid, u32 start, u32 *rank)
{
	struct esp_node *n = m->ep->node;
	struct esp_tomb *t;
	s32 status;

	/* The run can be found: who notes a failure from now on looks for it after that. */
	if (!ESP_PEEK(m->failed) && !ESP_PEEK(m->tombs))
		return 0;
	env_node_lock(n);
	status = m->failed;
	*rank = m->failed_rank;
	t = status ? NULL : esp_tomb_find(m, opid, start);
	if (t) {
		status = t->status;
		*rank = t->rank;
	}
	env_node_unlock(n);
	return status;
}

void esp_member_added(struct esp_member *m, u64 now)
{
	struct esp_node *n = m->ep->node;
	struct esp_ctl *c;
	struct esp_key k;

	member_key(m, &k);
	for (;;) {
		s32 status;
		u32 rank;

		env_node_lock(n);
		c = esp_wait_next(n, NULL, &k, ESP_CTL_EARLY);
		if (c)
			esp_wait_remove(c);
		env_node_unlock(n);
		if (!c)
			break;
		status = esp_abort_status(c->code);
		rank = rank_named(m, c->rank);
		if (c->group)
			esp_note_group(m, status, rank, now);
		else
			note_run(m, c->key.tag, c->key.instance, status, rank, now);
		env_ctl_put(n, c);
	}
	esp_tell_all(n, now);
}

void esp_member_removed(struct esp_member *m, u64 now)
{
	struct esp_key k;

	member_key(m, &k);
	forget_group(m->ep->node, &k, now);
}

/* It needs no memory: the endpoint may have been the last one here. */
void esp_say_gone(struct esp_flow *f, u64 cookie, u64 now)
{
	esp_batch_enter(f->node);
	env_flow_lock(f);
	if (f->state != ESP_FLOW_DEAD && esp_gone_add(f, cookie))
		esp_batch_push(f);
	env_flow_unlock(f);
	esp_batch_leave(f->node, now);
}

/* What @m knows of the failure of a run. False: it has not failed for it. */
static bool failed_there(struct esp_member *m, u32 opid, u32 start, struct news *w)
{
	struct esp_node *n = m->ep->node;

	memset(w, 0, sizeof(*w));
	w->status = esp_run_doomed(m, opid, start, &w->rank);
	if (!w->status)
		return false;
	env_node_lock(n);
	w->group = m->failed != 0;
	env_node_unlock(n);
	if (!w->group) {
		w->opid = opid;
		w->start = start;
	}
	return true;
}

/*
 * A rank on the other side waits for a message of a member here. If that one has ended, or failed,
 * the other one has not heard of it: what was told may have been lost with a flow that died while
 * the network was in parts, or with an abort that came ahead of its group and found no memory.
 */
void esp_ask_in(struct esp_flow *f, const struct esp_ask *a, u64 now)
{
	struct esp_node *n = f->node;
	u64 cookie = le64_to_cpu(a->cookie);
	u32 from = le32_to_cpu(a->from);
	const struct esp_table *tab;
	struct esp_member *m;
	struct news w;

	if (env_ep_state(n, cookie) == ESP_EP_GONE) {
		esp_say_gone(f, cookie, now);
		return;
	}
	m = env_member_find(n, cookie, le64_to_cpu(a->nonce));
	if (!m)
		return;
	tab = m->table;
	if (from < tab->nranks && !memcmp(tab->peer[tab->rank[from].peer].node, f->peer.node, 16) &&
	    failed_there(m, le32_to_cpu(a->opid), le32_to_cpu(a->start), &w))
		say_abort(f, m, from, &w, now);
	env_member_put(m);
}

/* The same within the node: who joins after its group has failed here was told by nobody. */
void esp_watch_local(struct esp_run *r, u32 src, u64 now)
{
	struct esp_node *n = r->m->ep->node;
	u64 cookie = r->m->table->rank[src].cookie;
	struct esp_member *m;
	struct news w;

	if (env_ep_state(n, cookie) == ESP_EP_GONE) {
		esp_note_group(r->m, -ECONNRESET, src, now);
		return;
	}
	m = env_member_find(n, cookie, r->m->nonce);
	if (!m)
		return;
	if (failed_there(m, r->opid, r->start, &w)) {
		if (w.group)
			esp_note_group(r->m, w.status, w.rank, now);
		else
			note_run(r->m, w.opid, w.start, w.status, w.rank, now);
	}
	env_member_put(m);
}
