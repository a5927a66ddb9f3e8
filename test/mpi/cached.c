/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Called again with the same shape, a blocking collective builds no schedule and allocates no
 * memory; neither does the start of a persistent one. Counted over batches of 1,000 calls. A
 * nonblocking call builds nothing either.
 */
#include <string.h>

#include "arith.h"
#include "shape.h"

#define CALLS   1000
#define BATCHES 3

struct counts {
	uint64_t builds, allocs, runs, hits;
};

static void count(struct counts *c)
{
	c->builds = check_counter(CTR_BUILDS);
	c->allocs = check_counter(CTR_ALLOCS);
	c->runs = check_counter(CTR_RUNS);
	c->hits = check_counter(CTR_CACHE_HITS);
}

static void calls(struct shape *s, enum form form, int n)
{
	for (int i = 0; i < n; i++) {
		if (form == PERSISTENT)
			MPI_OK(MPI_Start(&s->req));
		else
			shape_issue(s, form);
		if (form != BLOCKING)
			MPI_OK(MPI_Wait(&s->req, MPI_STATUS_IGNORE));
	}
}

static void repeat(const struct where *w, enum coll coll, enum form form)
{
	struct params p = { .coll = coll,
			    .count = 2,
			    .types = -1,
			    .plain = MPI_INT,
			    .op = MPI_SUM,
			    .id = (uint64_t)coll };
	struct counts before, after;
	uint64_t least = UINT64_MAX;
	struct shape s;

	shape_new(&s, w, &p);
	shape_prepare(&s, 0);
	if (form == PERSISTENT)
		shape_issue(&s, form);
	shape_context(&s, form);
	/* What is done once may be done at the first calls. */
	calls(&s, form, 20);
	/*
	 * A rank that runs ahead of the others makes them keep more messages than ever before, at
	 * any time; never call after call.
	 */
	for (int batch = 0; batch < BATCHES; batch++) {
		count(&before);
		calls(&s, form, CALLS);
		count(&after);
		if (after.allocs - before.allocs < least)
			least = after.allocs - before.allocs;
		CHECK(after.builds == before.builds, "%llu schedules were built",
		      (unsigned long long)(after.builds - before.builds));
		check_ran(before.runs, CALLS);
		if (form != PERSISTENT && !check_stock)
			CHECK(after.hits - before.hits >= CALLS, "%llu cache hits",
			      (unsigned long long)(after.hits - before.hits));
	}
	if (form != NONBLOCKING)
		CHECK(least == 0, "at least %llu allocations in %d calls",
		      (unsigned long long)least, CALLS);
	shape_verify(&s, form);
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
