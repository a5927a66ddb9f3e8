/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One module per communicator: selection, enabling, destruction. For every communicator but
 * MPI_COMM_WORLD and MPI_COMM_SELF this runs inside opal_progress, so nothing here waits. The
 * group comes with the first collective (vote.c), the topology with the first neighborhood
 * collective.
 */
#include "coll_goal.h"

static void module_construct(struct coll_goal_module *m)
{
	/* The parent's constructor has cleared its own part only. */
	memset((char *)m + sizeof(m->super), 0, sizeof(*m) - sizeof(m->super));
}

/* Also where selection or enabling went wrong, and from within our own progress callback. */
static void module_destruct(struct coll_goal_module *m)
{
	coll_goal_vote_drop(m);
	coll_goal_cache_drop(m);
	coll_goal_group_drop(m);
	coll_goal_slots_drop(m);
	free(m->node);
	free((void *)m->near.sources);
	free((void *)m->near.destinations);
	free(m->scratch);
	free(m->next_rooted);
}

OBJ_CLASS_INSTANCE(coll_goal_module_t, mca_coll_base_module_t, module_construct, module_destruct);

int coll_goal_init_query(bool progress_threads, bool mpi_threads)
{
	(void)progress_threads;
	(void)mpi_threads;
	return OMPI_SUCCESS;
}

/* Nobody else is there to take what we decline. */
static bool alone(void)
{
	return opal_list_get_size(&ompi_coll_base_framework.framework_components) == 1;
}

static int module_enable(mca_coll_base_module_t *module, ompi_communicator_t *comm)
{
	struct coll_goal_module *m = (struct coll_goal_module *)module;
	bool remote = false;
	int stranger;

	(void)comm;
	coll_goal_slots_save(m);
	stranger = coll_goal_group_stranger(m->comm, &remote);
	if (stranger >= 0) {
		/* What the members published is the same everywhere: all decline. */
		if (alone()) {
			opal_show_help(COLL_GOAL_HELP, "stranger", true, m->comm->c_name, stranger,
				       remote ? " of the remote group" : "");
			return OMPI_ERR_NOT_SUPPORTED;
		}
		opal_output_verbose(1, mca_coll_goal_component.output,
				    "coll:goal: %s: rank %d%s does not take part, all collectives "
				    "go to other components",
				    m->comm->c_name, stranger,
				    remote ? " of the remote group" : "");
		m->declined = (1u << GOAL_COLLS) - 1;
		return OMPI_SUCCESS;
	}
	for (int coll = 0; coll < GOAL_COLLS; coll++) {
		if (!(mca_coll_goal_component.params.disabled & 1u << coll))
			continue;
		if (coll_goal_slots_complete(m, coll))
			m->declined |= 1u << coll;
		else if (!(OMPI_COMM_IS_INTER(m->comm) &&
			   (coll >= GOAL_NEIGHBOR_ALLGATHER || coll == GOAL_SCAN ||
			    coll == GOAL_EXSCAN)))
			opal_show_help(COLL_GOAL_HELP, "cannot-disable", true, goal_coll_name(coll),
				       m->comm->c_name);
	}
	return OMPI_COMM_IS_INTER(m->comm) ? coll_goal_begin(m) : OMPI_SUCCESS;
}

/* Once for each slot that is still ours, or never: the destructor does the work. */
static int module_disable(mca_coll_base_module_t *module, ompi_communicator_t *comm)
{
	(void)module;
	(void)comm;
	return OMPI_SUCCESS;
}

mca_coll_base_module_t *coll_goal_comm_query(ompi_communicator_t *comm, int *priority)
{
	struct coll_goal_module *m;

	if (!mca_coll_goal_component.engine || mca_coll_goal_component.params.priority < 0)
		return NULL;
	m = OBJ_NEW(coll_goal_module_t);
	if (!m)
		return NULL;
	*priority = mca_coll_goal_component.params.priority;
	m->comm = comm;
	m->super.coll_module_enable = module_enable;
	m->super.coll_module_disable = module_disable;
	coll_goal_slots_install(m, OMPI_COMM_IS_INTER(comm));
	return &m->super;
}
