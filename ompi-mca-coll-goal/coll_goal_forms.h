/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * From one description of a collective to its three MPI entries. A family file writes
 *
 *	static int NAME_prepare(ARGS..., struct coll_goal_module *m, struct coll_goal_call *c)
 *
 * and then COLL_GOAL_FORMS(NAME, CODE, (PARAMETERS,), (ARGUMENTS,)), both lists with a comma
 * at their end. What the communicator does not run itself goes to the component we replaced.
 */
#ifndef COLL_GOAL_FORMS_H
#define COLL_GOAL_FORMS_H

#include "coll_goal.h"
#include "coll_goal_entries.h"

#define COLL_GOAL_OPEN(...) __VA_ARGS__

static inline bool coll_goal_declines(const struct coll_goal_module *m, enum goal_coll coll)
{
	if (coll_goal_likely(!(m->declined & 1u << coll)))
		return false;
	coll_goal_count(&mca_coll_goal_component.stats.declined);
	opal_output_verbose(3, mca_coll_goal_component.output,
			    "coll:goal: %s: %s goes to another component", m->comm->c_name,
			    goal_coll_name(coll));
	return true;
}

/* prepare said @rc: an error, or that there is nothing to do, which needs a request all the same. */
static inline int coll_goal_no_request(int rc, bool persistent, ompi_request_t **request)
{
	if (rc != COLL_GOAL_NOTHING)
		return rc;
	if (persistent)
		return ompi_request_persistent_noop_create(request);
	*request = &ompi_request_empty;
	return OMPI_SUCCESS;
}

/* clang-format off */
#define COLL_GOAL_FORMS(name, code, params, args)						\
	int coll_goal_##name(COLL_GOAL_OPEN params ompi_communicator_t *comm,			\
			     mca_coll_base_module_t *module)					\
	{											\
		struct coll_goal_module *m = (struct coll_goal_module *)module;			\
		struct coll_goal_call c;							\
		int rc;										\
												\
		if (coll_goal_unlikely(coll_goal_declines(m, code)))				\
			return m->prev.coll_##name(COLL_GOAL_OPEN args comm,			\
						   m->prev.coll_##name##_module);		\
		rc = name##_prepare(COLL_GOAL_OPEN args m, &c);					\
		if (coll_goal_unlikely(rc))							\
			return rc == COLL_GOAL_NOTHING ? OMPI_SUCCESS : rc;			\
		return coll_goal_blocking(m, &c);						\
	}											\
												\
	int coll_goal_i##name(COLL_GOAL_OPEN params ompi_communicator_t *comm,			\
			      ompi_request_t **request, mca_coll_base_module_t *module)		\
	{											\
		struct coll_goal_module *m = (struct coll_goal_module *)module;			\
		struct coll_goal_call c;							\
		int rc;										\
												\
		if (coll_goal_unlikely(coll_goal_declines(m, code)))				\
			return m->prev.coll_i##name(COLL_GOAL_OPEN args comm, request,		\
						    m->prev.coll_i##name##_module);		\
		rc = name##_prepare(COLL_GOAL_OPEN args m, &c);					\
		if (coll_goal_unlikely(rc))							\
			return coll_goal_no_request(rc, false, request);			\
		return coll_goal_nonblocking(m, &c, request);					\
	}											\
												\
	int coll_goal_##name##_init(COLL_GOAL_OPEN params ompi_communicator_t *comm,		\
				    struct ompi_info_t *info, ompi_request_t **request,		\
				    mca_coll_base_module_t *module)				\
	{											\
		struct coll_goal_module *m = (struct coll_goal_module *)module;			\
		struct coll_goal_call c;							\
		int rc;										\
												\
		if (coll_goal_unlikely(coll_goal_declines(m, code)))				\
			return m->prev.coll_##name##_init(COLL_GOAL_OPEN args comm, info,	\
							  request,				\
							  m->prev.coll_##name##_init_module);	\
		rc = name##_prepare(COLL_GOAL_OPEN args m, &c);					\
		if (coll_goal_unlikely(rc))							\
			return coll_goal_no_request(rc, true, request);				\
		return coll_goal_persistent(m, &c, request);					\
	}
/* clang-format on */

#endif /* COLL_GOAL_FORMS_H */
