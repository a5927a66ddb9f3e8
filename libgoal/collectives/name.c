/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Names of collectives and algorithms, and which collective has which algorithm. Called by
 * users of the library (parameters, dumps) and by draft_begin().
 */
#include <goal/collectives.h>

#define ALG(name) (1u << GOAL_ALG_##name)

/* clang-format off */
static const struct {
	const char *name;
	uint32_t intra, inter; /* algorithms, a bit each */
} colls[GOAL_COLLS] = {
	[GOAL_ALLGATHER] = { "allgather",
		ALG(LINEAR) | ALG(BRUCK) | ALG(RECURSIVE_DOUBLING), ALG(LINEAR) },
	[GOAL_ALLGATHERV] = { "allgatherv", ALG(LINEAR), ALG(LINEAR) },
	[GOAL_ALLREDUCE] = { "allreduce",
		ALG(LINEAR) | ALG(BINOMIAL) | ALG(RECURSIVE_DOUBLING), ALG(LINEAR) },
	[GOAL_ALLTOALL] = { "alltoall", ALG(LINEAR) | ALG(BRUCK), ALG(LINEAR) },
	[GOAL_ALLTOALLV] = { "alltoallv", ALG(LINEAR), ALG(LINEAR) },
	[GOAL_ALLTOALLW] = { "alltoallw", ALG(LINEAR), ALG(LINEAR) },
	[GOAL_BARRIER] = { "barrier",
		ALG(LINEAR) | ALG(BINOMIAL) | ALG(DISSEMINATION) | ALG(RECURSIVE_DOUBLING) |
		ALG(FLAT), ALG(LINEAR) },
	[GOAL_BCAST] = { "bcast", ALG(LINEAR) | ALG(BINOMIAL), ALG(LINEAR) },
	[GOAL_EXSCAN] = { "exscan", ALG(RECURSIVE_DOUBLING), 0 },
	[GOAL_GATHER] = { "gather", ALG(LINEAR) | ALG(BINOMIAL), ALG(LINEAR) },
	[GOAL_GATHERV] = { "gatherv", ALG(LINEAR), ALG(LINEAR) },
	[GOAL_REDUCE] = { "reduce", ALG(LINEAR) | ALG(BINOMIAL), ALG(LINEAR) },
	[GOAL_REDUCE_SCATTER] = { "reduce_scatter", ALG(LINEAR), ALG(LINEAR) },
	[GOAL_REDUCE_SCATTER_BLOCK] = { "reduce_scatter_block", ALG(LINEAR), ALG(LINEAR) },
	[GOAL_SCAN] = { "scan", ALG(RECURSIVE_DOUBLING), 0 },
	[GOAL_SCATTER] = { "scatter", ALG(LINEAR) | ALG(BINOMIAL), ALG(LINEAR) },
	[GOAL_SCATTERV] = { "scatterv", ALG(LINEAR), ALG(LINEAR) },
	[GOAL_NEIGHBOR_ALLGATHER] = { "neighbor_allgather", ALG(LINEAR), 0 },
	[GOAL_NEIGHBOR_ALLGATHERV] = { "neighbor_allgatherv", ALG(LINEAR), 0 },
	[GOAL_NEIGHBOR_ALLTOALL] = { "neighbor_alltoall", ALG(LINEAR), 0 },
	[GOAL_NEIGHBOR_ALLTOALLV] = { "neighbor_alltoallv", ALG(LINEAR), 0 },
	[GOAL_NEIGHBOR_ALLTOALLW] = { "neighbor_alltoallw", ALG(LINEAR), 0 },
};

static const char *const algs[GOAL_ALGS] = {
	[GOAL_ALG_AUTO] = "auto",
	[GOAL_ALG_LINEAR] = "linear",
	[GOAL_ALG_BINOMIAL] = "binomial",
	[GOAL_ALG_DISSEMINATION] = "dissemination",
	[GOAL_ALG_RECURSIVE_DOUBLING] = "recursive_doubling",
	[GOAL_ALG_FLAT] = "flat",
	[GOAL_ALG_BRUCK] = "bruck",
};
/* clang-format on */

const char *goal_coll_name(enum goal_coll coll)
{
	return (unsigned int)coll < GOAL_COLLS ? colls[coll].name : NULL;
}

const char *goal_algorithm_name(enum goal_algorithm alg)
{
	return (unsigned int)alg < GOAL_ALGS ? algs[alg] : NULL;
}

bool goal_algorithm_valid(enum goal_coll coll, enum goal_algorithm alg, bool inter)
{
	uint32_t have;

	if ((unsigned int)coll >= GOAL_COLLS || (unsigned int)alg >= GOAL_ALGS)
		return false;
	have = inter ? colls[coll].inter : colls[coll].intra;
	/* A collective that has any algorithm can choose one. */
	return have && (alg == GOAL_ALG_AUTO || (have >> alg & 1));
}
