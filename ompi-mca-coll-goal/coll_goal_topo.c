/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The neighbors of this process in the communicator's topology, in MPI's order: Cartesian, for
 * each dimension the one in minus direction, then the one in plus direction; graph and distributed
 * graph as they were given. Read once, at the first neighborhood collective, since Open MPI
 * attaches the topology after the module was made. Called by neighbor.c.
 */
#include "coll_goal.h"

static int read_cart(ompi_communicator_t *comm, int32_t *source, int32_t *destination, int ndims)
{
	for (int d = 0; d < ndims; d++) {
		int minus, plus, rc;

		rc = comm->c_topo->topo.cart.cart_shift(comm, d, 1, &minus, &plus);
		if (rc != MPI_SUCCESS)
			return rc;
		source[2 * d] = destination[2 * d] = minus;
		source[2 * d + 1] = destination[2 * d + 1] = plus;
	}
	return OMPI_SUCCESS;
}

static int read_degrees(ompi_communicator_t *comm, int *in, int *out, int *ndims)
{
	const struct mca_topo_base_module_t *topo = comm->c_topo;
	int weighted, rc;

	*ndims = 0;
	if (OMPI_COMM_IS_CART(comm)) {
		rc = topo->topo.cart.cartdim_get(comm, ndims);
		*in = *out = 2 * *ndims;
	} else if (OMPI_COMM_IS_GRAPH(comm)) {
		rc = topo->topo.graph.graph_neighbors_count(comm, ompi_comm_rank(comm), in);
		*out = *in;
	} else if (OMPI_COMM_IS_DIST_GRAPH(comm)) {
		rc = topo->topo.dist_graph.dist_graph_neighbors_count(comm, in, out, &weighted);
	} else {
		rc = MPI_ERR_TOPOLOGY;
	}
	return rc;
}

int coll_goal_topo_read(struct coll_goal_module *m)
{
	ompi_communicator_t *comm = m->comm;
	int in, out, ndims, rc;
	int32_t *source, *destination;

	rc = read_degrees(comm, &in, &out, &ndims);
	if (rc != OMPI_SUCCESS)
		return rc;
	source = coll_goal_malloc((size_t)in * sizeof(*source));
	destination = coll_goal_malloc((size_t)out * sizeof(*destination));
	if (!source || !destination) {
		rc = OMPI_ERR_OUT_OF_RESOURCE;
		goto free_arrays;
	}
	if (OMPI_COMM_IS_CART(comm)) {
		rc = read_cart(comm, source, destination, ndims);
	} else if (OMPI_COMM_IS_GRAPH(comm)) {
		rc = comm->c_topo->topo.graph.graph_neighbors(comm, ompi_comm_rank(comm), in,
							      source);
		memcpy(destination, source, (size_t)in * sizeof(*source));
	} else {
		rc = comm->c_topo->topo.dist_graph.dist_graph_neighbors(
			comm, in, source, MPI_UNWEIGHTED, out, destination, MPI_UNWEIGHTED);
	}
	if (rc != OMPI_SUCCESS)
		goto free_arrays;
	for (int i = 0; i < in; i++)
		if (source[i] == MPI_PROC_NULL)
			source[i] = -1;
	for (int i = 0; i < out; i++)
		if (destination[i] == MPI_PROC_NULL)
			destination[i] = -1;
	m->near = (struct goal_neighbors){
		.indegree = (uint32_t)in,
		.outdegree = (uint32_t)out,
		.sources = source,
		.destinations = destination,
		.ndims = (uint32_t)ndims,
	};
	m->near_known = true;
	return OMPI_SUCCESS;

free_arrays:
	free(source);
	free(destination);
	return rc;
}
