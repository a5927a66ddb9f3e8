/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Adding operations to a graph. Everything that can be wrong with one operation is found here,
 * so that what compiles is accepted by the verifier (doc/schedule.md) too.
 */
#include <errno.h>

#include "graph.h"

/* @len bytes of @buf at @off: 0, or -EINVAL or -E2BIG. */
static int range_check(const struct goal_graph *g, uint32_t buf, uint64_t off, uint64_t len)
{
	if (buf >= GOAL_MAX_BUFS && buf != GOAL_BUF_SCRATCH)
		return -EINVAL;
	if (off > GOAL_MAX_BYTES || len > GOAL_MAX_BYTES || off + len > GOAL_MAX_BYTES)
		return -E2BIG;
	if (buf == GOAL_BUF_SCRATCH && off + len > g->scratch)
		return -EINVAL;
	return 0;
}

static bool ranges_overlap(const struct goal_op *o, uint64_t len)
{
	return o->src_buf == o->dst_buf && len && o->src_off < o->dst_off + len &&
	       o->dst_off < o->src_off + len;
}

static void buffer_used(struct goal_graph *g, uint32_t buf)
{
	if (buf != GOAL_BUF_SCRATCH && buf >= g->nbufs)
		g->nbufs = buf + 1;
}

static int64_t add(struct goal_graph *g, const struct goal_op *o)
{
	int err = graph_reserve((void **)&g->op, &g->op_room, g->nops, 1, GOAL_MAX_OPS,
				sizeof(*g->op));

	if (err)
		return err;
	g->op[g->nops] = *o;
	return g->nops++;
}

static int64_t add_message(struct goal_graph *g, struct goal_op *o, uint32_t buf)
{
	int64_t id;

	if (o->peer >= g->npeers)
		return -EINVAL;
	if (o->tag >= GOAL_MAX_TAGS)
		return -E2BIG;
	id = add(g, o);
	if (id < 0)
		return id;
	buffer_used(g, buf);
	if (o->tag >= g->ntags)
		g->ntags = o->tag + 1;
	return id;
}

int64_t goal_send(struct goal_graph *graph, uint32_t buf, uint64_t off, uint64_t len, uint32_t peer,
		  uint32_t tag)
{
	struct goal_op o = {
		.code = GOAL_OP_SEND,
		.peer = peer,
		.tag = tag,
		.src_buf = buf,
		.src_off = off,
		.len = len,
		.len_from = GOAL_OP_NONE,
	};
	int err;

	if (!graph)
		return -EINVAL;
	err = range_check(graph, buf, off, len);
	if (err)
		return err;
	return add_message(graph, &o, buf);
}

int64_t goal_recv(struct goal_graph *graph, uint32_t buf, uint64_t off, uint64_t len, uint32_t peer,
		  uint32_t tag)
{
	struct goal_op o = {
		.code = GOAL_OP_RECV,
		.peer = peer,
		.tag = tag,
		.dst_buf = buf,
		.dst_off = off,
		.len = len,
		.len_from = GOAL_OP_NONE,
	};
	int64_t id;
	int err;

	if (!graph)
		return -EINVAL;
	err = range_check(graph, buf, off, len);
	if (err)
		return err;
	id = add_message(graph, &o, buf);
	if (id >= 0)
		graph->nrecv++;
	return id;
}

/* Copies and reductions: @bytes are touched in both buffers. */
static int64_t add_local(struct goal_graph *g, struct goal_op *o, uint32_t dst_buf,
			 uint32_t src_buf, uint64_t bytes)
{
	int64_t id;
	int err;

	err = range_check(g, dst_buf, o->dst_off, bytes);
	if (!err)
		err = range_check(g, src_buf, o->src_off, bytes);
	if (err)
		return err;
	/* Only now the numbers are known to fit. */
	o->dst_buf = dst_buf;
	o->src_buf = src_buf;
	if (ranges_overlap(o, bytes))
		return -EINVAL;
	id = add(g, o);
	if (id < 0)
		return id;
	buffer_used(g, dst_buf);
	buffer_used(g, src_buf);
	return id;
}

int64_t goal_copy(struct goal_graph *graph, uint32_t dst_buf, uint64_t dst_off, uint32_t src_buf,
		  uint64_t src_off, uint64_t len)
{
	struct goal_op o = {
		.code = GOAL_OP_COPY,
		.src_off = src_off,
		.dst_off = dst_off,
		.len = len,
		.len_from = GOAL_OP_NONE,
	};

	if (!graph)
		return -EINVAL;
	return add_local(graph, &o, dst_buf, src_buf, len);
}

int64_t goal_reduce(struct goal_graph *graph, uint32_t dst_buf, uint64_t dst_off, uint32_t src_buf,
		    uint64_t src_off, uint64_t count, uint32_t dtype, uint32_t rop)
{
	struct goal_op o = {
		.code = GOAL_OP_REDUCE,
		.dtype = dtype,
		.rop = rop,
		.src_off = src_off,
		.dst_off = dst_off,
		.len = count,
		.len_from = GOAL_OP_NONE,
	};
	uint32_t size;
	int64_t id;

	if (!graph || !graph_reduce_valid(dtype, rop))
		return -EINVAL;
	size = dtype == GOAL_TYPE_USER ? graph->user_size : graph_type_size(dtype);
	if (size == 0)
		return -EINVAL;
	if (count > GOAL_MAX_BYTES / size)
		return -E2BIG;
	id = add_local(graph, &o, dst_buf, src_buf, count * size);
	if (id >= 0 && dtype == GOAL_TYPE_USER)
		graph->nuser++;
	return id;
}

int64_t goal_calc(struct goal_graph *graph, uint64_t cost)
{
	struct goal_op o = {
		.code = GOAL_OP_NOP,
		.len = cost,
		.len_from = GOAL_OP_NONE,
	};

	if (!graph)
		return -EINVAL;
	return add(graph, &o);
}

int64_t goal_nop(struct goal_graph *graph)
{
	return goal_calc(graph, 0);
}
