// SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause
/*
 * What ends on this side while the peer may still send to it: the receptions of a run that was
 * cancelled, and all that an endpoint has in flows when it closes. Part of the pump: takes the
 * locks, one at a time.
 */
#include "esp_int.h"

/* In one call, so that nobody waits long for it. */
#define CLOSE_MOST  16   /* messages and receptions ended, or looked at and left */
#define CLOSE_FLOWS 64   /* flows looked at */
#define CANCEL_MOST 32   /* receptions ended */
#define CANCEL_LOOK 4096 /* receives looked at */

/* The key of what the receive @op of @r takes. */
static void key_of(const struct esp_run *r, u32 op, struct esp_key *k)
{
	const struct goal_op *o = &r->run->sched->op[op];

	k->nonce = r->m->nonce;
	k->cookie = r->m->ep->cookie;
	k->opid = r->opid;
	k->start = r->start;
	k->src = o->peer;
	k->tag = o->tag;
	k->instance = o->instance;
}

/*
 * The reception for receive @op of @r ends, if it is in @f; true: and the operation at once, by the
 * caller.
 */
static bool end_reception(struct esp_flow *f, struct esp_run *r, u32 op, struct esp_todo *t)
{
	struct esp_rx *rx = NULL;
	struct esp_key k;

	key_of(r, op, &k);
	do {
		rx = esp_rx_of(f, rx, &k);
	} while (rx && rx->run != r);
	if (!rx)
		return false;
	if (rx->busy || !rx->pull || !rx->has_mid) {
		esp_rx_end(f, rx, -ECANCELED, t);
		return false;
	}
	rx->run = NULL; /* the caller has it now */
	esp_rx_stop(f, rx, -ECANCELED, t);
	return true;
}

static void cancel(struct esp_run *r, u32 op, u64 now)
{
	const struct esp_table *tab = r->m->table;
	u32 peer = tab->rank[r->run->sched->op[op].peer].peer;
	struct esp_flow *f = env_flow_by_peer(r->m->ep->node, tab->peer[peer].node);
	struct esp_todo t;
	bool ended;

	if (!f)
		return;
	esp_todo_init(&t, f->node, now);
	env_flow_lock(f);
	ended = end_reception(f, r, op, &t);
	esp_batch_push(f);
	env_flow_unlock(f);
	esp_todo_run(f, &t);
	if (ended) {
		core_op_done(r->run, op, -ECANCELED);
		env_run_put(r);
	}
	env_flow_put(f);
}

bool esp_run_cancelled(struct esp_run *r, u32 *at, u64 now)
{
	const struct core_sched *s = r->run->sched;
	struct esp_node *n = r->m->ep->node;
	u32 looked, ended = 0;

	esp_batch_enter(n);
	for (looked = 0; *at < s->hdr->nrecv && looked < CANCEL_LOOK && ended < CANCEL_MOST;
	     looked++) {
		u32 op = s->match[(*at)++];

		if (r->run->state[op] != CORE_OP_BUSY)
			continue;
		cancel(r, op, now);
		ended++;
	}
	esp_batch_leave(n, now);
	return *at < s->hdr->nrecv;
}

/* Where nothing is, there is nothing to be gone through. */
static void put_mark(struct esp_row *at, struct esp_link *list)
{
	at->mark = true;
	esp_link_init(&at->link);
	if (esp_linked(list))
		esp_link_before(list->next, &at->link);
}

/* A part of what there is in @c->flow; false: it was the last one. */
static bool close_in_flow(struct esp_ep *ep, struct esp_close *c, bool clean, u32 *left, u64 now)
{
	struct esp_flow *f = c->flow;
	struct esp_todo t;
	bool more;

	esp_todo_init(&t, f->node, now);
	env_flow_lock(f);
	if (!c->begun) {
		put_mark(&c->msg, &f->common.msgs);
		put_mark(&c->rx, &f->rx);
		c->begun = true;
	}
	more = esp_queue_close(f, ep, clean, left, &t) ||
	       esp_common_close(f, &c->msg, ep, clean, left, &t) ||
	       esp_rx_close(f, &c->rx, ep, left, &t);
	c->begun = more;
	esp_batch_push(f);
	env_flow_unlock(f);
	esp_todo_run(f, &t);
	return more;
}

bool esp_ep_close(struct esp_ep *ep, struct esp_close *c, bool clean, u64 now)
{
	struct esp_node *n = ep->node;
	u32 left = CLOSE_MOST, flows;

	esp_batch_enter(n);
	for (flows = 0; flows < CLOSE_FLOWS && left; flows++) {
		if (!c->begun)
			c->flow = env_flow_next(n, c->flow);
		if (!c->flow)
			break;
		if (close_in_flow(ep, c, clean, &left, now))
			break;
	}
	esp_batch_leave(n, now);
	return c->flow;
}
