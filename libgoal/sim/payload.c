// SPDX-License-Identifier: BSD-3-Clause
/*
 * Bytes of payload: into receives, into unexpected memory, within a run. Where the adversary wants
 * it so the core hears of the end of a move only later.
 */
#include "env_run.h"
#include "inside.h"

void sim_copy_out(const struct core_binding *b, u64 off, u8 *to, u64 len)
{
	while (len) {
		u64 run;
		const u8 *at = core_segment_at(b, off, &run);

		run = run < len ? run : len;
		memcpy(to, at, run);
		to += run;
		off += run;
		len -= run;
	}
}

void sim_copy_in(const struct core_binding *b, u64 off, const u8 *from, u64 len)
{
	while (len) {
		u64 run;
		u8 *at = core_segment_at(b, off, &run);

		run = run < len ? run : len;
		memcpy(at, from, run);
		from += run;
		off += run;
		len -= run;
	}
}

/* Into the receive @op of @r at @off. */
static void receive(struct sim_run *r, u32 op, u64 off, const u8 *from, u64 len)
{
	const struct goal_op *o = &r->run.sched->op[op];

	if (r->over || o->code != GOAL_OP_RECV || r->run.state[op] != CORE_OP_BUSY ||
	    off + len < off || off + len > o->len) {
		sim_fail(r->s,
			 "rank %u, run %u: %llu bytes at %llu are put into operation %u, which "
			 "%s",
			 r->m->m.rank, r->number, (unsigned long long)len, (unsigned long long)off,
			 op, r->over ? "is over" : "does not take them");
		return;
	}
	r->placed[o->slot] += len;
	sim_copy_in(core_buffer(&r->run, o->dst_buf), o->dst_off + off, from, len);
}

static bool later(struct sim *s)
{
	return unlikely(s->c.adversary.slow) && !s->ending &&
	       sim_chance(&s->random, s->c.adversary.slow);
}

static struct sim_late *late(struct sim *s, int what, struct sim_node *n, struct sim_run *r, u32 op)
{
	struct sim_late *l = sim_get(s, sizeof(*l));

	memset(l, 0, sizeof(*l));
	l->s = s;
	l->what = what;
	l->node = n;
	l->run = r;
	l->op = op;
	if (r)
		r->refs++;
	s->t.slow++;
	sim_at(s, s->now + sim_below(&s->random, s->c.adversary.slow_max + 1), SIM_EV_LATE, l);
	return l;
}

static int put(struct esp_rx *rx, struct sim_run *r, u32 op, u64 off, const struct sim_frame *fr,
	       u32 foff, u32 len)
{
	if (r)
		receive(r, op, off, fr->bytes + foff, len);
	else if (off + len > rx->total)
		sim_fail(fr->s, "%u bytes at %llu are put into a message of %llu", len,
			 (unsigned long long)off, (unsigned long long)rx->total);
	else
		memcpy((u8 *)rx->ref + off, fr->bytes + foff, len);
	return CORE_DONE;
}

int env_place(struct esp_rx *rx, struct esp_run *er, u32 op, u64 off, void *frame, u32 foff,
	      u32 len)
{
	struct sim_run *r = er ? sim_erun_of(er) : NULL;
	struct sim_frame *fr = frame;
	struct sim *s = fr->s;
	struct sim_late *l;

	if (s->held)
		sim_fail(s, "env_place() is called under a lock");
	if (likely(!later(s)))
		return put(rx, r, op, off, fr, foff, len);
	l = late(s, SIM_PLACE, r ? r->m->node : sim_node_of(rx->ep->node), r, op);
	l->rx = rx;
	l->off = off;
	l->frame = fr;
	l->foff = foff;
	l->len = len;
	fr->refs++;
	return CORE_PENDING;
}

static void unpack(struct esp_rx *rx, struct sim_run *r, u32 op)
{
	receive(r, op, 0, rx->ref, rx->total);
}

