/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Runs the schedules of all ranks in one process. Everything that may happen next stands in one
 * list, from which the next thing is drawn: an operation starts, a copy or reduction is
 * carried out, a message arrives, a send is over. A send reads its data when it starts (eager)
 * or when its message arrives (rendezvous); a receive spoils its destination when it
 * starts. Used by the coll_* tests.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "coll_hazard.h"
#include "coll_world.h"

enum state {
	WAITING,
	READY,
	STARTED,
	ARRIVING,
	DONE
};

struct world_op {
	enum state state;
	uint32_t left;            /* dependencies */
	uint32_t mate_proc, mate; /* send, recv: the other end */
	uint64_t got;             /* recv: bytes received */
	uint8_t *eager;           /* send: its data, when they are on the way */
	uint64_t len;             /* send, copy: bytes */
};

struct world_proc {
	struct goal_schedule *schedule;
	const struct goal_sched_hdr *hdr;
	const struct goal_op *op;
	const uint32_t *deps, *succ, *match;
	uint8_t *buf[GOAL_MAX_BUFS];
	uint64_t bytes[GOAL_MAX_BUFS];
	uint8_t *scratch;
	struct world_op *at;
	uint32_t undone;
};

enum event_kind {
	START,
	MOVE,
	ARRIVE,
	SENT
};

struct event {
	enum event_kind kind;
	uint32_t proc, op;
};

struct events {
	struct event *list;
	size_t n, room;
	uint64_t random;
	int order; /* 0, 1: any; 2: newest first; 3: oldest first */
};

const uint32_t world_sizes[WORLD_SIZES] = { 1,  2,  3,  4,  5,  6,  7,  8,  9,
					    10, 11, 12, 13, 14, 15, 16, 17, 33 };
const uint32_t world_pairs[WORLD_PAIRS][2] = { { 1, 1 }, { 1, 3 }, { 3, 1 }, { 2, 2 },
					       { 3, 5 }, { 5, 2 }, { 4, 4 }, { 9, 11 } };

static uint64_t draw(uint64_t *state)
{
	/* splitmix64 */
	uint64_t z = *state += 0x9e3779b97f4a7c15ull;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
	return z ^ (z >> 31);
}

void world_open(struct world *w, uint32_t size, uint32_t remote_size, const char *fmt, ...)
{
	va_list ap;

	*w = (struct world){ .size = size, .remote_size = remote_size, .n = size + remote_size };
	w->proc = calloc(w->n, sizeof(*w->proc));
	assert_non_null(w->proc);
	va_start(ap, fmt);
	vsnprintf(w->name, sizeof(w->name), fmt, ap);
	va_end(ap);
}

void world_close(struct world *w)
{
	for (uint32_t i = 0; i < w->n; i++) {
		struct world_proc *p = &w->proc[i];

		goal_schedule_free(p->schedule);
		for (uint32_t b = 0; b < GOAL_MAX_BUFS; b++)
			free(p->buf[b]);
		free(p->scratch);
		free(p->at);
	}
	free(w->proc);
}

uint32_t world_first(const struct world *w, uint32_t group)
{
	return group ? w->size : 0;
}

uint32_t world_count(const struct world *w, uint32_t group)
{
	return group ? w->remote_size : w->size;
}

uint32_t world_peer(const struct world *w, uint32_t i, uint32_t peer)
{
	return w->remote_size && !world_group(w, i) ? w->size + peer : peer;
}

struct goal_comm world_comm(const struct world *w, uint32_t i)
{
	uint32_t group = world_group(w, i);

	return (struct goal_comm){
		.rank = i - world_first(w, group),
		.size = world_count(w, group),
		.remote_size = w->remote_size ? world_count(w, !group) : 0,
		.node = w->node,
	};
}

void world_graph(struct world *w, uint32_t i, int ntags, struct goal_graph *graph)
{
	struct world_proc *p = &w->proc[i];
	struct goal_schedule *again;
	struct goal_error error;
	char text[160];
	size_t bytes;

	if (ntags < 1 || (w->ntags && ntags != w->ntags))
		fail_msg("%s: process %u takes %d tags, the others %d", w->name, i, ntags,
			 w->ntags);
	w->ntags = ntags;
	if (goal_compile(graph, &p->schedule, &error))
		fail_msg("%s: process %u: %s", w->name, i, error.text);
	goal_graph_free(graph);
	p->hdr = goal_schedule_data(p->schedule, &bytes);
	if (goal_schedule_read(p->hdr, bytes, &again, &error))
		fail_msg("%s: process %u: %s", w->name, i, error.text);
	goal_schedule_free(again);
	assert_int_equal(p->hdr->ntags, ntags);
	assert_true(p->hdr->nops > 0);
	p->op = (const struct goal_op *)(p->hdr + 1);
	p->deps = (const uint32_t *)(p->op + p->hdr->nops);
	p->succ = p->deps + p->hdr->nops;
	p->match = p->succ + p->hdr->nsucc;
	if (hazard_find(p->hdr, text, sizeof(text)))
		fail_msg("%s: %s", w->name, text);
}

