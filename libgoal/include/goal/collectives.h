/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Graphs of the MPI collectives. Each function is pure: from arguments to a graph of this
 * rank's part. What is marked (global) must be the same at every rank of the communicator, or
 * the graphs do not fit together; the rest describes this rank's own memory.
 *
 * All of them: a new graph in *@graph, owned by the caller, and as result the number of tags it
 * takes (at least 1, the same at every rank); -EINVAL: an argument is out of range or the
 * algorithm does not know this case; -ENOMEM; -E2BIG. Where this rank's block for itself is longer
 * than the place for it, the run ends with -EMSGSIZE. Blocks are bytes of a bound buffer:
 * sends read GOAL_BUF_SEND, results are written to GOAL_BUF_RECV. With @in_place this rank's
 * contribution stands in GOAL_BUF_RECV where MPI says so, and GOAL_BUF_SEND is not named;
 * where there is a root, only the root may ask for it.
 * On an intercommunicator (remote_size above 0) peers are the ranks of the remote group, and
 * roots are its ranks, or GOAL_ROOT_HERE, GOAL_ROOT_NONE.
 */
#ifndef GOAL_COLLECTIVES_H
#define GOAL_COLLECTIVES_H

#include <stdbool.h>

#include <goal/graph.h>

GOAL_BEGIN_DECLS

/* The communicator. */
struct goal_comm {
	uint32_t rank;        /* this rank */
	uint32_t size;        /* (global) ranks in its group */
	uint32_t remote_size; /* (global) ranks in the remote group; 0: intra */
	const uint32_t *node; /* (global) by rank, intra only: equal numbers share a
					 * node; NULL: all share one */
};

#define GOAL_ROOT_HERE (-1) /* MPI_ROOT */
#define GOAL_ROOT_NONE (-2) /* MPI_PROC_NULL */

enum goal_coll {
	GOAL_ALLGATHER,
	GOAL_ALLGATHERV,
	GOAL_ALLREDUCE,
	GOAL_ALLTOALL,
	GOAL_ALLTOALLV,
	GOAL_ALLTOALLW,
	GOAL_BARRIER,
	GOAL_BCAST,
	GOAL_EXSCAN,
	GOAL_GATHER,
	GOAL_GATHERV,
	GOAL_REDUCE,
	GOAL_REDUCE_SCATTER,
	GOAL_REDUCE_SCATTER_BLOCK,
	GOAL_SCAN,
	GOAL_SCATTER,
	GOAL_SCATTERV,
	GOAL_NEIGHBOR_ALLGATHER,
	GOAL_NEIGHBOR_ALLGATHERV,
	GOAL_NEIGHBOR_ALLTOALL,
	GOAL_NEIGHBOR_ALLTOALLV,
	GOAL_NEIGHBOR_ALLTOALLW,
	GOAL_COLLS
};

/*
 * Algorithms (global), by collective; 0 (GOAL_ALG_AUTO) lets the builder choose from its
 * global arguments. goal_algorithm_name() gives the names that MCA parameters take.
 */
enum goal_algorithm {
	GOAL_ALG_AUTO = 0,
	GOAL_ALG_LINEAR,             /* every rank with the root, or with every other */
	GOAL_ALG_BINOMIAL,           /* binomial tree */
	GOAL_ALG_DISSEMINATION,      /* Hensgen, Finkel, Manber 1988 */
	GOAL_ALG_RECURSIVE_DOUBLING, /* any size: the excess folds in and out */
	GOAL_ALG_FLAT,               /* star per node, dissemination between the first ranks */
	GOAL_ALG_BRUCK,              /* Bruck et al. 1997 */
	GOAL_ALGS
};

/* "barrier", "reduce_scatter_block", ...; NULL: no such collective. */
GOAL_API const char *goal_coll_name(enum goal_coll coll);
/* "auto", "linear", ...; NULL: no such algorithm. */
GOAL_API const char *goal_algorithm_name(enum goal_algorithm alg);
/* Does @coll have @alg (for intra or inter communicators)? */
GOAL_API bool goal_algorithm_valid(enum goal_coll coll, enum goal_algorithm alg, bool inter);
/*
 * Bytes of buffers and scratch together that no rank's part exceeds, whatever root and algorithm, in
 * an intracommunicator of @ranks with blocks or vectors of @bytes (reduce_scatter: of at most so
 * many for each rank); UINT64_MAX: these arguments do not tell (neighborhoods, and those whose blocks
 * differ), or there is no end to it.
 */
GOAL_API uint64_t goal_footprint(enum goal_coll coll, uint32_t ranks, uint64_t bytes);

/* How elements are reduced (global). */
struct goal_reduction {
	uint32_t dtype;   /* enum goal_dtype */
	uint32_t rop;     /* enum goal_rop */
	uint32_t size;    /* bytes of one element in the buffers; GOAL_TYPE_USER: any
					 * above 0, else the type's own */
	bool commutative; /* false: strictly in rank order */
};

/* A process's neighbors in a topology, MPI_PROC_NULL as -1. */
struct goal_neighbors {
	uint32_t indegree, outdegree;
	const int32_t *sources;      /* [indegree] */
	const int32_t *destinations; /* [outdegree] */
	uint32_t ndims;              /* (global) Cartesian: its dimensions, both degrees are
					 * 2 * ndims, minus direction first; 0: (distributed) graph:
					 * the k-th edge to a process meets its k-th edge from us */
};

