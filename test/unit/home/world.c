// SPDX-License-Identifier: BSD-3-Clause
/* Random graphs of several ranks, and their reference: see world.h. */
#include "world.h"

/* The operations that touched a cell since its last write, that one included. */
struct cell {
	bool written;
	u32 writer;
	u32 nreaders;
	u32 reader[BUILD_OPS];
};

/* A world being invented. */
struct inventor {
	struct world *w;
	struct cell cell[WORLD_RANKS][WORLD_BUFS][WORLD_CELLS];
	u64 got[WORLD_RANKS][BUILD_OPS]; /* by receive: bytes that came */
};

/* A range within one cell. */
struct range {
	u32 buf, cell;
	u64 off, len; /* off: into the buffer */
};

static u32 number_of(u32 buf)
{
	return buf == WORLD_BUFS - 1 ? GOAL_BUF_SCRATCH : buf;
}

static struct range pick_range(struct world *w)
{
	struct range r;
	u64 at = random_below(&w->random, WORLD_CELL);

	r.buf = random_below(&w->random, WORLD_BUFS);
	r.cell = random_below(&w->random, WORLD_CELLS);
	r.off = r.cell * WORLD_CELL + at;
	r.len = random_below(&w->random, WORLD_CELL - at + 1);
	return r;
}

static u8 *reference(struct world *w, u32 rank, const struct range *r)
{
	return &w->ref[rank][r->buf][r->off];
}

/* @op reads @r: behind the writer. */
static void reads(struct inventor *v, u32 rank, u32 op, const struct range *r)
{
	struct cell *c = &v->cell[rank][r->buf][r->cell];

	if (c->written)
		build_edge(&v->w->build[rank], c->writer, op, false);
	c->reader[c->nreaders++] = op;
}

/* @op writes (or reads and writes) @r: behind everybody. */
static void writes(struct inventor *v, u32 rank, u32 op, const struct range *r)
{
	struct cell *c = &v->cell[rank][r->buf][r->cell];
	u32 k;

	if (c->written)
		build_edge(&v->w->build[rank], c->writer, op, false);
	for (k = 0; k < c->nreaders; k++)
		if (c->reader[k] != op)
			build_edge(&v->w->build[rank], c->reader[k], op, false);
	c->written = true;
	c->writer = op;
	c->nreaders = 0;
}

/* Dependencies that the data do not ask for. */
static void extra_edges(struct inventor *v, u32 rank, u32 op)
{
	struct random *random = &v->w->random;
	u32 n = random_below(random, 3);

	while (op && n--)
		build_edge(&v->w->build[rank], random_below(random, op), op,
			   random_chance(random, 128));
}

static void invent_nop(struct inventor *v, u32 rank)
{
	extra_edges(v, rank, build_nop(&v->w->build[rank]));
}

static bool same_cell(const struct range *a, const struct range *b)
{
	return a->buf == b->buf && a->cell == b->cell;
}

/* An earlier receive of @rank, or GOAL_OP_NONE. */
static u32 some_recv(struct inventor *v, u32 rank)
{
	const struct build *b = &v->w->build[rank];
	u32 tries, i;

	for (tries = 0; tries < 4; tries++) {
		i = random_below(&v->w->random, b->nops);
		if (i < b->nops && b->op[i].code == GOAL_OP_RECV)
			return i;
	}
	return GOAL_OP_NONE;
}

/* Perhaps let @op take its length from a receive; its length. */
static u64 maybe_len_from(struct inventor *v, u32 rank, u32 op, u64 len, u32 recv)
{
	if (recv == GOAL_OP_NONE)
		return len;
	build_len_from(&v->w->build[rank], op, recv);
	return v->got[rank][recv] < len ? v->got[rank][recv] : len;
}

static void invent_copy(struct inventor *v, u32 rank)
{
	struct world *w = v->w;
	struct range src = pick_range(w), dst = pick_range(w);
	u32 recv = random_chance(&w->random, 64) ? some_recv(v, rank) : GOAL_OP_NONE, op;
	u64 len = src.len < dst.len ? src.len : dst.len;

	if (same_cell(&src, &dst))
		return;
	op = build_copy(&w->build[rank], number_of(dst.buf), dst.off, number_of(src.buf), src.off,
			len);
	reads(v, rank, op, &src);
	writes(v, rank, op, &dst);
	extra_edges(v, rank, op);
	len = maybe_len_from(v, rank, op, len, recv);
	memcpy(reference(w, rank, &dst), reference(w, rank, &src), len);
}

/* One element, written out: nothing of the core's reductions is used here. */
static void reference_element(u32 dtype, u32 rop, const u8 *in, u8 *inout)
{
	s32 a, b;
	double x, y;
	u32 k;

	switch (dtype) {
	case GOAL_TYPE_UINT8:
		*inout = rop == GOAL_ROP_MAX ? (*in > *inout ? *in : *inout) : *in ^ *inout;
		break;
	case GOAL_TYPE_INT32:
		memcpy(&a, in, sizeof(a));
		memcpy(&b, inout, sizeof(b));
		b = rop == GOAL_ROP_MIN ? (a < b ? a : b) : (s32)((u32)a + (u32)b);
		memcpy(inout, &b, sizeof(b));
		break;
	case GOAL_TYPE_DOUBLE:
		memcpy(&x, in, sizeof(x));
		memcpy(&y, inout, sizeof(y));
		y = x > y ? x : y;
		memcpy(inout, &y, sizeof(y));
		break;
	default: /* user elements of three bytes */
		for (k = 0; k < 3; k++)
			inout[k] = (u8)(3 * in[k] + 5 * inout[k]);
		break;
	}
}

