/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Barrier: no data, so the key is the collective alone. */
#include "coll_goal_forms.h"
#include "coll_goal_sides.h"

static inline int barrier_prepare(struct coll_goal_module *m, struct coll_goal_call *c)
{
	(void)m;
	coll_goal_call_init(c, GOAL_BARRIER, false);
	coll_goal_side_none(&c->side[GOAL_BUF_SEND]);
	coll_goal_side_none(&c->side[GOAL_BUF_RECV]);
	return OMPI_SUCCESS;
}

COLL_GOAL_FORMS(barrier, GOAL_BARRIER, (), ())
