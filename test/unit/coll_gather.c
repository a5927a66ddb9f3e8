/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * libgoal/collectives/gather.c, gatherv.c, scatter.c, scatterv.c: every block is where it belongs,
 * and what lies between blocks is as it was. The four are each other's mirror images, so
 * they share the cases.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "coll_world.h"

#define GAP 3 /* bytes between blocks of the v forms */

struct shape {
	uint32_t size, remote_size;
	enum goal_coll coll;
	enum goal_algorithm alg;
	uint32_t root; /* a process */
	uint64_t bytes;
	bool in_place;
};

static bool is_v(const struct shape *s)
{
	return s->coll == GOAL_GATHERV || s->coll == GOAL_SCATTERV;
}

static bool is_gather(const struct shape *s)
{
	return s->coll == GOAL_GATHER || s->coll == GOAL_GATHERV;
}

/* Bytes of peer @r's block: with the v forms also none, and long ones. */
static uint64_t block_bytes(const struct shape *s, uint32_t r)
{
	return is_v(s) ? s->bytes * (r % 4) : s->bytes;
}

static uint64_t block_off(const struct shape *s, uint32_t r)
{
	uint64_t off = 0;

	for (uint32_t i = 0; i < r; i++)
		off += block_bytes(s, i) + (is_v(s) ? GAP : 0);
	return off;
}

/* Process @i's number among the blocks; the root itself has one only within a group. */
static uint32_t block_of(const struct world *w, uint32_t i)
{
	return world_comm(w, i).rank;
}

static bool takes_part(const struct world *w, const struct shape *s, uint32_t i)
{
	return !w->remote_size || world_group(w, i) != world_group(w, s->root);
}

static int build(const struct world *w, const struct shape *s, uint32_t i, struct goal_graph **g)
{
	struct goal_comm c = world_comm(w, i);
	uint32_t peers = c.remote_size ? c.remote_size : c.size;
	int64_t root = s->root - world_first(w, world_group(w, s->root));
	uint64_t *bytes = calloc(peers, sizeof(*bytes)), *off = calloc(peers, sizeof(*off));
	struct goal_blocks blocks = { .bytes = bytes, .off = off };
	bool in_place = s->in_place && i == s->root;
	uint64_t own = block_bytes(s, c.rank);
	int ntags;

	assert_non_null(bytes);
	assert_non_null(off);
	for (uint32_t r = 0; r < peers; r++) {
		bytes[r] = block_bytes(s, r);
		off[r] = block_off(s, r);
	}
	if (c.remote_size && world_group(w, i) == world_group(w, s->root))
		root = i == s->root ? GOAL_ROOT_HERE : GOAL_ROOT_NONE;
	if (s->coll == GOAL_GATHER)
		ntags = goal_gather(&c, s->alg, root, s->bytes, in_place, g);
	else if (s->coll == GOAL_SCATTER)
		ntags = goal_scatter(&c, s->alg, root, s->bytes, in_place, g);
	else if (s->coll == GOAL_GATHERV)
		ntags = goal_gatherv(&c, s->alg, root, own, i == s->root ? &blocks : NULL, in_place,
				     g);
	else
		ntags = goal_scatterv(&c, s->alg, root, own, i == s->root ? &blocks : NULL,
				      in_place, g);
	free(bytes);
	free(off);
	return ntags;
}

static void check_gather(struct world *w, const struct shape *s, uint8_t **recv)
{
	uint32_t n = w->remote_size ? world_count(w, !world_group(w, s->root)) : w->size;

	for (uint32_t r = 0; r < n; r++) {
		world_expect(w, s->root, recv[s->root] + block_off(s, r), world_peer(w, s->root, r),
			     0, block_bytes(s, r), "block");
		if (is_v(s))
			world_expect_zero(w, s->root,
					  recv[s->root] + block_off(s, r) + block_bytes(s, r), GAP,
					  "gap");
	}
}

