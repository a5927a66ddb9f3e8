/* SPDX-License-Identifier: BSD-3-Clause */
/* What nodes can be told to sample besides plain times. Each prints at rank 0, all ranks call it. */
#ifndef TEST_BENCH_NODES_H
#define TEST_BENCH_NODES_H

#include "timed.h"

/*
 * How much of a nonblocking collective hides behind computing, by the formula of the Intel MPI
 * Benchmarks: OVERLAP <collective> <bytes> <percent> <us overlapped> <us pure> <us computing> <runs on
 * the kernel engine>
 */
void overlap_measure(const struct places *p, const char *name, int bytes);

/*
 * A rank (@busy, in the first half) posts MPI_Ibarrier and computes, the others wait; how long
 * after the arrival of the last one until all of them but the computing one have left, in several
 * lines: RELEASE <us> <runs on the kernel engine>
 */
void release_measure(int busy);

#endif /* TEST_BENCH_NODES_H */
