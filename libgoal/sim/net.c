// SPDX-License-Identifier: BSD-3-Clause
/*
 * Links and switches. A link is busy until a point in time, in picoseconds; a frame that is put on
 * it leaves after that. What waits for an output port of a switch is what the port needs time
 * for, so a queue is a number, too. Each rail is a network of its own: nodes at leaf switches,
 * these at one spine, or a cable between any two nodes.
 */
#include "inside.h"

void sim_address(struct esp_addr *a, u32 node, u32 rail)
{
	memset(a, 0, sizeof(*a));
	a->carrier = ESP_CARRIER_ETHER;
	a->addr[0] = 2;
	a->addr[1] = (u8)rail;
	a->addr[2] = (u8)(node >> 24);
	a->addr[3] = (u8)(node >> 16);
	a->addr[4] = (u8)(node >> 8);
	a->addr[5] = (u8)node;
}

static bool resolve(const struct sim *s, const struct esp_addr *a, u32 rail, u32 *node)
{
	*node = (u32)a->addr[2] << 24 | a->addr[3] << 16 | a->addr[4] << 8 | a->addr[5];
	return a->carrier == ESP_CARRIER_ETHER && a->addr[0] == 2 && a->addr[1] == rail &&
	       *node < s->c.nodes;
}

static u32 wire_bytes(const struct sim_frame *fr)
{
	return (fr->len < SIM_ETH_MIN ? SIM_ETH_MIN : fr->len) + SIM_ETH + SIM_ETH_WIRE;
}

static u64 travel(struct sim *s)
{
	return s->c.latency + (s->c.jitter ? sim_below(&s->random, s->c.jitter + 1) : 0);
}

/* Put it on a link that is free at *@free: when it is through, or 0: no room in the buffer. */
static u64 transmit(struct sim *s, u64 *free, u64 ps_kib, u32 bytes, u64 buffer)
{
	u64 now = s->now * 1000, waits = *free > now ? *free - now : 0;

	if (buffer) {
		u64 queued = (waits << 10) / ps_kib + bytes;

		if (queued > buffer) {
			s->t.lost_buffer++;
			return 0;
		}
		if (queued > s->t.port_max)
			s->t.port_max = queued;
	}
	*free = now + waits + (ps_kib * bytes >> 10);
	return (*free + 999) / 1000;
}

void sim_net_send(struct sim_frame *fr)
{
	struct sim *s = fr->s;
	struct sim_node *n = &s->node[fr->src];
	struct sim_rail *r = &n->rail[fr->rail];
	u32 bytes = wire_bytes(fr);
	u64 at;

	if (fr->len > ESP_MTU_MIN && fr->len > r->tried &&
	    fr->bytes[sizeof(struct esp_hdr)] == ESP_K_PAD)
		r->tried = (u16)fr->len;
	s->t.frames++;
	s->t.bytes += fr->len;
	s->t.wire_bytes += bytes;
	if (!n->alive || !r->present || r->cut || s->ending ||
	    !resolve(s, &fr->out.to, fr->rail, &fr->dst)) {
		if (s->c.adversary.stranger_every && !s->ending && fr->dst >= s->c.nodes &&
		    fr->dst < 3 * s->c.nodes)
			sim_stranger_hears(fr);
		s->t.lost_cut++;
		sim_frame_put(fr);
		return;
	}
	if (unlikely(s->c.pcap != NULL))
		sim_pcap(s, fr);
	at = transmit(s, &r->tx_free, s->ps_kib, bytes, 0) + travel(s);
	sim_at(s, at, s->c.leaf ? SIM_EV_HOP : SIM_EV_FRAME, fr);
}

void sim_net_hop(struct sim_frame *fr)
{
	struct sim *s = fr->s;
	u32 from = fr->src / s->c.leaf, to = fr->dst / s->c.leaf;
	u32 bytes = wire_bytes(fr);
	u64 at;

	if (from == to || fr->hop == 2) {
		at = transmit(s, &s->node[fr->dst].rail[fr->rail].port_free, s->ps_kib, bytes,
			      s->c.buffer);
		fr->hop = 3;
	} else if (fr->hop == 0) {
		at = transmit(s, &s->up_free[fr->rail * s->leaves + from], s->ps_kib_up, bytes,
			      s->c.buffer);
		fr->hop = 1;
	} else {
		at = transmit(s, &s->down_free[fr->rail * s->leaves + to], s->ps_kib_up, bytes,
			      s->c.buffer);
		fr->hop = 2;
	}
	if (!at) {
		sim_frame_put(fr);
		return;
	}
	sim_at(s, at + travel(s), fr->hop == 3 ? SIM_EV_FRAME : SIM_EV_HOP, fr);
}

