/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Compiling graphs: libgoal/graph/compile.c, order.c, sort.c, schedule.c. Every schedule goes
 * through the verifier as if it came from elsewhere, and is compared with a naive compiler.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <goal/collectives.h>
#include <goal/graph.h>

#include "core.h"
#include "libgoal/graph/graph.h"

/* A schedule's parts. */
struct parts {
	struct goal_schedule *s;
	const struct goal_sched_hdr *hdr;
	const struct goal_op *op;
	const uint32_t *deps, *succ, *match;
	size_t bytes;
};

static void parts_of(struct parts *p, struct goal_schedule *s)
{
	p->s = s;
	p->hdr = goal_schedule_data(s, &p->bytes);
	p->op = (const struct goal_op *)(p->hdr + 1);
	p->deps = (const uint32_t *)(p->op + p->hdr->nops);
	p->succ = p->deps + p->hdr->nops;
	p->match = p->succ + p->hdr->nsucc;
}

static void compiled(const struct goal_graph *g, struct parts *p)
{
	struct goal_schedule *s = NULL, *again = NULL;
	struct goal_error e = { 0 };
	size_t bytes;
	const void *data;

	if (goal_compile(g, &s, &e))
		fail_msg("%s", e.text);
	parts_of(p, s);
	assert_int_equal((uintptr_t)p->hdr % 8, 0);
	if (goal_schedule_read(p->hdr, p->bytes, &again, &e))
		fail_msg("%s", e.text);
	data = goal_schedule_data(again, &bytes);
	assert_int_equal(bytes, p->bytes);
	assert_memory_equal(data, p->hdr, bytes);
	assert_int_equal(goal_schedule_ntags(again), p->hdr->ntags);
	goal_schedule_free(again);
}

static struct goal_graph *graph_of(uint32_t rank, uint32_t npeers)
{
	struct goal_graph *g;

	assert_int_equal(goal_graph_create(rank, npeers, &g), 0);
	return g;
}

static void compile__empty(void **state)
{
	struct goal_graph *g = graph_of(0, 1);
	struct parts p;

	(void)state;
	compiled(g, &p);
	assert_int_equal(p.bytes, 64);
	assert_int_equal(p.hdr->nops, 0);
	assert_int_equal(goal_schedule_data(p.s, NULL) == p.hdr, 1);
	goal_schedule_free(p.s);
	goal_schedule_free(NULL);
	goal_graph_free(g);
}

static void compile__header(void **state)
{
	struct goal_graph *g = graph_of(3, 8);
	struct parts p;
	int64_t a;

	(void)state;
	assert_int_equal(goal_scratch(g, 100), 0);
	assert_int_equal(goal_user_size(g, 24), 0);
	assert_int_equal(goal_tags(g, 6), 0);
	a = goal_recv(g, 4, 0, 8, 7, 2);
	goal_requires(g, goal_calc(g, 99), a);
	compiled(g, &p);
	assert_int_equal(p.hdr->magic, GOAL_SCHED_MAGIC);
	assert_int_equal(p.hdr->version, GOAL_SCHED_VERSION);
	assert_int_equal(p.hdr->rank, 3);
	assert_int_equal(p.hdr->npeers, 8);
	assert_int_equal(p.hdr->nops, 2);
	assert_int_equal(p.hdr->nindep, 1);
	assert_int_equal(p.hdr->nsucc, 1);
	assert_int_equal(p.hdr->nrecv, 1);
	assert_int_equal(p.hdr->nbufs, 5);
	assert_int_equal(p.hdr->ntags, 6);
	assert_int_equal(p.hdr->scratch, 100);
	/* No reduction uses it. */
	assert_int_equal(p.hdr->user_size, 0);
	/* A calc is for simulators. */
	assert_int_equal(p.op[1].len, 0);
	goal_schedule_free(p.s);

	assert_int_equal(goal_reduce(g, 1, 0, 0, 0, 2, GOAL_TYPE_USER, GOAL_ROP_USER), 2);
	compiled(g, &p);
	assert_int_equal(p.hdr->user_size, 24);
	goal_schedule_free(p.s);
	goal_graph_free(g);
}

