// SPDX-License-Identifier: BSD-3-Clause
/*
 * Runs, as the interpreter and the protocol see them: their messages, their ends, and the look at
 * the result. A run's memory is kept by its member and used again.
 */
#include <stdlib.h>

#include "esp_batch.h"
#include "env_run.h"
#include "inside.h"

bool sim_past(const struct sim_member *m, u32 number)
{
	u32 i = number - m->past_from;

	if (number < m->past_from)
		return true;
	return i < 1024 && (m->past[i / 64] >> i % 64 & 1);
}

static void note_past(struct sim_member *m, u32 number)
{
	u32 i = number - m->past_from, w;

	if (i >= 1024) {
		sim_fail(m->s, "run %u ends too far ahead of run %u", number, m->past_from);
		return;
	}
	m->past[i / 64] |= 1ull << i % 64;
	while (m->past[0] == ~0ull) {
		for (w = 0; w < 15; w++)
			m->past[w] = m->past[w + 1];
		m->past[15] = 0;
		m->past_from += 64;
	}
}

static void bind(struct sim_run *r, u32 buf, u8 *base, u64 len, struct core_segment **next)
{
	struct core_binding *b = buf == GOAL_MAX_BUFS ? &r->run.scratch : &r->run.buf[buf];
	u64 cut[2];

	b->seg = *next;
	b->len = len;
	b->nseg = 1;
	if (!r->s->c.adversary.segments || buf == GOAL_MAX_BUFS || len < 3) {
		*(*next)++ = (struct core_segment){ base, len };
		return;
	}
	cut[0] = len / 3;
	cut[1] = len - len / 5;
	b->nseg = 3;
	*(*next)++ = (struct core_segment){ base, cut[0] };
	*(*next)++ = (struct core_segment){ base + cut[0], cut[1] - cut[0] };
	*(*next)++ = (struct core_segment){ base + cut[1], len - cut[1] };
}

static size_t bytes_of(const struct sim_part *part)
{
	return sizeof(struct sim_run) + core_run_bytes(&part->sched) +
	       (part->sched.hdr->nrecv + 1) * sizeof(u64) + part->all + 8;
}

static struct sim_run *new_run(struct sim_member *m, struct sim_program *p)
{
	const struct sim_part *part = &p->part[m->m.rank];
	struct sim_run *r, **at;
	struct core_segment *next;
	u8 *arrays;
	u32 b;

	for (at = &m->idle; (r = *at) != NULL; at = &r->next)
		if (r->p == p) {
			*at = r->next;
			return r;
		}
	r = sim_get(m->s, bytes_of(part));
	memset(r, 0, sizeof(*r));
	r->s = m->s;
	r->m = m;
	r->p = p;
	r->e.run = &r->run;
	r->e.m = &m->m;
	arrays = (u8 *)(r + 1);
	core_run_init(&r->run, &part->sched, arrays);
	arrays += (core_run_bytes(&part->sched) + 7) & ~7ull;
	r->placed = (u64 *)arrays;
	r->mem = arrays + part->sched.hdr->nrecv * sizeof(u64);
	next = r->seg;
	for (b = 0; b < part->sched.hdr->nbufs; b++)
		if (p->lent)
			r->run.buf[b] = m->seat->job->lent[m->m.rank * GOAL_MAX_BUFS + b];
		else
			bind(r, b, r->mem + part->off[b], part->sched.need[b], &next);
	bind(r, GOAL_MAX_BUFS, r->mem + part->off[GOAL_MAX_BUFS], part->sched.hdr->scratch, &next);
	return r;
}

void sim_run_free(struct sim_run *r)
{
	sim_put(r->s, r, bytes_of(&r->p->part[r->m->m.rank]));
}

static void msg_put(struct sim_msg *x)
{
	if (!--x->refs)
		sim_put(x->s, x, sizeof(*x) + (x->eager ? x->m.len : 0));
}

/* A run that has failed sends no more. */
static void give_up(struct sim_run *r)
{
	struct sim_msg *x = r->sends;

	while (x) {
		if (x->given_up) {
			x = x->next;
			continue;
		}
		x->given_up = true;
		x->refs++;
		esp_send_cancel(&x->m, r->s->now);
		msg_put(x);
		x = r->sends;
	}
}

