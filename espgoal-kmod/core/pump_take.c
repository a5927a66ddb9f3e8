// SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause
/*
 * Frames of a flow, from their arrival to the bytes in place: the part of the pump that leads from
 * a flow to runs and back. Flow (what is new?), unlock, run (does it want this?), unlock,
 * flow (acknowledge, refuse), unlock, then the bytes move. Never two locks at once.
 */
#include "esp_int.h"

/* An operation of @r is finished; when it failed, the run fails, and the home lets go of the rest. */
static void op_done(struct esp_run *r, u32 op, s32 status)
{
	core_op_done(r->run, op, status);
	if (status)
		env_run_cancel(r, status, r->run->sched->op[op].peer);
}

/* A reception nobody refers to any more: end its operation, give back all it holds. */
void esp_rx_release(struct esp_rx *rx, u64 now)
{
	struct esp_node *n = rx->flow->node;
	struct esp_flow *f = rx->flow;
	bool pull = rx->pull;

	if (pull) {
		env_node_lock(n);
		esp_pull_remove(n, rx);
		env_node_unlock(n);
	}
	if (rx->run) {
		env_count(n, ESP_C_rx_done, 1);
		op_done(rx->run, rx->op, rx->status);
		env_run_put(rx->run);
	}
	if (rx->room)
		env_room_put(rx->ep, rx);
	if (rx->ep)
		env_rx_put(rx->ep, rx->pool, rx);
	else
		env_pool_put(n, rx->pool, rx);
	env_flow_put(f);
	if (pull)
		esp_pull_go(n, now);
}

/* Say the grants that can be given now. */
void esp_pull_go(struct esp_node *n, u64 now)
{
	struct esp_granted g[8];
	u32 k, i;

	do {
		env_node_lock(n);
		k = esp_pull_next(n, g, 8, now);
		env_node_unlock(n);
		for (i = 0; i < k; i++) {
			struct esp_flow *f = g[i].f;
			struct esp_rx *rx;

			env_flow_lock(f);
			rx = esp_rx_find(f, g[i].mid);
			if (rx && rx->serial == g[i].serial && rx->state == ESP_RX_BOUND &&
			    g[i].upto > rx->granted) {
				rx->granted = g[i].upto;
				if (!esp_linked(&rx->say))
					esp_append(&f->say, &rx->say);
				f->pull_at = esp_min(f->pull_at, now + rx->p_patience);
				esp_batch_push(f);
			}
			env_flow_unlock(f);
			env_flow_put(f);
		}
	} while (k == 8);
}

static void pull_start(struct esp_rx *rx, u64 now)
{
	struct esp_node *n = rx->ep->node;
	u32 mid, serial;

	env_flow_lock(rx->flow);
	mid = rx->mid;
	serial = rx->serial;
	env_flow_unlock(rx->flow);
	env_node_lock(n);
	esp_pull_add(n, rx, mid, serial, now);
	env_node_unlock(n);
	esp_pull_go(n, now);
}

/*
 * An eager message is complete in unexpected memory: its run gets it. The run may be gone in the
 * meantime, and then nobody wants it.
 */
static void arrived(struct esp_rx *rx, u64 now)
{
	const struct esp_key *k = &rx->key;
	struct esp_node *n = rx->ep->node;
	struct esp_member *m = env_member_find(n, k->cookie, k->nonce);
	struct esp_run *r = m ? env_run_find(m, k->opid, k->start) : NULL;
	int rc = r ? core_message(r->run, k->src, k->tag, k->instance, rx) : -ECANCELED;

	if (r)
		env_run_put(r);
	if (m)
		env_member_put(m);
	if (!rc)
		return;
	env_count(n, ESP_C_rx_dropped, 1);
	esp_rx_release(rx, now);
}

enum settled {
	SETTLED_NOT = 0,
	SETTLED_ARRIVED,
	SETTLED_OVER
};

