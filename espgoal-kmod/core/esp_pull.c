// SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause
/*
 * The receiver's share-out of its downlink. Long messages move when they are granted, and of all
 * that is granted and not here yet there is never more than fits between the senders and us: so a
 * switch in front of us has nothing to buffer, however many send. The message with the fewest
 * bytes left to grant goes first. Everything here is under the node's lock.
 *
 * Waiting messages are in a pairing heap, those with grants in a short array. A sender that has
 * a grant and does not deliver is set aside, so that it does not hold the others up.
 */
#include "esp_int.h"

enum {
	PULL_OUT = 0,
	PULL_HEAP,
	PULL_ACTIVE,
	PULL_GRANTED
};

static inline u64 left(const struct esp_rx *rx)
{
	return rx->total - rx->p_granted;
}

/* Join two heaps. */
static struct esp_rx *join(struct esp_rx *a, struct esp_rx *b)
{
	if (!a)
		return b;
	if (!b)
		return a;
	if (left(b) < left(a)) {
		struct esp_rx *x = a;

		a = b;
		b = x;
	}
	b->next = a->child;
	if (b->next)
		b->next->prev = b;
	b->prev = a;
	a->child = b;
	a->next = NULL;
	a->prev = NULL;
	return a;
}

/* One heap of a list of siblings: in pairs from the left, then together from the right. */
static struct esp_rx *join_all(struct esp_rx *list)
{
	struct esp_rx *pairs = NULL, *heap = NULL;

	while (list) {
		struct esp_rx *a = list, *b = list->next;

		list = b ? b->next : NULL;
		a->next = NULL;
		a->prev = NULL;
		if (b) {
			b->next = NULL;
			b->prev = NULL;
			a = join(a, b);
		}
		a->next = pairs;
		pairs = a;
	}
	while (pairs) {
		struct esp_rx *next = pairs->next;

		pairs->next = NULL;
		heap = join(heap, pairs);
		pairs = next;
	}
	return heap;
}

static void heap_take(struct esp_pull *p, struct esp_rx *rx)
{
	struct esp_rx *below = join_all(rx->child);

	rx->child = NULL;
	if (rx == p->heap) {
		p->heap = below;
		return;
	}
	if (rx->prev->child == rx)
		rx->prev->child = rx->next;
	else
		rx->prev->next = rx->next;
	if (rx->next)
		rx->next->prev = rx->prev;
	rx->next = NULL;
	rx->prev = NULL;
	p->heap = join(p->heap, below);
}

static u64 out(const struct esp_rx *rx)
{
	return rx->p_granted - rx->p_here;
}

static void active_take(struct esp_pull *p, struct esp_rx *rx)
{
	u32 i;

	for (i = 0; p->active[i] != rx; i++)
		;
	p->active[i] = p->active[--p->nactive];
}

/* All its bytes are granted, or it ends. */
static void take(struct esp_pull *p, struct esp_rx *rx)
{
	if (rx->p_state == PULL_HEAP)
		heap_take(p, rx);
	else if (rx->p_state == PULL_ACTIVE)
		active_take(p, rx);
	else
		esp_unlink(&rx->p_link);
}

/* Bytes per 2^20 ns of all rails together. 1e9 / 2^30 is 0.9313; its inverse as shifts. */
void esp_pull_rate(struct esp_node *n)
{
	u64 rate = 0;
	u32 i;

	for (i = 0; i < ESP_PATHS; i++) {
		const struct esp_rail *r = esp_rail_at(n, i);

		if (r)
			rate += r->speed ? r->speed : n->p.pull_rate;
	}
	n->pull.rate = (rate >> 10) + (rate >> 14) + (rate >> 17) + (rate >> 18);
}

static u64 round_trip(const struct esp_flow *f, bool least)
{
	const struct esp_params *q = &f->node->p;
	u64 rtt = 0;
	u32 i;

	for (i = 0; i < ESP_PATHS; i++) {
		const struct esp_path *p = &f->path[i];

		if (esp_path_usable(p))
			rtt = esp_max(rtt, !p->rtt_valid ? q->rtt_init
					   : least       ? p->rtt_min
							 : p->srtt);
	}
	return esp_min(rtt ? rtt : q->rtt_init, 10 * ESP_MS);
}

/* One that has not delivered for so long is stuck. */
u64 esp_pull_patience(const struct esp_flow *f)
{
	return 4 * round_trip(f, false) + 2 * f->node->p.rto_min;
}

/*
 * What its sender may have outstanding: its round trip's worth of our downlink. A path that carries
 * large frames one way is taken to do so the other way.
 */
void esp_pull_size(const struct esp_flow *f, struct esp_rx *rx)
{
	const struct esp_params *q = &f->node->p;
	u64 bytes = (f->node->pull.rate * (round_trip(f, true) >> 4)) >> 16;
	u32 i;

	bytes = (bytes * ((q->pull_pct << 10) / 100)) >> 10;
	rx->p_limit = (u32)esp_min(esp_max(bytes, q->pull_min), 1u << 30);
	rx->p_patience = esp_pull_patience(f);
	rx->p_unit = ESP_MTU_MIN;
	for (i = 0; i < ESP_PATHS; i++)
		if (esp_path_usable(&f->path[i]))
			rx->p_unit = (u32)esp_max(rx->p_unit, f->path[i].mtu);
	rx->p_unit -= sizeof(struct esp_hdr) + sizeof(struct esp_pulled);
}

