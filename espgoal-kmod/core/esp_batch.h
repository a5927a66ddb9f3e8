/* SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause */
/*
 * The batch of a CPU or thread: which flows have something to send when its outermost entry is
 * through. Entries nest for every message, so all but that end is inline.
 */
#ifndef ESP_BATCH_H
#define ESP_BATCH_H

#include "esp.h"

/* Around whatever may send several messages: frames leave at the outermost end. */
static inline void esp_batch_enter(struct esp_node *n)
{
	env_batch(n)->depth++;
}

static inline void esp_batch_leave(struct esp_node *n, u64 now)
{
	struct esp_batch *b = env_batch(n);

	if (b->depth == 1 && b->first)
		esp_batch_flush(n, now);
	b->depth--;
}

/* @f will be flushed at the end. Under its lock. */
static inline void esp_batch_push(struct esp_flow *f)
{
	struct esp_batch *b = env_batch(f->node);

	if (f->batched || f->state == ESP_FLOW_DEAD)
		return;
	f->batched = true;
	env_flow_get(f);
	f->batch_next = b->first;
	b->first = f;
}

#endif /* ESP_BATCH_H */