/* A fragment is in place, under the flow's lock: was it the last one? */
static enum settled settle(struct esp_flow *f, struct esp_rx *rx, s32 status, struct esp_todo *t)
{
	rx->busy--;
	if (status && rx->state != ESP_RX_OVER)
		esp_rx_end(f, rx, status, t);
	if (rx->busy)
		return SETTLED_NOT;
	if (rx->state == ESP_RX_OVER) {
		if (!esp_linked(&rx->of_flow))
			esp_append(&t->rx, &rx->of_flow);
		return SETTLED_OVER;
	}
	if (rx->here < rx->total || (rx->state != ESP_RX_BOUND && rx->state != ESP_RX_ARRIVING))
		return SETTLED_NOT;
	if (rx->state == ESP_RX_BOUND) {
		esp_rx_end(f, rx, 0, t);
		return SETTLED_OVER;
	}
	esp_rx_leave(f, rx);
	rx->state = ESP_RX_WAITING;
	env_count(f->node, ESP_C_rx_arrived, 1);
	return SETTLED_ARRIVED;
}

void esp_placed(struct esp_rx *rx, struct esp_run *r, u32 op, u32 len, s32 status, u64 now)
{
	struct esp_flow *f;
	struct esp_todo t;
	enum settled how;

	(void)len;
	if (!rx) {
		op_done(r, op, status);
		return;
	}
	f = rx->flow;
	env_flow_get(f);
	esp_batch_enter(f->node);
	esp_todo_init(&t, f->node, now);
	env_flow_lock(f);
	how = settle(f, rx, status, &t);
	esp_batch_push(f);
	env_flow_unlock(f);
	if (how == SETTLED_ARRIVED)
		arrived(rx, now);
	esp_todo_run(f, &t);
	esp_batch_leave(f->node, now);
	env_flow_put(f);
}

/* Bytes of the frame to where they belong. */
static void place(struct esp_flow *f, const struct esp_in *in, struct esp_take *tk, u64 now)
{
	struct esp_rx *rx = tk->rx;
	struct esp_run *r = rx->run;
	u32 fresh = tk->fresh;

	if (rx->pull) {
		env_node_lock(f->node);
		esp_pull_arrived(f->node, rx, fresh, now);
		env_node_unlock(f->node);
	}
	if (env_place(rx, r, rx->op, esp_take_off(tk), in->frame, tk->foff, tk->plen) == CORE_DONE)
		esp_placed(rx, r, rx->op, tk->plen, 0, now);
}

