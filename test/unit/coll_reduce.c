/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * libgoal/collectives: reduce.c, allreduce.c, reduce_scatter.c, reduce_scatter_block.c, scan.c,
 * exscan.c and fold.c. Ranges of ranks show that every rank took part once and in order;
 * floats and MAX over zeroes of both signs show that all ranks get the same bits.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "coll_world.h"

struct shape {
	uint32_t size, remote_size;
	enum goal_coll coll;
	enum goal_algorithm alg;
	uint32_t root; /* a process */
	uint64_t count;
	bool in_place;
	struct goal_reduction how;
};

/* Elements of part @r of a reduce_scatter: some parts are empty. */
static uint64_t part(const struct shape *s, uint32_t r)
{
	return s->coll == GOAL_REDUCE_SCATTER ? s->count * (r % 3) : s->count;
}

/* Elements that process @i gives, of a group with @n ranks that get parts. */
static uint64_t elements(const struct shape *s, uint32_t n)
{
	uint64_t sum = 0;

	if (s->coll != GOAL_REDUCE_SCATTER && s->coll != GOAL_REDUCE_SCATTER_BLOCK)
		return s->count;
	for (uint32_t r = 0; r < n; r++)
		sum += part(s, r);
	return sum;
}

/*
 * Between groups both have the same number of elements: parts of equal size by the least common
 * multiple of the sizes.
 */
static void parts_of(const struct world *w, const struct shape *s, uint32_t group, uint64_t *counts)
{
	uint32_t n = world_count(w, group);
	uint64_t total = s->count * w->size * w->remote_size;

	for (uint32_t r = 0; r < n; r++)
		counts[r] = w->remote_size ? total / n : part(s, r);
	if (w->remote_size && s->coll == GOAL_REDUCE_SCATTER && n > 1) {
		counts[n - 1] += counts[0];
		counts[0] = 0;
	}
}

/* Element @k of the vector of rank @rank. */
static void element(const struct shape *s, uint32_t rank, uint64_t k, uint8_t *to)
{
	if (s->how.dtype == GOAL_TYPE_USER) {
		struct world_range r = { rank, rank + 1, (uint32_t)k };

		memcpy(to, &r, sizeof(r));
	} else if (s->how.dtype == GOAL_TYPE_FLOAT && s->how.rop == GOAL_ROP_MAX) {
		float f = (rank + k) % 2 ? -0.0f : 0.0f;

		memcpy(to, &f, sizeof(f));
	} else if (s->how.dtype == GOAL_TYPE_FLOAT) {
		float f = 1.0f / (float)(3 + rank * 7 + k * 11) * (float)(1u << rank % 20);

		memcpy(to, &f, sizeof(f));
	} else {
		int32_t pair[2] = { (int32_t)((rank * 5 + k) % 4), (int32_t)rank };

		memcpy(to, pair, s->how.size);
	}
}

static void fill(const struct shape *s, uint32_t rank, uint64_t n, uint8_t *to)
{
	for (uint64_t k = 0; k < n; k++)
		element(s, rank, k, to + k * s->how.size);
}

/*
 * Element @k reduced over ranks from .. to - 1, in order from the highest rank down. For floating
 * point sums other orders give other bits.
 */
static void reference(const struct shape *s, uint32_t from, uint32_t to, uint64_t k, uint8_t *out)
{
	uint8_t x[16];

	element(s, to - 1, k, out);
	for (uint32_t r = to - 1; r-- > from;) {
		element(s, r, k, x);
		world_reduce(x, out, 1, s->how.dtype, s->how.rop);
	}
}

/* Are the @n elements at @p, the first being element @k0, the reduction of these ranks? */
static void expect(const struct world *w, const struct shape *s, uint32_t i, uint32_t from,
		   uint32_t to, uint64_t k0, uint64_t n, const uint8_t *p)
{
	bool rounds = s->how.dtype == GOAL_TYPE_FLOAT && s->how.rop == GOAL_ROP_SUM;

	for (uint64_t k = 0; k < n; k++) {
		const uint8_t *got = p + k * s->how.size;
		uint8_t want[16];
		float a, b;

		reference(s, from, to, k0 + k, want);
		memcpy(&a, want, sizeof(a));
		memcpy(&b, got, sizeof(b));
		if (rounds ? b < a * 0.9999f || b > a * 1.0001f : memcmp(got, want, s->how.size))
			fail_msg("%s (seed %u): process %u: element %llu is wrong", w->name,
				 w->seed, i, (unsigned long long)(k0 + k));
	}
}

