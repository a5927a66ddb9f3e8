// SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause
/*
 * The life of a message on its way out: queued, in flight, refused and waiting, accepted or given
 * up. An id names one attempt to deliver it: after a refusal it goes out under a new one, so the
 * receiver may forget an id as soon as it has settled it.
 */
#include "esp_int.h"

#define TIMER_MOST  64            /* messages whose time has come, at a time; the others ... */
#define TIMER_PAUSE (20 * ESP_US) /* ... have to wait so long for theirs */

static inline struct esp_msg **head(struct esp_flow *f, u32 mid)
{
	return &f->tx_hash[mid % ESP_TX_HASH];
}

struct esp_msg *esp_msg_find(struct esp_flow *f, u32 mid)
{
	struct esp_msg *m = *head(f, mid);

	while (m && m->mid != mid)
		m = m->hash;
	return m;
}

static void forget_id(struct esp_flow *f, struct esp_msg *m)
{
	struct esp_msg **at;

	if (!m->has_mid)
		return;
	for (at = head(f, m->mid); *at != m; at = &(*at)->hash)
		;
	*at = m->hash;
	m->has_mid = false;
	esp_unlink(&m->open);
}

/* Give it an id, if the peer's window has one left. */
bool esp_msg_has_id(struct esp_flow *f, struct esp_msg *m)
{
	if (m->has_mid)
		return true;
	if (esp_linked(&f->open)) {
		struct esp_msg *oldest = esp_entry(f->open.next, struct esp_msg, open);

		if (f->mid - oldest->mid >= ESP_MID_SPAN)
			return false;
	}
	m->mid = f->mid++;
	m->has_mid = true;
	m->hash = *head(f, m->mid);
	*head(f, m->mid) = m;
	esp_append(&f->open, &m->open);
	return true;
}

/* It has something to say: into its queue, in front if that was said before. */
void esp_msg_queue(struct esp_flow *f, struct esp_msg *m)
{
	struct esp_queue *q = m->queue;
	bool small = m->eager || m->head || m->cancelled;
	struct esp_link *list = small ? &q->small : &q->bulk;

	if (m->state == ESP_MSG_QUEUED && esp_linked(&m->link))
		esp_unlink(&m->link); /* perhaps to the other list */
	if (m->state != ESP_MSG_QUEUED)
		env_count(f->node, ESP_C_msg_queued, 1);
	m->state = ESP_MSG_QUEUED;
	if (m->has_mid && small)
		esp_link_before(list->next, &m->link);
	else
		esp_append(list, &m->link);
	if (!esp_linked(&q->link))
		esp_append(&f->queues, &q->link);
}

/* It has nothing more to say for now. */
void esp_msg_unqueue(struct esp_flow *f, struct esp_msg *m)
{
	struct esp_queue *q = m->queue;

	esp_unlink(&m->link);
	if (!esp_linked(&q->small) && !esp_linked(&q->bulk)) {
		esp_unlink(&q->link);
		q->deficit = 0;
	}
	if (m->state == ESP_MSG_QUEUED) {
		m->state = ESP_MSG_FLIGHT;
		env_count(f->node, ESP_C_msg_flight, 1);
	}
}

void esp_msg_add(struct esp_flow *f, struct esp_msg *m, u64 now)
{
	m->flow = f;
	m->queue = esp_queue_for(f, m->ep);
	m->queue->nmsgs++;
	m->all.mark = false;
	esp_link_init(&m->link);
	esp_link_init(&m->open);
	esp_link_init(&m->leave);
	esp_link_init(&m->items);
	esp_link_init(&m->lost);
	m->again.from = 0;
	m->again.to = 0;
	m->next = 0;
	m->granted = 0;
	m->acked = 0;
	m->due = ESP_NEVER;
	m->status = 0;
	m->state = ESP_MSG_IDLE;
	m->tries = 0;
	m->has_mid = false;
	m->eager = m->len <= f->node->p.eager_max;
	m->head = !m->eager || m->len == 0;
	m->cancelled = false;
	m->held = false;
	m->scout = false;
	f->nmsgs++;
	esp_append(&m->queue->msgs, &m->all.link);
	if (unlikely(m->eager && esp_hold_wanted(f, m)))
		esp_hold(f, m, now);
	else
		esp_msg_queue(f, m);
}

/* Nothing in flight or lost concerns it any more. */
void esp_msg_detach(struct esp_flow *f, struct esp_msg *m)
{
	while (esp_linked(&m->items)) {
		struct esp_item *i = esp_entry(m->items.next, struct esp_item, of);

		if (i->kind == ESP_ITEM_BYTES)
			m->queue->inflight -= (u32)(i->to - i->from);
		esp_item_drop(f, i);
	}
	while (esp_linked(&m->lost))
		esp_item_drop(f, esp_entry(m->lost.next, struct esp_item, of));
	m->again.from = 0;
	m->again.to = 0;
}

/* Bytes are to be sent again. Ascending, so that what the receiver misses first goes first. */
void esp_msg_lost(struct esp_flow *f, struct esp_item *i)
{
	struct esp_msg *m = i->msg;
	struct esp_link *l = m->lost.prev;

	while (l != &m->lost && esp_entry(l, struct esp_item, of)->from > i->from)
		l = l->prev;
	esp_unlink(&i->of);
	i->again = true;
	esp_link_before(l->next, &i->of);
	esp_msg_queue(f, m);
}

