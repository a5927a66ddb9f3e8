/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the files of reductions share: the codes in the key, and sides in the form in which the
 * elements are reduced.
 */
#ifndef COLL_GOAL_REDUCE_H
#define COLL_GOAL_REDUCE_H

#include "coll_goal_forms.h"
#include "coll_goal_sides.h"

/*
 * Elements of (@op, @type) into the key. What the engine reduces stays as it lies in memory; other
 * elements are packed and come back to coll_goal_op_reduce().
 */
static inline void coll_goal_reduction(struct coll_goal_call *c, enum goal_coll coll, bool in_place,
				       ompi_op_t *op, ompi_datatype_t *type)
{
	uint32_t dtype, rop, size;

	coll_goal_call_init(c, coll, in_place);
	size = coll_goal_op_codes(op, type, &dtype, &rop);
	if (coll_goal_unlikely(!size)) {
		size = (uint32_t)type->super.size;
		c->reducer.op = op;
		c->reducer.type = type;
	}
	c->key.code |= (uint64_t) !!ompi_op_is_commute(op) << 9 | (uint64_t)rop << 16 |
		       (uint64_t)dtype << 24 | (uint64_t)size << 32;
}

/* @count elements of the reduction @c at @buf. */
static inline void coll_goal_side_reduced(struct coll_goal_call *c, struct coll_goal_side *side,
					  const void *buf, size_t count, ompi_datatype_t *type,
					  enum coll_goal_use use)
{
	if (coll_goal_likely(!c->reducer.op))
		coll_goal_side_raw(side, buf, (c->key.code >> 32) * count);
	else
		coll_goal_side_elements(side, buf, count, type, use);
}

/*
 * In place: as MPI says it, and where both buffers are the same memory, as Open MPI's own
 * communicator code calls us.
 */
static inline bool coll_goal_in_place(const void *sbuf, const void *rbuf, bool inter)
{
	return sbuf == MPI_IN_PLACE || (sbuf == rbuf && !inter);
}

/*
 * Between two groups there is no in place: what both buffers share is sent from a copy, as it was
 * before the call.
 */
static inline void coll_goal_side_apart(struct coll_goal_call *c, const void *sbuf,
					const void *rbuf)
{
	struct coll_goal_side *send = &c->side[GOAL_BUF_SEND];

	if (coll_goal_unlikely(sbuf == rbuf && !send->packed && send->len))
		coll_goal_side_copied(send);
}

#endif /* COLL_GOAL_REDUCE_H */
