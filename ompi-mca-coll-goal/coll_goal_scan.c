/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Scan and MPI_Exscan, which only intracommunicators have. */
#include "coll_goal_reduce.h"

static inline int prefix_prepare(enum goal_coll coll, const void *sbuf, void *rbuf, int count,
				 ompi_datatype_t *type, ompi_op_t *op, struct coll_goal_call *c)
{
	bool in_place = coll_goal_in_place(sbuf, rbuf, false);

	coll_goal_reduction(c, coll, in_place, op, type);
	if (coll_goal_unlikely(!coll_goal_bytes(type, count)))
		return COLL_GOAL_NOTHING;
	c->key.send = count;
	coll_goal_side_reduced(c, &c->side[GOAL_BUF_RECV], rbuf, count, type, COLL_GOAL_WRITE);
	if (in_place)
		coll_goal_side_none(&c->side[GOAL_BUF_SEND]);
	else
		coll_goal_side_reduced(c, &c->side[GOAL_BUF_SEND], sbuf, count, type,
				       COLL_GOAL_READ);
	return OMPI_SUCCESS;
}

static inline int scan_prepare(const void *sbuf, void *rbuf, int count, ompi_datatype_t *type,
			       ompi_op_t *op, struct coll_goal_module *m, struct coll_goal_call *c)
{
	(void)m;
	return prefix_prepare(GOAL_SCAN, sbuf, rbuf, count, type, op, c);
}

COLL_GOAL_FORMS(scan, GOAL_SCAN,
		(const void *sbuf, void *rbuf, int count, ompi_datatype_t *type, ompi_op_t *op, ),
		(sbuf, rbuf, count, type, op, ))

static inline int exscan_prepare(const void *sbuf, void *rbuf, int count, ompi_datatype_t *type,
				 ompi_op_t *op, struct coll_goal_module *m,
				 struct coll_goal_call *c)
{
	(void)m;
	return prefix_prepare(GOAL_EXSCAN, sbuf, rbuf, count, type, op, c);
}

COLL_GOAL_FORMS(exscan, GOAL_EXSCAN,
		(const void *sbuf, void *rbuf, int count, ompi_datatype_t *type, ompi_op_t *op, ),
		(sbuf, rbuf, count, type, op, ))
