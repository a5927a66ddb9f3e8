// SPDX-License-Identifier: GPL-2.0-only
/*
 * Memory as the core asks for it: objects of the node's pools, and room for messages that come
 * ahead of their receive. All of it was allocated when endpoints were opened.
 */
#include "home.h"

/* What an endpoint holds of a pool; and how much of it is its own. */
static atomic_t *held(struct kep *e, enum esp_pool pool)
{
	return &e->rx_held[pool == ESP_POOL_RX_POSTED];
}

static u32 own(enum esp_pool pool)
{
	return pool == ESP_POOL_RX_POSTED ? KEP_POOL_RXP : KEP_POOL_RX;
}

/* An endpoint may have more than it has brought along as long as half of the pool is free. */
struct esp_rx *env_rx_get(struct esp_ep *ee, enum esp_pool pool)
{
	struct kep *e = kep_of(ee);
	struct kpool *p = &e->node->pool[pool];
	void *object;

	if ((u32)atomic_read(held(e, pool)) >= own(pool) &&
	    READ_ONCE(p->spare) <= READ_ONCE(p->total) / 2) {
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
