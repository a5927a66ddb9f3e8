// SPDX-License-Identifier: BSD-3-Clause
/*
 * What the buffers of all ranks must hold in the end: all schedules carried out operation by
 * operation on an ideal network, where a message is there when it is sent. Knows the format of
 * schedules, and nothing of the interpreter or of the protocol.
 */
#include <stdlib.h>

#include "inside.h"

struct datum { /* a message */
	u64 len;
	u8 bytes[];
};

struct place {
	u32 rank, op;
};

struct reference {
	struct sim_program *p;
	u8 **mem;
	u32 **left;           /* dependencies, by rank and operation */
	u8 **posted;          /* by rank and operation */
	struct datum ***here; /* by rank and receive */
	u64 **got;            /* by rank and receive */
	struct place *todo;   /* operations that may start, first in, first out */
	u64 head, tail, room;
	u64 undone;
};

static void ready(struct reference *f, u32 rank, u32 op)
{
	f->todo[f->tail++ % f->room] = (struct place){ rank, op };
}

static void finish(struct reference *f, u32 rank, u32 op)
{
	const struct core_sched *s = &f->p->part[rank].sched;
	const struct goal_op *o = &s->op[op];
	u32 i;

	f->undone--;
	for (i = 0; i < o->nsucc; i++)
		if (--f->left[rank][s->succ[o->succ + i]] == 0)
			ready(f, rank, s->succ[o->succ + i]);
}

static u8 *at(struct reference *f, u32 rank, u32 buf, u64 off)
{
	return f->mem[rank] + f->p->part[rank].off[buf == GOAL_BUF_SCRATCH ? GOAL_MAX_BUFS : buf] +
	       off;
}

static int receive(struct reference *f, u32 rank, u32 op)
{
	const struct goal_op *o = &f->p->part[rank].sched.op[op];
	struct datum *d = f->here[rank][o->slot];

	if (d->len > o->len)
		return -EMSGSIZE;
	memcpy(at(f, rank, o->dst_buf, o->dst_off), d->bytes, d->len);
	f->got[rank][o->slot] = d->len;
	finish(f, rank, op);
	return 0;
}

static u64 bytes_of(struct reference *f, u32 rank, const struct goal_op *o)
{
	u64 got;

	if (o->len_from == GOAL_OP_NONE)
		return o->len;
	got = f->got[rank][f->p->part[rank].sched.op[o->len_from].slot];
	return got < o->len ? got : o->len;
}

static int send(struct reference *f, u32 rank, const struct goal_op *o)
{
	const struct core_sched *to = &f->p->part[o->peer].sched;
	u64 len = bytes_of(f, rank, o);
	struct datum *d;
	u32 i;

	/* Straight through all of them: core/match.c is under test. */
	for (i = 0; i < to->hdr->nrecv; i++) {
		const struct goal_op *r = &to->op[to->match[i]];

		if (r->peer == rank && r->tag == o->tag && r->instance == o->instance)
			break;
	}
	if (i == to->hdr->nrecv)
		return -EDEADLK;
	d = malloc(sizeof(*d) + len);
	if (!d)
		return -ENOMEM;
	d->len = len;
	memcpy(d->bytes, at(f, rank, o->src_buf, o->src_off), len);
	f->here[o->peer][to->op[to->match[i]].slot] = d;
	return f->posted[o->peer][to->match[i]] ? receive(f, o->peer, to->match[i]) : 0;
}

#define EACH(type, expression)                \
	do {                                  \
		type a, b;                    \
		memcpy(&a, in, sizeof(a));    \
		memcpy(&b, inout, sizeof(b)); \
		b = (type)(expression);       \
		memcpy(inout, &b, sizeof(b)); \
	} while (0)

/* One element. -EINVAL: a kind that simulated programs do not use. */
static int element(const struct goal_op *o, u32 user, const u8 *in, u8 *inout)
{
	u32 k;

	switch (o->dtype << 8 | o->rop) {
	case GOAL_TYPE_UINT8 << 8 | GOAL_ROP_SUM:
		EACH(u8, a + b);
		return 0;
	case GOAL_TYPE_UINT8 << 8 | GOAL_ROP_MAX:
		EACH(u8, a > b ? a : b);
		return 0;
	case GOAL_TYPE_INT32 << 8 | GOAL_ROP_MIN:
		EACH(s32, a < b ? a : b);
		return 0;
	case GOAL_TYPE_INT32 << 8 | GOAL_ROP_SUM:
		EACH(s32, (u32)a + (u32)b);
		return 0;
	case GOAL_TYPE_UINT64 << 8 | GOAL_ROP_BXOR:
		EACH(u64, a ^ b);
		return 0;
	case GOAL_TYPE_USER << 8 | GOAL_ROP_USER:
		for (k = 0; k < user; k++)
			inout[k] = (u8)(3 * in[k] + 5 * inout[k]);
		return 0;
	default:
		return -EINVAL;
	}
}

