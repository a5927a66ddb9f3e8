/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The graphs of a collective for all ranks, as `goal text' was asked for. Called by text.c.
 */
#include <errno.h>
#include <stdlib.h>

#include "tool.h"

bool build_rooted(enum goal_coll coll)
{
	switch (coll) {
	case GOAL_BCAST:
	case GOAL_GATHER:
	case GOAL_GATHERV:
	case GOAL_REDUCE:
	case GOAL_SCATTER:
	case GOAL_SCATTERV:
		return true;
	default:
		return false;
	}
}

bool build_neighborhood(enum goal_coll coll)
{
	return coll >= GOAL_NEIGHBOR_ALLGATHER && coll <= GOAL_NEIGHBOR_ALLTOALLW;
}

/* Arrays that describe @n equal blocks one behind the other, for the v and w forms. */
struct equal_blocks {
	uint64_t *bytes, *off;
	struct goal_blocks blocks;
};

static int equal_blocks(struct equal_blocks *e, uint32_t n, uint64_t bytes)
{
	uint32_t i;

	e->bytes = calloc(n, sizeof(*e->bytes));
	e->off = calloc(n, sizeof(*e->off));
	if (!e->bytes || !e->off) {
		free(e->bytes);
		free(e->off);
		return -ENOMEM;
	}
	for (i = 0; i < n; i++) {
		e->bytes[i] = bytes;
		e->off[i] = i * bytes;
	}
	e->blocks = (struct goal_blocks){ .bytes = e->bytes, .off = e->off };
	return 0;
}

/* The neighbors of @rank in the grid: in each dimension minus, then plus. */
static void grid_neighbors(const struct build_request *q, uint32_t rank, int32_t *neighbor)
{
	uint32_t stride = q->ranks, d;

	for (d = 0; d < q->ndims; d++) {
		uint32_t extent = q->dims[d];
		uint32_t at;

		stride /= extent;
		at = rank / stride % extent;
		neighbor[2 * d] = rank + ((at + extent - 1) % extent - (int64_t)at) * stride;
		neighbor[2 * d + 1] = rank + ((at + 1) % extent - (int64_t)at) * stride;
	}
}

static int build_neighbor(const struct build_request *q, const struct goal_comm *c,
			  const struct goal_blocks *blocks, struct goal_graph **g)
{
	int32_t neighbor[2 * (sizeof(q->dims) / sizeof(*q->dims))];
	struct goal_neighbors n = {
		.indegree = 2 * q->ndims,
		.outdegree = 2 * q->ndims,
		.sources = neighbor,
		.destinations = neighbor,
		.ndims = q->ndims,
	};

	grid_neighbors(q, c->rank, neighbor);
	switch (q->coll) {
	case GOAL_NEIGHBOR_ALLGATHER:
		return goal_neighbor_allgather(c, &n, q->bytes, q->bytes, g);
	case GOAL_NEIGHBOR_ALLGATHERV:
		return goal_neighbor_allgatherv(c, &n, q->bytes, blocks, g);
	case GOAL_NEIGHBOR_ALLTOALL:
		return goal_neighbor_alltoall(c, &n, q->bytes, q->bytes, g);
	default:
		return goal_neighbor_alltoallv(c, &n, blocks, blocks, g);
	}
}

/* Reductions add bytes: a simulator knows no other difference than their number. */
static const struct goal_reduction add_bytes = {
	.dtype = GOAL_TYPE_UINT8,
	.rop = GOAL_ROP_SUM,
	.size = 1,
	.commutative = true,
};

static int build_rank(const struct build_request *q, const struct goal_comm *c,
		      const struct goal_blocks *blocks, struct goal_graph **g)
{
	const struct goal_blocks *at_root = c->rank == q->root ? blocks : NULL;
	/* With a root, only its contribution can stand in the receive buffer. */
	const bool root_in_place = q->in_place && c->rank == q->root;

	switch (q->coll) {
	case GOAL_ALLGATHER:
		return goal_allgather(c, q->alg, q->bytes, q->bytes, q->in_place, g);
	case GOAL_ALLGATHERV:
		return goal_allgatherv(c, q->alg, q->bytes, blocks, q->in_place, g);
	case GOAL_ALLREDUCE:
		return goal_allreduce(c, q->alg, q->bytes, &add_bytes, q->in_place, g);
	case GOAL_ALLTOALL:
		return goal_alltoall(c, q->alg, q->bytes, q->bytes, q->in_place, g);
	case GOAL_ALLTOALLV:
	case GOAL_ALLTOALLW:
		return goal_alltoallv(c, q->alg, blocks, blocks, q->in_place, g);
	case GOAL_BARRIER:
		return goal_barrier(c, q->alg, g);
	case GOAL_BCAST:
		return goal_bcast(c, q->alg, q->root, q->bytes, g);
	case GOAL_EXSCAN:
		return goal_exscan(c, q->alg, q->bytes, &add_bytes, q->in_place, g);
	case GOAL_GATHER:
		return goal_gather(c, q->alg, q->root, q->bytes, root_in_place, g);
	case GOAL_GATHERV:
		return goal_gatherv(c, q->alg, q->root, q->bytes, at_root, root_in_place, g);
	case GOAL_REDUCE:
		return goal_reduce_to(c, q->alg, q->root, q->bytes, &add_bytes, root_in_place, g);
	case GOAL_REDUCE_SCATTER:
		return goal_reduce_scatter(c, q->alg, blocks->bytes, &add_bytes, q->in_place, g);
	case GOAL_REDUCE_SCATTER_BLOCK:
		return goal_reduce_scatter_block(c, q->alg, q->bytes, &add_bytes, q->in_place, g);
	case GOAL_SCAN:
		return goal_scan(c, q->alg, q->bytes, &add_bytes, q->in_place, g);
	case GOAL_SCATTER:
		return goal_scatter(c, q->alg, q->root, q->bytes, root_in_place, g);
	case GOAL_SCATTERV:
		return goal_scatterv(c, q->alg, q->root, q->bytes, at_root, root_in_place, g);
	default:
		return build_neighbor(q, c, blocks, g);
	}
}

static uint32_t *node_table(const struct build_request *q)
{
	uint32_t *node = calloc(q->ranks, sizeof(*node));
	uint32_t i;

	if (node)
		for (i = 0; i < q->ranks; i++)
			node[i] = i / q->per_node;
	return node;
}

int build_program(const struct build_request *q, struct goal_program **program, uint32_t *rank)
{
	struct goal_comm c = { .size = q->ranks };
	uint32_t nblocks = build_neighborhood(q->coll) ? 2 * q->ndims : q->ranks;
	struct equal_blocks e;
	struct goal_program *p;
	struct goal_graph *g;
	uint32_t *node = NULL;
	int err;

	*rank = 0;
	err = goal_program_create(q->ranks, &p);
	if (err)
		return err;
	err = equal_blocks(&e, nblocks, q->bytes);
	if (err)
		goto free_program;
	if (q->per_node) {
		node = node_table(q);
		if (!node) {
			err = -ENOMEM;
			goto free_blocks;
		}
		c.node = node;
	}
	for (c.rank = 0; c.rank < q->ranks; c.rank++) {
		*rank = c.rank;
		err = build_rank(q, &c, &e.blocks, &g);
		if (err < 0)
			goto free_node;
		err = goal_program_set(p, c.rank, g);
		if (err) {
			goal_graph_free(g);
			goto free_node;
		}
	}
	*program = p;
	p = NULL;
	err = 0;
free_node:
	free(node);
free_blocks:
	free(e.bytes);
	free(e.off);
free_program:
	goal_program_free(p);
	return err;
}
