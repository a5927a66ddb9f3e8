// SPDX-License-Identifier: BSD-3-Clause
/* A simulation as a whole: opened, asked, closed. What is left over at its end is a failure. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "inside.h"

void sim_fail(struct sim *s, const char *fmt, ...)
{
	va_list ap;
	int n;

	if (s->failed)
		return;
	s->failed = true;
	n = snprintf(s->failure, sizeof(s->failure), "at %llu ns: ", (unsigned long long)s->now);
	va_start(ap, fmt);
	vsnprintf(s->failure + n, sizeof(s->failure) - n, fmt, ap);
	va_end(ap);
}

const char *sim_failure(const struct sim *s)
{
	return s->failed ? s->failure : NULL;
}

uint64_t sim_now(const struct sim *s)
{
	return s->now;
}

void sim_config_default(struct sim_config *c)
{
	memset(c, 0, sizeof(*c));
	c->seed = 1;
	c->nodes = 2;
	c->ranks_per_node = 1;
	c->rails = 1;
	c->mtu = 1500;
	c->rate = 1250000000;
	c->latency = 1000;
	c->leaf = 1024;
	c->buffer = 256 << 10;
	c->room = 1 << 20;
	c->rooms = 4096;
	c->local_ns = 300;
}

/* What 1024 bytes take on a link, in picoseconds: a byte of a fast one takes less than one. */
static u64 ps_kib(u64 rate)
{
	u64 ps = 1024 * 1000000000000ull / rate;

	return ps ? ps : 1;
}

static bool sensible(const struct sim_config *c)
{
	return c->nodes && c->ranks_per_node && c->rails && c->rails <= ESP_PATHS &&
	       c->rate >= 1000 && c->mtu >= ESP_MTU_MIN && c->mtu <= ESP_MTU_MAX &&
	       (u64)c->nodes * c->ranks_per_node <= 1u << 24;
}

static void queue_full(struct sim_queue *q)
{
	sim_no_memory(esp_entry(q, struct sim, queue));
}

int sim_open(const struct sim_config *c, struct sim **sim)
{
	struct sim *s;
	u32 i;

	if (!sensible(c))
		return -EINVAL;
	s = calloc(1, sizeof(*s));
	if (!s)
		return -ENOMEM;
	s->c = *c;
	if (c->params)
		s->p = *c->params;
	else
		esp_params_default(&s->p);
	s->c.params = NULL;
	s->now = SIM_START;
	s->queue.last = s->now;
	s->queue.no_memory = queue_full;
	s->random.state = sim_mix(c->seed);
	s->secrets.state = sim_mix(c->seed + 1) + 2;
	s->ps_kib = ps_kib(c->rate);
	s->leaves = c->leaf ? (c->nodes + c->leaf - 1) / c->leaf : 1;
	s->ps_kib_up = ps_kib(c->uplink ? c->uplink : c->rate * (c->leaf ? c->leaf : 1));
	s->frame_room = (sizeof(struct sim_frame) + 64 + (c->mtu > 9000 ? c->mtu : 9000) + 63) &
			~63u;
	if (!c->adversary.mtu_every)
		s->frame_room = (sizeof(struct sim_frame) + 64 + c->mtu + 63) & ~63u;
	s->neps = c->nodes * c->ranks_per_node;
	s->node = calloc(c->nodes, sizeof(*s->node));
	s->ep = calloc(s->neps, sizeof(*s->ep));
	s->up_free = calloc((size_t)s->leaves * c->rails, sizeof(u64));
	s->down_free = calloc((size_t)s->leaves * c->rails, sizeof(u64));
	if (!s->node || !s->ep || !s->up_free || !s->down_free)
		goto free_all;
	for (i = 0; i < c->nodes; i++) {
		s->node[i].s = s;
		s->node[i].index = i;
		sim_boot(&s->node[i]);
	}
	if (c->pcap)
		sim_pcap_open(s);
	sim_fault_start(s);
	*sim = s;
	return 0;

free_all:
	free(s->node);
	free(s->ep);
	free(s->up_free);
	free(s->down_free);
	free(s);
	return -ENOMEM;
}

static void free_group(struct sim_group *g)
{
	free(g->rank);
	free(g->peer);
	free(g->index);
	free(g->member);
	free(g);
}

int sim_group(struct sim *s, u32 ranks, const u32 *ep, uint64_t join_skew, struct sim_group **group)
{
	struct sim_group *g = calloc(1, sizeof(*g));
	u32 i;

	if (!g)
		return -ENOMEM;
	g->s = s;
	g->ranks = ranks;
	g->nonce = sim_u64(&s->secrets);
	g->rank = calloc(ranks, sizeof(*g->rank));
	g->peer = calloc(s->c.nodes, sizeof(*g->peer));
	g->index = calloc(1, esp_table_index_size(ranks, s->c.nodes));
	g->member = calloc(ranks, sizeof(*g->member));
	if (!g->rank || !g->peer || !g->index || !g->member) {
		free_group(g);
		return -ENOMEM;
	}
	g->next = s->groups;
	s->groups = g;
	for (i = 0; i < s->c.nodes; i++)
		g->peer[i] = s->node[i].me;
	g->table.nranks = ranks;
	g->table.npeers = s->c.nodes;
	g->table.rank = g->rank;
	g->table.peer = g->peer;
	for (i = 0; i < ranks; i++) {
		struct sim_ep *e = &s->ep[ep ? ep[i] : i];

		g->rank[i].cookie = e->e.cookie;
		g->rank[i].peer = e->node->index;
		g->member[i] = sim_member_new(g, i, e);
	}
	if (esp_table_index(&g->table, g->index))
		sim_fail(s, "two ranks have one cookie, or two nodes one name");
	for (i = 0; i < ranks; i++)
		if (join_skew)
			sim_at(s, s->now + sim_below(&s->random, join_skew), SIM_EV_JOIN,
			       g->member[i]);
		else
			sim_member_join(g->member[i]);
	*group = g;
	return 0;
}

