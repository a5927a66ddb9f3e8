/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A collective call as data: made in any form by call_make(), and done again by call_reference()
 * with nothing but point-to-point messages.
 */
#ifndef TEST_MPI_CALL_H
#define TEST_MPI_CALL_H

#include "check.h"

enum coll {
	ALLGATHER,
	ALLGATHERV,
	ALLREDUCE,
	ALLTOALL,
	ALLTOALLV,
	ALLTOALLW,
	BARRIER,
	BCAST,
	EXSCAN,
	GATHER,
	GATHERV,
	REDUCE,
	REDUCE_SCATTER,
	REDUCE_SCATTER_BLOCK,
	SCAN,
	SCATTER,
	SCATTERV,
	NEIGHBOR_ALLGATHER,
	NEIGHBOR_ALLGATHERV,
	NEIGHBOR_ALLTOALL,
	NEIGHBOR_ALLTOALLV,
	NEIGHBOR_ALLTOALLW,
	COLLS
};

enum form {
	BLOCKING,
	NONBLOCKING,
	PERSISTENT,
	FORMS
};

/* Arguments as MPI has them; which of them count depends on the collective. */
struct call {
	enum coll coll;
	MPI_Comm comm;
	const void *sbuf;
	void *rbuf;
	int scount, rcount;
	MPI_Datatype stype, rtype;
	const int *scounts, *rcounts, *sdispls, *rdispls;
	const MPI_Datatype *stypes, *rtypes; /* w forms */
	const MPI_Aint *sadispls, *radispls; /* neighbor_alltoallw */
	MPI_Op op;
	int root;
};

const char *coll_name(enum coll coll);
const char *form_name(enum form form);
/* -1: no collective is called so. */
int coll_find(const char *name);

/*
 * Make the call. NONBLOCKING gives a request that is active, PERSISTENT one to be started (and
 * freed); BLOCKING sets it to MPI_REQUEST_NULL. The error of the call.
 */
int call_make(const struct call *c, enum form form, MPI_Request *request);

/*
 * The same result by MPI_Isend and MPI_Irecv on the same communicator with tags of its own. All
 * ranks of the communicator call it.
 */
void call_reference(const struct call *c);

#endif /* TEST_MPI_CALL_H */
