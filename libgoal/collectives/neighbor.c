/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The five neighborhood collectives, as one: blocks along the edges of a topology. Every operation
 * is independent, so everything is in flight at once; sends come first, to let the
 * neighbors go early. MPI_PROC_NULL neighbors and their blocks are left alone.
 *
 * Cartesian (MPI 4.0, section 8.6): what is sent in slot s (2 * dimension, + 1 for the positive
 * direction) arrives in slot s ^ 1 of the neighbor. The slot of the sender is the tag, so the
 * two neighbors in a dimension may be the same process, also this one.
 * Graphs: the k-th edge to a process meets its k-th edge from us. Messages of one tag match in
 * the order of creation, so that one tag does.
 *
 * Where all blocks of a direction are equal and have no bytes there are no messages: both ends
 * know, and MPI libraries need not even call where there is nothing to do. Elsewhere blocks of
 * no bytes are sent, since their receivers may believe that there are some.
 */
#include "draft.h"

/* Where the blocks are: of a vector, or at equal distances (0: everybody gets the same). */
struct edge_blocks {
	const struct goal_blocks *v; /* NULL: uniform */
	uint64_t bytes, stride;
	bool always; /* the other ends have vectors: send also what has no bytes */
};

static uint64_t edge_bytes(const struct edge_blocks *b, uint32_t i)
{
	return b->v ? b->v->bytes[i] : b->bytes;
}

static uint64_t edge_off(const struct edge_blocks *b, uint32_t i)
{
	return b->v ? b->v->off[i] : i * b->stride;
}

static bool edges_silent(const struct edge_blocks *b)
{
	return !b->v && !b->always && b->bytes == 0;
}

static void check_neighbors(struct draft *d, const struct goal_comm *c,
			    const struct goal_neighbors *n)
{
	uint64_t slots = 2ull * n->ndims;

	if (n->ndims && (n->indegree != slots || n->outdegree != slots))
		draft_fail(d, -EINVAL);
	for (uint32_t i = 0; i < n->outdegree; i++)
		if (n->destinations[i] < -1 || n->destinations[i] >= (int64_t)c->size)
			draft_fail(d, -EINVAL);
	for (uint32_t i = 0; i < n->indegree; i++)
		if (n->sources[i] < -1 || n->sources[i] >= (int64_t)c->size)
			draft_fail(d, -EINVAL);
}

/* The block of edge @out goes into that of edge @in, both of this rank. */
static void copy_edge(struct draft *d, const struct edge_blocks *send, uint32_t out,
		      const struct edge_blocks *recv, uint32_t in)
{
	draft_copy_block(d, at(GOAL_BUF_RECV, edge_off(recv, in)), edge_bytes(recv, in),
			 at(GOAL_BUF_SEND, edge_off(send, out)), edge_bytes(send, out));
}

/* Edges from this rank to itself; those out and those in must be as many. */
static void copy_self(struct draft *d, const struct goal_comm *c, const struct goal_neighbors *n,
		      const struct edge_blocks *send, const struct edge_blocks *recv)
{
	uint32_t in = 0;

	for (uint32_t out = 0; out < n->outdegree; out++) {
		if (n->destinations[out] != (int64_t)c->rank)
			continue;
		if (n->ndims) {
			in = out ^ 1;
			if (n->sources[in] != (int64_t)c->rank)
				draft_fail(d, -EINVAL);
			else
				copy_edge(d, send, out, recv, in);
			continue;
		}
		while (in < n->indegree && n->sources[in] != (int64_t)c->rank)
			in++;
		if (in == n->indegree)
			draft_fail(d, -EINVAL);
		else
			copy_edge(d, send, out, recv, in++);
	}
	if (n->ndims)
		return;
	for (; in < n->indegree; in++)
		if (n->sources[in] == (int64_t)c->rank)
			draft_fail(d, -EINVAL);
}

static int neighbor(const struct goal_comm *c, const struct goal_neighbors *n, enum goal_coll coll,
		    const struct edge_blocks *send, const struct edge_blocks *recv,
		    struct goal_graph **graph)
{
	struct draft d;
	uint32_t ntags;
	int err;

	if (!n)
		return -EINVAL;
	ntags = n->ndims ? 2 * n->ndims : 1;
	err = draft_begin(&d, c, coll, GOAL_ALG_LINEAR);
	if (err)
		return err;
	check_neighbors(&d, c, n);
	if (!send->v)
		draft_check_bytes(&d, send->bytes, n->outdegree);
	if (!recv->v)
		draft_check_bytes(&d, recv->bytes, n->indegree);
	for (uint32_t i = 0; i < n->outdegree && !edges_silent(send) && !d.err; i++)
		if (n->destinations[i] >= 0 && n->destinations[i] != (int64_t)c->rank)
			draft_send(&d, at(GOAL_BUF_SEND, edge_off(send, i)), edge_bytes(send, i),
				   (uint32_t)n->destinations[i], n->ndims ? i : 0);
	for (uint32_t i = 0; i < n->indegree && !edges_silent(recv) && !d.err; i++)
		if (n->sources[i] >= 0 && n->sources[i] != (int64_t)c->rank)
			draft_recv(&d, at(GOAL_BUF_RECV, edge_off(recv, i)), edge_bytes(recv, i),
				   (uint32_t)n->sources[i], n->ndims ? i ^ 1 : 0);
	if (!d.err)
		copy_self(&d, c, n, send, recv);
	return draft_end(&d, ntags, graph);
}

int goal_neighbor_allgather(const struct goal_comm *c, const struct goal_neighbors *n,
			    uint64_t send_bytes, uint64_t recv_bytes, struct goal_graph **graph)
{
	struct edge_blocks send = { .bytes = send_bytes, .stride = 0 };
	struct edge_blocks recv = { .bytes = recv_bytes, .stride = recv_bytes };

	return neighbor(c, n, GOAL_NEIGHBOR_ALLGATHER, &send, &recv, graph);
}

int goal_neighbor_allgatherv(const struct goal_comm *c, const struct goal_neighbors *n,
			     uint64_t send_bytes, const struct goal_blocks *recv,
			     struct goal_graph **graph)
{
	struct edge_blocks from = { .bytes = send_bytes, .stride = 0, .always = true };
	struct edge_blocks to = { .v = recv };

	if (!recv)
		return -EINVAL;
	return neighbor(c, n, GOAL_NEIGHBOR_ALLGATHERV, &from, &to, graph);
}

int goal_neighbor_alltoall(const struct goal_comm *c, const struct goal_neighbors *n,
			   uint64_t send_bytes, uint64_t recv_bytes, struct goal_graph **graph)
{
	struct edge_blocks send = { .bytes = send_bytes, .stride = send_bytes };
	struct edge_blocks recv = { .bytes = recv_bytes, .stride = recv_bytes };

	return neighbor(c, n, GOAL_NEIGHBOR_ALLTOALL, &send, &recv, graph);
}

int goal_neighbor_alltoallv(const struct goal_comm *c, const struct goal_neighbors *n,
			    const struct goal_blocks *send, const struct goal_blocks *recv,
			    struct goal_graph **graph)
{
	struct edge_blocks from = { .v = send };
	struct edge_blocks to = { .v = recv };

	if (!send || !recv)
		return -EINVAL;
	return neighbor(c, n, GOAL_NEIGHBOR_ALLTOALLV, &from, &to, graph);
}
