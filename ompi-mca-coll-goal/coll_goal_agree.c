/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Open MPI 5.0 calls two more functions of a coll module, the agreements of its fault tolerance,
 * without asking whether there are any. They are component ftagree's business; where that is
 * missing these say so.
 */
#include "coll_goal_entries.h"

#if COLL_GOAL_HAVE_AGREE

static int no_agreement(ompi_communicator_t *comm)
{
	opal_show_help(COLL_GOAL_HELP, "no-agreement", true, comm->c_name);
	return MPI_ERR_UNSUPPORTED_OPERATION;
}

int coll_goal_agree(void *contrib, int dt_count, ompi_datatype_t *dtype, ompi_op_t *op,
		    ompi_group_t **failedgroup, bool update_failedgroup, ompi_communicator_t *comm,
		    mca_coll_base_module_t *module)
{
	(void)contrib;
	(void)dt_count;
	(void)dtype;
	(void)op;
	(void)failedgroup;
	(void)update_failedgroup;
	(void)module;
	return no_agreement(comm);
}

int coll_goal_iagree(void *contrib, int dt_count, ompi_datatype_t *dtype, ompi_op_t *op,
		     ompi_group_t **failedgroup, bool update_failedgroup, ompi_communicator_t *comm,
		     ompi_request_t **request, mca_coll_base_module_t *module)
{
	(void)contrib;
	(void)dt_count;
	(void)dtype;
	(void)op;
	(void)failedgroup;
	(void)update_failedgroup;
	(void)request;
	(void)module;
	return no_agreement(comm);
}

#endif /* COLL_GOAL_HAVE_AGREE */
