// SPDX-License-Identifier: BSD-3-Clause
/*
 * What must hold after every event, whatever the adversary does: each bound is kept, each sum is the
 * sum of its parts. Looks at the flows that the event locked, and at their nodes.
 */
#include "inside.h"

static u32 count(const struct esp_link *head)
{
	const struct esp_link *l;
	u32 n = 0;

	for (l = head->next; l != head; l = l->next)
		n++;
	return n;
}

/* Is it one of the addresses of the nodes? */
static bool of_node(const struct sim *s, const struct esp_addr *a)
{
	u32 node = (u32)a->addr[2] << 24 | a->addr[3] << 16 | a->addr[4] << 8 | a->addr[5];

	return node < s->c.nodes;
}

static void check_path(struct sim *s, const struct esp_flow *f, const struct esp_path *p)
{
	const struct esp_link *l;
	u64 bytes = 0;
	u32 n = 0, last = 0;

	for (l = p->sent.next; l != &p->sent; l = l->next) {
		const struct esp_sent *x = esp_entry(l, struct esp_sent, link);

		if (n && (s32)(x->pn - last) <= 0)
			sim_fail(s, "path %u: number %u stands behind %u", p->id, x->pn, last);
		last = x->pn;
		bytes += x->bytes;
		n++;
	}
	if (n != p->nsent || bytes != p->inflight)
		sim_fail(s, "path %u counts %u frames of %u bytes in flight, and has %u of %llu",
			 p->id, p->nsent, p->inflight, n, (unsigned long long)bytes);
	if (n > ESP_PN_SPAN ||
	    (n && p->pn - esp_entry(p->sent.next, struct esp_sent, link)->pn > ESP_PN_SPAN))
		sim_fail(s, "path %u has %u numbers open", p->id, n);
	if (p->state == ESP_PATH_UP && !of_node(s, &f->shown) && of_node(s, &p->addr))
		sim_fail(s, "path %u is up because a stranger says so", p->id);
	if (p->window > (u64)f->node->p.window_max * ESP_MTU_MAX)
		sim_fail(s, "path %u: window of %u", p->id, p->window);
	if (p->mtu > ESP_MTU_MIN && p->rail && p->mtu > ((struct sim_rail *)p->rail)->tried)
		sim_fail(s, "path %u uses an MTU of %u that was never tried", p->id, p->mtu);
	if (p->state == ESP_PATH_UP && p->rail && p->rail->up && p->mtu > p->rail->mtu)
		sim_fail(s, "path %u uses an MTU of %u where %u is allowed", p->id, p->mtu,
			 p->rail->mtu);
}

/* Who is to be told STOP is told: it waits to be said, or is on its way. */
static bool stop_said(const struct esp_flow *f, const struct esp_rx *rx)
{
	u32 i, k;

	if (esp_linked(&rx->say))
		return true;
	for (i = 0; i < ESP_PATHS; i++) {
		const struct esp_link *l, *sent = &f->path[i].sent;

		for (l = f->path[i].state == ESP_PATH_NONE ? sent : sent->next; l != sent;
		     l = l->next) {
			const struct esp_sent *x = esp_entry(l, struct esp_sent, link);

			for (; x; x = x->more)
				for (k = 0; k < x->n; k++)
					if (x->item[k].kind == ESP_ITEM_STOP &&
					    x->item[k].mid == rx->mid)
						return true;
		}
	}
	return false;
}

/* Who is held back behind a refused message is not forgotten. */
static void check_held(struct sim *s, const struct esp_flow *f)
{
	const struct esp_link *l, *k;
	u32 h, n = 0;

	for (h = 0; h < ESP_PARK_HASH; h++)
		for (l = f->parked[h].next; l != &f->parked[h]; l = l->next) {
			const struct esp_msg *m = esp_entry(l, struct esp_msg, link);

			if (m->state != ESP_MSG_PARKED || m->scout || m->has_mid)
				sim_fail(s, "a message waits in state %u", m->state);
			if (!m->held)
				continue;
			n++;
			for (k = f->parked[h].next; k != &f->parked[h]; k = k->next) {
				const struct esp_msg *w = esp_entry(k, struct esp_msg, link);

				if (!w->held && w->key.nonce == m->key.nonce &&
				    w->key.cookie == m->key.cookie && w->key.opid == m->key.opid)
					break;
			}
			if (k == &f->parked[h] && !((f->scouts | f->unhold) >> h & 1))
				sim_fail(s, "a message of run %u.%u is held for ever", m->key.opid,
					 m->key.start);
		}
	if (n != f->nheld)
		sim_fail(s, "a flow holds %u messages, and says %u", n, f->nheld);
}

static u32 check_queue(struct sim *s, const struct esp_queue *q)
{
	const struct esp_link *l;
	u32 n = 0;

	for (l = q->msgs.next; l != &q->msgs; l = l->next) {
		const struct esp_row *row = esp_entry(l, struct esp_row, link);
		const struct esp_msg *m = esp_entry(row, struct esp_msg, all);

		if (row->mark)
			continue;
		n++;
		if (m->queue != q)
			sim_fail(s, "message %u is in another queue than it says", m->mid);
		if (m->next > m->len || m->acked > m->len || m->granted > m->len ||
		    m->acked > m->next)
			sim_fail(s,
				 "message %u of %llu bytes: sent up to %llu, granted %llu, %llu "
				 "acknowledged",
				 m->mid, (unsigned long long)m->len, (unsigned long long)m->next,
				 (unsigned long long)m->granted, (unsigned long long)m->acked);
	}
	if (n != q->nmsgs)
		sim_fail(s, "a queue has %u messages and says %u", n, q->nmsgs);
	return n;
}

