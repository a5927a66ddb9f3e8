/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The neighborhood collectives against their point-to-point reference, in three forms: Cartesian
 * grids of one to three dimensions, periodic or not, dimensions of size 1 and 2 included; graphs;
 * distributed graphs with duplicate edges, self edges, and ranks of degree 0 on either side.
 *
 * neighbor [-s seed] [-a] [collective ...]
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sweep.h"

static struct sweep sweep;

static void try_comm(MPI_Comm comm, const char *name)
{
	struct where w;

	if (comm == MPI_COMM_NULL)
		return;
	where_set(&w, comm, name, 0);
	sweep_comm(&sweep, &w);
	MPI_OK(MPI_Comm_free(&comm));
}

static void try_cart(int ndims, const int *dims, int periods)
{
	int wraps[3] = { periods & 1, periods >> 1 & 1, periods >> 2 & 1 };
	char name[64];
	MPI_Comm comm;

	snprintf(name, sizeof(name), "cart %dx%dx%d periods %d", dims[0], dims[1], dims[2],
		 periods);
	check_context("%s", name);
	MPI_OK(MPI_Cart_create(MPI_COMM_WORLD, ndims, dims, wraps, 0, &comm));
	try_comm(comm, name);
}

/* Every way to lay the ranks out in up to three dimensions, with every periodicity. */
static void carts(void)
{
	int n = check_size;

	for (int periods = 0; periods < 2; periods++)
		try_cart(1, (int[3]){ n, 1, 1 }, periods);
	for (int a = 1; a <= n; a++) {
		if (n % a)
			continue;
		for (int periods = 0; periods < 4; periods++)
			try_cart(2, (int[3]){ a, n / a, 1 }, periods);
	}
	for (int periods = 0; periods < 8; periods++) {
		int dims[3] = { 0, 0, 0 };

		MPI_OK(MPI_Dims_create(n, 3, dims));
		try_cart(3, dims, periods);
		try_cart(3, (int[3]){ n, 1, 1 }, periods);
		try_cart(3, (int[3]){ 1, n, 1 }, periods);
	}
	/* A grid of one rank in a larger job. */
	try_cart(2, (int[3]){ 1, 1, 1 }, 3);
}

static void try_graph(const char *name, int n, const int *index, const int *edges)
{
	MPI_Comm comm;

	check_context("%s", name);
	MPI_OK(MPI_Graph_create(MPI_COMM_WORLD, n, index, edges, 0, &comm));
	try_comm(comm, name);
}

static void graphs(void)
{
	int n = check_size, *index = calloc((size_t)n, sizeof(int)), m = 0;
	int *edges = calloc((size_t)(4 * n), sizeof(int));

	if (!index || !edges)
		abort();
	try_graph("graph without edges", n, index, edges);
	/* A ring, each edge in both directions, and twice. */
	for (int r = 0; r < n; r++) {
		edges[m++] = (r + 1) % n;
		edges[m++] = (r + n - 1) % n;
		edges[m++] = (r + 1) % n;
		edges[m++] = (r + n - 1) % n;
		index[r] = m;
	}
	try_graph("graph: double ring", n, index, edges);
	/* A star; its centre also has an edge to itself. */
	m = 0;
	edges[m++] = 0;
	for (int r = 1; r < n; r++)
		edges[m++] = r;
	index[0] = m;
	for (int r = 1; r < n; r++) {
		edges[m++] = 0;
		index[r] = m;
	}
	try_graph("graph: star", n, index, edges);
	free(index);
	free(edges);
}

/* How many edges lead from @a to @b in the @kind-th distributed graph. */
static int edges(int kind, int a, int b)
{
	int n = check_size;

	switch (kind) {
	case 0: /* a directed ring; rank 0 to itself when alone */
		return b == (a + 1) % n;
	case 1: /* random, self edges and duplicates included */
		return (int)(check_random(4242, (uint64_t)a, (uint64_t)b) % 3);
	case 2: /* all send to 0 twice; the last rank has no edge at all */
		return (b == 0 && a != n - 1) ? 2 : 0;
	default:
		return 0; /* none */
	}
}

#define DIST_KINDS 4

static void try_dist(int kind, bool adjacent)
{
	int n = check_size, in = 0, out = 0, *src, *dst, *weights;
	char name[64];
	MPI_Comm comm;

	snprintf(name, sizeof(name), "dist_graph %d%s", kind, adjacent ? " adjacent" : "");
	check_context("%s", name);
	src = calloc((size_t)(3 * n), sizeof(int));
	dst = calloc((size_t)(3 * n), sizeof(int));
	weights = calloc((size_t)(3 * n), sizeof(int));
	if (!src || !dst || !weights)
		abort();
	for (int r = 0; r < n; r++) {
		for (int k = 0; k < edges(kind, r, check_rank); k++)
			src[in++] = r;
	}
	/* In another order than the sources see: only the k-th meets the k-th. */
	for (int r = n - 1; r >= 0; r--) {
		for (int k = 0; k < edges(kind, check_rank, r); k++)
			dst[out++] = r;
	}
	if (adjacent)
		MPI_OK(MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, in, src, weights, out, dst,
						      weights, MPI_INFO_NULL, 0, &comm));
	else
		MPI_OK(MPI_Dist_graph_create(MPI_COMM_WORLD, 1, &check_rank, &out, dst, weights,
					     MPI_INFO_NULL, 0, &comm));
	try_comm(comm, name);
	free(src);
	free(dst);
	free(weights);
}

int main(int argc, char **argv)
{
	check_init(&argc, &argv, MPI_THREAD_SINGLE);
	sweep_open(&sweep, argc, argv, true);
	carts();
	graphs();
	for (int kind = 0; kind < DIST_KINDS; kind++) {
		try_dist(kind, true);
		try_dist(kind, false);
	}
	sweep_close();
	return check_end();
}