/* The receive of @r that was claimed takes @total bytes, or the run fails. */
static bool claimed(struct esp_run *r, u32 op, u64 total)
{
	const struct goal_op *o = &r->run->sched->op[op];

	if (total > o->len) {
		env_count(r->m->ep->node, ESP_C_skip_too_long, 1);
		op_done(r, op, -EMSGSIZE);
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

/* The usual case: one frame brings all of it. */
static u8 offer_whole(struct esp_flow *f, const struct esp_in *in, struct esp_take *tk,
		      const struct esp_key *k, struct esp_run *r, u64 now)
{
	struct esp_node *n = f->node;
	struct esp_rx *rx;
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
	rx = esp_rx_new(f, ESP_POOL_RX, k, r->m->ep, tk->plen, false);
	if (!rx)
		return ESP_TAKE_NOT_READY;
	if (env_room_get(rx->ep, rx, tk->plen)) {
		esp_rx_release(rx, now);
		return ESP_TAKE_NOT_READY;
	}
	rx->room = true;
	rx->here = tk->plen;
	rx->state = ESP_RX_ARRIVING;
	rx->busy = 1;
	env_count(n, ESP_C_rx_unexpected, 1);
	if (env_place(rx, NULL, 0, 0, in->frame, tk->foff, tk->plen) == CORE_DONE) {
		rx->busy = 0;
		rx->state = ESP_RX_WAITING;
		arrived(rx, now);
	}
	return ESP_TAKE_ACCEPTED;
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
	u32 rank;
	u8 how;

	if (!m) {
		*why = ESP_C_refused_group;
		return no_member(f, tk, k, now);
	}
	r = env_run_find(m, k->opid, k->start);
	if (!r) {
		how = ESP_TAKE_NOT_READY;
		*why = ESP_C_refused_run;
		tk->failed = esp_run_doomed(m, k->opid, k->start, &rank) != 0;
		if (tk->failed || env_run_past(m, k->opid, k->start)) {
			env_count(n, ESP_C_skip_late, 1);
			how = ESP_TAKE_ACCEPTED;
		}
		env_member_put(m);
		return how;
	}
	*why = ESP_C_refused_room;
	if (tk->c->kind == ESP_K_MSG && tk->plen == esp_take_total(tk))
		how = offer_whole(f, in, tk, k, r, now);
	else
		how = offer_part(f, tk, k, r, now);
	env_run_put(r);
	env_member_put(m);
	return how;
}

/* @c, which nothing leads to any more, is said: for its run, or for all of its group. */
static void say_ready(struct esp_flow *f, struct esp_ctl *c, u64 now)
{
	c->group = c->kind == ESP_CTL_AHEAD;
	c->kind = ESP_CTL_READY;
	esp_say(f, c, now);
}

/* The record that stands for @k: of its run, which is here, or of all those of its group that are not. */
static void wait_key(struct esp_key *w, const struct esp_key *k, u8 kind)
{
	memset(w, 0, sizeof(*w));
	w->nonce = k->nonce;
	w->cookie = k->cookie;
	if (kind == ESP_CTL_WAIT) {
		w->opid = k->opid;
		w->start = k->start;
	}
}

/*
 * A refusal is about to be noted: find or make the record that becomes READY. What it waits for may
 * come at any moment from here on, so the caller looks once more, and says when it is done (wait_end()).
 */
static struct esp_ctl *wait_begin(struct esp_flow *f, const struct esp_key *k, u8 kind, u32 renewed)
{
	struct esp_node *n = f->node;
	struct esp_ctl *spare = env_pool_get(n, ESP_POOL_CTL), *c;
	u64 number = esp_run_number(k);
	struct esp_member *m;
	struct esp_run *r;
	struct esp_key w;

	wait_key(&w, k, kind);
	if (spare)
		esp_ctl_init(spare);
	env_node_lock(n);
	c = esp_wait_find(n, f, &w, kind);
	if (!c && spare && f->nwaits < n->p.refuse_max) {
		c = spare;
		spare = NULL;
		c->renewed = renewed;
		c->from = number;
		c->upto = number;
		esp_wait_insert(n, f, c, &w, kind);
	}
	if (c) {
		c->adding++;
		c->from = esp_min(c->from, number);
		c->upto = esp_max(c->upto, number);
		if (esp_before(c->renewed, renewed))
			c->renewed = renewed;
	}
	env_node_unlock(n);
	if (spare)
		env_pool_put(n, ESP_POOL_CTL, spare);
	if (!c || kind != ESP_CTL_WAIT)
		return c;
	m = env_member_find(n, k->cookie, k->nonce);
	r = m ? env_run_find(m, k->opid, k->start) : NULL;
	if (r) {
		r->refused = true;
		env_run_put(r);
	}
	if (m)
		env_member_put(m);
	return c;
}

/* @noted: the refusal is among those that every acknowledgement repeats. */
static void wait_end(struct esp_flow *f, struct esp_ctl *c, bool noted, u64 now)
{
	struct esp_node *n = f->node;
	bool ready = false, gone = false;

	env_node_lock(n);
	c->held += noted;
	if (--c->adding == 0) {
		gone = c->gone || !c->held;
		ready = !gone && c->fired;
		if (!c->gone && (gone || ready))
			esp_wait_remove(c);
	}
	env_node_unlock(n);
	if (ready)
		say_ready(f, c, now);
	else if (gone)
		env_pool_put(n, ESP_POOL_CTL, c);
}

/*
 * @renewed: of the incarnation it came in. After each look that finds no place for the message what would
 * give it one is noted, and then there is one more look. A run may come between two of them.
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
			wait_end(f, tk->wait, false, now);
		tk->wait = wait_begin(f, &k, kind, renewed);
		if (!tk->wait)
			break;
		noted = kind;
	}
	env_count(f->node, why, 1);
	if (i == 4) { /* it came and went each time */
		wait_end(f, tk->wait, false, now);
		tk->wait = NULL;
	}
	if (!tk->wait)
		tk->how = ESP_TAKE_BUSY;
}

