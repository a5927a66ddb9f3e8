/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Plans: a key's graph, built, compiled and loaded on the engine. Looked up in the
 * communicator's cache when the last plan of the collective is not the one (run.c looks there
 * itself). Called by run.c and request.c.
 */
#include "coll_goal.h"

void coll_goal_plan_ref(struct coll_goal_plan *plan)
{
	if (mca_coll_goal_component.threads)
		__atomic_fetch_add(&plan->refs, 1, __ATOMIC_RELAXED);
	else
		plan->refs++;
}

void coll_goal_plan_unref(struct coll_goal_plan *plan)
{
	int32_t left;

	if (mca_coll_goal_component.threads)
		left = __atomic_sub_fetch(&plan->refs, 1, __ATOMIC_ACQ_REL);
	else
		left = --plan->refs;
	if (left)
		return;
	coll_goal_bury(plan->grave, NULL, plan->loaded);
	free(plan);
}

/* An empty plan with a copy of @key. */
static struct coll_goal_plan *plan_new(const struct coll_goal_key *key, uint64_t hash)
{
	size_t bytes = 2 * ((size_t)key->nsend + key->nrecv) * sizeof(*key->vec);
	struct coll_goal_plan *plan = coll_goal_malloc(sizeof(*plan) + bytes);

	if (!plan)
		return NULL;
	memset(plan, 0, sizeof(*plan));
	plan->grave = coll_goal_grave_new();
	if (!plan->grave) {
		free(plan);
		return NULL;
	}
	plan->key = *key;
	plan->key.vec = (uint64_t *)(plan + 1);
	if (bytes)
		memcpy(plan + 1, key->vec, bytes);
	plan->hash = hash;
	plan->refs = 1;
	return plan;
}

/* Build, compile, load. 0 or -errno. */
static int make(struct coll_goal_module *m, struct coll_goal_plan *plan, struct goal_error *error)
{
	struct goal_schedule *schedule = NULL;
	struct goal_graph *graph = NULL;
	int ntags, rc;

	ntags = coll_goal_build(m, &plan->key, &graph);
	if (ntags < 0)
		return ntags;
	rc = goal_compile(graph, &schedule, error);
	goal_graph_free(graph);
	if (rc)
		return rc;
	rc = goal_load(mca_coll_goal_component.engine, schedule, &plan->loaded, error);
	goal_schedule_free(schedule);
	plan->ntags = (uint32_t)ntags;
	return rc;
}

int coll_goal_plan_get(struct coll_goal_module *m, const struct coll_goal_key *key,
		       struct coll_goal_plan **out)
{
	struct coll_goal_component *c = &mca_coll_goal_component;
	uint64_t hash = coll_goal_key_hash(key);
	enum goal_coll coll = coll_goal_key_coll(key);
	struct goal_error error = { .code = 0 };
	struct coll_goal_plan *plan;
	int rc;

	if (coll_goal_unlikely(!c->wait_known))
		coll_goal_wait_setup();
	plan = coll_goal_cache_find(&m->cache, key, hash);
	if (plan) {
		coll_goal_count(&c->stats.hits);
		m->last[coll] = *out = plan;
		return OMPI_SUCCESS;
	}
	plan = plan_new(key, hash);
	if (!plan)
		return OMPI_ERR_OUT_OF_RESOURCE;
	rc = make(m, plan, &error);
	if (!rc) {
		rc = coll_goal_cache_add(m, plan);
		if (rc)
			(void)goal_unload(plan->loaded);
	}
	if (rc) {
		opal_show_help(COLL_GOAL_HELP, "no-schedule", true, goal_coll_name(coll),
			       m->comm->c_name, error.text[0] ? error.text : strerror(-rc));
		free(plan->grave);
		free(plan);
		return coll_goal_error(m, rc);
	}
	coll_goal_count(&c->stats.builds);
	opal_output_verbose(2, c->output, "coll:goal: %s: built %s, %zu bytes, %u tags",
			    m->comm->c_name, goal_coll_name(coll), goal_loaded_bytes(plan->loaded),
			    plan->ntags);
	m->last[coll] = *out = plan;
	return OMPI_SUCCESS;
}
