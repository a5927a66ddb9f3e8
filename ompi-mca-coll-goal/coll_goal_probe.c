/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * That every member has the kernel engine does not mean that their frames reach each other: a switch
 * may drop them, or an interface lead elsewhere. So members that have not met before run a barrier on
 * the engine before they agree on it; where no answer comes, the kernel ends it. Called by vote.c.
 */
#include "coll_goal.h"

/* Of no call: blocking ones would have to be counted up to there (stream.c). */
#define PROBE_OP    0x1fffffffu
#define PROBE_START 0xffffffffu

bool coll_goal_probe_known(struct coll_goal_module *m)
{
	ompi_group_t *group = m->comm->c_local_group;
	int n = ompi_group_size(group);

	for (int r = 0; r < n; r++)
		if (!coll_goal_modex_answers(ompi_group_get_proc_name(group, r)))
			return false;
	return true;
}

/* A barrier's schedule, on the kernel engine. */
static int load(struct coll_goal_module *m, struct goal_loaded **loaded)
{
	struct goal_schedule *schedule = NULL;
	struct goal_graph *graph = NULL;
	int rc = goal_barrier(&m->shape, GOAL_ALG_AUTO, &graph);

	if (rc < 0)
		return rc;
	rc = goal_compile(graph, &schedule, NULL);
	goal_graph_free(graph);
	if (rc)
		return rc;
	rc = goal_load(mca_coll_goal_component.kernel, schedule, loaded, NULL);
	goal_schedule_free(schedule);
	return rc;
}

int coll_goal_probe_load(struct coll_goal_module *m)
{
	int rc = -ENOMEM;

	m->probe_grave = coll_goal_grave_new();
	if (m->probe_grave)
		rc = load(m, &m->probe_loaded);
	if (!rc)
		return 0;
	free(m->probe_grave);
	m->probe_grave = NULL;
	snprintf(mca_coll_goal_component.kernel_why, sizeof(mca_coll_goal_component.kernel_why),
		 "there is no memory for a barrier: %s", strerror(-rc));
	return rc;
}

int coll_goal_probe_start(struct coll_goal_module *m)
{
	struct goal_run_attr attr = { .op_id = PROBE_OP, .start = PROBE_START };
	int rc = goal_start(m->kernel, m->probe_loaded, &attr, &m->probe);

	if (!rc)
		coll_goal_count(&mca_coll_goal_component.stats.probes);
	return rc;
}

void coll_goal_probe_drop(struct coll_goal_module *m)
{
	if (m->probe) {
		goal_run_cancel(m->probe);
		goal_run_free(m->probe);
	}
	if (m->probe_grave)
		coll_goal_bury(m->probe_grave, NULL, m->probe_loaded);
	m->probe = NULL;
	m->probe_grave = NULL;
}

/* No answer: this process needs the engine no more. */
static void give_up(struct coll_goal_module *m, int64_t peer)
{
	struct coll_goal_component *c = &mca_coll_goal_component;

	c->kernel_lost = true;
	if (peer >= 0)
		snprintf(c->kernel_why, sizeof(c->kernel_why),
			 "no frame comes back from the node of rank %lld of %.40s (espgoal(4), "
			 "INTERFACES)",
			 (long long)peer, m->comm->c_name);
	else
		snprintf(c->kernel_why, sizeof(c->kernel_why),
			 "no frame comes back from other nodes (espgoal(4), INTERFACES)");
}

int coll_goal_probe_test(struct coll_goal_module *m)
{
	ompi_group_t *group = m->comm->c_local_group;
	int n = ompi_group_size(group), rc;

	(void)goal_engine_progress(mca_coll_goal_component.kernel);
	rc = goal_run_test(m->probe);
	if (!rc)
		return 0;
	if (rc == -EHOSTUNREACH)
		give_up(m, goal_run_peer(m->probe));
	for (int r = 0; r < n && rc > 0; r++)
		coll_goal_modex_answered(ompi_group_get_proc_name(group, r));
	goal_run_free(m->probe);
	m->probe = NULL;
	return rc;
}