static int build(const struct world *w, const struct shape *s, uint32_t i, const uint64_t *counts,
		 struct goal_graph **g)
{
	struct goal_comm c = world_comm(w, i);
	int64_t root = s->root - world_first(w, world_group(w, s->root));

	switch (s->coll) {
	case GOAL_REDUCE:
		if (c.remote_size && world_group(w, i) == world_group(w, s->root))
			root = i == s->root ? GOAL_ROOT_HERE : GOAL_ROOT_NONE;
		return goal_reduce_to(&c, s->alg, root, s->count, &s->how,
				      s->in_place && i == s->root, g);
	case GOAL_ALLREDUCE:
		return goal_allreduce(&c, s->alg, s->count, &s->how, s->in_place, g);
	case GOAL_REDUCE_SCATTER:
		return goal_reduce_scatter(&c, s->alg, counts, &s->how, s->in_place, g);
	case GOAL_REDUCE_SCATTER_BLOCK:
		return goal_reduce_scatter_block(&c, s->alg, counts[0], &s->how, s->in_place, g);
	case GOAL_SCAN:
		return goal_scan(&c, s->alg, s->count, &s->how, s->in_place, g);
	default:
		return goal_exscan(&c, s->alg, s->count, &s->how, s->in_place, g);
	}
}

/* What process @i must have. */
static void check(const struct world *w, const struct shape *s, uint32_t i, const uint64_t *counts,
		  const uint8_t *recv)
{
	uint32_t me = world_comm(w, i).rank, group = world_group(w, i);
	uint32_t n = world_count(w, w->remote_size ? !group : 0);
	uint64_t before = 0;

	for (uint32_t r = 0; r < me; r++)
		before += counts[r];
	switch (s->coll) {
	case GOAL_REDUCE:
		if (i == s->root)
			expect(w, s, i, 0, n, 0, s->count, recv);
		else
			world_expect_zero(w, i, recv, s->count * s->how.size, "not the root");
		break;
	case GOAL_ALLREDUCE:
		expect(w, s, i, 0, n, 0, s->count, recv);
		break;
	case GOAL_SCAN:
		expect(w, s, i, 0, me + 1, 0, s->count, recv);
		break;
	case GOAL_EXSCAN:
		if (me)
			expect(w, s, i, 0, me, 0, s->count, recv);
		else if (s->in_place)
			expect(w, s, i, 0, 1, 0, s->count, recv);
		else
			world_expect_zero(w, i, recv, s->count * s->how.size, "of rank 0");
		break;
	default:
		expect(w, s, i, 0, n, before, counts[me], recv);
		break;
	}
}

static void run(const struct shape *s, uint32_t seed)
{
	static uint64_t counts[2][64];
	uint8_t *recv[64];
	struct world w;

	world_open(&w, s->size, s->remote_size, "%s %s, %u+%u ranks, root %u, %llu of type %u%s%s",
		   goal_coll_name(s->coll), goal_algorithm_name(s->alg), s->size, s->remote_size,
		   s->root, (unsigned long long)s->count, s->how.dtype,
		   s->how.commutative ? "" : ", ordered", s->in_place ? ", in place" : "");
	w.seed = seed;
	for (uint32_t group = 0; group < (w.remote_size ? 2u : 1u); group++)
		parts_of(&w, s, group, counts[group]);
	for (uint32_t i = 0; i < w.n; i++) {
		const uint64_t *mine = counts[world_group(&w, i)];
		uint64_t n = s->count;
		struct goal_graph *g = NULL;
		int ntags = build(&w, s, i, mine, &g);
		uint64_t room;

		world_graph(&w, i, ntags, g);
		if (s->coll == GOAL_REDUCE_SCATTER || s->coll == GOAL_REDUCE_SCATTER_BLOCK) {
			n = 0;
			for (uint32_t r = 0; r < world_count(&w, world_group(&w, i)); r++)
				n += mine[r];
		}
		if (!w.remote_size)
			assert_int_equal(n, elements(s, w.size));
		room = n;
		if (!s->in_place && n != s->count)
			room = mine[world_comm(&w, i).rank];
		recv[i] = world_bind(&w, i, GOAL_BUF_RECV, room * s->how.size);
		if (s->in_place && (s->coll != GOAL_REDUCE || i == s->root))
			fill(s, world_comm(&w, i).rank, n, recv[i]);
		else
			fill(s, world_comm(&w, i).rank, n,
			     world_bind(&w, i, GOAL_BUF_SEND, n * s->how.size));
	}
	world_run(&w);
	for (uint32_t i = 0; i < w.n; i++) {
		check(&w, s, i, counts[world_group(&w, i)], recv[i]);
		/* the same bits on every rank, whatever the order of operands */
		if (s->coll == GOAL_ALLREDUCE && !w.remote_size)
			assert_memory_equal(recv[i], recv[0], s->count * s->how.size);
	}
	world_close(&w);
}