/* Tells operations apart after compilation: each carries its number as its offset. */
static int64_t numbered_send(struct goal_graph *g, uint32_t peer, uint32_t tag)
{
	return goal_send(g, 0, goal_graph_ops(g), 1, peer, tag);
}

static int64_t numbered_recv(struct goal_graph *g, uint32_t peer, uint32_t tag)
{
	return goal_recv(g, 1, goal_graph_ops(g), 1, peer, tag);
}

static uint32_t created_as(const struct goal_op *o)
{
	return o->code == GOAL_OP_RECV ? o->dst_off : o->src_off;
}

static void check_created(const struct parts *p, const uint32_t *want, uint32_t n)
{
	uint32_t i;

	assert_int_equal(p->hdr->nops, n);
	for (i = 0; i < n; i++)
		assert_int_equal(created_as(&p->op[i]), want[i]);
}

static void compile__independent_first(void **state)
{
	const uint32_t want[] = { 0, 2, 4, 1, 3 };
	struct goal_graph *g = graph_of(0, 4);
	struct parts p;
	int i;

	(void)state;
	for (i = 0; i < 5; i++)
		numbered_send(g, 1, 0);
	goal_requires(g, 1, 0);
	goal_irequires(g, 3, 2);
	compiled(g, &p);
	check_created(&p, want, 5);
	assert_int_equal(p.hdr->nindep, 3);
	goal_schedule_free(p.s);
	goal_graph_free(g);
}

static void compile__forward_dependencies(void **state)
{
	/* 0 requires 4, 1 requires 0, 3 irequires 2: 2 and 4 are free; then always the earliest. */
	const uint32_t want[] = { 2, 4, 0, 1, 3 };
	struct goal_graph *g = graph_of(0, 4);
	struct parts p;
	int i;

	(void)state;
	for (i = 0; i < 5; i++)
		numbered_send(g, 1, 0);
	goal_requires(g, 0, 4);
	goal_requires(g, 1, 0);
	goal_irequires(g, 3, 2);
	compiled(g, &p);
	check_created(&p, want, 5);
	/* Instances follow creation, not the numbers. */
	for (i = 0; i < 5; i++)
		assert_int_equal(p.op[i].instance, want[i]);
	/* Operation 0, created third, has only the one that irequires it: the last. */
	assert_int_equal(p.op[0].nsucc, 0);
	assert_int_equal(p.op[0].nisucc, 1);
	assert_int_equal(p.succ[p.op[0].succ], 4);
	goal_schedule_free(p.s);
	goal_graph_free(g);
}

static void compile__rows_sorted_requires_first(void **state)
{
	struct goal_graph *g = graph_of(0, 4);
	struct parts p;
	int i;

	(void)state;
	for (i = 0; i < 7; i++)
		numbered_send(g, 1, 0);
	goal_irequires(g, 6, 0);
	goal_requires(g, 5, 0);
	goal_irequires(g, 2, 0);
	goal_requires(g, 3, 0);
	goal_requires(g, 1, 0);
	goal_requires(g, 4, 3);
	compiled(g, &p);
	assert_int_equal(p.op[0].nsucc, 3);
	assert_int_equal(p.op[0].nisucc, 2);
	assert_memory_equal(p.succ, ((uint32_t[]){ 1, 3, 5, 2, 6, 4 }), 24);
	assert_memory_equal(p.deps, ((uint32_t[]){ 0, 1, 1, 1, 1, 1, 1 }), 28);
	goal_schedule_free(p.s);
	goal_graph_free(g);
}

