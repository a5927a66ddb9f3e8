/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A small compiler of schedules for the tests of the core, which must not depend on the library's
 * (an error of that one would go unseen where both agree).
 */
#ifndef HOME_BUILD_H
#define HOME_BUILD_H

#include "core.h"

#define BUILD_OPS   512
#define BUILD_EDGES 4096

struct build_edge {
	u32 from, to;
	bool started; /* irequires */
};

/* Zero it, set what the header should have, add operations and edges, and call build_bytes(). */
struct build {
	struct goal_sched_hdr hdr; /* rank, npeers, nbufs, ntags, scratch, user_size are used */
	struct goal_op op[BUILD_OPS];
	struct build_edge edge[BUILD_EDGES];
	u32 nops, nedges;
	u32 pos[BUILD_OPS]; /* after build_bytes(): where an operation went */
};

/* Each returns the operation's number. Instances are counted in the order of these calls. */
u32 build_nop(struct build *b);
u32 build_send(struct build *b, u32 buf, u64 off, u64 len, u32 peer, u32 tag);
u32 build_recv(struct build *b, u32 buf, u64 off, u64 len, u32 peer, u32 tag);
u32 build_copy(struct build *b, u32 dst_buf, u64 dst_off, u32 src_buf, u64 src_off, u64 len);
u32 build_reduce(struct build *b, u32 dst_buf, u64 dst_off, u32 src_buf, u64 src_off, u64 count,
		 u32 dtype, u32 rop);
/* @to, a later operation, requires (irequires, if @started) @from. */
void build_edge(struct build *b, u32 from, u32 to, bool started);
/* The length of @op is that of @recv; adds the edge. */
void build_len_from(struct build *b, u32 op, u32 recv);

/* The schedule, from malloc(). */
void *build_bytes(struct build *b, size_t *len);
/* core_verify() with its working memory; the caller's @s and @e. */
int build_verify(const void *data, size_t len, struct core_sched *s, struct core_error *e);

#endif /* HOME_BUILD_H */
