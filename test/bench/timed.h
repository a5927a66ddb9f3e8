/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How a collective is timed: used by coll, which is one mpirun for one set of samples, and by nodes,
 * which stays and is told what to sample. The names of collectives are MPI's, without MPI_, in small
 * letters: barrier, ibarrier, barrier_init, ineighbor_alltoall, ...
 */
#ifndef TEST_BENCH_TIMED_H
#define TEST_BENCH_TIMED_H

#include "test/mpi/shape.h"

/* The communicators that are used: all ranks, and a periodic two-dimensional grid of them. */
struct places {
	struct where world, cart;
	MPI_Comm grid;
};

void places_open(struct places *p);
void places_close(struct places *p);
/* Where a collective is called. */
const struct where *places_for(const struct places *p, enum coll coll);

/* The largest of all ranks' values, at all ranks. Not by a collective: those are what is timed. */
double timed_agree(double mine);

/* "gather", "igather", "gather_init": the collective, or -1. */
int timed_parse(const char *name, enum form *form);

/* Blocks of @bytes, of MPI_BYTE, or of integers where they are reduced. */
void timed_shape(struct shape *s, const struct where *w, enum coll coll, int bytes);

/* Once, checked byte by byte; persistent ones have been issued. */
void timed_verify(struct shape *s, enum form form);

/* A sample's loop takes at least so long, and makes at least so many calls. */
extern double timed_loop; /* s; 20 ms */
extern int timed_least;   /* 1 */

/*
 * The mean of a loop on the slowest rank, in a line of rank 0:
 * SAMPLE <collective> <bytes> <microseconds> <calls> <calls that ran on the kernel engine>
 * The result is verified once before. With goal, its counters must show that every call ran as a
 * schedule; else nothing is printed and the program fails.
 */
void timed_measure(const struct places *p, const char *name, int bytes);

#endif /* TEST_BENCH_TIMED_H */
