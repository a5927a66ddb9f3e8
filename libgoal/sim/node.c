// SPDX-License-Identifier: BSD-3-Clause
/* Nodes and endpoints: how they come to life, die and come back. */
#include "inside.h"

#define LOOK_AFTER (50 * ESP_US) /* as long as a work item of a kernel waits for its turn */

/* A node that comes back has a new name. */
void sim_boot(struct sim_node *n)
{
	struct sim *s = n->s;
	u32 i;

	for (i = 0; i < ESP_POOLS; i++)
		if (n->pool_used[i])
			sim_fail(s, "node %u starts again with %u objects of pool %u in use",
				 n->index, n->pool_used[i], i);
	for (i = 0; i < 16; i++)
		n->me.node[i] = (u8)sim_u64(&s->secrets);
	for (i = 0; i < 2; i++)
		n->prf_key[i] = sim_u64(&s->secrets);
	esp_node_init(&n->n, n->me.node, &s->p);
	memset(n->batch, 0, sizeof(n->batch));
	memset(n->me.addr, 0, sizeof(n->me.addr));
	n->alive = true;
	for (i = 0; i < s->c.rails; i++) {
		struct sim_rail *r = &n->rail[i];

		r->r.node = &n->n;
		sim_address(&r->r.addr, n->index, i);
		n->me.addr[i] = r->r.addr;
		r->r.speed = s->c.rate;
		/* It may have died between queueing a frame and sending it. */
		while (r->first) {
			struct sim_frame *fr = r->first;

			r->first = fr->next;
			sim_frame_put(fr);
		}
		r->last = &r->first;
		r->draining = false;
		r->present = true;
		r->cut = false;
		r->hole = 0;
		esp_rail_up(&r->r, (u8)i, (u16)s->c.mtu, s->now);
	}
	n->eps = s->c.ranks_per_node;
	for (i = 0; i < s->c.ranks_per_node; i++) {
		struct sim_ep *e = &s->ep[n->index * s->c.ranks_per_node + i];

		if (e->rooms || e->room_used)
			sim_fail(
				s, "endpoint %u of node %u starts again with %u messages in its memory",
				i, n->index, e->rooms);
		e->e.node = &n->n;
		e->e.cookie = sim_u64(&s->secrets);
		e->node = n;
		e->alive = true;
	}
}

void sim_ep_kill(struct sim_ep *e, bool clean)
{
	struct esp_close close = { .flow = NULL };
	struct sim *s = e->node->s;
	struct sim_group *g;
	u32 i;

	if (!e->alive)
		return;
	for (g = clean ? NULL : s->groups; g; g = g->next)
		for (i = 0; i < g->ranks; i++)
			if (g->member[i]->ep == e && g->member[i]->known)
				esp_member_fail(&g->member[i]->m, -ECONNRESET, i, s->now);
	while (esp_ep_close(&e->e, &close, clean, s->now))
		;
	e->alive = false;
	e->node->eps--;
	e->clean = clean;
	e->closed = s->now;
	for (g = s->groups; g; g = g->next)
		for (i = 0; i < g->ranks; i++)
			if (g->member[i]->ep == e && !g->member[i]->left)
				sim_member_leave(g->member[i]);
}

static void kill_flows(struct sim_node *n)
{
	while (n->flows) {
		struct sim_flow *f = n->flows;

		f->refs++;
		esp_flow_kill(&f->f, n->s->now);
		f->refs--;
		sim_flow_check_free(f);
	}
}

void sim_node_kill(struct sim_node *n)
{
	struct sim *s = n->s;
	u32 i;

	if (!n->alive)
		return;
	n->alive = false; /* nothing gets out any more */
	for (i = 0; i < s->c.ranks_per_node; i++)
		sim_ep_kill(&s->ep[n->index * s->c.ranks_per_node + i], false);
	for (i = 0; i < s->c.rails; i++)
		esp_rail_down(&n->rail[i].r, s->now);
	kill_flows(n);
	sim_node_look(n);
}

/* What concerns all members, a moment after it was heard. */
void sim_node_look(struct sim_node *n)
{
	struct esp_look l;

	memset(&l, 0, sizeof(l));
	n->to_look = false;
	n->looking++;
	while (esp_look(&n->n, &l, n->s->now))
		;
	n->looking--;
}

void env_look(struct esp_node *en)
{
	struct sim_node *n = sim_node_of(en);

	if (n->to_look)
		return;
	n->to_look = true;
	sim_at(n->s, n->s->now + LOOK_AFTER, SIM_EV_LOOK, n);
}

static bool busy(const struct esp_flow *f)
{
	return f->nmsgs || f->nwaits || f->nrx || esp_linked(&f->ctls) || f->ngone;
}

/* The peer has nothing under way either: what it had to say is settled. */
static bool settled(struct sim_flow *f)
{
	struct sim *s = f->s;
	struct sim_flow *other;
	u32 i;

	if (busy(&f->f))
		return false;
	for (i = 0; i < s->c.nodes; i++) {
		if (memcmp(s->node[i].me.node, f->f.peer.node, 16))
			continue;
		for (other = s->node[i].flows; other; other = other->next)
			if (!memcmp(other->f.peer.node, f->f.node->id, 16))
				return !busy(&other->f);
	}
	return true;
}

/* The node forgets an idle flow before its peer does. */
void sim_flow_forget(struct sim_node *n)
{
	struct sim_flow *f = n->flows;
	u32 k = 0;

	for (; f; f = f->next)
		k++;
	if (!k)
		return;
	k = (u32)sim_below(&n->s->random, k);
	for (f = n->flows; k--; f = f->next)
		;
	if (!settled(f))
		return;
	f->refs++;
	esp_flow_kill(&f->f, n->s->now);
	f->refs--;
	sim_flow_check_free(f);
}

/* What endpoints bring with them goes with the last one. */
bool env_any_ep(struct esp_node *en)
{
	const struct sim_node *n = sim_node_of(en);
	const struct sim *s = n->s;
	u32 i;

	if (likely(n->eps))
		return true;
	for (i = 0; i < s->c.ranks_per_node; i++) {
		const struct sim_ep *e = &s->ep[n->index * s->c.ranks_per_node + i];

		if (e->clean && s->now - e->closed < s->p.linger)
			return true;
	}
	return false;
}

/* Cookies are known from endpoints that were open. */
enum esp_ep_state env_ep_state(struct esp_node *en, u64 cookie)
{
	const struct sim_node *n = sim_node_of(en);
	const struct sim *s = n->s;
	u32 i;

	for (i = 0; i < s->c.ranks_per_node; i++) {
		const struct sim_ep *e = &s->ep[n->index * s->c.ranks_per_node + i];

		if (e->e.cookie != cookie)
			continue;
		if (e->alive)
			return ESP_EP_OPEN;
		return e->clean && s->now - e->closed < s->p.linger ? ESP_EP_LEFT : ESP_EP_GONE;
	}
	return ESP_EP_GONE;
}