uint8_t *world_bind(struct world *w, uint32_t i, uint32_t buf, uint64_t bytes)
{
	struct world_proc *p = &w->proc[i];

	p->buf[buf] = calloc(1, bytes ? bytes : 1);
	assert_non_null(p->buf[buf]);
	p->bytes[buf] = bytes;
	return p->buf[buf];
}

const struct goal_sched_hdr *world_hdr(const struct world *w, uint32_t i)
{
	return w->proc[i].hdr;
}

const struct goal_op *world_ops(const struct world *w, uint32_t i)
{
	return w->proc[i].op;
}

/* Memory of (buffer, offset, length), which must be bound. */
static uint8_t *memory(struct world *w, uint32_t proc, uint32_t buf, uint64_t off, uint64_t len)
{
	struct world_proc *p = &w->proc[proc];
	uint64_t room = buf == GOAL_BUF_SCRATCH ? p->hdr->scratch : p->bytes[buf];

	if (off + len > room)
		fail_msg("%s: process %u touches %llu bytes at %llu of buffer %u, which has %llu",
			 w->name, proc, (unsigned long long)len, (unsigned long long)off, buf,
			 (unsigned long long)room);
	return (buf == GOAL_BUF_SCRATCH ? p->scratch : p->buf[buf]) + off;
}

static void push(struct events *e, enum event_kind kind, uint32_t proc, uint32_t op)
{
	if (e->n == e->room) {
		e->room = e->room ? 2 * e->room : 64;
		e->list = realloc(e->list, e->room * sizeof(*e->list));
		assert_non_null(e->list);
	}
	e->list[e->n++] = (struct event){ kind, proc, op };
}

static struct event pull(struct events *e)
{
	size_t i = e->order == 2 ? e->n - 1 : e->order == 3 ? 0 : draw(&e->random) % e->n;
	struct event event = e->list[i];

	if (e->order == 3)
		memmove(e->list, e->list + 1, (e->n - 1) * sizeof(*e->list));
	else
		e->list[i] = e->list[e->n - 1];
	e->n--;
	return event;
}

static void satisfy(struct world *w, struct events *e, uint32_t proc, uint32_t first, uint32_t n)
{
	struct world_proc *p = &w->proc[proc];

	for (uint32_t i = first; i < first + n; i++) {
		struct world_op *o = &p->at[p->succ[i]];

		assert_true(o->left > 0);
		if (--o->left)
			continue;
		o->state = READY;
		push(e, START, proc, p->succ[i]);
	}
}

static void finish(struct world *w, struct events *e, uint32_t proc, uint32_t op)
{
	struct world_proc *p = &w->proc[proc];

	assert_true(p->at[op].state == STARTED || p->at[op].state == ARRIVING);
	p->at[op].state = DONE;
	p->undone--;
	satisfy(w, e, proc, p->op[op].succ, p->op[op].nsucc);
}

/* Both ends have started: the message may arrive. */
static void meet(struct world *w, struct events *e, uint32_t proc, uint32_t op)
{
	struct world_op *o = &w->proc[proc].at[op];

	if (w->proc[o->mate_proc].at[o->mate].state == STARTED)
		push(e, ARRIVE, proc, op);
}

