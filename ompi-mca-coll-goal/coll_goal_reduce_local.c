/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MPI_Reduce_local: the engine's arithmetic without a run, so that it gives the bits that a
 * collective would give.
 */
#include "coll_goal_entries.h"

int coll_goal_reduce_local(const void *inbuf, void *inoutbuf, int count, ompi_datatype_t *type,
			   ompi_op_t *op, mca_coll_base_module_t *module)
{
	uint32_t dtype, rop;

	(void)module;
	if (coll_goal_op_codes(op, type, &dtype, &rop)) {
		int rc = goal_reduce_local(dtype, rop, inbuf, inoutbuf, count);

		return rc ? MPI_ERR_OP : OMPI_SUCCESS;
	}
	ompi_op_reduce(op, (void *)inbuf, inoutbuf, count, type);
	return OMPI_SUCCESS;
}
