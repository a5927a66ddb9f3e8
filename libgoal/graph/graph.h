/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The inside of a graph, for the files of this folder.
 */
#ifndef GRAPH_H
#define GRAPH_H

#include <stdbool.h>

#include <goal/graph.h>

/* "op requires before", or "op irequires before" when started is set. */
struct graph_dep {
	uint32_t op;
	uint32_t before : 31;
	uint32_t started : 1;
	uint32_t at; /* operations there were when it was added: its place in GOAL text */
};

/* What GOAL text says about an operation beyond the operation itself. */
struct graph_attr {
	uint32_t label; /* place in graph.labels, plus 1; 0: none */
	uint32_t line;  /* where it stands; where its wildcard stands, if it has one */
	uint32_t column;
	uint8_t flags; /* GRAPH_ATTR_* */
	uint8_t cpu;
	uint8_t nic;
};

#define GRAPH_ATTR_TAG      0x01u /* "tag" was written */
#define GRAPH_ATTR_CPU      0x02u
#define GRAPH_ATTR_NIC      0x04u
#define GRAPH_ATTR_ANY_PEER 0x08u /* from -1; op.peer is 0 */
#define GRAPH_ATTR_ANY_TAG  0x10u /* tag -1; op.tag is 0 */
#define GRAPH_ATTR_ANY      (GRAPH_ATTR_ANY_PEER | GRAPH_ATTR_ANY_TAG)

/*
 * Operations are kept in the form of the schedule, with what only the compiler knows left 0
 * (instance, slot, succ, nsucc, nisucc). The cost of a nop stands in its len.
 */
struct goal_graph {
	uint32_t rank, npeers;
	uint32_t ntags;     /* above every tag used, and what goal_tags() asked for */
	uint32_t nbufs;     /* above every buffer used */
	uint32_t user_size; /* 0: not set */
	uint32_t nuser;     /* reductions of GOAL_TYPE_USER */
	uint32_t nrecv;
	uint32_t nwild; /* operations with GRAPH_ATTR_ANY */
	uint64_t scratch;

	struct goal_op *op;
	uint32_t nops, op_room;

	struct graph_dep *dep;
	uint32_t ndeps, dep_room;

	struct graph_attr *attr; /* of op[0 .. nattr - 1]; the others have none */
	uint32_t nattr, attr_room;
	char *labels; /* 0-terminated, one after another */
	uint32_t labels_bytes, labels_room;
};

/* graph.c: room for one more element behind @used; 0, -ENOMEM, or -E2BIG at @limit. */
int graph_reserve(void **array, uint32_t *room, uint32_t used, uint32_t more, uint32_t limit,
		  size_t element);
int graph_add_dep(struct goal_graph *g, int64_t op, int64_t before, bool started);
/* Attributes of @op, or NULL. */
const struct graph_attr *graph_attr_of(const struct goal_graph *g, uint32_t op);
/* Its label, or NULL. */
const char *graph_label(const struct goal_graph *g, uint32_t op);

/* element.c: bytes of one element; 0 for NONE, USER and unknown types. */
uint32_t graph_type_size(uint32_t dtype);
bool graph_reduce_valid(uint32_t dtype, uint32_t rop);

/* error.c: fill in @e (may be NULL) and give back @code. */
int graph_error(struct goal_error *e, int code, uint64_t where, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
int graph_error_at(struct goal_error *e, int code, uint32_t line, uint32_t column, uint64_t where,
		   const char *fmt, ...) __attribute__((format(printf, 6, 7)));

/*
 * order.c: @number[old] = new and @old[new] = old, independent operations first; their number
 * in *@nindep. -EINVAL: a cycle, with an operation on it in *@cycle. -ENOMEM.
 */
int graph_order(const struct goal_graph *g, uint32_t *number, uint32_t *old, uint32_t *nindep,
		uint32_t *cycle);

/* sort.c: sort by key, equal keys keep their order. @tmp has room for @n. */
struct graph_key {
	uint64_t key;
	uint32_t value;
};
void graph_sort(struct graph_key *k, struct graph_key *tmp, uint32_t n);

#endif /* GRAPH_H */
