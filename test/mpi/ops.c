/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * All predefined operations on all predefined types in the six reductions and three forms, values
 * against plain C arithmetic; MPI_Reduce_local; and floating point whose rounding depends on the
 * order: the same bits at every rank and from run to run.
 */
#include <stdlib.h>
#include <string.h>

#include "arith.h"
#include "call.h"

#define COUNT     3
#define MAX_RANKS 16
#define TAG       22000

static unsigned char contribution[MAX_RANKS][MAX_RANKS * COUNT * 32];
static unsigned char want[MAX_RANKS * COUNT * 32], got[MAX_RANKS * COUNT * 32],
	mine[MAX_RANKS * COUNT * 32];

static const enum coll colls[] = { ALLREDUCE, REDUCE,         SCAN,
				   EXSCAN,    REDUCE_SCATTER, REDUCE_SCATTER_BLOCK };
#define NCOLLS ((int)(sizeof(colls) / sizeof(colls[0])))

/* All contributions of ranks 0 to @last, folded in rank order, into want. */
static void fold(const struct arith_type *t, enum op op, int total, int last)
{
	memcpy(want, contribution[0], t->extent * (size_t)total);
	for (int r = 1; r <= last; r++) {
		static unsigned char next[sizeof(want)];

		memcpy(next, contribution[r], t->extent * (size_t)total);
		t->apply(op, want, next, total);
		memcpy(want, next, t->extent * (size_t)total);
	}
}

static void try_call(const struct arith_type *t, enum op op, enum coll coll, enum form form)
{
	int rcounts[MAX_RANKS], total = COUNT, result = COUNT, first = 0, last = check_size - 1;
	int root = (int)op % check_size;
	struct call c = { .coll = coll,
			  .comm = MPI_COMM_WORLD,
			  .sbuf = mine,
			  .rbuf = got,
			  .rcount = COUNT,
			  .rtype = t->type,
			  .rcounts = rcounts,
			  .op = arith_op(op),
			  .root = root };
	uint64_t before = check_counter(CTR_RUNS);
	MPI_Request req;

	for (int r = 0; r < check_size; r++)
		rcounts[r] = COUNT;
	if (coll == REDUCE_SCATTER || coll == REDUCE_SCATTER_BLOCK) {
		total = COUNT * check_size;
		first = COUNT * check_rank;
	} else if (coll == SCAN) {
		last = check_rank;
	} else if (coll == EXSCAN) {
		last = check_rank - 1;
		result = last < 0 ? 0 : COUNT;
	} else if (coll == REDUCE && check_rank != root) {
		result = 0;
	}
	check_context("%s %s %s of %s", form_name(form), coll_name(coll), arith_op_name(op),
		      t->name);
	memcpy(mine, contribution[check_rank], t->extent * (size_t)total);
	memset(got, 0x5a, sizeof(got));
	check_mpi(call_make(&c, form, &req), coll_name(coll));
	if (form == PERSISTENT)
		MPI_OK(MPI_Start(&req));
	if (form != BLOCKING)
		MPI_OK(MPI_Wait(&req, MPI_STATUS_IGNORE));
	if (form == PERSISTENT)
		MPI_OK(MPI_Request_free(&req));
	if (check_size > 1)
		check_ran(before, 1);
	if (!result)
		return;
	fold(t, op, total, last);
	arith_clear_pads(t, want, total);
	arith_clear_pads(t, got, result);
	CHECK(memcmp(got, want + (size_t)first * t->extent, t->extent * COUNT) == 0, "wrong value");
	CHECK(got[t->extent * COUNT] == 0x5a, "written past the result");
}

/* Reduction of what is not a collective, but is installed by the same component. */
static void try_local(const struct arith_type *t, enum op op)
{
	check_context("reduce_local %s of %s", arith_op_name(op), t->name);
	memcpy(mine, contribution[0], t->extent * COUNT);
	memcpy(got, contribution[check_size > 1], t->extent * COUNT);
	memcpy(want, got, t->extent * COUNT);
	t->apply(op, mine, want, COUNT);
	MPI_OK(MPI_Reduce_local(mine, got, COUNT, t->type, arith_op(op)));
	arith_clear_pads(t, want, COUNT);
	arith_clear_pads(t, got, COUNT);
	CHECK(memcmp(got, want, t->extent * COUNT) == 0, "wrong value");
}

static void predefined(void)
{
	int tried = 0;

	for (int i = 0; i < arith_ntypes; i++) {
		const struct arith_type *t = &arith_types[i];

		for (int op = 0; op < OPS; op++) {
			if (!arith_valid(t, (enum op)op))
				continue;
			for (int r = 0; r < check_size; r++)
				t->fill((enum op)op, contribution[r], COUNT * check_size,
					(uint64_t)r);
			try_local(t, (enum op)op);
			for (int k = 0; k < NCOLLS * FORMS; k++)
				try_call(t, (enum op)op, colls[k / FORMS], (enum form)(k % FORMS));
			tried++;
		}
	}
	check_context("predefined operations");
	CHECK(tried > 200, "only %d pairs of type and operation were tried", tried);
}

/* Sums that round differently in another order. */
static void same_bits(void)
{
	double in[COUNT * 100], first[COUNT * 100], again[COUNT * 100];
	int n = COUNT * 100;

	for (int i = 0; i < n; i++)
		in[i] = (double)(int64_t)check_random((uint64_t)check_rank, (uint64_t)i, 5) /
			(double)(1 + check_random((uint64_t)i, 6, (uint64_t)check_rank) % 100000);
	for (int form = 0; form < FORMS; form++) {
		struct call c = { .coll = ALLREDUCE,
				  .comm = MPI_COMM_WORLD,
				  .sbuf = in,
				  .rbuf = form ? again : first,
				  .rcount = n,
				  .rtype = MPI_DOUBLE,
				  .op = MPI_SUM };
		MPI_Request req;

		check_context("%s allreduce of random doubles", form_name((enum form)form));
		check_mpi(call_make(&c, (enum form)form, &req), "allreduce");
		if (form == PERSISTENT)
			MPI_OK(MPI_Start(&req));
		if (form != BLOCKING)
			MPI_OK(MPI_Wait(&req, MPI_STATUS_IGNORE));
		if (form == PERSISTENT)
			MPI_OK(MPI_Request_free(&req));
		if (form)
			CHECK(memcmp(first, again, sizeof(first)) == 0,
			      "other bits than the blocking form");
	}
	MPI_OK(MPI_Allreduce(in, again, n, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD));
	CHECK(memcmp(first, again, sizeof(first)) == 0, "other bits at the second run");
	if (check_rank) {
		MPI_OK(MPI_Send(first, n, MPI_DOUBLE, 0, TAG, MPI_COMM_WORLD));
		return;
	}
	for (int r = 1; r < check_size; r++) {
		MPI_OK(MPI_Recv(again, n, MPI_DOUBLE, r, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
		CHECK(memcmp(first, again, sizeof(first)) == 0, "other bits at rank %d", r);
	}
}

int main(int argc, char **argv)
{
	check_init(&argc, &argv, MPI_THREAD_SINGLE);
	if (check_size > MAX_RANKS)
		check_skip("values are exact for at most 16 ranks");
	arith_open();
	predefined();
	same_bits();
	arith_close();
	return check_end();
}
