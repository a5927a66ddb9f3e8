// SPDX-License-Identifier: BSD-3-Clause
/*
 * Messages of peers that share no memory with us, by the transport of the group's user. Sends and
 * receives are queued in the order in which the interpreter starts them, given to the transport
 * in that order, and tested until they are done. Called by env_run.h and dispatch.c.
 */
#include <stdlib.h>

#include "host.h"

/* A send or receive of a remote peer starts. CORE_BUSY for a receive: nobody else may touch it. */
int host_remote(struct goal_run *r, u32 op, u64 bytes, bool send)
{
	struct goal_engine *e = r->engine;
	struct host_xfer *x;

	x = host_xfer_get(e, r, op, send ? HOST_XFER_ISEND : HOST_XFER_IRECV);
	if (!x)
		return -ENOMEM;
	x->bytes = bytes;
	list_append(&e->remote_posts, &x->link);
	e->ncalls++;
	return send ? CORE_PENDING : CORE_BUSY;
}

/* The transport wants one piece of memory: the buffer itself, or a copy. 0 or -ENOMEM. */
static int piece(struct host_xfer *x, void **buf)
{
	struct goal_run *r = x->run;
	const struct goal_op *o = &r->core.sched->op[x->op];
	bool send = x->state == HOST_XFER_ISEND;
	const struct core_binding *b = core_buffer(&r->core, send ? o->src_buf : o->dst_buf);
	u64 off = send ? o->src_off : o->dst_off;
	u64 run = 0;

	*buf = x->bytes ? core_segment_at(b, off, &run) : NULL;
	if (run >= x->bytes)
		return 0;
	x->bounce = host_alloc(r->engine, x->bytes);
	if (!x->bounce)
		return -ENOMEM;
	if (send)
		host_copy_out(b, off, x->bounce, x->bytes);
	*buf = x->bounce;
	return 0;
}

static void end(struct goal_engine *e, struct host_xfer *x, int status)
{
	e->ncalls--;
	host_xfer_end(e, x, status);
}

/* Give to the transport what is queued. The lock is held, but not while it is called. */
u32 host_remote_post(struct goal_engine *e)
{
	u32 n = 0;

	while (!list_empty(&e->remote_posts)) {
		struct host_xfer *x = list_entry(e->remote_posts.next, struct host_xfer, link);
		struct goal_run *r = x->run;
		const struct goal_op *o = &r->core.sched->op[x->op];
		const struct goal_remote_ops *ops = r->group->remote;
		void *arg = r->group->remote_arg;
		bool send = x->state == HOST_XFER_ISEND;
		void *buf, *request = NULL;
		int rc;

		list_remove(&x->link);
		n++;
		/*
		 * A run that failed by itself still sends what it had started: nothing else
		 * tells peers behind the transport, and they would wait for it.
		 */
		if (r->core.dead && (!send || r->group->status)) {
			end(e, x, -ECANCELED);
			continue;
		}
		rc = piece(x, &buf);
		if (!rc) {
			host_unlock(e);
			rc = send ? ops->isend(arg, o->peer, r->remote_tag, o->tag, buf, x->bytes,
					       &request)
				  : ops->irecv(arg, o->peer, r->remote_tag, o->tag, buf, x->bytes,
					       &request);
			host_lock(e);
		}
		if (rc) {
			end(e, x, rc < 0 ? rc : -EIO);
			continue;
		}
		x->request = request;
		if (send) {
			x->state = HOST_XFER_SENDING;
			e->stats.msgs_remote++;
			e->stats.bytes_remote += x->bytes;
		} else {
			x->state = HOST_XFER_RECEIVING;
		}
		list_append(&e->remote_active, &x->link);
	}
	return n;
}

/* A receive has got @got bytes: hand them on. 0 or -errno. */
static int received(struct host_xfer *x, u64 got)
{
	struct goal_run *r = x->run;
	const struct goal_op *o = &r->core.sched->op[x->op];

	if (got > x->bytes)
		return -EMSGSIZE;
	if (x->bounce)
		host_copy_in(core_buffer(&r->core, o->dst_buf), o->dst_off, x->bounce, got);
	r->core.rlen[o->slot] = got;
	return 0;
}

/*
 * Ask the transport about everything it has. Receives of a run that has failed are cancelled;
 * its sends, and receives that cannot be, run to their end: the memory is theirs until then.
 */
u32 host_remote_test(struct goal_engine *e)
{
	struct list *l, *next;
	u32 n = 0;

	/* Nobody else changes this list, but core_op_done() in here may append to others. */
	list_for_safe(l, next, &e->remote_active)
	{
		struct host_xfer *x = list_entry(l, struct host_xfer, link);
		struct goal_run *r = x->run;
		const struct goal_remote_ops *ops = r->group->remote;
		void *arg = r->group->remote_arg;
		bool receiving = x->state == HOST_XFER_RECEIVING;
		bool cancel = receiving && r->core.dead && !x->cancelling;
		uint64_t got = 0;
		int rc;

		host_unlock(e);
		if (cancel && ops->cancel(arg, x->request) == 0)
			rc = -ECANCELED;
		else
			rc = ops->test(arg, x->request, &got);
		host_lock(e);
		x->cancelling |= cancel;
		if (!rc)
			continue;
		if (rc > 0)
			rc = receiving ? received(x, got) : 0;
		end(e, x, rc);
		n++;
	}
	return n;
}
