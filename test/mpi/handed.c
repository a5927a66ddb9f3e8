/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Selection and hand-over. With every component present and no preference given, goal is chosen
 * by its priority; what it is told to leave (named as arguments) runs elsewhere, with right
 * results, and everything else on goal. "none" as argument: nothing must run on goal.
 *
 * handed [none | collective left to others ...]
 */
#include <string.h>

#include "arith.h"
#include "shape.h"

int main(int argc, char **argv)
{
	bool left[COLLS] = { false }, none = false;
	int dims[1], wraps[1] = { 1 };
	struct where world, cart;
	MPI_Comm grid;

	check_init(&argc, &argv, MPI_THREAD_SINGLE);
	check_context("arguments");
	for (int i = 1; i < argc; i++) {
		if (strcmp(argv[i], "none") == 0)
			none = true;
		else if (coll_find(argv[i]) >= 0)
			left[coll_find(argv[i])] = true;
		else
			check_fail("no collective is called %s", argv[i]);
	}
	if (check_size < 3)
		check_skip("needs 3 ranks");
	dims[0] = check_size;
	zoo_open();
	arith_open();
	where_set(&world, MPI_COMM_WORLD, "world", 0);
	MPI_OK(MPI_Cart_create(MPI_COMM_WORLD, 1, dims, wraps, 0, &grid));
	where_set(&cart, grid, "ring", 0);
	for (int coll = 0; coll < COLLS; coll++) {
		for (int form = 0; form < FORMS; form++) {
			struct params p = { .coll = (enum coll)coll,
					    .count = 2,
					    .types = -1,
					    .plain = MPI_INT,
					    .op = MPI_SUM,
					    .id = (uint64_t)(coll * FORMS + form) };
			uint64_t runs = check_counter(CTR_RUNS);
			struct shape s;

			shape_new(&s, coll >= NEIGHBOR_ALLGATHER ? &cart : &world, &p);
			shape_prepare(&s, 0);
			shape_issue(&s, (enum form)form);
			if (form == PERSISTENT)
				MPI_OK(MPI_Start(&s.req));
			if (form != BLOCKING)
				MPI_OK(MPI_Wait(&s.req, MPI_STATUS_IGNORE));
			if (form == PERSISTENT)
				MPI_OK(MPI_Request_free(&s.req));
			shape_verify(&s, (enum form)form);
			if (none || left[coll])
				CHECK(check_counter(CTR_RUNS) == runs, "ran on goal");
			else
				check_ran(runs, 1);
			shape_free(&s);
		}
	}
	MPI_OK(MPI_Comm_free(&grid));
	arith_close();
	zoo_close();
	return check_end();
}
