/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What every program here needs: start and end, failures that say where they happened, goal's
 * counters, random numbers, buffers whose every byte is watched.
 *
 * With GOAL_TEST_STOCK=1 in the environment goal's counters are not asked for, so that the
 * programs themselves can be tried against another implementation.
 */
#ifndef TEST_MPI_CHECK_H
#define TEST_MPI_CHECK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "compat.h"

/* Goal's performance variables. */
enum counter {
	CTR_RUNS,        /* on either engine */
	CTR_RUNS_KERNEL, /* on the kernel engine */
	CTR_RUNS_FAILED,
	CTR_BUILDS,
	CTR_ALLOCS,
	CTR_CACHE_HITS,
	CTR_DECLINED,
	CTR_MESSAGES_LOCAL,
	CTR_MESSAGES_REMOTE,
	CTR_VOTES,
	COUNTERS
};

extern int check_rank, check_size; /* in MPI_COMM_WORLD */
extern bool check_stock;           /* another implementation is tried: no counters */
extern uint64_t check_seed;        /* -s seed; the same at every rank */

/*
 * MPI_Init_thread with @thread, counters, and the options every program takes (-s seed). The
 * other arguments stay in @argv. Errors of MPI are returned, not fatal, on MPI_COMM_WORLD.
 */
void check_init(int *argc, char ***argv, int thread);
/* Sum the failures of all ranks, MPI_Finalize; what main() returns. Rank 0 prints the sum. */
int check_end(void);
/* This case cannot be tried here: every rank says so alike; ends the program as a skip. */
void check_skip(const char *why) __attribute__((noreturn));

/* What is being tried, printed with each failure. */
void check_context(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void check_fail(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
uint64_t check_failures(void); /* at this rank so far */

#define CHECK(cond, ...)                         \
	do {                                     \
		if (!(cond))                     \
			check_fail(__VA_ARGS__); \
	} while (0)
/* A call into MPI that must succeed. */
#define MPI_OK(call) check_mpi((call), #call)
void check_mpi(int err, const char *call);

/* The value of a counter; 0 with check_stock. */
uint64_t check_counter(enum counter which);
const char *check_counter_name(enum counter which);
/* @calls collectives were started since the value @before of CTR_RUNS: each ran on goal. */
void check_ran(uint64_t before, uint64_t calls);

/* A number that depends on all of its arguments and the seed. */
uint64_t check_random(uint64_t a, uint64_t b, uint64_t c);
/* Does not return to other work before @microseconds have passed. */
void check_spin(unsigned int microseconds);
double check_now(void); /* seconds */

/*
 * Memory for @count elements of @type with guards around it, every byte filled from @fill. The
 * @type may have holes, negative bounds or no bytes at all. With @absolute, the elements are to
 * be addressed as MPI_BOTTOM with a type of absolute addresses: .ptr and .type say so.
 */
struct buf {
	unsigned char *mem; /* all of it */
	size_t len;
	MPI_Datatype type, made; /* what to pass; made: is ours to free */
	void *ptr;               /* what to pass */
	size_t origin;           /* where in mem displacement 0 is */
};

void buf_new(struct buf *b, MPI_Datatype type, size_t count, uint64_t fill, bool absolute);
void buf_fill(struct buf *b, uint64_t fill);
/* A copy with the same bytes, addressed plainly. */
void buf_copy(const struct buf *from, MPI_Datatype type, struct buf *to);
void buf_free(struct buf *b);
/* Both hold the same bytes, gaps and guards included; says what differs. */
bool buf_same(const struct buf *got, const struct buf *want, const char *what);

#endif /* TEST_MPI_CHECK_H */
