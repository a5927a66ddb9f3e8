/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How many bytes a collective may take, from what all ranks know alike: so they can choose an engine
 * by it that takes runs of limited size. What each algorithm takes stands in its file; here is
 * what none exceeds.
 */
#include <goal/collectives.h>

/* Scratch is given out in units. */
#define UNIT 64u

/* Anything from here on is as good as endless, and leaves room for sums. */
#define ENDLESS (UINT64_MAX / 128)

static uint64_t units(uint64_t bytes)
{
	return (bytes + UNIT - 1) / UNIT * UNIT;
}

/* Rounds of doubling, and one for ranks beyond a power of two. */
static uint64_t rounds(uint32_t ranks)
{
	uint64_t n = 1;

	for (; ranks > 1; ranks /= 2)
		n++;
	return n;
}

/* Vectors of @bytes that wait for their turn in a reduction, and the sum. */
static uint64_t vectors(uint32_t ranks, uint64_t bytes)
{
	uint64_t log = rounds(ranks) + 2;

	return (log < 10 ? 10 : log) * units(bytes);
}

static uint64_t alltoall(uint32_t ranks, uint64_t bytes)
{
	uint64_t all = ranks * bytes;
	uint64_t bruck = units(all) + 2 * rounds(ranks) * units(ranks / 2 * bytes);
	uint64_t in_place = ranks * units(bytes);

	return 2 * all + (bruck > in_place ? bruck : in_place);
}

uint64_t goal_footprint(enum goal_coll coll, uint32_t ranks, uint64_t bytes)
{
	uint64_t all;

	if (!ranks || bytes > ENDLESS / ranks / 64)
		return UINT64_MAX;
	all = ranks * bytes;
	switch (coll) {
	case GOAL_BARRIER:
		return 0;
	case GOAL_BCAST:
		return bytes;
	case GOAL_GATHER:
	case GOAL_SCATTER:
		return bytes + all + units(all);
	case GOAL_ALLGATHER:
		return bytes + all;
	case GOAL_ALLTOALL:
		return alltoall(ranks, bytes);
	case GOAL_ALLREDUCE:
	case GOAL_REDUCE:
	case GOAL_SCAN:
	case GOAL_EXSCAN:
		return 2 * bytes + vectors(ranks, bytes);
	case GOAL_REDUCE_SCATTER:
	case GOAL_REDUCE_SCATTER_BLOCK:
		return all + bytes + vectors(ranks, bytes);
	default:
		return UINT64_MAX;
	}
}
