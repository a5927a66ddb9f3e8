// SPDX-License-Identifier: GPL-2.0-only
/*
 * Memory as the core asks for it: objects of the node's pools, and room for messages that come
 * ahead of their receive. All of it was allocated when endpoints were opened.
 */
#include "home.h"

/*
 * May one more object of @p be had by who holds @held of them, @own of which were brought along? More
 * than these are had as long as half of the pool is free.
 */
static bool may(const struct kpool *p, u32 held, u32 own)
{
	return held < own || READ_ONCE(p->spare) > READ_ONCE(p->total) / 2;
}

static atomic_t *held(struct kep *e, enum esp_pool pool)
{
	return &e->rx_held[pool == ESP_POOL_RX_POSTED];
}

struct esp_rx *env_rx_get(struct esp_ep *ee, enum esp_pool pool)
{
	u32 own = pool == ESP_POOL_RX_POSTED ? KEP_POOL_RXP : KEP_POOL_RX;
	struct kep *e = kep_of(ee);
	struct kpool *p = &e->node->pool[pool];
	void *object;

	if (!may(p, (u32)atomic_read(held(e, pool)), own)) {
		kep_count(e, KEP_C_share_used_up, 1);
		return NULL;
	}
	object = kpool_get(p);
	if (object) {
		atomic_inc(held(e, pool));
		kep_get(e);
	}
	return object;
}

void env_rx_put(struct esp_ep *ee, enum esp_pool pool, struct esp_rx *rx)
{
	struct kep *e = kep_of(ee);

	kpool_put(&e->node->pool[pool], rx);
	atomic_dec(held(e, pool));
	kep_put(e);
}

/*
 * Refusals, aborts and questions wait for somebody, perhaps for a peer that does not exist: whoever
 * causes many must not take them all. They may outlive the endpoint, which must not wait for them.
 * Nobody has any of their own.
 */
struct esp_ctl *env_ctl_get(struct esp_node *en, u64 cookie)
{
	struct knode *n = knode_of(en);
	struct kpool *p = &n->pool[ESP_POOL_CTL];
	struct kep *e = cookie ? kep_by_cookie(n, cookie) : NULL;
	struct kshare *s = e ? e->share : NULL;
	struct esp_ctl *c;

	if (!may(p, s ? (u32)atomic_read(&s->ctls) : 0, s ? KEP_POOL_CTL : 0)) {
		if (e)
			kep_count(e, KEP_C_share_used_up, 1);
		return NULL;
	}
	c = kpool_get(p);
	if (!c)
		return NULL;
	c->account = s;
	if (s) {
		atomic_inc(&s->ctls);
		refcount_inc(&s->refs);
	}
	return c;
}

void env_ctl_put(struct esp_node *n, struct esp_ctl *c)
{
	struct kshare *s = c->account;

	kpool_put(&knode_of(n)->pool[ESP_POOL_CTL], c);
	if (!s)
		return;
	atomic_dec(&s->ctls);
	kshare_put(s);
}

/* Room comes in pieces of eager_max bytes; a message of none needs none. */
int env_room_get(struct esp_ep *ee, struct esp_rx *rx, u64 bytes)
{
	struct kep *e = kep_of(ee);

	rx->ref = NULL;
	if (bytes) {
		rx->ref = bytes <= e->room.size ? kpool_get(&e->room) : NULL;
		if (!rx->ref) {
			kep_count(e, KEP_C_room_refused, 1);
			return -ENOMEM;
		}
	}
	kep_count(e, KEP_C_room_taken, 1);
	kep_get(e); /* the message may outlive what it was for */
	return 0;
}

void env_room_put(struct esp_ep *ee, struct esp_rx *rx)
{
	struct kep *e = kep_of(ee);

	if (rx->ref)
		kpool_put(&e->room, rx->ref);
	kep_put(e);
}
