/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One collective of given parameters with its buffers and the result it must have: made from
 * numbers that all ranks know, tried in any form, compared byte by byte.
 */
#ifndef TEST_MPI_SHAPE_H
#define TEST_MPI_SHAPE_H

#include "call.h"
#include "zoo.h"

/* A communicator, as this rank sees it. */
struct where {
	MPI_Comm comm;
	const char *name;
	int inter, side; /* side: 0 or 1, which of the two groups */
	int rank, size, rsize;
	int nin, nout; /* neighbors; 0 without a topology */
};

/* @side only for intercommunicators; ranks of one group give the same. */
void where_set(struct where *w, MPI_Comm comm, const char *name, int side);

struct params {
	enum coll coll;
	int root;           /* a rank; inter: ranks of side 0 first, then those of side 1 */
	int count;          /* elements of a block; v and w forms: from 0 to twice as many */
	int types;          /* >= 0: where in the zoo, each rank elsewhere; -1: .plain */
	MPI_Datatype plain; /* this type at every rank */
	MPI_Op op;
	bool in_place, absolute;
	uint64_t id; /* what else varies, varies by this */
};

struct shape {
	const struct where *w;
	struct params p;
	struct call c;
	struct buf s, sold, r, want;
	MPI_Datatype rbase;
	int *ints; /* counts and displacements */
	MPI_Aint *aints;
	MPI_Datatype *wtypes;
	MPI_Request req;
	uint64_t before; /* goal's runs */
};

/* Has @coll a root; can it be called in place? */
bool shape_rooted(enum coll coll);
bool shape_reduces(enum coll coll);
bool shape_in_place(enum coll coll);
int shape_roots(const struct where *w, enum coll coll);

void shape_new(struct shape *s, const struct where *w, const struct params *p);
void shape_free(struct shape *s);
/* Fill the buffers for the @round and find the result by the reference. All ranks together. */
void shape_prepare(struct shape *s, uint64_t round);
/* Say what is being tried, for failures. */
void shape_context(const struct shape *s, enum form form);
/* Make the call (persistent: not started), which must succeed. */
void shape_issue(struct shape *s, enum form form);
/* Must goal have run something for this call at this rank? Not where MPI itself returns early. */
bool shape_runs(const struct shape *s);
void shape_verify(const struct shape *s, enum form form);

/*
 * Try @n shapes in @form: blocking ones one after another; the others all in flight at once,
 * ended in an order of @id; persistent ones twice.
 */
void shape_try(struct shape *s, int n, enum form form, uint64_t id);

#endif /* TEST_MPI_SHAPE_H */
