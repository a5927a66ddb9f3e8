/* SPDX-License-Identifier: BSD-3-Clause */
/* One collective call from a description of it, in any of the three forms. */
#include <string.h>

#include "call.h"

static const char *const coll_names[COLLS] = {
	"allgather",
	"allgatherv",
	"allreduce",
	"alltoall",
	"alltoallv",
	"alltoallw",
	"barrier",
	"bcast",
	"exscan",
	"gather",
	"gatherv",
	"reduce",
	"reduce_scatter",
	"reduce_scatter_block",
	"scan",
	"scatter",
	"scatterv",
	"neighbor_allgather",
	"neighbor_allgatherv",
	"neighbor_alltoall",
	"neighbor_alltoallv",
	"neighbor_alltoallw",
};

const char *coll_name(enum coll coll)
{
	return coll_names[coll];
}

const char *form_name(enum form form)
{
	static const char *const form_names[FORMS] = { "blocking", "nonblocking", "persistent" };

	return form_names[form];
}

int coll_find(const char *name)
{
	for (int i = 0; i < COLLS; i++) {
		if (strcmp(coll_names[i], name) == 0)
			return i;
	}
	return -1;
}

/* The three functions of one collective with the same arguments. */
#define MAKE(Blocking, I, Init, ...)                                       \
	switch (form) {                                                    \
	case BLOCKING:                                                     \
		return Blocking(__VA_ARGS__, c->comm);                     \
	case NONBLOCKING:                                                  \
		return I(__VA_ARGS__, c->comm, request);                   \
	default:                                                           \
		return Init(__VA_ARGS__, c->comm, MPI_INFO_NULL, request); \
	}

static int make_reduction(const struct call *c, enum form form, MPI_Request *request)
{
	switch (c->coll) {
	case ALLREDUCE:
		MAKE(MPI_Allreduce, MPI_Iallreduce, MPI_Allreduce_init, c->sbuf, c->rbuf, c->rcount,
		     c->rtype, c->op)
	case EXSCAN:
		MAKE(MPI_Exscan, MPI_Iexscan, MPI_Exscan_init, c->sbuf, c->rbuf, c->rcount,
		     c->rtype, c->op)
	case SCAN:
		MAKE(MPI_Scan, MPI_Iscan, MPI_Scan_init, c->sbuf, c->rbuf, c->rcount, c->rtype,
		     c->op)
	case REDUCE:
		MAKE(MPI_Reduce, MPI_Ireduce, MPI_Reduce_init, c->sbuf, c->rbuf, c->rcount,
		     c->rtype, c->op, c->root)
	case REDUCE_SCATTER:
		MAKE(MPI_Reduce_scatter, MPI_Ireduce_scatter, MPI_Reduce_scatter_init, c->sbuf,
		     c->rbuf, c->rcounts, c->rtype, c->op)
	default:
		MAKE(MPI_Reduce_scatter_block, MPI_Ireduce_scatter_block,
		     MPI_Reduce_scatter_block_init, c->sbuf, c->rbuf, c->rcount, c->rtype, c->op)
	}
}

static int make_neighbor(const struct call *c, enum form form, MPI_Request *request)
{
	switch (c->coll) {
	case NEIGHBOR_ALLGATHER:
		MAKE(MPI_Neighbor_allgather, MPI_Ineighbor_allgather, MPI_Neighbor_allgather_init,
		     c->sbuf, c->scount, c->stype, c->rbuf, c->rcount, c->rtype)
	case NEIGHBOR_ALLGATHERV:
		MAKE(MPI_Neighbor_allgatherv, MPI_Ineighbor_allgatherv,
		     MPI_Neighbor_allgatherv_init, c->sbuf, c->scount, c->stype, c->rbuf,
		     c->rcounts, c->rdispls, c->rtype)
	case NEIGHBOR_ALLTOALL:
		MAKE(MPI_Neighbor_alltoall, MPI_Ineighbor_alltoall, MPI_Neighbor_alltoall_init,
		     c->sbuf, c->scount, c->stype, c->rbuf, c->rcount, c->rtype)
	case NEIGHBOR_ALLTOALLV:
		MAKE(MPI_Neighbor_alltoallv, MPI_Ineighbor_alltoallv, MPI_Neighbor_alltoallv_init,
		     c->sbuf, c->scounts, c->sdispls, c->stype, c->rbuf, c->rcounts, c->rdispls,
		     c->rtype)
	default:
		MAKE(MPI_Neighbor_alltoallw, MPI_Ineighbor_alltoallw, MPI_Neighbor_alltoallw_init,
		     c->sbuf, c->scounts, c->sadispls, c->stypes, c->rbuf, c->rcounts, c->radispls,
		     c->rtypes)
	}
}

