/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Every collective of intracommunicators against its point-to-point reference: three forms, all
 * roots, counts from none, every layout of the zoo with another one at each rank, in place,
 * absolute addresses, in the world's order of ranks and in the opposite one, and MPI_COMM_SELF.
 *
 * conform [-s seed] [-a] [collective ...]   -a: all combinations instead of a sample
 */
#include "sweep.h"

int main(int argc, char **argv)
{
	struct sweep s;
	struct where w;
	MPI_Comm reversed;

	check_init(&argc, &argv, MPI_THREAD_SINGLE);
	sweep_open(&s, argc, argv, false);

	where_set(&w, MPI_COMM_WORLD, "world", 0);
	sweep_comm(&s, &w);

	MPI_OK(MPI_Comm_split(MPI_COMM_WORLD, 0, -check_rank, &reversed));
	where_set(&w, reversed, "reversed", 0);
	sweep_comm(&s, &w);
	MPI_OK(MPI_Comm_free(&reversed));

	where_set(&w, MPI_COMM_SELF, "self", 0);
	sweep_comm(&s, &w);

	sweep_close();
	return check_end();
}
