// SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause
/*
 * What goes into the next frame. Refusals stand in front of every acknowledgement, then comes what
 * is small and said until acknowledged (READY, ABORT, grants, ...), then messages, several in a
 * frame, taken from the endpoints in turn (deficit round robin). Control needs no window; messages
 * do. Called after everything that may have given a flow something to say.
 */
#include "esp_int.h"

#define FRAMES_MAX 128 /* per call; the rest follows by timer */
#define PAUSES_MAX 7   /* doublings of the pause when there is no record or frame */
#define CRUMB      256 /* bytes: do not fill up a frame with less of a long message */

/* Of one call. */
struct leaving {
	u64 now;
	u32 kick; /* rails to transmit, by place */
};

struct build {
	struct esp_flow *f;
	struct esp_path *p;
	struct esp_out *o;
	struct esp_sent *first, *last;
	u64 now;
	u32 limit; /* of total_len */
	u32 msgs;  /* chunks of messages */
	bool eliciting;
	bool awaited; /* the last bytes of a long message are in it, or a scout */
};

/* Room for a chunk of @len bytes that speaks of @plen bytes of payload, or NULL. */
static void *chunk(struct build *b, u32 kind, u32 flags, u32 len, u32 plen)
{
	struct esp_out *o = b->o;
	struct esp_chunk *c = (struct esp_chunk *)(o->hdr + o->hdr_len);

	if (o->hdr_len + len > ESP_HDR_MAX || o->total_len + len + plen > b->limit)
		return NULL;
	c->kind = kind;
	c->flags = flags;
	c->len = cpu_to_le16(len);
	o->hdr_len += len;
	o->total_len += len + plen;
	return c;
}

static u32 room(const struct build *b, u32 len)
{
	const struct esp_out *o = b->o;

	if (o->hdr_len + len > ESP_HDR_MAX || o->total_len + len > b->limit)
		return 0;
	return b->limit - o->total_len - len;
}

/* Will item() find a place? */
static bool item_ready(struct build *b)
{
	if (b->last->n < ESP_SENT_ITEMS)
		return true;
	b->last->more = esp_sent_get(b->f, false);
	if (!b->last->more) {
		env_count(b->f->node, ESP_C_no_record, 1);
		return false;
	}
	b->last = b->last->more;
	return true;
}

static struct esp_item *item(struct build *b, u32 kind, u32 mid)
{
	b->eliciting = true;
	return esp_sent_item(b->last, kind, mid);
}

/* All refusals the peer has not confirmed; they come first, and find room in every frame. */
static void put_refused(struct build *b)
{
	static const u8 kinds[] = { ESP_K_NOT_READY, ESP_K_AHEAD, ESP_K_BUSY };
	struct esp_flow *f = b->f;
	u32 k, i, n;

	for (k = 0; k < sizeof(kinds); k++) {
		u8 kind = kinds[k];
		struct esp_refused *c;

		for (i = 0, n = 0; i < f->nrefused; i++)
			n += (f->refused_how[i] & ~ESP_REFUSED_SAID) == kind;
		if (!n)
			continue;
		c = chunk(b, kind, 0, sizeof(*c) + 4 * n, 0);
		b->eliciting = b->first;
		for (i = 0, n = 0; i < f->nrefused; i++) {
			if ((f->refused_how[i] & ~ESP_REFUSED_SAID) != kind)
				continue;
			c->mid[n++] = cpu_to_le32(f->refused[i]);
			if (f->refused_how[i] & ESP_REFUSED_SAID)
				continue;
			/* Without a place for it, it is said again. */
			if (b->first && item_ready(b)) {
				item(b, ESP_ITEM_REFUSED, f->refused[i]);
				f->refused_how[i] |= ESP_REFUSED_SAID;
			}
		}
	}
}

static void put_acks(struct build *b)
{
	u32 i;

	for (i = 0; i < b->f->npaths; i++) {
		struct esp_path *p = &b->f->path[i];
		struct esp_ack *a;

		if (!p->rx_unacked || (p != b->p && p->ack_at > b->now))
			continue;
		a = chunk(b, ESP_K_ACK, i, esp_ack_len(p), 0);
		if (a)
			esp_ack_put(p, a, b->now);
	}
}

/* Like an acknowledgement: on whatever path, and PING comes again if it gets lost. */
static void put_pongs(struct build *b)
{
	u32 i;

	for (i = 0; i < b->f->npaths; i++) {
		struct esp_path *p = &b->f->path[i];
		struct esp_ping *c;

		if (!p->say_pong)
			continue;
		c = chunk(b, ESP_K_PONG, i, sizeof(*c), 0);
		if (!c)
			return;
		c->value = cpu_to_le64(p->pong);
		p->say_pong = false;
	}
}

