/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The blocking form, the fast way: compare the key with the last one, bind on the stack, run.
 * No request, no lock, no allocation for what is cached and contiguous. Called by the entries
 * that coll_goal_forms.h makes.
 */
#include "coll_goal_run.h"

/* Sides with holes around the run. */
static int exec_packed(struct coll_goal_module *m, struct coll_goal_call *c,
		       struct coll_goal_plan *plan, const struct coll_goal_ident *ident)
{
	struct coll_goal_binding binding;
	struct goal_run_attr attr;
	int rc;

	rc = coll_goal_side_load(&c->side[GOAL_BUF_SEND]);
	if (!rc)
		rc = coll_goal_side_load(&c->side[GOAL_BUF_RECV]);
	coll_goal_attr(&attr, &binding, c, ident);
	if (!rc)
		rc = goal_exec(m->group, plan->loaded, &attr, coll_goal_idle);
	if (!rc)
		rc = coll_goal_side_store(&c->side[GOAL_BUF_RECV]);
	coll_goal_side_release(&c->side[GOAL_BUF_SEND]);
	coll_goal_side_release(&c->side[GOAL_BUF_RECV]);
	return rc;
}

int coll_goal_blocking(struct coll_goal_module *m, struct coll_goal_call *c)
{
	struct coll_goal_binding binding;
	struct coll_goal_plan *plan;
	struct goal_run_attr attr;
	struct coll_goal_ident ident;
	int rc;

	rc = coll_goal_plan_last(m, c, &plan);
	if (coll_goal_likely(!rc))
		rc = coll_goal_name(m, c, plan->ntags, false, &ident);
	if (coll_goal_unlikely(rc))
		return coll_goal_call_drop(c, rc);
	if (coll_goal_unlikely(!m->ready)) {
		rc = coll_goal_vote_wait(m);
		if (rc)
			return coll_goal_call_drop(c, rc);
	}
	if (coll_goal_unlikely(c->side[0].packed || c->side[1].packed))
		return coll_goal_error(m, exec_packed(m, c, plan, &ident));
	coll_goal_attr(&attr, &binding, c, &ident);
	rc = goal_exec(m->group, plan->loaded, &attr, coll_goal_idle);
	return coll_goal_likely(!rc) ? OMPI_SUCCESS : coll_goal_error(m, rc);
}
