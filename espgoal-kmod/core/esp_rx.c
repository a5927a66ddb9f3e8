// SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause
/*
 * Receptions: messages that more than one frame brings. Which bytes are here, in whatever order
 * and pieces they come; and what becomes of a reception when its flow begins anew or its run ends.
 */
#include "esp_int.h"

struct esp_rx *esp_rx_new(struct esp_flow *f, enum esp_pool pool, const struct esp_key *k,
			  struct esp_ep *ep, u64 total, bool pull)
{
	struct esp_rx *rx = ep ? env_rx_get(ep, pool) : env_pool_get(f->node, pool);

	if (!rx)
		return NULL;
	memset(rx, 0, sizeof(*rx));
	esp_link_init(&rx->of_flow.link);
	esp_link_init(&rx->say);
	esp_link_init(&rx->p_link);
	rx->key = *k;
	rx->ep = ep;
	rx->flow = f;
	env_flow_get(f);
	rx->total = total;
	rx->pull = pull;
	rx->pool = pool;
	return rx;
}

static inline struct esp_rx **head(struct esp_flow *f, u32 mid)
{
	return &f->rx_hash[mid % ESP_RX_HASH];
}

struct esp_rx *esp_rx_find(struct esp_flow *f, u32 mid)
{
	struct esp_rx *rx = *head(f, mid);

	while (rx && rx->mid != mid)
		rx = rx->hash;
	return rx;
}

/* It is the peer's message @mid. */
static void name(struct esp_flow *f, struct esp_rx *rx, u32 mid)
{
	rx->mid = mid;
	rx->serial = ++f->serial;
	rx->has_mid = true;
	rx->hash = *head(f, mid);
	*head(f, mid) = rx;
}

static void unname(struct esp_flow *f, struct esp_rx *rx)
{
	struct esp_rx **at;

	esp_unlink(&rx->say);
	if (!rx->has_mid)
		return;
	for (at = head(f, rx->mid); *at != rx; at = &(*at)->hash)
		;
	*at = rx->hash;
	rx->has_mid = false;
}

/* What a peer sends is under keys that it chooses, so the heads must not be known. */
static struct esp_rx **key_head(struct esp_flow *f, const struct esp_key *k)
{
	const u64 word[] = { k->nonce, k->cookie, (u64)k->opid << 32 | k->start,
			     (u64)k->src << 32 | k->tag, k->instance };
	u64 x = f->seed;
	u32 i;

	for (i = 0; i < sizeof(word) / sizeof(*word); i++) {
		x = (x ^ word[i]) * 0x9e3779b97f4a7c15ull;
		x ^= x >> 32;
	}
	return &f->rx_key[x % ESP_RX_KEYS];
}

struct esp_rx *esp_rx_of(struct esp_flow *f, struct esp_rx *prev, const struct esp_key *k)
{
	struct esp_rx *rx = prev ? prev->same : *key_head(f, k);

	while (rx && !esp_same_key(&rx->key, k))
		rx = rx->same;
	return rx;
}

void esp_rx_enter_unnamed(struct esp_flow *f, struct esp_rx *rx)
{
	struct esp_rx **h = key_head(f, &rx->key);

	rx->same = *h;
	*h = rx;
	f->nrx++;
	esp_append(&f->rx, &rx->of_flow.link);
}

void esp_rx_enter(struct esp_flow *f, struct esp_rx *rx, u32 mid)
{
	name(f, rx, mid);
	esp_rx_enter_unnamed(f, rx);
}

/* The flow has nothing to do with it any more. It may have left already. */
void esp_rx_leave(struct esp_flow *f, struct esp_rx *rx)
{
	struct esp_rx **at;

	unname(f, rx);
	if (!esp_linked(&rx->of_flow.link))
		return;
	for (at = key_head(f, &rx->key); *at != rx; at = &(*at)->same)
		;
	*at = rx->same;
	f->nrx--;
	esp_unlink(&rx->of_flow.link);
}

/* Bytes [from, to) are here: how many of them were not; -1: too many pieces, take it later. */
s64 esp_rx_add(struct esp_rx *rx, u64 from, u64 to)
{
	u64 fresh = to - from;
	u32 i, j;

	/* Those before i end before it begins, j is the first that begins behind its end. */
	for (i = 0; i < rx->nrange && rx->range[i].to < from; i++)
		;
	for (j = i; j < rx->nrange && rx->range[j].from <= to; j++) {
		u64 a = esp_max(from, rx->range[j].from), b = esp_min(to, rx->range[j].to);

		fresh -= b - a;
	}
	if (!fresh)
		return 0;
	if (i == j) {
		if (rx->nrange == ESP_RANGES)
			return -1;
		for (j = rx->nrange++; j > i; j--)
			rx->range[j] = rx->range[j - 1];
		rx->range[i].from = from;
		rx->range[i].to = to;
	} else {
		rx->range[i].from = esp_min(from, rx->range[i].from);
		rx->range[i].to = esp_max(to, rx->range[j - 1].to);
		for (i++; j < rx->nrange; i++, j++)
			rx->range[i] = rx->range[j];
		rx->nrange = i;
	}
	rx->here += fresh;
	return (s64)fresh;
}

