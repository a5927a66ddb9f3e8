/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which engine runs what: engines kernel|host, where "kernel" expects that small calls of the
 * collectives whose sizes all ranks know run on the kernel engine, in all forms, and all others on the
 * host engine. Results are compared.
 */
#include <string.h>

#include "call.h"

#define MOST 64 /* ranks */

static bool kernel;

/* One call in all forms; @small: the kernel engine takes it. */
static void in_all_forms(const struct call *c, bool small, const char *what)
{
	for (int form = 0; form < FORMS; form++) {
		uint64_t runs = check_counter(CTR_RUNS), there = check_counter(CTR_RUNS_KERNEL);
		MPI_Request request = MPI_REQUEST_NULL;

		check_context("%s, %s, %s", what, coll_name(c->coll), form_name(form));
		MPI_OK(call_make(c, form, &request));
		if (form == PERSISTENT)
			MPI_OK(MPI_Start(&request));
		MPI_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
		if (form == PERSISTENT)
			MPI_OK(MPI_Request_free(&request));
		runs = check_counter(CTR_RUNS) - runs;
		there = check_counter(CTR_RUNS_KERNEL) - there;
		CHECK(runs == 1, "%d runs", (int)runs);
		CHECK(check_stock || there == (kernel && small), "%d runs on the kernel engine",
		      (int)there);
	}
}

static void world(void)
{
	static int out[MOST * MOST], in[MOST * MOST], counts[MOST], displs[MOST];
	static long double lout[MOST], lin[MOST];
	static char big[2][1 << 20];
	struct call c = { .comm = MPI_COMM_WORLD,
			  .sbuf = out,
			  .rbuf = in,
			  .scount = 2,
			  .rcount = 2,
			  .stype = MPI_INT,
			  .rtype = MPI_INT,
			  .op = MPI_SUM };
	static const enum coll plain[] = {
		BARRIER,   BCAST,  GATHER, SCATTER, ALLGATHER,           ALLTOALL,
		ALLREDUCE, REDUCE, SCAN,   EXSCAN,  REDUCE_SCATTER_BLOCK
	};

	for (int i = 0; i < check_size; i++) {
		counts[i] = 1;
		displs[i] = i;
	}
	for (int i = 0; i < MOST * MOST; i++)
		out[i] = check_rank + i;
	for (size_t i = 0; i < sizeof(plain) / sizeof(*plain); i++) {
		c.coll = plain[i];
		c.root = (int)i % check_size;
		in_all_forms(&c, true, "small");
	}
	c.coll = ALLREDUCE;
	in_all_forms(&c, true, "sum");
	CHECK(in[1] == check_size * (check_size - 1) / 2 + check_size, "a sum of %d", in[1]);
	c.rcounts = counts;
	c.rdispls = displs;
	c.scounts = counts;
	c.sdispls = displs;
	c.coll = REDUCE_SCATTER;
	in_all_forms(&c, true, "small");
	c.scount = 1;
	for (int i = 0; i < 2; i++) {
		c.coll = i ? GATHERV : ALLGATHERV;
		in_all_forms(&c, false, "of blocks that may differ");
	}
	c.coll = ALLTOALLV;
	in_all_forms(&c, false, "of blocks that may differ");
	/* What the kernel does not compute, and what is too large for it. */
	c.coll = ALLREDUCE;
	c.sbuf = lout;
	c.rbuf = lin;
	c.stype = c.rtype = MPI_LONG_DOUBLE;
	in_all_forms(&c, false, "long double");
	c.sbuf = big[0];
	c.rbuf = big[1];
	c.stype = c.rtype = MPI_CHAR;
	c.coll = BCAST;
	c.scount = c.rcount = (int)sizeof(big[0]);
	in_all_forms(&c, false, "large");
	c.coll = ALLGATHER;
	c.scount = c.rcount = (int)sizeof(big[0]) / check_size;
	in_all_forms(&c, false, "large");
}

/* A ring, as a grid and as a graph. */
static void neighbors(void)
{
	int dims = check_size, periods = 1, weight = 1;
	int from = (check_rank + check_size - 1) % check_size, to = (check_rank + 1) % check_size;
	int out[2] = { check_rank, -check_rank }, in[2] = { -1, -1 };
	static char big[2][2 << 16];
	struct call c = {
		.sbuf = out, .rbuf = in, .scount = 1, .rcount = 1, .stype = MPI_INT, .rtype = MPI_INT
	};
	MPI_Comm comm;

	MPI_OK(MPI_Cart_create(MPI_COMM_WORLD, 1, &dims, &periods, 0, &comm));
	c.comm = comm;
	c.coll = NEIGHBOR_ALLTOALL;
	in_all_forms(&c, true, "ring");
	CHECK(in[0] == -from && in[1] == to, "%d and %d came", in[0], in[1]);
	c.coll = NEIGHBOR_ALLGATHER;
	in_all_forms(&c, true, "ring");
	c.sbuf = big[0];
	c.rbuf = big[1];
	c.stype = c.rtype = MPI_CHAR;
	c.scount = c.rcount = 1 << 16;
	in_all_forms(&c, false, "large ring");
	MPI_OK(MPI_Comm_free(&comm));

	MPI_OK(MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &from, &weight, 1, &to, &weight,
					      MPI_INFO_NULL, 0, &comm));
	/* On graphs, these two go apart until another collective was called (coll_goal(7)). */
	MPI_OK(MPI_Barrier(comm));
	c = (struct call){ .coll = NEIGHBOR_ALLGATHER,
			   .comm = comm,
			   .sbuf = out,
			   .rbuf = in,
			   .scount = 1,
			   .rcount = 1,
			   .stype = MPI_INT,
			   .rtype = MPI_INT };
	in_all_forms(&c, true, "graph");
	CHECK(in[0] == from, "%d came", in[0]);
	MPI_OK(MPI_Comm_free(&comm));
}

int main(int argc, char **argv)
{
	check_init(&argc, &argv, MPI_THREAD_SINGLE);
	kernel = argc > 1 && !strcmp(argv[1], "kernel");
	if (check_size > MOST)
		check_skip("more than 64 ranks");
	world();
	neighbors();
	return check_end();
}
