/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The one place where keys become graphs. What a builder is given comes from the key, the shape
 * of the communicator, its topology and the parameters, and from nowhere else: so equal keys mean
 * equal schedules. Called by plan.c.
 */
#include "coll_goal.h"

int coll_goal_build(struct coll_goal_module *m, const struct coll_goal_key *key,
		    struct goal_graph **graph)
{
	const enum goal_coll coll = coll_goal_key_coll(key);
	const bool in_place = key->code >> 8 & 1;
	const struct goal_comm *c = &m->shape;
	const struct goal_reduction how = {
		.dtype = key->code >> 24 & 0xff,
		.rop = key->code >> 16 & 0xff,
		.size = (uint32_t)(key->code >> 32),
		.commutative = key->code >> 9 & 1,
	};
	const uint64_t *vec = key->vec;
	const struct goal_blocks send = { .bytes = vec, .off = vec + key->nsend };
	const struct goal_blocks recv = { .bytes = vec + 2 * (size_t)key->nsend,
					  .off = vec + 2 * (size_t)key->nsend + key->nrecv };
	enum goal_algorithm alg = mca_coll_goal_component.params.algorithm[coll];

	if (!goal_algorithm_valid(coll, alg, c->remote_size > 0))
		alg = GOAL_ALG_AUTO;
	switch (coll) {
	case GOAL_ALLGATHER:
		return goal_allgather(c, alg, key->send, key->recv, in_place, graph);
	case GOAL_ALLGATHERV:
		return goal_allgatherv(c, alg, key->send, &recv, in_place, graph);
	case GOAL_ALLREDUCE:
		return goal_allreduce(c, alg, key->send, &how, in_place, graph);
	case GOAL_ALLTOALL:
		return goal_alltoall(c, alg, key->send, key->recv, in_place, graph);
	case GOAL_ALLTOALLV:
	case GOAL_ALLTOALLW:
		return goal_alltoallv(c, alg, &send, &recv, in_place, graph);
	case GOAL_BARRIER:
		return goal_barrier(c, alg, graph);
	case GOAL_BCAST:
		return goal_bcast(c, alg, key->root, key->recv, graph);
	case GOAL_EXSCAN:
		return goal_exscan(c, alg, key->send, &how, in_place, graph);
	case GOAL_GATHER:
		return goal_gather(c, alg, key->root, key->send, in_place, graph);
	case GOAL_GATHERV:
		return goal_gatherv(c, alg, key->root, key->send, key->nrecv ? &recv : NULL,
				    in_place, graph);
	case GOAL_REDUCE:
		return goal_reduce_to(c, alg, key->root, key->send, &how, in_place, graph);
	case GOAL_REDUCE_SCATTER:
		return goal_reduce_scatter(c, alg, recv.bytes, &how, in_place, graph);
	case GOAL_REDUCE_SCATTER_BLOCK:
		return goal_reduce_scatter_block(c, alg, key->send, &how, in_place, graph);
	case GOAL_SCAN:
		return goal_scan(c, alg, key->send, &how, in_place, graph);
	case GOAL_SCATTER:
		return goal_scatter(c, alg, key->root, key->recv, in_place, graph);
	case GOAL_SCATTERV:
		return goal_scatterv(c, alg, key->root, key->recv, key->nsend ? &send : NULL,
				     in_place, graph);
	case GOAL_NEIGHBOR_ALLGATHER:
		return goal_neighbor_allgather(c, &m->near, key->send, key->recv, graph);
	case GOAL_NEIGHBOR_ALLGATHERV:
		return goal_neighbor_allgatherv(c, &m->near, key->send, &recv, graph);
	case GOAL_NEIGHBOR_ALLTOALL:
		return goal_neighbor_alltoall(c, &m->near, key->send, key->recv, graph);
	case GOAL_NEIGHBOR_ALLTOALLV:
	case GOAL_NEIGHBOR_ALLTOALLW:
		return goal_neighbor_alltoallv(c, &m->near, &send, &recv, graph);
	default:
		return -EINVAL;
	}
}
