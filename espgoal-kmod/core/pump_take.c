// SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause
/*
 * Frames of a flow, from their arrival to runs: the part of the pump that leads from a flow to
 * runs and back. Flow (what is new?), unlock, run (does it want this?), unlock, flow
 * (acknowledge, refuse), unlock, then the bytes move (pump_place.c). Never two locks at once.
 */
#include "esp_int.h"

/* The receive of @r that was claimed takes @total bytes, or the run fails. */
static bool claimed(struct esp_run *r, u32 op, u64 total)
{
	const struct goal_op *o = &r->run->sched->op[op];

	if (total > o->len) {
		env_count(r->m->ep->node, ESP_C_skip_too_long, 1);
		esp_op_done(r, op, -EMSGSIZE);
		return false;
	}
	r->run->rlen[o->slot] = total;
	return true;
}

/* What core_message_claim() said when it had no receive for it. */
static u8 unclaimed(struct esp_node *n, struct esp_take *tk, struct esp_run *r,
		    const struct esp_key *k, s64 rc)
{
	if (rc == -EEXIST)
		return ESP_TAKE_ADOPT;
	tk->failed = true;
	if (rc == -ENOENT) {
		env_count(n, ESP_C_skip_unmatched, 1);
		env_run_cancel(r, -EPROTO, k->src);
	} else {
		env_count(n, ESP_C_skip_late, 1);
	}
	return ESP_TAKE_ACCEPTED;
}

/* All of it to unexpected memory; its run gets it from there. */
static u8 store(struct esp_flow *f, const struct esp_in *in, struct esp_take *tk,
		const struct esp_key *k, struct esp_ep *ep, u64 now)
{
	struct esp_rx *rx = esp_rx_new(f, ESP_POOL_RX, k, ep, tk->plen, false);

	if (!rx)
		return ESP_TAKE_NOT_READY;
	if (env_room_get(ep, rx, tk->plen)) {
		esp_rx_release(rx, now);
		return ESP_TAKE_NOT_READY;
	}
	rx->room = true;
	rx->here = tk->plen;
	rx->state = ESP_RX_ARRIVING;
	rx->busy = 1;
	env_count(f->node, ESP_C_rx_unexpected, 1);
	if (env_place(rx, NULL, 0, 0, in->frame, tk->foff, tk->plen) == CORE_DONE) {
		rx->busy = 0;
		rx->state = ESP_RX_WAITING;
		esp_arrived(rx, now);
	}
	return ESP_TAKE_ACCEPTED;
}

/* The usual case: one frame brings all of it. */
static u8 offer_whole(struct esp_flow *f, const struct esp_in *in, struct esp_take *tk,
		      const struct esp_key *k, struct esp_run *r, u64 now)
{
	struct esp_node *n = f->node;
	s64 op;

	if (tk->plen)
		op = core_message_claim(r->run, k->src, k->tag, k->instance);
	else
		op = core_message_empty(r->run, k->src, k->tag, k->instance);
	if (op >= 0) {
		if (tk->plen && !claimed(r, (u32)op, tk->plen))
			return ESP_TAKE_ACCEPTED;
		env_count(n, ESP_C_rx_direct, 1);
		if (tk->plen &&
		    env_place(NULL, r, (u32)op, 0, in->frame, tk->foff, tk->plen) == CORE_DONE)
			core_op_done(r->run, (u32)op, 0);
		return ESP_TAKE_ACCEPTED;
	}
	if (op != -EAGAIN)
		return unclaimed(n, tk, r, k, op);
	return store(f, in, tk, k, r->m->ep, now);
}

/* More frames will follow: a reception. */
static u8 offer_part(struct esp_flow *f, struct esp_take *tk, const struct esp_key *k,
		     struct esp_run *r, u64 now)
{
	struct esp_node *n = f->node;
	bool pull = tk->c->kind == ESP_K_RTS;
	u64 total = esp_take_total(tk);
	struct esp_rx *rx = esp_rx_new(f, ESP_POOL_RX_POSTED, k, r->m->ep, total, pull);
	s64 op;