void sim_run_release(struct sim_run *r)
{
	struct sim_member *m = r->m;

	if (!r->refs) {
		sim_fail(r->s, "a reference to a run is given back that nobody holds");
		return;
	}
	if (--r->refs)
		return;
	if (!r->over)
		sim_fail(r->s, "a run that is not over has no reference any more");
	r->next = m->idle;
	m->idle = r;
}

/* Messages within the node that came before their run. */
static void early(struct sim_run *r)
{
	struct sim_member *m = r->m;
	struct sim_local **at = &m->early, *l, *mine = NULL, **last = &mine;

	while ((l = *at) != NULL) {
		if (l->opid == r->e.opid && l->start == r->e.start) {
			*at = l->next;
			*last = l;
			last = &l->next;
		} else {
			at = &l->next;
		}
	}
	*last = NULL;
	while ((l = mine) != NULL) {
		mine = l->next;
		sim_local_arrive(l);
	}
}

void sim_seat_go(struct sim_seat *seat)
{
	struct sim_member *m = seat->m;
	struct sim *s = m->s;
	struct sim_job *job = seat->job;
	struct sim_run *r, **at;
	struct esp_node *n = m->m.ep->node;
	u32 number = m->g->base + seat->next, rank;
	s32 status;

	/* Which program it is, all ranks draw alike. */
	r = new_run(m,
		    job->program[sim_mix(s->c.seed ^ number * 0x1000193ull) % job->plan.programs]);
	seat->next++;
	seat->active++;
	r->number = number;
	r->e.opid = sim_opid(number);
	r->e.start = sim_startno(number);
	r->e.refused = false;
	r->over = false;
	r->began = s->now;
	r->refs = 2; /* ours, and that of the list */
	sim_fill(r->p, m->m.rank, r->mem);
	memset(r->placed, 0, r->run.sched->hdr->nrecv * sizeof(u64));
	core_run_reset(&r->run);
	s->t.starts++;

	for (at = &m->runs; *at; at = &(*at)->next)
		;
	r->next = NULL;
	*at = r;
	r->active = true;
	sim_member_arm(m);
	esp_batch_enter(n);
	status = esp_run_doomed(&m->m, r->e.opid, r->e.start, &rank);
	if (status)
		core_cancel(&r->run, status, rank);
	esp_run_started(&r->e, s->now);
	core_start(&r->run);
	if (unlikely(m->early != NULL))
		early(r);
	esp_batch_leave(n, s->now);
	if (unlikely(!r->over && sim_chance(&s->random, s->c.adversary.cancel)))
		env_run_cancel(&r->e, -ECANCELED, m->m.rank);
	sim_run_release(r);
}

static void at_some_time(struct sim_run *r, enum sim_event kind)
{
	struct sim *s = r->s;

	r->refs++;
	sim_at(s, s->now + sim_below(&s->random, 20 * ESP_US), kind, r);
}

void env_run_later(struct core_run *cr)
{
	at_some_time(sim_run_of(cr), SIM_EV_RESUME);
}

void sim_run_again(struct sim_run *r, bool pump)
{
	struct esp_node *n = &r->m->node->n;

	esp_batch_enter(n);
	if (pump)
		core_pump(&r->run);
	else
		core_resume(&r->run);
	esp_batch_leave(n, r->s->now);
	sim_run_release(r);
}

static void end_receptions(struct sim_run *r)
{
	u32 at = 0;

	while (esp_run_cancelled(&r->e, &at, r->s->now))
		;
}

/* Peers hear of it by the protocol. */
void env_run_failed(struct core_run *cr)
{
	struct sim_run *r = sim_run_of(cr);

	if (!r->s->c.adversary.pause)
		return; /* env_run_cancel() does it at once */
	give_up(r);
	end_receptions(r);
}

void env_run_cancel(struct esp_run *er, s32 status, u32 rank)
{
	struct sim_run *r = sim_erun_of(er);
	struct sim *s = r->s;

	if (!s->ending && !r->m->left && sim_chance(&s->random, s->c.adversary.pause)) {
		core_cancel_quiet(&r->run, status, rank);
		at_some_time(r, SIM_EV_PUMP);
		return;
	}
	r->refs++;
	core_cancel(&r->run, status, rank);
	give_up(r);
	end_receptions(r);
	sim_run_release(r);
}