static int reduce(struct reference *f, u32 rank, const struct goal_op *o)
{
	u32 user = f->p->part[rank].sched.hdr->user_size;
	u64 size = o->dtype == GOAL_TYPE_USER ? user : core_type_size(o->dtype), i;
	const u8 *in = at(f, rank, o->src_buf, o->src_off);
	u8 *inout = at(f, rank, o->dst_buf, o->dst_off);
	int rc = 0;

	for (i = 0; i < o->len && !rc; i++)
		rc = element(o, user, in + i * size, inout + i * size);
	return rc;
}

static int step(struct reference *f, u32 rank, u32 op)
{
	const struct core_sched *s = &f->p->part[rank].sched;
	const struct goal_op *o = &s->op[op];
	int rc = 0;
	u32 i;

	for (i = 0; i < o->nisucc; i++)
		if (--f->left[rank][s->succ[o->succ + o->nsucc + i]] == 0)
			ready(f, rank, s->succ[o->succ + o->nsucc + i]);
	switch (o->code) {
	case GOAL_OP_RECV:
		f->posted[rank][op] = 1;
		return f->here[rank][o->slot] ? receive(f, rank, op) : 0;
	case GOAL_OP_SEND:
		rc = send(f, rank, o);
		break;
	case GOAL_OP_COPY:
		memcpy(at(f, rank, o->dst_buf, o->dst_off), at(f, rank, o->src_buf, o->src_off),
		       bytes_of(f, rank, o));
		break;
	case GOAL_OP_REDUCE:
		rc = reduce(f, rank, o);
		break;
	default:
		break;
	}
	if (!rc)
		finish(f, rank, op);
	return rc;
}

static int prepare_rank(struct reference *f, u32 i)
{
	struct sim_part *part = &f->p->part[i];
	const struct goal_sched_hdr *h = part->sched.hdr;
	u32 k;

	f->mem[i] = calloc(1, part->all + 8);
	f->left[i] = malloc((h->nops + 1) * sizeof(u32));
	f->posted[i] = calloc(h->nops + 1, 1);
	f->here[i] = calloc(h->nrecv + 1, sizeof(**f->here));
	f->got[i] = calloc(h->nrecv + 1, sizeof(u64));
	if (!f->mem[i] || !f->left[i] || !f->posted[i] || !f->here[i] || !f->got[i])
		return -ENOMEM;
	sim_fill(f->p, i, f->mem[i]);
	memcpy(f->left[i], part->sched.deps, h->nops * sizeof(u32));
	for (k = 0; k < h->nindep; k++)
		ready(f, i, k);
	return 0;
}

static void free_all(struct reference *f)
{
	u32 i, k;

	for (i = 0; i < f->p->ranks; i++) {
		if (f->mem)
			free(f->mem[i]);
		if (f->left)
			free(f->left[i]);
		if (f->posted)
			free(f->posted[i]);
		if (f->got)
			free(f->got[i]);
		if (!f->here || !f->here[i])
			continue;
		for (k = 0; k < f->p->part[i].sched.hdr->nrecv; k++)
			free(f->here[i][k]);
		free(f->here[i]);
	}
	free(f->mem);
	free(f->left);
	free(f->posted);
	free(f->here);
	free(f->got);
	free(f->todo);
}

int sim_reference(struct sim_program *p)
{
	struct reference f = { .p = p, .room = 1 };
	u32 i, n = p->ranks;
	int rc = -ENOMEM;

	if (p->referenced)
		return 0;
	for (i = 0; i < n; i++)
		f.undone += p->part[i].sched.hdr->nops;
	f.room += f.undone;
	f.mem = calloc(n, sizeof(*f.mem));
	f.left = calloc(n, sizeof(*f.left));
	f.posted = calloc(n, sizeof(*f.posted));
	f.here = calloc(n, sizeof(*f.here));
	f.got = calloc(n, sizeof(*f.got));
	f.todo = malloc(f.room * sizeof(*f.todo));
	if (!f.mem || !f.left || !f.posted || !f.here || !f.got || !f.todo)
		goto out;
	for (i = 0; i < n; i++) {
		rc = prepare_rank(&f, i);
		if (rc)
			goto out;
	}
	rc = 0;
	while (f.head != f.tail && !rc) {
		struct place t = f.todo[f.head++ % f.room];

		rc = step(&f, t.rank, t.op);
	}
	if (!rc && f.undone)
		rc = -EDEADLK;
	if (rc)
		goto out;
	for (i = 0; i < n; i++) {
		p->part[i].ref = f.mem[i];
		f.mem[i] = NULL;
	}
	p->referenced = true;
out:
	free_all(&f);
	return rc;
}
