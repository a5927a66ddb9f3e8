// SPDX-License-Identifier: BSD-3-Clause
/*
 * What LogGOPS predicts for a program: the same graphs, on a network of five numbers instead of
 * frames. An operation starts when its dependencies and its rank's processor allow it.
 *
 *	send of n bytes	the processor is busy for o + (n - 1) O, the interface for g + (n - 1) G
 *	message		begins to arrive o + L after that
 *	recv		takes the processor for o + (n - 1) max(O, G) from then on, and the
 *			interface for g + (n - 1) G
 *	calc		takes the processor for its cost; copies and reductions cost a byte 1 ns
 *
 * A message of more than S bytes is sent once its receive has started; a receive that starts after
 * the send has to tell it so (o + L). Wildcards match the first message that was sent.
 */
#include <errno.h>
#include <stdlib.h>

#include "libgoal/graph/graph.h"
#include <goal/sim.h>

enum kind {
	START,  /* of an operation */
	ARRIVE, /* of the message of a receive that has started */
	PULL,   /* a long message may go from (rank, op) to (to, recv) */
};

struct task {
	double at;
	uint64_t bytes, order; /* @order: tasks of the same time in the order of their making */
	uint32_t rank, op, to, recv;
	enum kind kind;
};

/* A message that is there, or a receive that waits. */
struct offer {
	struct offer *next;
	uint32_t peer, tag, op;
	uint64_t bytes, order; /* @order: of the send */
	double at;
	bool any_peer, any_tag, asks; /* asks: a long message, its sender waits */
};

struct place {
	const struct goal_graph *g;
	uint32_t *left, *first, *then; /* by operation: dependencies left; lists of followers */
	double *ready;
	double cpu, out, in; /* free from then on: processor, interface */
	struct offer *came, *wants;
};

struct model {
	const struct goal_sim_loggops *m;
	struct place *place;
	struct task *heap;
	uint64_t n, room, made;
	uint64_t undone;
	double end;
	bool failed;
};

/* At the same time, whatever tells of a receive comes before what waits for it. */
static bool before(const struct task *a, const struct task *b)
{
	if (a->at != b->at)
		return a->at < b->at;
	if ((a->kind == PULL) != (b->kind == PULL))
		return b->kind == PULL;
	return a->order < b->order;
}

static void push(struct model *x, struct task t)
{
	uint64_t i = x->n;

	if (x->n == x->room) {
		struct task *more;

		x->room = x->room ? 2 * x->room : 1024;
		more = realloc(x->heap, x->room * sizeof(*more));
		if (!more) {
			x->failed = true;
			return;
		}
		x->heap = more;
	}
	x->n++;
	if (!t.order)
		t.order = ++x->made;
	while (i && before(&t, &x->heap[(i - 1) / 2])) {
		x->heap[i] = x->heap[(i - 1) / 2];
		i = (i - 1) / 2;
	}
	x->heap[i] = t;
}

static struct task pop(struct model *x)
{
	struct task first = x->heap[0], last = x->heap[--x->n];
	uint64_t i = 0, k;

	while ((k = 2 * i + 1) < x->n) {
		if (k + 1 < x->n && before(&x->heap[k + 1], &x->heap[k]))
			k++;
		if (before(&last, &x->heap[k]))
			break;
		x->heap[i] = x->heap[k];
		i = k;
	}
	x->heap[i] = last;
	return first;
}

/* Those that depend on @op in this way may go on from @at. */
static void release(struct model *x, uint32_t rank, uint32_t op, bool started, double at)
{
	struct place *p = &x->place[rank];
	uint32_t d;

	for (d = p->first[op]; d; d = p->then[d - 1]) {
		const struct graph_dep *dep = &p->g->dep[d - 1];

		if (dep->started != started)
			continue;
		if (p->ready[dep->op] < at)
			p->ready[dep->op] = at;
		if (--p->left[dep->op] == 0)
			push(x,
			     (struct task){ .rank = rank, .op = dep->op, .at = p->ready[dep->op] });
	}
}

