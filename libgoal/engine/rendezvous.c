// SPDX-License-Identifier: BSD-3-Clause
/*
 * Long messages, and those without credit: the sender offers (RTS), the receiver asks when its
 * receive is posted (CTS), the sender writes fragments into the payload ring while the
 * receiver copies the previous ones out. Called by send.c and progress.c.
 */
#include "mailbox.h"

/* Receive @op of @r has met an offer of @bytes: CORE_DONE, CORE_PENDING or -errno. */
int host_receive(struct goal_run *r, u32 op, struct host_peer *p, struct shm_id sender, u64 bytes)
{
	const struct goal_op *o = &r->core.sched->op[op];
	struct goal_engine *e = r->engine;
	struct host_xfer *x;
	int rc;

	if (p->dead)
		return -ECONNRESET;
	if (bytes > o->len) {
		host_refuse(e, p, sender);
		return -EMSGSIZE;
	}
	if (!bytes) {
		r->core.rlen[o->slot] = 0;
		return host_refuse(e, p, sender);
	}
	if (!p->box) {
		rc = host_peer_claim(e, p);
		if (rc) {
			host_refuse(e, p, sender);
			return rc;
		}
	}
	/* Single copy will hook in here: when it works, fetch the bytes, and refuse the offer. */
	x = host_xfer_get(e, r, op, HOST_XFER_CTS);
	if (!x) {
		host_refuse(e, p, sender);
		return -ENOMEM;
	}
	x->peer = p;
	x->remote = sender;
	x->bytes = bytes;
	host_xfer_send(e, x);
	return CORE_PENDING;
}

/* Tell the sender of an offer that it is done with it. CORE_DONE or -errno. */
int host_refuse(struct goal_engine *e, struct host_peer *p, struct shm_id sender)
{
	struct host_xfer *x;
	int rc;

	if (p->dead)
		return CORE_DONE;
	if (!p->box) {
		rc = host_peer_claim(e, p);
		if (rc) {
			host_peer_unheard(e, p);
			return rc;
		}
	}
	x = host_xfer_get(e, NULL, 0, HOST_XFER_REFUSE);
	if (!x) {
		host_peer_unheard(e, p);
		return -ENOMEM;
	}
	x->peer = p;
	x->remote = sender;
	x->nonce = 0;
	x->key = 0;
	x->src = 0;
	x->tag = 0;
	x->instance = 0;
	host_xfer_send(e, x);
	return CORE_DONE;
}

/* The answer to an offer of ours has come. */
void host_granted(struct goal_engine *e, struct host_peer *p, const struct shm_cts *cts)
{
	struct host_xfer *x = host_xfer_find(e, cts->sender);

	if (!x || x->peer != p || x->state != HOST_XFER_OFFERED) {
		e->stats.drops++;
		return;
	}
	if (!cts->bytes) {
		host_xfer_end(e, x, 0);
		return;
	}
	if (cts->bytes != x->bytes) {
		host_xfer_end(e, x, -EPROTO);
		return;
	}
	x->remote = cts->receiver;
	x->state = x->run ? HOST_XFER_FRAGS : HOST_XFER_ABORT;
	host_xfer_send(e, x);
}

/* Write as many fragments as there is room for; true: that was the last. */
bool host_push_fragments(struct host_xfer *x)
{
	struct goal_run *r = x->run;
	const struct goal_op *o = &r->core.sched->op[x->op];
	const struct core_binding *b = core_buffer(&r->core, o->src_buf);
	struct host_peer *p = x->peer;
	u32 most = (p->data_mask + 1) / 4;

	if (most > HOST_FRAGMENT)
		most = HOST_FRAGMENT;
	while (x->done < x->bytes) {
		u32 len = x->bytes - x->done < most ? (u32)(x->bytes - x->done) : most;
		struct shm_slot *s;
		u32 at;

		if (!box_free_slots(p)) {
			box_refresh(p);
			if (!box_free_slots(p))
				return false;
		}
		if (!box_data(p, len, &at))
			return false;
		host_copy_out(b, o->src_off + x->done, p->data + (at & p->data_mask), len);
		s = box_control(p);
		box_name(s, SHM_FRAG, len, x->nonce, x->key, x->src, x->tag, x->instance);
		s->data = at;
		s->u.frag.receiver = x->remote;
		s->u.frag.off = x->done;
		s->u.frag.aborted = 0;
		x->done += len;
		box_publish(p, s);
	}
	return true;
}

/* A fragment has come; @data has been checked to be in the ring. */
void host_fragment(struct goal_engine *e, struct host_peer *p, const struct shm_frag *frag,
		   const void *data, u32 len)
{
	struct host_xfer *x = host_xfer_find(e, frag->receiver);
	const struct goal_op *o;
	struct goal_run *r;

	/* The run may have failed meanwhile: then nobody wants it. */
	if (!x || x->peer != p || x->state != HOST_XFER_ASKED)
		return;
	if (frag->aborted) {
		host_xfer_end(e, x, -ECONNABORTED);
		return;
	}
	if (frag->off != x->done || len > x->bytes - x->done || !len) {
		host_xfer_end(e, x, -EPROTO);
		return;
	}
	r = x->run;
	o = &r->core.sched->op[x->op];
	host_copy_in(core_buffer(&r->core, o->dst_buf), o->dst_off + x->done, data, len);
	x->done += len;
	if (x->done < x->bytes)
		return;
	r->core.rlen[o->slot] = x->bytes;
	host_xfer_end(e, x, 0);
}

/*
 * The run of @x has failed: take @x off it, end its operation, and let the peer know in the
 * end. Transfers in the dispatcher's hands end there.
 */
void host_xfer_detach(struct host_xfer *x)
{
	struct goal_run *r = x->run;
	struct goal_engine *e = r->engine;
	u32 op = x->op;

	switch (x->state) {
	case HOST_XFER_EAGER:
	case HOST_XFER_RTS:
		x->state = HOST_XFER_GONE;
		break;
	case HOST_XFER_FRAGS:
		x->state = HOST_XFER_ABORT;
		break;
	case HOST_XFER_CTS:
		x->state = HOST_XFER_REFUSE;
		break;
	case HOST_XFER_OFFERED: /* answered by ABORT when it is asked for */
		break;
	case HOST_XFER_ASKED: /* what still comes finds nobody */
	case HOST_XFER_SELF:
		host_xfer_put(e, x);
		x = NULL;
		break;
	default:
		return;
	}
	if (x) {
		x->run = NULL;
		list_remove(&x->run_link);
	}
	core_op_done(&r->core, op, -ECANCELED);
}

/* @p has died: end what is under way with it. */
void host_xfers_drop(struct goal_engine *e, const struct host_peer *p)
{
	u32 i;

	for (i = 0; i < e->nxfers; i++) {
		struct host_xfer *x = e->xfers[i];

		if (x->state == HOST_XFER_FREE || x->peer != p)
			continue;
		if (x->state <= HOST_XFER_GONE)
			e->npending--;
		host_xfer_end(e, x, -ECONNRESET);
	}
}
