// SPDX-License-Identifier: BSD-3-Clause
/* Schedules for the tests of the core: see build.h. Simple and quadratic. */
#include <stdlib.h>

#include "build.h"

static struct goal_op *add(struct build *b, u32 code)
{
	struct goal_op *op = &b->op[b->nops];

	if (b->nops == BUILD_OPS)
		abort();
	b->nops++;
	memset(op, 0, sizeof(*op));
	op->code = code;
	op->len_from = GOAL_OP_NONE;
	return op;
}

static u32 count_instances(const struct build *b, const struct goal_op *like)
{
	const struct goal_op *op;
	u32 n = 0;

	for (op = b->op; op < like; op++)
		n += op->code == like->code && op->peer == like->peer && op->tag == like->tag;
	return n;
}

u32 build_nop(struct build *b)
{
	add(b, GOAL_OP_NOP);
	return b->nops - 1;
}

u32 build_send(struct build *b, u32 buf, u64 off, u64 len, u32 peer, u32 tag)
{
	struct goal_op *op = add(b, GOAL_OP_SEND);

	op->src_buf = buf;
	op->src_off = off;
	op->len = len;
	op->peer = peer;
	op->tag = tag;
	op->instance = count_instances(b, op);
	return b->nops - 1;
}

u32 build_recv(struct build *b, u32 buf, u64 off, u64 len, u32 peer, u32 tag)
{
	struct goal_op *op = add(b, GOAL_OP_RECV);

	op->dst_buf = buf;
	op->dst_off = off;
	op->len = len;
	op->peer = peer;
	op->tag = tag;
	op->instance = count_instances(b, op);
	return b->nops - 1;
}

u32 build_copy(struct build *b, u32 dst_buf, u64 dst_off, u32 src_buf, u64 src_off, u64 len)
{
	struct goal_op *op = add(b, GOAL_OP_COPY);

	op->dst_buf = dst_buf;
	op->dst_off = dst_off;
	op->src_buf = src_buf;
	op->src_off = src_off;
	op->len = len;
	return b->nops - 1;
}

u32 build_reduce(struct build *b, u32 dst_buf, u64 dst_off, u32 src_buf, u64 src_off, u64 count,
		 u32 dtype, u32 rop)
{
	struct goal_op *op = add(b, GOAL_OP_REDUCE);

	op->dst_buf = dst_buf;
	op->dst_off = dst_off;
	op->src_buf = src_buf;
	op->src_off = src_off;
	op->len = count;
	op->dtype = dtype;
	op->rop = rop;
	return b->nops - 1;
}

void build_edge(struct build *b, u32 from, u32 to, bool started)
{
	if (b->nedges == BUILD_EDGES || from >= to || to >= b->nops)
		abort();
	b->edge[b->nedges++] = (struct build_edge){ from, to, started };
}

void build_len_from(struct build *b, u32 op, u32 recv)
{
	b->op[op].len_from = recv;
	build_edge(b, recv, op, false);
}

static u32 in_degree(const struct build *b, u32 op)
{
	u32 n = 0, k;

	for (k = 0; k < b->nedges; k++)
		n += b->edge[k].to == op;
	return n;
}

/* Sorts receives by their names; the schedule they are in. */
static const struct goal_op *sorting;

static int by_name(const void *x, const void *y)
{
	const struct goal_op *a = &sorting[*(const u32 *)x], *b = &sorting[*(const u32 *)y];

	if (a->peer != b->peer)
		return a->peer < b->peer ? -1 : 1;
	if (a->tag != b->tag)
		return a->tag < b->tag ? -1 : 1;
	return a->instance < b->instance ? -1 : a->instance > b->instance;
}

static void *allocate(size_t bytes)
{
	void *p = calloc(1, bytes ? bytes : 1);

	if (!p)
		abort();
	return p;
}

void *build_bytes(struct build *b, size_t *len)
{
	struct goal_sched_hdr *h;
	struct goal_op *op;
	u32 *deps, *succ, *match;
	u32 nindep = 0, nrecv = 0, next = 0, row = 0, slot = 0, i, k, pass;
	size_t bytes;

	for (i = 0; i < b->nops; i++) {
		nrecv += b->op[i].code == GOAL_OP_RECV;
		nindep += in_degree(b, i) == 0;
	}
	/* Independent operations first, each kind in the order given. */
	for (pass = 0; pass < 2; pass++)
		for (i = 0; i < b->nops; i++)
			if ((in_degree(b, i) != 0) == pass)
				b->pos[i] = next++;

	bytes = sizeof(*h) + b->nops * (sizeof(*op) + sizeof(u32)) +
		(b->nedges + nrecv) * sizeof(u32);
	bytes = (bytes + 7) / 8 * 8;
	h = allocate(bytes);
	op = (struct goal_op *)(h + 1);
	deps = (u32 *)(op + b->nops);
	succ = deps + b->nops;
	match = succ + b->nedges;

	*h = b->hdr;
	h->magic = GOAL_SCHED_MAGIC;
	h->version = GOAL_SCHED_VERSION;
	h->total = bytes;
	h->nops = b->nops;
	h->nindep = nindep;
	h->nsucc = b->nedges;
	h->nrecv = nrecv;

	for (i = 0; i < b->nops; i++) {
		struct goal_op *to = &op[b->pos[i]];

		*to = b->op[i];
		deps[b->pos[i]] = in_degree(b, i);
		if (to->len_from != GOAL_OP_NONE)
			to->len_from = b->pos[to->len_from];
	}
	for (i = 0; i < b->nops; i++) {
		op[i].succ = row;
		for (pass = 0; pass < 2; pass++) {
			for (k = 0; k < b->nedges; k++) {
				if (b->pos[b->edge[k].from] != i || b->edge[k].started != pass)
					continue;
				succ[row++] = b->pos[b->edge[k].to];
				if (pass)
					op[i].nisucc++;
				else
					op[i].nsucc++;
			}
		}
		if (op[i].code == GOAL_OP_RECV)
			match[slot++] = i;
	}
	sorting = op;
	qsort(match, nrecv, sizeof(*match), by_name);
	for (i = 0; i < nrecv; i++)
		op[match[i]].slot = i;
	*len = bytes;
	return h;
}

int build_verify(const void *data, size_t len, struct core_sched *s, struct core_error *e)
{
	s64 bytes = core_verify_tmp(data, len, e);
	u32 *tmp;
	int rc;

	if (bytes < 0)
		return (int)bytes;
	tmp = malloc(bytes ? bytes : 1);
	if (!tmp)
		abort();
	rc = core_verify(data, len, tmp, s, e);
	free(tmp);
	return rc;
}
