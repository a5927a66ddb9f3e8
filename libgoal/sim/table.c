// SPDX-License-Identifier: BSD-3-Clause
/*
 * Look-ups: flows by connection id and by peer, members by cookie and nonce, runs by number. Hash
 * tables of the whole simulation, and lists per node, per member.
 */
#include <stdlib.h>

#include "inside.h"

static u32 cid_head(const struct sim *s, u64 cid)
{
	return (u32)(cid >> 7) & (s->flow_heads - 1); /* ids are random already */
}

static u32 peer_head(const struct sim *s, const struct sim_node *n, const u8 id[16])
{
	u64 v;

	memcpy(&v, id, sizeof(v));
	return (u32)sim_mix(v + n->index) & (s->flow_heads - 1);
}

static void flow_hash(struct sim *s, struct sim_flow *f)
{
	struct sim_flow **at = &s->cid[cid_head(s, f->f.cid)];

	f->by_cid = *at;
	*at = f;
	at = &s->peer[peer_head(s, sim_node_of(f->f.node), f->f.peer.node)];
	f->by_peer = *at;
	*at = f;
}

static void cid_unhash(struct sim *s, struct sim_flow *f)
{
	struct sim_flow **at = &s->cid[cid_head(s, f->f.cid)];

	while (*at != f)
		at = &(*at)->by_cid;
	*at = f->by_cid;
}

static void flows_grow(struct sim *s)
{
	u32 heads = s->flow_heads ? 4 * s->flow_heads : 256, i;
	struct sim_flow **cid, **peer;

	if (s->nflows < s->flow_heads)
		return;
	cid = calloc(heads, sizeof(*cid));
	peer = calloc(heads, sizeof(*peer));
	if (!cid || !peer) {
		free(cid);
		free(peer);
		sim_no_memory(s);
	}
	free(s->cid);
	free(s->peer);
	s->cid = cid;
	s->peer = peer;
	s->flow_heads = heads;
	for (i = 0; i < s->c.nodes; i++) {
		struct sim_flow *f;

		for (f = s->node[i].flows; f; f = f->next)
			flow_hash(s, f);
	}
}

void sim_tables_free(struct sim *s)
{
	free(s->cid);
	free(s->peer);
	free(s->member);
}

struct esp_flow *env_flow_alloc(struct esp_node *n, const struct esp_peer *peer, bool wanted)
{
	struct sim *s = sim_node_of(n)->s;
	struct sim_flow *f;

	(void)peer;
	(void)wanted;
	if (sim_denied(s) || !env_any_ep(n))
		return NULL;
	f = sim_get(s, sizeof(*f));
	memset(f, 0, sizeof(*f));
	f->s = s;
	f->refs = 1;
	f->when = ESP_NEVER;
	f->queued = ESP_NEVER;
	return &f->f;
}

void env_flow_get(struct esp_flow *f)
{
	sim_flow_of(f)->refs++;
}

void sim_flow_check_free(struct sim_flow *f)
{
	if (f->refs || f->events)
		return;
	if (f->in_table || f->f.nmsgs || f->f.nwaits)
		sim_fail(f->s, "a flow ends with %u messages and %u refusals in it", f->f.nmsgs,
			 f->f.nwaits);
	sim_put(f->s, f, sizeof(*f));
}

void env_flow_put(struct esp_flow *ef)
{
	struct sim_flow *f = sim_flow_of(ef);

	if (!f->refs)
		sim_fail(f->s, "a reference to a flow is given back that nobody holds");
	f->refs--;
	sim_flow_check_free(f);
}

struct esp_flow *env_flow_by_cid(struct esp_node *n, u64 cid)
{
	struct sim *s = sim_node_of(n)->s;
	struct sim_flow *f;

	if (!s->flow_heads)
		return NULL;
	for (f = s->cid[cid_head(s, cid)]; f; f = f->by_cid)
		if (f->f.cid == cid && f->f.node == n) {
			f->refs++;
			return &f->f;
		}
	return NULL;
}

struct esp_flow *env_flow_by_peer(struct esp_node *n, const u8 node[16])
{
	struct sim *s = sim_node_of(n)->s;
	struct sim_flow *f;

