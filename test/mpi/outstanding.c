/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Many nonblocking collectives of all kinds in flight at once on two communicators, ended in an
 * order of its own at each rank; persistent requests started in different orders on different
 * ranks; blocking calls in between.
 */
#include <stdlib.h>

#include "arith.h"
#include "shape.h"

#define FLIGHT 96
#define ROUNDS 4

static void fill_flight(struct shape *s, const struct where *w, uint64_t round)
{
	for (int i = 0; i < FLIGHT; i++) {
		uint64_t x = check_random(round, (uint64_t)i, 11);
		struct params p = { .id = 1000 * round + (uint64_t)i,
				    .coll = (enum coll)(x % NEIGHBOR_ALLGATHER),
				    .count = (int)((x >> 8) % 40),
				    .types = (int)((x >> 16) % ZOO_TYPES),
				    .op = arith_add };

		/* Some larger than what is sent unasked. */
		if ((x >> 24) % 8 == 0)
			p.count *= 12;
		p.root = shape_rooted(p.coll) ? (int)((x >> 32) % (uint64_t)check_size) : 0;
		p.in_place = shape_in_place(p.coll) && (x >> 40) % 3 == 0;
		shape_new(&s[i], &w[(x >> 48) % 2], &p);
	}
}

static void try_flight(struct shape *s, const struct where *w, enum form form, uint64_t round)
{
	fill_flight(s, w, round);
	shape_try(s, FLIGHT, form, round);
	for (int i = 0; i < FLIGHT; i++)
		shape_free(&s[i]);
}

/* Blocking calls while nonblocking ones are open on the same communicator. */
static void try_between(struct shape *s, const struct where *w, uint64_t round)
{
	fill_flight(s, w, round);
	for (int i = 0; i < FLIGHT; i++)
		shape_prepare(&s[i], 0);
	for (int i = 0; i < FLIGHT; i++) {
		shape_issue(&s[i], i % 4 == 3 ? BLOCKING : NONBLOCKING);
		if (i % 4 == 3)
			shape_verify(&s[i], BLOCKING);
	}
	for (int i = FLIGHT - 1; i >= 0; i--) {
		MPI_OK(MPI_Wait(&s[i].req, MPI_STATUS_IGNORE));
		shape_verify(&s[i], NONBLOCKING);
		shape_free(&s[i]);
	}
}

int main(int argc, char **argv)
{
	static struct shape s[FLIGHT];
	struct where w[2];
	MPI_Comm dup;

	check_init(&argc, &argv, MPI_THREAD_SINGLE);
	zoo_open();
	arith_open();
	MPI_OK(MPI_Comm_dup(MPI_COMM_WORLD, &dup));
	where_set(&w[0], MPI_COMM_WORLD, "world", 0);
	where_set(&w[1], dup, "dup", 0);
	for (uint64_t round = 0; round < ROUNDS; round++) {
		try_flight(s, w, NONBLOCKING, 10 * round);
		try_flight(s, w, PERSISTENT, 10 * round + 1);
		try_between(s, w, 10 * round + 2);
	}
	MPI_OK(MPI_Comm_free(&dup));
	arith_close();
	zoo_close();
	return check_end();
}
