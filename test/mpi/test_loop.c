/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Nonblocking collectives that only MPI_Test and its family move, while receives are open; and
 * collectives that are moved by testing something else.
 */
#include "call.h"

#define TAG    24000
#define ROUNDS 50

static void try_kind(int kind, int round)
{
	int token = -1, flag = 0, index, count, indices[2];
	int from = (check_rank + check_size - 1) % check_size, to = (check_rank + 1) % check_size;
	MPI_Request req[2];
	uint64_t before = check_counter(CTR_RUNS);

	check_context("kind %d round %d", kind, round);
	MPI_OK(MPI_Irecv(&token, 1, MPI_INT, MPI_ANY_SOURCE, TAG, MPI_COMM_WORLD, &req[0]));
	MPI_OK(MPI_Ibarrier(MPI_COMM_WORLD, &req[1]));
	switch (kind) {
	case 0: /* the barrier alone */
		while (!flag)
			MPI_OK(MPI_Test(&req[1], &flag, MPI_STATUS_IGNORE));
		break;
	case 1: /* both at once; either may end first */
		while (req[1] != MPI_REQUEST_NULL)
			MPI_OK(MPI_Testany(2, req, &index, &flag, MPI_STATUS_IGNORE));
		break;
	case 2:
		while (req[1] != MPI_REQUEST_NULL)
			MPI_OK(MPI_Testsome(2, req, &count, indices, MPI_STATUSES_IGNORE));
		break;
	case 3: /* without releasing it */
		while (!flag)
			MPI_OK(MPI_Request_get_status(req[1], &flag, MPI_STATUS_IGNORE));
		MPI_OK(MPI_Wait(&req[1], MPI_STATUS_IGNORE));
		break;
	default: /* a probe that never succeeds moves the barrier too */
		while (!flag) {
			MPI_OK(MPI_Iprobe(MPI_ANY_SOURCE, TAG + 1, MPI_COMM_WORLD, &flag,
					  MPI_STATUS_IGNORE));
			CHECK(!flag, "a message that nobody sent");
			MPI_OK(MPI_Test(&req[1], &flag, MPI_STATUS_IGNORE));
		}
		break;
	}
	CHECK(req[1] == MPI_REQUEST_NULL, "the request is still there");
	if (check_size > 1)
		check_ran(before, 1);
	MPI_OK(MPI_Send(&check_rank, 1, MPI_INT, to, TAG, MPI_COMM_WORLD));
	MPI_OK(MPI_Wait(&req[0], MPI_STATUS_IGNORE));
	CHECK(token == from, "token of rank %d instead of %d", token, from);
}

/* All ranks wait for a message that is sent only when the sender's collective is over. */
static void moved_by_receive(int round)
{
	int token = -1, sum = 0, one = 1;
	int from = (check_rank + check_size - 1) % check_size, to = (check_rank + 1) % check_size;
	MPI_Request req;

	check_context("moved by a receive, round %d", round);
	MPI_OK(MPI_Iallreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &req));
	if (check_rank == 0) {
		/* Only rank 0 waits for the collective; the others' part is done in MPI_Recv. */
		MPI_OK(MPI_Wait(&req, MPI_STATUS_IGNORE));
		MPI_OK(MPI_Send(&check_rank, 1, MPI_INT, to, TAG, MPI_COMM_WORLD));
		MPI_OK(MPI_Recv(&token, 1, MPI_INT, from, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
	} else {
		MPI_OK(MPI_Recv(&token, 1, MPI_INT, from, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
		MPI_OK(MPI_Send(&check_rank, 1, MPI_INT, to, TAG, MPI_COMM_WORLD));
		MPI_OK(MPI_Wait(&req, MPI_STATUS_IGNORE));
	}
	CHECK(sum == check_size, "sum %d", sum);
	CHECK(token == from, "token of rank %d instead of %d", token, from);
}

int main(int argc, char **argv)
{
	check_init(&argc, &argv, MPI_THREAD_SINGLE);
	for (int round = 0; round < ROUNDS; round++) {
		for (int kind = 0; kind < 5; kind++)
			try_kind(kind, round);
		if (check_size > 1)
			moved_by_receive(round);
	}
	return check_end();
}