	if (!s->flow_heads)
		return NULL;
	for (f = s->peer[peer_head(s, sim_node_of(n), node)]; f; f = f->by_peer)
		if (f->f.node == n && !memcmp(f->f.peer.node, node, 16)) {
			f->refs++;
			return &f->f;
		}
	return NULL;
}

struct esp_flow *env_flow_next(struct esp_node *en, struct esp_flow *eprev)
{
	struct sim_node *n = sim_node_of(en);
	struct sim_flow *prev = eprev ? sim_flow_of(eprev) : NULL;
	struct sim_flow *f = n->flows;

	if (prev && prev->in_table)
		f = prev->next;
	else if (prev) /* it was removed in the meantime */
		while (f && f->serial <= prev->serial)
			f = f->next;
	if (f)
		f->refs++;
	if (prev)
		env_flow_put(eprev);
	return f ? &f->f : NULL;
}

int env_flow_insert(struct esp_flow *ef)
{
	struct sim_flow *f = sim_flow_of(ef), *other;
	struct sim_node *n = sim_node_of(ef->node);
	struct sim *s = f->s;

	flows_grow(s);
	for (other = s->cid[cid_head(s, ef->cid)]; other; other = other->by_cid)
		if (other->f.cid == ef->cid && other->f.node == ef->node)
			return -EEXIST;
	for (other = s->peer[peer_head(s, n, ef->peer.node)]; other; other = other->by_peer)
		if (other->f.node == ef->node && !memcmp(other->f.peer.node, ef->peer.node, 16))
			return -EEXIST;
	flow_hash(s, f);
	f->serial = ++s->flow_serial;
	f->prev = n->flows_last;
	f->next = NULL;
	if (f->prev)
		f->prev->next = f;
	else
		n->flows = f;
	n->flows_last = f;
	f->in_table = true;
	f->refs++;
	s->nflows++;
	return 0;
}

int env_flow_rename(struct esp_flow *ef, u64 cid)
{
	struct sim_flow *f = sim_flow_of(ef), *other, **at;
	struct sim *s = f->s;

	for (other = s->cid[cid_head(s, cid)]; other; other = other->by_cid)
		if (other->f.cid == cid && other->f.node == ef->node)
			return -EEXIST;
	if (!cid)
		return -EEXIST;
	cid_unhash(s, f);
	ef->cid = cid;
	at = &s->cid[cid_head(s, cid)];
	f->by_cid = *at;
	*at = f;
	return 0;
}

void env_flow_remove(struct esp_flow *ef)
{
	struct sim_flow *f = sim_flow_of(ef), **at;
	struct sim_node *n = sim_node_of(ef->node);
	struct sim *s = f->s;

	if (!f->in_table) {
		sim_fail(s, "a flow is removed twice");
		return;
	}
	cid_unhash(s, f);
	at = &s->peer[peer_head(s, n, ef->peer.node)];
	while (*at != f)
		at = &(*at)->by_peer;
	*at = f->by_peer;
	if (f->prev)
		f->prev->next = f->next;
	else
		n->flows = f->next;
	if (f->next)
		f->next->prev = f->prev;
	else
		n->flows_last = f->prev;
	f->in_table = false;
	s->nflows--;
	f->refs--;
	if (!f->refs)
		sim_fail(s, "a flow is removed by somebody who holds no reference");
}

static void timer_push(struct sim_flow *f, u64 when)
{
	if (when < f->s->now)
		when = f->s->now;
	f->queued = when;
	f->events++;
	sim_at(f->s, when, SIM_EV_FLOW, f);
}

/* An event is never taken out of the queue; one that came too early is pushed again. */
void env_timer(struct esp_flow *ef, u64 when)
{
	struct sim_flow *f = sim_flow_of(ef);

	f->when = when;
	if (when < f->queued)
		timer_push(f, when);
}

void sim_flow_event(struct sim_flow *f, u64 at)
{
	struct sim *s = f->s;
	u64 now = sim_entry(s);

	if (f->queued != at || s->ending || !f->in_table) {
		if (f->queued == at)
			f->queued = ESP_NEVER;
		f->events--;
		sim_flow_check_free(f);
		return;
	}
	f->queued = ESP_NEVER;
	f->refs++;
	if (f->when <= s->now) {
		f->when = ESP_NEVER;
		esp_timer(&f->f, now);
	} else if (f->when != ESP_NEVER) {
		timer_push(f, f->when);
	}
	f->refs--;
	f->events--;
	sim_flow_check_free(f);
}