static void start(struct world *w, struct events *e, uint32_t proc, uint32_t op)
{
	struct world_proc *p = &w->proc[proc];
	const struct goal_op *g = &p->op[op];
	struct world_op *o = &p->at[op];

	assert_int_equal(o->state, READY);
	o->state = STARTED;
	o->len = g->len;
	if (g->len_from != GOAL_OP_NONE && p->at[g->len_from].got < o->len)
		o->len = p->at[g->len_from].got;
	satisfy(w, e, proc, g->succ + g->nsucc, g->nisucc);
	switch (g->code) {
	case GOAL_OP_NOP:
		finish(w, e, proc, op);
		break;
	case GOAL_OP_COPY:
	case GOAL_OP_REDUCE:
		push(e, MOVE, proc, op);
		break;
	case GOAL_OP_RECV:
		if (!w->keep_dst)
			memset(memory(w, proc, g->dst_buf, g->dst_off, g->len), 0xee, g->len);
		if (w->proc[o->mate_proc].at[o->mate].eager)
			push(e, ARRIVE, proc, op);
		else
			meet(w, e, proc, op);
		break;
	case GOAL_OP_SEND:
		if (draw(&e->random) % 2) {
			o->eager = malloc(o->len + 1);
			assert_non_null(o->eager);
			memcpy(o->eager, memory(w, proc, g->src_buf, g->src_off, o->len), o->len);
			push(e, SENT, proc, op);
		}
		if (w->proc[o->mate_proc].at[o->mate].state == STARTED)
			push(e, ARRIVE, o->mate_proc, o->mate);
		break;
	}
}

static void arrive(struct world *w, struct events *e, uint32_t proc, uint32_t op)
{
	struct world_proc *p = &w->proc[proc];
	const struct goal_op *g = &p->op[op];
	struct world_op *o = &p->at[op];
	struct world_proc *from = &w->proc[o->mate_proc];
	const struct goal_op *sg = &from->op[o->mate];
	struct world_op *send = &from->at[o->mate];

	if (send->len > g->len)
		fail_msg("%s: process %u receives %llu bytes into %llu from process %u", w->name,
			 proc, (unsigned long long)send->len, (unsigned long long)g->len,
			 o->mate_proc);
	memcpy(memory(w, proc, g->dst_buf, g->dst_off, send->len),
	       send->eager ? send->eager
			   : memory(w, o->mate_proc, sg->src_buf, sg->src_off, send->len),
	       send->len);
	o->got = send->len;
	o->state = ARRIVING;
	if (!send->eager)
		push(e, SENT, o->mate_proc, o->mate);
	free(send->eager);
	send->eager = NULL;
	finish(w, e, proc, op);
}

static void move(struct world *w, struct events *e, uint32_t proc, uint32_t op)
{
	const struct goal_sched_hdr *hdr = w->proc[proc].hdr;
	const struct goal_op *g = &w->proc[proc].op[op];
	uint64_t len = w->proc[proc].at[op].len;
	uint64_t size = g->dtype == GOAL_TYPE_USER   ? hdr->user_size
			: g->dtype == GOAL_TYPE_2INT ? 8
						     : 4;

	if (g->code == GOAL_OP_COPY)
		memcpy(memory(w, proc, g->dst_buf, g->dst_off, len),
		       memory(w, proc, g->src_buf, g->src_off, len), len);
	else
		world_reduce(memory(w, proc, g->src_buf, g->src_off, len * size),
			     memory(w, proc, g->dst_buf, g->dst_off, len * size), len, g->dtype,
			     g->rop);
	finish(w, e, proc, op);
}

/* Find the other end of each message; afterwards every receive has one, and so every send. */
static void match_messages(struct world *w)
{
	uint32_t balance = 0;

	for (uint32_t i = 0; i < w->n; i++)
		for (uint32_t r = 0; r < w->proc[i].hdr->nops; r++)
			if (w->proc[i].op[r].code == GOAL_OP_RECV)
				w->proc[i].at[r].mate_proc = GOAL_OP_NONE;
	for (uint32_t i = 0; i < w->n; i++) {
		uint32_t me = world_comm(w, i).rank;

		for (uint32_t s = 0; s < w->proc[i].hdr->nops; s++) {
			const struct goal_op *send = &w->proc[i].op[s];
			uint32_t peer, r;

			if (send->code != GOAL_OP_SEND)
				continue;
			peer = world_peer(w, i, send->peer);
			for (r = 0; r < w->proc[peer].hdr->nops; r++) {
				const struct goal_op *recv = &w->proc[peer].op[r];

				if (recv->code == GOAL_OP_RECV && recv->peer == me &&
				    recv->tag == send->tag && recv->instance == send->instance)
					break;
			}
			if (r == w->proc[peer].hdr->nops)
				fail_msg("%s: nobody receives what process %u sends to process %u "
					 "with tag %u",
					 w->name, i, peer, send->tag);
			w->proc[i].at[s].mate_proc = peer;
			w->proc[i].at[s].mate = r;
			w->proc[peer].at[r].mate_proc = i;
			w->proc[peer].at[r].mate = s;
		}
	}
	for (uint32_t i = 0; i < w->n; i++)
		for (uint32_t r = 0; r < w->proc[i].hdr->nops; r++)
			balance += w->proc[i].op[r].code == GOAL_OP_RECV &&
				   w->proc[i].at[r].mate_proc == GOAL_OP_NONE;
	if (balance)
		fail_msg("%s: %u receives have no send", w->name, balance);
}