static bool put_ctl(struct build *b, struct esp_ctl *c)
{
	struct esp_item *i;

	if (!item_ready(b))
		return false;
	if (c->kind == ESP_CTL_READY) {
		struct esp_ready *r =
			chunk(b, ESP_K_READY, c->group ? ESP_READY_UPTO : 0, sizeof(*r), 0);

		if (!r)
			return false;
		r->nonce = cpu_to_le64(c->key.nonce);
		r->cookie = cpu_to_le64(c->key.cookie);
		r->opid = cpu_to_le32(c->key.opid);
		r->start = cpu_to_le32(c->key.start);
		env_count(b->f->node, ESP_C_ready_sent, 1);
	} else if (c->kind == ESP_CTL_ASK) {
		struct esp_ask *a = chunk(b, ESP_K_ASK, 0, sizeof(*a), 0);

		if (!a)
			return false;
		a->nonce = cpu_to_le64(c->key.nonce);
		a->cookie = cpu_to_le64(c->key.cookie);
		a->opid = cpu_to_le32(c->key.opid);
		a->start = cpu_to_le32(c->key.start);
		a->from = cpu_to_le32(c->key.src);
		env_count(b->f->node, ESP_C_ask_said, 1);
	} else {
		struct esp_abort *a =
			chunk(b, ESP_K_ABORT, c->group ? ESP_ABORT_GROUP : 0, sizeof(*a), 0);

		if (!a)
			return false;
		a->nonce = cpu_to_le64(c->key.nonce);
		a->cookie = cpu_to_le64(c->key.cookie);
		a->opid = cpu_to_le32(c->group ? 0 : c->key.opid);
		a->start = cpu_to_le32(c->group ? 0 : c->key.start);
		a->from = cpu_to_le32(c->key.src);
		a->rank = cpu_to_le32(c->rank);
		a->code = cpu_to_le32(c->code);
	}
	esp_unlink(&c->link);
	i = item(b, ESP_ITEM_CTL, 0);
	i->ctl = c;
	esp_append(&c->items, &i->of);
	return true;
}

/* One in a frame is all that counts. */
static bool put_gone(struct build *b)
{
	struct esp_flow *f = b->f;
	u32 i = esp_gone_next(f);
	struct esp_gone *g;

	if (i == f->ngone)
		return true;
	if (!item_ready(b))
		return false;
	g = chunk(b, ESP_K_GONE, 0, sizeof(*g), 0);
	if (!g)
		return false;
	g->cookie = cpu_to_le64(f->gone[i]);
	f->gone_said |= 1u << i;
	item(b, ESP_ITEM_GONE, 0)->from = f->gone[i];
	env_count(f->node, ESP_C_gone_said, 1);
	return true;
}

/* A grant, or STOP. */
static bool put_say(struct build *b, struct esp_rx *rx)
{
	if (!item_ready(b))
		return false;
	if (rx->state == ESP_RX_STOP) {
		struct esp_over *s =
			chunk(b, ESP_K_STOP, rx->status ? ESP_STOP_FAILED : 0, sizeof(*s), 0);

		if (!s)
			return false;
		s->mid = cpu_to_le32(rx->mid);
		item(b, ESP_ITEM_STOP, rx->mid);
	} else {
		struct esp_grant *g = chunk(b, ESP_K_GRANT, 0, sizeof(*g), 0);

		if (!g)
			return false;
		g->mid = cpu_to_le32(rx->mid);
		g->upto = cpu_to_le64(rx->granted);
		item(b, ESP_ITEM_GRANT, rx->mid);
		env_count(b->f->node, ESP_C_grants_out, 1);
	}
	esp_unlink(&rx->say);
	return true;
}

static bool put_path(struct build *b, struct esp_path *p)
{
	if (p->say_addr) {
		struct esp_path_addr *a;

		if (!item_ready(b))
			return false;
		a = chunk(b, ESP_K_ADDR, p->id, sizeof(*a), 0);
		if (!a)
			return false;
		memset(&a->addr, 0, sizeof(a->addr));
		if (p->rail)
			a->addr = p->rail->addr;
		p->say_addr = false;
		item(b, ESP_ITEM_ADDR, p->id);
	}
	if (p->say_mtu && p->rail) {
		struct esp_mtu *m;

		if (!item_ready(b))
			return false;
		m = chunk(b, ESP_K_MTU, p->id, sizeof(*m), 0);
		if (!m)
			return false;
		m->mtu = cpu_to_le16(p->rail->mtu);
		m->reserved = 0;
		p->say_mtu = false;
		item(b, ESP_ITEM_MTU, p->id);
	}
	return true;
}

