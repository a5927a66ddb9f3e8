/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Bcast: one buffer, which the root reads and the others write. */
#include "coll_goal_forms.h"
#include "coll_goal_sides.h"

static inline int bcast_prepare(void *buf, int count, ompi_datatype_t *type, int root,
				struct coll_goal_module *m, struct coll_goal_call *c)
{
	struct coll_goal_side *side = &c->side[GOAL_BUF_RECV];
	bool inter = OMPI_COMM_IS_INTER(m->comm), source;

	coll_goal_call_init(c, GOAL_BCAST, false);
	coll_goal_side_none(&c->side[GOAL_BUF_SEND]);
	c->key.root = coll_goal_root(inter, root);
	if (coll_goal_unlikely(inter && coll_goal_rooted(c)))
		return COLL_GOAL_NOTHING;
	source = inter ? c->key.root == GOAL_ROOT_HERE : root == ompi_comm_rank(m->comm);
	coll_goal_side_elements(side, buf, count, type, source ? COLL_GOAL_READ : COLL_GOAL_WRITE);
	c->key.recv = side->len;
	return coll_goal_likely(side->len) ? OMPI_SUCCESS : COLL_GOAL_NOTHING;
}

COLL_GOAL_FORMS(bcast, GOAL_BCAST, (void *buf, int count, ompi_datatype_t *type, int root, ),
		(buf, count, type, root, ))
