/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A world of ranks for the tests of libgoal/collectives: takes every rank's compiled schedule,
 * checks it by itself and against its peers', and runs all of them in one process over
 * real buffers, in random order. Knows the schedule format only, no engine.
 */
#ifndef COLL_WORLD_H
#define COLL_WORLD_H

#include <goal/collectives.h>

struct world_proc;

struct world {
	uint32_t size, remote_size; /* of group 0 and of group 1; 0: intra */
	uint32_t n;                 /* processes: group 0 first */
	int ntags;                  /* of the graphs set so far; 0: none yet */
	uint32_t seed;
	uint32_t late; /* process + 1 that starts only when nobody can go on without it */
	bool keep_dst; /* receives leave their destination alone until they deliver */
	const uint32_t *node;
	char name[200]; /* of the case, printed when something is wrong */
	struct world_proc *proc;
};

/* Sizes that the tests go through; pairs of sizes for communicators between groups. */
#define WORLD_SIZES 18
extern const uint32_t world_sizes[WORLD_SIZES];
#define WORLD_PAIRS 8
extern const uint32_t world_pairs[WORLD_PAIRS][2];

/* @remote_size 0: one group. The case's name for messages, as printf. */
void world_open(struct world *w, uint32_t size, uint32_t remote_size, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
void world_close(struct world *w);

/* Process @i's communicator, and the numbers of things in it. */
struct goal_comm world_comm(const struct world *w, uint32_t i);
static inline uint32_t world_group(const struct world *w, uint32_t i)
{
	return w->remote_size && i >= w->size;
}
/* First process of @group, and how many it has. */
uint32_t world_first(const struct world *w, uint32_t group);
uint32_t world_count(const struct world *w, uint32_t group);
/* The process that process @i calls @peer. */
uint32_t world_peer(const struct world *w, uint32_t i, uint32_t peer);

/*
 * Give process @i the graph that a builder made, and what it returned: checks that against the
 * other ranks', compiles, verifies, and looks for operations that touch the same bytes without
 * an order between them. Frees @graph.
 */
void world_graph(struct world *w, uint32_t i, int ntags, struct goal_graph *graph);
/* Bind @bytes of zeroes to buffer @buf of process @i. */
uint8_t *world_bind(struct world *w, uint32_t i, uint32_t buf, uint64_t bytes);
/* The schedule of process @i: header, and operations. */
const struct goal_sched_hdr *world_hdr(const struct world *w, uint32_t i);
const struct goal_op *world_ops(const struct world *w, uint32_t i);

/*
 * Match the messages, then run everything to its end in an order drawn from w->seed. With
 * w->late: nobody that hears of that process only through messages may be through without it.
 */
void world_run(struct world *w);

/* A byte that tells (process, offset) apart from others. */
uint8_t world_byte(uint32_t i, uint64_t off);
/* Fill @bytes of process @i's data at @p as if they began at @off. */
void world_fill(uint8_t *p, uint32_t i, uint64_t off, uint64_t bytes);
/* Fail the test unless they are so. */
void world_expect(const struct world *w, uint32_t i, const uint8_t *p, uint32_t from, uint64_t off,
		  uint64_t bytes, const char *what);
void world_expect_zero(const struct world *w, uint32_t i, const uint8_t *p, uint64_t bytes,
		       const char *what);

/*
 * Elements of the user operation of these tests: a range of ranks. Putting together two adjacent
 * ranges makes a longer one; anything else makes nonsense that stays. So the result tells
 * whether every rank took part once and in order. Not commutative; 12 bytes.
 */
struct world_range {
	uint32_t from, to; /* ranks from .. to - 1; from above to: nonsense */
	uint32_t index;    /* of the element in its vector */
};

/* inout[i] = in[i] op inout[i], written anew here for the types that these tests use. */
void world_reduce(const void *in, void *inout, uint64_t count, uint32_t dtype, uint32_t rop);

#endif /* COLL_WORLD_H */
