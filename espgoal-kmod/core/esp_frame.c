// SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause
/*
 * Reading and writing frames: is what came in a frame at all, are its chunks what they claim to
 * be? Nothing here knows a flow, and nothing here trusts a byte. Each reason to refuse a frame
 * has its own counter, which the functions answer.
 */
#include "esp_int.h"

#define GUESS 112 /* most frames' headers are no longer: an acknowledgement and a message */

/* What frames without a number may carry. */
#define UNNUMBERED (1u << ESP_K_ACK | 1u << ESP_K_PONG | ESP_REFUSALS)
#define MESSAGES   (1u << ESP_K_MSG | 1u << ESP_K_RTS | 1u << ESP_K_PULLED)

/* Bytes of each kind of chunk, without payload; 0: depends, see chunk_len_ok() and ack_fault(). */
static const u8 chunk_size[ESP_K_KINDS] = {
	[ESP_K_MSG] = sizeof(struct esp_eager),     [ESP_K_RTS] = sizeof(struct esp_rts),
	[ESP_K_PULLED] = sizeof(struct esp_pulled), [ESP_K_GRANT] = sizeof(struct esp_grant),
	[ESP_K_READY] = sizeof(struct esp_ready),   [ESP_K_ABORT] = sizeof(struct esp_abort),
	[ESP_K_PING] = sizeof(struct esp_ping),     [ESP_K_PAD] = sizeof(struct esp_pad),
	[ESP_K_MTU] = sizeof(struct esp_mtu),       [ESP_K_ADDR] = sizeof(struct esp_path_addr),
	[ESP_K_STOP] = sizeof(struct esp_over),     [ESP_K_CANCEL] = sizeof(struct esp_over),
	[ESP_K_ASK] = sizeof(struct esp_ask),       [ESP_K_GONE] = sizeof(struct esp_gone),
	[ESP_K_PONG] = sizeof(struct esp_ping),
};

/* Lengths alone: whatever is at fault here, the frame is not looked into any further. */
int esp_frame_shape(struct esp_in *in, void *frame, u32 len)
{
	const struct esp_hdr *h;

	if (len < sizeof(*h))
		return ESP_C_drop_short;
	in->frame = frame;
	in->got = len < GUESS ? len : GUESS;
	in->h = env_frame_bytes(frame, 0, in->got, in->buf);
	h = esp_hdr(in);
	if (h->version != ESP_VERSION)
		return ESP_C_drop_version;
	if (h->type < ESP_T_HELLO || h->type >= ESP_T_MCAST)
		return ESP_C_drop_type;
	in->hdr_len = le16_to_cpu(h->hdr_len);
	in->total = le16_to_cpu(h->total_len);
	if (in->hdr_len < sizeof(*h) || in->hdr_len > ESP_HDR_MAX)
		return ESP_C_drop_hdr_len;
	if (in->total < in->hdr_len || in->total > ESP_MTU_MAX)
		return ESP_C_drop_total_len;
	if (in->total > len)
		return ESP_C_drop_short;
	return 0;
}

/* The header's checksum, and what must be zero. */
int esp_frame_sums(const struct esp_in *in)
{
	struct esp_in *w = (struct esp_in *)in;
	const struct esp_hdr *h;
	__le32 zeroed[2];
	u32 crc;

	if (in->hdr_len > in->got)
		w->h = env_frame_bytes(in->frame, in->got, in->hdr_len - in->got,
				       w->buf + in->got) -
		       in->got; /* each byte is read once: it might change */
	h = esp_hdr(in);
	zeroed[0] = h->payload_crc; /* the two are the header's last ones */
	zeroed[1] = 0;
	crc = env_crc32c(0xffffffff, h, sizeof(*h) - sizeof(zeroed));
	crc = env_crc32c(crc, zeroed, sizeof(zeroed));
	crc = env_crc32c(crc, in->h + sizeof(*h), in->hdr_len - sizeof(*h));
	if (~crc != le32_to_cpu(h->hdr_crc))
		return ESP_C_drop_hdr_crc;
	if (h->reserved || (h->flags & ~ESP_F_KNOWN) ||
	    (in->total == in->hdr_len && h->payload_crc))
		return ESP_C_drop_reserved;
	if (!(h->flags & ESP_F_NUMBERED) && (h->flags || h->pn || h->back))
		return ESP_C_drop_reserved;
	if (h->type != ESP_T_DATA && (h->flags || h->path || in->total != in->hdr_len))
		return ESP_C_drop_reserved;
	return 0;
}

bool esp_frame_payload_ok(const struct esp_in *in)
{
	u32 crc = env_frame_crc(in->frame, in->hdr_len, in->total - in->hdr_len, 0xffffffff);

	return ~crc == le32_to_cpu(esp_hdr(in)->payload_crc);
}

static bool chunk_len_ok(const struct esp_chunk *c, u32 len)
{
	switch (c->kind) {
	case ESP_K_NOT_READY:
	case ESP_K_AHEAD:
	case ESP_K_BUSY:
		return len >= sizeof(*c) + 4 && len <= sizeof(*c) + 4 * ESP_LIST_MAX &&
		       len % 4 == 0;
	default:
		return len == chunk_size[c->kind];
	}
}

