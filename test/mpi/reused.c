/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Datatypes, operations and communicators created, used and freed in a loop, so that their
 * handles are used again for other layouts, other functions, other groups: a schedule kept for
 * the old one must never run for the new one. Also the same call with a changed argument array.
 */
#include <stdlib.h>
#include <string.h>

#include "check.h"

#define ROUNDS 200
#define MAX    16

static void first(void *in, void *inout, int *len, MPI_Datatype *type)
{
	(void)type;
	memcpy(inout, in, (size_t)*len * sizeof(int));
}

static void second(void *in, void *inout, int *len, MPI_Datatype *type)
{
	(void)in;
	(void)inout;
	(void)len;
	(void)type;
}

/* The same handle, most likely, with another layout of the same size. */
static void types(int round)
{
	int in[8], all[MAX * 8], stride = 1 + round % 2;
	MPI_Datatype type, tail;

	check_context("types, round %d", round);
	MPI_OK(MPI_Type_vector(3, 1, stride, MPI_INT, &type));
	MPI_OK(MPI_Type_create_resized(type, 0, 8 * sizeof(int), &tail));
	MPI_OK(MPI_Type_free(&type));
	MPI_OK(MPI_Type_commit(&tail));
	for (int i = 0; i < 8; i++)
		in[i] = 100 * check_rank + i;
	memset(all, 0xff, sizeof(all));
	MPI_OK(MPI_Allgather(in, 1, tail, all, 1, tail, MPI_COMM_WORLD));
	for (int r = 0; r < check_size; r++) {
		for (int i = 0; i < 8; i++) {
			int want = i % stride == 0 && i / stride < 3 ? 100 * r + i : -1;

			CHECK(all[8 * r + i] == want, "stride %d block %d int %d: %d", stride, r, i,
			      all[8 * r + i]);
		}
	}
	MPI_OK(MPI_Type_free(&tail));
}

static void operations(int round)
{
	int in = check_rank + round, out = -1;
	MPI_Op op;

	check_context("operations, round %d", round);
	MPI_OK(MPI_Op_create(round % 2 ? second : first, 0, &op));
	MPI_OK(MPI_Allreduce(&in, &out, 1, MPI_INT, op, MPI_COMM_WORLD));
	MPI_OK(MPI_Op_free(&op));
	CHECK(out == round + (round % 2 ? check_size - 1 : 0), "%d", out);
}

/* One communicator after another of the same number of ranks in other orders. */
static void communicators(int round)
{
	int rank, all[MAX], world[MAX];
	MPI_Comm comm;

	check_context("communicators, round %d", round);
	MPI_OK(MPI_Comm_split(MPI_COMM_WORLD, 0, (check_rank + round) % check_size, &comm));
	MPI_OK(MPI_Comm_rank(comm, &rank));
	MPI_OK(MPI_Allgather(&rank, 1, MPI_INT, all, 1, MPI_INT, comm));
	MPI_OK(MPI_Allgather(&check_rank, 1, MPI_INT, world, 1, MPI_INT, comm));
	for (int r = 0; r < check_size; r++)
		CHECK(all[r] == r && (world[r] + round) % check_size == r, "rank %d: %d, world %d",
		      r, all[r], world[r]);
	MPI_OK(MPI_Comm_free(&comm));
}

/* Same addresses, same sum, other contents. */
static void arrays(int round)
{
	static int counts[MAX], displs[MAX], in[MAX * 2], out[MAX * 3];
	int at = 0;

	check_context("argument arrays, round %d", round);
	for (int r = 0; r < check_size; r++) {
		counts[r] = (r + round) % 2 ? 2 : 1;
		displs[r] = at;
		at += counts[r] + round % 2;
	}
	for (int i = 0; i < 2; i++)
		in[i] = 10 * check_rank + i;
	memset(out, 0xff, sizeof(out));
	MPI_OK(MPI_Allgatherv(in, counts[check_rank], MPI_INT, out, counts, displs, MPI_INT,
			      MPI_COMM_WORLD));
	for (int r = 0; r < check_size; r++) {
		for (int i = 0; i < counts[r]; i++)
			CHECK(out[displs[r] + i] == 10 * r + i, "block %d int %d: %d", r, i,
			      out[displs[r] + i]);
	}
	for (int i = 0, used = 0; i < at; i++) {
		used = 0;
		for (int r = 0; r < check_size; r++)
			used |= i >= displs[r] && i < displs[r] + counts[r];
		CHECK(used || out[i] == -1, "the gap at %d is %d", i, out[i]);
	}
}

/* More shapes than any cache holds, twice over. */
static void many_shapes(void)
{
	static int in[512], out[512 * MAX];

	for (int round = 0; round < 2; round++) {
		for (int count = 1; count <= 300; count += 1) {
			check_context("shape %d, round %d", count, round);
			for (int i = 0; i < count; i++)
				in[i] = 1000 * check_rank + i + round;
			MPI_OK(MPI_Gather(in, count, MPI_INT, out, count, MPI_INT,
					  count % check_size, MPI_COMM_WORLD));
			for (int r = 0; check_rank == count % check_size && r < check_size; r++)
				CHECK(out[(r + 1) * count - 1] == 1000 * r + count - 1 + round,
				      "block %d ends with %d", r, out[(r + 1) * count - 1]);
		}
	}
}

int main(int argc, char **argv)
{
	uint64_t before;

	check_init(&argc, &argv, MPI_THREAD_SINGLE);
	if (check_size > MAX)
		check_skip("written for at most 16 ranks");
	before = check_counter(CTR_RUNS);
	for (int round = 0; round < ROUNDS; round++) {
		types(round);
		operations(round);
		communicators(round);
		arrays(round);
	}
	many_shapes();
	if (check_size > 1)
		check_ran(before, 5 * ROUNDS + 600);
	return check_end();
}