static void finish(struct model *x, uint32_t rank, uint32_t op, double at)
{
	x->undone--;
	if (x->end < at)
		x->end = at;
	release(x, rank, op, false, at);
}

static bool fits(const struct offer *want, const struct offer *came)
{
	return (want->any_peer || want->peer == came->peer) &&
	       (want->any_tag || want->tag == came->tag);
}

/* Take the first of @list that fits @one, in the order of its arrival. */
static struct offer *match(struct offer **list, const struct offer *one, bool one_wants)
{
	struct offer **at, *o;

	for (at = list; (o = *at) != NULL; at = &o->next)
		if (one_wants ? fits(one, o) : fits(o, one)) {
			*at = o->next;
			return o;
		}
	return NULL;
}

static void keep(struct model *x, struct offer **list, const struct offer *one)
{
	struct offer *o = malloc(sizeof(*o));

	if (!o) {
		x->failed = true;
		return;
	}
	*o = *one;
	o->next = NULL;
	while (*list)
		list = &(*list)->next;
	*list = o;
}

static double max(double a, double b)
{
	return a > b ? a : b;
}

static double rest(uint64_t bytes)
{
	return bytes ? (double)(bytes - 1) : 0;
}

/* The message begins to arrive at @at: the receive @op takes it then. */
static void arrive(struct model *x, uint32_t rank, uint32_t op, uint64_t bytes, double at)
{
	push(x, (struct task){ .kind = ARRIVE, .rank = rank, .op = op, .bytes = bytes, .at = at });
}

/* Bytes leave @rank now: when they begin to arrive. */
static double transmit(struct model *x, uint32_t rank, uint64_t bytes, double at)
{
	const struct goal_sim_loggops *m = x->m;
	struct place *p = &x->place[rank];

	p->cpu = at + m->o + rest(bytes) * m->O;
	p->out = at + m->g + rest(bytes) * m->G;
	return at + m->o + m->L;
}

/* A long message whose receive has started: its sender knows at @at. */
static void pull(struct model *x, const struct offer *came, uint32_t to, uint32_t recv, double at)
{
	push(x, (struct task){ .kind = PULL,
			       .rank = came->peer,
			       .op = came->op,
			       .to = to,
			       .recv = recv,
			       .bytes = came->bytes,
			       .order = came->order,
			       .at = at });
}

static void send(struct model *x, uint32_t rank, uint32_t op, double at, uint64_t order)
{
	const struct goal_op *o = &x->place[rank].g->op[op];
	struct place *to = &x->place[o->peer];
	struct offer came = {
		.peer = rank, .tag = o->tag, .op = op, .bytes = o->len, .order = order
	};
	struct offer *want = match(&to->wants, &came, false);

	if (x->m->S && o->len > x->m->S) {
		if (want) {
			pull(x, &came, o->peer, want->op, max(at, want->at));
		} else {
			came.asks = true;
			came.at = at;
			keep(x, &to->came, &came);
		}
		free(want);
		return;
	}
	came.at = transmit(x, rank, o->len, at);
	if (want)
		arrive(x, o->peer, want->op, o->len, max(came.at, want->at));
	else
		keep(x, &to->came, &came);
	free(want);
	finish(x, rank, op, x->place[rank].cpu);
}

static void recv(struct model *x, uint32_t rank, uint32_t op, double at)
{
	struct place *p = &x->place[rank];
	const struct graph_attr *a = op < p->g->nattr ? &p->g->attr[op] : NULL;
	struct offer want = {
		.peer = p->g->op[op].peer, .tag = p->g->op[op].tag, .op = op, .at = at
	};
	struct offer *came;

	want.any_peer = a && a->flags & GRAPH_ATTR_ANY_PEER;
	want.any_tag = a && a->flags & GRAPH_ATTR_ANY_TAG;
	came = match(&p->came, &want, true);
	if (!came)
		keep(x, &p->wants, &want);
	else if (came->asks)
		pull(x, came, rank, op, at > came->at ? at + x->m->o + x->m->L : came->at);
	else
		arrive(x, rank, op, came->bytes, max(at, came->at));
	free(came);
}

