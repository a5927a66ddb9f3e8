/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * From MPI's (buffer, count, datatype) to the sides of a call. The family files use these; what
 * is contiguous, which nearly everything is, is decided here, inline, and bound directly.
 */
#ifndef COLL_GOAL_SIDES_H
#define COLL_GOAL_SIDES_H

#include "coll_goal.h"

/* What happens to the memory of a side during the run. */
enum coll_goal_use {
	COLL_GOAL_READ = 1,
	COLL_GOAL_WRITE = 2,
};

/* Nothing is bound: not significant at this rank. */
static inline void coll_goal_side_none(struct coll_goal_side *side)
{
	side->base = NULL;
	side->len = 0;
	side->packed = false;
}

/* @bytes of plain memory. */
static inline void coll_goal_side_raw(struct coll_goal_side *side, const void *buf, uint64_t bytes)
{
	side->base = (char *)buf;
	side->len = bytes;
	side->packed = false;
}

static inline uint64_t coll_goal_bytes(const ompi_datatype_t *type, size_t count)
{
	return (uint64_t)type->super.size * count;
}

static inline ptrdiff_t coll_goal_extent(const ompi_datatype_t *type)
{
	return type->super.ub - type->super.lb;
}

/* @count elements lie in memory as they would be packed, from the type's true lower bound on. */
static inline bool coll_goal_direct(const ompi_datatype_t *type, size_t count)
{
	const uint32_t both = OPAL_DATATYPE_FLAG_CONTIGUOUS | OPAL_DATATYPE_FLAG_NO_GAPS;

	if (coll_goal_likely((type->super.flags & both) == both))
		return true;
	return count <= 1 && (type->super.flags & OPAL_DATATYPE_FLAG_CONTIGUOUS);
}

/* sides.c: the copy of @count elements, of which @store_len bytes are written back. */
void coll_goal_side_packed(struct coll_goal_side *side, const void *buf, size_t count,
			   ompi_datatype_t *type, enum coll_goal_use use);

/* Turn a direct side into one that is sent from a copy. */
void coll_goal_side_copied(struct coll_goal_side *side);

/* @count elements of @type at @buf. */
static inline void coll_goal_side_elements(struct coll_goal_side *side, const void *buf,
					   size_t count, ompi_datatype_t *type,
					   enum coll_goal_use use)
{
	uint64_t bytes = coll_goal_bytes(type, count);

	if (coll_goal_likely(coll_goal_direct(type, count) || !bytes))
		coll_goal_side_raw(side, (const char *)buf + type->super.true_lb, bytes);
	else
		coll_goal_side_packed(side, buf, count, type, use);
}

/* Blocks of one buffer, as the v and w collectives give them: by count and place. */
struct coll_goal_places {
	const void *buf;
	int n;
	const int *counts;
	const int *displs;             /* in extents of type; with types in bytes */
	const ptrdiff_t *far;          /* instead of displs: in bytes (neighbor_alltoallw) */
	ompi_datatype_t *type;         /* of all blocks, or */
	ompi_datatype_t *const *types; /* of each */
};

/*
 * Room for the blocks of both sides in the key: bytes[nsend], off[nsend], bytes[nrecv],
 * off[nrecv], from the module's scratch. 0 or an MPI error.
 */
int coll_goal_key_room(struct coll_goal_module *m, struct coll_goal_key *key, int nsend, int nrecv);
static inline uint64_t *coll_goal_key_send(const struct coll_goal_key *key)
{
	return (uint64_t *)key->vec;
}
static inline uint64_t *coll_goal_key_recv(const struct coll_goal_key *key)
{
	return (uint64_t *)key->vec + 2 * (size_t)key->nsend;
}

/*
 * Bind the blocks of @places, and write their bytes and offsets to @bytes (n of each). 0 or an
 * MPI error.
 */
int coll_goal_side_places(struct coll_goal_side *side, const struct coll_goal_places *places,
			  uint64_t *bytes, enum coll_goal_use use);

/* Blocks of a call: one for each rank that a message may come from or go to. */
static inline int coll_goal_peers(ompi_communicator_t *comm)
{
	return OMPI_COMM_IS_INTER(comm) ? ompi_comm_remote_size(comm) : ompi_comm_size(comm);
}

/* MPI's root as the builders take it. */
static inline int64_t coll_goal_root(bool inter, int root)
{
	if (coll_goal_likely(!inter))
		return root;
	if (root == MPI_ROOT)
		return GOAL_ROOT_HERE;
	return root == MPI_PROC_NULL ? GOAL_ROOT_NONE : root;
}

/*
 * On an intercommunicator: count a rooted call with those that take part. True: this process
 * does not (MPI_PROC_NULL).
 */
static inline bool coll_goal_rooted(struct coll_goal_call *c)
{
	c->stream = COLL_GOAL_ROOTED;
	return c->key.root == GOAL_ROOT_NONE;
}

/* This process is the root. */
static inline bool coll_goal_is_root(ompi_communicator_t *comm, bool inter, int root)
{
	return inter ? root == MPI_ROOT : root == ompi_comm_rank(comm);
}

/* The start of every prepare function: no vector, no reducer, no root. */
static inline void coll_goal_call_init(struct coll_goal_call *c, enum goal_coll coll, bool in_place)
{
	c->key.code = coll_goal_key_code(coll, in_place);
	c->key.root = 0;
	c->key.send = c->key.recv = 0;
	c->key.nsend = c->key.nrecv = 0;
	c->key.vec = NULL;
	c->reducer.op = NULL;
	c->stream = COLL_GOAL_PLAIN;
}

#endif /* COLL_GOAL_SIDES_H */
