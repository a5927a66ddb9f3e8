// SPDX-License-Identifier: BSD-3-Clause
/*
 * Frames that must be dropped, made of genuine ones: one thing is wrong in each, and the
 * checksum of the header is right again, so that nothing but the check in question stands between
 * the frame and the state of its flow. Called by fate.c with a copy of a frame on its way. And
 * frames of which a part must have no effect.
 */
#include "crc32c.h"
#include "esp_int.h"
#include "inside.h"

static struct esp_hdr *header(struct sim_frame *fr)
{
	return (struct esp_hdr *)fr->bytes;
}

void sim_seal(struct sim_frame *fr)
{
	struct esp_hdr *h = header(fr);

	h->hdr_crc = 0;
	h->hdr_crc = cpu_to_le32(~crc32c(0xffffffff, fr->bytes, le16_to_cpu(h->hdr_len)));
}

/* The first chunk of @kind, or of any kind if 0; NULL: none. */
static struct esp_chunk *chunk(struct sim_frame *fr, u32 kind)
{
	u32 off = sizeof(struct esp_hdr), end = le16_to_cpu(header(fr)->hdr_len);

	while (off + sizeof(struct esp_chunk) <= end) {
		struct esp_chunk *c = (struct esp_chunk *)(fr->bytes + off);

		if (!kind || c->kind == kind)
			return c;
		off += le16_to_cpu(c->len);
	}
	return NULL;
}

enum wrong {
	WRONG_SHORT,
	WRONG_CUT,
	WRONG_VERSION,
	WRONG_TYPE,
	WRONG_HDR_LEN,
	WRONG_TOTAL_LEN,
	WRONG_HDR_CRC,
	WRONG_RESERVED,
	WRONG_CID,
	WRONG_PATH,
	WRONG_PN_OLD,
	WRONG_PN_AHEAD,
	WRONG_BACK,
	WRONG_KIND,
	WRONG_CHUNK_LEN,
	WRONG_FIELDS,
	WRONG_UNNUMBERED,
	WRONG_PAYLOAD_LEN,
	WRONG_PAYLOAD,
	WRONG_ACK,
	WRONG_MID,
	WRONGS
};

/* Of every frame. */
static bool envelope(struct sim *s, struct sim_frame *fr, enum wrong what)
{
	struct esp_hdr *h = header(fr);

	switch (what) {
	case WRONG_SHORT:
		fr->len = (u32)sim_below(&s->random, sizeof(*h));
		fr->forged = true; /* not padded */
		return true;
	case WRONG_CUT:
		fr->len = (u32)sim_below(&s->random, le16_to_cpu(h->total_len));
		return fr->len >= SIM_ETH_MIN; /* or it would be padded again */
	case WRONG_VERSION:
		h->version = (u8)(2 + sim_below(&s->random, 254));
		break;
	case WRONG_TYPE:
		h->type = sim_chance(&s->random, 32768) ? ESP_T_MCAST : 0;
		break;
	case WRONG_HDR_LEN:
		h->hdr_len = cpu_to_le16(sim_chance(&s->random, 32768) ? sizeof(*h) - 1
								       : ESP_HDR_MAX + 1);
		return true; /* there is nothing to seal */
	case WRONG_TOTAL_LEN:
		h->total_len = cpu_to_le16(sim_chance(&s->random, 32768)
						   ? le16_to_cpu(h->hdr_len) - 1
						   : ESP_MTU_MAX + 1);
		break;
	case WRONG_HDR_CRC:
		h->hdr_crc ^= cpu_to_le32(1u << sim_below(&s->random, 32));
		return true;
	case WRONG_RESERVED:
		if (sim_chance(&s->random, 32768))
			h->reserved = cpu_to_le16(1);
		else
			h->flags |= 0x80;
		break;
	case WRONG_CID:
		h->cid ^= cpu_to_le64(1 + sim_below(&s->random, 1ull << 40));
		break;
	default:
		return false;
	}
	sim_seal(fr);
	return true;
}

static bool fields(struct sim_frame *fr)
{
	struct esp_chunk *c = chunk(fr, ESP_K_MSG);

	if (c) {
		struct esp_eager *e = (struct esp_eager *)c;

		if (sim_chance(&fr->s->random, 32768))
			e->total = cpu_to_le32(ESP_EAGER_MAX + 1);
		else
			e->reserved = cpu_to_le16(1);
		return true;
	}
	c = chunk(fr, ESP_K_PULLED);
	if (c) {
		c->flags = 1;
		return true;
	}
	c = chunk(fr, ESP_K_ACK);
	if (!c)
		return false;
	c->flags = ESP_PATHS;
	return true;
}

