/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The differences between Open MPI 4.1 and 5.0 that coll/goal meets, all of them: the rest of
 * the component is the same source for both and tests no version. Included first by
 * coll_goal.h.
 */
#ifndef COLL_GOAL_COMPAT_H
#define COLL_GOAL_COMPAT_H

#include "ompi_config.h"

#include "mpi.h"
#include "ompi/constants.h"
#include "ompi/mca/coll/coll.h"
#include "ompi/mca/coll/base/base.h"
#include "ompi/mca/coll/base/coll_base_util.h"
#include "ompi/communicator/communicator.h"
#include "ompi/datatype/ompi_datatype.h"
#include "ompi/mca/pml/pml.h"
#include "ompi/mca/topo/topo.h"
#include "ompi/op/op.h"
#include "ompi/proc/proc.h"
#include "ompi/request/request.h"
#include "ompi/runtime/mpiruntime.h"
#include "ompi/runtime/params.h"
#include "opal/mca/base/mca_base_pvar.h"
#include "opal/mca/base/mca_base_var.h"
#include "opal/runtime/opal_progress.h"
#include "opal/util/output.h"
#include "opal/util/proc.h"
#include "opal/util/show_help.h"

/* The counts became size_t and the module installs its own functions there: another component. */
#if defined(MCA_COLL_BASE_VERSION_3_0_0)
#error "coll/goal is written for Open MPI 4.1 and 5.0 (coll 2.0.0 and 2.4.0), not for coll 3.0.0"
#endif

#if defined(MCA_COLL_BASE_VERSION_2_4_0) /* Open MPI 5.0 */

#include "opal/mca/threads/mutex.h"
#include "opal/mca/pmix/pmix-internal.h"

#define COLL_GOAL_BASE_VERSION MCA_COLL_BASE_VERSION_2_4_0
#define COLL_GOAL_MODEX_SCOPE  PMIX_GLOBAL

/* The ranks of the job that share this node, as "0,1,2"; the caller frees it. NULL: unknown. */
static inline char *coll_goal_local_ranks(void)
{
	opal_process_name_t job = OPAL_PROC_MY_NAME;
	char *ranks = NULL;
	int rc;

	job.vpid = OPAL_VPID_WILDCARD;
	OPAL_MODEX_RECV_VALUE_OPTIONAL(rc, PMIX_LOCAL_PEERS, &job, &ranks, PMIX_STRING);
	return rc == PMIX_SUCCESS ? ranks : NULL;
}

#if OPAL_ENABLE_FT_MPI
#define COLL_GOAL_ERR_PROC_FAILED MPI_ERR_PROC_FAILED

/* Fault tolerance is on in this job. */
static inline bool coll_goal_ft(void)
{
	return ompi_ftmpi_enabled;
}

/* Why no collective can run on @comm any more: MPI_ERR_REVOKED, MPI_ERR_PROC_FAILED, or 0. */
static inline int coll_goal_comm_broken(ompi_communicator_t *comm)
{
	if (ompi_comm_is_revoked(comm))
		return MPI_ERR_REVOKED;
	return ompi_comm_coll_revoked(comm) ? MPI_ERR_PROC_FAILED : 0;
}

/* Let a point-to-point request whose peer is dead end; it is complete then. */
static inline void coll_goal_pml_check(ompi_request_t *request)
{
	(void)ompi_request_is_failed(request);
}

#define COLL_GOAL_HAVE_AGREE 1
#endif /* OPAL_ENABLE_FT_MPI */

#elif defined(MCA_COLL_BASE_VERSION_2_0_0) /* Open MPI 4.1 */

#include "opal/threads/mutex.h"
#include "opal/mca/pmix/pmix.h"

#define COLL_GOAL_BASE_VERSION MCA_COLL_BASE_VERSION_2_0_0
#define COLL_GOAL_MODEX_SCOPE  OPAL_PMIX_GLOBAL

static inline char *coll_goal_local_ranks(void)
{
	opal_process_name_t job = OPAL_PROC_MY_NAME;
	char *ranks = NULL;
	int rc;

	job.vpid = OPAL_VPID_WILDCARD;
	OPAL_MODEX_RECV_VALUE_OPTIONAL(rc, OPAL_PMIX_LOCAL_PEERS, &job, &ranks, OPAL_STRING);
	return rc == OPAL_SUCCESS ? ranks : NULL;
}

#else
#error "this Open MPI's coll interface is neither 2.0.0 (4.1) nor 2.4.0 (5.0)"
#endif

#ifndef COLL_GOAL_ERR_PROC_FAILED
/* No fault tolerance in this Open MPI: a dead process is an error like others. */
#define COLL_GOAL_ERR_PROC_FAILED MPI_ERR_OTHER

static inline bool coll_goal_ft(void)
{
	return false;
}

static inline int coll_goal_comm_broken(ompi_communicator_t *comm)
{
	(void)comm;
	return 0;
}

static inline void coll_goal_pml_check(ompi_request_t *request)
{
	(void)request;
}

#define COLL_GOAL_HAVE_AGREE 0
#endif

/*
 * MPI_Dist_graph_create receives messages of these tags from any source while the reservation
 * of tags for nonblocking collectives counts down through them. Open MPI that gave its tags a
 * place of their own has no such hole.
 */
#ifdef MCA_COLL_BASE_TAG_TOPO_DIST_EDGE_IN
#define COLL_GOAL_TAG_HOLE_TOP    0
#define COLL_GOAL_TAG_HOLE_BOTTOM 0
#else
#define COLL_GOAL_TAG_HOLE_TOP    (-50)
#define COLL_GOAL_TAG_HOLE_BOTTOM (-51)
#endif

#endif /* COLL_GOAL_COMPAT_H */
