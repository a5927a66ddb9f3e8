// SPDX-License-Identifier: BSD-3-Clause
/* The slow half of the event queue, see queue.h. Used by loop.c and whoever schedules. */
#include <stdlib.h>

#include "queue.h"

void sim_queue_grow(struct sim_queue *q, struct sim_bucket *b)
{
	u32 room = b->room ? 2 * b->room : 64;
	struct sim_entry *e = realloc(b->e, room * sizeof(*e));

	if (!e) {
		q->failed = true;
		q->no_memory(q);
		return;
	}
	b->e = e;
	b->room = room;
}

u64 sim_queue_peek(const struct sim_queue *q)
{
	const struct sim_bucket *from = &q->b[0];
	u64 least = q->last;
	u32 i, k = 0;

	if (from->first == from->n) {
		do {
			from = &q->b[++k];
		} while (!from->n);
		least = from->e[0].at;
		for (i = 1; i < from->n; i++)
			if (from->e[i].at < least)
				least = from->e[i].at;
	}
	return least;
}

void sim_queue_refill(struct sim_queue *q)
{
	struct sim_bucket *from;
	u64 least;
	u32 i, k = 1;

	q->b[0].first = 0;
	q->b[0].n = 0;
	while (!q->b[k].n)
		k++;
	from = &q->b[k];
	least = from->e[0].at;
	for (i = 1; i < from->n; i++)
		if (from->e[i].at < least)
			least = from->e[i].at;
	q->last = least;
	for (i = 0; i < from->n; i++) {
		u64 differs = from->e[i].at ^ least;
		struct sim_bucket *b = &q->b[differs ? 64 - __builtin_clzll(differs) : 0];

		if (b->n == b->room)
			sim_queue_grow(q, b);
		if (q->failed)
			return;
		b->e[b->n++] = from->e[i];
	}
	from->n = 0;
}

void sim_queue_free(struct sim_queue *q)
{
	u32 k;

	for (k = 0; k < 65; k++)
		free(q->b[k].e);
}
