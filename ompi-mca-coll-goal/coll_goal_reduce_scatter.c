/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MPI_Reduce_scatter and MPI_Reduce_scatter_block. In place, the receive buffer holds all
 * elements before, and this rank's part, at its start, after.
 */
#include "coll_goal_reduce.h"

/* Both sides: @total elements in, @part of them out. */
static inline void sides(struct coll_goal_call *c, bool in_place, const void *sbuf, void *rbuf,
			 size_t total, size_t part, ompi_datatype_t *type)
{
	struct coll_goal_side *send = &c->side[GOAL_BUF_SEND], *recv = &c->side[GOAL_BUF_RECV];

	if (in_place) {
		coll_goal_side_none(send);
		coll_goal_side_reduced(c, recv, rbuf, total, type, COLL_GOAL_WRITE);
		if (recv->packed)
			recv->store_len = coll_goal_bytes(type, part);
		return;
	}
	coll_goal_side_reduced(c, recv, rbuf, part, type, COLL_GOAL_WRITE);
	coll_goal_side_reduced(c, send, sbuf, total, type, COLL_GOAL_READ);
	coll_goal_side_apart(c, sbuf, rbuf);
}

static inline int reduce_scatter_prepare(const void *sbuf, void *rbuf, const int *rcounts,
					 ompi_datatype_t *type, ompi_op_t *op,
					 struct coll_goal_module *m, struct coll_goal_call *c)
{
	bool inter = OMPI_COMM_IS_INTER(m->comm);
	bool in_place = coll_goal_in_place(sbuf, rbuf, inter);
	int n = ompi_comm_size(m->comm), rc;
	uint64_t total = 0, *counts;

	coll_goal_reduction(c, GOAL_REDUCE_SCATTER, in_place, op, type);
	rc = coll_goal_key_room(m, &c->key, 0, n);
	if (rc != OMPI_SUCCESS)
		return rc;
	counts = coll_goal_key_recv(&c->key);
	for (int i = 0; i < n; i++) {
		counts[i] = rcounts[i];
		counts[n + i] = 0; /* no offsets here, but part of the key */
		total += rcounts[i];
	}
	if (coll_goal_unlikely(!coll_goal_bytes(type, total)))
		return COLL_GOAL_NOTHING;
	sides(c, in_place, sbuf, rbuf, total, rcounts[ompi_comm_rank(m->comm)], type);
	return OMPI_SUCCESS;
}

COLL_GOAL_FORMS(reduce_scatter, GOAL_REDUCE_SCATTER,
		(const void *sbuf, void *rbuf, const int *rcounts, ompi_datatype_t *type,
		 ompi_op_t *op, ),
		(sbuf, rbuf, rcounts, type, op, ))

static inline int reduce_scatter_block_prepare(const void *sbuf, void *rbuf, int rcount,
					       ompi_datatype_t *type, ompi_op_t *op,
					       struct coll_goal_module *m, struct coll_goal_call *c)
{
	bool inter = OMPI_COMM_IS_INTER(m->comm);
	bool in_place = coll_goal_in_place(sbuf, rbuf, inter);

	coll_goal_reduction(c, GOAL_REDUCE_SCATTER_BLOCK, in_place, op, type);
	if (coll_goal_unlikely(!coll_goal_bytes(type, rcount)))
		return COLL_GOAL_NOTHING;
	c->key.send = rcount;
	sides(c, in_place, sbuf, rbuf, (size_t)rcount * ompi_comm_size(m->comm), rcount, type);
	return OMPI_SUCCESS;
}

COLL_GOAL_FORMS(reduce_scatter_block, GOAL_REDUCE_SCATTER_BLOCK,
		(const void *sbuf, void *rbuf, int rcount, ompi_datatype_t *type, ompi_op_t *op, ),
		(sbuf, rbuf, rcount, type, op, ))