static const struct goal_reduction hows[] = {
	{ GOAL_TYPE_USER, GOAL_ROP_USER, sizeof(struct world_range), false },
	{ GOAL_TYPE_FLOAT, GOAL_ROP_SUM, 4, true },
	{ GOAL_TYPE_2INT, GOAL_ROP_MAXLOC, 8, true },
	{ GOAL_TYPE_FLOAT, GOAL_ROP_MAX, 4, false }, /* a reference in rank order */
};
#define HOWS (sizeof(hows) / sizeof(hows[0]))

static void intra(enum goal_coll coll, enum goal_algorithm alg)
{
	const uint64_t counts[] = { 0, 1, 5, 1500 };

	for (size_t n = 0; n < WORLD_SIZES; n++) {
		uint32_t roots = coll == GOAL_REDUCE ? world_sizes[n] : 1;

		for (uint32_t root = 0; root < roots; root++)
			for (size_t h = 0; h < HOWS; h++)
				for (uint32_t k = 0; k < (roots > 9 ? 3 : 4); k++)
					for (uint32_t in_place = 0; in_place < 2; in_place++)
						run(&(struct shape){ world_sizes[n], 0, coll, alg,
								     root, counts[k], in_place,
								     hows[h] },
						    root + k);
	}
}

static void inter(enum goal_coll coll)
{
	for (size_t p = 0; p < WORLD_PAIRS; p++) {
		uint32_t n = world_pairs[p][0] + world_pairs[p][1];

		for (uint32_t root = 0; root < (coll == GOAL_REDUCE ? n : 1); root++)
			for (size_t h = 0; h < HOWS; h++)
				for (uint64_t count = 0; count < 8; count += 7)
					run(&(struct shape){ world_pairs[p][0], world_pairs[p][1],
							     coll, GOAL_ALG_AUTO, root, count,
							     false, hows[h] },
					    root);
	}
}

static void reduce__every_algorithm(void **state)
{
	(void)state;
	intra(GOAL_REDUCE, GOAL_ALG_AUTO);
	intra(GOAL_REDUCE, GOAL_ALG_LINEAR);
	intra(GOAL_REDUCE, GOAL_ALG_BINOMIAL);
	inter(GOAL_REDUCE);
}

static void allreduce__recursive_doubling(void **state)
{
	(void)state;
	intra(GOAL_ALLREDUCE, GOAL_ALG_AUTO);
	intra(GOAL_ALLREDUCE, GOAL_ALG_RECURSIVE_DOUBLING);
}

static void allreduce__trees(void **state)
{
	(void)state;
	intra(GOAL_ALLREDUCE, GOAL_ALG_LINEAR);
	intra(GOAL_ALLREDUCE, GOAL_ALG_BINOMIAL);
	inter(GOAL_ALLREDUCE);
}

static void reduce_scatter__linear(void **state)
{
	(void)state;
	intra(GOAL_REDUCE_SCATTER, GOAL_ALG_LINEAR);
	intra(GOAL_REDUCE_SCATTER_BLOCK, GOAL_ALG_AUTO);
	inter(GOAL_REDUCE_SCATTER);
	inter(GOAL_REDUCE_SCATTER_BLOCK);
}

static void scan__recursive_doubling(void **state)
{
	(void)state;
	intra(GOAL_SCAN, GOAL_ALG_AUTO);
	intra(GOAL_EXSCAN, GOAL_ALG_RECURSIVE_DOUBLING);
}