static void compile__match_table(void **state)
{
	struct goal_graph *g = graph_of(0, 9);
	struct parts p;
	uint32_t i;

	(void)state;
	numbered_recv(g, 8, 0); /* 0: slot 4 */
	numbered_recv(g, 2, 1); /* 1: slot 2 */
	numbered_recv(g, 2, 0); /* 2: slot 0 */
	numbered_send(g, 2, 0); /* 3: sends count by themselves */
	numbered_recv(g, 2, 1); /* 4: slot 3, instance 1 */
	numbered_recv(g, 2, 0); /* 5: slot 1, instance 1 */
	numbered_send(g, 2, 0); /* 6: instance 1 */
	compiled(g, &p);
	assert_int_equal(p.hdr->nrecv, 5);
	assert_memory_equal(p.match, ((uint32_t[]){ 2, 5, 1, 4, 0 }), 20);
	for (i = 0; i < 5; i++)
		assert_int_equal(p.op[p.match[i]].slot, i);
	assert_int_equal(p.op[4].instance, 1);
	assert_int_equal(p.op[5].instance, 1);
	assert_int_equal(p.op[3].instance, 0);
	assert_int_equal(p.op[6].instance, 1);
	goal_schedule_free(p.s);
	goal_graph_free(g);
}

static void compile__length_from(void **state)
{
	struct goal_graph *g = graph_of(0, 2);
	struct parts p;
	int64_t send, recv;

	(void)state;
	send = numbered_send(g, 1, 0);
	recv = numbered_recv(g, 1, 0);
	assert_int_equal(goal_length_from(g, send, recv), 0);
	compiled(g, &p);
	check_created(&p, (uint32_t[]){ 1, 0 }, 2);
	assert_int_equal(p.op[1].len_from, 0);
	assert_int_equal(p.op[0].len_from, GOAL_OP_NONE);
	goal_schedule_free(p.s);
	goal_graph_free(g);
}

static void compile__cycle(void **state)
{
	struct goal_graph *g = graph_of(0, 2);
	struct goal_schedule *s = (void *)1;
	struct goal_error e;
	int i;

	(void)state;
	for (i = 0; i < 8; i++)
		goal_nop(g);
	goal_requires(g, 1, 0);
	goal_requires(g, 4, 2);
	goal_requires(g, 2, 3);
	goal_irequires(g, 3, 4);
	/* Behind the cycle, and before it, but not on it. */
	goal_requires(g, 7, 4);
	goal_requires(g, 5, 7);
	goal_requires(g, 3, 6);
	assert_int_equal(goal_compile(g, &s, &e), -EINVAL);
	assert_ptr_equal(s, (void *)1);
	assert_int_equal(e.code, -EINVAL);
	assert_int_equal(e.line, 0);
	assert_in_range(e.where, 2, 4);
	assert_non_null(strstr(e.text, "waits for itself"));
	assert_int_equal(goal_compile(g, &s, NULL), -EINVAL);
	goal_graph_free(g);

	assert_int_equal(goal_compile(NULL, &s, &e), -EINVAL);
}

/* The graph stays as it is: compiled twice, and once more after it has grown. */
static void compile__graph_stays_usable(void **state)
{
	struct goal_graph *g = graph_of(0, 2);
	struct parts p, q;

	(void)state;
	numbered_send(g, 1, 0);
	goal_requires(g, numbered_recv(g, 1, 0), 0);
	compiled(g, &p);
	compiled(g, &q);
	assert_int_equal(p.bytes, q.bytes);
	assert_memory_equal(p.hdr, q.hdr, p.bytes);
	goal_schedule_free(q.s);
	goal_nop(g);
	compiled(g, &q);
	assert_int_equal(q.hdr->nops, 3);
	goal_schedule_free(q.s);
	goal_schedule_free(p.s);
	goal_graph_free(g);
}

static uint32_t seed;

static uint32_t random_below(uint32_t n)
{
	seed = seed * 1664525 + 1013904223;
	return (uint64_t)(seed >> 8) * n >> 24;
}

