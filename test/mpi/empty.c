/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ranks with nothing to give or take: a count of 0 here and a count of 1 of an empty datatype
 * there, blocks of length 0 in some places of the v and w forms, all of them. What follows on the
 * same communicator must still fit together, nonblocking calls in flight included.
 */
#include <stdlib.h>

#include "call.h"

#define MAX_RANKS 16

static MPI_Datatype nothing;

/* After @what, an ordinary collective gives ordinary results. */
static void in_step(const char *what)
{
	int sum = -1, all[MAX_RANKS];
	MPI_Request req;

	check_context("in step after %s", what);
	MPI_OK(MPI_Iallreduce(&check_rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &req));
	MPI_OK(MPI_Allgather(&check_rank, 1, MPI_INT, all, 1, MPI_INT, MPI_COMM_WORLD));
	MPI_OK(MPI_Wait(&req, MPI_STATUS_IGNORE));
	CHECK(sum == check_size * (check_size - 1) / 2, "sum %d", sum);
	for (int r = 0; r < check_size; r++)
		CHECK(all[r] == r, "all[%d] = %d", r, all[r]);
}

/* Counts of 0 or 1 of the empty type, other ones at each rank. */
static void empty_types(enum coll coll, enum form form, int turn)
{
	int counts[MAX_RANKS], displs[MAX_RANKS], memory[4] = { 1, 2, 3, 4 },
						  out[4] = { 5, 6, 7, 8 };
	MPI_Datatype types[MAX_RANKS];
	struct call c = { .coll = coll,
			  .comm = MPI_COMM_WORLD,
			  .sbuf = memory,
			  .rbuf = out,
			  .scount = (check_rank + turn) % 2,
			  .rcount = (check_rank + turn + 1) % 2,
			  .stype = nothing,
			  .rtype = nothing,
			  .scounts = counts,
			  .rcounts = counts,
			  .sdispls = displs,
			  .rdispls = displs,
			  .stypes = types,
			  .rtypes = types,
			  .root = turn % check_size };
	MPI_Request req;

	for (int r = 0; r < check_size; r++) {
		counts[r] = (r + check_rank + turn) % 2;
		displs[r] = 0;
		types[r] = counts[r] ? nothing : MPI_INT;
	}
	check_context("%s %s of an empty datatype, turn %d", form_name(form), coll_name(coll),
		      turn);
	check_mpi(call_make(&c, form, &req), coll_name(coll));
	if (form == PERSISTENT)
		MPI_OK(MPI_Start(&req));
	if (form != BLOCKING)
		MPI_OK(MPI_Wait(&req, MPI_STATUS_IGNORE));
	if (form == PERSISTENT)
		MPI_OK(MPI_Request_free(&req));
	for (int i = 0; i < 4; i++)
		CHECK(out[i] == 5 + i, "written to");
	in_step(coll_name(coll));
}

/* Only rank @giver has anything, for everybody; the others' counts are 0 throughout. */
static void one_giver(enum form form, int giver)
{
	int send[MAX_RANKS], recv[MAX_RANKS], scounts[MAX_RANKS] = { 0 },
					      rcounts[MAX_RANKS] = { 0 };
	int displs[MAX_RANKS];
	struct call c = { .coll = ALLTOALLV,
			  .comm = MPI_COMM_WORLD,
			  .sbuf = send,
			  .rbuf = recv,
			  .stype = MPI_INT,
			  .rtype = MPI_INT,
			  .scounts = scounts,
			  .rcounts = rcounts,
			  .sdispls = displs,
			  .rdispls = displs,
			  .scount = check_rank == giver };
	struct call v = c;
	MPI_Request a, b;
	int got = -1;

	for (int r = 0; r < check_size; r++) {
		displs[r] = r;
		send[r] = 100 * check_rank + r;
		recv[r] = -1;
		scounts[r] = check_rank == giver;
		rcounts[r] = r == giver;
	}
	check_context("%s alltoallv and gatherv, only rank %d gives", form_name(form), giver);
	check_mpi(call_make(&c, form, &a), "alltoallv");
	v.coll = GATHERV;
	v.rbuf = &got;
	v.rdispls = (const int[MAX_RANKS]){ 0 };
	v.root = (giver + 1) % check_size;
	check_mpi(call_make(&v, form, &b), "gatherv");
	if (form == PERSISTENT) {
		/* The later one first on half of the ranks. */
		MPI_OK(MPI_Start(check_rank % 2 ? &a : &b));
		MPI_OK(MPI_Start(check_rank % 2 ? &b : &a));
	}
	if (form != BLOCKING) {
		MPI_OK(MPI_Wait(&b, MPI_STATUS_IGNORE));
		MPI_OK(MPI_Wait(&a, MPI_STATUS_IGNORE));
	}
	if (form == PERSISTENT) {
		MPI_OK(MPI_Request_free(&a));
		MPI_OK(MPI_Request_free(&b));
	}
	for (int r = 0; r < check_size; r++)
		CHECK(recv[r] == (r == giver ? 100 * giver + check_rank : -1), "recv[%d] = %d", r,
		      recv[r]);
	CHECK(got == (check_rank == v.root ? 100 * giver : -1), "gatherv gave %d", got);
	in_step("one giver");
}

int main(int argc, char **argv)
{
	static const enum coll colls[] = { ALLGATHER, ALLGATHERV, ALLTOALL, ALLTOALLV, ALLTOALLW,
					   BCAST,     GATHER,     GATHERV,  SCATTER,   SCATTERV };

	check_init(&argc, &argv, MPI_THREAD_SINGLE);
	if (check_size > MAX_RANKS)
		check_skip("written for at most 16 ranks");
	MPI_OK(MPI_Type_contiguous(0, MPI_INT, &nothing));
	MPI_OK(MPI_Type_commit(&nothing));
	for (int form = 0; form < FORMS; form++) {
		for (size_t i = 0; i < sizeof(colls) / sizeof(colls[0]); i++) {
			for (int turn = 0; turn < 2 * check_size; turn++)
				empty_types(colls[i], (enum form)form, turn);
		}
		for (int giver = 0; giver < check_size; giver++)
			one_giver((enum form)form, giver);
	}
	MPI_OK(MPI_Type_free(&nothing));
	return check_end();
}
