// SPDX-License-Identifier: BSD-3-Clause
/* The adversary: what becomes of each frame, and the faults it plans. */
#include "inside.h"

#define FAULT_TIME (20 * ESP_S)

static struct sim_frame *copy(const struct sim_frame *fr)
{
	struct sim_frame *c = sim_frame_get(fr->s);
	u8 *bytes = c->bytes;

	c->from = fr->from;
	c->src = fr->src;
	c->dst = fr->dst;
	c->len = fr->len;
	c->rail = fr->rail;
	c->bytes = bytes;
	memcpy(c->bytes, fr->bytes, fr->len);
	return c;
}

static void again(struct sim_frame *fr, u64 after)
{
	fr->hop = 4;
	sim_at(fr->s, fr->s->now + after, SIM_EV_FRAME, fr);
}

static void corrupt(struct sim *s, struct sim_frame *fr)
{
	u32 n = 1 + (u32)sim_below(&s->random, 3), at;

	s->t.corrupted++;
	while (n--) {
		at = (u32)sim_below(&s->random, (u64)fr->len * 8);
		fr->bytes[at / 8] ^= (u8)(1 << at % 8);
	}
	if (sim_chance(&s->random, 8192)) /* and some are cut off */
		fr->len = (u32)sim_below(&s->random, fr->len + 1);
}

static u8 type_of(const struct sim_frame *fr)
{
	return ((const struct esp_hdr *)fr->bytes)->type;
}

bool sim_fate(struct sim_frame *fr)
{
	struct sim *s = fr->s;
	const struct sim_adversary *a = &s->c.adversary;
	struct sim_node *n = &s->node[fr->dst];
	u64 behind = a->late_max ? a->late_max : 1;

	if (unlikely(s->sides && s->node[fr->src].side != n->side)) {
		s->t.lost_cut++;
		goto lost;
	}
	if (unlikely(n->rail[fr->rail].hole && fr->len > n->rail[fr->rail].hole)) {
		s->t.lost_mtu++;
		goto lost;
	}
	if (sim_chance(&s->random, a->drop)) {
		s->t.lost_chance++;
		goto lost;
	}
	if (sim_chance(&s->random, a->twice)) {
		s->t.twice++;
		/* Now and then one turns up when nobody remembers it. */
		again(copy(fr), sim_chance(&s->random, 4096) ? sim_below(&s->random, 2 * ESP_S)
							     : sim_below(&s->random, behind));
	}
	if (unlikely(a->again) && type_of(fr) == ESP_T_OPEN && sim_chance(&s->random, a->again))
		again(copy(fr), sim_below(&s->random, behind));
	if (sim_chance(&s->random, a->mangle)) {
		struct sim_frame *c = copy(fr);

		if (sim_mangle(c)) {
			s->t.mangled++;
			/* Ahead of the genuine one, or behind it. */
			if (sim_chance(&s->random, 32768))
				sim_net_deliver(c);
			else
				again(c, sim_below(&s->random, behind));
		} else {
			sim_frame_put(c);
		}
	}
	if (sim_chance(&s->random, a->corrupt))
		corrupt(s, fr);
	if (sim_chance(&s->random, a->late)) {
		s->t.late++;
		again(fr, sim_below(&s->random, behind));
		return false;
	}
	/* Only now: while it was on its way, more could be granted. */
	if (unlikely(a->beyond) && !a->corrupt && type_of(fr) == ESP_T_DATA &&
	    sim_chance(&s->random, a->beyond))
		sim_beyond(fr);
	return true;
lost:
	sim_frame_put(fr);
	return false;
}

static u64 period(const struct sim_adversary *a, enum sim_deed deed)
{
	switch (deed) {
	case SIM_DEED_FORGE:
		return a->forge_every;
	case SIM_DEED_FLOOD:
		return a->flood_every;
	case SIM_DEED_CUT:
		return a->cut_every;
	case SIM_DEED_RAIL:
		return a->rail_every;
	case SIM_DEED_MTU:
		return a->mtu_every;
	case SIM_DEED_HOLE:
		return a->hole_every;
	case SIM_DEED_KILL:
		return a->kill_every;
	case SIM_DEED_FORGET:
		return a->forget_every;
	case SIM_DEED_STRANGER:
		return a->stranger_every;
	case SIM_DEED_TABLE:
		return a->table_every;
	default:
		return 0;
	}
}

static void plan(struct sim *s, enum sim_deed deed, u64 after, u32 node, u32 rail)
{
	struct sim_fault *x = sim_get(s, sizeof(*x));

	x->s = s;
	x->deed = deed;
	x->node = node;
	x->rail = rail;
	sim_at(s, s->now + after, SIM_EV_FAULT, x);
}

