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
	pthread_mutexattr_t again;

	/* The parent's constructor has cleared its own part only. */
	memset((char *)m + sizeof(m->super), 0, sizeof(*m) - sizeof(m->super));
	(void)pthread_mutexattr_init(&again);
	(void)pthread_mutexattr_settype(&again, PTHREAD_MUTEX_RECURSIVE);
	(void)pthread_mutex_init(&m->calls, &again);
	(void)pthread_mutexattr_destroy(&again);
}

/* Also where selection or enabling went wrong, and from within our own progress callback. */
static void module_destruct(struct coll_goal_module *m)
{
	coll_goal_cache_drop(m);
	coll_goal_deferred_forget(m);
	coll_goal_group_drop(m);
	coll_goal_slots_drop(m);
	free(m->node);
	free((void *)m->near.sources);
	free((void *)m->near.destinations);
	free(m->scratch);
	free(m->next_rooted);
	(void)pthread_mutex_destroy(&m->calls);
}

OBJ_CLASS_INSTANCE(coll_goal_module_t, mca_coll_base_module_t, module_construct, module_destruct);

int coll_goal_init_query(bool progress_threads, bool mpi_threads)
{
	(void)progress_threads;
	(void)mpi_threads;
	return OMPI_SUCCESS;
}

/* Communicators of this kind have @coll. */
static bool offered(const struct coll_goal_module *m, enum goal_coll coll)
{
	return !OMPI_COMM_IS_INTER(m->comm) ||
	       (coll < GOAL_NEIGHBOR_ALLGATHER && coll != GOAL_SCAN && coll != GOAL_EXSCAN);
}

/* The first collective that nobody else would take from us, or GOAL_COLLS. */
static int only_ours(const struct coll_goal_module *m)
{
	int coll = 0;

	while (coll < GOAL_COLLS && (!offered(m, coll) || coll_goal_slots_complete(m, coll)))
		coll++;
	return coll;
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
		int coll = only_ours(m);

		if (coll < GOAL_COLLS) {
			coll_goal_say_member(m->comm, "stranger", m->comm->c_name, stranger,
					     remote ? " of the remote group" : "",
					     goal_coll_name(coll));
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
		else if (offered(m, coll))
			coll_goal_say_member(m->comm, "cannot-disable", goal_coll_name(coll),
					     m->comm->c_name);
	}
	/* Here, where every member comes by: not all need take part in the first call of a stream. */
	coll_goal_tags_set_aside(m);
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

	/* Without an engine the user has been told why (coll_goal_component.c). */
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
