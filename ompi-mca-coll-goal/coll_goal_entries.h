/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The collectives, and our entry for each of their forms: coll_goal_NAME, coll_goal_iNAME,
 * coll_goal_NAME_init, with the types that Open MPI's module has for its slots. The family files
 * define them, slots.c installs them.
 */
#ifndef COLL_GOAL_ENTRIES_H
#define COLL_GOAL_ENTRIES_H

#include "coll_goal.h"

/* On every communicator. */
#define COLL_GOAL_EACH_COMMON(X)                           \
	X(allgather, GOAL_ALLGATHER)                       \
	X(allgatherv, GOAL_ALLGATHERV)                     \
	X(allreduce, GOAL_ALLREDUCE)                       \
	X(alltoall, GOAL_ALLTOALL)                         \
	X(alltoallv, GOAL_ALLTOALLV)                       \
	X(alltoallw, GOAL_ALLTOALLW)                       \
	X(barrier, GOAL_BARRIER)                           \
	X(bcast, GOAL_BCAST)                               \
	X(gather, GOAL_GATHER)                             \
	X(gatherv, GOAL_GATHERV)                           \
	X(reduce, GOAL_REDUCE)                             \
	X(reduce_scatter, GOAL_REDUCE_SCATTER)             \
	X(reduce_scatter_block, GOAL_REDUCE_SCATTER_BLOCK) \
	X(scatter, GOAL_SCATTER)                           \
	X(scatterv, GOAL_SCATTERV)

/* On intracommunicators only. */
#define COLL_GOAL_EACH_INTRA(X)                          \
	X(exscan, GOAL_EXSCAN)                           \
	X(scan, GOAL_SCAN)                               \
	X(neighbor_allgather, GOAL_NEIGHBOR_ALLGATHER)   \
	X(neighbor_allgatherv, GOAL_NEIGHBOR_ALLGATHERV) \
	X(neighbor_alltoall, GOAL_NEIGHBOR_ALLTOALL)     \
	X(neighbor_alltoallv, GOAL_NEIGHBOR_ALLTOALLV)   \
	X(neighbor_alltoallw, GOAL_NEIGHBOR_ALLTOALLW)

#define COLL_GOAL_EACH(X) COLL_GOAL_EACH_COMMON(X) COLL_GOAL_EACH_INTRA(X)

#define COLL_GOAL_SLOT_TYPE(slot) __typeof__(*((mca_coll_base_module_t *)0)->coll_##slot)

#define COLL_GOAL_DECLARE(name, code)                   \
	COLL_GOAL_SLOT_TYPE(name) coll_goal_##name;     \
	COLL_GOAL_SLOT_TYPE(i##name) coll_goal_i##name; \
	COLL_GOAL_SLOT_TYPE(name##_init) coll_goal_##name##_init;
COLL_GOAL_EACH(COLL_GOAL_DECLARE)
#undef COLL_GOAL_DECLARE

COLL_GOAL_SLOT_TYPE(reduce_local) coll_goal_reduce_local;
#if COLL_GOAL_HAVE_AGREE
COLL_GOAL_SLOT_TYPE(agree) coll_goal_agree;
COLL_GOAL_SLOT_TYPE(iagree) coll_goal_iagree;
#endif

#endif /* COLL_GOAL_ENTRIES_H */
