// SPDX-License-Identifier: BSD-3-Clause
/*
 * Memory of a simulation: classes of sizes, carved from large chunks and kept for reuse, so that
 * events cost no malloc. With AddressSanitizer every object is a malloc of its own: what it
 * sees then is worth more than speed. All of it goes with the simulation, also when that has
 * failed in the middle of something. Here too: the pools and the unexpected memory that the
 * core asks for, with their bounds.
 */
#include <stdlib.h>

#include "inside.h"

#define CHUNK (1u << 20)

#ifdef __SANITIZE_ADDRESS__
#define SIM_EACH_ALONE 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SIM_EACH_ALONE 1
#endif
#endif

/* Nothing can be wound down then: out to where the caller of the library waits. */
void sim_no_memory(struct sim *s)
{
	s->no_memory = true;
	sim_fail(s, "there is not enough memory for the simulation");
	if (!s->escape)
		abort();
	longjmp(*s->escape, 1);
}

static void *must(struct sim *s, void *p)
{
	if (!p)
		sim_no_memory(s);
	return p;
}

/* An object of its own, in front of which stands its place in the list of them. */
struct alone {
	struct alone *next, **prev;
};

static void *alone_get(struct sim *s, size_t bytes)
{
	struct alone *a = must(s, malloc(sizeof(*a) + bytes));

	a->next = s->alone;
	a->prev = &s->alone;
	if (a->next)
		a->next->prev = &a->next;
	s->alone = a;
	return a + 1;
}

static void alone_put(void *p)
{
	struct alone *a = (struct alone *)p - 1;

	*a->prev = a->next;
	if (a->next)
		a->next->prev = a->prev;
	free(a);
}

#ifndef SIM_EACH_ALONE
static u32 class_of(size_t bytes)
{
	return bytes <= 64 ? 0 : 58 - __builtin_clzll(bytes - 1);
}

static void *carve(struct sim *s, size_t bytes)
{
	void *p;

	if (s->chunk_left < bytes) {
		size_t room = bytes > CHUNK / 4 ? bytes : CHUNK;
		void **chunk = must(s, malloc(64 + room));

		*chunk = s->chunks;
		s->chunks = chunk;
		if (room == bytes)
			return (u8 *)chunk + 64;
		s->chunk = (u8 *)chunk + 64;
		s->chunk_left = room;
	}
	p = s->chunk;
	s->chunk += bytes;
	s->chunk_left -= bytes;
	return p;
}
#endif

void *sim_get(struct sim *s, size_t bytes)
{
	s->objects++;
#ifdef SIM_EACH_ALONE
	return alone_get(s, bytes);
#else
	{
		u32 k = class_of(bytes);
		void **p;

		if (k >= SIM_CLASSES)
			return alone_get(s, bytes);
		p = s->free[k];
		if (!p)
			return carve(s, 64ull << k);
		s->free[k] = *p;
		return p;
	}
#endif
}

void sim_put(struct sim *s, void *p, size_t bytes)
{
	s->objects--;
#ifdef SIM_EACH_ALONE
	(void)bytes;
	alone_put(p);
#else
	{
		u32 k = class_of(bytes);

		if (k >= SIM_CLASSES) {
			alone_put(p);
			return;
		}
		*(void **)p = s->free[k];
		s->free[k] = p;
	}
#endif
}

void sim_memory_free(struct sim *s)
{
	void **chunk = s->chunks, **next;

	while (s->alone)
		alone_put(s->alone + 1);
	for (; chunk; chunk = next) {
		next = *chunk;
		free(chunk);
	}
}

bool sim_denied(struct sim *s)
{
	if (likely(!s->c.adversary.no_memory) || s->ending ||
	    !sim_chance(&s->random, s->c.adversary.no_memory))
		return false;
	s->t.denied++;
	return true;
}

void *env_pool_get(struct esp_node *en, enum esp_pool pool)
{
	struct sim_node *n = sim_node_of(en);
	struct sim *s = n->s;

	if (unlikely(s->c.pool[0] && n->pool_used[pool] >= s->c.pool[pool]))
		return NULL;
	if (sim_denied(s) || !env_any_ep(en))
		return NULL;
	n->pool_used[pool]++;
	return sim_get(s, esp_pool_size(pool));
}

void env_pool_put(struct esp_node *en, enum esp_pool pool, void *object)
{
	struct sim_node *n = sim_node_of(en);

	if (!n->pool_used[pool])
		sim_fail(n->s, "node %u gave back more of pool %u than it took", n->index, pool);
	n->pool_used[pool]--;
	sim_put(n->s, object, esp_pool_size(pool));
}

int env_room_get(struct esp_ep *ee, struct esp_rx *rx, u64 bytes)
{
	struct sim_ep *e = (struct sim_ep *)ee;
	struct sim *s = e->node->s;

	if (e->rooms >= s->c.rooms || e->room_used + bytes > s->c.room || sim_denied(s))
		return -ENOMEM;
	e->rooms++;
	e->room_used += bytes;
	rx->ref = sim_get(s, bytes + 1);
	return 0;
}

void env_room_put(struct esp_ep *ee, struct esp_rx *rx)
{
	struct sim_ep *e = (struct sim_ep *)ee;

	e->rooms--;
	e->room_used -= rx->total;
	sim_put(e->node->s, rx->ref, rx->total + 1);
}
