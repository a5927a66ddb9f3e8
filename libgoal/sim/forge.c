// SPDX-License-Identifier: BSD-3-Clause
/*
 * Frames that no node has sent. Who makes them knows the nodes' addresses and names, and no
 * connection id, token or cookie: none of them may have any effect, and none may be answered with
 * more bytes than it has. Some of those with OPEN come from a host of its own that has asked for a
 * token, and wants to be taken for a node: no message may ever get to it.
 */
#include "esp_int.h"
#include "inside.h"

static void some_bytes(struct sim *s, void *at, u32 len)
{
	u8 *p = at;

	while (len--)
		*p++ = (u8)sim_u64(&s->random);
}

static void hello(struct sim *s, struct sim_frame *fr, struct esp_hdr *h, u8 type)
{
	struct esp_hello *q = (struct esp_hello *)(h + 1);
	const struct sim_node *src = &s->node[fr->src];
	u32 i;

	memset(q, 0, sizeof(*q));
	memcpy(q->node, src->me.node, sizeof(q->node));
	q->cid = cpu_to_le64(sim_u64(&s->random) | 1);
	q->stamp = cpu_to_le64(s->now + sim_below(&s->random, 1000));
	if (type != ESP_T_HELLO)
		some_bytes(s, q->token, sizeof(q->token));
	if (type == ESP_T_OPEN || type == ESP_T_ACCEPT) {
		some_bytes(s, &q->pn, sizeof(q->pn));
		some_bytes(s, &q->mid, sizeof(q->mid));
	}
	q->order = ESP_ORDER_LITTLE;
	q->word = 8;
	q->mtu = cpu_to_le16(1500);
	q->version = ESP_VERSION;
	for (i = 0; i < ESP_PATHS; i++)
		q->addr[i] = src->me.addr[i];
	fr->len += sizeof(*q);
}

/* It says that it is the node @fr->src, from an address of its own. */
static void claim(struct sim *s, struct sim_frame *fr, struct esp_hdr *h)
{
	struct esp_hello *q = (struct esp_hello *)(h + 1);
	struct sim_node *n = &s->node[fr->dst];

	sim_address(&fr->from, s->c.nodes + fr->src, fr->rail);
	q->addr[fr->rail] = fr->from;
	if (sim_chance(&s->random, 16384))
		q->stamp = cpu_to_le64(~0ull); /* so that later ones are taken for stale */
	esp_hello_token(&n->n, (u32)(s->now >> 32), &fr->from, &n->rail[fr->rail].r.addr, q,
			q->token);
}

static void data(struct sim *s, struct sim_frame *fr, struct esp_hdr *h)
{
	struct esp_eager *e = (struct esp_eager *)(h + 1);

	h->flags = ESP_F_NUMBERED;
	some_bytes(s, &h->pn, sizeof(h->pn));
	memset(e, 0, sizeof(*e));
	e->c.kind = ESP_K_MSG;
	e->c.len = cpu_to_le16(sizeof(*e));
	some_bytes(s, &e->mid, sizeof(e->mid));
	some_bytes(s, &e->key, sizeof(e->key));
	fr->len += sizeof(*e);
}

static void forge(struct sim *s, u8 type, u32 dst)
{
	struct sim_frame *fr = sim_frame_get(s);
	struct esp_hdr *h = (struct esp_hdr *)fr->bytes;

	fr->forged = true;
	fr->dst = dst;
	fr->src = (u32)sim_below(&s->random, s->c.nodes);
	fr->rail = (u8)sim_below(&s->random, s->c.rails);
	sim_address(&fr->from, fr->src, fr->rail);
	if (sim_chance(&s->random, 2048))
		fr->from.addr[0] |= 1; /* an answer would go to many */
	fr->len = sizeof(*h);
	memset(h, 0, sizeof(*h));
	h->version = ESP_VERSION;
	h->type = type;
	if (type != ESP_T_HELLO && type != ESP_T_OPEN)
		h->cid = cpu_to_le64(sim_u64(&s->random));
	switch (type) {
	case ESP_T_DATA:
		data(s, fr, h);
		break;
	case ESP_T_RESET:
		break;
	case ESP_T_REJECT:
		memset(h + 1, 0, sizeof(struct esp_rejected));
		((struct esp_rejected *)(h + 1))->reason = ESP_REJECT_ORDER;
		fr->len += sizeof(struct esp_rejected);
		break;
	case ESP_T_MCAST: /* and this stands for noise */
		fr->len = (u32)sim_between(&s->random, 1, 200);
		some_bytes(s, fr->bytes, fr->len);
		break;
	default:
		hello(s, fr, h, type);
		if (type == ESP_T_OPEN && sim_chance(&s->random, 32768))
			claim(s, fr, h);
		break;
	}
	if (type != ESP_T_MCAST) {
		h->hdr_len = cpu_to_le16((u16)fr->len);
		h->total_len = cpu_to_le16((u16)fr->len);
		sim_seal(fr);
	}
	s->t.forged++;
	sim_net_inject(fr, sim_below(&s->random, 1000));
}

void sim_forge(struct sim *s, bool flood)
{
	u32 n = flood ? (u32)sim_between(&s->random, 10, sim_chance(&s->random, 16384) ? 4000 : 100)
		      : 1;
	u8 type = (u8)sim_between(&s->random, ESP_T_HELLO, ESP_T_MCAST);
	u32 dst = (u32)sim_below(&s->random, s->c.nodes);

	while (n--)
		forge(s, type, dst);
}

/* A user of some node wants something from another one, where there is nobody. */
void sim_wrong_table(struct sim *s)
{
	struct sim_node *n = &s->node[sim_below(&s->random, s->c.nodes)];
	const struct sim_node *other = &s->node[sim_below(&s->random, s->c.nodes)];
	struct esp_peer peer = other->me;
	struct esp_flow *f;
	u32 i;

	if (n == other || !n->alive)
		return;
	for (i = 0; i < s->c.rails; i++)
		sim_address(&peer.addr[i], 3 * s->c.nodes + other->index, i);
	f = esp_flow_to(&n->n, &peer, s->now);
	if (f)
		env_flow_put(f);
}