	if (!rx)
		rx = esp_rx_new(f, ESP_POOL_RX, k, r->m->ep, total, pull);
	if (!rx)
		return ESP_TAKE_BUSY; /* its receive may be posted or bound: READY would not come */
	op = core_message_claim(r->run, k->src, k->tag, k->instance);
	if (op >= 0) {
		if (!claimed(r, (u32)op, total)) {
			tk->failed = true;
			esp_rx_release(rx, now);
			return ESP_TAKE_ACCEPTED;
		}
		rx->state = ESP_RX_BOUND;
		rx->op = (u32)op;
		rx->run = r;
		env_run_get(r);
		env_count(n, ESP_C_rx_bound, 1);
		tk->rx = rx;
		return ESP_TAKE_ENTER;
	}
	if (rx->pool == ESP_POOL_RX_POSTED) {
		esp_rx_release(rx, now);
		rx = op == -EAGAIN ? esp_rx_new(f, ESP_POOL_RX, k, r->m->ep, total, pull) : NULL;
	} else if (op != -EAGAIN) {
		esp_rx_release(rx, now);
	}
	if (op != -EAGAIN)
		return unclaimed(n, tk, r, k, op);
	if (!rx)
		return ESP_TAKE_NOT_READY;
	if (pull) {
		rx->state = ESP_RX_WAITING;
		tk->run = r;
		env_run_get(r);
		env_count(n, ESP_C_rx_waiting, 1);
	} else {
		if (env_room_get(rx->ep, rx, total)) {
			esp_rx_release(rx, now);
			return ESP_TAKE_NOT_READY;
		}
		rx->room = true;
		rx->state = ESP_RX_ARRIVING;
		env_count(n, ESP_C_rx_arriving, 1);
	}
	tk->rx = rx;
	return ESP_TAKE_ENTER;
}

/* Nobody has the cookie and the nonce: not yet, or not any more. */
static u8 no_member(struct esp_flow *f, struct esp_take *tk, const struct esp_key *k, u64 now)
{
	switch (env_ep_state(f->node, k->cookie)) {
	case ESP_EP_LEFT:
		env_count(f->node, ESP_C_skip_late, 1);
		return ESP_TAKE_ACCEPTED;
	case ESP_EP_GONE:
		tk->gone = true; /* the sender's group ends, and so does the message */
		esp_say_gone(f, k->cookie, now);
		return ESP_TAKE_NOT_READY;
	default:
		return ESP_TAKE_NOT_READY;
	}
}

/* One try to find the message's receive. @why: the counter, if it is refused. */
static u8 offer(struct esp_flow *f, const struct esp_in *in, struct esp_take *tk,
		const struct esp_key *k, u32 *why, u64 now)
{
	struct esp_node *n = f->node;
	struct esp_member *m = env_member_find(n, k->cookie, k->nonce);
	struct esp_run *r;
	bool whole;
	u32 rank;
	u8 how;

	if (!m) {
		*why = ESP_C_refused_group;
		return no_member(f, tk, k, now);
	}
	whole = tk->c->kind == ESP_K_MSG && tk->plen == esp_take_total(tk);
	r = env_run_find(m, k->opid, k->start);
	if (!r) {
		how = ESP_TAKE_NOT_READY;
		*why = ESP_C_refused_run;
		tk->failed = esp_run_doomed(m, k->opid, k->start, &rank) != 0;
		if (tk->failed || env_run_past(m, k->opid, k->start)) {
			env_count(n, ESP_C_skip_late, 1);
			how = ESP_TAKE_ACCEPTED;
		} else if (whole && esp_keep_wanted(m, k)) {
			how = store(f, in, tk, k, m->ep, now);
		}
		env_member_put(m);
		return how;
	}
	*why = ESP_C_refused_room;
	if (whole)
		how = offer_whole(f, in, tk, k, r, now);
	else
		how = offer_part(f, tk, k, r, now);
	env_run_put(r);
	env_member_put(m);
	return how;
}

/*
 * @renewed: of the incarnation it came in. After each look that finds no place for the message
 * what would give it one is noted, and then there is one more look. A run may come between two of
 * them.
 */
static void match(struct esp_flow *f, const struct esp_in *in, struct esp_take *tk, u32 renewed,
		  u64 now)
{
	u32 why = ESP_C_refused_room, i;
	struct esp_key k;
	u8 kind, noted = 0;

	esp_key_get(&k, esp_take_key(tk));
	for (i = 0; i < 4; i++) {
		tk->how = offer(f, in, tk, &k, &why, now);
		if (tk->how != ESP_TAKE_NOT_READY || tk->gone)
			return;
		kind = why == ESP_C_refused_room ? ESP_CTL_WAIT : ESP_CTL_AHEAD;
		if (kind == noted)
			break;
		if (tk->wait)
			esp_refusal_end(f, tk->wait, false, now);
		tk->wait = esp_refusal_begin(f, &k, kind, renewed);
		if (!tk->wait)
			break;
		noted = kind;
	}
	env_count(f->node, why, 1);
	if (i == 4) { /* it came and went each time */
		esp_refusal_end(f, tk->wait, false, now);
		tk->wait = NULL;
	}
	tk->ahead = noted == ESP_CTL_AHEAD;
	if (!tk->wait)
		tk->how = ESP_TAKE_BUSY;
}

