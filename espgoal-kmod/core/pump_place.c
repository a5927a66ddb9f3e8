// SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause
/*
 * Bytes of messages to where they belong, and what ends with the last of them: part of the pump,
 * called by pump_take.c for what frames bring, and by homes for moves that were pending and for
 * messages that a run has received. Never two locks at once.
 */
#include "esp_int.h"

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
		esp_op_done(rx->run, rx->op, rx->status);
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
 * An eager message is complete in unexpected memory: its run gets it, when it comes. If the run is
 * gone in the meantime, nobody wants the message.
 */
void esp_arrived(struct esp_rx *rx, u64 now)
{
	const struct esp_key *k = &rx->key;
	struct esp_node *n = rx->ep->node;
	struct esp_member *m = env_member_find(n, k->cookie, k->nonce);
	struct esp_run *r = m ? env_run_find(m, k->opid, k->start) : NULL;

	if (r) {
		esp_keep_give(r, rx, now);
		env_run_put(r);
	} else {
		esp_keep(rx, now);
	}
	if (m)
		env_member_put(m);
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
		if (!esp_linked(&rx->of_flow.link))
			esp_append(&t->rx, &rx->of_flow.link);
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
		esp_op_done(r, op, status);
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
		esp_arrived(rx, now);
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

/* The frame is dealt with: what it has brought goes its way. */
void esp_take_after(struct esp_flow *f, const struct esp_in *in, struct esp_take *tk, u64 now)
{
	struct esp_rx *rx = tk->rx;
	struct esp_todo t;
	int rc;

	if (tk->wait)
		esp_refusal_end(f, tk->wait, tk->how == ESP_TAKE_NOT_READY, now);
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
	esp_op_done(r, op, status);
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