/* Of frames with a number. */
static bool numbered(struct sim *s, struct sim_frame *fr, enum wrong what)
{
	struct esp_hdr *h = header(fr);
	u32 pn = le32_to_cpu(h->pn), hdr = le16_to_cpu(h->hdr_len);
	u32 total = le16_to_cpu(h->total_len);
	struct esp_chunk *c;

	switch (what) {
	case WRONG_PATH:
		h->path = (u8)(h->path + 1 + sim_below(&s->random, 200));
		break;
	case WRONG_PN_OLD:
		h->pn = cpu_to_le32(pn - 1100 - (u32)sim_below(&s->random, 100000));
		break;
	case WRONG_PN_AHEAD:
		h->pn = cpu_to_le32(pn + 2 * ESP_PN_AHEAD + (u32)sim_below(&s->random, 1u << 20));
		break;
	case WRONG_BACK:
		h->back = cpu_to_le16(ESP_PN_SPAN + (u32)sim_below(&s->random, 1000));
		break;
	case WRONG_KIND:
		c = chunk(fr, 0);
		if (!c)
			return false;
		c->kind = sim_chance(&s->random, 32768) ? 0 : ESP_K_KINDS;
		break;
	case WRONG_CHUNK_LEN:
		c = chunk(fr, 0);
		if (!c)
			return false;
		c->len = cpu_to_le16(le16_to_cpu(c->len) +
				     (sim_chance(&s->random, 32768) ? 1 : 2 * hdr));
		break;
	case WRONG_FIELDS:
		if (!fields(fr))
			return false;
		break;
	case WRONG_UNNUMBERED:
		/* Acknowledgements and refusals need no number. */
		if (!chunk(fr, ESP_K_MSG) && !chunk(fr, ESP_K_RTS) && !chunk(fr, ESP_K_PULLED) &&
		    !chunk(fr, ESP_K_PING) && !chunk(fr, ESP_K_GRANT))
			return false;
		h->flags = 0;
		h->pn = 0;
		h->back = 0;
		break;
	case WRONG_PAYLOAD_LEN:
		if (total == hdr)
			return false;
		h->total_len = cpu_to_le16(total - 1);
		break;
	case WRONG_PAYLOAD:
		if (total == hdr || !h->payload_crc)
			return false;
		fr->bytes[sim_between(&s->random, hdr, total - 1)] ^= 0x10;
		break;
	case WRONG_ACK:
		c = chunk(fr, ESP_K_ACK);
		if (!c)
			return false;
		((struct esp_ack *)c)->cum =
			cpu_to_le32(le32_to_cpu(((struct esp_ack *)c)->cum) + 1000000);
		break;
	case WRONG_MID:
		c = chunk(fr, sim_chance(&s->random, 32768) ? ESP_K_MSG : ESP_K_RTS);
		if (!c)
			return false;
		((struct esp_rts *)c)->mid =
			cpu_to_le32(le32_to_cpu(((struct esp_rts *)c)->mid) + 2 * ESP_MID_SPAN);
		h->pn = cpu_to_le32(pn + 1); /* not merely a duplicate */
		break;
	default:
		return false;
	}
	sim_seal(fr);
	return true;
}

/* Of the frames that open a flow. */
static bool hello(struct sim *s, struct sim_frame *fr)
{
	struct esp_hdr *h = header(fr);
	struct esp_hello *q = (struct esp_hello *)(h + 1);

	if (le16_to_cpu(h->hdr_len) != sizeof(*h) + sizeof(*q))
		return false;
	switch (sim_below(&s->random, 6)) {
	case 0:
		q->reserved[1] = 1;
		break;
	case 1:
		q->mtu = cpu_to_le16(ESP_MTU_MIN - 1);
		break;
	case 2:
		q->features = cpu_to_le32(0x80000000);
		break;
	case 3:
		if (h->type != ESP_T_OPEN && h->type != ESP_T_ACCEPT)
			return false;
		memcpy(q->node, s->node[fr->dst].me.node, sizeof(q->node));
		break;
	case 4:
		if (h->type == ESP_T_HELLO)
			return false;
		q->token[sim_below(&s->random, 16)] ^= 1;
		/* A token that nobody has given must not open anything; TOKEN itself has one that
		 * only comes back. */
		if (h->type == ESP_T_TOKEN)
			return false;
		break;
	default:
		/* The peer is told that it will never be understood: its runs fail. */
		if (s->c.adversary.alien && h->type == ESP_T_OPEN) {
			q->order = ESP_ORDER_BIG;
			break;
		}
		if (h->type != ESP_T_TOKEN && h->type != ESP_T_ACCEPT)
			return false;
		q->stamp ^= cpu_to_le64(2);
		break;
	}
	sim_seal(fr);
	return true;
}