/* A message will not come (any more). Under the flow's lock. */
static void cancelled(struct esp_flow *f, u32 mid, struct esp_todo *t)
{
	struct esp_rx *rx = esp_rx_find(f, mid);

	if (!esp_mid_seen(f, mid)) {
		esp_mid_end(f, mid, true);
		return;
	}
	if (!rx) {
		env_count(f->node, ESP_C_skip_over_unknown, 1);
	} else if (rx->state == ESP_RX_WAITING) {
		rx->status = -ECANCELED; /* for the receive that gets it */
		esp_rx_leave(f, rx);
	} else {
		esp_rx_end(f, rx, -ECANCELED, t);
	}
}

static void refusals(struct esp_flow *f, const struct esp_chunk *c, struct esp_todo *t)
{
	const struct esp_refused *r = (const struct esp_refused *)c;
	u32 i, n = (le16_to_cpu(c->len) - sizeof(*c)) / 4;

	for (i = 0; i < n; i++)
		esp_msg_refused(f, le32_to_cpu(r->mid[i]), c->kind, t);
}

static void ready(struct esp_flow *f, const struct esp_ready *r)
{
	struct esp_key k;

	memset(&k, 0, sizeof(k));
	k.nonce = le64_to_cpu(r->nonce);
	k.cookie = le64_to_cpu(r->cookie);
	k.opid = le32_to_cpu(r->opid);
	k.start = le32_to_cpu(r->start);
	esp_msg_ready(f, &k, r->c.flags & ESP_READY_UPTO);
}

static void control(struct esp_flow *f, u32 path, const struct esp_chunk *c, struct esp_todo *t)
{
	const struct esp_over *o = (const struct esp_over *)c;
	const struct esp_grant *g = (const struct esp_grant *)c;

	switch (c->kind) {
	case ESP_K_GRANT:
		esp_msg_granted(f, le32_to_cpu(g->mid), le64_to_cpu(g->upto));
		break;
	case ESP_K_READY:
		ready(f, (const struct esp_ready *)c);
		break;
	case ESP_K_MTU:
		f->path[c->flags].mtu_peer = le16_to_cpu(((const struct esp_mtu *)c)->mtu);
		esp_mtu_limit(&f->path[c->flags], t->now);
		break;
	case ESP_K_ADDR:
		esp_path_addr(f, c->flags, &((const struct esp_path_addr *)c)->addr, t);
		break;
	case ESP_K_STOP:
		esp_msg_stopped(f, le32_to_cpu(o->mid), c->flags & ESP_STOP_FAILED, t);
		break;
	case ESP_K_CANCEL:
		cancelled(f, le32_to_cpu(o->mid), t);
		break;
	case ESP_K_PING:
		f->path[path].pong = le64_to_cpu(((const struct esp_ping *)c)->value);
		esp_path_used(f, path);
		f->path[path].say_pong = true;
		break;
	case ESP_K_PONG:
		esp_path_pong(f, &f->path[c->flags],
			      le64_to_cpu(((const struct esp_ping *)c)->value), t);
		break;
	default:
		break;
	}
}

/* What needs no run. A refusal counts before the acknowledgement that comes with it. */
static void controls(struct esp_flow *f, const struct esp_in *in, struct esp_todo *t)
{
	u32 end = in->hdr_len, off;

	if (in->kinds & ESP_REFUSALS)
		for (off = sizeof(struct esp_hdr); off < end; off = esp_chunk_next(in, off)) {
			const struct esp_chunk *c = esp_chunk(in, off);

			if (1u << c->kind & ESP_REFUSALS)
				refusals(f, c, t);
		}
	for (off = sizeof(struct esp_hdr); off < end; off = esp_chunk_next(in, off)) {
		const struct esp_chunk *c = esp_chunk(in, off);

		if (likely(c->kind == ESP_K_ACK))
			esp_ack_in(f, (const struct esp_ack *)c, t);
		else if (c->kind != ESP_K_MSG)
			control(f, esp_hdr(in)->path, c, t);
	}
}

