/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which ranks share a node, and which is the first of each, from the table of node numbers.
 * One pass over the table each; nothing at all where there is none. Called by barrier.c.
 */
#include <errno.h>
#include <stdlib.h>

#include "node.h"

int node_members(const struct goal_comm *c, struct rank_list *l)
{
	uint32_t n = 0;

	l->rank = NULL;
	l->n = c->size;
	l->me = c->rank;
	if (!c->node)
		return 0;
	for (uint32_t r = 0; r < c->size; r++)
		n += c->node[r] == c->node[c->rank];
	l->rank = malloc(n * sizeof(*l->rank));
	if (!l->rank)
		return -ENOMEM;
	l->n = 0;
	for (uint32_t r = 0; r < c->size; r++) {
		if (c->node[r] != c->node[c->rank])
			continue;
		if (r == c->rank)
			l->me = l->n;
		l->rank[l->n++] = r;
	}
	return 0;
}

/*
 * Node numbers are arbitrary, so those seen are kept in a hash table with linear probing, at
 * most half full; an entry is the node's first rank + 1.
 */
int node_leaders(const struct goal_comm *c, struct rank_list *l)
{
	uint32_t *table, *list;
	unsigned int bits = 1;
	uint64_t mask;
	int err = -ENOMEM;

	l->rank = NULL;
	l->n = 1;
	l->me = c->rank == 0 ? 0 : 1;
	if (!c->node)
		return 0;
	while (1ull << bits < 2ull * c->size)
		bits++;
	mask = (1ull << bits) - 1;
	table = calloc(mask + 1, sizeof(*table));
	if (!table)
		return -ENOMEM;
	list = malloc(c->size * sizeof(*list));
	if (!list)
		goto free_table;
	l->n = 0;
	for (uint32_t r = 0; r < c->size; r++) {
		/* multiplicative hashing; the upper bits are the well mixed ones */
		uint64_t i = (c->node[r] * 0x9e3779b97f4a7c15ull) >> (64 - bits);

		while (table[i] && c->node[table[i] - 1] != c->node[r])
			i = (i + 1) & mask;
		if (table[i])
			continue;
		table[i] = r + 1;
		list[l->n++] = r;
	}
	l->me = l->n;
	for (uint32_t i = 0; i < l->n; i++)
		if (list[i] == c->rank)
			l->me = i;
	l->rank = list;
	err = 0;
free_table:
	free(table);
	return err;
}

void rank_list_free(struct rank_list *l)
{
	free(l->rank);
}