static u64 drops(const struct sim *s)
{
	u64 sum = 0;
	u32 i;

	for (i = ESP_C_drop_short; i <= ESP_C_drop_busy; i++)
		sum += s->count[i];
	return sum;
}

/* Reasons to drop that no node gives another one, however late its frames come. */
static u64 faults(const struct sim *s)
{
	return s->count[ESP_C_drop_reserved] + s->count[ESP_C_drop_hello_fields] +
	       s->count[ESP_C_drop_pn_ahead] + s->count[ESP_C_drop_back] +
	       s->count[ESP_C_drop_chunk_kind] + s->count[ESP_C_drop_chunk_len] +
	       s->count[ESP_C_drop_chunk_fields] + s->count[ESP_C_drop_unnumbered] +
	       s->count[ESP_C_drop_payload_len] + s->count[ESP_C_drop_ack_future] +
	       s->count[ESP_C_drop_mid_ahead];
}

/* Has the node noted its number? */
static bool noted(struct sim_node *n, const struct sim_frame *fr)
{
	const struct esp_hdr *h = (const struct esp_hdr *)fr->bytes;
	u32 pn = le32_to_cpu(h->pn);
	struct esp_flow *f;
	bool is = false;

	if (h->type != ESP_T_DATA || !(h->flags & ESP_F_NUMBERED))
		return false;
	f = env_flow_by_cid(&n->n, le64_to_cpu(h->cid));
	if (!f)
		return false;
	if (f->state == ESP_FLOW_UP && h->path < ESP_PATHS) {
		const struct esp_path *p = &f->path[h->path];

		is = p->rx_top - pn < ESP_PN_SPAN &&
		     (p->rx_bits[pn % ESP_PN_SPAN / 64] >> pn % 64 & 1);
	}
	env_flow_put(f);
	return is;
}

/* Once more, at once: of all that could stop it, its number is the first. */
static void twice(struct sim *s, struct sim_node *n, struct sim_rail *r, struct sim_frame *fr)
{
	u64 before = s->count[ESP_C_drop_pn_duplicate];

	if (!noted(n, fr))
		return;
	esp_frame_in(&r->r, &fr->from, fr, fr->len, s->now);
	if (s->count[ESP_C_drop_pn_duplicate] == before)
		sim_fail(s, "node %u took a frame twice", n->index);
}

/*
 * Into the node. A frame that must be dropped must be counted as such, and a genuine one is never
 * taken for nonsense.
 */
void sim_net_deliver(struct sim_frame *fr)
{
	struct sim *s = fr->s;
	struct sim_node *n = &s->node[fr->dst];
	struct sim_rail *r = &n->rail[fr->rail];
	u64 now = sim_entry(s), before = fr->wrong ? drops(s) : faults(s);
	u64 between = s->t.interleaved;

	if (!n->alive || r->cut) {
		s->t.lost_cut++;
	} else { /* also on a rail that has just gone down */
		s->t.delivered++;
		if (fr->len < SIM_ETH_MIN && !fr->forged) {
			memset(fr->bytes + fr->len, 0, SIM_ETH_MIN - fr->len);
			fr->len = SIM_ETH_MIN;
		}
		esp_frame_in(&r->r, &fr->from, fr, fr->len, now);
		if (fr->wrong && drops(s) == before)
			sim_fail(s, "node %u did not drop a frame in which %s is wrong", n->index,
				 fr->wrong);
		if (!fr->wrong && !fr->forged && s->t.interleaved == between && faults(s) != before)
			sim_fail(s, "node %u took a genuine frame for nonsense", n->index);
		if (!fr->wrong && !fr->forged && r->r.up && !s->c.adversary.corrupt &&
		    !s->c.adversary.interleave && s->t.delivered % 64 == 0)
			twice(s, n, r, fr);
	}
	sim_frame_put(fr);
}

/* At the door of its node. */
void sim_net_arrive(struct sim_frame *fr)
{
	if (fr->hop == 4 || sim_fate(fr))
		sim_net_deliver(fr);
}

void sim_net_inject(struct sim_frame *fr, u64 after)
{
	struct sim *s = fr->s;

	fr->hop = 4; /* it has met the adversary */
	if (unlikely(s->c.pcap != NULL))
		sim_pcap(s, fr);
	sim_at(s, s->now + after, SIM_EV_FRAME, fr);
}
