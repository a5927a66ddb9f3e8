/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Reduce and MPI_Allreduce. */
#include "coll_goal_reduce.h"

static inline int reduce_prepare(const void *sbuf, void *rbuf, int count, ompi_datatype_t *type,
				 ompi_op_t *op, int root, struct coll_goal_module *m,
				 struct coll_goal_call *c)
{
	struct coll_goal_side *send = &c->side[GOAL_BUF_SEND], *recv = &c->side[GOAL_BUF_RECV];
	bool inter = OMPI_COMM_IS_INTER(m->comm);
	bool sink = coll_goal_is_root(m->comm, inter, root);
	bool in_place = sink && coll_goal_in_place(sbuf, rbuf, inter);

	coll_goal_reduction(c, GOAL_REDUCE, in_place, op, type);
	coll_goal_side_none(send);
	coll_goal_side_none(recv);
	c->key.root = coll_goal_root(inter, root);
	if (coll_goal_unlikely(inter && coll_goal_rooted(c)))
		return COLL_GOAL_NOTHING;
	if (coll_goal_unlikely(!coll_goal_bytes(type, count)))
		return COLL_GOAL_NOTHING;
	c->key.send = count;
	if (sink)
		coll_goal_side_reduced(c, recv, rbuf, count, type, COLL_GOAL_WRITE);
	if (!in_place && !(inter && sink))
		coll_goal_side_reduced(c, send, sbuf, count, type, COLL_GOAL_READ);
	return OMPI_SUCCESS;
}

COLL_GOAL_FORMS(reduce, GOAL_REDUCE,
		(const void *sbuf, void *rbuf, int count, ompi_datatype_t *type, ompi_op_t *op,
		 int root, ),
		(sbuf, rbuf, count, type, op, root, ))

static inline int allreduce_prepare(const void *sbuf, void *rbuf, int count, ompi_datatype_t *type,
				    ompi_op_t *op, struct coll_goal_module *m,
				    struct coll_goal_call *c)
{
	struct coll_goal_side *send = &c->side[GOAL_BUF_SEND], *recv = &c->side[GOAL_BUF_RECV];
	bool inter = OMPI_COMM_IS_INTER(m->comm);
	bool in_place = coll_goal_in_place(sbuf, rbuf, inter);

	coll_goal_reduction(c, GOAL_ALLREDUCE, in_place, op, type);
	coll_goal_side_none(send);
	if (coll_goal_unlikely(!coll_goal_bytes(type, count)))
		return COLL_GOAL_NOTHING;
	c->key.send = count;
	coll_goal_side_reduced(c, recv, rbuf, count, type, COLL_GOAL_WRITE);
	if (!in_place) {
		coll_goal_side_reduced(c, send, sbuf, count, type, COLL_GOAL_READ);
		coll_goal_side_apart(c, sbuf, rbuf);
	}
	return OMPI_SUCCESS;
}

COLL_GOAL_FORMS(allreduce, GOAL_ALLREDUCE,
		(const void *sbuf, void *rbuf, int count, ompi_datatype_t *type, ompi_op_t *op, ),
		(sbuf, rbuf, count, type, op, ))