/* How many messages there are in all of them. */
static u32 check_queues(struct sim *s, const struct esp_flow *f)
{
	u32 n = check_queue(s, &f->common), i;
	const struct esp_link *l;

	for (i = 0; i < ESP_QUEUE_HASH; i++)
		for (l = f->allq[i].next; l != &f->allq[i]; l = l->next)
			n += check_queue(s, esp_entry(l, struct esp_queue, all));
	return n;
}

static void check_flow(struct sim *s, struct sim_flow *sf)
{
	const struct esp_flow *f = &sf->f;
	const struct sim_node *node = sim_node_of(f->node);
	const struct esp_params *q = &s->p;
	const struct esp_link *l;
	u32 i, n;

	if (f->state == ESP_FLOW_DEAD) {
		if (sf->in_table || ((f->nmsgs || f->nrx) && !node->to_look && !node->looking))
			sim_fail(s, "a dead flow has %u messages", f->nmsgs);
		return;
	}
	/* With the stranger whom a rank table does not know goes what he said. */
	if (f->vouched && !f->guessed && (!sf->vouched || sf->guessed))
		sf->stamp = 0;
	/* And with who was believed from elsewhere, when the peer comes back. */
	if (sf->led && !f->led)
		sf->stamp = 0;
	sf->led = f->led;
	sf->vouched = f->vouched;
	sf->guessed = f->guessed;
	if (f->stamp_peer < sf->stamp)
		sim_fail(s, "an OPEN of an attempt that was over was believed");
	sf->stamp = f->stamp_peer;
	for (i = 0; i < ESP_PATHS; i++)
		if (f->path[i].state != ESP_PATH_NONE)
			check_path(s, f, &f->path[i]);
	if (f->nwaits > q->refuse_max || f->nwaits != count(&f->waits))
		sim_fail(s, "a flow has %u refusals that wait, says %u, and may have %u",
			 count(&f->waits), f->nwaits, q->refuse_max);
	check_held(s, f);
	if (f->nrefused > ESP_REFUSED)
		sim_fail(s, "a flow has %u refusals to confirm", f->nrefused);
	n = check_queues(s, f);
	if (n != f->nmsgs)
		sim_fail(s, "a flow has %u messages and says %u", n, f->nmsgs);
	for (l = f->open.next, n = 0; l != &f->open; l = l->next)
		if (f->mid - esp_entry(l, struct esp_msg, open)->mid > ESP_MID_SPAN)
			n++;
	if (n)
		sim_fail(s, "%u message ids are open beyond the window", n);
	for (l = f->rx.next, n = 0; l != &f->rx; l = l->next) {
		const struct esp_row *row = esp_entry(l, struct esp_row, link);
		const struct esp_rx *rx = esp_entry(row, struct esp_rx, of_flow);

		if (row->mark)
			continue;
		n++;
		if (rx->here > rx->total || rx->nrange > ESP_RANGES)
			sim_fail(s, "reception %u of %llu bytes has %llu in %u ranges", rx->mid,
				 (unsigned long long)rx->total, (unsigned long long)rx->here,
				 rx->nrange);
		if (rx->state == ESP_RX_STOP && !stop_said(f, rx))
			sim_fail(s, "nobody tells the sender of message %u to stop", rx->mid);
	}
	if (n != f->nrx)
		sim_fail(s, "a flow has %u receptions and says %u", n, f->nrx);
}

/* CPUs that decide at the same moment may keep one more each; here any entry may be one. */
#define KEEP_CPUS 64

static void check_kept(struct sim *s, const struct sim_node *n)
{
	u32 i, kept = 0;

	for (i = 0; i < ESP_WAIT_HASH; i++) {
		const struct esp_link *l, *head = &n->n.kept[i];

		for (l = head->next; l != head; l = l->next) {
			const struct esp_rx *rx = esp_entry(l, struct esp_rx, of_flow.link);

			kept++;
			if (rx->ep->nkept > s->p.keep_max + KEEP_CPUS)
				sim_fail(s, "an endpoint of node %u keeps %u messages", n->index,
					 rx->ep->nkept);
		}
	}
	if (kept != n->n.nkept)
		sim_fail(s, "node %u keeps %u messages, and says %u", n->index, kept, n->n.nkept);
}

static void check_node(struct sim *s, const struct sim_node *n)
{
	const struct esp_pull *p = &n->n.pull;
	u32 i;

	if (n->n.nkept)
		check_kept(s, n);

	if (p->nactive > ESP_ACTIVE)
		sim_fail(s, "node %u pulls %u messages at once", n->index, p->nactive);
	if (!s->p.no_pull && p->out > p->limit)
		sim_fail(s, "node %u has granted %llu bytes, at most %llu are allowed", n->index,
			 (unsigned long long)p->out, (unsigned long long)p->limit);
	for (i = 0; s->c.pool[0] && i < ESP_POOLS; i++)
		if (n->pool_used[i] > s->c.pool[i])
			sim_fail(s, "node %u has %u objects of pool %u", n->index, n->pool_used[i],
				 i);
}

void sim_check_touched(struct sim *s)
{
	while (s->touched) {
		struct sim_flow *f = s->touched;

		s->touched = f->touched_next;
		f->touched = false;
		check_flow(s, f);
		check_node(s, sim_node_of(f->f.node));
		f->refs--;
		sim_flow_check_free(f);
	}
}
