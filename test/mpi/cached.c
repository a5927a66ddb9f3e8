/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Called again with the same shape, a blocking collective builds no schedule and allocates no
 * memory; neither does the start of a persistent one. Counted over 1,000 calls of each. A
 * nonblocking call builds nothing either.
 */
#include <string.h>

#include "arith.h"
#include "shape.h"

#define CALLS 1000

static void repeat(const struct where *w, enum coll coll, enum form form)
{
	struct params p = { .coll = coll,
			    .count = 2,
			    .types = -1,
			    .plain = MPI_INT,
			    .op = MPI_SUM,
			    .id = (uint64_t)coll };
	uint64_t builds = 0, allocs = 0, runs = 0, hits = 0;
	struct shape s;

	shape_new(&s, w, &p);
	shape_prepare(&s, 0);
	shape_issue(&s, form);
	/* What is done once may be done at the first calls, not later. */
	for (int i = -20; i < CALLS; i++) {
		if (i == 0) {
			builds = check_counter(CTR_BUILDS);
			allocs = check_counter(CTR_ALLOCS);
			runs = check_counter(CTR_RUNS);
			hits = check_counter(CTR_CACHE_HITS);
		}
		if (form == PERSISTENT)
			MPI_OK(MPI_Start(&s.req));
		else if (i > -20)
			shape_issue(&s, form);
		if (form != BLOCKING)
			MPI_OK(MPI_Wait(&s.req, MPI_STATUS_IGNORE));
	}
	shape_verify(&s, form);
	if (!check_stock) {
		CHECK(check_counter(CTR_BUILDS) == builds, "%llu schedules were built",
		      (unsigned long long)(check_counter(CTR_BUILDS) - builds));
		if (form != NONBLOCKING)
			CHECK(check_counter(CTR_ALLOCS) == allocs, "%llu allocations",
			      (unsigned long long)(check_counter(CTR_ALLOCS) - allocs));
		CHECK(check_counter(CTR_RUNS) - runs >= CALLS, "%llu runs",
		      (unsigned long long)(check_counter(CTR_RUNS) - runs));
		if (form != PERSISTENT)
			CHECK(check_counter(CTR_CACHE_HITS) - hits >= CALLS, "%llu cache hits",
			      (unsigned long long)(check_counter(CTR_CACHE_HITS) - hits));
	}
	if (form == PERSISTENT)
		MPI_OK(MPI_Request_free(&s.req));
	shape_free(&s);
}

int main(int argc, char **argv)
{
	int dims[2] = { 0, 0 }, wraps[2] = { 1, 1 };
	struct where world, cart;
	MPI_Comm grid;

	check_init(&argc, &argv, MPI_THREAD_SINGLE);
	if (check_size < 2)
		check_skip("needs 2 ranks");
	zoo_open();
	arith_open();
	where_set(&world, MPI_COMM_WORLD, "world", 0);
	MPI_OK(MPI_Dims_create(check_size, 2, dims));
	MPI_OK(MPI_Cart_create(MPI_COMM_WORLD, 2, dims, wraps, 0, &grid));
	where_set(&cart, grid, "grid", 0);
	for (int coll = 0; coll < COLLS; coll++) {
		const struct where *w = coll >= NEIGHBOR_ALLGATHER ? &cart : &world;

		for (int form = 0; form < FORMS; form++)
			repeat(w, (enum coll)coll, (enum form)form);
	}
	MPI_OK(MPI_Comm_free(&grid));
	arith_close();
	zoo_close();
	return check_end();
}
