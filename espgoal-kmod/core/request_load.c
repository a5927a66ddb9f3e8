// SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause
/*
 * The schedule of ESPGOAL_LOAD: read, verified, and laid out: where in the memory of a run of it the
 * messages, the buffers and the scratch lie. Sums are of 64 bits, and stay far below: a schedule has
 * less than 2^24 operations, and no length is added before it was compared with a limit of 32 bits.
 * Places are of 32 bits: they mean nothing before the sum of all is known to be small.
 */
#include "request.h"

static u64 align(u64 bytes, u32 to)
{
	return (bytes + to - 1) & ~((u64)to - 1);
}

static void tell(struct espgoal_load *a, const struct core_error *e)
{
	a->rule = e->rule;
	a->where = e->where;
}

s64 request_load_read(struct espgoal_load *a, void *data)
{
	struct core_error e = { 0 };
	int rc = env_user_read(data, a->data, a->bytes);
	s64 bytes;

	if (rc)
		return rc;
	bytes = core_verify_tmp(data, a->bytes, &e);
	if (bytes < 0) {
		tell(a, &e);
		return bytes;
	}
	/* The verifier's, which are msg_at[] afterwards; never 0, so that no allocator wonders. */
	return bytes + (s64)sizeof(u32);
}

/* Bytes that an operation moves, or more than any may. */
static u64 bytes_of(const struct goal_op *op)
{
	u64 size = op->code == GOAL_OP_REDUCE ? core_type_size(op->dtype) : 1;

	return (op->len < REQUEST_OP_MAX + 1 ? op->len : REQUEST_OP_MAX + 1) * size;
}

/*
 * Flags of buffers that it has, and types that are computed with here. No operation is cut in parts,
 * so none may move so much that other work of the CPU would wait for it.
 */
static int check(const struct core_sched *s, const struct request_limits *l,
		 struct request_layout *lay)
{
	u32 i;

	for (i = 0; i < GOAL_MAX_BUFS; i++)
		if ((lay->buf[i] & ~ESPGOAL_BUF_KNOWN) || (lay->buf[i] && i >= s->hdr->nbufs))
			return -EINVAL;
	if (s->host_only)
		return -EOPNOTSUPP;
	for (i = 0; i < s->hdr->nops; i++) {
		const struct goal_op *op = &s->op[i];

		if (bytes_of(op) > REQUEST_OP_MAX)
			return -E2BIG;
		if (op->code != GOAL_OP_REDUCE)
			continue;
		if (op->dtype == GOAL_TYPE_FLOAT || op->dtype == GOAL_TYPE_DOUBLE)
			lay->fp = true;
	}
	return lay->fp && !l->fp ? -EOPNOTSUPP : 0;
}

/* How many bytes they take. */
static u64 lay_out_messages(const struct core_sched *s, const struct request_limits *l,
			    struct request_layout *lay)
{
	u64 bytes = 0;
	u32 i;

	for (i = 0; i < s->hdr->nops; i++) {
		const struct goal_op *op = &s->op[i];

		lay->msg_at[i] = (u32)bytes;
		if (op->code != GOAL_OP_SEND)
			continue;
		lay->nsends++;
		bytes += l->msg_head + align(op->len < l->eager_max ? op->len : l->eager_max, 8);
	}
	return bytes;
}

/* Buffers that the process reads are in the area, the others and the scratch with the run. */
static int lay_out_buffers(const struct core_sched *s, const struct request_limits *l,
			   struct request_layout *lay, u64 *mem, u64 *area)
{
	u64 all = s->hdr->scratch;
	u32 b;

	if (all > l->run_max)
		return -E2BIG;
	*mem = 0;
	*area = 0;
	for (b = 0; b < s->hdr->nbufs; b++) {
		u64 need = s->need[b];
		u64 *at = lay->buf[b] & ESPGOAL_BUF_OUT ? area : mem;

		all += need;
		if (need > l->run_max || all > l->run_max)
			return -E2BIG;
		lay->buf_at[b] = (u32)*at;
		*at += align(need, REQUEST_UNIT);
		if (lay->buf[b] & ESPGOAL_BUF_IN)
			lay->in_bytes += need;
	}
	lay->buf_at[GOAL_MAX_BUFS] = (u32)*mem;
	*mem += align(s->hdr->scratch, REQUEST_UNIT);
	return 0;
}

static int lay_out(const struct core_sched *s, const struct request_limits *l,
		   struct request_layout *lay)
{
	u64 at, mem, area;
	int rc = lay_out_buffers(s, l, lay, &mem, &area);

	if (rc)
		return rc;
	at = align(l->run_head, 8);
	lay->arrays_at = (u32)at;
	at += align(core_run_bytes(s), 8);
	lay->msgs_at = (u32)at;
	at = align(at + lay_out_messages(s, l, lay), REQUEST_UNIT);
	lay->mem_at = (u32)at;
	at += mem;
	if (at > REQUEST_RUN_MAX)
		return -E2BIG;
	lay->run_bytes = (u32)at;
	lay->area_bytes = (u32)area;
	return 0;
}

int request_load(struct espgoal_load *a, const void *data, u32 *words,
		 const struct request_limits *l, struct core_sched *s, struct request_layout *lay)
{
	struct core_error e = { 0 };
	int rc = core_verify(data, a->bytes, words, s, &e);

	if (rc) {
		tell(a, &e);
		return rc;
	}
	*lay = (struct request_layout){ .msg_at = words };
	memcpy(lay->buf, a->buf, sizeof(lay->buf));
	rc = check(s, l, lay);
	if (!rc)
		rc = lay_out(s, l, lay);
	if (!rc)
		memcpy(a->need, s->need, s->hdr->nbufs * sizeof(a->need[0]));
	return rc;
}

void request_bind(struct core_run *r, const struct core_sched *s, const struct request_layout *lay,
		  u8 *object, u8 *area, struct core_segment seg[GOAL_MAX_BUFS + 1])
{
	u8 *mem = object + lay->mem_at;
	u32 b;

	for (b = 0; b < s->hdr->nbufs; b++) {
		u8 *at = (lay->buf[b] & ESPGOAL_BUF_OUT ? area : mem) + lay->buf_at[b];

		seg[b] = (struct core_segment){ at, s->need[b] };
		r->buf[b] = (struct core_binding){ &seg[b], 1, s->need[b] };
	}
	seg[GOAL_MAX_BUFS] =
		(struct core_segment){ mem + lay->buf_at[GOAL_MAX_BUFS], s->hdr->scratch };
	r->scratch = (struct core_binding){ &seg[GOAL_MAX_BUFS], 1, s->hdr->scratch };
}
