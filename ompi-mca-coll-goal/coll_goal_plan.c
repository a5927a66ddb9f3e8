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

/* All that it has, loaded or not. */
static void plan_free(struct coll_goal_plan *plan)
{
	if (plan->loaded)
		coll_goal_bury(plan->grave, NULL, plan->loaded);
	else
		free(plan->grave);
	if (plan->apart)
		coll_goal_bury(plan->apart_grave, NULL, plan->apart);
	else
		free(plan->apart_grave);
	goal_schedule_free(plan->schedule);
	free(plan);
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
	plan_free(plan);
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

/* Build and compile: the number of tags, or -errno. */
static int compile(struct coll_goal_module *m, const struct coll_goal_key *key,
		   struct goal_schedule **schedule, struct goal_error *error)
{
	struct goal_graph *graph = NULL;
	int ntags, rc;

	ntags = coll_goal_build(m, key, &graph);
	if (ntags < 0)
		return ntags;
	rc = goal_compile(graph, schedule, error);
	goal_graph_free(graph);
	return rc ? rc : ntags;
}

/* Load the schedule, on the kernel engine if @kernel: 0 or -errno. */
static int load(struct coll_goal_plan *plan, bool kernel, struct goal_error *error)
{
	struct coll_goal_component *c = &mca_coll_goal_component;
	int rc = goal_load(kernel ? c->kernel : c->engine, plan->schedule, &plan->loaded, error);

	if (rc)
		return rc;
	goal_schedule_free(plan->schedule);
	plan->schedule = NULL;
	return 0;
}

/* Which engine @plan runs on is known. */
static int settle(struct coll_goal_module *m, struct coll_goal_plan *plan, struct goal_error *error)
{
	bool kernel = plan->schedule && coll_goal_kernel_takes(m, &plan->key);
	int rc = plan->schedule ? load(plan, kernel, error) : 0;

	if (!rc)
		plan->group = kernel ? m->kernel : m->group;
	return rc;
}

int coll_goal_plan_settle(struct coll_goal_module *m, struct coll_goal_plan *plan)
{
	struct goal_error error = { .code = 0 };
	int rc = 0;

	coll_goal_calls_lock(m);
	if (!plan->group)
		rc = settle(m, plan, &error);
	coll_goal_calls_unlock(m);
	if (rc)
		coll_goal_say("no-schedule", goal_coll_name(coll_goal_key_coll(&plan->key)),
			      m->comm->c_name, error.text[0] ? error.text : strerror(-rc));
	return rc;
}

int coll_goal_plan_apart(struct coll_goal_module *m, struct coll_goal_plan *plan,
			 struct goal_loaded **loaded)
{
	struct goal_schedule *schedule = NULL;
	int rc;

	/* Loaded before the vote, or by the vote's result: on the host engine. */
	if (plan->loaded && (!plan->group || plan->group == m->group)) {
		*loaded = plan->loaded;
		return 0;
	}
	if (!plan->apart) {
		plan->apart_grave = plan->apart_grave ? plan->apart_grave : coll_goal_grave_new();
		rc = plan->apart_grave ? compile(m, &plan->key, &schedule, NULL) : -ENOMEM;
		if (rc < 0)
			return rc;
		rc = goal_load(mca_coll_goal_component.engine, schedule, &plan->apart, NULL);
		goal_schedule_free(schedule);
		if (rc)
			return rc;
	}
	*loaded = plan->apart;
	return 0;
}

/* Build, compile, and load if it is known where it will run. 0 or -errno. */
static int make(struct coll_goal_module *m, struct coll_goal_plan *plan, struct goal_error *error)
{
	int ntags = compile(m, &plan->key, &plan->schedule, error);

	if (ntags < 0)
		return ntags;
	plan->ntags = (uint32_t)ntags;
	if (m->ready)
		return settle(m, plan, error);
	if (m->kernel_wanted && coll_goal_kernel_eligible(&plan->key))
		return 0;
	return load(plan, false, error);
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
	if (!rc)
		rc = coll_goal_cache_add(m, plan);
	if (rc) {
		coll_goal_say("no-schedule", goal_coll_name(coll), m->comm->c_name,
			      error.text[0] ? error.text : strerror(-rc));
		plan_free(plan);
		return coll_goal_error(m, rc);
	}
	coll_goal_count(&c->stats.builds);
	opal_output_verbose(2, c->output, "coll:goal: %s: built %s, %zu bytes, %u tags",
			    m->comm->c_name, goal_coll_name(coll),
			    plan->loaded ? goal_loaded_bytes(plan->loaded) : 0, plan->ntags);
	m->last[coll] = *out = plan;
	return OMPI_SUCCESS;
}
