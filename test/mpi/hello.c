/* SPDX-License-Identifier: BSD-3-Clause */
/* The least that needs coll components: for refused parameters and for singletons. */
#include <stdio.h>

#include <mpi.h>

int main(int argc, char **argv)
{
	int rank, size, sum = -1;

	if (MPI_Init(&argc, &argv) != MPI_SUCCESS)
		return 3;
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	if (sum != size * (size - 1) / 2)
		return 4;
	if (rank == 0)
		printf("hello from %d ranks\n", size);
	return MPI_Finalize() != MPI_SUCCESS;
}