void esp_msg_end(struct esp_flow *f, struct esp_msg *m, s32 status, struct esp_todo *t)
{
	struct esp_queue *q = m->queue;

	esp_msg_detach(f, m);
	forget_id(f, m);
	if (m->state == ESP_MSG_QUEUED)
		esp_msg_unqueue(f, m);
	esp_unlink(&m->link);
	esp_unlink(&m->all.link);
	esp_unlink(&m->leave);
	if (unlikely(m->scout) && !status)
		esp_hold_accepted(f, m);
	esp_park_left(f, m);
	m->state = ESP_MSG_IDLE;
	m->status = m->cancelled ? -ECANCELED : status;
	f->nmsgs--;
	if (--q->nmsgs == 0 && !q->ep)
		esp_queue_drop(f, q);
	env_count(f->node,
		  m->cancelled ? ESP_C_msg_cancelled
		  : status     ? ESP_C_msg_failed
			       : ESP_C_msg_accepted,
		  1);
	esp_append(&t->ended, &m->link);
}

/* Its payload is not to be touched any more. If the peer knows of it, it hears of its end. */
void esp_msg_cancel(struct esp_flow *f, struct esp_msg *m, struct esp_todo *t)
{
	if (m->cancelled)
		return;
	m->cancelled = true;
	if (!m->has_mid) {
		esp_msg_end(f, m, -ECANCELED, t);
		return;
	}
	esp_msg_detach(f, m);
	m->head = false;
	esp_msg_queue(f, m);
}

/* The flow begins anew: as if nothing of it had been sent. */
void esp_msg_renew(struct esp_flow *f, struct esp_msg *m, struct esp_todo *t)
{
	esp_msg_detach(f, m);
	forget_id(f, m);
	if (m->cancelled) {
		esp_msg_end(f, m, -ECANCELED, t);
		return;
	}
	if (m->state != ESP_MSG_QUEUED)
		esp_unlink(&m->link);
	esp_park_left(f, m);
	m->next = 0;
	m->granted = 0;
	m->acked = 0;
	m->head = !m->eager || m->len == 0;
	env_count(f->node, ESP_C_msg_renewed, 1);
	esp_msg_queue(f, m);
}

void esp_msg_refused(struct esp_flow *f, u32 mid, u8 kind, struct esp_todo *t)
{
	struct esp_msg *m = esp_msg_find(f, mid);

	if (!m || m->granted) {
		env_count(f->node, ESP_C_skip_refused_unknown, 1);
		return;
	}
	if (m->cancelled) {
		esp_msg_end(f, m, -ECANCELED, t);
		return;
	}
	esp_msg_detach(f, m);
	forget_id(f, m);
	if (m->state == ESP_MSG_QUEUED)
		esp_msg_unqueue(f, m);
	m->next = 0;
	m->acked = 0;
	m->head = !m->eager || m->len == 0;
	if (kind != ESP_K_BUSY) {
		esp_park(f, m, kind == ESP_K_AHEAD);
		env_count(f->node, ESP_C_msg_parked, 1);
		return;
	}
	m->state = ESP_MSG_PAUSED;
	esp_append(&f->paused[m->tries], &m->link);
	m->again_at = t->now + (f->node->p.busy_retry << m->tries);
	if (m->tries < ESP_PAUSES - 1)
		m->tries++;
	f->park_at = esp_min(f->park_at, m->again_at);
	env_count(f->node, ESP_C_msg_paused, 1);
}

void esp_msg_granted(struct esp_flow *f, u32 mid, u64 upto)
{
	struct esp_msg *m = esp_msg_find(f, mid);

	if (!m || m->eager || m->cancelled || upto > m->len) {
		env_count(f->node, ESP_C_skip_grant_unknown, 1);
		return;
	}
	if (upto <= m->granted) {
		env_count(f->node, ESP_C_skip_grant_old, 1);
		return;
	}
	m->granted = upto;
	m->head = false; /* whatever became of the frame with the RTS, it is known */
	esp_unlink(&m->open);
	esp_msg_queue(f, m);
}

/* The receiver wants no more of it: it has it, or its run has failed. */
void esp_msg_stopped(struct esp_flow *f, u32 mid, bool failed, struct esp_todo *t)
{
	struct esp_msg *m = esp_msg_find(f, mid);

	if (!m || m->eager) {
		env_count(f->node, ESP_C_skip_over_unknown, 1);
		return;
	}
	env_count(f->node, ESP_C_msg_stopped, 1);
	esp_msg_end(f, m, failed ? -ECONNABORTED : 0, t);
}

/*
 * What was BUSY is tried again; what outlives its endpoint too long is given up. Both lists are in
 * order of time, so nobody is looked at whose time has not come; and some at a time, since all that an
 * endpoint has left behind is due at once.
 */
void esp_msg_timer(struct esp_flow *f, struct esp_todo *t)
{
	u64 soon = t->now + TIMER_PAUSE;
	u32 n = 0, i;

	if (t->now < f->park_at)
		return;
	f->park_at = ESP_NEVER;
	while (esp_linked(&f->leaving)) {
		struct esp_msg *m = esp_entry(f->leaving.next, struct esp_msg, leave);

		if (t->now < m->due || n++ == TIMER_MOST) {
			f->park_at = esp_max(m->due, soon);
			break;
		}
		env_count(f->node, ESP_C_msg_lingered_out, 1);
		esp_unlink(&m->leave);
		esp_msg_cancel(f, m, t);
	}
	for (i = 0; i < ESP_PAUSES; i++) {
		while (esp_linked(&f->paused[i])) {
			struct esp_msg *m = esp_entry(f->paused[i].next, struct esp_msg, link);

			if (t->now < m->again_at || n++ >= TIMER_MOST) {
				f->park_at = esp_min(f->park_at, esp_max(m->again_at, soon));
				break;
			}
			esp_unpark(f, m);
			env_count(f->node, ESP_C_msg_again, 1);
		}
	}
	if (f->nheld)
		esp_hold_timer(f, t->now);
}