/* Blocks at arbitrary places of one buffer. */
struct goal_blocks {
	const uint64_t *bytes; /* length of each block */
	const uint64_t *off;   /* its place in the buffer */
};

GOAL_API int goal_barrier(const struct goal_comm *c, enum goal_algorithm alg,
			  struct goal_graph **graph);
/* @bytes (global). The root's data and the others' result are in GOAL_BUF_RECV. */
GOAL_API int goal_bcast(const struct goal_comm *c, enum goal_algorithm alg, int64_t root,
			uint64_t bytes, struct goal_graph **graph);
/* @bytes (global) of one block; the root's blocks lie in rank order without gaps. */
GOAL_API int goal_gather(const struct goal_comm *c, enum goal_algorithm alg, int64_t root,
			 uint64_t bytes, bool in_place, struct goal_graph **graph);
GOAL_API int goal_scatter(const struct goal_comm *c, enum goal_algorithm alg, int64_t root,
			  uint64_t bytes, bool in_place, struct goal_graph **graph);
/* @bytes: what this rank sends (gatherv) or receives (scatterv); @blocks at the root only. */
GOAL_API int goal_gatherv(const struct goal_comm *c, enum goal_algorithm alg, int64_t root,
			  uint64_t bytes, const struct goal_blocks *blocks, bool in_place,
			  struct goal_graph **graph);
GOAL_API int goal_scatterv(const struct goal_comm *c, enum goal_algorithm alg, int64_t root,
			   uint64_t bytes, const struct goal_blocks *blocks, bool in_place,
			   struct goal_graph **graph);
/*
 * @send_bytes, @recv_bytes (global up to exchange of the groups): one block of this group, and
 * one of the group that is received from; equal on an intracommunicator.
 */
GOAL_API int goal_allgather(const struct goal_comm *c, enum goal_algorithm alg, uint64_t send_bytes,
			    uint64_t recv_bytes, bool in_place, struct goal_graph **graph);
/* @recv->bytes (global on an intracommunicator). */
GOAL_API int goal_allgatherv(const struct goal_comm *c, enum goal_algorithm alg,
			     uint64_t send_bytes, const struct goal_blocks *recv, bool in_place,
			     struct goal_graph **graph);
GOAL_API int goal_alltoall(const struct goal_comm *c, enum goal_algorithm alg, uint64_t send_bytes,
			   uint64_t recv_bytes, bool in_place, struct goal_graph **graph);
/*
 * Also alltoallw. Blocks of zero bytes send no message. In place: @send is not looked at, and
 * blocks of @recv are replaced by what their peers hold for us.
 */
GOAL_API int goal_alltoallv(const struct goal_comm *c, enum goal_algorithm alg,
			    const struct goal_blocks *send, const struct goal_blocks *recv,
			    bool in_place, struct goal_graph **graph);

/* @count (global) elements. On an intercommunicator the remote group's elements are reduced. */
GOAL_API int goal_reduce_to(const struct goal_comm *c, enum goal_algorithm alg, int64_t root,
			    uint64_t count, const struct goal_reduction *how, bool in_place,
			    struct goal_graph **graph);
GOAL_API int goal_allreduce(const struct goal_comm *c, enum goal_algorithm alg, uint64_t count,
			    const struct goal_reduction *how, bool in_place,
			    struct goal_graph **graph);
/* @counts (global) [size]: elements of each rank's part of the result. */
GOAL_API int goal_reduce_scatter(const struct goal_comm *c, enum goal_algorithm alg,
				 const uint64_t *counts, const struct goal_reduction *how,
				 bool in_place, struct goal_graph **graph);
GOAL_API int goal_reduce_scatter_block(const struct goal_comm *c, enum goal_algorithm alg,
				       uint64_t count, const struct goal_reduction *how,
				       bool in_place, struct goal_graph **graph);
GOAL_API int goal_scan(const struct goal_comm *c, enum goal_algorithm alg, uint64_t count,
		       const struct goal_reduction *how, bool in_place, struct goal_graph **graph);
/* Rank 0's result stays as it is. */
GOAL_API int goal_exscan(const struct goal_comm *c, enum goal_algorithm alg, uint64_t count,
			 const struct goal_reduction *how, bool in_place,
			 struct goal_graph **graph);

/*
 * Neighborhood collectives: every operation independent, all in flight at once. allgather and
 * alltoall send nothing where send_bytes is 0 and receive nothing where recv_bytes is 0; the
 * others also send blocks of zero bytes.
 */
GOAL_API int goal_neighbor_allgather(const struct goal_comm *c, const struct goal_neighbors *n,
				     uint64_t send_bytes, uint64_t recv_bytes,
				     struct goal_graph **graph);
GOAL_API int goal_neighbor_allgatherv(const struct goal_comm *c, const struct goal_neighbors *n,
				      uint64_t send_bytes, const struct goal_blocks *recv,
				      struct goal_graph **graph);
GOAL_API int goal_neighbor_alltoall(const struct goal_comm *c, const struct goal_neighbors *n,
				    uint64_t send_bytes, uint64_t recv_bytes,
				    struct goal_graph **graph);
/* Also neighbor_alltoallw. */
GOAL_API int goal_neighbor_alltoallv(const struct goal_comm *c, const struct goal_neighbors *n,
				     const struct goal_blocks *send, const struct goal_blocks *recv,
				     struct goal_graph **graph);

GOAL_END_DECLS

#endif /* GOAL_COLLECTIVES_H */
