// SPDX-License-Identifier: BSD-3-Clause
/*
 * What a schedule does with the buffers of a run. Those that it reads are copied in when it starts;
 * so are those that it receives into, since a shorter message leaves the rest of its place as it is.
 * Copied out are the places that it writes, and no others: what lies between them is the
 * program's all the time. Called by kernel_load.c.
 */
#include <stdlib.h>

#include "kernel.h"

struct write {
	u32 buf;
	u64 off, len;
};

static u64 element(const struct goal_op *o, const struct goal_sched_hdr *s)
{
	return o->dtype == GOAL_TYPE_USER ? s->user_size : core_type_size(o->dtype);
}

/* The bytes that @o writes; false: none, or into scratch. */
static bool writes(const struct goal_op *o, const struct goal_sched_hdr *s, struct write *w)
{
	switch (o->code) {
	case GOAL_OP_RECV:
	case GOAL_OP_COPY:
		w->len = o->len;
		break;
	case GOAL_OP_REDUCE:
		w->len = o->len * element(o, s);
		break;
	default:
		return false;
	}
	w->buf = o->dst_buf;
	w->off = o->dst_off;
	return w->buf < GOAL_MAX_BUFS && w->len;
}

static void mark(u8 *flags, u32 buf, u8 flag)
{
	if (buf < GOAL_MAX_BUFS)
		flags[buf] |= flag;
}

static void look(u8 *flags, const struct goal_op *o)
{
	switch (o->code) {
	case GOAL_OP_SEND:
		mark(flags, o->src_buf, ESPGOAL_BUF_IN);
		break;
	case GOAL_OP_RECV:
		mark(flags, o->dst_buf, ESPGOAL_BUF_IN | ESPGOAL_BUF_OUT);
		break;
	case GOAL_OP_COPY:
		mark(flags, o->src_buf, ESPGOAL_BUF_IN);
		/* Of a message, as long as that was. */
		mark(flags, o->dst_buf,
		     o->len_from == GOAL_OP_NONE ? ESPGOAL_BUF_OUT : ESPGOAL_BUF_KNOWN);
		break;
	case GOAL_OP_REDUCE:
		mark(flags, o->src_buf, ESPGOAL_BUF_IN);
		mark(flags, o->dst_buf, ESPGOAL_BUF_IN | ESPGOAL_BUF_OUT);
		break;
	default:
		break;
	}
}

static int by_place(const void *a, const void *b)
{
	const struct write *x = a, *y = b;

	if (x->buf != y->buf)
		return x->buf < y->buf ? -1 : 1;
	return x->off < y->off ? -1 : x->off > y->off;
}

/* @w, sorted, as ranges that do not meet. */
static void merge(struct kernel_loaded *l, const struct write *w, u32 n)
{
	u32 i, b = 0, ranges = 0;

	for (i = 0; i < n; i++) {
		struct kernel_range *r = &l->range[ranges];

		while (b <= w[i].buf)
			l->first[b++] = ranges;
		if (ranges > l->first[w[i].buf] && w[i].off <= r[-1].off + r[-1].len) {
			u64 end = w[i].off + w[i].len;

			if (end > r[-1].off + r[-1].len)
				r[-1].len = end - r[-1].off;
			continue;
		}
		r->off = w[i].off;
		r->len = w[i].len;
		ranges++;
	}
	while (b <= GOAL_MAX_BUFS)
		l->first[b++] = ranges;
}

int kernel_usage(struct goal_engine *e, struct kernel_loaded *l, const struct goal_sched_hdr *s)
{
	const struct goal_op *op = (const struct goal_op *)(s + 1);
	struct write *w, one;
	u32 i, n = 0;

	l->nops = s->nops;
	l->nbufs = s->nbufs;
	for (i = 0; i < s->nops; i++) {
		look(l->flags, &op[i]);
		n += writes(&op[i], s, &one);
	}
	if (!n)
		return 0;
	w = host_alloc(e, n * sizeof(*w));
	l->range = host_alloc(e, n * sizeof(*l->range));
	if (!w || !l->range) {
		free(w);
		return -ENOMEM;
	}
	for (i = n = 0; i < s->nops; i++)
		n += writes(&op[i], s, &w[n]);
	qsort(w, n, sizeof(*w), by_place);
	merge(l, w, n);
	free(w);
	return 0;
}
