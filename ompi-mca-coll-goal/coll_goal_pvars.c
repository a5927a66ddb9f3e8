/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Counters that tools and tests read through MPI_T: performance variables coll_goal_*, of the
 * component and of its engine. They count since MPI_Init; a handle shows the growth since it was
 * started. Called by coll_goal_component.c.
 */
#include "coll_goal.h"

enum counter {
	RUNS,
	RUNS_KERNEL,
	RUNS_FAILED,
	BUILDS,
	ALLOCS,
	CACHE_HITS,
	DECLINED,
	MESSAGES_LOCAL,
	MESSAGES_REMOTE,
	VOTES,
	COUNTERS
};

static const struct {
	const char *name, *text;
} counters[COUNTERS] = {
	[RUNS] = { "runs", "Runs of schedules started on the host engine" },
	[RUNS_KERNEL] = { "runs_kernel", "Runs of schedules started on the kernel engine" },
	[RUNS_FAILED] = { "runs_failed", "Runs that ended with an error" },
	[BUILDS] = { "builds", "Graphs built" },
	[ALLOCS] = { "allocs", "Times the component or its engine asked for memory" },
	[CACHE_HITS] = { "cache_hits", "Calls that found their schedule in the cache" },
	[DECLINED] = { "declined", "Calls handed to another component" },
	[MESSAGES_LOCAL] = { "messages_local", "Messages sent through shared memory" },
	[MESSAGES_REMOTE] = { "messages_remote",
			      "Messages sent through Open MPI's point-to-point" },
	[VOTES] = { "votes", "Communicators whose members agreed on an engine" },
};

static unsigned long long read_counter(enum counter which)
{
	const struct coll_goal_component *c = &mca_coll_goal_component;
	struct goal_engine_stats engine = { .runs = 0 }, kernel = { .runs = 0 };

	if (c->engine)
		goal_engine_stats(c->engine, &engine);
	if (c->kernel)
		goal_engine_stats(c->kernel, &kernel);
	switch (which) {
	case RUNS:
		return engine.runs;
	case RUNS_KERNEL:
		return kernel.runs - c->stats.probes;
	case RUNS_FAILED:
		return engine.runs_failed + kernel.runs_failed;
	case BUILDS:
		return c->stats.builds;
	case ALLOCS:
		return c->stats.allocs + engine.allocs + kernel.allocs;
	case CACHE_HITS:
		return c->stats.hits;
	case DECLINED:
		return c->stats.declined;
	case MESSAGES_LOCAL:
		return engine.msgs_local;
	case MESSAGES_REMOTE:
		return engine.msgs_remote;
	case VOTES:
		return c->stats.votes;
	default:
		return 0;
	}
}

static int get_value(const struct mca_base_pvar_t *pvar, void *value, void *obj)
{
	(void)obj;
	*(unsigned long long *)value = read_counter((enum counter)(intptr_t)pvar->ctx);
	return OPAL_SUCCESS;
}

int coll_goal_pvars_register(mca_base_component_t *c)
{
	for (intptr_t i = 0; i < COUNTERS; i++) {
		int rc = mca_base_component_pvar_register(
			c, counters[i].name, counters[i].text, OPAL_INFO_LVL_4,
			MCA_BASE_PVAR_CLASS_COUNTER, MCA_BASE_VAR_TYPE_UNSIGNED_LONG_LONG, NULL,
			MCA_BASE_VAR_BIND_NO_OBJECT,
			MCA_BASE_PVAR_FLAG_READONLY | MCA_BASE_PVAR_FLAG_CONTINUOUS, get_value,
			NULL, NULL, (void *)i);

		if (rc < 0)
			return rc;
	}
	return OMPI_SUCCESS;
}