/* What everybody waits for, after a deadlock. */
static void report(const struct world *w)
{
	static const char *const codes[] = { "nop", "send", "recv", "copy", "reduce" };

	print_error("%s: deadlock (seed %u)\n", w->name, w->seed);
	for (uint32_t i = 0; i < w->n; i++) {
		for (uint32_t j = 0; j < w->proc[i].hdr->nops; j++) {
			const struct goal_op *g = &w->proc[i].op[j];
			const struct world_op *o = &w->proc[i].at[j];

			if (o->state != DONE)
				print_error("  process %u, operation %u: %s, peer %u, tag %u, %s\n",
					    i, j, codes[g->code], g->peer, g->tag,
					    o->state == WAITING ? "waits for dependencies"
								: "started, not finished");
		}
	}
	fail_msg("%s: deadlock", w->name);
}

static void prepare(struct world *w, uint32_t i)
{
	struct world_proc *p = &w->proc[i];

	p->at = calloc(p->hdr->nops, sizeof(*p->at));
	p->scratch = malloc(p->hdr->scratch + 1);
	assert_non_null(p->at);
	assert_non_null(p->scratch);
	memset(p->scratch, 0xa5, p->hdr->scratch);
	p->undone = p->hdr->nops;
	for (uint32_t j = 0; j < p->hdr->nops; j++)
		p->at[j].left = p->deps[j];
}

static void begin(struct world *w, struct events *e, uint32_t i)
{
	struct world_proc *p = &w->proc[i];

	for (uint32_t j = 0; j < p->hdr->nops; j++) {
		if (p->deps[j])
			continue;
		p->at[j].state = READY;
		push(e, START, i, j);
	}
}

static void drain(struct world *w, struct events *e)
{
	while (e->n) {
		struct event event = pull(e);

		if (event.kind == START)
			start(w, e, event.proc, event.op);
		else if (event.kind == MOVE)
			move(w, e, event.proc, event.op);
		else if (event.kind == ARRIVE)
			arrive(w, e, event.proc, event.op);
		else
			finish(w, e, event.proc, event.op);
	}
}

void world_run(struct world *w)
{
	struct events e = { .random = w->seed, .order = (int)(w->seed % 4) };
	uint32_t undone = 0;

	for (uint32_t i = 0; i < w->n; i++)
		prepare(w, i);
	match_messages(w);
	for (uint32_t i = 0; i < w->n; i++)
		if (i + 1 != w->late)
			begin(w, &e, i);
	drain(w, &e);
	if (w->late) {
		for (uint32_t i = 0; i < w->n; i++)
			if (i + 1 != w->late && !w->proc[i].undone &&
			    (!w->remote_size || world_group(w, i) != world_group(w, w->late - 1)))
				fail_msg("%s: process %u is through without process %u", w->name, i,
					 w->late - 1);
		begin(w, &e, w->late - 1);
		drain(w, &e);
	}
	free(e.list);
	for (uint32_t i = 0; i < w->n; i++)
		undone += w->proc[i].undone;
	if (undone)
		report(w);
}

uint8_t world_byte(uint32_t i, uint64_t off)
{
	uint64_t state = (uint64_t)i << 40 ^ off;

	return draw(&state) % 251 + 1; /* never 0 */
}

void world_fill(uint8_t *p, uint32_t i, uint64_t off, uint64_t bytes)
{
	for (uint64_t k = 0; k < bytes; k++)
		p[k] = world_byte(i, off + k);
}

void world_expect(const struct world *w, uint32_t i, const uint8_t *p, uint32_t from, uint64_t off,
		  uint64_t bytes, const char *what)
{
	for (uint64_t k = 0; k < bytes; k++)
		if (p[k] != world_byte(from, off + k))
			fail_msg("%s (seed %u): process %u, %s: byte %llu of what process %u gave "
				 "is wrong",
				 w->name, w->seed, i, what, (unsigned long long)k, from);
}

void world_expect_zero(const struct world *w, uint32_t i, const uint8_t *p, uint64_t bytes,
		       const char *what)
{
	for (uint64_t k = 0; k < bytes; k++)
		if (p[k])
			fail_msg("%s (seed %u): process %u, %s: byte %llu was touched", w->name,
				 w->seed, i, what, (unsigned long long)k);
}