static void compare(struct sim_run *r)
{
	const struct sim_part *part = &r->p->part[r->m->m.rank];
	const struct core_sched *sched = &part->sched;
	struct sim *s = r->s;
	u64 i;

	for (i = 0; i < sched->hdr->nrecv; i++)
		if (r->placed[i] < r->run.rlen[i])
			sim_fail(s,
				 "rank %u, run %u: receive %u got %llu bytes, but %llu were put "
				 "into "
				 "its buffer",
				 r->m->m.rank, r->number, sched->match[i],
				 (unsigned long long)r->run.rlen[i],
				 (unsigned long long)r->placed[i]);
	if (!part->ref)
		return; /* a wrong program, or the user's own memory */
	s->t.checked += part->mem;
	if (!memcmp(r->mem, part->ref, part->mem))
		return;
	for (i = 0; r->mem[i] == part->ref[i]; i++)
		;
	sim_fail(s, "rank %u, run %u: wrong result, byte %llu of its buffers is %02x and not %02x",
		 r->m->m.rank, r->number, (unsigned long long)i, r->mem[i], part->ref[i]);
}

void env_run_done(struct core_run *cr)
{
	struct sim_run *r = sim_run_of(cr), **at;
	struct sim *s = r->s;
	struct sim_member *m = r->m;

	if (s->held)
		sim_fail(s, "env_run_done() is called under a lock");
	if (r->over) {
		sim_fail(s, "rank %u, run %u is over twice", m->m.rank, r->number);
		return;
	}
	r->over = true;
	note_past(m, r->number);
	for (at = &m->runs; *at != r; at = &(*at)->next)
		;
	*at = r->next;
	r->active = false;
	if (cr->status) {
		s->t.runs_failed++;
		if (m->seat && !m->seat->job->plan.may_fail && !s->ending)
			sim_fail(s, "rank %u, run %u failed with %d, because of rank %d", m->m.rank,
				 r->number, cr->status, (int)cr->err_peer);
		esp_run_abort(&r->e, cr->status, cr->err_peer, s->now);
	} else {
		s->t.runs_good++;
		compare(r);
	}
	if (m->seat)
		sim_seat_over(m->seat, r->number, s->now - r->began);
	sim_run_release(r);
}

/* A message to a rank of the same node: it is there after a while. */
static int send_local(struct sim_run *r, const struct goal_op *o, struct sim_member *to, u64 len)
{
	struct sim *s = r->s;
	struct sim_local *l = sim_get(s, sizeof(*l) + len);

	l->to = to;
	l->opid = r->e.opid;
	l->start = r->e.start;
	l->src = r->m->m.rank;
	l->tag = o->tag;
	l->instance = o->instance;
	l->len = len;
	sim_copy_out(core_buffer(&r->run, o->src_buf), o->src_off, l->bytes, len);
	sim_at(s, s->now + s->c.local_ns, SIM_EV_LOCAL, l);
	return CORE_DONE;
}

static void local_free(struct sim_local *l)
{
	sim_put(l->to->s, l, sizeof(*l) + l->len);
}

static int local_deliver(struct sim_run *r, u32 op, struct sim_local *l)
{
	const struct goal_op *o = &r->run.sched->op[op];
	u64 len = l->len;

	if (len <= o->len) {
		sim_copy_in(core_buffer(&r->run, o->dst_buf), o->dst_off, l->bytes, len);
		r->run.rlen[o->slot] = len;
		r->placed[o->slot] += len;
	}
	local_free(l);
	return len <= o->len ? 0 : -EMSGSIZE;
}

void sim_local_arrive(struct sim_local *l)
{
	struct sim_member *m = l->to;
	struct esp_run *er;
	struct sim_run *r;
	s64 rc;

	er = m->known ? env_run_find(&m->m, l->opid, l->start) : NULL;
	if (!er) {
		if (!m->ep->alive || m->m.failed || sim_past(m, sim_number(l->opid, l->start))) {
			local_free(l);
			return;
		}
		l->next = m->early;
		m->early = l;
		return;
	}
	r = sim_erun_of(er);
	esp_batch_enter(m->m.ep->node);
	rc = core_message_claim(&r->run, l->src, l->tag, l->instance);
	if (rc >= 0) {
		core_op_done(&r->run, (u32)rc, local_deliver(r, (u32)rc, l));
	} else if (rc != -EAGAIN ||
		   core_message(&r->run, l->src, l->tag, l->instance, (u8 *)l + 1)) {
		if (rc == -EEXIST)
			sim_fail(m->s, "rank %u, run %u: a local message finds its receive taken",
				 m->m.rank, r->number);
		else if (rc == -ENOENT)
			env_run_cancel(er, -EPROTO, l->src);
		local_free(l);
	}
	esp_batch_leave(m->m.ep->node, m->s->now);
	env_run_put(er);
}

