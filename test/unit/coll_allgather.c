/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * libgoal/collectives/allgather.c, allgatherv.c, and the building blocks in it: Bruck's algorithm
 * and recursive doubling, for any number of ranks.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "coll_world.h"

#define GAP 3 /* bytes between blocks of the v form */

struct shape {
	uint32_t size, remote_size;
	bool v;
	enum goal_algorithm alg;
	uint64_t bytes[2]; /* of a block, by the group that gives it */
	bool in_place;
};

/* Bytes that process @i gives. */
static uint64_t block_bytes(const struct world *w, const struct shape *s, uint32_t i)
{
	return s->bytes[world_group(w, i)] * (s->v ? i % 3 : 1);
}

/* What process @i gets from its peers: bytes and places; the total. */
static uint64_t lay_out(const struct world *w, const struct shape *s, uint32_t i, uint32_t peers,
			uint64_t *bytes, uint64_t *off)
{
	uint64_t total = 0;

	for (uint32_t r = 0; r < peers; r++) {
		bytes[r] = block_bytes(w, s, world_peer(w, i, r));
		off[r] = total;
		total += bytes[r] + (s->v ? GAP : 0);
	}
	return total;
}

static void run(const struct shape *s)
{
	static uint64_t bytes[64][64], off[64][64];
	uint8_t *recv[64];
	struct world w;

	world_open(&w, s->size, s->remote_size, "allgather%s %s, %u+%u ranks, %llu bytes%s",
		   s->v ? "v" : "", goal_algorithm_name(s->alg), s->size, s->remote_size,
		   (unsigned long long)s->bytes[0], s->in_place ? ", in place" : "");
	w.seed = s->size + (uint32_t)s->bytes[0];
	for (uint32_t i = 0; i < w.n; i++) {
		struct goal_comm c = world_comm(&w, i);
		uint32_t peers = c.remote_size ? c.remote_size : c.size;
		uint64_t total = lay_out(&w, s, i, peers, bytes[i], off[i]);
		uint64_t own = block_bytes(&w, s, i);
		struct goal_blocks blocks = { bytes[i], off[i] };
		struct goal_graph *g = NULL;
		int ntags;

		if (s->v)
			ntags = goal_allgatherv(&c, s->alg, s->in_place ? 12345 : own, &blocks,
						s->in_place, &g);
		else
			ntags = goal_allgather(&c, s->alg, own,
					       block_bytes(&w, s, world_peer(&w, i, 0)),
					       s->in_place, &g);
		world_graph(&w, i, ntags, g);
		recv[i] = world_bind(&w, i, GOAL_BUF_RECV, total);
		if (s->in_place)
			world_fill(recv[i] + off[i][i], i, 0, own);
		else
			world_fill(world_bind(&w, i, GOAL_BUF_SEND, own), i, 0, own);
	}
	world_run(&w);
	for (uint32_t i = 0; i < w.n; i++) {
		uint32_t peers = world_count(&w, w.remote_size ? !world_group(&w, i) : 0);

		for (uint32_t r = 0; r < peers; r++) {
			world_expect(&w, i, recv[i] + off[i][r], world_peer(&w, i, r), 0,
				     bytes[i][r], "block");
			if (s->v)
				world_expect_zero(&w, i, recv[i] + off[i][r] + bytes[i][r], GAP,
						  "gap");
		}
	}
	world_close(&w);
}

static void intra(bool v, enum goal_algorithm alg)
{
	const uint64_t bytes[] = { 0, 1, 13, 5000 };

	for (size_t n = 0; n < WORLD_SIZES; n++)
		for (uint32_t b = 0; b < 4; b++)
			for (uint32_t in_place = 0; in_place < 2; in_place++)
				run(&(struct shape){ world_sizes[n],
						     0,
						     v,
						     alg,
						     { bytes[b], bytes[b] },
						     in_place });
}

static void inter(bool v)
{
	const uint64_t bytes[][2] = { { 0, 0 }, { 0, 7 }, { 7, 0 }, { 4, 9 }, { 5000, 6000 } };

	for (size_t p = 0; p < WORLD_PAIRS; p++)
		for (uint32_t b = 0; b < 5; b++)
			run(&(struct shape){ world_pairs[p][0],
					     world_pairs[p][1],
					     v,
					     GOAL_ALG_AUTO,
					     { bytes[b][0], bytes[b][1] },
					     false });
}