/* It is over, for good or bad; given back as soon as no fragment is on its way into place. */
void esp_rx_end(struct esp_flow *f, struct esp_rx *rx, s32 status, struct esp_todo *t)
{
	if (rx->state == ESP_RX_OVER)
		return;
	esp_rx_leave(f, rx);
	rx->state = ESP_RX_OVER;
	rx->status = status;
	if (!rx->busy)
		esp_append(&t->rx, &rx->of_flow.link);
}

/*
 * The run here wants no more of it. The run's share ends now, what is left of it tells the sender;
 * a sender of short messages needs no telling, the rest of them is thrown away.
 */
void esp_rx_stop(struct esp_flow *f, struct esp_rx *rx, s32 status, struct esp_todo *t)
{
	if (!rx->pull || !rx->has_mid || f->state != ESP_FLOW_UP || rx->busy || rx->run) {
		esp_rx_end(f, rx, status, t);
		return;
	}
	rx->state = ESP_RX_STOP;
	rx->status = status;
	if (!esp_linked(&rx->say))
		esp_append(&f->say, &rx->say);
}

static inline struct esp_rx *rx_at(struct esp_link *l)
{
	struct esp_row *row = esp_entry(l, struct esp_row, link);

	return row->mark ? NULL : esp_entry(row, struct esp_rx, of_flow);
}

/*
 * The sender has to begin anew, and so have those that it had begun. What is all here, and only on
 * its way into place, is not among them: the sender may know that already.
 */
void esp_rx_renew(struct esp_flow *f, struct esp_todo *t)
{
	struct esp_link *l, *next;

	for (l = f->rx.next; l != &f->rx; l = next) {
		struct esp_rx *rx = rx_at(l);

		next = l->next;
		if (!rx)
			continue;
		if (rx->busy && rx->here == rx->total) {
			esp_rx_leave(f, rx);
			continue;
		}
		switch (rx->state) {
		case ESP_RX_BOUND:
		case ESP_RX_ORPHAN:
			unname(f, rx);
			rx->state = ESP_RX_ORPHAN;
			rx->here = 0;
			rx->granted = 0;
			rx->nrange = 0;
			env_count(f->node, ESP_C_rx_orphan, 1);
			break;
		case ESP_RX_WAITING:
			unname(f, rx);
			break;
		default:
			esp_rx_end(f, rx, -ECONNRESET, t);
			break;
		}
	}
}

/* The reception of an earlier incarnation that this message goes on with, now under its new id. */
struct esp_rx *esp_rx_adopt(struct esp_flow *f, const struct esp_key *k, u32 mid, u64 total)
{
	struct esp_rx *rx;

	for (rx = esp_rx_of(f, NULL, k); rx; rx = esp_rx_of(f, rx, k)) {
		if (rx->has_mid || rx->total != total)
			continue;
		if (rx->state == ESP_RX_ORPHAN)
			rx->state = ESP_RX_BOUND;
		else if (rx->state != ESP_RX_WAITING)
			continue;
		name(f, rx, mid);
		env_count(f->node, ESP_C_rx_adopted, 1);
		return rx;
	}
	return NULL;
}

bool esp_rx_end_all(struct esp_flow *f, s32 status, u32 *left, struct esp_todo *t)
{
	struct esp_link *l, *next;

	for (l = f->rx.next; l != &f->rx; l = next) {
		struct esp_rx *rx = rx_at(l);

		next = l->next;
		if (!rx)
			continue;
		if (!*left)
			return true;
		--*left;
		if (rx->state == ESP_RX_WAITING)
			esp_rx_leave(f, rx); /* its run has it */
		else
			esp_rx_end(f, rx, status, t);
	}
	return false;
}

bool esp_rx_close(struct esp_flow *f, struct esp_row *at, const struct esp_ep *ep, u32 *left,
		  struct esp_todo *t)
{
	struct esp_link *l, *next;

	if (!esp_linked(&at->link))
		return false;
	for (l = at->link.next; l != &f->rx && *left; l = next, --*left) {
		struct esp_rx *rx = rx_at(l);

		next = l->next;
		if (rx && rx->ep == ep && rx->state != ESP_RX_WAITING)
			esp_rx_end(f, rx, -ECANCELED, t);
	}
	esp_unlink(&at->link);
	if (l == &f->rx)
		return false;
	esp_link_before(l, &at->link);
	return true;
}