static struct sim_member **member_head(const struct sim *s, u64 cookie, u64 nonce)
{
	return &s->member[(cookie ^ nonce) & (s->member_heads - 1)];
}

void sim_member_insert(struct sim_member *m)
{
	struct sim *s = m->s;
	struct sim_member **at;

	if (s->nmembers >= s->member_heads) {
		u32 heads = s->member_heads ? 4 * s->member_heads : 64, i;
		struct sim_member **old = s->member;
		struct sim_member **more = calloc(heads, sizeof(*more));

		if (!more)
			sim_no_memory(s);
		s->member = more;
		for (i = 0; i < s->member_heads; i++)
			while (old[i]) {
				struct sim_member *x = old[i];

				old[i] = x->by_name;
				at = &s->member[(x->ep->e.cookie ^ x->m.nonce) & (heads - 1)];
				x->by_name = *at;
				*at = x;
			}
		s->member_heads = heads;
		free(old);
	}
	at = member_head(s, m->ep->e.cookie, m->m.nonce);
	m->by_name = *at;
	*at = m;
	m->next = m->node->members;
	m->node->members = m;
	m->known = true;
	s->nmembers++;
}

void sim_member_unlink(struct sim_member *m)
{
	struct sim *s = m->s;
	struct sim_member **at = member_head(s, m->ep->e.cookie, m->m.nonce);

	while (*at != m)
		at = &(*at)->by_name;
	*at = m->by_name;
	at = &m->node->members;
	while (*at != m)
		at = &(*at)->next;
	*at = m->next;
	m->known = false;
	s->nmembers--;
}

struct esp_member *env_member_find(struct esp_node *n, u64 cookie, u64 nonce)
{
	struct sim *s = sim_node_of(n)->s;
	struct sim_member *m;

	if (!s->member_heads)
		return NULL;
	for (m = *member_head(s, cookie, nonce); m; m = m->by_name)
		if (m->ep->e.cookie == cookie && m->m.nonce == nonce && m->ep->e.node == n) {
			m->refs++;
			return &m->m;
		}
	return NULL;
}

void env_member_get(struct esp_member *em)
{
	struct sim_member *m = sim_member_of(em);

	m->refs++;
	sim_member_arm(m); /* it has something to tell, perhaps */
}

void env_member_put(struct esp_member *em)
{
	struct sim_member *m = sim_member_of(em);

	if (!m->refs)
		sim_fail(m->s, "a reference to a member is given back that nobody holds");
	m->refs--;
}

/* Members stay in memory to the end of the simulation, so that a removed one still has a next. */
struct esp_member *env_member_next(struct esp_node *en, struct esp_member *eprev)
{
	struct sim_node *n = sim_node_of(en);
	struct sim_member *prev = eprev ? sim_member_of(eprev) : NULL;
	struct sim_member *m = prev ? prev->next : n->members;

	if (m)
		m->refs++;
	if (prev)
		env_member_put(eprev);
	return m ? &m->m : NULL;
}

struct esp_run *env_run_find(struct esp_member *em, u32 opid, u32 start)
{
	struct sim_run *r;

	for (r = sim_member_of(em)->runs; r; r = r->next)
		if (r->e.opid == opid && r->e.start == start) {
			r->refs++;
			return &r->e;
		}
	return NULL;
}

/* A run that was taken out of the list leads nowhere: numbers ascend, so look for the next one. */
struct esp_run *env_run_next(struct esp_member *em, struct esp_run *eprev)
{
	struct sim_member *m = sim_member_of(em);
	struct sim_run *prev = eprev ? sim_erun_of(eprev) : NULL;
	struct sim_run *r = m->runs;

	if (prev)
		while (r && r->number <= prev->number)
			r = r->next;
	if (r)
		r->refs++;
	if (prev)
		env_run_put(eprev);
	return r ? &r->e : NULL;
}

bool env_run_past(struct esp_member *m, u32 opid, u32 start)
{
	if (start < 1 || start > 1u << SIM_STARTS)
		return false;
	return sim_past(sim_member_of(m), sim_number(opid, start));
}

void env_run_get(struct esp_run *r)
{
	sim_erun_of(r)->refs++;
}

void env_run_put(struct esp_run *r)
{
	sim_run_release(sim_erun_of(r));
}
