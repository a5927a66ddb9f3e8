/* SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause */
/*
 * The round trip of a path and the times derived from it. The sender's clock alone is used; the
 * receiver says how long it held its acknowledgement back.
 */
#ifndef ESP_RTT_H
#define ESP_RTT_H

static inline void esp_rtt_sample(struct esp_path *p, u64 rtt, u64 delay)
{
	u64 diff;

	if (rtt == 0)
		rtt = 1;
	if (!p->rtt_valid) {
		p->rtt_valid = true;
		p->rtt_min = rtt;
		p->srtt = rtt;
		p->rttvar = rtt / 2;
		return;
	}
	p->rtt_min = esp_min(p->rtt_min, rtt);
	/* Only as far as it stays plausible: the peer's word must not make a path look short. */
	if (rtt >= p->rtt_min + delay)
		rtt -= delay;
	diff = p->srtt > rtt ? p->srtt - rtt : rtt - p->srtt;
	p->rttvar = (3 * p->rttvar + diff) >> 2;
	p->srtt = (7 * p->srtt + rtt) >> 3;
}

static inline u64 esp_rtt_smooth(const struct esp_flow *f, const struct esp_path *p)
{
	return p->rtt_valid ? p->srtt : f->node->p.rtt_init;
}

static inline u64 esp_rtt_spread(const struct esp_flow *f, const struct esp_path *p)
{
	return p->rtt_valid ? 4 * p->rttvar : 2 * f->node->p.rtt_init;
}

/*
 * How long an acknowledgement waits for a message to go with. Where frames take long, answers do,
 * too; but only who answers waits, since his round trip is as old as his last message.
 */
static inline u64 esp_rtt_ack(const struct esp_flow *f, const struct esp_path *p)
{
	u64 least = f->node->p.ack_delay;

	if (!p->rtt_valid || !p->answers)
		return least;
	return esp_min(esp_max(p->srtt + p->srtt / 2, least), 4 * least);
}

/* How long the peer's may wait: it sees about the same round trip. */
static inline u64 esp_rtt_acked(const struct esp_flow *f, const struct esp_path *p)
{
	u64 least = f->node->p.ack_delay;

	return p->rtt_valid ? esp_min(esp_max(2 * p->srtt, least), 4 * least) : least;
}

/* How long after the last frame something is missing, if nothing came back. */
static inline u64 esp_rtt_probe(const struct esp_flow *f, const struct esp_path *p)
{
	u64 base = esp_rtt_smooth(f, p);
	/* The peer's timer for an acknowledgement may be a little late. */
	u64 probe = base + esp_max(esp_rtt_spread(f, p), base >> 3) + esp_rtt_acked(f, p) +
		    f->node->p.probe_min;

	/* One answer that took seconds must not make the next loss take as long. */
	return esp_min(probe, f->node->p.rto_max);
}

static inline u64 esp_rtt_rto(const struct esp_flow *f, const struct esp_path *p)
{
	u64 rto = esp_max(esp_rtt_smooth(f, p) + esp_rtt_spread(f, p) + esp_rtt_acked(f, p),
			  f->node->p.rto_min);

	rto <<= p->backoff > 16 ? 16 : p->backoff;
	return esp_min(rto, f->node->p.rto_max);
}

/* A frame overtaken by this much is lost. */
static inline u64 esp_rtt_reorder(const struct esp_flow *f, const struct esp_path *p)
{
	u64 base = esp_rtt_smooth(f, p);

	return base + (base >> 3) + ESP_US;
}

#endif /* ESP_RTT_H */
