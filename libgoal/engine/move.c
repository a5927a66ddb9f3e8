// SPDX-License-Identifier: BSD-3-Clause
/*
 * Bytes between the buffers of a run, which may lie in several segments: copies, reductions, and
 * messages that a rank sends to itself. Called through env_run.h.
 */
#include <stdlib.h>

#include "host.h"

/* A buffer as something to be walked along. */
struct cursor {
	const struct core_binding *b;
	u32 seg;
	u64 off; /* into that segment */
};

static void cursor_set(struct cursor *c, const struct core_binding *b, u64 off)
{
	c->b = b;
	c->seg = 0;
	while (c->seg < b->nseg && off >= b->seg[c->seg].len)
		off -= b->seg[c->seg++].len;
	c->off = off;
}

/* Where it stands, and how much is contiguous there: at most @want, 0 only for @want == 0. */
static u8 *cursor_at(const struct cursor *c, u64 want, u64 *run)
{
	u64 left;

	if (!want) {
		*run = 0;
		return NULL;
	}
	left = c->b->seg[c->seg].len - c->off;
	*run = left < want ? left : want;
	return (u8 *)c->b->seg[c->seg].base + c->off;
}

static void cursor_skip(struct cursor *c, u64 n)
{
	c->off += n;
	while (c->seg < c->b->nseg && c->off >= c->b->seg[c->seg].len)
		c->off -= c->b->seg[c->seg++].len;
}

static void cursor_read(struct cursor *c, void *to, u64 len)
{
	u8 *out = to;
	u64 n;

	while (len) {
		const u8 *from = cursor_at(c, len, &n);

		memcpy(out, from, n);
		cursor_skip(c, n);
		out += n;
		len -= n;
	}
}

static void cursor_write(struct cursor *c, const void *from, u64 len)
{
	const u8 *in = from;
	u64 n;

	while (len) {
		u8 *to = cursor_at(c, len, &n);

		memcpy(to, in, n);
		cursor_skip(c, n);
		in += n;
		len -= n;
	}
}

void host_copy_out(const struct core_binding *b, u64 off, void *to, u64 len)
{
	struct cursor c;

	if (!len)
		return;
	cursor_set(&c, b, off);
	cursor_read(&c, to, len);
}

void host_copy_in(const struct core_binding *b, u64 off, const void *from, u64 len)
{
	struct cursor c;

	if (!len)
		return;
	cursor_set(&c, b, off);
	cursor_write(&c, from, len);
}

static void copy_between(const struct core_binding *to, u64 to_off, const struct core_binding *from,
			 u64 from_off, u64 len)
{
	struct cursor c;
	u64 n;

	if (!len)
		return;
	cursor_set(&c, to, to_off);
	while (len) {
		u8 *p = cursor_at(&c, len, &n);

		host_copy_out(from, from_off, p, n);
		cursor_skip(&c, n);
		from_off += n;
		len -= n;
	}
}

int host_move(struct goal_run *r, u32 op)
{
	const struct goal_op *o = &r->core.sched->op[op];

	copy_between(core_buffer(&r->core, o->dst_buf), o->dst_off,
		     core_buffer(&r->core, o->src_buf), o->src_off, core_op_bytes(&r->core, o));
	return CORE_DONE;
}

/* How elements of a reduction are reduced where they lie in one piece. */
typedef int (*reduce_fn)(const struct goal_run *r, const struct goal_op *o, const void *in,
			 void *inout, u64 count);

static int reduce_core(const struct goal_run *r, const struct goal_op *o, const void *in,
		       void *inout, u64 count)
{
	(void)r;
	if (core_type_host_only(o->dtype))
		return core_reduce_host(o->dtype, o->rop, in, inout, count);
	if (o->dtype == GOAL_TYPE_FLOAT || o->dtype == GOAL_TYPE_DOUBLE)
		return core_reduce_fp(o->dtype, o->rop, in, inout, count);
	return core_reduce_int(o->dtype, o->rop, in, inout, count);
}

static int reduce_callback(const struct goal_run *r, const struct goal_op *o, const void *in,
			   void *inout, u64 count)
{
	(void)o;
	return r->reduce(r->reduce_arg, in, inout, count);
}

/*
 * Reduce piece by piece: as many whole elements as lie contiguously on both sides; an element
 * that straddles segments goes through @tmp (two elements).
 */
