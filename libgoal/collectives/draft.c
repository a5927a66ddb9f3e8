/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Graphs under construction with a sticky error, and the checks of arguments that several
 * collectives have in common. Called by every builder of this directory.
 */
#include "../graph/graph.h"
#include "draft.h"

int draft_begin(struct draft *d, const struct goal_comm *c, enum goal_coll coll,
		enum goal_algorithm alg)
{
	if (!c || c->size == 0 || c->rank >= c->size)
		return -EINVAL;
	if (!goal_algorithm_valid(coll, alg, c->remote_size != 0))
		return -EINVAL;
	d->err = 0;
	return goal_graph_create(c->rank, comm_peers(c), &d->graph);
}

int draft_end(struct draft *d, uint32_t ntags, struct goal_graph **graph)
{
	/* Simulators read no rank without a statement. */
	if (!d->err && goal_graph_ops(d->graph) == 0)
		draft_nop(d);
	if (!d->err)
		draft_fail(d, goal_tags(d->graph, ntags));
	if (d->err) {
		goal_graph_free(d->graph);
		return d->err;
	}
	*graph = d->graph;
	return (int)ntags;
}

void draft_fail(struct draft *d, int err)
{
	if (!d->err && err < 0)
		d->err = err;
}

static int64_t added(struct draft *d, int64_t op)
{
	if (op >= 0)
		return op;
	draft_fail(d, (int)op);
	return DRAFT_NONE;
}

int64_t draft_send(struct draft *d, struct place src, uint64_t len, uint32_t peer, uint32_t tag)
{
	if (d->err)
		return DRAFT_NONE;
	return added(d, goal_send(d->graph, src.buf, src.off, len, peer, tag));
}

int64_t draft_recv(struct draft *d, struct place dst, uint64_t len, uint32_t peer, uint32_t tag)
{
	if (d->err)
		return DRAFT_NONE;
	return added(d, goal_recv(d->graph, dst.buf, dst.off, len, peer, tag));
}

int64_t draft_copy(struct draft *d, struct place dst, struct place src, uint64_t len)
{
	if (d->err || len == 0 || place_same(dst, src))
		return DRAFT_NONE;
	return added(d, goal_copy(d->graph, dst.buf, dst.off, src.buf, src.off, len));
}

int64_t draft_copy_block(struct draft *d, struct place dst, uint64_t room, struct place src,
			 uint64_t len)
{
	if (len > room)
		draft_fail(d, -EMSGSIZE);
	return draft_copy(d, dst, src, len);
}

int64_t draft_nop(struct draft *d)
{
	if (d->err)
		return DRAFT_NONE;
	return added(d, goal_nop(d->graph));
}

int64_t draft_join(struct draft *d, int64_t first, uint64_t n)
{
	int64_t join;

	if (n == 1)
		return first;
	join = draft_nop(d);
	for (uint64_t i = 0; i < n && !d->err; i++)
		draft_after(d, join, first + (int64_t)i);
	return join;
}

int64_t draft_reduce(struct draft *d, struct place dst, struct place src, uint64_t count,
		     const struct goal_reduction *how)
{
	if (d->err)
		return DRAFT_NONE;
	return added(d, goal_reduce(d->graph, dst.buf, dst.off, src.buf, src.off, count, how->dtype,
				    how->rop));
}

struct place draft_scratch(struct draft *d, uint64_t bytes)
{
	int64_t off;

	if (d->err)
		return at(GOAL_BUF_SCRATCH, 0);
	off = goal_scratch(d->graph, bytes);
	if (off < 0) {
		draft_fail(d, (int)off);
		off = 0;
	}
	return at(GOAL_BUF_SCRATCH, (uint64_t)off);
}

void draft_after(struct draft *d, int64_t op, int64_t before)
{
	if (!d->err && op >= 0 && before >= 0)
		draft_fail(d, goal_requires(d->graph, op, before));
}

void draft_after_start(struct draft *d, int64_t op, int64_t before)
{
	if (!d->err && op >= 0 && before >= 0)
		draft_fail(d, goal_irequires(d->graph, op, before));
}

void draft_check_bytes(struct draft *d, uint64_t bytes, uint64_t count)
{
	if (count && bytes > GOAL_MAX_BYTES / count)
		draft_fail(d, -E2BIG);
}

void draft_check_root(struct draft *d, const struct goal_comm *c, int64_t root)
{
	bool special = c->remote_size && (root == GOAL_ROOT_HERE || root == GOAL_ROOT_NONE);

	if (!special && (root < 0 || root >= comm_peers(c)))
		draft_fail(d, -EINVAL);
}

void draft_check_in_place(struct draft *d, const struct goal_comm *c, bool in_place, bool allowed)
{
	if (in_place && (c->remote_size || !allowed))
		draft_fail(d, -EINVAL);
}

void draft_check_reduction(struct draft *d, const struct goal_reduction *how, uint64_t count)
{
	if (d->err)
		return;
	if (!how || how->size == 0 || how->dtype >= GOAL_TYPES || how->rop == GOAL_ROP_NONE ||
	    how->rop >= GOAL_ROPS) {
		draft_fail(d, -EINVAL);
		return;
	}
	if (how->dtype == GOAL_TYPE_USER)
		draft_fail(d, goal_user_size(d->graph, how->size));
	else if (how->size != graph_type_size(how->dtype))
		draft_fail(d, -EINVAL);
	draft_check_bytes(d, how->size, count);
}

void window_add(struct draft *d, struct window *w, int64_t recv, uint64_t bytes)
{
	if (bytes <= WINDOW_EAGER)
		return;
	if (w->n >= WINDOW_DEPTH)
		draft_after(d, recv, w->op[w->n % WINDOW_DEPTH]);
	w->op[w->n++ % WINDOW_DEPTH] = recv;
}