/* The frame is dealt with: what it has brought goes its way. */
static void after(struct esp_flow *f, const struct esp_in *in, struct esp_take *tk, u64 now)
{
	struct esp_rx *rx = tk->rx;
	struct esp_todo t;
	int rc;

	if (tk->wait)
		wait_end(f, tk->wait, tk->how == ESP_TAKE_NOT_READY, now);
	if (tk->how == ESP_TAKE_PLACE) {
		place(f, in, tk, now);
	} else if (tk->how == ESP_TAKE_ENTERED) {
		rc = tk->run ? core_message(tk->run->run, rx->key.src, rx->key.tag,
					    rx->key.instance, rx)
			     : 0;
		if (!tk->run && rx->state == ESP_RX_BOUND)
			pull_start(rx, now);
		esp_todo_init(&t, f->node, now);
		env_flow_lock(f);
		settle(f, rx, 0, &t);
		if (rc && rx->state != ESP_RX_OVER) {
			env_count(f->node, ESP_C_rx_dropped, 1);
			esp_rx_stop(f, rx, rc, &t);
		}
		esp_batch_push(f);
		env_flow_unlock(f);
		esp_todo_run(f, &t);
	}
	if (tk->run)
		env_run_put(tk->run);
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
		esp_msg_refused(f, le32_to_cpu(r->mid[i]), c->kind == ESP_K_BUSY, t);
}

