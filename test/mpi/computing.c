/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One rank posts a nonblocking collective and then computes, without a call into MPI: on the kernel engine the
 * others have their results long before it is back, since the kernels carry the collective on.
 */
#include <stdlib.h>

#include "call.h"

#define COMPUTING 1.0 /* seconds */

/* Posted by all; @busy is the one who computes. */
static void post(const struct call *c, int busy)
{
	uint64_t runs = check_counter(CTR_RUNS_KERNEL);
	MPI_Request request;
	double start, waited;

	check_context("%s, rank %d computes", coll_name(c->coll), busy);
	MPI_OK(MPI_Barrier(MPI_COMM_WORLD));
	MPI_OK(call_make(c, NONBLOCKING, &request));
	start = check_now();
	if (check_rank == busy)
		check_spin((unsigned int)(COMPUTING * 1e6));
	MPI_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
	waited = check_now() - start;
	if (check_rank != busy)
		CHECK(waited < COMPUTING / 2, "held for %.3f s", waited);
	/* With the barrier. */
	CHECK(check_stock || check_counter(CTR_RUNS_KERNEL) - runs == 2, "%d runs on the kernel",
	      (int)(check_counter(CTR_RUNS_KERNEL) - runs));
}

int main(int argc, char **argv)
{
	static const enum coll colls[] = { BARRIER, BCAST, ALLGATHER, ALLREDUCE, ALLTOALL };
	int *out, *in;

	check_init(&argc, &argv, MPI_THREAD_SINGLE);
	out = calloc((size_t)check_size, sizeof(*out));
	in = calloc((size_t)check_size, sizeof(*in));
	if (!out || !in)
		check_fail("no memory");
	for (int r = 0; out && r < check_size; r++)
		out[r] = 100 * check_rank + r;
	for (size_t i = 0; out && in && i < sizeof(colls) / sizeof(*colls); i++) {
		struct call c = {
			.coll = colls[i],
			.comm = MPI_COMM_WORLD,
			.sbuf = out,
			.rbuf = in,
			.scount = 1,
			.rcount = 1,
			.stype = MPI_INT,
			.rtype = MPI_INT,
			.op = MPI_SUM,
		};

		/* Schedules are built, and what the members agree on, at the first one. */
		MPI_OK(call_make(&c, BLOCKING, &(MPI_Request){ MPI_REQUEST_NULL }));
		for (int busy = 0; busy < check_size; busy++)
			post(&c, busy);
		if (c.coll == ALLTOALL)
			for (int r = 0; r < check_size; r++)
				CHECK(in[r] == 100 * r + check_rank, "%d came from %d", in[r], r);
	}
	free(in);
	free(out);
	return check_end();
}
