/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the builders of this directory share: a graph under construction whose first error
 * sticks, so that a builder reads like the algorithm and looks at errors once, at the end.
 * Internal to libgoal/collectives.
 */
#ifndef GOAL_COLLECTIVES_DRAFT_H
#define GOAL_COLLECTIVES_DRAFT_H

#include <errno.h>

#include <goal/collectives.h>

/* No operation: as a result when something failed, as a dependency when there is none. */
#define DRAFT_NONE (-1)

struct draft {
	struct goal_graph *graph;
	int err; /* the first failure, -errno; nothing is added after it */
};

/* A place in a buffer. */
struct place {
	uint32_t buf;
	uint64_t off;
};

static inline struct place at(uint32_t buf, uint64_t off)
{
	return (struct place){ .buf = buf, .off = off };
}

static inline struct place place_add(struct place p, uint64_t bytes)
{
	return at(p.buf, p.off + bytes);
}

static inline bool place_same(struct place a, struct place b)
{
	return a.buf == b.buf && a.off == b.off;
}

/* Number of peers: ranks of the group that messages go to. */
static inline uint32_t comm_peers(const struct goal_comm *c)
{
	return c->remote_size ? c->remote_size : c->size;
}

/*
 * Start a draft of @coll: -EINVAL when the communicator makes no sense or @coll has no @alg.
 * The others are only called after it succeeded; draft_end() is always called then.
 */
int draft_begin(struct draft *d, const struct goal_comm *c, enum goal_coll coll,
		enum goal_algorithm alg);
/* Hand the graph out and return @ntags, or free it and return the first error. */
int draft_end(struct draft *d, uint32_t ntags, struct goal_graph **graph);
/* Make @err the draft's error unless it has one. */
void draft_fail(struct draft *d, int err);

/* Each returns the operation, or DRAFT_NONE in a draft that has failed. */
int64_t draft_send(struct draft *d, struct place src, uint64_t len, uint32_t peer, uint32_t tag);
int64_t draft_recv(struct draft *d, struct place dst, uint64_t len, uint32_t peer, uint32_t tag);
/* Without bytes, or from a place to itself, there is nothing to do: DRAFT_NONE. */
int64_t draft_copy(struct draft *d, struct place dst, struct place src, uint64_t len);
/* This rank's block for itself: @len bytes into a block of @room; -EMSGSIZE: it is too small. */
int64_t draft_copy_block(struct draft *d, struct place dst, uint64_t room, struct place src,
			 uint64_t len);
int64_t draft_nop(struct draft *d);
/* One operation that has finished when the @n (at least 1) from @first on have. */
int64_t draft_join(struct draft *d, int64_t first, uint64_t n);
/* dst = src op dst, as goal_reduce(). */
int64_t draft_reduce(struct draft *d, struct place dst, struct place src, uint64_t count,
		     const struct goal_reduction *how);
struct place draft_scratch(struct draft *d, uint64_t bytes);

/* @op starts after @before has finished / started. DRAFT_NONE for either means nothing. */
void draft_after(struct draft *d, int64_t op, int64_t before);
void draft_after_start(struct draft *d, int64_t op, int64_t before);

/* @count blocks of @bytes exceed what a schedule can name: fail with -E2BIG. */
void draft_check_bytes(struct draft *d, uint64_t bytes, uint64_t count);
/* @root is a rank of the group, or as the intercommunicator rules say; else -EINVAL. */
void draft_check_root(struct draft *d, const struct goal_comm *c, int64_t root);
/* @in_place is allowed: intra, and @allowed; else -EINVAL. */
void draft_check_in_place(struct draft *d, const struct goal_comm *c, bool in_place, bool allowed);
/* @how is sound; tells the graph the size of user elements. @count elements fit. */
void draft_check_reduction(struct draft *d, const struct goal_reduction *how, uint64_t count);

/*
 * Bounds what one rank receives at a time: of messages above WINDOW_EAGER bytes, each receive
 * starts only after the one WINDOW_DEPTH before it, so that long messages, which wait for
 * their receive, do not all come at once (incast). Short ones come unasked in any case.
 */
#define WINDOW_DEPTH 8
#define WINDOW_EAGER 4096

struct window {
	int64_t op[WINDOW_DEPTH];
	uint64_t n;
};

void window_add(struct draft *d, struct window *w, int64_t recv, uint64_t bytes);

#endif /* GOAL_COLLECTIVES_DRAFT_H */