/*
 * A naive compiler's order: of the unnumbered operations, the earliest without unnumbered
 * dependencies; but first those without any.
 */
static bool naive_order(const struct goal_graph *g, uint32_t *old)
{
	uint32_t n = 0, pass, i, d;
	bool *done = calloc(g->nops + 1, sizeof(*done));
	bool all;

	for (pass = 0; pass < 2; pass++) {
		for (i = 0; i < g->nops;) {
			bool ready = !done[i];

			for (d = 0; d < g->ndeps && ready; d++)
				if (g->dep[d].op == i && (pass == 0 || !done[g->dep[d].before]))
					ready = false;
			if (!ready) {
				i++;
				continue;
			}
			done[i] = true;
			old[n++] = i;
			i = 0;
		}
	}
	all = n == g->nops;
	free(done);
	return all;
}

static uint32_t naive_instance(const struct goal_graph *g, uint32_t op)
{
	uint32_t i, n = 0;

	for (i = 0; i < op; i++)
		if (g->op[i].code == g->op[op].code && g->op[i].peer == g->op[op].peer &&
		    g->op[i].tag == g->op[op].tag)
			n++;
	return n;
}

static void check_against_naive(const struct goal_graph *g)
{
	uint32_t *old = calloc(g->nops + 1, sizeof(*old));
	struct goal_schedule *s;
	struct goal_error e;
	struct parts p;
	uint32_t i;

	if (!naive_order(g, old)) {
		assert_int_equal(goal_compile(g, &s, &e), -EINVAL);
		free(old);
		return;
	}
	compiled(g, &p);
	for (i = 0; i < g->nops; i++) {
		const struct goal_op *a = &p.op[i], *b = &g->op[old[i]];
		uint32_t d, deps = 0;

		assert_int_equal(created_as(a), old[i]);
		assert_int_equal(a->code, b->code);
		assert_int_equal(a->peer, b->peer);
		assert_int_equal(a->tag, b->tag);
		assert_int_equal(a->instance, naive_instance(g, old[i]));
		for (d = 0; d < g->ndeps; d++)
			deps += g->dep[d].op == old[i];
		assert_int_equal(p.deps[i], deps);
	}
	/* Every dependency has an entry of its own in the right part of the right row. */
	for (i = 0; i < g->ndeps; i++) {
		const struct graph_dep *d = &g->dep[i];
		uint32_t from, k, n = 0, same = 0;

		for (from = 0; old[from] != d->before; from++)
			;
		for (k = 0; k < g->ndeps; k++)
			same += g->dep[k].op == d->op && g->dep[k].before == d->before &&
				g->dep[k].started == d->started;
		for (k = 0; k < p.op[from].nsucc + p.op[from].nisucc; k++)
			n += old[p.succ[p.op[from].succ + k]] == d->op &&
			     (k >= p.op[from].nsucc) == d->started;
		assert_int_equal(n, same);
	}
	goal_schedule_free(p.s);
	free(old);
}

static void compile__random_graphs(void **state)
{
	uint32_t round;

	(void)state;
	for (round = 0; round < 600; round++) {
		struct goal_graph *g = graph_of(0, 4);
		uint32_t nops, ndeps, i;

		seed = round;
		nops = 2 + random_below(round % 4 ? 30 : 100);
		ndeps = random_below(2 * nops);
		for (i = 0; i < nops; i++) {
			if (random_below(2))
				numbered_send(g, random_below(4), random_below(3));
			else
				numbered_recv(g, random_below(4), random_below(3));
		}
		for (i = 0; i < ndeps; i++) {
			uint32_t a = random_below(nops), b = random_below(nops), swap;

			if (a == b)
				continue;
			/* Backward always, mostly, or as it comes (and then often in a cycle). */
			if (a < b && (round % 3 == 0 || (round % 3 == 1 && random_below(20)))) {
				swap = a;
				a = b;
				b = swap;
			}
			if (random_below(3))
				goal_requires(g, a, b);
			else
				goal_irequires(g, a, b);
		}
		check_against_naive(g);
		goal_graph_free(g);
	}
}