static void invent_reduce(struct inventor *v, u32 rank)
{
	static const struct {
		u32 dtype, rop, size;
	} kind[] = {
		{ GOAL_TYPE_UINT8, GOAL_ROP_MAX, 1 },  { GOAL_TYPE_UINT8, GOAL_ROP_BXOR, 1 },
		{ GOAL_TYPE_INT32, GOAL_ROP_SUM, 4 },  { GOAL_TYPE_INT32, GOAL_ROP_MIN, 4 },
		{ GOAL_TYPE_DOUBLE, GOAL_ROP_MAX, 8 }, { GOAL_TYPE_USER, GOAL_ROP_USER, 3 },
	};
	struct world *w = v->w;
	struct range src = pick_range(w), dst = pick_range(w);
	u32 which = random_below(&w->random, sizeof(kind) / sizeof(kind[0])), op;
	u64 count = (src.len < dst.len ? src.len : dst.len) / kind[which].size, k;

	if (same_cell(&src, &dst))
		return;
	op = build_reduce(&w->build[rank], number_of(dst.buf), dst.off, number_of(src.buf), src.off,
			  count, kind[which].dtype, kind[which].rop);
	reads(v, rank, op, &src);
	writes(v, rank, op, &dst);
	extra_edges(v, rank, op);
	for (k = 0; k < count; k++)
		reference_element(kind[which].dtype, kind[which].rop,
				  reference(w, rank, &src) + k * kind[which].size,
				  reference(w, rank, &dst) + k * kind[which].size);
}

/* A send of @from and its receive, which has room for it and perhaps more. */
static void invent_message(struct inventor *v, u32 from, u32 to)
{
	struct world *w = v->w;
	struct range src = pick_range(w), dst = pick_range(w);
	u32 tag = random_below(&w->random, WORLD_TAGS);
	u32 recv = random_chance(&w->random, 96) ? some_recv(v, from) : GOAL_OP_NONE, op;
	u64 len = src.len < dst.len ? src.len : dst.len;
	u8 payload[WORLD_CELL];

	op = build_send(&w->build[from], number_of(src.buf), src.off, len, to, tag);
	reads(v, from, op, &src);
	extra_edges(v, from, op);
	len = maybe_len_from(v, from, op, len, recv);
	memcpy(payload, reference(w, from, &src), len);

	op = build_recv(&w->build[to], number_of(dst.buf), dst.off, dst.len, from, tag);
	writes(v, to, op, &dst);
	extra_edges(v, to, op);
	v->got[to][op] = len;
	memcpy(reference(w, to, &dst), payload, len);
}

static void invent_operation(struct inventor *v)
{
	struct world *w = v->w;
	u32 rank = random_below(&w->random, w->nranks);

	switch (random_below(&w->random, 8)) {
	case 0:
		invent_nop(v, rank);
		break;
	case 1:
	case 2:
		invent_copy(v, rank);
		break;
	case 3:
	case 4:
		invent_reduce(v, rank);
		break;
	default:
		invent_message(v, rank, random_below(&w->random, w->nranks));
		break;
	}
}

static void invent_memory(struct world *w)
{
	u32 rank, buf, k;

	for (rank = 0; rank < w->nranks; rank++)
		for (buf = 0; buf < WORLD_BUFS; buf++)
			for (k = 0; k < WORLD_CELLS * WORLD_CELL; k++)
				w->init[rank][buf][k] = (u8)random_u64(&w->random);
	memcpy(w->ref, w->init, sizeof(w->ref));
}

void world_create(struct world *w, u64 seed, u32 nops)
{
	struct inventor *v = calloc(1, sizeof(*v));
	struct core_sched sched;
	struct core_error e;
	u32 rank, k;

	must(v);
	memset(w, 0, sizeof(*w));
	v->w = w;
	w->random.state = seed;
	w->nranks = 1 + random_below(&w->random, WORLD_RANKS);
	for (rank = 0; rank < w->nranks; rank++)
		w->build[rank].hdr = (struct goal_sched_hdr){
			.rank = rank,
			.npeers = w->nranks,
			.nbufs = WORLD_BUFS - 1,
			.ntags = WORLD_TAGS,
			.scratch = WORLD_CELLS * WORLD_CELL,
			.user_size = 3,
		};
	invent_memory(w);
	for (k = 0; k < nops * w->nranks; k++)
		invent_operation(v);
	free(v);

	for (rank = 0; rank < w->nranks; rank++) {
		w->data[rank] = build_bytes(&w->build[rank], &w->len[rank]);
		must(build_verify(w->data[rank], w->len[rank], &sched, &e) == 0);
		exec_init(&w->exec[rank], &sched, rank, &w->random);
		w->exec[rank].arg = w;
	}
}