int call_make(const struct call *c, enum form form, MPI_Request *request)
{
	*request = MPI_REQUEST_NULL;
	switch (c->coll) {
	case ALLGATHER:
		MAKE(MPI_Allgather, MPI_Iallgather, MPI_Allgather_init, c->sbuf, c->scount,
		     c->stype, c->rbuf, c->rcount, c->rtype)
	case ALLGATHERV:
		MAKE(MPI_Allgatherv, MPI_Iallgatherv, MPI_Allgatherv_init, c->sbuf, c->scount,
		     c->stype, c->rbuf, c->rcounts, c->rdispls, c->rtype)
	case ALLTOALL:
		MAKE(MPI_Alltoall, MPI_Ialltoall, MPI_Alltoall_init, c->sbuf, c->scount, c->stype,
		     c->rbuf, c->rcount, c->rtype)
	case ALLTOALLV:
		MAKE(MPI_Alltoallv, MPI_Ialltoallv, MPI_Alltoallv_init, c->sbuf, c->scounts,
		     c->sdispls, c->stype, c->rbuf, c->rcounts, c->rdispls, c->rtype)
	case ALLTOALLW:
		MAKE(MPI_Alltoallw, MPI_Ialltoallw, MPI_Alltoallw_init, c->sbuf, c->scounts,
		     c->sdispls, c->stypes, c->rbuf, c->rcounts, c->rdispls, c->rtypes)
	case BARRIER:
		switch (form) {
		case BLOCKING:
			return MPI_Barrier(c->comm);
		case NONBLOCKING:
			return MPI_Ibarrier(c->comm, request);
		default:
			return MPI_Barrier_init(c->comm, MPI_INFO_NULL, request);
		}
	case BCAST:
		MAKE(MPI_Bcast, MPI_Ibcast, MPI_Bcast_init, c->rbuf, c->rcount, c->rtype, c->root)
	case GATHER:
		MAKE(MPI_Gather, MPI_Igather, MPI_Gather_init, c->sbuf, c->scount, c->stype,
		     c->rbuf, c->rcount, c->rtype, c->root)
	case GATHERV:
		MAKE(MPI_Gatherv, MPI_Igatherv, MPI_Gatherv_init, c->sbuf, c->scount, c->stype,
		     c->rbuf, c->rcounts, c->rdispls, c->rtype, c->root)
	case SCATTER:
		MAKE(MPI_Scatter, MPI_Iscatter, MPI_Scatter_init, c->sbuf, c->scount, c->stype,
		     c->rbuf, c->rcount, c->rtype, c->root)
	case SCATTERV:
		MAKE(MPI_Scatterv, MPI_Iscatterv, MPI_Scatterv_init, c->sbuf, c->scounts,
		     c->sdispls, c->stype, c->rbuf, c->rcount, c->rtype, c->root)
	case ALLREDUCE:
	case EXSCAN:
	case SCAN:
	case REDUCE:
	case REDUCE_SCATTER:
	case REDUCE_SCATTER_BLOCK:
		return make_reduction(c, form, request);
	default:
		return make_neighbor(c, form, request);
	}
}
