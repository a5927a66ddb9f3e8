// SPDX-License-Identifier: BSD-3-Clause
/*
 * Members of groups: when they become known at their node, their timers, their failure, their
 * leaving.
 */
#include <stdlib.h>

#include "inside.h"

struct sim_member *sim_member_new(struct sim_group *g, u32 rank, struct sim_ep *ep)
{
	struct sim *s = g->s;
	struct sim_member *m = sim_get(s, sizeof(*m));

	memset(m, 0, sizeof(*m));
	m->s = s;
	m->g = g;
	m->node = ep->node;
	m->ep = ep;
	m->m.ep = &ep->e;
	m->m.table = &g->table;
	m->m.nonce = g->nonce;
	m->m.rank = rank;
	return m;
}

void sim_member_join(struct sim_member *m)
{
	if (m->known || !m->ep->alive)
		return;
	sim_member_insert(m);
	esp_member_added(&m->m, m->s->now);
	if (m->seat && !m->seat->job->plan.lockstep)
		sim_seat_ask(m->seat);
}

void sim_member_arm(struct sim_member *m)
{
	if (m->timer || m->s->ending)
		return;
	m->timer = true;
	sim_at(m->s, m->s->now + m->s->p.watch, SIM_EV_MEMBER, m);
}

void sim_member_timer(struct sim_member *m)
{
	struct esp_run *er = NULL;
	struct sim *s = m->s;
	struct sim_run *r;
	bool needed;

	m->timer = false;
	if (!m->known || s->ending)
		return;
	for (r = m->runs; r; r = r->next)
		if (m->seat && m->seat->job->plan.within &&
		    s->now - r->began > m->seat->job->plan.within) {
			sim_fail(s,
				 "rank %u, run %u hangs since %llu ms, %u operations undone, %u "
				 "busy, status %d",
				 m->m.rank, r->number,
				 (unsigned long long)((s->now - r->began) / ESP_MS), r->run.undone,
				 r->run.busy, r->run.status);
			return;
		}
	needed = esp_member_timer(&m->m, s->now);
	do {
		er = esp_member_watch(&m->m, er, s->now);
	} while (er);
	if (needed || m->runs)
		sim_member_arm(m);
}

/* The ranks that @m has to tell of a failure: one at each distance 2^k, bit k. */
static u32 to_tell(const struct sim_member *m)
{
	u32 k = 0;

	while (k < ESP_FANOUT && 1ull << k < m->g->ranks)
		k++;
	return (u32)((1ull << k) - 1);
}

void env_member_failed(struct esp_member *em)
{
	struct sim_member *m = sim_member_of(em);
	struct sim *s = m->s;
	struct esp_run *r = NULL;
	struct sim_local *l;

	if (s->held)
		sim_fail(s, "env_member_failed() is called under a lock");
	/* Another entry may have begun to tell it. */
	if (!s->c.adversary.interleave && (em->tell != to_tell(m) || !em->telling))
		sim_fail(s, "rank %u keeps the failure of its group for itself", em->rank);
	sim_member_arm(m);
	while ((r = env_run_next(em, r)) != NULL)
		env_run_cancel(r, em->failed, em->failed_rank);
	while ((l = m->early) != NULL) {
		m->early = l->next;
		sim_put(s, l, sizeof(*l) + l->len);
	}
}

/* Its endpoint has closed, or its node is dead: it cannot be found any more. */
void sim_member_leave(struct sim_member *m)
{
	struct sim *s = m->s;
	struct sim_local *l;

	m->left = true;
	if (m->known) {
		struct esp_run *r = NULL;

		while ((r = env_run_next(&m->m, r)) != NULL)
			env_run_cancel(r, -ECONNRESET, m->m.rank);
		sim_member_unlink(m);
		if (m->seat) /* before another entry asks it for its next run */
			sim_seat_left(m->seat);
		esp_member_removed(&m->m, s->now);
	}
	while ((l = m->early) != NULL) {
		m->early = l->next;
		sim_put(s, l, sizeof(*l) + l->len);
	}
	if (m->seat)
		sim_seat_left(m->seat);
}
