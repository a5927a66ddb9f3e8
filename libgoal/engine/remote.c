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
	if (!x && !host_failed_lost(r, op))
		return -ENOMEM;
	if (!x)
		return send ? CORE_PENDING : CORE_BUSY;
	x->group = r->group;
	x->bytes = bytes;
	list_append(&e->remote_posts, &x->link);
	e->ncalls++;
	return send ? CORE_PENDING : CORE_BUSY;
}

/* The transport wants one piece of memory: the buffer itself, or other. 0 or -ENOMEM. */
static int piece(struct host_xfer *x, void **buf)
{
	struct goal_run *r = x->run;
	const struct core_binding *b = NULL;
	const struct goal_op *o;
	bool send = x->state == HOST_XFER_ISEND;
	u64 off = 0, run = 0;

	*buf = NULL;
	if (x->state == HOST_XFER_WORD)
		*buf = &x->word;
	if (*buf || !x->bytes)
		return 0;
	if (!x->drain) {
		o = &r->core.sched->op[x->op];
		b = core_buffer(&r->core, send ? o->src_buf : o->dst_buf);
		off = send ? o->src_off : o->dst_off;
		*buf = core_segment_at(b, off, &run);
	}
	if (run >= x->bytes)
		return 0;
	x->bounce = host_alloc(x->group->engine, x->bytes);
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
	if (likely(x->run != NULL))
		host_xfer_end(e, x, status);
	else
		host_failed_said(e, x, status);
}

/* Nothing but the transport's own end of it matters to @x any more. */
static bool futile(const struct host_xfer *x)
{
	const struct goal_group *g = x->group;

	if (!x->run)
		return g->status;
	return x->run->core.dead && (g->status || !host_tells(g));
}

/* The transport would not have @x, or there is no memory for it. */
static void refused(struct goal_engine *e, struct host_xfer *x, int rc)
{
	struct goal_group *g = x->group;
	struct goal_run *r = x->run;
	u32 peer;

	if (rc > 0)
		rc = -EIO;
	if (!r || !host_tells(g) || g->status) {
		end(e, x, rc);
		return;
	}
	peer = r->core.sched->op[x->op].peer;
	if (x->drain) {
		/* Nor an attempt to let nothing be left over. */
		end(e, x, rc);
		host_group_fail(g, rc, peer);
	} else if (x->state == HOST_XFER_ISEND) {
		host_failed_hold(x, rc);
	} else {
		x->drain = true;
		free(x->bounce);
		x->bounce = NULL;
		list_append(&e->remote_posts, &x->link);
		core_cancel(&r->core, rc, peer);
	}
}

/* Give to the transport what is queued. The lock is held, but not while it is called. */
u32 host_remote_post(struct goal_engine *e)
{
	u32 n = 0;

	while (!list_empty(&e->remote_posts)) {
		struct host_xfer *x = list_entry(e->remote_posts.next, struct host_xfer, link);
		struct goal_run *r = x->run;
		struct goal_group *g = x->group;
		const struct goal_remote_ops *ops = g->remote;
		bool receive = x->state == HOST_XFER_IRECV;
		u32 peer = x->src, tag = 0;
		int64_t base = g->word;
		void *buf, *request = NULL;
		int rc;

		list_remove(&x->link);
		n++;
		/*
		 * A run that failed by itself still sends and receives what it had started: a
		 * message that met no receive would be there for a later run.
		 */
		if (unlikely(futile(x)) && (receive || g->status)) {
			end(e, x, -ECANCELED);
			continue;
		}
		if (likely(r != NULL)) {
			peer = r->core.sched->op[x->op].peer;
			tag = r->core.sched->op[x->op].tag;
			base = r->remote_tag;
		}
		rc = piece(x, &buf);
		if (unlikely(rc && x->drain)) {
			/* It would only be dropped: let the transport do so. */
			x->bytes = 0;
			rc = 0;
		}
		if (!rc) {
			host_unlock(e);
			rc = receive ? ops->irecv(g->remote_arg, peer, base, tag, buf, x->bytes,
						  &request)
				     : ops->isend(g->remote_arg, peer, base, tag, buf, x->bytes,
						  &request);
			host_lock(e);
		}
		if (unlikely(rc)) {
			refused(e, x, rc);
			continue;
		}
		x->request = request;
		if (receive) {
			x->state = HOST_XFER_RECEIVING;
		} else {
			x->state = HOST_XFER_SENDING;
			if (likely(r != NULL && !x->drain)) {
				e->stats.msgs_remote++;
				e->stats.bytes_remote += x->bytes;
			}
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

	if (x->drain)
		return -ECANCELED;
	if (got > x->bytes)
		return -EMSGSIZE;
	if (x->bounce)
		host_copy_in(core_buffer(&r->core, o->dst_buf), o->dst_off, x->bounce, got);
	r->core.rlen[o->slot] = got;
	return 0;
}

/*
 * Ask the transport about everything it has. Receives of a run that has failed are cancelled
 * when nobody will send what they wait for; its sends, and receives that cannot be, run to their
 * end: the memory is theirs until then.
 */
u32 host_remote_test(struct goal_engine *e)
{
	struct list *l, *next;
	u32 n = 0;

	/* Nobody else changes this list, but core_op_done() in here may append to others. */
	list_for_safe(l, next, &e->remote_active)
	{
		struct host_xfer *x = list_entry(l, struct host_xfer, link);
		const struct goal_remote_ops *ops = x->group->remote;
		void *arg = x->group->remote_arg;
		bool receiving = x->state == HOST_XFER_RECEIVING;
		bool cancel = receiving && unlikely(futile(x)) && !x->cancelling;
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
