// SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause
/*
 * What ends on this side while the peer may still send to it: the receptions of a run that was
 * cancelled, and all that an endpoint has in flows when it closes. Part of the pump: takes the
 * locks, one at a time.
 */
#include "esp_int.h"

/* One reception into @r that can end now: its operation, or GOAL_OP_NONE. */
static u32 end_reception(struct esp_flow *f, struct esp_run *r, struct esp_todo *t)
{
	struct esp_link *l, *next;

	for (l = f->rx.next; l != &f->rx; l = next) {
		struct esp_rx *rx = esp_entry(l, struct esp_rx, of_flow);
		u32 op = rx->op;

		next = l->next;
		if (rx->run != r)
			continue;
		if (rx->busy || !rx->pull || !rx->has_mid) {
			esp_rx_end(f, rx, -ECANCELED, t);
			continue;
		}
		rx->run = NULL; /* the caller has it now */
		esp_rx_stop(f, rx, -ECANCELED, t);
		return op;
	}
	return GOAL_OP_NONE;
}

void esp_run_cancelled(struct esp_run *r, u64 now)
{
	struct esp_node *n = r->m->ep->node;
	const struct core_sched *s = r->run->sched;
	const struct esp_table *tab = r->m->table;
	u32 i;

	esp_batch_enter(n);
	for (i = 0; i < s->hdr->nrecv; i++) {
		u32 op = s->match[i];
		struct esp_flow *f;

		if (r->run->state[op] != CORE_OP_BUSY)
			continue;
		f = env_flow_by_peer(n, tab->peer[tab->rank[s->op[op].peer].peer].node);
		if (!f)
			continue;
		do {
			struct esp_todo t;

			esp_todo_init(&t, n, now);
			env_flow_lock(f);
			op = end_reception(f, r, &t);
			esp_batch_push(f);
			env_flow_unlock(f);
			esp_todo_run(f, &t);
			if (op != GOAL_OP_NONE) {
				core_op_done(r->run, op, -ECANCELED);
				env_run_put(r);
			}
		} while (op != GOAL_OP_NONE);
		env_flow_put(f);
	}
	esp_batch_leave(n, now);
}

static void close_in_flow(struct esp_flow *f, struct esp_ep *ep, bool clean, u64 now)
{
	struct esp_link *l, *next;
	struct esp_todo t;

	esp_todo_init(&t, f->node, now);
	env_flow_lock(f);
	esp_queue_close(f, ep, clean, &t);
	for (l = f->rx.next; l != &f->rx; l = next) {
		struct esp_rx *rx = esp_entry(l, struct esp_rx, of_flow);

		next = l->next;
		if (rx->ep == ep && rx->state != ESP_RX_WAITING)
			esp_rx_end(f, rx, -ECANCELED, &t);
	}
	esp_batch_push(f);
	env_flow_unlock(f);
	esp_todo_run(f, &t);
}

void esp_ep_close(struct esp_ep *ep, bool clean, u64 now)
{
	struct esp_node *n = ep->node;
	struct esp_flow *f = NULL;

	esp_batch_enter(n);
	while ((f = env_flow_next(n, f)) != NULL)
		close_in_flow(f, ep, clean, now);
	esp_batch_leave(n, now);
}
