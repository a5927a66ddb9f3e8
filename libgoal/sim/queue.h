/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The event queue: a radix heap (Ahuja, Mehlhorn, Orlin, Tarjan, JACM 1990). Nothing is ever
 * pushed before what was popped last, so an event stands in the bucket of the highest bit in which
 * its time differs from that; a push appends to one array, a pop hands out the lowest one.
 * Events of the same time come out in the order of their pushes.
 */
#ifndef SIM_QUEUE_H
#define SIM_QUEUE_H

#include "env.h"

struct sim_entry {
	u64 at;
	u64 what; /* pointer and kind */
};

struct sim_bucket {
	struct sim_entry *e;
	u32 n, room;
	u32 first; /* of bucket 0: the next to be popped */
};

struct sim_queue {
	u64 last;
	u64 n;
	bool failed;                            /* there was not enough memory */
	void (*no_memory)(struct sim_queue *q); /* does not return */
	struct sim_bucket b[65];
};

void sim_queue_grow(struct sim_queue *q, struct sim_bucket *b);
/* Moves the earliest events to bucket 0; the queue is not empty. */
void sim_queue_refill(struct sim_queue *q);
void sim_queue_free(struct sim_queue *q);

static inline void sim_queue_push(struct sim_queue *q, u64 at, u32 kind, void *object)
{
	u64 differs = at ^ q->last;
	struct sim_bucket *b = &q->b[differs ? 64 - __builtin_clzll(differs) : 0];

	if (unlikely(b->n == b->room)) {
		sim_queue_grow(q, b);
		if (q->failed)
			return;
	}
	b->e[b->n].at = at;
	b->e[b->n++].what = (u64)(uintptr_t)object << 8 | kind;
	q->n++;
}

/* When the next event is, for somebody who may not take it; the queue is not empty. */
u64 sim_queue_peek(const struct sim_queue *q);

/* When the next event is, and from then on nothing can be pushed before it. */
static inline u64 sim_queue_time(struct sim_queue *q)
{
	if (q->b[0].first == q->b[0].n)
		sim_queue_refill(q);
	return q->last;
}

static inline void *sim_queue_pop(struct sim_queue *q, u32 *kind)
{
	struct sim_bucket *b = &q->b[0];
	u64 what;

	if (b->first == b->n)
		sim_queue_refill(q);
	what = b->e[b->first++].what;
	q->n--;
	if (b->first == b->n) {
		b->first = 0;
		b->n = 0;
	}
	*kind = what & 0xff;
	return (void *)(uintptr_t)(what >> 8);
}

#endif /* SIM_QUEUE_H */
