/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Every collective of intercommunicators against its point-to-point reference, roots on both
 * sides, the ranks split in several ways: one against all others, halves, every other rank.
 *
 * inter [-s seed] [-a] [collective ...]
 */
#include <stdio.h>

#include "sweep.h"

enum split {
	FIRST_ALONE,
	HALVES,
	LAST_ALONE,
	EVEN_ODD,
	SPLITS
};

static int side_of(enum split split, int rank)
{
	switch (split) {
	case FIRST_ALONE:
		return rank > 0;
	case HALVES:
		return rank >= (check_size + 1) / 2;
	case LAST_ALONE:
		return rank == check_size - 1;
	default:
		return rank % 2;
	}
}

static void try_split(struct sweep *s, enum split split)
{
	static const char *const names[SPLITS] = { "first alone", "halves", "last alone",
						   "even and odd" };
	int side = side_of(split, check_rank), leader = 0;
	MPI_Comm local, inter;
	struct where w;

	while (side_of(split, leader) == side)
		leader++;
	MPI_OK(MPI_Comm_split(MPI_COMM_WORLD, side, check_rank, &local));
	MPI_OK(MPI_Intercomm_create(local, 0, MPI_COMM_WORLD, leader, 77, &inter));
	MPI_OK(MPI_Comm_free(&local));
	where_set(&w, inter, names[split], side);
	sweep_comm(s, &w);
	MPI_OK(MPI_Comm_free(&inter));
}

int main(int argc, char **argv)
{
	struct sweep s;

	check_init(&argc, &argv, MPI_THREAD_SINGLE);
	if (check_size < 2)
		check_skip("an intercommunicator needs 2 ranks");
	sweep_open(&s, argc, argv, false);
	for (int split = 0; split < SPLITS; split++)
		try_split(&s, (enum split)split);
	sweep_close();
	return check_end();
}
