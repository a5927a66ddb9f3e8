// SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause
/*
 * Packet numbers. Of the peer: which came, when to say so, and how to say it. Ours: what the peer's
 * acknowledgements settle. Numbers are per path and never used twice; what was lost is sent
 * again under new ones, so each frame says (back) below which number its sender waits for none,
 * and the receiver's cumulative number may pass over the holes.
 */
#include "esp_int.h"

/* What is due on one path goes with what the others have. */
void esp_ack_now(struct esp_flow *f, u64 now)
{
	u32 i;

	for (i = 0; i < f->npaths; i++)
		if (f->path[i].rx_unacked)
			f->path[i].ack_at = now;
}

static u32 unacked(const struct esp_flow *f)
{
	u32 i, n = 0;

	for (i = 0; i < f->npaths; i++)
		n += f->path[i].rx_unacked;
	return n;
}

/* Its effects cannot fail any more: from now on it is acknowledged. */
void esp_pn_note(struct esp_flow *f, struct esp_path *p, u32 pn, u32 back, u8 flags, u64 now)
{
	s32 ahead = (s32)(pn - p->rx_top);
	bool at_once = (flags & ESP_F_ACK_NOW) || ahead != 1;

	if (ahead <= -ESP_PN_SPAN)
		return; /* others came while it was taken in: it has left the window */
	if (ahead > 0) {
		if (ahead >= ESP_PN_SPAN) {
			memset(p->rx_bits, 0, sizeof(p->rx_bits));
		} else {
			u32 n;

			for (n = p->rx_top + 1; n != pn; n++)
				p->rx_bits[esp_pn_word(n)] &= ~esp_pn_bit(n);
		}
		p->rx_top = pn;
		p->rx_top_at = now;
	}
	p->rx_bits[esp_pn_word(pn)] |= esp_pn_bit(pn);
	if (esp_before(p->rx_cum, pn - back))
		p->rx_cum = pn - back;
	while (!esp_before(p->rx_top, p->rx_cum) &&
	       (p->rx_bits[esp_pn_word(p->rx_cum)] & esp_pn_bit(p->rx_cum)))
		p->rx_cum++;

	p->rx_unacked++;
	if (at_once || unacked(f) >= f->node->p.ack_every)
		esp_ack_now(f, now);
	else
		p->ack_at = esp_min(p->ack_at, now + esp_rtt_ack(f, p));
}

/* Bytes of an ACK chunk for @p. */
u32 esp_ack_len(const struct esp_path *p)
{
	u32 n = p->rx_top - p->rx_cum; /* numbers behind the one at cum */

	if (esp_before(p->rx_top, p->rx_cum))
		n = 0;
	return sizeof(struct esp_ack) + (n + 63) / 64 * 8;
}

/* Write it, which settles what was due. */
void esp_ack_put(struct esp_path *p, struct esp_ack *a, u64 now)
{
	u32 len = esp_ack_len(p), words = (len - sizeof(*a)) / 8, w;
	u64 delay = esp_since(now, p->rx_top_at) >> 8;

	a->c.kind = ESP_K_ACK;
	a->c.flags = p->id;
	a->c.len = cpu_to_le16(len);
	a->delay = cpu_to_le16(esp_min(delay, 0xffff));
	a->reserved = 0;
	a->cum = cpu_to_le32(p->rx_cum);
	for (w = 0; w < words; w++) {
		u32 from = p->rx_cum + 1 + 64 * w, n = p->rx_top - from + 1;
		u64 v = p->rx_bits[esp_pn_word(from)] >> from % 64;

		if (from % 64)
			v |= p->rx_bits[esp_pn_word(from + 64)] << (64 - from % 64);
		if (n < 64)
			v &= (1ull << n) - 1;
		a->bits[w] = cpu_to_le64(v);
	}
	p->rx_unacked = 0;
	p->ack_at = ESP_NEVER;
}

/* The highest number it acknowledges; cum - 1 if there are no bits. */
static u32 ack_top(const struct esp_ack *a)
{
	u32 words = (le16_to_cpu(a->c.len) - sizeof(*a)) / 8, w, b;

	for (w = words; w-- > 0;) {
		u64 v = le64_to_cpu(a->bits[w]);

		for (b = 64; v && b-- > 0;)
			if (v >> b & 1)
				return le32_to_cpu(a->cum) + 1 + 64 * w + b;
	}
	return le32_to_cpu(a->cum) - 1;
}

/* 0, or the reason to drop the whole frame. */
int esp_ack_check(const struct esp_flow *f, const struct esp_ack *a)
{
	const struct esp_path *p = &f->path[a->c.flags];

	return esp_before(ack_top(a), p->pn) ? 0 : ESP_C_drop_ack_future;
}

static bool acked(const struct esp_ack *a, u32 words, u32 cum, u32 pn)
{
	u32 i = pn - cum - 1;

	if (esp_before(pn, cum))
		return true;
	if (pn == cum || i >= 64 * words)
		return false;
	return le64_to_cpu(a->bits[i / 64]) >> i % 64 & 1;
}

void esp_ack_in(struct esp_flow *f, const struct esp_ack *a, struct esp_todo *t)
{
	struct esp_path *p = &f->path[a->c.flags];
	u32 words = (le16_to_cpu(a->c.len) - sizeof(*a)) / 8;
	u32 cum = le32_to_cpu(a->cum), top = ack_top(a);
	struct esp_link *l, *next;
	bool any = false;

	for (l = p->sent.next; l != &p->sent; l = next) {
		struct esp_sent *s = esp_entry(l, struct esp_sent, link);

		next = l->next;
		if (esp_before(top, s->pn))
			break;
		if (!acked(a, words, cum, s->pn))
			continue;
		any = true;
		if (s->pn == top)
			esp_rtt_sample(p, esp_since(t->now, s->at),
				       (u64)le16_to_cpu(a->delay) << 8);
		if (!p->acked_any || esp_before(p->acked_top, s->pn)) {
			p->acked_top = s->pn;
			p->acked_any = true;
		}
		esp_unlink(&s->link);
		p->nsent--;
		p->inflight -= s->bytes;
		if (s->mtu_probe)
			esp_mtu_acked(f, p, s, t->now);
		else
			esp_loss_acked(f, p, s->pn, s->bytes);
		esp_sent_acked(f, s, t);
		esp_sent_landed(f, s);
	}
	if (!any)
		return;
	p->backoff = 0;
	p->probes = 0;
	if (f->pauses) { /* it holds records less than before */
		f->pauses = 0;
		f->pause_at = 0;
		f->pause_acks = false;
	}
	f->progress = t->now;
	f->answered = t->now;
	esp_loss_detect(f, p, t);
	esp_loss_arm(f, p);
}
