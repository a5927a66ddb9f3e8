// SPDX-License-Identifier: BSD-3-Clause
/*
 * Locks. One thread simulates several CPUs: wherever the core releases a lock, another event may be
 * carried out to its end, as if another CPU had been waiting for that. Nobody ever holds two
 * locks, so one word says who holds what.
 */
#include "inside.h"

void sim_lock_fault(struct sim *s, const void *what, bool unlock)
{
	if (unlock)
		sim_fail(s, "lock %p is released, but %p is held", what, s->held);
	else
		sim_fail(s, "lock %p is taken while %p is held", what, s->held);
}

void sim_come_between(struct sim *s)
{
	u64 now = s->now;

	if (s->cpu == SIM_CPUS - 1 || s->ending || s->failed || !s->queue.n ||
	    !sim_chance(&s->random, s->c.adversary.interleave) ||
	    sim_queue_peek(&s->queue) > now + s->c.adversary.interleave_ns)
		return;
	s->cpu++;
	do {
		u64 at = sim_queue_time(&s->queue);
		u32 kind;
		void *object = sim_queue_pop(&s->queue, &kind);

		if (at > s->now)
			s->now = at;
		s->t.events++;
		s->t.interleaved++;
		sim_dispatch(s, kind, object);
	} while (s->queue.n && sim_chance(&s->random, 32768) &&
		 sim_queue_peek(&s->queue) <= now + s->c.adversary.interleave_ns);
	s->cpu--;
}

u64 sim_entry(struct sim *s)
{
	u64 now = s->now;

	if (unlikely(s->c.adversary.behind))
		sim_come_between(s);
	return now;
}

void env_flow_lock(struct esp_flow *ef)
{
	struct sim_flow *f = sim_flow_of(ef);
	struct sim *s = f->s;

	sim_lock(s, f);
	if (s->c.check && !f->touched) {
		f->touched = true;
		f->refs++;
		f->touched_next = s->touched;
		s->touched = f;
	}
}

void env_flow_unlock(struct esp_flow *f)
{
	sim_unlock(sim_flow_of(f)->s, f);
}

void env_node_lock(struct esp_node *n)
{
	sim_lock(sim_node_of(n)->s, n);
}

void env_node_unlock(struct esp_node *n)
{
	sim_unlock(sim_node_of(n)->s, n);
}

void env_endings(struct esp_node *n, s32 more)
{
	sim_node_of(n)->endings += more;
}

bool env_any_ending(struct esp_node *n)
{
	return sim_node_of(n)->endings != 0;
}

struct esp_batch *env_batch(struct esp_node *en)
{
	struct sim_node *n = sim_node_of(en);

	return &n->batch[n->s->cpu];
}

u64 env_random(struct esp_node *n)
{
	return sim_u64(&sim_node_of(n)->s->secrets);
}

/* Keyed, and mixed well enough for an adversary that does not try to invert it. */
u64 env_prf(struct esp_node *en, u32 key, const void *data, u32 len)
{
	const struct sim_node *n = sim_node_of(en);
	u64 h = n->prf_key[0] ^ (u64)key << 32 ^ len;
	const u8 *p = data;

	while (len) {
		u32 part = len < 8 ? len : 8;
		u64 v = 0;

		memcpy(&v, p, part);
		h = sim_mix(h ^ v) + n->prf_key[1];
		p += part;
		len -= part;
	}
	return sim_mix(h);
}

void env_count(struct esp_node *n, u32 c, u64 by)
{
	sim_node_of(n)->s->count[c] += by;
}