static struct sim_local *local_of(void *msg)
{
	return (uintptr_t)msg & 1 ? (struct sim_local *)((u8 *)msg - 1) : NULL;
}

int env_send(struct core_run *cr, u32 op)
{
	struct sim_run *r = sim_run_of(cr);
	struct sim *s = r->s;
	struct sim_member *m = r->m, *to;
	const struct goal_op *o = &cr->sched->op[op];
	const struct esp_table *tab = &m->g->table;
	u64 len = core_op_bytes(cr, o);
	struct sim_msg *x;
	bool eager = len <= s->p.eager_max;
	int rc;

	if (s->held)
		sim_fail(s, "env_send() is called under a lock");
	to = m->g->member[o->peer];
	if (to->node == m->node)
		return send_local(r, o, to, len);
	x = sim_get(s, sizeof(*x) + (eager ? len : 0));
	memset(x, 0, sizeof(*x));
	x->s = s;
	x->run = r;
	x->op = op;
	x->eager = eager;
	x->refs = 1;
	x->m.key.nonce = m->m.nonce;
	x->m.key.cookie = tab->rank[o->peer].cookie;
	x->m.key.opid = r->e.opid;
	x->m.key.start = r->e.start;
	x->m.key.src = m->m.rank;
	x->m.key.tag = o->tag;
	x->m.key.instance = o->instance;
	x->m.ep = &m->ep->e;
	x->m.ref = x;
	x->m.len = len;
	s->t.payload += len;
	if (eager) {
		sim_copy_out(core_buffer(cr, o->src_buf), o->src_off, x->copy, len);
	} else {
		r->refs++;
		x->next = r->sends;
		x->prev = &r->sends;
		if (x->next)
			x->next->prev = &x->next;
		r->sends = x;
	}
	rc = esp_send(&m->node->n, &x->m, &tab->peer[tab->rank[o->peer].peer], s->now);
	if (!rc)
		return eager ? CORE_DONE : CORE_PENDING;
	if (!s->c.adversary.no_memory && !s->ending && env_any_ep(&m->node->n))
		sim_fail(s, "rank %u, run %u: esp_send() says %d", m->m.rank, r->number, rc);
	if (!eager) {
		*x->prev = x->next;
		if (x->next)
			x->next->prev = x->prev;
		r->refs--; /* the caller has one */
	}
	msg_put(x);
	return rc;
}

void env_sent(struct esp_msg *em, s32 status)
{
	struct sim_msg *x = (struct sim_msg *)em;
	struct sim *s = x->s;

	if (s->held)
		sim_fail(s, "env_sent() is called under a lock");
	if (!x->eager) {
		struct sim_run *r = x->run;

		if (r->over)
			sim_fail(s, "a long send of run %u ends after the run", r->number);
		*x->prev = x->next;
		if (x->next)
			x->next->prev = x->prev;
		core_op_done(&r->run, x->op, status);
		/* The rest of the run ends too, what it receives included. */
		if (status)
			env_run_cancel(&r->e, status, r->run.sched->op[x->op].peer);
		sim_run_release(r);
	}
	msg_put(x);
}

int env_post(struct core_run *cr, u32 op)
{
	struct sim_run *r = sim_run_of(cr);

	if (r->m->g->member[cr->sched->op[op].peer]->node != r->m->node)
		esp_run_posted(&r->e, op, r->s->now);
	return CORE_PENDING;
}

int env_deliver(struct core_run *cr, u32 op, void *msg)
{
	struct sim_run *r = sim_run_of(cr);
	struct sim_local *l = local_of(msg);

	if (r->s->held)
		sim_fail(r->s, "env_deliver() is called under a lock");
	return l ? local_deliver(r, op, l) : esp_deliver(&r->e, op, msg, r->s->now);
}

void env_msg_drop(struct core_run *cr, void *msg)
{
	struct sim_local *l = local_of(msg);

	if (l)
		local_free(l);
	else
		esp_drop(msg, sim_run_of(cr)->s->now);
}
