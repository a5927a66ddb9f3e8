// SPDX-License-Identifier: BSD-3-Clause
/* The state of a simulation in words, for whoever looks into a failure. */
#include <stdio.h>

#include "inside.h"

static void dump_msg(const struct esp_msg *m, FILE *out)
{
	fprintf(out,
		"    out %u%s: %llu bytes for run %u.%u rank-key src %u tag %u, state %u, sent "
		"%llu, "
		"granted %llu, acked %llu%s%s%s%s\n",
		m->mid, m->has_mid ? "" : " (no id)", (unsigned long long)m->len, m->key.opid,
		m->key.start, m->key.src, m->key.tag, m->state, (unsigned long long)m->next,
		(unsigned long long)m->granted, (unsigned long long)m->acked,
		m->eager ? ", eager" : "", m->head ? ", head" : "",
		m->cancelled ? ", cancelled" : "", m->items.next != &m->items ? ", in flight" : "");
}

static void dump_rx(const struct esp_rx *rx, FILE *out)
{
	fprintf(out,
		"    in %u: %llu bytes for run %u.%u src %u tag %u, state %u, here %llu, granted "
		"%llu, "
		"busy %u, pull state %u (granted %llu, here %llu)%s%s%s\n",
		rx->mid, (unsigned long long)rx->total, rx->key.opid, rx->key.start, rx->key.src,
		rx->key.tag, rx->state, (unsigned long long)rx->here,
		(unsigned long long)rx->granted, rx->busy, rx->p_state,
		(unsigned long long)rx->p_granted, (unsigned long long)rx->p_here,
		rx->pull ? ", pull" : "", rx->has_mid ? "" : ", no id",
		rx->p_stalled ? ", stalled" : "");
}

static void dump_queue(const struct esp_queue *q, FILE *out)
{
	const struct esp_link *l;

	for (l = q->msgs.next; l != &q->msgs; l = l->next) {
		const struct esp_row *row = esp_entry(l, struct esp_row, link);

		if (!row->mark)
			dump_msg(esp_entry(row, struct esp_msg, all), out);
	}
}

static void dump_flow(const struct sim_flow *sf, FILE *out)
{
	const struct esp_flow *f = &sf->f;
	const struct esp_link *l;
	u32 i;

	fprintf(out,
		"  flow to %u: state %u, %u messages, %u waits, mid %u, timer %lld us from now\n",
		f->peer.addr[0].addr[5] | f->peer.addr[0].addr[4] << 8, f->state, f->nmsgs,
		f->nwaits, f->mid,
		sf->when == ESP_NEVER ? -1 : (long long)(sf->when - sf->s->now) / 1000);
	for (i = 0; i < ESP_PATHS; i++) {
		const struct esp_path *p = &f->path[i];

		if (p->state == ESP_PATH_NONE)
			continue;
		fprintf(out,
			"    path %u: state %u, window %u, in flight %u (%u), pn %u, mtu %u, srtt "
			"%llu us, "
			"backoff %u, rx top %u cum %u\n",
			i, p->state, p->window, p->inflight, p->nsent, p->pn, p->mtu,
			(unsigned long long)p->srtt / 1000, p->backoff, p->rx_top, p->rx_cum);
	}
	for (i = 0; i < ESP_QUEUE_HASH; i++)
		for (l = f->allq[i].next; l != &f->allq[i]; l = l->next)
			dump_queue(esp_entry(l, struct esp_queue, all), out);
	dump_queue(&f->common, out);
	for (l = f->rx.next; l != &f->rx; l = l->next) {
		const struct esp_row *row = esp_entry(l, struct esp_row, link);

		if (!row->mark)
			dump_rx(esp_entry(row, struct esp_rx, of_flow), out);
	}
	for (l = f->waits.next; l != &f->waits; l = l->next) {
		const struct esp_ctl *c = esp_entry(l, struct esp_ctl, waits);

		fprintf(out, "    waits: kind %u for run %u.%u (%llx..%llx), held %u, adding %u\n",
			c->kind, c->key.opid, c->key.start, (unsigned long long)c->from,
			(unsigned long long)c->upto, c->held, c->adding);
	}
}

static void dump_run(const struct sim_run *r, FILE *out)
{
	u32 i;

	fprintf(out, "  rank %u, run %u (%u.%u): status %d, undone %u, busy %u, refs %u\n",
		r->m->m.rank, r->number, r->e.opid, r->e.start, r->run.status, r->run.undone,
		r->run.busy, r->refs);
	for (i = 0; i < r->run.sched->hdr->nops; i++) {
		const struct goal_op *o = &r->run.sched->op[i];

		if (r->run.state[i] != CORE_OP_DONE)
			fprintf(out, "    op %u: code %u, peer %u, tag %u, %llu bytes, state %u\n",
				i, o->code, o->peer, o->tag, (unsigned long long)o->len,
				r->run.state[i]);
	}
}

void sim_dump(const struct sim *s, FILE *out)
{
	u32 i;

	for (i = 0; i < s->c.nodes; i++) {
		const struct sim_node *n = &s->node[i];
		const struct sim_member *m;
		const struct sim_flow *f;
		const struct sim_run *r;

		fprintf(out, "node %u%s, pools %u %u %u %u %u, pull out %llu of %llu\n", i,
			n->alive ? "" : " (dead)", n->pool_used[0], n->pool_used[1],
			n->pool_used[2], n->pool_used[3], n->pool_used[4],
			(unsigned long long)n->n.pull.out, (unsigned long long)n->n.pull.limit);
		for (m = n->members; m; m = m->next)
			for (r = m->runs; r; r = r->next)
				dump_run(r, out);
		for (f = n->flows; f; f = f->next)
			dump_flow(f, out);
	}
	for (i = 0; i < ESP_COUNTERS; i++)
		if (s->count[i])
			fprintf(out, "%s %llu\n", esp_count_name(i),
				(unsigned long long)s->count[i]);
}