void esp_pull_add(struct esp_node *n, struct esp_rx *rx, u32 mid, u32 serial, u64 now)
{
	if (rx->p_state != PULL_OUT) {
		if ((s32)(serial - rx->p_serial) <= 0)
			return; /* another CPU was faster with a newer one */
		esp_pull_remove(n, rx);
	}
	rx->p_mid = mid;
	rx->p_serial = serial;
	rx->p_granted = 0;
	rx->p_here = 0;
	rx->p_last = now;
	rx->p_stalled = false;
	rx->p_state = PULL_HEAP;
	rx->child = NULL;
	rx->next = NULL;
	rx->prev = NULL;
	esp_link_init(&rx->p_link);
	n->pull.limit = esp_max(n->pull.limit, rx->p_limit + rx->p_unit);
	n->pull.heap = join(n->pull.heap, rx);
}

void esp_pull_arrived(struct esp_node *n, struct esp_rx *rx, u64 bytes, u64 now)
{
	if (rx->p_state == PULL_OUT)
		return;
	bytes = esp_min(bytes, out(rx));
	rx->p_here += bytes;
	rx->p_last = now;
	if (!rx->p_stalled) {
		n->pull.out -= bytes;
	} else if (!out(rx) || n->pull.out + out(rx) <= rx->p_limit) {
		/* Before, others may have its share. */
		rx->p_stalled = false;
		n->pull.out += out(rx);
	}
}

void esp_pull_remove(struct esp_node *n, struct esp_rx *rx)
{
	if (rx->p_state == PULL_OUT)
		return;
	take(&n->pull, rx);
	if (!rx->p_stalled)
		n->pull.out -= out(rx);
	rx->p_state = PULL_OUT;
}

static void check(struct esp_node *n, struct esp_rx *rx, u64 now)
{
	if (rx->p_stalled || !out(rx) || now < rx->p_last + rx->p_patience)
		return;
	rx->p_stalled = true;
	n->pull.out -= out(rx);
	env_count(n, ESP_C_pull_stalled, 1);
}

/* Those that have grants and do not deliver hold nobody up any more. */
void esp_pull_check(struct esp_node *n, u64 now)
{
	struct esp_pull *p = &n->pull;
	struct esp_link *l;
	u32 i;

	for (i = 0; i < p->nactive; i++)
		check(n, p->active[i], now);
	for (l = p->granted.next; l != &p->granted; l = l->next)
		check(n, esp_entry(l, struct esp_rx, p_link), now);
}

/* The one to be granted next, and how far; NULL if none may be. */
static struct esp_rx *next(struct esp_node *n, u64 *upto)
{
	struct esp_pull *p = &n->pull;
	struct esp_rx *best = p->nactive < ESP_ACTIVE ? p->heap : NULL;
	u64 step, space;
	u32 i;

	if (best && !n->p.no_pull && p->out >= best->p_limit)
		best = NULL;
	for (i = 0; i < p->nactive; i++) {
		struct esp_rx *rx = p->active[i];
		u64 mine = esp_max(p->out, rx->p_stalled ? rx->p_limit : out(rx));

		/* Not before a few frames may go at once. */
		step = esp_min(esp_min(4ull * rx->p_unit, rx->p_limit >> 2), left(rx));
		if (mine + step <= rx->p_limit && (!best || left(rx) < left(best)))
			best = rx;
	}
	if (!best)
		return NULL;
	if (n->p.no_pull) {
		*upto = best->total;
		return best;
	}
	space = best->p_limit - esp_max(p->out, out(best));
	step = (u32)space / best->p_unit * best->p_unit; /* whole frames, at least one */
	step = esp_max(step, best->p_unit);
	*upto = best->p_granted + esp_min(step, left(best));
	return best;
}

/* Up to @max grants to be said. */
u32 esp_pull_next(struct esp_node *n, struct esp_granted *g, u32 max, u64 now)
{
	struct esp_pull *p = &n->pull;
	u32 k;

	for (k = 0; k < max; k++) {
		u64 upto;
		struct esp_rx *rx = next(n, &upto);

		if (!rx)
			break;
		if (rx->p_state == PULL_HEAP) {
			heap_take(p, rx);
			p->active[p->nactive++] = rx;
			rx->p_state = PULL_ACTIVE;
			rx->p_last = now;
		}
		if (!out(rx))
			rx->p_last = now;
		p->out += upto - rx->p_granted;
		rx->p_granted = upto;
		if (upto == rx->total) {
			active_take(p, rx);
			rx->p_state = PULL_GRANTED;
			esp_append(&p->granted, &rx->p_link);
		}
		env_count(n, ESP_C_pull_grant, 1);
		env_flow_get(rx->flow);
		g[k].f = rx->flow;
		g[k].mid = rx->p_mid;
		g[k].serial = rx->p_serial;
		g[k].upto = upto;
	}
	return k;
}