static void put_control(struct build *b)
{
	struct esp_flow *f = b->f;
	u32 i;

	while (esp_linked(&f->ctl))
		if (!put_ctl(b, esp_entry(f->ctl.next, struct esp_ctl, link)))
			return;
	if (unlikely(f->ngone) && !put_gone(b))
		return;
	while (esp_linked(&f->say))
		if (!put_say(b, esp_entry(f->say.next, struct esp_rx, say)))
			return;
	for (i = 0; i < f->npaths; i++)
		if (!put_path(b, &f->path[i]))
			return;
}

static void piece(struct build *b, const struct esp_msg *m, u64 from, u32 len)
{
	struct esp_piece *pc = &b->o->piece[b->o->npiece++];

	pc->ref = m->ref;
	pc->off = from;
	pc->len = len;
	env_count(b->f->node, ESP_C_payload_out, len);
}

/* Bytes [from, from + len) of @m are in the frame now; @lost: they are what that item missed. */
static void bytes_out(struct build *b, struct esp_msg *m, u64 from, u32 len, struct esp_item *lost)
{
	struct esp_item *i = item(b, ESP_ITEM_BYTES, m->mid);

	i->msg = m;
	i->from = from;
	i->to = from + len;
	esp_append(&m->items, &i->of);
	m->queue->inflight += len;
	piece(b, m, from, len);
	if (m->again.from < m->again.to) {
		m->again.from += len;
		return;
	}
	if (!lost) {
		m->next = from + len;
		return;
	}
	lost->from += len;
	if (lost->from == lost->to)
		esp_item_drop(b->f, lost);
}

static void head_out(struct build *b, struct esp_msg *m, u32 kind)
{
	struct esp_item *i = item(b, kind, m->mid);

	i->msg = m;
	esp_append(&m->items, &i->of);
}

/* The next bytes of @m that may go: [*from, *from + answer). */
static u32 next_bytes(struct esp_msg *m, u64 *from, struct esp_item **lost)
{
	u64 end = m->eager ? m->len : m->granted;

	*lost = NULL;
	if (m->again.from < m->again.to) {
		*from = m->again.from;
		return (u32)(m->again.to - m->again.from);
	}
	if (esp_linked(&m->lost)) {
		*lost = esp_entry(m->lost.next, struct esp_item, of);
		*from = (*lost)->from;
		return (u32)((*lost)->to - *from);
	}
	*from = m->next;
	return (u32)esp_min(end - m->next, ESP_MTU_MAX);
}

/* Nothing of it may be sent now. */
bool esp_msg_idle(const struct esp_msg *m)
{
	return !m->head && !m->cancelled && !esp_linked(&m->lost) && m->again.from == m->again.to &&
	       m->next >= (m->eager ? m->len : m->granted);
}

/* The flow's own record has a piece of @m in flight; what else of it is to be repeated waits. */
static bool spare_has(const struct esp_flow *f, const struct esp_msg *m)
{
	u32 i;

	for (i = 0; f->spare_used && i < f->spare.n; i++)
		if (f->spare.item[i].kind == ESP_ITEM_BYTES && f->spare.item[i].msg == m)
			return true;
	return false;
}

