/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Graphs: the operations of one rank and the dependencies between them; schedules, which are
 * graphs in the form that engines run; and GOAL text, in which simulators read and write both.
 */
#ifndef GOAL_GRAPH_H
#define GOAL_GRAPH_H

#include <stdio.h>

#include <goal/types.h>

GOAL_BEGIN_DECLS

struct goal_graph;    /* opaque: a schedule under construction */
struct goal_schedule; /* opaque: a compiled graph, immutable */
struct goal_program;  /* opaque: one graph per rank, as a GOAL text has them */

/*
 * Create an empty graph for @rank (below @npeers unless the peers are a remote group) of a
 * group whose peers are 0 .. @npeers - 1. -EINVAL: npeers is 0. -ENOMEM.
 * The caller owns *@graph and ends it with goal_graph_free(); NULL is fine there.
 */
GOAL_API int goal_graph_create(uint32_t rank, uint32_t npeers, struct goal_graph **graph);
GOAL_API void goal_graph_free(struct goal_graph *graph);

/*
 * Add an operation. Each returns its identifier (0, 1, 2, ... in the order of creation), or
 * -EINVAL (peer, buffer, type or operation out of range), -E2BIG (a limit of goal/espgoal.h),
 * or -ENOMEM; the graph is then unchanged.
 *
 * Buffers are numbers below GOAL_MAX_BUFS, bound to memory when the schedule runs, or
 * GOAL_BUF_SCRATCH with an offset that goal_scratch() returned. Offsets and lengths are bytes.
 * Messages match by (peer, tag); the k-th send of one (peer, tag), in the order in which the
 * sends were created, meets the k-th receive created for it, whatever the order of arrival.
 * In a group with remote peers (goal_remote_ops) only schedules run in which those of one peer
 * and tag always start in that order: they depend on nothing, or each on the one before it.
 * A peer may be the rank itself. Receiving a longer message than @len is an error of the
 * run (-EMSGSIZE), a shorter one is fine.
 */
GOAL_API int64_t goal_send(struct goal_graph *graph, uint32_t buf, uint64_t off, uint64_t len,
			   uint32_t peer, uint32_t tag);
GOAL_API int64_t goal_recv(struct goal_graph *graph, uint32_t buf, uint64_t off, uint64_t len,
			   uint32_t peer, uint32_t tag);
/* Copy @len bytes; the two must not overlap. */
GOAL_API int64_t goal_copy(struct goal_graph *graph, uint32_t dst_buf, uint64_t dst_off,
			   uint32_t src_buf, uint64_t src_off, uint64_t len);
/*
 * dst[i] = src[i] @rop dst[i] for @count elements of @dtype (enum goal_rop, enum goal_dtype).
 * With GOAL_TYPE_USER and GOAL_ROP_USER elements have the size given to goal_user_size() and
 * the run's callback computes.
 */
GOAL_API int64_t goal_reduce(struct goal_graph *graph, uint32_t dst_buf, uint64_t dst_off,
			     uint32_t src_buf, uint64_t src_off, uint64_t count, uint32_t dtype,
			     uint32_t rop);
/* An operation that does nothing but join dependencies. */
GOAL_API int64_t goal_nop(struct goal_graph *graph);
/* A nop that costs @cost (the unit is the simulator's, usually ns) when written as GOAL text. */
GOAL_API int64_t goal_calc(struct goal_graph *graph, uint64_t cost);

/* The size of one GOAL_TYPE_USER element in bytes, above 0. */
GOAL_API int goal_user_size(struct goal_graph *graph, uint32_t bytes);
/* Take @bytes of scratch, aligned to 64: its offset, or -E2BIG. */
GOAL_API int64_t goal_scratch(struct goal_graph *graph, uint64_t bytes);
/*
 * Send or copy operation @op moves as many bytes as receive @recv got, at most its own length.
 * Adds the dependency "op requires recv".
 */
GOAL_API int goal_length_from(struct goal_graph *graph, int64_t op, int64_t recv);

/*
 * @op starts after @before has finished (requires) or started (irequires).
 * -EINVAL: no such operation, or both are the same. Cycles are found by goal_compile().
 */
GOAL_API int goal_requires(struct goal_graph *graph, int64_t op, int64_t before);
GOAL_API int goal_irequires(struct goal_graph *graph, int64_t op, int64_t before);

/* At least @ntags tags are reserved for this graph (default: its highest tag + 1). */
GOAL_API int goal_tags(struct goal_graph *graph, uint32_t ntags);

GOAL_API uint32_t goal_graph_rank(const struct goal_graph *graph);
GOAL_API uint32_t goal_graph_npeers(const struct goal_graph *graph);
GOAL_API uint64_t goal_graph_ops(const struct goal_graph *graph);

/*
 * Compile @graph: number the operations topologically (Kahn, 1962), those without dependencies
 * first and otherwise in the order of creation as far as possible; number instances; write
 * the schedule. The graph stays usable. -EINVAL: a cycle (error->where: an operation on it);
 * -E2BIG; -ENOMEM. The caller owns *@schedule.
 */
GOAL_API int goal_compile(const struct goal_graph *graph, struct goal_schedule **schedule,
			  struct goal_error *error);
/*
 * Take over the bytes of a schedule from elsewhere: copied, and verified by the rules of
 * doc/schedule.md. -EINVAL or -E2BIG with @error filled in, -ENOMEM.
 */
GOAL_API int goal_schedule_read(const void *data, size_t bytes, struct goal_schedule **schedule,
				struct goal_error *error);
/* The schedule's bytes, 8-byte aligned, valid until goal_schedule_free(). */
GOAL_API const void *goal_schedule_data(const struct goal_schedule *schedule, size_t *bytes);
/* Tags a run uses: 0 .. ntags - 1. */
GOAL_API uint32_t goal_schedule_ntags(const struct goal_schedule *schedule);
GOAL_API void goal_schedule_free(struct goal_schedule *schedule);

/*
 * A program is what a GOAL text holds: num_ranks graphs. Graphs in it belong to it; @program
 * takes over @graph in goal_program_set() (the previous one of that rank is freed).
 */
GOAL_API int goal_program_create(uint32_t ranks, struct goal_program **program);
GOAL_API void goal_program_free(struct goal_program *program);
GOAL_API uint32_t goal_program_ranks(const struct goal_program *program);
GOAL_API struct goal_graph *goal_program_graph(const struct goal_program *program, uint32_t rank);
GOAL_API int goal_program_set(struct goal_program *program, uint32_t rank,
			      struct goal_graph *graph);
/*
 * Read GOAL text (the language of LogGOPSim). Labels, costs, cpu and nic are kept, so that
 * goal_text_write() gives back the same statements. Sends read buffer GOAL_BUF_SEND and receives
 * write GOAL_BUF_RECV, both at offset 0. `from -1' and `tag -1' are read and simulate;
 * goal_compile() refuses them with their line. -EINVAL with line, column and a sentence.
 */
GOAL_API int goal_text_read(const char *text, size_t bytes, struct goal_program **program,
			    struct goal_error *error);
/*
 * Write @program as GOAL text that LogGOPSim's txt2bin accepts: copy, reduce and nop as calc.
 * Text that came from goal_text_read() is given back statement by statement.
 * -EIO: the stream failed.
 */
GOAL_API int goal_text_write(const struct goal_program *program, FILE *out);

GOAL_END_DECLS

#endif /* GOAL_GRAPH_H */