static void ready(struct esp_flow *f, const struct esp_ready *r)
{
	struct esp_key k;

	memset(&k, 0, sizeof(k));
	k.nonce = le64_to_cpu(r->nonce);
	k.cookie = le64_to_cpu(r->cookie);
	k.opid = le32_to_cpu(r->opid);
	k.start = le32_to_cpu(r->start);
	esp_msg_ready(f, &k, r->c.flags & ESP_READY_ALL);
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

	if (in->kinds & (1u << ESP_K_NOT_READY | 1u << ESP_K_BUSY))
		for (off = sizeof(struct esp_hdr); off < end; off = esp_chunk_next(in, off)) {
			const struct esp_chunk *c = esp_chunk(in, off);

			if (c->kind == ESP_K_NOT_READY || c->kind == ESP_K_BUSY)
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
	}
	esp_batch_push(f);
	env_flow_unlock(f);
	for (i = 0; i < n; i++) {
		pulled |= tk[i].how == ESP_TAKE_PLACE && tk[i].c->kind == ESP_K_PULLED;
		after(f, in, &tk[i], now);
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

int esp_deliver(struct esp_run *r, u32 op, struct esp_rx *rx, u64 now)
{
	const struct goal_op *o = &r->run->sched->op[op];
	struct esp_flow *f = rx->flow;
	s32 status = rx->total > o->len ? -EMSGSIZE : 0;

	env_count(f->node, ESP_C_rx_delivered, 1);
	if (!status && !rx->pull) {
		r->run->rlen[o->slot] = rx->total;
		if (env_unpack(rx, r, op) == CORE_PENDING)
			return CORE_PENDING;
		esp_rx_release(rx, now);
		return CORE_DONE;
	}
	if (!status) {
		env_flow_lock(f);
		if (rx->status)
			status = rx->status;
		else if (f->state == ESP_FLOW_DEAD)
			status = -EHOSTUNREACH;
		if (!status) {
			r->run->rlen[o->slot] = rx->total;
			rx->run = r;
			env_run_get(r);
			rx->op = op;
			rx->state = rx->has_mid ? ESP_RX_BOUND : ESP_RX_ORPHAN;
			rx->busy++;
			esp_pull_size(f, rx);
		}
		env_flow_unlock(f);
	}
	if (status) {
		esp_drop(rx, now);
		env_run_cancel(r, status, o->peer);
		return status;
	}
	if (rx->state == ESP_RX_BOUND)
		pull_start(rx, now);
	esp_placed(rx, r, op, 0, 0, now);
	return CORE_PENDING;
}

void esp_unpacked(struct esp_rx *rx, struct esp_run *r, u32 op, s32 status, u64 now)
{
	op_done(r, op, status);
	esp_rx_release(rx, now);
}

void esp_drop(struct esp_rx *rx, u64 now)
{
	struct esp_flow *f = rx->flow;
	struct esp_todo t;

	env_count(f->node, ESP_C_rx_dropped, 1);
	env_flow_get(f);
	esp_batch_enter(f->node);
	esp_todo_init(&t, f->node, now);
	env_flow_lock(f);
	esp_rx_stop(f, rx, -ECANCELED, &t);
	esp_batch_push(f);
	env_flow_unlock(f);
	esp_todo_run(f, &t);
	esp_batch_leave(f->node, now);
	env_flow_put(f);
}

/* What was refused by run @k and comes in by @f goes: READY to its sender. */
static void release_waits(struct esp_flow *f, const struct esp_key *k, u64 now)
{
	struct esp_node *n = f->node;
	struct esp_ctl *c;

	env_node_lock(n);
	c = esp_wait_find(n, f, k, ESP_CTL_WAIT);
	if (c && c->adding) {
		c->fired = true;
		c = NULL;
	}
	if (c)
		esp_wait_remove(c);
	env_node_unlock(n);
	if (c)
		say_ready(f, c, now);
}

/* READY for the run @k alone, for which @c stands among others; @c if there is no memory. */
static void ready_one(struct esp_ctl *c, const struct esp_key *k, u64 now)
{
	struct esp_ctl *one = env_pool_get(c->flow->node, ESP_POOL_CTL);
	struct esp_flow *f = c->flow;

	if (one) {
		esp_ctl_init(one);
		one->kind = ESP_CTL_READY;
		one->flow = f;
		one->key = *k;
		esp_say(f, one, now);
	} else {
		env_node_lock(f->node);
		c->fired = true;
		env_node_unlock(f->node);
	}
	wait_end(f, c, false, now);
}

/*
 * Run @k is here: READY to all who were refused ahead of it. When it is the last run a record stands for,
 * that ends, with a READY for all of the group: runs may have started out of order, and what is still
 * ahead of its run is refused again. The work is proportional to the flows that READY goes to.
 */
static void release_ahead(struct esp_node *n, const struct esp_key *k, u64 now)
{
	u64 number = esp_run_number(k);
	struct esp_link some, last;
	struct esp_ctl *c, *next;
	struct esp_key w;

	esp_link_init(&some);
	esp_link_init(&last);
	wait_key(&w, k, ESP_CTL_AHEAD);
	env_node_lock(n);
	for (c = esp_wait_next(n, NULL, &w, ESP_CTL_AHEAD); c; c = next) {
		next = esp_wait_next(n, c, &w, ESP_CTL_AHEAD);
		if (number < c->from || number > c->upto)
			continue;
		if (c->adding) {
			c->fired = true;
			continue;
		}
		env_flow_get(c->flow);
		if (number == c->upto) {
			esp_wait_remove(c);
			esp_append(&last, &c->link);
		} else {
			c->adding++;
			esp_append(&some, &c->link);
		}
	}
	env_node_unlock(n);
	esp_batch_enter(n);
	while (esp_linked(&some) || esp_linked(&last)) {
		struct esp_link *l = esp_linked(&last) ? last.next : some.next;
		bool all = esp_linked(&last);
		struct esp_flow *f;

		c = esp_entry(l, struct esp_ctl, link);
		f = c->flow;
		esp_unlink(l);
		if (all)
			say_ready(f, c, now);
		else
			ready_one(c, k, now);
		env_flow_put(f);
	}
	esp_batch_leave(n, now);
}

static void run_key(const struct esp_run *r, struct esp_key *k)
{
	memset(k, 0, sizeof(*k));
	k->nonce = r->m->nonce;
	k->cookie = r->m->ep->cookie;
	k->opid = r->opid;
	k->start = r->start;
}

void esp_run_started(struct esp_run *r, u64 now)
{
	struct esp_node *n = r->m->ep->node;
	struct esp_key k, w;

	r->started = now;
	r->watched = r->m->watched - 1;
	/* The run can be found: who notes a refusal from now on looks for it after that. */
	if (likely(!ESP_PEEK(n->nwaits)))
		return;
	run_key(r, &k);
	wait_key(&w, &k, ESP_CTL_AHEAD);
	if (esp_wait_any(n, &w))
		release_ahead(n, &k, now);
}

void esp_run_posted(struct esp_run *r, u32 op, u64 now)
{
	struct esp_node *n = r->m->ep->node;
	const struct esp_table *tab = r->m->table;
	struct esp_flow *f;
	struct esp_key k;

	if (!r->refused)
		return;
	f = env_flow_by_peer(n, tab->peer[tab->rank[r->run->sched->op[op].peer].peer].node);
	if (!f)
		return;
	run_key(r, &k);
	release_waits(f, &k, now);
	env_flow_put(f);
}