/* A chunk of @m: bytes of the frame used, or 0 if it does not fit or may not be sent now. */
static u32 put_msg(struct build *b, struct esp_msg *m)
{
	struct esp_flow *f = b->f;
	u32 before = b->o->total_len, n, space;
	struct esp_item *lost;
	u64 from;

	if (!item_ready(b) || !esp_msg_has_id(f, m))
		return 0;
	if (m->cancelled) {
		struct esp_over *c = chunk(b, ESP_K_CANCEL, 0, sizeof(*c), 0);

		if (!c)
			return 0;
		c->mid = cpu_to_le32(m->mid);
		head_out(b, m, ESP_ITEM_CANCEL);
		esp_msg_unqueue(f, m);
		return sizeof(*c);
	}
	if (m->head && !m->eager) {
		struct esp_rts *r = chunk(b, ESP_K_RTS, 0, sizeof(*r), 0);

		if (!r)
			return 0;
		r->mid = cpu_to_le32(m->mid);
		r->total = cpu_to_le64(m->len);
		esp_key_put(&r->key, &m->key);
		m->head = false;
		head_out(b, m, ESP_ITEM_HEAD);
		esp_msg_unqueue(f, m);
		if (!esp_msg_idle(m))
			esp_msg_queue(f, m);
		return sizeof(*r);
	}
	if (m->again.from < m->again.to && spare_has(f, m))
		return 0;
	n = next_bytes(m, &from, &lost);
	if (m->eager) {
		struct esp_eager *e;

		space = room(b, sizeof(*e));
		/* Broken up only if no frame holds it. */
		if (n > space) {
			if (b->msgs || b->o->hdr_len + sizeof(*e) > ESP_HDR_MAX || !space)
				return 0;
			n = space;
		}
		e = chunk(b, ESP_K_MSG, 0, sizeof(*e), n);
		if (!e)
			return 0;
		e->mid = cpu_to_le32(m->mid);
		e->total = cpu_to_le32((u32)m->len);
		e->off = cpu_to_le32((u32)from);
		e->plen = cpu_to_le16(n);
		e->reserved = 0;
		esp_key_put(&e->key, &m->key);
		if (m->len)
			bytes_out(b, m, from, n, lost);
		else
			head_out(b, m, ESP_ITEM_HEAD);
		m->head = false;
		b->awaited |= m->scout;
	} else {
		struct esp_pulled *d;

		space = room(b, sizeof(*d));
		if (n > space) {
			if (space < CRUMB)
				return 0;
			n = space;
		}
		d = chunk(b, ESP_K_PULLED, 0, sizeof(*d), n);
		if (!d)
			return 0;
		d->mid = cpu_to_le32(m->mid);
		d->off = cpu_to_le64(from);
		d->plen = cpu_to_le16(n);
		d->reserved = 0;
		bytes_out(b, m, from, n, lost);
		b->awaited |= from + n == m->len;
	}
	if (esp_msg_idle(m))
		esp_msg_unqueue(f, m);
	return b->o->total_len - before;
}

/* Something of @q: short messages first, but long ones are not starved by them. */
static u32 put_queue(struct build *b, struct esp_queue *q)
{
	struct esp_link *first = &q->small, *second = &q->bulk, *swap;
	u32 used = 0;

	if (q->turns >= 8) {
		swap = first;
		first = second;
		second = swap;
	}
	if (esp_linked(first))
		used = put_msg(b, esp_entry(first->next, struct esp_msg, link));
	if (!used && esp_linked(second)) {
		used = put_msg(b, esp_entry(second->next, struct esp_msg, link));
		first = second;
	}
	if (used)
		q->turns = first == &q->small && esp_linked(&q->bulk) ? q->turns + 1 : 0;
	return used;
}

static u32 window_all(const struct esp_flow *f)
{
	u32 i, sum = 0;

	for (i = 0; i < f->npaths; i++)
		if (esp_path_usable(&f->path[i]))
			sum += f->path[i].window;
	return sum;
}

static void put_messages(struct build *b)
{
	struct esp_flow *f = b->f;
	struct esp_link *stop = NULL;

	u32 most = b->first == &f->spare ? 1 : ESP_MSG_MAX;

	while (b->msgs < most && esp_linked(&f->queues)) {
		struct esp_queue *q = esp_entry(f->queues.next, struct esp_queue, link);
		bool alone = q->link.next == &f->queues;
		u32 used = 0;

		if (alone || q->inflight <= window_all(f) / 2)
			used = put_queue(b, q);
		if (used) {
			b->msgs++;
			stop = NULL;
			q->deficit -= used;
			if (q->deficit > 0 || !esp_linked(&q->link))
				continue;
			q->deficit += b->limit;
		} else {
			if (stop == &q->link)
				return; /* all of them were asked */
			if (!stop)
				stop = &q->link;
		}
		if (alone && !used)
			return;
		esp_unlink(&q->link);
		esp_append(&f->queues, &q->link);
	}
}

static void count_out(struct esp_flow *f, const struct esp_out *o, const struct build *b)
{
	struct esp_node *n = f->node;

	env_count(n, ESP_C_frames_out, 1);
	env_count(n, ESP_C_bytes_out, o->total_len);
	if (b->msgs || !b->eliciting)
		b->p->answers = b->msgs;
	env_count(n,
		  b->msgs        ? ESP_C_data_out
		  : b->eliciting ? ESP_C_control_out
				 : ESP_C_acks_out,
		  1);
}

