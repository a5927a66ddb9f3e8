/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A message longer than its receiver expects: the call or request there ends once, with
 * MPI_ERR_TRUNCATE; others may hear of it where they wait for that rank, nobody hangs, and the
 * communicator goes on working. A shorter message is no error where counts are upper bounds.
 */
#include <stdlib.h>
#include <string.h>

#include "call.h"

#define COUNT 2000 /* ints: more than what is sent unasked */

static int data[4 * COUNT], got[16 * COUNT];

static int error_class(int err)
{
	int class;

	MPI_Error_class(err, &class);
	return class;
}

/* The call of one form; its error. The request ends exactly once. */
static int outcome(const struct call *c, enum form form)
{
	MPI_Request req;
	int err = call_make(c, form, &req), flag = 0;

	if (form == BLOCKING || err != MPI_SUCCESS)
		return err;
	if (form == PERSISTENT)
		MPI_OK(MPI_Start(&req));
	err = MPI_Wait(&req, MPI_STATUS_IGNORE);
	if (form == PERSISTENT) {
		MPI_OK(MPI_Test(&req, &flag, MPI_STATUS_IGNORE));
		CHECK(flag, "an inactive request is not over");
		/* Open MPI frees a request that ended with an error. */
		if (req != MPI_REQUEST_NULL)
			MPI_OK(MPI_Request_free(&req));
	}
	CHECK(req == MPI_REQUEST_NULL, "the request is still there");
	return err;
}

static void works(void)
{
	int sum = -1;

	MPI_OK(MPI_Allreduce(&check_rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
	CHECK(sum == check_size * (check_size - 1) / 2, "the next collective gave %d", sum);
}

/* The last rank gets less than is sent to it; it relays nothing in any tree. */
static void truncated(enum coll coll, enum form form, int count)
{
	int counts[16], displs[16], last = check_size - 1, err, victim = last, giver = 0;
	struct call c = { .coll = coll,
			  .comm = MPI_COMM_WORLD,
			  .sbuf = data,
			  .rbuf = got,
			  .scount = count,
			  .rcount = count,
			  .stype = MPI_INT,
			  .rtype = MPI_INT,
			  .scounts = counts,
			  .rcounts = counts,
			  .sdispls = displs,
			  .rdispls = displs };
	uint64_t failed = check_counter(CTR_RUNS_FAILED);
	int rcounts[16];

	check_context("%s %s with a short receive of %d ints", form_name(form), coll_name(coll),
		      count);
	memset(got, 0x5a, sizeof(got));
	for (int r = 0; r < check_size; r++) {
		displs[r] = r * COUNT;
		counts[r] = rcounts[r] = count;
	}
	c.rcounts = rcounts;
	switch (coll) {
	case GATHERV: /* at the root */
		victim = 0;
		giver = last;
		if (check_rank == 0)
			rcounts[last] = count / 2;
		break;
	case ALLTOALLV:
		if (check_rank == last)
			rcounts[0] = count / 2;
		break;
	case SCATTERV:
	default: /* BCAST */
		if (check_rank == last)
			c.rcount = count / 2;
		if (coll == BCAST && check_rank == 0)
			c.rbuf = data;
		break;
	}
	err = outcome(&c, form);
	if (check_rank == victim) {
		CHECK(error_class(err) == MPI_ERR_TRUNCATE, "error class %d instead of truncation",
		      error_class(err));
		if (!check_stock)
			CHECK(check_counter(CTR_RUNS_FAILED) == failed + 1,
			      "%llu runs failed instead of one",
			      (unsigned long long)(check_counter(CTR_RUNS_FAILED) - failed));
		/* Nothing behind the receive was written. */
		CHECK(got[(coll == GATHERV || coll == ALLTOALLV ? displs[giver] : 0) + count / 2] ==
			      0x5a5a5a5a,
		      "written past the short receive");
	} else if (err != MPI_SUCCESS) {
		/* It may hear of it, where it waits for the victim; as no error of its own. */
		CHECK(error_class(err) != MPI_ERR_TRUNCATE, "truncation at rank %d too",
		      check_rank);
	}
	works();
}

/* Less than expected is fine where lengths are the receiver's upper bounds. */
static void shorter(enum form form)
{
	int counts[16], displs[16];
	struct call c = { .coll = GATHERV,
			  .comm = MPI_COMM_WORLD,
			  .sbuf = data,
			  .rbuf = got,
			  .scount = check_rank == check_size - 1 ? 3 : 7,
			  .stype = MPI_INT,
			  .rtype = MPI_INT,
			  .rcounts = counts,
			  .rdispls = displs };

	check_context("%s gatherv with a short send", form_name(form));
	memset(got, 0x5a, sizeof(got));
	for (int r = 0; r < check_size; r++) {
		counts[r] = 7;
		displs[r] = r * COUNT;
	}
	CHECK(outcome(&c, form) == MPI_SUCCESS, "an error");
	if (check_rank == 0) {
		const int *last = got + displs[check_size - 1];

		CHECK(memcmp(last, data, 3 * sizeof(int)) == 0 && last[3] == 0x5a5a5a5a,
		      "wrong data");
	}
	works();
}

int main(int argc, char **argv)
{
	static const enum coll colls[] = { BCAST, GATHERV, SCATTERV, ALLTOALLV };
	static const int counts[] = { 4, 200, COUNT };

	check_init(&argc, &argv, MPI_THREAD_SINGLE);
	if (check_size < 2 || check_size > 16 || check_size % 2)
		check_skip("needs an even number of ranks, at most 16");
	for (int i = 0; i < 4 * COUNT; i++)
		data[i] = i;
	for (int form = 0; form < FORMS; form++) {
		for (size_t i = 0; i < sizeof(colls) / sizeof(colls[0]); i++) {
			for (size_t k = 0; k < sizeof(counts) / sizeof(counts[0]); k++)
				truncated(colls[i], (enum form)form, counts[k]);
		}
		shorter((enum form)form);
	}
	return check_end();
}
