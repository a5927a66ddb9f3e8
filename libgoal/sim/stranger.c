// SPDX-License-Identifier: BSD-3-Clause
/*
 * A host of the segment that keeps state. It knows the names of all nodes and says that it is one of
 * them: asks for tokens, opens flows, moves, acknowledges what it has not seen, asks, resets, or is
 * silent. It never sees what the nodes say to each other, and must never be told anything
 * of a group; nor may a run fail because of it.
 */
#include "esp_int.h"
#include "inside.h"

enum {
	LINE_FREE = 0,
	LINE_ASKED,  /* HELLO is out */
	LINE_OPENED, /* OPEN is out */
	LINE_UP
};

/* Where it is itself: it has two addresses for each node that it may want to be. */
static void place_of(const struct sim *s, const struct sim_line *l, struct esp_addr *a)
{
	sim_address(a, s->c.nodes * (l->moved ? 2 : 1) + l->as, l->rail);
}

static struct sim_frame *begin(struct sim *s, const struct sim_line *l, u8 type, u64 cid)
{
	struct sim_frame *fr = sim_frame_get(s);
	struct esp_hdr *h = (struct esp_hdr *)fr->bytes;

	fr->forged = true;
	fr->dst = l->victim;
	fr->src = l->as;
	fr->rail = l->rail;
	place_of(s, l, &fr->from);
	fr->len = sizeof(*h);
	memset(h, 0, sizeof(*h));
	h->version = ESP_VERSION;
	h->type = type;
	h->cid = cpu_to_le64(cid);
	return fr;
}

static void say(struct sim_frame *fr)
{
	struct esp_hdr *h = (struct esp_hdr *)fr->bytes;

	h->hdr_len = cpu_to_le16((u16)fr->len);
	h->total_len = cpu_to_le16((u16)fr->len);
	sim_seal(fr);
	fr->s->t.forged++;
	sim_net_inject(fr, 1 + sim_below(&fr->s->random, 10000));
}

static void hello(struct sim *s, struct sim_line *l, u8 type)
{
	const struct sim_node *victim = &s->node[l->victim], *as = &s->node[l->as];
	struct sim_frame *fr = begin(s, l, type, 0);
	struct esp_hello *q = (struct esp_hello *)(fr->bytes + fr->len);
	u32 i;

	fr->len += sizeof(*q);
	memset(q, 0, sizeof(*q));
	q->cid = cpu_to_le64(l->cid);
	q->stamp = cpu_to_le64(l->stamp);
	q->order = ESP_ORDER_LITTLE;
	q->word = 8;
	q->mtu = cpu_to_le16(1500);
	q->version = ESP_VERSION;
	/* On other paths it says the place of the one whose name it uses. */
	for (i = 0; i < s->c.rails; i++)
		q->addr[i] = as->me.addr[i];
	q->addr[l->rail] = fr->from;
	if (type == ESP_T_OPEN) {
		memcpy(q->node, as->me.node, sizeof(q->node));
		memcpy(q->token, l->token, sizeof(q->token));
		q->pn = cpu_to_le32(l->pn);
		q->mid = cpu_to_le32(l->pn);
	} else {
		esp_hello_hash(victim->me.node, type, &fr->from, &victim->rail[l->rail].r.addr, q,
			       q->node);
	}
	say(fr);
}

static void *chunk(struct sim_frame *fr, u8 kind, u32 len)
{
	struct esp_chunk *c = (struct esp_chunk *)(fr->bytes + fr->len);

	memset(c, 0, len);
	c->kind = kind;
	c->len = cpu_to_le16((u16)len);
	fr->len += len;
	return c;
}

static void some_bytes(struct sim *s, void *at, u32 len)
{
	u8 *p = at;

	while (len--)
		*p++ = (u8)sim_u64(&s->random);
}

/* A numbered frame, from where it is, or as if from the one whose name it uses. */
static struct sim_frame *numbered(struct sim *s, struct sim_line *l, bool pretend)
{
	struct sim_frame *fr = begin(s, l, ESP_T_DATA, l->cid_peer);
	struct esp_hdr *h = (struct esp_hdr *)fr->bytes;

	h->path = l->rail;
	h->flags = ESP_F_NUMBERED;
	h->pn = cpu_to_le32(l->pn++);
	if (pretend)
		fr->from = s->node[l->as].me.addr[l->rail];
	return fr;
}

/* Of all it was sent, and of the next frames, which it was not. */
static void acknowledge(struct sim *s, struct sim_line *l, u32 beyond)
{
	struct sim_frame *fr = begin(s, l, ESP_T_DATA, l->cid_peer);
	struct esp_ack *a;
	struct esp_ping *p;

	((struct esp_hdr *)fr->bytes)->path = l->rail;
	a = chunk(fr, ESP_K_ACK, sizeof(*a));
	a->c.flags = l->rail;
	a->cum = cpu_to_le32(l->top + 1 + beyond);
	p = chunk(fr, ESP_K_PONG, sizeof(*p));
	p->c.flags = (u8)sim_below(&s->random, s->c.rails);
	p->value = cpu_to_le64(sim_chance(&s->random, 32768) ? l->value : sim_u64(&s->random));
	say(fr);
}