/* A frame on the path, without anything in it yet; false: there is no memory for it. */
static bool begin(struct build *b, struct esp_flow *f, struct esp_path *p, struct leaving *t,
		  bool numbered)
{
	b->f = f;
	b->p = p;
	b->o = NULL;
	b->first = NULL;
	b->now = t->now;
	b->msgs = 0;
	b->eliciting = false;
	b->awaited = false;
	b->limit = (u32)esp_min(p->mtu, p->rail->mtu); /* which may just have changed */
	if (numbered) {
		b->first = esp_sent_get(f, true);
		if (!b->first) {
			env_count(f->node, ESP_C_no_record, 1);
			goto pause;
		}
	}
	b->last = b->first;
	b->o = env_out_get(p->rail);
	if (!b->o) {
		env_count(f->node, ESP_C_no_out, 1);
		esp_sent_landed(f, b->first);
		f->pause_acks = true;
		goto pause;
	}
	if (numbered)
		f->pauses = 0;
	b->o->rail = p->rail;
	b->o->to = p->addr;
	esp_out_begin(b->o, ESP_T_DATA, f->cid_peer);
	b->o->pcrc = f->pcrc;
	return true;
pause:
	f->pause_at = t->now + (f->node->p.local_retry << f->pauses);
	if (f->pauses < PAUSES_MAX)
		f->pauses++;
	return false;
}

/* Nothing came of it. */
static void discard(struct build *b)
{
	u32 k;
	struct esp_sent *s;

	for (s = b->first; s; s = s->more)
		for (k = 0; k < s->n; k++)
			if (s->item[k].kind != ESP_ITEM_NONE)
				esp_item_drop(b->f, &s->item[k]);
	esp_sent_landed(b->f, b->first);
	env_out_put(b->p->rail, b->o);
}

/*
 * Is the acknowledgement of this frame waited for? It lets no further ones leave, or the long
 * message that it ends is over with it, or others wait for what becomes of the scout in it. A probe,
 * or one that only speaks of other things, is asked about, too.
 */
static bool is_pressing(const struct build *b)
{
	const struct esp_path *p = b->p;
	u32 before = p->inflight, after = before + b->o->total_len, half = p->window / 2;

	return p->probes || !b->msgs || b->awaited || (before <= half && after > half) ||
	       after + b->limit > p->window;
}

static void finish(struct build *b, struct leaving *t)
{
	struct esp_path *p = b->p;
	struct esp_flow *f = b->f;
	struct esp_hdr *h = (struct esp_hdr *)b->o->hdr;

	h->path = p->id;
	if (b->eliciting) {
		struct esp_sent *s = b->first;
		u32 oldest = p->pn;

		if (esp_linked(&p->sent))
			oldest = esp_entry(p->sent.next, struct esp_sent, link)->pn;
		h->flags = ESP_F_NUMBERED | (is_pressing(b) ? ESP_F_ACK_NOW : 0);
		h->pn = cpu_to_le32(p->pn);
		h->back = cpu_to_le16(p->pn - oldest);
		s->pn = p->pn++;
		s->at = t->now;
		s->bytes = b->o->total_len;
		esp_append(&p->sent, &s->link);
		p->nsent++;
		p->inflight += s->bytes;
		p->sent_at = t->now;
		p->say_ping = false;
		if (p->probes)
			p->probes--;
	} else {
		esp_sent_landed(f, b->first);
	}
	esp_out_end(b->o);
	count_out(f, b->o, b);
	env_out(p->rail, b->o);
	t->kick |= 1u << p->rail->place;
}

/*
 * One frame: its number of bytes, 0 if there was nothing to put into it, -ENOMEM. Without
 * @control and @messages it is an acknowledgement, which needs no record: else two nodes whose
 * records are all in flight would wait for each other.
 */
static int build(struct esp_flow *f, struct esp_path *p, struct leaving *t, bool control,
		 bool messages)
{
	struct build b ESP_UNSET;
	u32 bytes;

	if (!begin(&b, f, p, t, control || messages))
		return -ENOMEM;
	if (f->nrefused)
		put_refused(&b);
	put_acks(&b);
	put_pongs(&b);
	if (control)
		put_control(&b);
	if (messages)
		put_messages(&b);
	if (b.o->hdr_len == sizeof(struct esp_hdr)) {
		discard(&b);
		return 0;
	}
	bytes = b.o->total_len;
	finish(&b, t);
	return (int)bytes;
}