static int reduce_pieces(const struct goal_run *r, const struct goal_op *o, u64 size, u8 *tmp,
			 reduce_fn fn)
{
	struct cursor in, out;
	u64 left = o->len;
	int rc;

	cursor_set(&in, core_buffer(&r->core, o->src_buf), o->src_off);
	cursor_set(&out, core_buffer(&r->core, o->dst_buf), o->dst_off);
	while (left) {
		u64 run_in, run_out, n;
		u8 *from = cursor_at(&in, left * size, &run_in);
		u8 *to = cursor_at(&out, left * size, &run_out);

		n = (run_in < run_out ? run_in : run_out) / size;
		if (n) {
			rc = fn(r, o, from, to, n);
			if (rc)
				return rc;
			cursor_skip(&in, n * size);
			cursor_skip(&out, n * size);
			left -= n;
			continue;
		}
		{
			struct cursor back = out;

			cursor_read(&in, tmp, size);
			cursor_read(&out, tmp + size, size);
			rc = fn(r, o, tmp, tmp + size, 1);
			if (rc)
				return rc;
			cursor_write(&back, tmp + size, size);
			left--;
		}
	}
	return 0;
}

int host_reduce(struct goal_run *r, u32 op)
{
	const struct goal_op *o = &r->core.sched->op[op];
	u8 tmp[2 * 64] __attribute__((aligned(64)));
	struct goal_engine *e = r->engine;
	struct host_xfer *x;

	if (!o->len)
		return CORE_DONE;
	if (o->dtype != GOAL_TYPE_USER)
		return reduce_pieces(r, o, core_type_size(o->dtype), tmp, reduce_core);

	/* Foreign code: the dispatcher calls it, without the lock. */
	x = host_xfer_get(e, r, op, HOST_XFER_REDUCE);
	if (!x)
		return -ENOMEM;
	list_append(&e->reductions, &x->link);
	e->ncalls++;
	return CORE_PENDING;
}

/* Called by the dispatcher without the lock. 0 or -errno. */
int host_reduce_user(struct goal_run *r, u32 op)
{
	const struct goal_op *o = &r->core.sched->op[op];
	u64 size = r->core.sched->hdr->user_size;
	const struct core_binding *in = core_buffer(&r->core, o->src_buf);
	const struct core_binding *out = core_buffer(&r->core, o->dst_buf);
	u8 *tmp = NULL;
	int rc;

	if (in->nseg > 1 || out->nseg > 1) {
		host_lock(r->engine);
		tmp = host_alloc(r->engine, 2 * size);
		host_unlock(r->engine);
		if (!tmp)
			return -ENOMEM;
	}
	rc = reduce_pieces(r, o, size, tmp, reduce_callback);
	free(tmp);
	return rc > 0 ? -EINVAL : rc;
}

/* Move a message from operation @send to operation @recv of the same run. 0 or -EMSGSIZE. */
static int self_move(struct goal_run *r, u32 send, u32 recv, u64 bytes)
{
	const struct goal_op *from = &r->core.sched->op[send];
	const struct goal_op *to = &r->core.sched->op[recv];

	if (bytes > to->len)
		return -EMSGSIZE;
	copy_between(core_buffer(&r->core, to->dst_buf), to->dst_off,
		     core_buffer(&r->core, from->src_buf), from->src_off, bytes);
	r->core.rlen[to->slot] = bytes;
	return 0;
}

/* A send whose peer is this very rank. */
int host_self_send(struct goal_run *r, u32 op, u64 bytes)
{
	const struct goal_op *o = &r->core.sched->op[op];
	struct goal_engine *e = r->engine;
	struct host_xfer *x;
	struct host_msg *m;
	s64 recv;
	int rc;

	e->stats.msgs_local++;
	e->stats.bytes_local += bytes;
	recv = core_message_claim(&r->core, r->group->rank, o->tag, o->instance);
	if (recv >= 0) {
		core_op_done(&r->core, (u32)recv, self_move(r, op, (u32)recv, bytes));
		return CORE_DONE;
	}
	if (recv != -EAGAIN) {
		e->stats.drops++;
		return CORE_DONE;
	}

	x = host_xfer_get(e, r, op, HOST_XFER_SELF);
	if (!x)
		return -ENOMEM;
	m = host_msg_get(e, 0);
	if (!m) {
		rc = -ENOMEM;
		goto put_xfer;
	}
	m->kind = HOST_MSG_SELF;
	m->peer = NULL;
	m->sender = x->id;
	m->len = bytes;
	rc = core_message(&r->core, r->group->rank, o->tag, o->instance, m);
	if (rc)
		goto put_msg;
	e->stats.unexpected++;
	return CORE_PENDING;

put_msg:
	/* Nobody will ever take it. */
	e->stats.drops++;
	host_msg_put(e, m);
	rc = CORE_DONE;
put_xfer:
	host_xfer_put(e, x);
	return rc;
}

/* The receive of a message to ourselves has started: @m names the transfer that sends it. */
int host_self_deliver(struct goal_run *r, u32 op, struct host_msg *m)
{
	struct host_xfer *x = host_xfer_find(r->engine, m->sender);
	u32 send;
	int rc;

	if (!x)
		return -ECANCELED; /* the run has failed, and its sends were ended */
	send = x->op;
	rc = self_move(r, send, op, m->len);
	host_xfer_put(r->engine, x);
	core_op_done(&r->core, send, 0);
	return rc;
}