int env_unpack(struct esp_rx *rx, struct esp_run *er, u32 op)
{
	struct sim_run *r = sim_erun_of(er);
	struct sim *s = r->s;

	if (s->held)
		sim_fail(s, "env_unpack() is called under a lock");
	if (later(s)) {
		late(s, SIM_UNPACK, r->m->node, r, op)->rx = rx;
		return CORE_PENDING;
	}
	unpack(rx, r, op);
	return CORE_DONE;
}

static void move(struct sim_run *r, u32 op)
{
	const struct goal_op *o = &r->run.sched->op[op];
	u64 len = core_op_bytes(&r->run, o), off;
	u8 part[4096];

	for (off = 0; off < len; off += sizeof(part)) {
		u64 n = len - off < sizeof(part) ? len - off : sizeof(part);

		sim_copy_out(core_buffer(&r->run, o->src_buf), o->src_off + off, part, n);
		sim_copy_in(core_buffer(&r->run, o->dst_buf), o->dst_off + off, part, n);
	}
}

int env_move(struct core_run *cr, u32 op)
{
	struct sim_run *r = sim_run_of(cr);

	if (later(r->s)) {
		late(r->s, SIM_MOVE, r->m->node, r, op);
		return CORE_PENDING;
	}
	move(r, op);
	return CORE_DONE;
}

/* The reduction that users supply, if they do not: neither commutative nor associative. */
static void reduce_user(const u8 *in, u8 *inout, u64 bytes)
{
	for (; bytes; bytes--, in++, inout++)
		*inout = (u8)(3 * *in + 5 * *inout);
}

static int reduce(struct sim_run *r, u32 op)
{
	const struct goal_op *o = &r->run.sched->op[op];
	const struct sim_plan *plan = &r->m->seat->job->plan;
	bool user = o->dtype == GOAL_TYPE_USER;
	u64 bytes = o->len * (user ? r->run.sched->hdr->user_size : core_type_size(o->dtype));
	u8 *in = sim_get(r->s, 2 * bytes + 16), *inout = in + ((bytes + 15) & ~15ull);
	int rc = 0;

	sim_copy_out(core_buffer(&r->run, o->src_buf), o->src_off, in, bytes);
	sim_copy_out(core_buffer(&r->run, o->dst_buf), o->dst_off, inout, bytes);
	if (user && plan->reduce)
		rc = plan->reduce(plan->reduce_arg, in, inout, o->len);
	else if (user)
		reduce_user(in, inout, bytes);
	else if (o->dtype == GOAL_TYPE_FLOAT || o->dtype == GOAL_TYPE_DOUBLE)
		rc = core_reduce_fp(o->dtype, o->rop, in, inout, o->len);
	else if (core_type_host_only(o->dtype))
		rc = core_reduce_host(o->dtype, o->rop, in, inout, o->len);
	else
		rc = core_reduce_int(o->dtype, o->rop, in, inout, o->len);
	sim_copy_in(core_buffer(&r->run, o->dst_buf), o->dst_off, inout, bytes);
	sim_put(r->s, in, 2 * bytes + 16);
	return rc;
}

int env_reduce(struct core_run *cr, u32 op)
{
	struct sim_run *r = sim_run_of(cr);

	if (later(r->s)) {
		late(r->s, SIM_REDUCE, r->m->node, r, op);
		return CORE_PENDING;
	}
	return reduce(r, op);
}

void sim_late_end(struct sim_late *l)
{
	struct sim *s = l->s;
	struct sim_run *r = l->run;
	struct esp_run *er = r ? &r->e : NULL;

	switch (l->what) {
	case SIM_PLACE:
		put(l->rx, r, l->op, l->off, l->frame, l->foff, l->len);
		esp_placed(l->rx, er, l->op, l->len, 0, s->now);
		sim_frame_put(l->frame);
		break;
	case SIM_UNPACK:
		unpack(l->rx, r, l->op);
		esp_unpacked(l->rx, er, l->op, 0, s->now);
		break;
	case SIM_MOVE:
		move(r, l->op);
		core_op_done(&r->run, l->op, 0);
		break;
	case SIM_REDUCE:
		core_op_done(&r->run, l->op, reduce(r, l->op));
		break;
	}
	if (r)
		sim_run_release(r);
	sim_put(s, l, sizeof(*l));
}