void world_free(struct world *w)
{
	u32 rank;

	for (rank = 0; rank < w->nranks; rank++) {
		exec_fini(&w->exec[rank]);
		free(w->data[rank]);
	}
	free(w->net);
	must(messages_alive == 0);
}

static void sent(struct exec *x, struct message *m)
{
	struct world *w = x->arg;

	if (w->nnet == w->netsize) {
		w->netsize = w->netsize ? 2 * w->netsize : 16;
		w->net = realloc(w->net, w->netsize * sizeof(struct message *));
		must(w->net);
	}
	w->net[w->nnet++] = m;
}

static void arrive(struct world *w)
{
	u32 k = random_below(&w->random, w->nnet);
	struct message *m = w->net[k];
	struct exec *x = &w->exec[m->dst];
	int rc;

	w->net[k] = w->net[--w->nnet];
	rc = exec_message(x, m);
	if (rc) /* every message has a receive, and comes once */
		must(rc == -ECANCELED && x->home.core.status);
}

static void start(struct world *w, u32 rank)
{
	w->running[rank] = true;
	core_start(&w->exec[rank].home.core);
}

/* One random step; false when there is nothing left to do. */
static bool step(struct world *w)
{
	struct random *random = &w->random;
	u32 tries, rank, todo = w->nnet;

	for (rank = 0; rank < w->nranks; rank++)
		todo += !w->running[rank] + w->exec[rank].npending;
	if (!todo)
		return false;
	for (tries = 0; tries < 1000; tries++) {
		struct exec *x;

		rank = random_below(random, w->nranks);
		x = &w->exec[rank];
		switch (random_below(random, 3)) {
		case 0:
			if (w->running[rank])
				continue;
			start(w, rank);
			return true;
		case 1:
			if (!x->npending)
				continue;
			exec_finish(x, random_below(random, x->npending));
			return true;
		default:
			if (!w->nnet)
				continue;
			arrive(w);
			return true;
		}
	}
	must(!"lost");
	return false;
}

/* A home ends the receives that it took over, when their run has failed. */
static void end_taken(struct exec *x)
{
	u32 slot;

	for (slot = 0; slot < x->sched.hdr->nrecv; slot++) {
		if (!x->taken[slot])
			continue;
		x->taken[slot] = false;
		core_op_done(&x->home.core, x->sched.match[slot], -EIO);
	}
}

/* Cancel what is left, and see that each run ends all the same. */
static void wind_down(struct world *w)
{
	u32 rank;

	for (rank = 0; rank < w->nranks; rank++) {
		struct core_run *r = &w->exec[rank].home.core;

		if (!w->exec[rank].done_calls)
			core_cancel(r, -EPIPE, rank);
		end_taken(&w->exec[rank]);
	}
	while (step(w))
		;
	/* Receives that started after the cancellation of others are taken over, too. */
	for (rank = 0; rank < w->nranks; rank++)
		end_taken(&w->exec[rank]);
}

static void check_memory(struct world *w)
{
	u32 rank, buf;

	for (rank = 0; rank < w->nranks; rank++) {
		struct exec *x = &w->exec[rank];

		for (buf = 0; buf < WORLD_BUFS; buf++) {
			u32 k = buf == WORLD_BUFS - 1 ? GOAL_MAX_BUFS : buf;

			must(memcmp(x->mem[k], w->ref[rank][buf], x->bytes[k]) == 0);
		}
	}
}

bool world_run(struct world *w, u64 seed, u32 cancel)
{
	bool cancelled = false, failed = false;
	u32 rank, buf;

	w->random.state = seed;
	for (rank = 0; rank < w->nranks; rank++) {
		struct exec *x = &w->exec[rank];

		for (buf = 0; buf < WORLD_BUFS; buf++) {
			u32 k = buf == WORLD_BUFS - 1 ? GOAL_MAX_BUFS : buf;

			memcpy(x->mem[k], w->init[rank][buf], x->bytes[k]);
		}
		x->late = random_below(&w->random, 3) * 100;
		x->taken_over = (u32)random_u64(&w->random) & (u32)random_u64(&w->random);
		x->sent = sent;
		exec_reset(x);
		w->running[rank] = false;
	}
	do {
		if (random_below(&w->random, 65536) >= cancel)
			continue;
		rank = random_below(&w->random, w->nranks);
		core_cancel(&w->exec[rank].home.core, -EPIPE, rank);
		end_taken(&w->exec[rank]);
		cancelled = true;
	} while (step(w));
	if (cancelled)
		wind_down(w);

	must(w->nnet == 0);
	for (rank = 0; rank < w->nranks; rank++) {
		const struct core_run *r = &w->exec[rank].home.core;

		exec_check_over(&w->exec[rank]);
		if (r->status) {
			must(cancelled && r->status == -EPIPE && r->err_peer < w->nranks);
			failed = true;
		}
	}
	must(messages_alive == 0);
	if (failed)
		return false;
	check_memory(w);
	return true;
}
