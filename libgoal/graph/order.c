/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The order in which the compiler numbers operations (Kahn 1962): independent ones first, then
 * always the earliest created of those whose dependencies are numbered. Called by compile.c.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "graph.h"

/* No dependency points forward: the order of creation is topological already. */
static bool created_in_order(const struct goal_graph *g)
{
	uint32_t i;

	for (i = 0; i < g->ndeps; i++)
		if (g->dep[i].before > g->dep[i].op)
			return false;
	return true;
}

/* A heap of operation numbers, the smallest on top. */
static void heap_push(uint32_t *heap, uint32_t n, uint32_t op)
{
	uint32_t i = n;

	while (i > 0 && heap[(i - 1) / 2] > op) {
		heap[i] = heap[(i - 1) / 2];
		i = (i - 1) / 2;
	}
	heap[i] = op;
}

static uint32_t heap_pop(uint32_t *heap, uint32_t n)
{
	uint32_t top = heap[0];
	uint32_t last = heap[n - 1];
	uint32_t i = 0, child;

	while ((child = 2 * i + 1) < n - 1) {
		if (child + 1 < n - 1 && heap[child + 1] < heap[child])
			child++;
		if (heap[child] >= last)
			break;
		heap[i] = heap[child];
		i = child;
	}
	heap[i] = last;
	return top;
}

/* Operations that wait for each operation, in compressed rows: first[n + 1], waits[ndeps]. */
static void rows_fill(const struct goal_graph *g, uint32_t *first, uint32_t *waits)
{
	uint32_t i;

	memset(first, 0, ((size_t)g->nops + 1) * sizeof(*first));
	for (i = 0; i < g->ndeps; i++)
		first[g->dep[i].before]++;
	for (i = 1; i <= g->nops; i++)
		first[i] += first[i - 1];
	/* first[op] is the end of its row now; filling from behind makes it the start. */
	for (i = g->ndeps; i-- > 0;)
		waits[--first[g->dep[i].before]] = g->dep[i].op;
}

/*
 * An operation on a cycle: every one that is left over has a predecessor that is left over, so
 * that walking back nops steps ends on a cycle. @back has room for one of each.
 */
static uint32_t find_cycle(const struct goal_graph *g, const uint32_t *left, uint32_t *back)
{
	uint32_t i, op = 0;

	for (i = 0; i < g->ndeps; i++) {
		const struct graph_dep *d = &g->dep[i];

		if (left[d->op] && left[d->before]) {
			back[d->op] = d->before;
			op = d->op;
		}
	}
	for (i = 0; i < g->nops; i++)
		op = back[op];
	return op;
}

static int order_with_heap(const struct goal_graph *g, uint32_t *left, uint32_t *number,
			   uint32_t *old, uint32_t numbered, uint32_t *cycle)
{
	uint32_t *first = malloc(((size_t)g->nops + 1) * sizeof(*first));
	uint32_t *waits = malloc((size_t)g->ndeps * sizeof(*waits));
	uint32_t *heap = malloc((size_t)g->nops * sizeof(*heap));
	uint32_t ready = 0, done = 0, i;
	int err = 0;

	if (!first || !waits || !heap) {
		err = -ENOMEM;
		goto free_work;
	}
	rows_fill(g, first, waits);
	for (;;) {
		/* What is numbered releases those that wait for it. */
		for (; done < numbered; done++)
			for (i = first[old[done]]; i < first[old[done] + 1]; i++)
				if (--left[waits[i]] == 0)
					heap_push(heap, ready++, waits[i]);
		if (!ready)
			break;
		old[numbered] = heap_pop(heap, ready--);
		number[old[numbered]] = numbered;
		numbered++;
	}
	if (numbered < g->nops) {
		*cycle = find_cycle(g, left, heap);
		err = -EINVAL;
	}
free_work:
	free(heap);
	free(waits);
	free(first);
	return err;
}

int graph_order(const struct goal_graph *g, uint32_t *number, uint32_t *old, uint32_t *nindep,
		uint32_t *cycle)
{
	uint32_t *left = calloc((size_t)g->nops + 1, sizeof(*left));
	uint32_t numbered = 0, i;
	int err = 0;

	if (!left)
		return -ENOMEM;
	for (i = 0; i < g->ndeps; i++)
		left[g->dep[i].op]++;
	for (i = 0; i < g->nops; i++) {
		if (left[i])
			continue;
		old[numbered] = i;
		number[i] = numbered++;
	}
	*nindep = numbered;
	if (created_in_order(g)) {
		for (i = 0; i < g->nops; i++) {
			if (!left[i])
				continue;
			old[numbered] = i;
			number[i] = numbered++;
		}
	} else {
		err = order_with_heap(g, left, number, old, numbered, cycle);
	}
	free(left);
	return err;
}
