// SPDX-License-Identifier: BSD-3-Clause
/*
 * Sends that env_send() could not finish with one slot: the first message to a peer, payload
 * for the ring, no room, no credit; and what is put off until a mailbox has room again.
 *
 * Why this cannot deadlock. (1) Whoever makes progress takes every slot of every mailbox of its
 * own, whatever state it is in: an eager message is delivered or kept (senders keep within the
 * credit that bounds this), an RTS is kept in an object as small as a slot, a CTS, fragment or
 * GONE is used up on the spot. Taking a slot never needs room in another mailbox: what it calls
 * for (a CTS, fragments, sends that became ready) goes onto the peer's list of pending
 * transfers, in an object that exists already or comes from the pool. So mailboxes drain as long
 * as their owner makes progress, and pending transfers find room in the end. (2) Without credit
 * a message goes as an RTS, which needs none; so a message for a receive that is posted can
 * always be asked for, however many messages for runs not started yet fill the receiver's
 * memory. (3) A fragment is sent only after its receive was posted, so it is used up when it is
 * taken. Messages match by name and not by order, so they may overtake each other.
 */
#include "mailbox.h"

static bool credit(struct host_peer *p, u64 bytes)
{
	u32 msgs = (u32)p->msgs - p->taken.msgs;
	u32 sum = (u32)p->bytes - p->taken.bytes;

	if (likely(msgs < p->credit_msgs && sum + bytes <= p->credit_bytes))
		return true;
	box_refresh(p);
	msgs = (u32)p->msgs - p->taken.msgs;
	sum = (u32)p->bytes - p->taken.bytes;
	return msgs < p->credit_msgs && sum + bytes <= p->credit_bytes;
}

/* Write an eager message; false: no room. Credit has been looked at. */
static bool eager(struct goal_run *r, u32 op, struct host_peer *p, u32 len)
{
	const struct goal_op *o = &r->core.sched->op[op];
	struct shm_slot *s;
	u8 *to;
	u32 at;

	if (!box_free_slots(p)) {
		box_refresh(p);
		if (!box_free_slots(p))
			return false;
	}
	s = box_slot(p);
	to = s->u.bytes;
	if (len > SHM_INLINE) {
		if (!box_data(p, len, &at))
			return false;
		s->data = at;
		to = p->data + (at & p->data_mask);
	}
	box_name(s, SHM_EAGER, len, r->nonce, r->key, r->group->rank, o->tag, o->instance);
	host_copy_out(core_buffer(&r->core, o->src_buf), o->src_off, to, len);
	if (p->room)
		p->room--;
	p->msgs++;
	p->bytes += len;
	box_publish(p, s);
	return true;
}

/* Write a slot without payload of its own for transfer @x; NULL: no room. */
static struct shm_slot *control(struct host_xfer *x, u32 kind)
{
	struct shm_slot *s = box_control(x->peer);

	if (s)
		box_name(s, kind, 0, x->nonce, x->key, x->src, x->tag, x->instance);
	return s;
}

/* The operation of @x has ended with @status, and @x with it. */
void host_xfer_end(struct goal_engine *e, struct host_xfer *x, int status)
{
	struct goal_run *r = x->run;
	u32 op = x->op;

	host_xfer_put(e, x);
	if (r)
		core_op_done(&r->core, op, status);
}

static bool push_rts(struct goal_engine *e, struct host_xfer *x)
{
	struct shm_slot *s = control(x, SHM_RTS);

	if (!s)
		return false;
	s->u.rts.sender = x->id;
	s->u.rts.bytes = x->bytes;
	x->state = HOST_XFER_OFFERED;
	e->stats.msgs_local++;
	e->stats.rendezvous++;
	e->stats.bytes_local += x->bytes;
	box_publish(x->peer, s);
	return true;
}

static bool push_cts(struct host_xfer *x, u64 bytes)
{
	struct shm_slot *s = control(x, SHM_CTS);

	if (!s)
		return false;
	s->u.cts.sender = x->remote;
	s->u.cts.receiver = x->id;
	s->u.cts.bytes = bytes;
	box_publish(x->peer, s);
	return true;
}

static bool push_abort(struct host_xfer *x)
{
	struct shm_slot *s = control(x, SHM_FRAG);

	if (!s)
		return false;
	s->u.frag.receiver = x->remote;
	s->u.frag.off = x->done;
	s->u.frag.aborted = 1;
	box_publish(x->peer, s);
	return true;
}

static bool push_gone(struct host_xfer *x)
{
	struct shm_slot *s = control(x, SHM_GONE);

	if (!s)
		return false;
	box_publish(x->peer, s);
	return true;
}

/*
 * Send what @x has to send. True: it needs no room any more (and may be gone); false: it does,
 * and stays or must be put on its peer's list.
 */
