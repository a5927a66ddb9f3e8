/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * libgoal/collectives/alltoall.c, alltoallv.c, and Bruck's algorithm in alltoall_bruck.c, for
 * any number of ranks.
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

/* Bytes from process @i to process @j: symmetric, as in place demands; some are none. */
static uint64_t block_bytes(const struct world *w, const struct shape *s, uint32_t i, uint32_t j)
{
	return s->bytes[world_group(w, i)] * (s->v ? (i + j) % 3 : 1);
}

struct layout {
	uint64_t bytes[64], off[64], total;
};

/* The blocks that @i sends (@out) or receives, by peer. */
static void lay_out(const struct world *w, const struct shape *s, uint32_t i, bool out,
		    struct layout *l)
{
	uint32_t peers = world_count(w, w->remote_size ? !world_group(w, i) : 0);

	l->total = 0;
	for (uint32_t r = 0; r < peers; r++) {
		uint32_t j = world_peer(w, i, r);

		l->bytes[r] = out ? block_bytes(w, s, i, j) : block_bytes(w, s, j, i);
		l->off[r] = l->total;
		l->total += l->bytes[r] + (s->v ? GAP : 0);
	}
}

static void run(const struct shape *s)
{
	static struct layout out[64], in[64];
	uint8_t *recv[64];
	struct world w;

	world_open(&w, s->size, s->remote_size, "alltoall%s %s, %u+%u ranks, %llu bytes%s",
		   s->v ? "v" : "", goal_algorithm_name(s->alg), s->size, s->remote_size,
		   (unsigned long long)s->bytes[0], s->in_place ? ", in place" : "");
	w.seed = s->size + (uint32_t)s->bytes[0];
	for (uint32_t i = 0; i < w.n; i++) {
		struct goal_comm c = world_comm(&w, i);
		struct goal_blocks from = { out[i].bytes, out[i].off };
		struct goal_blocks to = { in[i].bytes, in[i].off };
		struct goal_graph *g = NULL;
		int ntags;

		lay_out(&w, s, i, true, &out[i]);
		lay_out(&w, s, i, false, &in[i]);
		if (s->v)
			ntags = goal_alltoallv(&c, s->alg, s->in_place ? NULL : &from, &to,
					       s->in_place, &g);
		else
			ntags = goal_alltoall(&c, s->alg, s->bytes[world_group(&w, i)],
					      s->bytes[w.remote_size ? !world_group(&w, i) : 0],
					      s->in_place, &g);
		world_graph(&w, i, ntags, g);
		recv[i] = world_bind(&w, i, GOAL_BUF_RECV, in[i].total);
		if (s->in_place)
			for (uint32_t r = 0; r < c.size; r++)
				world_fill(recv[i] + in[i].off[r], i, in[i].off[r], in[i].bytes[r]);
		else
			world_fill(world_bind(&w, i, GOAL_BUF_SEND, out[i].total), i, 0,
				   out[i].total);
	}
	world_run(&w);
	for (uint32_t i = 0; i < w.n; i++) {
		uint32_t peers = world_count(&w, w.remote_size ? !world_group(&w, i) : 0);
		uint32_t me = world_comm(&w, i).rank;

		for (uint32_t r = 0; r < peers; r++) {
			uint32_t j = world_peer(&w, i, r);

			world_expect(&w, i, recv[i] + in[i].off[r], j, out[j].off[me],
				     in[i].bytes[r], "block");
			if (s->v)
				world_expect_zero(&w, i, recv[i] + in[i].off[r] + in[i].bytes[r],
						  GAP, "gap");
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

static void alltoall__auto(void **state)
{
	(void)state;
	intra(false, GOAL_ALG_AUTO);
	inter(false);
}

static void alltoall__linear(void **state)
{
	(void)state;
	intra(false, GOAL_ALG_LINEAR);
}

static void alltoall__bruck(void **state)
{
	(void)state;
	intra(false, GOAL_ALG_BRUCK);
}

static void alltoallv__linear(void **state)
{
	(void)state;
	intra(true, GOAL_ALG_LINEAR);
	inter(true);
}

/* ceil(log2 P) messages, whatever P. */
static void alltoall__bruck_messages(void **state)
{
	(void)state;
	for (size_t n = 0; n < WORLD_SIZES; n++) {
		struct goal_comm c = { .rank = world_sizes[n] / 2, .size = world_sizes[n] };
		uint32_t rounds = 0;
		struct goal_graph *g;
		struct goal_schedule *s;
		const struct goal_sched_hdr *hdr;

		while (1u << rounds < c.size)
			rounds++;
		assert_int_equal(goal_alltoall(&c, GOAL_ALG_BRUCK, 8, 8, false, &g), 1);
		assert_int_equal(goal_compile(g, &s, NULL), 0);
		hdr = goal_schedule_data(s, NULL);
		assert_int_equal(hdr->nrecv, rounds);
		goal_schedule_free(s);
		goal_graph_free(g);
	}
}

static void alltoall__bad(void **state)
{
	uint64_t small[4] = { 4, 4, 4, 4 }, large[4] = { 4, 5, 4, 4 }, off[4] = { 0, 8, 16, 24 };
	struct goal_blocks from = { large, off }, to = { small, off };
	struct goal_comm c = { .rank = 1, .size = 4 };
	struct goal_comm inter_comm = { .rank = 1, .size = 4, .remote_size = 4 };
	struct goal_graph *g = NULL;

	(void)state;
	assert_int_equal(goal_alltoall(&c, GOAL_ALG_AUTO, 4, 8, false, &g), -EINVAL);
	assert_int_equal(goal_alltoall(&c, GOAL_ALG_FLAT, 8, 8, false, &g), -EINVAL);
	assert_int_equal(goal_alltoall(&inter_comm, GOAL_ALG_AUTO, 8, 8, true, &g), -EINVAL);
	assert_int_equal(goal_alltoall(&c, GOAL_ALG_AUTO, 1ull << 55, 1ull << 55, false, &g),
			 -E2BIG);
	assert_int_equal(goal_alltoallv(&c, GOAL_ALG_AUTO, &from, &to, false, &g), -EMSGSIZE);
	assert_int_equal(goal_alltoallv(&c, GOAL_ALG_AUTO, NULL, &to, false, &g), -EINVAL);
	assert_int_equal(goal_alltoallv(&c, GOAL_ALG_AUTO, &to, NULL, true, &g), -EINVAL);
	assert_int_equal(goal_alltoallv(&c, GOAL_ALG_BRUCK, &to, &to, false, &g), -EINVAL);
	assert_int_equal(goal_alltoallv(&inter_comm, GOAL_ALG_AUTO, NULL, &to, true, &g), -EINVAL);
	assert_null(g);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(alltoall__auto),           cmocka_unit_test(alltoall__linear),
		cmocka_unit_test(alltoall__bruck),          cmocka_unit_test(alltoallv__linear),
		cmocka_unit_test(alltoall__bruck_messages), cmocka_unit_test(alltoall__bad),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