static void sort__stable(void **state)
{
	static struct graph_key k[3000], tmp[3000];
	uint32_t round, n, i;

	(void)state;
	for (round = 0; round < 200; round++) {
		seed = round;
		n = round < 100 ? round : 1 + random_below(3000);
		for (i = 0; i < n; i++)
			k[i] = (struct graph_key){
				(uint64_t)random_below(round % 7 ? 5 : 1u << 23) << round % 50,
				i,
			};
		graph_sort(k, tmp, n);
		for (i = 1; i < n; i++)
			if (k[i - 1].key > k[i].key ||
			    (k[i - 1].key == k[i].key && k[i - 1].value > k[i].value))
				fail_msg("round %u: not in order at %u", round, i);
	}
}

/* A linear all-to-all: many peers, created in an order that must be sorted. */
static void compile__large(void **state)
{
	const uint32_t n = 50000;
	struct goal_graph *g = graph_of(0, n);
	struct parts p;
	uint32_t i;

	(void)state;
	for (i = 0; i < n; i++) {
		numbered_send(g, i * 7919u % n, 0);
		numbered_recv(g, i * 7919u % n, 0);
	}
	/* And a dependency that makes the whole go through the heap. */
	goal_requires(g, 0, 2 * n - 1);
	compiled(g, &p);
	assert_int_equal(p.hdr->nrecv, n);
	for (i = 0; i < n; i++)
		assert_int_equal(p.op[p.match[i]].peer, i);
	goal_schedule_free(p.s);
	goal_graph_free(g);
}

/*
 * Barriers of a million ranks stay small at every rank, with whatever algorithm, on one node
 * or each rank on its own: the schedule and the memory of a run together.
 */
static void compile__barrier_million(void **state)
{
	const enum goal_algorithm algs[] = {
		GOAL_ALG_AUTO,
		GOAL_ALG_DISSEMINATION,
		GOAL_ALG_RECURSIVE_DOUBLING,
		GOAL_ALG_BINOMIAL,
	};
	const uint32_t size = 1048576;
	const uint32_t ranks[] = { 0, 1, size / 2 - 1, size - 1 };
	uint32_t *node = malloc(size * sizeof(*node));
	uint32_t i, k;

	(void)state;
	for (i = 0; i < size; i++)
		node[i] = i;
	for (i = 0; i < 2 * sizeof(algs) / sizeof(*algs); i++) {
		for (k = 0; k < sizeof(ranks) / sizeof(*ranks); k++) {
			struct goal_comm c = {
				.rank = ranks[k],
				.size = size,
				.node = i % 2 ? node : NULL,
			};
			struct core_sched sched = { 0 };
			struct goal_graph *g;
			struct parts p;

			assert_true(goal_barrier(&c, algs[i / 2], &g) >= 1);
			compiled(g, &p);
			sched.hdr = p.hdr;
			if (p.bytes + core_run_bytes(&sched) >= 4096)
				fail_msg("algorithm %d: %zu + %zu bytes", algs[i / 2], p.bytes,
					 core_run_bytes(&sched));
			goal_schedule_free(p.s);
			goal_graph_free(g);
		}
	}
	free(node);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(compile__empty),
		cmocka_unit_test(compile__header),
		cmocka_unit_test(compile__independent_first),
		cmocka_unit_test(compile__forward_dependencies),
		cmocka_unit_test(compile__rows_sorted_requires_first),
		cmocka_unit_test(compile__match_table),
		cmocka_unit_test(compile__length_from),
		cmocka_unit_test(compile__cycle),
		cmocka_unit_test(compile__graph_stays_usable),
		cmocka_unit_test(compile__random_graphs),
		cmocka_unit_test(sort__stable),
		cmocka_unit_test(compile__large),
		cmocka_unit_test(compile__barrier_million),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
