/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Datatypes and operations freed by the user between init and start of a persistent collective,
 * or while a nonblocking one runs; argument arrays overwritten as soon as that is allowed.
 */
#include <stdlib.h>
#include <string.h>

#include "call.h"

#define ROUNDS 30
#define MAX    16

static void compose(void *in, void *inout, int *len, MPI_Datatype *type)
{
	unsigned int *a = in, *b = inout;
	int ints;

	MPI_Type_size(*type, &ints);
	ints = ints / (int)sizeof(int) * *len;
	for (int i = 0; i + 1 < ints; i += 2) {
		b[i + 1] = a[i] * b[i + 1] + a[i + 1];
		b[i] = a[i] * b[i];
	}
}

/* What the reduction of all ranks (or of the ranks up to @last) must give. */
static void expect(unsigned int seed, int last, unsigned int out[4])
{
	for (int i = 0; i < 4; i++)
		out[i] = seed + (unsigned int)i;
	for (int r = 1; r <= last; r++) {
		for (int i = 0; i < 4; i += 2) {
			unsigned int b0 = seed + (unsigned int)(r + i);
			unsigned int b1 = seed + (unsigned int)(r + i + 1);

			out[i + 1] = out[i] * b1 + out[i + 1];
			out[i] = out[i] * b0;
		}
	}
}

static void reduction(enum coll coll, enum form form, int round)
{
	unsigned int in[4], out[4], want[4], *rbuf = out;
	MPI_Datatype pair;
	MPI_Request req;
	MPI_Op op;
	struct call c = {
		.coll = coll, .comm = MPI_COMM_WORLD, .sbuf = in, .rbuf = rbuf, .rcount = 2
	};

	check_context("%s %s, operation and type freed, round %d", form_name(form), coll_name(coll),
		      round);
	MPI_OK(MPI_Type_contiguous(2, MPI_UNSIGNED, &pair));
	MPI_OK(MPI_Type_commit(&pair));
	MPI_OK(MPI_Op_create(compose, 0, &op));
	c.op = op;
	c.rtype = pair;
	for (int i = 0; i < 4; i++)
		in[i] = (unsigned int)(round + check_rank + i);
	check_mpi(call_make(&c, form, &req), coll_name(coll));
	if (form != BLOCKING) {
		MPI_OK(MPI_Op_free(&op));
		MPI_OK(MPI_Type_free(&pair));
	}
	for (int start = 0; start < (form == PERSISTENT ? 3 : 1); start++) {
		if (form == PERSISTENT)
			memset(out, 0, sizeof(out));
		if (form == PERSISTENT)
			MPI_OK(MPI_Start(&req));
		if (form != BLOCKING)
			MPI_OK(MPI_Wait(&req, MPI_STATUS_IGNORE));
		expect((unsigned int)round, coll == SCAN ? check_rank : check_size - 1, want);
		if (coll != REDUCE || check_rank == 0)
			CHECK(memcmp(out, want, sizeof(out)) == 0,
			      "wrong result at start %d: %u %u %u %u instead of %u %u %u %u", start,
			      out[0], out[1], out[2], out[3], want[0], want[1], want[2], want[3]);
	}
	if (form == PERSISTENT)
		MPI_OK(MPI_Request_free(&req));
	if (form == BLOCKING) {
		MPI_OK(MPI_Op_free(&op));
		MPI_OK(MPI_Type_free(&pair));
	}
}

static void fill(int *in, int *out, int start)
{
	for (int i = 0; i < MAX * 8; i++) {
		in[i] = 1000 * check_rank + i + start;
		out[i] = -1;
	}
}

/* A vector column to contiguous ints and back; the arrays live only during the call. */
static void movement(enum coll coll, enum form form, int round)
{
	static int in[MAX * 8], out[MAX * 8];
	int *counts = malloc(sizeof(int) * MAX), *displs = malloc(sizeof(int) * MAX);
	MPI_Datatype *types = malloc(sizeof(*types) * MAX), column;
	struct call c = { .coll = coll,
			  .comm = MPI_COMM_WORLD,
			  .sbuf = in,
			  .rbuf = out,
			  .scount = 1,
			  .rcount = 1,
			  .scounts = counts,
			  .rcounts = counts,
			  .sdispls = displs,
			  .rdispls = displs,
			  .stypes = types,
			  .rtypes = types };
	MPI_Request req;

	if (!counts || !displs || !types)
		abort();
	check_context("%s %s, type freed, round %d", form_name(form), coll_name(coll), round);
	MPI_OK(MPI_Type_vector(4, 1, 2, MPI_INT, &column));
	MPI_OK(MPI_Type_create_resized(column, 0, 8 * sizeof(int), &types[0]));
	MPI_OK(MPI_Type_free(&column));
	MPI_OK(MPI_Type_commit(&types[0]));
	c.stype = c.rtype = column = types[0];
	for (int r = 0; r < MAX; r++) {
		counts[r] = 1;
		displs[r] = coll == ALLTOALLW ? r * 8 * (int)sizeof(int) : r;
		types[r] = column;
	}
	if (form != PERSISTENT)
		fill(in, out, 0);
	check_mpi(call_make(&c, form, &req), coll_name(coll));
	if (form != BLOCKING)
		MPI_OK(MPI_Type_free(&column));
	for (int start = 0; start < (form == PERSISTENT ? 3 : 1); start++) {
		/* A persistent call reads its data at the start, not before. */
		if (form == PERSISTENT) {
			fill(in, out, start);
			MPI_OK(MPI_Start(&req));
		}
		if (form != BLOCKING)
			MPI_OK(MPI_Wait(&req, MPI_STATUS_IGNORE));
		for (int r = 0; r < check_size; r++) {
			for (int i = 0; i < 8; i++) {
				int block = coll == ALLGATHER ? 0 : check_rank;
				int want = i % 2 ? -1 : 1000 * r + 8 * block + i + start;

				CHECK(out[8 * r + i] == want, "block %d int %d: %d instead of %d",
				      r, i, out[8 * r + i], want);
			}
		}
	}
	if (form == PERSISTENT)
		MPI_OK(MPI_Request_free(&req));
	else if (form == BLOCKING)
		MPI_OK(MPI_Type_free(&column));
	free(counts);
	free(displs);
	free(types);
}

int main(int argc, char **argv)
{
	static const enum coll reductions[] = { ALLREDUCE, REDUCE, SCAN };
	static const enum coll movements[] = { ALLGATHER, ALLTOALL, ALLTOALLV, ALLTOALLW };

	check_init(&argc, &argv, MPI_THREAD_SINGLE);
	if (check_size > MAX)
		check_skip("written for at most 16 ranks");
	for (int round = 0; round < ROUNDS; round++) {
		for (int form = 0; form < FORMS; form++) {
			for (size_t i = 0; i < sizeof(reductions) / sizeof(reductions[0]); i++)
				reduction(reductions[i], (enum form)form, round);
			for (size_t i = 0; i < sizeof(movements) / sizeof(movements[0]); i++)
				movement(movements[i], (enum form)form, round);
		}
	}
	return check_end();
}