static void talk(struct sim *s, struct sim_line *l)
{
	struct sim_frame *fr;

	switch (sim_below(&s->random, 10)) {
	case 0:
		fr = numbered(s, l, sim_chance(&s->random, 32768));
		some_bytes(
			s,
			&((struct esp_ping *)chunk(fr, ESP_K_PING, sizeof(struct esp_ping)))->value,
			8);
		say(fr);
		acknowledge(s, l, 1 + (u32)sim_below(&s->random, 3));
		break;
	case 1:
		fr = numbered(s, l, false);
		some_bytes(s, (u8 *)chunk(fr, ESP_K_ASK, sizeof(struct esp_ask)) + 4,
			   sizeof(struct esp_ask) - 4);
		say(fr);
		break;
	case 2:
		fr = numbered(s, l, false);
		some_bytes(s, (u8 *)chunk(fr, ESP_K_GONE, sizeof(struct esp_gone)) + 4, 8);
		say(fr);
		break;
	case 3: { /* for nobody it knows */
		struct esp_eager *e;

		fr = numbered(s, l, false);
		e = chunk(fr, ESP_K_MSG, sizeof(*e));
		e->mid = cpu_to_le32(l->pn);
		some_bytes(s, &e->key, sizeof(e->key));
		say(fr);
		break;
	}
	case 4: {
		struct esp_abort *a;

		fr = numbered(s, l, false);
		a = chunk(fr, ESP_K_ABORT, sizeof(*a));
		some_bytes(s, &a->nonce, 24);
		a->code = cpu_to_le32(ESP_ABORT_EXIT);
		say(fr);
		break;
	}
	case 5: /* it has forgotten all */
		say(begin(s, l, ESP_T_RESET, l->cid));
		l->state = LINE_FREE;
		break;
	case 6: /* the same, elsewhere */
		l->moved = !l->moved;
		l->cid = sim_u64(&s->random) | 1;
		l->stamp = sim_chance(&s->random, 16384) ? ~0ull : l->stamp + 1;
		l->state = LINE_ASKED;
		hello(s, l, ESP_T_HELLO);
		break;
	case 7:
		l->state = LINE_FREE; /* and is not heard of any more */
		break;
	default:
		acknowledge(s, l, 0);
		break;
	}
}

void sim_stranger(struct sim *s)
{
	struct sim_line *l = &s->line[sim_below(&s->random, SIM_LINES)];

	if (s->c.nodes < 3)
		return;
	switch (l->state) {
	case LINE_FREE:
		l->victim = (u32)sim_below(&s->random, s->c.nodes);
		l->as = (u32)sim_below(&s->random, s->c.nodes);
		if (l->victim == l->as)
			return;
		l->rail = (u8)sim_below(&s->random, s->c.rails);
		l->moved = false;
		l->cid = sim_u64(&s->random) | 1;
		l->stamp = s->now + sim_below(&s->random, ESP_S);
		l->pn = (u32)sim_u64(&s->random);
		l->state = LINE_ASKED;
		hello(s, l, ESP_T_HELLO);
		return;
	case LINE_ASKED:
		hello(s, l, ESP_T_HELLO);
		return;
	case LINE_OPENED:
		if (sim_chance(&s->random, 4096))
			l->state = LINE_FREE;
		else
			hello(s, l, ESP_T_OPEN);
		return;
	default:
		talk(s, l);
		return;
	}
}

/* What a node says to a host that no table has. */
static void data(struct sim *s, struct sim_line *l, const struct sim_frame *fr)
{
	const struct esp_hdr *h = (const struct esp_hdr *)fr->bytes;
	u32 off = sizeof(*h), end = le16_to_cpu(h->hdr_len);

	if (l && (h->flags & ESP_F_NUMBERED) && esp_before(l->top, le32_to_cpu(h->pn)))
		l->top = le32_to_cpu(h->pn);
	while (off < end) {
		const struct esp_chunk *c = (const struct esp_chunk *)(fr->bytes + off);

		switch (c->kind) {
		case ESP_K_MSG:
		case ESP_K_RTS:
		case ESP_K_PULLED:
		case ESP_K_GRANT:
		case ESP_K_READY:
		case ESP_K_ABORT:
		case ESP_K_ASK:
			sim_fail(s, "node %u tells a stranger of a group (chunk %u)", fr->src,
				 c->kind);
			return;
		case ESP_K_PING:
			if (l)
				l->value = le64_to_cpu(((const struct esp_ping *)c)->value);
			break;
		default:
			break;
		}
		off += le16_to_cpu(c->len);
	}
}

void sim_stranger_hears(struct sim_frame *fr)
{
	const struct esp_hdr *h = (const struct esp_hdr *)fr->bytes;
	const struct esp_hello *q = (const struct esp_hello *)(h + 1);
	struct sim *s = fr->s;
	struct sim_line *l = NULL;
	u32 i;

	for (i = 0; i < SIM_LINES && !l; i++)
		if (s->line[i].state != LINE_FREE && s->line[i].cid == le64_to_cpu(h->cid))
			l = &s->line[i];
	switch (h->type) {
	case ESP_T_TOKEN:
		if (!l || l->state != LINE_ASKED)
			break;
		memcpy(l->token, q->token, sizeof(l->token));
		l->state = LINE_OPENED;
		hello(s, l, ESP_T_OPEN);
		break;
	case ESP_T_ACCEPT:
		if (!l || l->state != LINE_OPENED)
			break;
		l->cid_peer = le64_to_cpu(q->cid);
		l->top = le32_to_cpu(q->pn) - 1;
		l->state = LINE_UP;
		break;
	case ESP_T_DATA:
		data(s, l, fr);
		break;
	case ESP_T_HELLO:
	case ESP_T_OPEN:
		sim_fail(s, "node %u looks for a node at a stranger's", fr->src);
		break;
	default:
		break;
	}
}
