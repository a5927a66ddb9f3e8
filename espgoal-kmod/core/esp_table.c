// SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause
/*
 * Who is who in a rank table. Tables are large, and what is heard of a node is looked up in
 * those of all members: so a home may give a table an index, made once, which lets it be
 * searched by halves. Without one it is searched from front to back.
 */
#include "esp_int.h"

/*
 * The index: ranks in ascending order of their cookies, peers of their names, the peers' first
 * ranks.
 */
static inline u32 *by_cookie(u32 *index)
{
	return index;
}

static inline u32 *by_name(const struct esp_table *t, u32 *index)
{
	return index + t->nranks;
}

static inline u32 *firsts(const struct esp_table *t, u32 *index)
{
	return index + t->nranks + t->npeers;
}

static int order(const struct esp_table *t, bool peers, u32 a, u32 b)
{
	u64 x, y;

	if (peers)
		return memcmp(t->peer[a].node, t->peer[b].node, sizeof(t->peer[a].node));
	x = t->rank[a].cookie;
	y = t->rank[b].cookie;
	return x < y ? -1 : x > y;
}

/* The entry at @i sinks to its place in the heap of @n. */
static void sink(const struct esp_table *t, bool peers, u32 *heap, u32 n, u32 i)
{
	u32 moving = heap[i], child;

	for (; (child = 2 * i + 1) < n; i = child) {
		if (child + 1 < n && order(t, peers, heap[child], heap[child + 1]) < 0)
			child++;
		if (order(t, peers, moving, heap[child]) >= 0)
			break;
		heap[i] = heap[child];
	}
	heap[i] = moving;
}

/* Sorted, without memory of its own. -EINVAL: two of them are the same. */
static int sort(const struct esp_table *t, bool peers, u32 *at, u32 n)
{
	u32 i, last;

	for (i = 0; i < n; i++)
		at[i] = i;
	for (i = n / 2; i--;)
		sink(t, peers, at, n, i);
	for (i = n; i-- > 1;) {
		last = at[i];
		at[i] = at[0];
		at[0] = last;
		sink(t, peers, at, i, 0);
	}
	for (i = 1; i < n; i++)
		if (!order(t, peers, at[i - 1], at[i]))
			return -EINVAL;
	return 0;
}

size_t esp_table_index_size(u32 nranks, u32 npeers)
{
	return ((size_t)nranks + 2 * (size_t)npeers) * sizeof(u32);
}

int esp_table_index(struct esp_table *t, u32 *index)
{
	u32 *first = firsts(t, index), i;
	int rc;

	rc = sort(t, false, by_cookie(index), t->nranks);
	if (!rc)
		rc = sort(t, true, by_name(t, index), t->npeers);
	if (rc)
		return rc;
	for (i = 0; i < t->npeers; i++)
		first[i] = t->nranks;
	for (i = t->nranks; i--;)
		first[t->rank[i].peer] = i;
	t->index = index;
	return 0;
}

u32 esp_table_find(const struct esp_table *t, const u8 node[16])
{
	u32 *index = t->index, i, low = 0, high = t->npeers;

	if (!index) {
		for (i = 0; i < t->nranks; i++)
			if (!memcmp(t->peer[t->rank[i].peer].node, node, 16))
				break;
		return i;
	}
	while (low < high) {
		u32 middle = low + (high - low) / 2, at = by_name(t, index)[middle];
		int rc = memcmp(t->peer[at].node, node, 16);

		if (!rc)
			return firsts(t, index)[at];
		if (rc < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return t->nranks;
}

u32 esp_table_rank(const struct esp_table *t, u64 cookie)
{
	u32 *index = t->index, i, low = 0, high = t->nranks;

	if (!index) {
		for (i = 0; i < t->nranks && t->rank[i].cookie != cookie; i++)
			;
		return i;
	}
	while (low < high) {
		u32 middle = low + (high - low) / 2, at = by_cookie(index)[middle];

		if (t->rank[at].cookie == cookie)
			return at;
		if (t->rank[at].cookie < cookie)
			low = middle + 1;
		else
			high = middle;
	}
	return t->nranks;
}