bool host_xfer_push(struct goal_engine *e, struct host_xfer *x)
{
	switch (x->state) {
	case HOST_XFER_EAGER:
		if (credit(x->peer, x->bytes)) {
			if (!eager(x->run, x->op, x->peer, (u32)x->bytes))
				return false;
			host_xfer_end(e, x, 0);
			return true;
		}
		x->state = HOST_XFER_RTS;
		return push_rts(e, x);
	case HOST_XFER_RTS:
		return push_rts(e, x);
	case HOST_XFER_FRAGS:
		if (!host_push_fragments(x))
			return false;
		host_xfer_end(e, x, 0);
		return true;
	case HOST_XFER_CTS:
		if (!push_cts(x, x->bytes))
			return false;
		x->state = HOST_XFER_ASKED;
		return true;
	case HOST_XFER_REFUSE:
		if (!push_cts(x, 0))
			return false;
		break;
	case HOST_XFER_ABORT:
		if (!push_abort(x))
			return false;
		break;
	default: /* HOST_XFER_GONE: no other state waits for room */
		if (!push_gone(x))
			return false;
		break;
	}
	host_xfer_put(e, x);
	return true;
}

/* Send @x now, or as soon as there is room. */
void host_xfer_send(struct goal_engine *e, struct host_xfer *x)
{
	struct host_peer *p = x->peer;

	if (list_empty(&p->pending) && host_xfer_push(e, x))
		return;
	list_append(&p->pending, &x->link);
	e->npending++;
	WRITE_ONCE(p->box->waiting, 1);
}

/* Try again to send what found no room. Number of transfers that got on. */
u32 host_pending(struct goal_engine *e)
{
	struct list *l;
	u32 n = 0;

	list_for(l, &e->peers)
	{
		struct host_peer *p = list_entry(l, struct host_peer, all);

		while (!list_empty(&p->pending)) {
			struct host_xfer *x = list_entry(p->pending.next, struct host_xfer, link);
			u64 done = x->done;

			list_remove(&x->link);
			e->npending--;
			if (host_xfer_push(e, x)) {
				n++;
				continue;
			}
			/* First in the line again. */
			n += x->done != done;
			list_append(p->pending.next, &x->link);
			e->npending++;
			break;
		}
		if (p->box && p->box->waiting && list_empty(&p->pending))
			WRITE_ONCE(p->box->waiting, 0);
	}
	return n;
}

/*
 * Tell @p that what send @op of @r, which has failed, should have brought will not come. Without
 * any memory where there is room: it may be the lack of it that has failed the run.
 */
void host_send_gone(struct goal_run *r, u32 op, struct host_peer *p)
{
	const struct goal_op *o = &r->core.sched->op[op];
	struct goal_engine *e = r->engine;
	struct shm_slot *s;
	struct host_xfer *x;

	if (!p->box && host_peer_claim(e, p)) {
		host_peer_unheard(e, p);
		return;
	}
	s = box_control(p);
	if (s) {
		box_name(s, SHM_GONE, 0, r->nonce, r->key, r->group->rank, o->tag, o->instance);
		box_publish(p, s);
		return;
	}
	x = host_xfer_get(e, NULL, op, HOST_XFER_GONE);
	if (!x) {
		host_peer_unheard(e, p);
		return;
	}
	x->peer = p;
	x->nonce = r->nonce;
	x->key = r->key;
	x->src = r->group->rank;
	x->tag = o->tag;
	x->instance = o->instance;
	host_xfer_send(e, x);
}

/* The run ends at send @op, whose peer is to be told with the others. */
static int unsent(struct goal_run *r, u32 op, int status)
{
	r->unsent = op;
	return status;
}

/* env_send() for everything that it leaves over. */
int host_send(struct goal_run *r, u32 op, u64 bytes)
{
	const struct goal_op *o = &r->core.sched->op[op];
	struct host_peer *p = r->group->peer[o->peer];
	struct goal_engine *e = r->engine;
	struct host_xfer *x;
	bool small;
	int rc;

	if (!p)
		return host_remote(r, op, bytes, true);
	if (p->self)
		return host_self_send(r, op, bytes);
	if (p->dead)
		return -ECONNRESET;
	if (unlikely(!p->box)) {
		rc = host_peer_claim(e, p);
		if (rc)
			return unsent(r, op, rc);
	}

	small = bytes <= p->eager && credit(p, bytes);
	if (small && eager(r, op, p, (u32)bytes))
		return CORE_DONE;
	x = host_xfer_get(e, r, op, small ? HOST_XFER_EAGER : HOST_XFER_RTS);
	if (!x)
		return unsent(r, op, -ENOMEM);
	x->peer = p;
	x->bytes = bytes;
	host_xfer_send(e, x);
	return CORE_PENDING;
}
