// SPDX-License-Identifier: GPL-2.0-only
/*
 * Memory as the core asks for it: objects of the node's pools, and room for messages that come
 * ahead of their receive. All of it was allocated when endpoints were opened.
 */
#include "home.h"

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