static double cost(const struct goal_op *o)
{
	/* Elements count as bytes: a model of five numbers knows no types. */
	return (double)o->len;
}

static void start(struct model *x, const struct task *t)
{
	struct place *p = &x->place[t->rank];
	const struct goal_op *o = &p->g->op[t->op];

	release(x, t->rank, t->op, true, t->at);
	switch (o->code) {
	case GOAL_OP_SEND:
		send(x, t->rank, t->op, t->at, t->order);
		break;
	case GOAL_OP_RECV:
		recv(x, t->rank, t->op, t->at);
		break;
	default:
		p->cpu = t->at + cost(o);
		finish(x, t->rank, t->op, p->cpu);
		break;
	}
}

/* When what @t needs is free. */
static double free_at(const struct model *x, const struct task *t)
{
	const struct place *p = &x->place[t->rank];
	uint8_t code = p->g->op[t->op].code;

	if (t->kind == START && code == GOAL_OP_RECV)
		return t->at;
	if (t->kind == PULL || (t->kind == START && code == GOAL_OP_SEND))
		return max(p->cpu, p->out);
	return t->kind == ARRIVE ? max(p->cpu, p->in) : p->cpu;
}

static void step(struct model *x, struct task t)
{
	struct place *p = &x->place[t.rank];
	double when = free_at(x, &t);

	if (when > t.at) {
		t.at = when;
		push(x, t);
		return;
	}
	switch (t.kind) {
	case START:
		start(x, &t);
		break;
	case ARRIVE:
		p->cpu = t.at + x->m->o + rest(t.bytes) * max(x->m->O, x->m->G);
		p->in = t.at + x->m->g + rest(t.bytes) * x->m->G;
		finish(x, t.rank, t.op, p->cpu);
		break;
	case PULL:
		arrive(x, t.to, t.recv, t.bytes, transmit(x, t.rank, t.bytes, t.at));
		finish(x, t.rank, t.op, p->cpu);
		break;
	}
}

static int prepare(struct model *x, struct place *p, uint32_t rank)
{
	uint32_t i;

	p->left = calloc(p->g->nops + 1, sizeof(*p->left));
	p->first = calloc(p->g->nops + 1, sizeof(*p->first));
	p->then = calloc(p->g->ndeps + 1, sizeof(*p->then));
	p->ready = calloc(p->g->nops + 1, sizeof(*p->ready));
	if (!p->left || !p->first || !p->then || !p->ready)
		return -ENOMEM;
	for (i = p->g->ndeps; i-- > 0;) { /* so that the lists are in the order of the graph */
		const struct graph_dep *d = &p->g->dep[i];

		p->left[d->op]++;
		p->then[i] = p->first[d->before];
		p->first[d->before] = i + 1;
	}
	for (i = 0; i < p->g->nops; i++)
		if (!p->left[i])
			push(x, (struct task){ .rank = rank, .op = i });
	x->undone += p->g->nops;
	return 0;
}

static void free_list(struct offer *o)
{
	while (o) {
		struct offer *next = o->next;

		free(o);
		o = next;
	}
}

int goal_sim_predict(const struct goal_program *program, const struct goal_sim_loggops *m,
		     double *slowest)
{
	uint32_t ranks = goal_program_ranks(program), i;
	struct model x = { .m = m };
	int rc = -ENOMEM;

	x.place = calloc(ranks, sizeof(*x.place));
	if (!x.place)
		return -ENOMEM;
	for (i = 0; i < ranks; i++) {
		x.place[i].g = goal_program_graph(program, i);
		rc = prepare(&x, &x.place[i], i);
		if (rc)
			goto free_all;
	}
	while (x.n && !x.failed)
		step(&x, pop(&x));
	rc = x.failed ? -ENOMEM : x.undone ? -EDEADLK : 0;
	*slowest = x.end;
free_all:
	for (i = 0; i < ranks; i++) {
		free(x.place[i].left);
		free(x.place[i].first);
		free(x.place[i].then);
		free(x.place[i].ready);
		free_list(x.place[i].came);
		free_list(x.place[i].wants);
	}
	free(x.place);
	free(x.heap);
	return rc;
}
