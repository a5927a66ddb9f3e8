/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which ranks share a node, and which is the first of each, from the table of node numbers. One
 * pass over the table each, and memory for what is found only, since communicators may have
 * a million ranks; nothing at all where there is no table. Called by barrier.c.
 */
#include <errno.h>
#include <stdlib.h>

#include "node.h"

static int list_add(struct rank_list *l, uint32_t rank, uint32_t *room)
{
	if (l->n == *room) {
		uint32_t more = *room ? 2 * *room : 16;
		uint32_t *bigger = realloc(l->rank, more * sizeof(*bigger));

		if (!bigger)
			return -ENOMEM;
		l->rank = bigger;
		*room = more;
	}
	l->rank[l->n++] = rank;
	return 0;
}

int node_members(const struct goal_comm *c, struct rank_list *l)
{
	uint32_t node, room = 0;

	*l = (struct rank_list){ .rank = NULL, .n = c->size, .me = c->rank };
	if (!c->node)
		return 0;
	l->n = 0;
	node = c->node[c->rank];
	for (uint32_t r = 0; r < c->size; r++) {
		if (c->node[r] != node)
			continue;
		if (r == c->rank)
			l->me = l->n;
		if (list_add(l, r, &room)) {
			rank_list_free(l);
			return -ENOMEM;
		}
	}
	return 0;
}

/*
 * Nodes seen so far. Their numbers are arbitrary, so it is a hash table with linear probing; an
 * entry is a place in the list of first ranks + 1.
 */
struct seen {
	uint32_t *slot;
	unsigned int bits; /* of the number of slots, which are at most half full */
};

static uint32_t *seen_slot(const struct seen *s, const struct goal_comm *c,
			   const struct rank_list *l, uint32_t node)
{
	/* multiplicative hashing; the upper bits are the well mixed ones */
	uint64_t i = (node * 0x9e3779b97f4a7c15ull) >> (64 - s->bits);

	while (s->slot[i] && c->node[l->rank[s->slot[i] - 1]] != node)
		i = (i + 1) & ((1ull << s->bits) - 1);
	return &s->slot[i];
}

static int seen_grow(struct seen *s, const struct goal_comm *c, const struct rank_list *l)
{
	struct seen bigger = { .bits = s->bits + 2 };

	bigger.slot = calloc(1ull << bigger.bits, sizeof(*bigger.slot));
	if (!bigger.slot)
		return -ENOMEM;
	for (uint32_t i = 0; i < l->n; i++)
		*seen_slot(&bigger, c, l, c->node[l->rank[i]]) = i + 1;
	free(s->slot);
	*s = bigger;
	return 0;
}

int node_leaders(const struct goal_comm *c, struct rank_list *l)
{
	struct seen seen = { .bits = 4 };
	uint32_t room = 0;
	int err;

	*l = (struct rank_list){ .rank = NULL, .n = 1, .me = c->rank == 0 ? 0 : 1 };
	if (!c->node)
		return 0;
	l->n = 0;
	err = seen_grow(&seen, c, l);
	for (uint32_t r = 0; r < c->size && !err; r++) {
		uint32_t *slot;

		/* ranks are usually placed node by node */
		if (r && c->node[r] == c->node[r - 1])
			continue;
		slot = seen_slot(&seen, c, l, c->node[r]);
		if (*slot)
			continue;
		*slot = l->n + 1;
		err = list_add(l, r, &room);
		if (!err && 2ull * l->n > 1ull << seen.bits)
			err = seen_grow(&seen, c, l);
	}
	free(seen.slot);
	if (err) {
		rank_list_free(l);
		return err;
	}
	l->me = l->n;
	for (uint32_t i = 0; i < l->n; i++)
		if (l->rank[i] == c->rank)
			l->me = i;
	return 0;
}

void rank_list_free(struct rank_list *l)
{
	free(l->rank);
	l->rank = NULL;
}