/* A frame that only wants an answer; padded to @size, if that is not 0. */
static bool ping(struct esp_flow *f, struct esp_path *p, struct leaving *t, u32 size)
{
	struct build b ESP_UNSET;

	if (!begin(&b, f, p, t, true))
		return false;
	if (size) {
		struct esp_pad *c;

		b.limit = size;
		c = chunk(&b, ESP_K_PAD, 0, sizeof(*c), size - sizeof(struct esp_hdr) - sizeof(*c));
		c->plen = cpu_to_le16(size - sizeof(struct esp_hdr) - sizeof(*c));
		c->reserved = 0;
		b.o->piece[0].ref = NULL;
		b.o->piece[0].off = 0;
		b.o->piece[0].len = size - sizeof(struct esp_hdr) - sizeof(*c);
		b.o->npiece = 1;
		b.first->mtu_probe = true;
		env_count(f->node, ESP_C_mtu_probe, 1);
	} else {
		struct esp_ping *c = chunk(&b, ESP_K_PING, 0, sizeof(*c), 0);

		c->value = cpu_to_le64(p->value);
		env_count(f->node, ESP_C_pings_out, 1);
	}
	b.eliciting = true;
	finish(&b, t);
	return true;
}

/* Has the flow something small to say that the peer waits for? */
bool esp_news_pending(const struct esp_flow *f)
{
	u32 i;

	if (esp_linked(&f->ctl) || esp_linked(&f->say))
		return true;
	if (unlikely(f->ngone) && esp_gone_next(f) != f->ngone)
		return true;
	for (i = 0; i < f->nrefused; i++)
		if (!(f->refused_how[i] & ESP_REFUSED_SAID))
			return true;
	return false;
}

static bool control_pending(const struct esp_flow *f)
{
	u32 i;

	if (esp_news_pending(f))
		return true;
	for (i = 0; i < f->npaths; i++)
		if (f->path[i].say_addr || (f->path[i].say_mtu && f->path[i].rail))
			return true;
	return false;
}

static void note_limited(struct esp_flow *f)
{
	u32 i;

	for (i = 0; i < f->npaths; i++)
		if (esp_path_usable(&f->path[i]))
			f->path[i].limited = true;
}

/* What is due, in a frame of its own, which needs no record. */
static void acknowledge(struct esp_flow *f, struct esp_path *p, struct leaving *t)
{
	if (esp_path_ends(p) && (p->say_pong || (p->rx_unacked && p->ack_at <= t->now)) &&
	    !build(f, p, t, false, false))
		p->ack_at = ESP_NEVER;
}

static void output_path(struct esp_flow *f, struct esp_path *p, struct leaving *t)
{
	if (!esp_path_ends(p))
		return;
	if (p->mtu_want > p->rail->mtu)
		p->mtu_want = 0; /* esp_mtu_limit() is on its way */
	if (p->mtu_want && esp_path_usable(p) && esp_path_span(p) && ping(f, p, t, p->mtu_want)) {
		p->mtu_try = p->mtu_want;
		p->mtu_want = 0;
	}
	if (p->say_ping && esp_path_span(p))
		ping(f, p, t, 0);
	acknowledge(f, p, t);
	esp_loss_arm(f, p);
}

static void output(struct esp_flow *f, struct leaving *t)
{
	bool control;
	u32 n;

	if (unlikely(f->unhold))
		esp_hold_look(f);
	if (t->now < f->pause_at) {
		/* Records come free by acknowledgements, and those of the peer by ours. */
		for (n = 0; n < f->npaths && !f->pause_acks; n++)
			acknowledge(f, &f->path[n], t);
		return;
	}
	f->pause_at = 0;
	f->pause_acks = false;
	control = control_pending(f);
	for (n = 0; n < FRAMES_MAX; n++) {
		bool data = esp_linked(&f->queues);
		struct esp_path *p;

		if (!data && !control)
			break;
		p = data ? esp_path_pick(f, true) : NULL;
		if (data && !p) {
			note_limited(f);
			data = false;
		}
		if (!p && control)
			p = esp_path_pick(f, false);
		if (!p || build(f, p, t, control, data) <= 0)
			break;
		if (control) /* frames only take from it */
			control = control_pending(f);
	}
	if (n == FRAMES_MAX)
		f->pause_at = t->now + 1;
	for (n = 0; n < f->npaths; n++)
		output_path(f, &f->path[n], t);
}

u32 esp_output(struct esp_flow *f, u64 now)
{
	struct leaving t = { .now = now };

	if (f->state == ESP_FLOW_UP)
		output(f, &t);
	return t.kick;
}
