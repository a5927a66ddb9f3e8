/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A stable sort for the compiler: linear for the large, and nothing to do for what is sorted,
 * which most graphs are. Called by compile.c.
 */
#include <stdbool.h>
#include <string.h>

#include "graph.h"

#define FEW 32

static bool sorted(const struct graph_key *k, uint32_t n)
{
	uint32_t i;

	for (i = 1; i < n; i++)
		if (k[i - 1].key > k[i].key)
			return false;
	return true;
}

static void insertion_sort(struct graph_key *k, uint32_t n)
{
	uint32_t i, j;

	for (i = 1; i < n; i++) {
		struct graph_key x = k[i];

		for (j = i; j > 0 && k[j - 1].key > x.key; j--)
			k[j] = k[j - 1];
		k[j] = x;
	}
}

/* One pass of a radix sort, by the byte at @shift. */
static void radix_pass(const struct graph_key *from, struct graph_key *to, uint32_t n, int shift)
{
	uint32_t place[256] = { 0 };
	uint32_t i, sum = 0;

	for (i = 0; i < n; i++)
		place[from[i].key >> shift & 0xff]++;
	for (i = 0; i < 256; i++) {
		uint32_t count = place[i];

		place[i] = sum;
		sum += count;
	}
	for (i = 0; i < n; i++)
		to[place[from[i].key >> shift & 0xff]++] = from[i];
}

void graph_sort(struct graph_key *k, struct graph_key *tmp, uint32_t n)
{
	struct graph_key *from = k, *to = tmp, *swap;
	uint64_t differ = 0;
	uint32_t i;
	int shift;

	if (sorted(k, n))
		return;
	if (n <= FEW) {
		insertion_sort(k, n);
		return;
	}
	for (i = 1; i < n; i++)
		differ |= k[i].key ^ k[0].key;
	for (shift = 0; shift < 64; shift += 8) {
		if (!(differ >> shift & 0xff))
			continue;
		radix_pass(from, to, n, shift);
		swap = from;
		from = to;
		to = swap;
	}
	if (from != k)
		memcpy(k, from, n * sizeof(*k));
}
