/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The blocking form, the fast way: compare the key with the last one, bind on the stack, run.
 * No request, no lock, no allocation for what is cached and contiguous. Called by the entries
 * that coll_goal_forms.h makes.
 */
#include "coll_goal_run.h"

/* The name and tags of a run of @c: most often the next of a counter. 0 or an MPI error. */
static inline int name(struct coll_goal_module *m, const struct coll_goal_call *c, uint32_t ntags,
		       struct coll_goal_ident *ident)
{
	uint64_t n;

	if (coll_goal_unlikely(c->stream != COLL_GOAL_PLAIN))
		return coll_goal_ident(m, c, ntags, false, ident);
	n = m->next_blocking++;
	ident->op_id = (uint32_t)(n >> 32);
	ident->start = (uint32_t)n;
	if (coll_goal_unlikely(ntags > COLL_GOAL_BLOCKING_TAGS - m->blocking_used))
		m->blocking_used = 0;
	ident->tag = m->blocking_tag - (int32_t)m->blocking_used;
	m->blocking_used += ntags;
	return OMPI_SUCCESS;
}

/* Sides with holes around the run. */
static int exec_packed(struct goal_group *group, struct coll_goal_call *c,
		       struct goal_loaded *loaded, const struct coll_goal_ident *ident)
{
	struct coll_goal_binding binding;
	struct goal_run_attr attr;
	int load, rc;

	load = coll_goal_side_load(&c->side[GOAL_BUF_SEND]);
	if (!load)
		load = coll_goal_side_load(&c->side[GOAL_BUF_RECV]);
	coll_goal_attr(&attr, &binding, c, ident);
	if (coll_goal_unlikely(load))
		attr.nbufs = 0; /* it cannot start without, but lets the others know */
	rc = goal_exec(group, loaded, &attr, coll_goal_idle);
	if (load)
		rc = load;
	if (!rc)
		rc = coll_goal_side_store(&c->side[GOAL_BUF_RECV]);
	coll_goal_side_release(&c->side[GOAL_BUF_SEND]);
	coll_goal_side_release(&c->side[GOAL_BUF_RECV]);
	return rc;
}

/*
 * @c may be the first collective here, and pass by members without neighbors, which then would not
 * vote. All who take part know that alike, by the user's calls before: not by m->voted, since Open
 * MPI's own calls come at different times. In a Cartesian topology it passes by none: its members are
 * all connected, so that if one has data, all have.
 */
static bool apart(struct coll_goal_module *m, const struct coll_goal_call *c)
{
	m->settled = c->stream != COLL_GOAL_NEAR || OMPI_COMM_IS_CART(m->comm);
	return !m->settled && !m->broken;
}

/* Run @c over the PML, for which nothing need be agreed on. */
static int exec_apart(struct coll_goal_module *m, struct coll_goal_call *c)
{
	struct goal_loaded *loaded;
	struct coll_goal_plan *plan;
	struct coll_goal_ident ident;
	int rc;

	coll_goal_calls_lock(m);
	rc = coll_goal_error(m, coll_goal_group_apart(m));
	if (!rc)
		rc = coll_goal_plan_get(m, &c->key, &plan);
	if (!rc)
		rc = coll_goal_error(m, coll_goal_plan_apart(m, plan, &loaded));
	if (!rc)
		rc = name(m, c, plan->ntags, &ident);
	if (!rc)
		coll_goal_plan_ref(plan);
	coll_goal_calls_unlock(m);
	if (rc) {
		coll_goal_spoil(m, rc);
		return coll_goal_call_drop(c, rc);
	}
	rc = coll_goal_error(m, exec_packed(m->apart, c, loaded, &ident));
	coll_goal_plan_unref(plan);
	return rc;
}

/* Bind, run, and give up what @c owns: an MPI error. */
static inline int exec(struct coll_goal_module *m, struct coll_goal_call *c,
		       struct coll_goal_plan *plan, const struct coll_goal_ident *ident)
{
	struct coll_goal_binding binding;
	struct goal_run_attr attr;
	int rc;

	if (coll_goal_unlikely(c->side[0].packed || c->side[1].packed))
		return coll_goal_error(m, exec_packed(plan->group, c, plan->loaded, ident));
	coll_goal_attr(&attr, &binding, c, ident);
	rc = goal_exec(plan->group, plan->loaded, &attr, coll_goal_idle);
	return coll_goal_likely(!rc) ? OMPI_SUCCESS : coll_goal_error(m, rc);
}

/*
 * The same where the cache may give up @plan meanwhile, for a call that is made from opal_progress
 * or by another thread. Takes over a reference to it.
 */
static int exec_held(struct coll_goal_module *m, struct coll_goal_call *c,
		     struct coll_goal_plan *plan, const struct coll_goal_ident *ident)
{
	int rc = m->ready ? OMPI_SUCCESS : coll_goal_vote_wait(m);

	if (!rc && coll_goal_unlikely(!plan->group)) {
		rc = coll_goal_error(m, coll_goal_plan_settle(m, plan));
		if (rc)
			coll_goal_abandon(m, rc);
	}
	if (rc)
		rc = coll_goal_call_drop(c, rc);
	else
		rc = exec(m, c, plan, ident);
	coll_goal_plan_unref(plan);
	return rc;
}

int coll_goal_blocking(struct coll_goal_module *m, struct coll_goal_call *c)
{
	struct coll_goal_plan *plan;
	struct coll_goal_ident ident;
	bool held;
	int rc;

	if (coll_goal_unlikely(!m->settled && apart(m, c)))
		return exec_apart(m, c);
	coll_goal_calls_lock(m);
	rc = coll_goal_plan_last(m, c, &plan);
	if (coll_goal_likely(!rc))
		rc = name(m, c, plan->ntags, &ident);
	held = ompi_mpi_thread_multiple || !m->ready;
	if (coll_goal_unlikely(!rc && held))
		coll_goal_plan_ref(plan);
	coll_goal_calls_unlock(m);
	if (coll_goal_unlikely(rc)) {
		coll_goal_abandon(m, rc);
		return coll_goal_call_drop(c, rc);
	}
	return coll_goal_likely(!held) ? exec(m, c, plan, &ident) : exec_held(m, c, plan, &ident);
}