/* Events that are left when everything has ended only give back what they hold. */
static void drain(struct sim *s)
{
	while (s->queue.n) {
		u32 kind;
		void *object;

		s->now = sim_queue_time(&s->queue);
		object = sim_queue_pop(&s->queue, &kind);
		switch (kind) {
		case SIM_EV_HOP:
		case SIM_EV_FRAME:
			sim_frame_put(object);
			break;
		case SIM_EV_FLOW:
			sim_flow_event(object, s->queue.last);
			break;
		case SIM_EV_LATE:
			sim_late_end(object);
			break;
		case SIM_EV_LOCAL:
			sim_local_arrive(object);
			break;
		case SIM_EV_FAULT:
			sim_put(s, object, sizeof(struct sim_fault));
			break;
		case SIM_EV_RESUME:
		case SIM_EV_PUMP:
			sim_run_again(object, kind == SIM_EV_PUMP);
			break;
		case SIM_EV_LOOK:
			sim_node_look(object);
			break;
		default:
			break;
		}
	}
}

static void end_group(struct sim_group *g)
{
	struct sim *s = g->s;
	u32 i;

	for (i = 0; i < g->ranks; i++) {
		struct sim_member *m = g->member[i];

		while (m->idle) {
			struct sim_run *r = m->idle;

			m->idle = r->next;
			sim_run_free(r);
		}
		if (m->refs)
			sim_fail(s, "rank %u of a group has %u references left", i, m->refs);
		sim_put(s, m, sizeof(*m));
	}
	free_group(g);
}

/* What was queued on a rail while that went down left nowhere: nobody kicks it any more. */
static void purge(struct sim_rail *r)
{
	struct sim_frame *fr;

	while ((fr = r->first) != NULL) {
		r->first = fr->next;
		sim_frame_put(fr);
	}
	r->last = &r->first;
}

static void look_for_leaks(struct sim *s)
{
	u32 i, k;

	for (i = 0; i < s->c.nodes; i++)
		for (k = 0; k < s->c.rails; k++)
			purge(&s->node[i].rail[k]);

	for (i = 0; i < s->c.nodes; i++)
		if (s->node[i].endings)
			sim_fail(s, "node %u says that %d flows end", i, s->node[i].endings);
	for (i = 0; i < s->c.nodes; i++)
		for (k = 0; k < ESP_POOLS; k++)
			if (s->node[i].pool_used[k])
				sim_fail(s, "node %u has %u objects of pool %u left", i,
					 s->node[i].pool_used[k], k);
	for (i = 0; i < s->neps; i++)
		if (s->ep[i].rooms)
			sim_fail(s, "endpoint %u has %u messages in its memory left", i,
				 s->ep[i].rooms);
	if (s->frames_out)
		sim_fail(s, "%llu frames are left", (unsigned long long)s->frames_out);
	if (s->objects)
		sim_fail(s, "%lld objects are left", (long long)s->objects);
}

void sim_end(struct sim *s)
{
	u32 i;

	if (s->ending)
		return;
	s->ending = true;
	for (i = 0; i < s->c.nodes; i++)
		sim_node_kill(&s->node[i]);
	drain(s);
	sim_check_touched(s);
	while (s->groups) {
		struct sim_group *g = s->groups;

		s->groups = g->next;
		end_group(g);
	}
	if (!s->failed)
		look_for_leaks(s);
}

int sim_close(struct sim *s)
{
	int rc;

	/* After a failure the state may be such that nothing can be wound down. */
	if (!s->failed)
		sim_end(s);
	rc = s->failed ? -1 : 0;
	while (s->groups) {
		struct sim_group *g = s->groups;

		s->groups = g->next;
		free_group(g);
	}
	while (s->jobs) {
		struct sim_job *j = s->jobs;

		s->jobs = j->next;
		sim_job_free(j);
	}
	while (s->programs) {
		struct sim_program *p = s->programs;

		s->programs = p->next;
		sim_program_free(p);
	}
	sim_queue_free(&s->queue);
	sim_frames_free(s);
	sim_memory_free(s);
	sim_tables_free(s);
	free(s->node);
	free(s->ep);
	free(s->up_free);
	free(s->down_free);
	free(s);
	return rc;
}

void sim_stats(const struct sim *s, struct sim_stats *t)
{
	*t = s->t;
}

uint64_t sim_counter(const struct sim *s, u32 c)
{
	return c < ESP_COUNTERS ? s->count[c] : 0;
}

const char *sim_counter_name(u32 c)
{
	return esp_count_name(c);
}

size_t sim_flow_bytes(void)
{
	return sizeof(struct sim_flow);
}

uint64_t sim_digest(const struct sim *s)
{
	return s->fnv ^ sim_mix(s->t.checked + s->t.frames);
}

uint32_t sim_flows(const struct sim *s)
{
	return s->nflows;
}