/* Flags that must be zero, reserved fields, values that contradict one another. */
static bool chunk_fields_ok(const struct esp_chunk *c)
{
	u32 plen = esp_chunk_payload(c);

	switch (c->kind) {
	case ESP_K_RTS:
		return !c->flags && ((const struct esp_rts *)c)->total;
	case ESP_K_PULLED: {
		const struct esp_pulled *d = (const struct esp_pulled *)c;

		return !c->flags && !d->reserved && plen && le64_to_cpu(d->off) + plen >= plen;
	}
	case ESP_K_PAD:
		return !c->flags && !((const struct esp_pad *)c)->reserved;
	case ESP_K_ABORT: {
		const struct esp_abort *a = (const struct esp_abort *)c;
		u32 code = le32_to_cpu(a->code);

		if (code < ESP_ABORT_RUN || code > ESP_ABORT_EXIT)
			return false;
		if (c->flags == ESP_ABORT_GROUP)
			return !a->opid && !a->start;
		return !c->flags;
	}
	case ESP_K_READY:
		return !(c->flags & ~ESP_READY_UPTO);
	case ESP_K_STOP:
		return !(c->flags & ~ESP_STOP_FAILED);
	case ESP_K_PONG:
		return c->flags < ESP_PATHS;
	case ESP_K_MTU: {
		const struct esp_mtu *m = (const struct esp_mtu *)c;

		return c->flags < ESP_PATHS && !m->reserved && le16_to_cpu(m->mtu) >= ESP_MTU_MIN &&
		       le16_to_cpu(m->mtu) <= ESP_MTU_MAX;
	}
	case ESP_K_ADDR:
		return c->flags < ESP_PATHS &&
		       esp_addr_good(&((const struct esp_path_addr *)c)->addr);
	default:
		return !c->flags;
	}
}

/* A chunk of @len bytes: 0, or the reason to drop its frame. Most are of the two kinds that come first. */
static inline int ack_fault(const struct esp_ack *a, u32 len)
{
	if (len < sizeof(*a) || len > sizeof(*a) + ESP_PN_SPAN / 8 || (len - sizeof(*a)) % 8)
		return ESP_C_drop_chunk_len;
	return a->c.flags < ESP_PATHS && !a->reserved ? 0 : ESP_C_drop_chunk_fields;
}

static inline int eager_fault(const struct esp_eager *e, u32 len)
{
	u32 total, off, plen;

	if (len != sizeof(*e))
		return ESP_C_drop_chunk_len;
	total = le32_to_cpu(e->total);
	off = le32_to_cpu(e->off);
	plen = le16_to_cpu(e->plen);
	if (e->c.flags || e->reserved || total > ESP_EAGER_MAX || off > total ||
	    plen > total - off || (!plen && total))
		return ESP_C_drop_chunk_fields;
	return 0;
}

static CORE_APART int other_fault(const struct esp_chunk *c, u32 len)
{
	if (!chunk_len_ok(c, len))
		return ESP_C_drop_chunk_len;
	return chunk_fields_ok(c) ? 0 : ESP_C_drop_chunk_fields;
}

/* Every chunk of a DATA frame, before any of them has an effect. */
int esp_frame_chunks(struct esp_in *in)
{
	bool numbered = esp_hdr(in)->flags & ESP_F_NUMBERED;
	u32 off = sizeof(struct esp_hdr), payload = 0, n = 0;

	in->kinds = 0;

	while (off < in->hdr_len) {
		const struct esp_chunk *c = esp_chunk(in, off);
		u32 len;
		int why;

		if (in->hdr_len - off < sizeof(*c))
			return ESP_C_drop_chunk_len;
		if (c->kind == 0 || c->kind >= ESP_K_KINDS)
			return ESP_C_drop_chunk_kind;
		len = le16_to_cpu(c->len);
		if (len > in->hdr_len - off)
			return ESP_C_drop_chunk_len;
		if (c->kind == ESP_K_ACK)
			why = ack_fault((const struct esp_ack *)c, len);
		else if (c->kind == ESP_K_MSG)
			why = eager_fault((const struct esp_eager *)c, len);
		else
			why = other_fault(c, len);
		if (why)
			return why;
		if (!numbered && !(1u << c->kind & UNNUMBERED))
			return ESP_C_drop_unnumbered;
		n += 1u << c->kind & MESSAGES ? 1 : 0;
		in->kinds |= 1u << c->kind;
		payload += esp_chunk_payload(c);
		off += len;
	}
	if (payload != in->total - in->hdr_len)
		return ESP_C_drop_payload_len;
	return n > ESP_MSG_MAX ? ESP_C_drop_chunk_fields : 0;
}

void esp_seal(struct esp_out *o, u32 payload)
{
	struct esp_hdr *h = (struct esp_hdr *)o->hdr;

	h->payload_crc = cpu_to_le32(o->pcrc && o->total_len > o->hdr_len ? ~payload : 0);
	h->hdr_crc = 0;
	h->hdr_crc = cpu_to_le32(~env_crc32c(0xffffffff, o->hdr, o->hdr_len));
}