static void allgather__auto(void **state)
{
	(void)state;
	intra(false, GOAL_ALG_AUTO);
	inter(false);
}

static void allgather__linear(void **state)
{
	(void)state;
	intra(false, GOAL_ALG_LINEAR);
}

static void allgather__bruck(void **state)
{
	(void)state;
	intra(false, GOAL_ALG_BRUCK);
}

static void allgather__recursive_doubling(void **state)
{
	(void)state;
	intra(false, GOAL_ALG_RECURSIVE_DOUBLING);
}

static void allgatherv__linear(void **state)
{
	(void)state;
	intra(true, GOAL_ALG_LINEAR);
	inter(true);
}

/* Bruck's algorithm takes ceil(log2 P) rounds of at most two messages, and copies nothing twice. */
static void allgather__bruck_operations(void **state)
{
	struct goal_comm c = { .size = 33 };

	(void)state;
	for (c.rank = 0; c.rank < c.size; c.rank++) {
		struct goal_graph *g;

		assert_int_equal(goal_allgather(&c, GOAL_ALG_BRUCK, 8, 8, false, &g), 2);
		assert_in_range(goal_graph_ops(g), 13, 25);
		goal_graph_free(g);
	}
}

/* A rank whose blocks are all empty may not be called: nobody must wait for it. */
static void allgatherv__nothing(void **state)
{
	uint64_t bytes[4] = { 0 }, off[4] = { 0 };
	struct goal_blocks blocks = { bytes, off };
	struct goal_comm c = { .rank = 1, .size = 4 };
	struct goal_graph *g;

	(void)state;
	assert_int_equal(goal_allgatherv(&c, GOAL_ALG_AUTO, 0, &blocks, false, &g), 1);
	assert_int_equal(goal_graph_ops(g), 1);
	goal_graph_free(g);
	bytes[3] = 1; /* now the empty ones are sent too */
	assert_int_equal(goal_allgatherv(&c, GOAL_ALG_AUTO, 0, &blocks, false, &g), 1);
	assert_int_equal(goal_graph_ops(g), 6);
	goal_graph_free(g);
}

static void allgather__bad(void **state)
{
	uint64_t bytes[4] = { 4, 4, 4, 4 }, off[4] = { 0, 4, 8, 12 };
	struct goal_blocks blocks = { bytes, off };
	struct goal_comm c = { .rank = 1, .size = 4 };
	struct goal_comm inter_comm = { .rank = 1, .size = 4, .remote_size = 4 };
	struct goal_graph *g = NULL;

	(void)state;
	assert_int_equal(goal_allgather(&c, GOAL_ALG_AUTO, 4, 8, false, &g), -EINVAL);
	assert_int_equal(goal_allgather(&c, GOAL_ALG_BINOMIAL, 8, 8, false, &g), -EINVAL);
	assert_int_equal(goal_allgather(&inter_comm, GOAL_ALG_AUTO, 8, 8, true, &g), -EINVAL);
	assert_int_equal(goal_allgather(&inter_comm, GOAL_ALG_BRUCK, 8, 8, false, &g), -EINVAL);
	assert_int_equal(goal_allgather(&c, GOAL_ALG_AUTO, 1ull << 55, 1ull << 55, false, &g),
			 -E2BIG);
	assert_int_equal(goal_allgatherv(&c, GOAL_ALG_AUTO, 5, &blocks, false, &g), -EMSGSIZE);
	assert_int_equal(goal_allgatherv(&c, GOAL_ALG_AUTO, 5, NULL, false, &g), -EINVAL);
	assert_int_equal(goal_allgatherv(&inter_comm, GOAL_ALG_AUTO, 4, &blocks, true, &g),
			 -EINVAL);
	assert_null(g);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(allgather__auto),
		cmocka_unit_test(allgather__linear),
		cmocka_unit_test(allgather__bruck),
		cmocka_unit_test(allgather__recursive_doubling),
		cmocka_unit_test(allgatherv__linear),
		cmocka_unit_test(allgather__bruck_operations),
		cmocka_unit_test(allgatherv__nothing),
		cmocka_unit_test(allgather__bad),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