/* Two ranks: a message each way, and no copy where the result can grow in its place. */
static void allreduce__two_ranks(void **state)
{
	struct goal_comm c = { .rank = 0, .size = 2 };
	struct goal_graph *g;

	(void)state;
	assert_int_equal(goal_allreduce(&c, GOAL_ALG_AUTO, 8, &hows[1], false, &g), 1);
	assert_int_equal(goal_graph_ops(g), 3);
	goal_graph_free(g);
	c.rank = 1;
	assert_int_equal(goal_allreduce(&c, GOAL_ALG_AUTO, 8, &hows[1], false, &g), 1);
	assert_int_equal(goal_graph_ops(g), 4);
	goal_graph_free(g);
}

static void reduce__bad(void **state)
{
	const struct goal_reduction wrong_size = { GOAL_TYPE_FLOAT, GOAL_ROP_SUM, 8, true };
	const struct goal_reduction no_size = { GOAL_TYPE_USER, GOAL_ROP_USER, 0, true };
	const struct goal_reduction no_type = { GOAL_TYPES, GOAL_ROP_SUM, 8, true };
	const struct goal_reduction no_rop = { GOAL_TYPE_FLOAT, GOAL_ROP_NONE, 4, true };
	const struct goal_reduction mismatch = { GOAL_TYPE_FLOAT, GOAL_ROP_BAND, 4, true };
	const uint64_t large[2] = { 1ull << 55, 1ull << 55 };
	struct goal_comm c = { .rank = 1, .size = 2 };
	struct goal_comm inter_comm = { .rank = 1, .size = 2, .remote_size = 3 };
	struct goal_graph *g = NULL;

	(void)state;
	assert_int_equal(goal_reduce_to(&c, GOAL_ALG_AUTO, 2, 1, &hows[0], false, &g), -EINVAL);
	assert_int_equal(goal_reduce_to(&c, GOAL_ALG_AUTO, 0, 1, &hows[0], true, &g), -EINVAL);
	assert_int_equal(goal_allreduce(&c, GOAL_ALG_AUTO, 1, &wrong_size, false, &g), -EINVAL);
	assert_int_equal(goal_allreduce(&c, GOAL_ALG_AUTO, 1, &no_size, false, &g), -EINVAL);
	assert_int_equal(goal_allreduce(&c, GOAL_ALG_AUTO, 1, &no_type, false, &g), -EINVAL);
	assert_int_equal(goal_allreduce(&c, GOAL_ALG_AUTO, 1, &no_rop, false, &g), -EINVAL);
	assert_int_equal(goal_allreduce(&c, GOAL_ALG_AUTO, 1, &mismatch, false, &g), -EINVAL);
	assert_int_equal(goal_allreduce(&c, GOAL_ALG_BRUCK, 1, &hows[0], false, &g), -EINVAL);
	assert_int_equal(goal_allreduce(&c, GOAL_ALG_AUTO, 1ull << 55, &hows[1], false, &g),
			 -E2BIG);
	assert_int_equal(goal_allreduce(&inter_comm, GOAL_ALG_AUTO, 1, &hows[0], true, &g),
			 -EINVAL);
	assert_int_equal(goal_allreduce(&c, GOAL_ALG_AUTO, 1, NULL, false, &g), -EINVAL);
	assert_int_equal(goal_reduce_scatter(&c, GOAL_ALG_AUTO, NULL, &hows[0], false, &g),
			 -EINVAL);
	assert_int_equal(goal_reduce_scatter(&c, GOAL_ALG_AUTO, large, &hows[1], false, &g),
			 -E2BIG);
	assert_int_equal(goal_scan(&inter_comm, GOAL_ALG_AUTO, 1, &hows[0], false, &g), -EINVAL);
	assert_int_equal(goal_exscan(&inter_comm, GOAL_ALG_AUTO, 1, &hows[0], false, &g), -EINVAL);
	assert_null(g);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reduce__every_algorithm),
		cmocka_unit_test(allreduce__recursive_doubling),
		cmocka_unit_test(allreduce__trees),
		cmocka_unit_test(reduce_scatter__linear),
		cmocka_unit_test(scan__recursive_doubling),
		cmocka_unit_test(allreduce__two_ranks),
		cmocka_unit_test(reduce__bad),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