static int accept(struct esp_flow *f, const struct esp_rail *r, const struct esp_in *in)
{
	const struct esp_hdr *h = esp_hdr(in);
	int why;

	if (f->state != ESP_FLOW_UP)
		return ESP_C_drop_state;
	if (le64_to_cpu(h->cid) != f->cid)
		return ESP_C_drop_cid; /* it has begun anew since it was found */
	if (h->path != r->place)
		return ESP_C_drop_path;
	if (h->flags & ESP_F_NUMBERED) {
		why = esp_pn_check(&f->path[h->path], le32_to_cpu(h->pn), le16_to_cpu(h->back));
		if (why)
			return why;
	}
	return esp_take_check(f, in);
}

#define OF_GROUPS (1u << ESP_K_ABORT | 1u << ESP_K_ASK | 1u << ESP_K_GONE)

/* What concerns groups. */
static void of_groups(struct esp_flow *f, const struct esp_chunk *c, u64 now)
{
	switch (c->kind) {
	case ESP_K_ABORT:
		esp_abort_in(f, (const struct esp_abort *)c, now);
		break;
	case ESP_K_ASK:
		esp_ask_in(f, (const struct esp_ask *)c, now);
		break;
	case ESP_K_GONE:
		esp_gone_in(f, le64_to_cpu(((const struct esp_gone *)c)->cookie), now);
		break;
	default:
		break;
	}
}

/* All of a long message is here with it. */
static bool completes(const struct esp_take *tk, u32 n)
{
	u32 i;

	for (i = 0; i < n; i++)
		if (tk[i].how == ESP_TAKE_PLACE && tk[i].rx->pull &&
		    tk[i].rx->here == tk[i].rx->total)
			return true;
	return false;
}

void esp_data_in(struct esp_flow *f, struct esp_rail *r, const struct esp_addr *from,
		 struct esp_in *in, u64 now)
{
	const struct esp_hdr *h = esp_hdr(in);
	bool numbered = h->flags & ESP_F_NUMBERED, pulled = false, gone = false;
	struct esp_take tk[ESP_MSG_MAX] ESP_UNSET;
	struct esp_todo t ESP_UNSET;
	u32 n = 0, i, off, renewed;
	u64 cid;
	int why;

	esp_todo_init(&t, f->node, now);
	env_flow_lock(f);
	why = accept(f, r, in);
	if (why) {
		env_flow_unlock(f);
		env_count(f->node, why, 1);
		return;
	}
	cid = f->cid;
	renewed = f->renewed;
	f->heard = now;
	controls(f, in, &t);
	if (numbered)
		n = esp_take_first(f, in, tk);
	env_flow_unlock(f);

	for (i = 0; i < n; i++)
		if (tk[i].how == ESP_TAKE_NEW)
			match(f, in, &tk[i], renewed, now);

	env_flow_lock(f);
	if (esp_take_last(f, tk, n, cid, &t) && numbered) {
		f->used = now;
		esp_path_heard(f, h->path, le32_to_cpu(h->pn), from, &t);
		esp_pn_note(f, &f->path[h->path], le32_to_cpu(h->pn), le16_to_cpu(h->back),
			    h->flags, now);
		if (completes(tk, n)) /* its sender waits for that, whichever frame was the last */
			esp_ack_now(f, now);
	}
	esp_batch_push(f);
	env_flow_unlock(f);
	for (i = 0; i < n; i++) {
		pulled |= tk[i].how == ESP_TAKE_PLACE && tk[i].c->kind == ESP_K_PULLED;
		if (unlikely(esp_take_left(&tk[i])))
			esp_take_after(f, in, &tk[i], now);
	}
	if (pulled)
		esp_pull_go(f->node, now);
	esp_todo_run(f, &t);
	if (likely(!(in->kinds & OF_GROUPS)))
		return;
	for (off = sizeof(*h); off < in->hdr_len; off = esp_chunk_next(in, off)) {
		const struct esp_chunk *c = esp_chunk(in, off);

		/* It is looked for in the tables of all members: one per frame is enough. */
		if (c->kind == ESP_K_GONE && gone)
			continue;
		gone |= c->kind == ESP_K_GONE;
		of_groups(f, c, now);
	}
}
