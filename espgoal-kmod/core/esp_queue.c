// SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause
/*
 * The queues of a flow, one for each endpoint that sends in it, or a common one for those the pool
 * had none for; and what concerns all messages in them: the flow begins anew or ends, an endpoint
 * closes.
 */
#include "esp_int.h"

static struct esp_link *head(struct esp_flow *f, const struct esp_ep *ep)
{
	return &f->allq[(u32)(ep->cookie >> 32) % ESP_QUEUE_HASH]; /* they are random */
}

void esp_queue_init(struct esp_queue *q)
{
	memset(q, 0, sizeof(*q));
	esp_link_init(&q->link);
	esp_link_init(&q->all);
	esp_link_init(&q->msgs);
	esp_link_init(&q->small);
	esp_link_init(&q->bulk);
}

static struct esp_queue *find(struct esp_flow *f, const struct esp_ep *ep)
{
	struct esp_link *h = head(f, ep), *l;

	for (l = h->next; l != h; l = l->next) {
		struct esp_queue *q = esp_entry(l, struct esp_queue, all);

		if (q->ep == ep)
			return q;
	}
	return NULL;
}

static CORE_APART struct esp_queue *make_queue(struct esp_flow *f, struct esp_ep *ep)
{
	struct esp_queue *q = env_pool_get(f->node, ESP_POOL_QUEUE);

	if (!q)
		return &f->common;
	esp_queue_init(q);
	q->ep = ep;
	esp_append(head(f, ep), &q->all);
	return q;
}

struct esp_queue *esp_queue_for(struct esp_flow *f, struct esp_ep *ep)
{
	struct esp_queue *q = find(f, ep);

	return likely(q) ? q : make_queue(f, ep);
}

void esp_queue_drop(struct esp_flow *f, struct esp_queue *q)
{
	if (q == &f->common)
		return;
	esp_unlink(&q->link);
	esp_unlink(&q->all);
	env_pool_put(f->node, ESP_POOL_QUEUE, q);
}

static inline struct esp_msg *msg_at(struct esp_link *l)
{
	struct esp_row *row = esp_entry(l, struct esp_row, link);

	return row->mark ? NULL : esp_entry(row, struct esp_msg, all);
}

static void renew(struct esp_flow *f, struct esp_queue *q, struct esp_todo *t)
{
	struct esp_link *l, *next;

	/* With its last message the queue itself may go. */
	for (l = q->msgs.next; l != &q->msgs; l = next) {
		struct esp_msg *m = msg_at(l);

		next = l->next;
		if (m)
			esp_msg_renew(f, m, t);
	}
}

void esp_queues_renew(struct esp_flow *f, struct esp_todo *t)
{
	struct esp_link *l, *next;
	u32 i;

	for (i = 0; i < ESP_QUEUE_HASH; i++)
		for (l = f->allq[i].next; l != &f->allq[i]; l = next) {
			next = l->next;
			renew(f, esp_entry(l, struct esp_queue, all), t);
		}
	renew(f, &f->common, t);
}

static bool end(struct esp_flow *f, struct esp_queue *q, s32 status, u32 *left, struct esp_todo *t)
{
	struct esp_link *l, *next;

	for (l = q->msgs.next; l != &q->msgs; l = next) {
		struct esp_msg *m = msg_at(l);

		next = l->next;
		if (!m)
			continue;
		if (!*left)
			return true;
		--*left;
		esp_msg_end(f, m, status, t);
	}
	return false;
}

bool esp_queues_end(struct esp_flow *f, s32 status, u32 *left, struct esp_todo *t)
{
	struct esp_link *l, *next;
	u32 i;

	for (i = 0; i < ESP_QUEUE_HASH; i++)
		for (l = f->allq[i].next; l != &f->allq[i]; l = next) {
			struct esp_queue *q = esp_entry(l, struct esp_queue, all);
			bool open = q->ep;

			next = l->next;
			if (end(f, q, status, left, t))
				return true;
			if (open) /* others went with their last message */
				esp_queue_drop(f, q);
		}
	return end(f, &f->common, status, left, t);
}

/* The endpoint of @m has closed. */
static void close_msg(struct esp_flow *f, struct esp_msg *m, bool clean, struct esp_todo *t)
{
	m->ep = NULL;
	m->due = t->now + f->node->p.linger;
	esp_append(&f->leaving, &m->leave);
	f->park_at = esp_min(f->park_at, m->due);
	if (!clean || !m->eager)
		esp_msg_cancel(f, m, t);
}

bool esp_queue_close(struct esp_flow *f, const struct esp_ep *ep, bool clean, u32 *left,
		     struct esp_todo *t)
{
	struct esp_queue *q = find(f, ep);
	struct esp_msg *m;

	if (!q)
		return false;
	while (esp_linked(&q->msgs)) {
		m = msg_at(q->msgs.next);
		if (!m->ep) /* and so have those behind it none */
			break;
		if (!*left)
			return true;
		--*left;
		esp_unlink(&m->all.link);
		esp_append(&q->msgs, &m->all.link);
		close_msg(f, m, clean, t);
	}
	q->ep = NULL;
	if (!q->nmsgs)
		esp_queue_drop(f, q);
	return false;
}

bool esp_common_close(struct esp_flow *f, struct esp_row *at, const struct esp_ep *ep, bool clean,
		      u32 *left, struct esp_todo *t)
{
	struct esp_link *head = &f->common.msgs, *l, *next;

	if (!esp_linked(&at->link))
		return false;
	for (l = at->link.next; l != head && *left; l = next, --*left) {
		struct esp_msg *m = msg_at(l);

		next = l->next;
		if (m && m->ep == ep)
			close_msg(f, m, clean, t);
	}
	esp_unlink(&at->link);
	if (l == head)
		return false;
	esp_link_before(l, &at->link);
	return true;
}