static void run(const struct shape *s)
{
	uint8_t *send[64], *recv[64];
	uint32_t peers, here = GOAL_BUF_SEND, there = GOAL_BUF_RECV;
	struct world w;

	world_open(&w, s->size, s->remote_size, "%s %s, %u+%u ranks, root %u, %llu bytes%s",
		   goal_coll_name(s->coll), goal_algorithm_name(s->alg), s->size, s->remote_size,
		   s->root, (unsigned long long)s->bytes, s->in_place ? ", in place" : "");
	w.seed = s->root + (uint32_t)s->bytes;
	peers = w.remote_size ? world_count(&w, !world_group(&w, s->root)) : w.size;
	for (uint32_t i = 0; i < w.n; i++) {
		uint64_t own = block_bytes(s, block_of(&w, i)), all = block_off(s, peers);
		struct goal_graph *g = NULL;
		int ntags = build(&w, s, i, &g);

		world_graph(&w, i, ntags, g);
		if (is_gather(s)) {
			send[i] = world_bind(&w, i, here, own);
			recv[i] = world_bind(&w, i, there, i == s->root ? all : 0);
			world_fill(send[i], i, 0, own);
		} else {
			send[i] = world_bind(&w, i, here, i == s->root ? all : 0);
			recv[i] = world_bind(&w, i, there, own);
			if (i == s->root)
				world_fill(send[i], i, 0, all);
		}
		if (s->in_place && i == s->root && is_gather(s))
			world_fill(recv[i] + block_off(s, s->root), i, 0, own);
	}
	world_run(&w);
	if (is_gather(s))
		check_gather(&w, s, recv);
	for (uint32_t i = 0; i < w.n && !is_gather(s); i++) {
		uint64_t own = block_bytes(s, block_of(&w, i));

		if (takes_part(&w, s, i) && !(s->in_place && i == s->root))
			world_expect(&w, i, recv[i], s->root, block_off(s, block_of(&w, i)), own,
				     "block");
		else
			world_expect_zero(&w, i, recv[i], own, "not to be touched");
	}
	world_close(&w);
}

static void intra(enum goal_coll coll, enum goal_algorithm alg)
{
	const uint64_t bytes[] = { 0, 1, 13, 5000 };

	for (size_t n = 0; n < WORLD_SIZES; n++)
		for (uint32_t root = 0; root < world_sizes[n]; root++)
			for (uint32_t b = 0; b < 4; b++)
				for (uint32_t in_place = 0; in_place < 2; in_place++)
					run(&(struct shape){ world_sizes[n], 0, coll, alg, root,
							     bytes[b], in_place });
}

static void inter(enum goal_coll coll)
{
	const uint64_t bytes[] = { 0, 7, 5000 };

	for (size_t p = 0; p < WORLD_PAIRS; p++)
		for (uint32_t root = 0; root < world_pairs[p][0] + world_pairs[p][1]; root++)
			for (uint32_t b = 0; b < 3; b++)
				run(&(struct shape){ world_pairs[p][0], world_pairs[p][1], coll,
						     GOAL_ALG_AUTO, root, bytes[b], false });
}

static void gather__every_algorithm(void **state)
{
	(void)state;
	intra(GOAL_GATHER, GOAL_ALG_AUTO);
	intra(GOAL_GATHER, GOAL_ALG_LINEAR);
	intra(GOAL_GATHER, GOAL_ALG_BINOMIAL);
	inter(GOAL_GATHER);
}

static void scatter__every_algorithm(void **state)
{
	(void)state;
	intra(GOAL_SCATTER, GOAL_ALG_AUTO);
	intra(GOAL_SCATTER, GOAL_ALG_LINEAR);
	intra(GOAL_SCATTER, GOAL_ALG_BINOMIAL);
	inter(GOAL_SCATTER);
}

static void gatherv__linear(void **state)
{
	(void)state;
	intra(GOAL_GATHERV, GOAL_ALG_LINEAR);
	inter(GOAL_GATHERV);
}

static void scatterv__linear(void **state)
{
	(void)state;
	intra(GOAL_SCATTERV, GOAL_ALG_LINEAR);
	inter(GOAL_SCATTERV);
}

/* Many ranks: AUTO's tree, whose choice must not differ between ranks. */
static void gather__auto_tree(void **state)
{
	struct goal_comm c = { .size = 100 };

	(void)state;
	for (c.rank = 0; c.rank < c.size; c.rank++) {
		struct goal_graph *g;

		assert_int_equal(goal_gather(&c, GOAL_ALG_AUTO, 5, 8, false, &g), 2);
		assert_in_range(goal_graph_ops(g), 1, 16);
		goal_graph_free(g);
		assert_int_equal(goal_scatter(&c, GOAL_ALG_AUTO, 5, 8, false, &g), 2);
		assert_in_range(goal_graph_ops(g), 1, 16);
		goal_graph_free(g);
	}
}

