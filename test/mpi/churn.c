/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Thousands of communicators made and freed, used at once while other ranks are late, so that
 * messages come for communicators that are not there yet, and ids are used again.
 *
 * churn [-s seed] [communicators]
 */
#include <stdlib.h>
#include <unistd.h>

#include "check.h"

#define ALIVE 16

/* What is sent tells which communicator it was sent on. */
static void use(MPI_Comm comm, int number)
{
	int root = number % check_size, value = check_rank == root ? number : -1, all[64], sum = -1;
	MPI_Request req[2];

	MPI_OK(MPI_Ibcast(&value, 1, MPI_INT, root, comm, &req[0]));
	MPI_OK(MPI_Iallreduce(&number, &sum, 1, MPI_INT, MPI_SUM, comm, &req[1]));
	MPI_OK(MPI_Gather(&number, 1, MPI_INT, all, 1, MPI_INT, root, comm));
	MPI_OK(MPI_Waitall(2, req, MPI_STATUSES_IGNORE));
	CHECK(value == number, "bcast of communicator %d", value);
	CHECK(sum == number * check_size, "sum %d", sum);
	for (int r = 0; check_rank == root && r < check_size; r++)
		CHECK(all[r] == number, "gathered from communicator %d", all[r]);
}

int main(int argc, char **argv)
{
	MPI_Comm alive[ALIVE], parent;
	int total;

	check_init(&argc, &argv, MPI_THREAD_SINGLE);
	total = argc > 1 ? atoi(argv[1]) : 2000;
	for (int i = 0; i < ALIVE; i++)
		alive[i] = MPI_COMM_NULL;
	for (int i = 0; i < total; i++) {
		uint64_t x = check_random((uint64_t)i, (uint64_t)check_rank, 9);
		MPI_Comm *c = &alive[i % ALIVE];

		check_context("communicator %d", i);
		if (*c != MPI_COMM_NULL) {
			/* The oldest one still works, then goes. */
			use(*c, i - ALIVE);
			MPI_OK(MPI_Comm_free(c));
		}
		parent = i % ALIVE ? alive[(i - 1) % ALIVE] : MPI_COMM_WORLD;
		MPI_OK(MPI_Comm_dup(parent, c));
		if (x % 16 == 0)
			usleep((useconds_t)(x >> 8) % 200);
		if (i % 3)
			use(*c, i);
	}
	for (int i = 0; i < ALIVE; i++) {
		if (alive[i] != MPI_COMM_NULL)
			MPI_OK(MPI_Comm_free(&alive[i]));
	}
	return check_end();
}
