/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the three forms share: the plan of a call, and its binding as the engine takes it.
 * Included by run.c and request.c.
 */
#ifndef COLL_GOAL_RUN_H
#define COLL_GOAL_RUN_H

#include "coll_goal.h"

/* The segments and buffers of one start; segments must stay as long as the run. */
struct coll_goal_binding {
	struct goal_segment segment[2];
	struct goal_buffer buffer[2];
};

/*
 * The plan of @c, most often the one this collective ran last. It stays the cache's: before anything
 * that makes progress, or gives up the lock for calls, take a reference. 0 or an MPI error.
 */
static inline int coll_goal_plan_last(struct coll_goal_module *m, const struct coll_goal_call *c,
				      struct coll_goal_plan **plan)
{
	struct coll_goal_plan *last;

	if (coll_goal_unlikely(!m->ready)) {
		int rc = coll_goal_begin(m);

		if (rc)
			return rc;
	}
	last = m->last[coll_goal_key_coll(&c->key)];

	if (coll_goal_likely(last && coll_goal_key_equal(&last->key, &c->key))) {
		coll_goal_count(&mca_coll_goal_component.stats.hits);
		*plan = last;
		return OMPI_SUCCESS;
	}
	return coll_goal_plan_get(m, &c->key, plan);
}

static inline void coll_goal_attr(struct goal_run_attr *attr, struct coll_goal_binding *b,
				  struct coll_goal_call *c, const struct coll_goal_ident *ident)
{
	for (int i = 0; i < 2; i++) {
		b->segment[i].base = c->side[i].base;
		b->segment[i].len = c->side[i].len;
		b->buffer[i].seg = &b->segment[i];
		b->buffer[i].nseg = 1;
	}
	attr->op_id = ident->op_id;
	attr->start = ident->start;
	attr->remote_tag = ident->tag;
	attr->nbufs = 2;
	attr->bufs = b->buffer;
	attr->reduce = c->reducer.op ? coll_goal_op_reduce : NULL;
	attr->reduce_arg = &c->reducer;
	attr->done = NULL;
	attr->done_arg = NULL;
}

/* Give up what the sides of @c own: @rc, for the caller to return. */
static inline int coll_goal_call_drop(struct coll_goal_call *c, int rc)
{
	coll_goal_side_release(&c->side[GOAL_BUF_SEND]);
	coll_goal_side_release(&c->side[GOAL_BUF_RECV]);
	return rc;
}

#endif /* COLL_GOAL_RUN_H */
