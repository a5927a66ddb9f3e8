// SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause
/*
 * Records of what sent frames carried. When a frame is acknowledged its items take effect; when
 * it is lost they are said again, piece by piece, in whatever frames come next: a record names
 * messages and ranges, never a frame's bytes.
 */
#include "esp_int.h"

static void put(struct esp_flow *f, struct esp_sent *s)
{
	if (s == &f->spare)
		f->spare_used = false;
	else
		env_pool_put(f->node, ESP_POOL_SENT, s);
}

/* A record, from the pool or, when that is empty and it @may be, the flow's own one. */
struct esp_sent *esp_sent_get(struct esp_flow *f, bool may)
{
	struct esp_sent *s = env_pool_get(f->node, ESP_POOL_SENT);

	if (!s) {
		if (f->spare_used || !may)
			return NULL;
		f->spare_used = true;
		s = &f->spare;
	}
	esp_link_init(&s->link);
	s->more = NULL;
	s->n = 0;
	s->live = 0;
	s->flying = true;
	s->mtu_probe = false;
	return s;
}

static struct esp_sent *record_of(struct esp_item *i)
{
	return esp_entry(i - i->place, struct esp_sent, item[0]);
}

/* Nobody needs the item any more. */
void esp_item_drop(struct esp_flow *f, struct esp_item *i)
{
	struct esp_sent *s = record_of(i);

	if (i->kind == ESP_ITEM_NONE)
		return;
	esp_unlink(&i->of);
	i->kind = ESP_ITEM_NONE;
	s->live--;
	if (!s->live && !s->flying)
		put(f, s);
}

void esp_sent_landed(struct esp_flow *f, struct esp_sent *s)
{
	while (s) {
		struct esp_sent *more = s->more;

		s->more = NULL;
		s->flying = false;
		if (!s->live)
			put(f, s);
		s = more;
	}
}

static void refusal_confirmed(struct esp_flow *f, u32 mid)
{
	u32 i;

	for (i = 0; i < f->nrefused; i++) {
		if (f->refused[i] != mid)
			continue;
		f->nrefused--;
		f->refused[i] = f->refused[f->nrefused];
		f->refused_how[i] = f->refused_how[f->nrefused];
		return;
	}
}

static void refusal_again(struct esp_flow *f, u32 mid)
{
	u32 i;

	for (i = 0; i < f->nrefused; i++)
		if (f->refused[i] == mid)
			f->refused_how[i] &= ~ESP_REFUSED_SAID;
}

static void item_acked(struct esp_flow *f, struct esp_item *i, struct esp_todo *t)
{
	struct esp_msg *m = i->msg;
	struct esp_rx *rx;

	switch (i->kind) {
	case ESP_ITEM_BYTES:
		if (!i->again) /* else it was taken for lost, and not sent again yet */
			m->queue->inflight -= (u32)(i->to - i->from);
		m->acked += i->to - i->from;
		esp_item_drop(f, i);
		if (m->acked == m->len)
			esp_msg_end(f, m, 0, t);
		else if (m->state == ESP_MSG_QUEUED && esp_msg_idle(m))
			esp_msg_unqueue(f, m);
		return;
	case ESP_ITEM_HEAD:
		if (m->eager) {
			esp_msg_end(f, m, 0, t);
			return;
		}
		esp_unlink(&m->open);
		break;
	case ESP_ITEM_CANCEL:
		esp_msg_end(f, m, -ECANCELED, t);
		return;
	case ESP_ITEM_CTL:
		esp_unlink(&i->of);
		esp_unlink(&i->ctl->all);
		esp_append(&t->ctls, &i->ctl->link);
		break;
	case ESP_ITEM_GONE:
		esp_gone_over(f, i->from);
		break;
	case ESP_ITEM_STOP:
		rx = esp_rx_find(f, i->mid);
		if (rx && rx->state == ESP_RX_STOP)
			esp_rx_end(f, rx, rx->status, t);
		break;
	case ESP_ITEM_REFUSED:
		refusal_confirmed(f, i->mid);
		break;
	default:
		break;
	}
	esp_item_drop(f, i);
}

static void item_again(struct esp_flow *f, struct esp_item *i)
{
	struct esp_msg *m = i->msg;
	struct esp_rx *rx;

	switch (i->kind) {
	case ESP_ITEM_BYTES:
		m->queue->inflight -= (u32)(i->to - i->from);
		env_count(f->node, ESP_C_repeated_bytes, i->to - i->from);
		if (record_of(i) != &f->spare) {
			esp_msg_lost(f, i);
			return;
		}
		/* It has to be free again at once. If there is more to repeat, it follows this. */
		if (m->again.from == m->again.to)
			m->again.to = i->to;
		m->again.from = i->from;
		esp_msg_queue(f, m);
		break;
	case ESP_ITEM_HEAD:
		m->head = true;
		esp_msg_queue(f, m);
		break;
	case ESP_ITEM_CANCEL:
		esp_msg_queue(f, m);
		break;
	case ESP_ITEM_CTL:
		esp_append(&f->ctl, &i->ctl->link);
		break;
	case ESP_ITEM_GONE:
		esp_gone_again(f, i->from);
		break;
	case ESP_ITEM_GRANT:
	case ESP_ITEM_STOP:
		rx = esp_rx_find(f, i->mid);
		if (rx && !esp_linked(&rx->say) &&
		    (rx->state == ESP_RX_BOUND || rx->state == ESP_RX_STOP))
			esp_append(&f->say, &rx->say);
		break;
	case ESP_ITEM_REFUSED:
		refusal_again(f, i->mid);
		break;
	case ESP_ITEM_MTU:
		f->path[i->mid].say_mtu = true;
		break;
	case ESP_ITEM_ADDR:
		f->path[i->mid].say_addr = true;
		break;
	}
	esp_item_drop(f, i);
}

void esp_sent_acked(struct esp_flow *f, struct esp_sent *s, struct esp_todo *t)
{
	u32 k;

	for (; s; s = s->more)
		for (k = 0; k < s->n; k++)
			if (s->item[k].kind != ESP_ITEM_NONE)
				item_acked(f, &s->item[k], t);
}

void esp_sent_again(struct esp_flow *f, struct esp_sent *s)
{
	u32 k;

	for (; s; s = s->more)
		for (k = 0; k < s->n; k++)
			if (s->item[k].kind != ESP_ITEM_NONE && !s->item[k].again)
				item_again(f, &s->item[k]);
}