/* Of long blocks the root takes 8 at a time; of short ones all. */
static void gather__window(void **state)
{
	struct goal_comm c = { .rank = 0, .size = 33 };
	struct goal_graph *g;
	struct goal_schedule *s;

	(void)state;
	for (uint64_t bytes = 4096; bytes <= 4097; bytes++) {
		const struct goal_sched_hdr *hdr;

		assert_int_equal(goal_gather(&c, GOAL_ALG_LINEAR, 0, bytes, true, &g), 1);
		assert_int_equal(goal_compile(g, &s, NULL), 0);
		hdr = goal_schedule_data(s, NULL);
		assert_int_equal(hdr->nops, 32);
		assert_int_equal(hdr->nindep, bytes == 4096 ? 32 : 8);
		goal_schedule_free(s);
		goal_graph_free(g);
	}
}

/* A rank that sends nothing is heard all the same by a root that expects something. */
static void gatherv__root_expects_more(void **state)
{
	uint64_t bytes[2] = { 4, 4 }, off[2] = { 0, 4 };
	struct goal_blocks blocks = { bytes, off };
	struct world w;

	(void)state;
	world_open(&w, 2, 0, "gatherv with a shorter block than the root expects");
	w.keep_dst = true;
	for (uint32_t i = 0; i < 2; i++) {
		struct goal_comm c = world_comm(&w, i);
		struct goal_graph *g = NULL;
		int ntags = goal_gatherv(&c, GOAL_ALG_AUTO, 0, 0, i ? NULL : &blocks, false, &g);

		world_graph(&w, i, ntags, g);
		world_bind(&w, i, GOAL_BUF_SEND, 0);
		world_bind(&w, i, GOAL_BUF_RECV, 8);
	}
	world_run(&w);
	world_close(&w);
}

static void gather__bad(void **state)
{
	uint64_t bytes[4] = { 4, 4, 4, 4 }, off[4] = { 0, 4, 8, 12 };
	struct goal_blocks blocks = { bytes, off };
	struct goal_comm c = { .rank = 1, .size = 4 };
	struct goal_comm inter_comm = { .rank = 1, .size = 4, .remote_size = 2 };
	struct goal_graph *g = NULL;

	(void)state;
	assert_int_equal(goal_gather(&c, GOAL_ALG_AUTO, 4, 8, false, &g), -EINVAL);
	assert_int_equal(goal_gather(&c, GOAL_ALG_AUTO, -1, 8, false, &g), -EINVAL);
	assert_int_equal(goal_gather(&c, GOAL_ALG_AUTO, 0, 8, true, &g), -EINVAL);
	assert_int_equal(goal_gather(&c, GOAL_ALG_AUTO, 0, 1ull << 55, false, &g), -E2BIG);
	assert_int_equal(goal_gather(&inter_comm, GOAL_ALG_AUTO, GOAL_ROOT_HERE, 8, true, &g),
			 -EINVAL);
	assert_int_equal(goal_scatter(&c, GOAL_ALG_AUTO, 0, 8, true, &g), -EINVAL);
	assert_int_equal(goal_scatter(&inter_comm, GOAL_ALG_AUTO, 2, 8, false, &g), -EINVAL);
	assert_int_equal(goal_gatherv(&c, GOAL_ALG_BINOMIAL, 0, 8, NULL, false, &g), -EINVAL);
	assert_int_equal(goal_gatherv(&c, GOAL_ALG_AUTO, 1, 8, &blocks, false, &g), -EMSGSIZE);
	assert_int_equal(goal_scatterv(&c, GOAL_ALG_AUTO, 1, 3, &blocks, false, &g), -EMSGSIZE);
	assert_int_equal(goal_gatherv(&c, GOAL_ALG_AUTO, 1, 8, NULL, false, &g), -EINVAL);
	assert_int_equal(goal_scatterv(&c, GOAL_ALG_AUTO, 1, 8, NULL, false, &g), -EINVAL);
	assert_int_equal(goal_scatterv(&c, GOAL_ALG_AUTO, 9, 4, NULL, false, &g), -EINVAL);
	assert_null(g);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(gather__every_algorithm),
		cmocka_unit_test(scatter__every_algorithm),
		cmocka_unit_test(gatherv__linear),
		cmocka_unit_test(scatterv__linear),
		cmocka_unit_test(gather__auto_tree),
		cmocka_unit_test(gather__window),
		cmocka_unit_test(gatherv__root_expects_more),
		cmocka_unit_test(gather__bad),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