static const char *const wrong_name[WRONGS] = {
	[WRONG_SHORT] = "the length of the header's part",
	[WRONG_CUT] = "the length",
	[WRONG_VERSION] = "the version",
	[WRONG_TYPE] = "the type",
	[WRONG_HDR_LEN] = "hdr_len",
	[WRONG_TOTAL_LEN] = "total_len",
	[WRONG_HDR_CRC] = "hdr_crc",
	[WRONG_RESERVED] = "a reserved field",
	[WRONG_CID] = "the connection id",
	[WRONG_PATH] = "the path",
	[WRONG_PN_OLD] = "the packet number (too old)",
	[WRONG_PN_AHEAD] = "the packet number (too far ahead)",
	[WRONG_BACK] = "back",
	[WRONG_KIND] = "the kind of a chunk",
	[WRONG_CHUNK_LEN] = "the length of a chunk",
	[WRONG_FIELDS] = "a field of a chunk",
	[WRONG_UNNUMBERED] = "the missing number",
	[WRONG_PAYLOAD_LEN] = "the length of the payload",
	[WRONG_PAYLOAD] = "the payload",
	[WRONG_ACK] = "what is acknowledged",
	[WRONG_MID] = "a message id",
};

static bool mangle(struct sim_frame *fr, enum wrong what)
{
	struct esp_hdr *h = header(fr);

	if (what <= WRONG_CID)
		return envelope(fr->s, fr, what);
	if (h->type == ESP_T_DATA)
		return (h->flags & ESP_F_NUMBERED) && numbered(fr->s, fr, what);
	return hello(fr->s, fr);
}

bool sim_mangle(struct sim_frame *fr)
{
	enum wrong what = (enum wrong)sim_below(&fr->s->random, WRONGS);
	bool data = header(fr)->type == ESP_T_DATA;

	if (!mangle(fr, what))
		return false;
	fr->wrong = data || what <= WRONG_CID ? wrong_name[what] : "a field of a hello";
	return true;
}

/* A reception at @fr's destination that lacks a grant, of a message the frame has bytes of. */
static struct esp_rx *reception(struct sim_frame *fr)
{
	const struct esp_chunk *c = chunk(fr, ESP_K_PULLED);
	struct esp_flow *f;
	struct esp_rx *rx;

	if (!c)
		return NULL;
	f = env_flow_by_cid(&fr->s->node[fr->dst].n, le64_to_cpu(header(fr)->cid));
	if (!f)
		return NULL;
	rx = esp_rx_find(f, le32_to_cpu(((const struct esp_pulled *)c)->mid));
	env_flow_put(f);
	return rx;
}

void sim_beyond(struct sim_frame *fr)
{
	struct sim *s = fr->s;
	struct esp_hdr *h = header(fr);
	u32 hdr = le16_to_cpu(h->hdr_len), total = le16_to_cpu(h->total_len), n = 0, off;
	struct esp_rx *rx = reception(fr);
	const u32 more = 8;
	struct esp_pulled *d;
	u64 at;

	for (off = sizeof(*h); off < hdr;
	     off += le16_to_cpu(((struct esp_chunk *)(fr->bytes + off))->len))
		n++;
	if (!rx || n >= ESP_MSG_MAX || hdr + sizeof(*d) > ESP_HDR_MAX ||
	    total + sizeof(*d) + more > s->c.mtu || rx->total < more)
		return;
	/* Behind the message's end, or at least behind what may be sent. */
	at = rx->total;
	if (rx->granted < rx->total && sim_chance(&s->random, 32768))
		at -= sim_between(&s->random, 1, esp_min(more, rx->total - rx->granted));
	memmove(fr->bytes + hdr + sizeof(*d), fr->bytes + hdr, total - hdr);
	d = (struct esp_pulled *)(fr->bytes + hdr);
	memset(d, 0, sizeof(*d));
	d->c.kind = ESP_K_PULLED;
	d->c.len = cpu_to_le16(sizeof(*d));
	d->mid = cpu_to_le32(rx->mid);
	d->off = cpu_to_le64(at);
	d->plen = cpu_to_le16(more);
	hdr += sizeof(*d);
	total += sizeof(*d);
	memset(fr->bytes + total, 0x55, more);
	total += more;
	h->hdr_len = cpu_to_le16((u16)hdr);
	h->total_len = cpu_to_le16((u16)total);
	if (h->payload_crc)
		h->payload_crc = cpu_to_le32(~crc32c(0xffffffff, fr->bytes + hdr, total - hdr));
	fr->len = total;
	s->t.beyond++;
	sim_seal(fr);
}