static void plan_next(struct sim *s, enum sim_deed deed)
{
	u64 every = period(&s->c.adversary, deed);

	/* What is not over by then hangs, and has to be simulated for long until it is found. */
	if (s->now > SIM_START + FAULT_TIME)
		return;
	if (every)
		plan(s, deed, 1 + sim_below(&s->random, 2 * every), 0, 0);
}

void sim_fault_start(struct sim *s)
{
	u32 d;

	for (d = 0; d < SIM_DEEDS; d++)
		plan_next(s, d);
}

static u16 some_mtu(struct sim *s)
{
	static const u16 usual[] = { 576, 1280, 1500, 4000, 9000 };

	if (sim_chance(&s->random, 32768))
		return usual[sim_below(&s->random, 5)];
	return (u16)sim_between(&s->random, ESP_MTU_MIN, ESP_MTU_MAX);
}

static void cut(struct sim *s)
{
	const struct sim_adversary *a = &s->c.adversary;
	u32 i;

	if (s->sides || (a->cuts && s->t.cuts >= a->cuts))
		return;
	s->sides = 1;
	s->t.cuts++;
	for (i = 0; i < s->c.nodes; i++)
		s->node[i].side = (u8)sim_below(&s->random, 2);
	plan(s, SIM_DEED_HEAL, sim_between(&s->random, a->cut_min, a->cut_max), 0, 0);
}

static void rail(struct sim *s, struct sim_node *n, u32 place)
{
	struct sim_rail *r = &n->rail[place];
	u32 i, left = 0;

	for (i = 0; i < s->c.rails; i++)
		left += n->rail[i].present && !n->rail[i].cut;
	if (!n->alive || !r->present || r->cut || left < 2)
		return;
	if (sim_chance(&s->random, 32768)) {
		r->cut = true;
	} else {
		esp_rail_down(&r->r, s->now);
		r->present = false;
	}
	plan(s, SIM_DEED_RAIL_UP, sim_below(&s->random, s->c.adversary.rail_every) + 1, n->index,
	     place);
}

static void rail_up(struct sim *s, struct sim_node *n, u32 place)
{
	struct sim_rail *r = &n->rail[place];

	r->cut = false;
	if (!n->alive || r->present)
		return;
	r->present = true;
	esp_rail_up(&r->r, (u8)place, r->r.mtu, s->now);
}

static void death(struct sim *s)
{
	const struct sim_adversary *a = &s->c.adversary;
	u32 i = (u32)sim_below(&s->random, s->c.nodes);

	if (s->kills >= a->kills)
		return;
	s->kills++;
	s->t.kills++;
	if (!a->endpoints && sim_chance(&s->random, 32768)) {
		sim_node_kill(&s->node[i]);
	} else {
		sim_ep_kill(
			&s->ep[i * s->c.ranks_per_node + sim_below(&s->random, s->c.ranks_per_node)],
			false);
	}
	if (a->restart_after)
		plan(s, SIM_DEED_RESTART, a->restart_after + a->slow_max, i, 0);
}

static void restart(struct sim *s, struct sim_node *n)
{
	if (n->alive)
		return;
	s->t.restarts++;
	sim_boot(n);
}

void sim_fault(struct sim_fault *x)
{
	struct sim *s = x->s;
	struct sim_node *n = &s->node[sim_below(&s->random, s->c.nodes)];
	u32 place = (u32)sim_below(&s->random, s->c.rails);
	enum sim_deed deed = x->deed;

	if (deed == SIM_DEED_RESTART || deed == SIM_DEED_RAIL_UP) {
		n = &s->node[x->node];
		place = x->rail;
	}
	sim_put(s, x, sizeof(*x));
	switch (deed) {
	case SIM_DEED_FORGE:
		sim_forge(s, false);
		break;
	case SIM_DEED_FLOOD:
		sim_forge(s, true);
		break;
	case SIM_DEED_STRANGER:
		sim_stranger(s);
		break;
	case SIM_DEED_TABLE:
		sim_wrong_table(s);
		break;
	case SIM_DEED_CUT:
		cut(s);
		break;
	case SIM_DEED_HEAL:
		s->sides = 0;
		break;
	case SIM_DEED_RAIL:
		rail(s, n, place);
		break;
	case SIM_DEED_RAIL_UP:
		rail_up(s, n, place);
		break;
	case SIM_DEED_MTU:
		if (n->alive && n->rail[place].present)
			esp_rail_mtu(&n->rail[place].r, some_mtu(s), s->now);
		break;
	case SIM_DEED_HOLE:
		n->rail[place].hole = sim_chance(&s->random, 32768) ? 0 : some_mtu(s);
		break;
	case SIM_DEED_KILL:
		death(s);
		break;
	case SIM_DEED_RESTART:
		restart(s, n);
		break;
	case SIM_DEED_FORGET:
		if (n->alive)
			sim_flow_forget(n);
		break;
	default:
		break;
	}
	plan_next(s, deed);
}
