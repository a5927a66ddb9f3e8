// SPDX-License-Identifier: BSD-3-Clause
/* No schedule takes more bytes than goal_footprint() says. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include <goal/goal.h>

/* A graph of @coll, for any kind of it; 0: there is none. */
static int build(enum goal_coll coll, const struct goal_comm *c, enum goal_algorithm alg,
		 int64_t root, uint64_t bytes, bool in_place, struct goal_graph **g)
{
	const struct goal_reduction how = { GOAL_TYPE_INT8, GOAL_ROP_SUM, 1, in_place };
	bool at_root = in_place && c->rank == root;
	uint64_t counts[40];

	for (uint32_t i = 0; i < c->size; i++)
		counts[i] = i == 1 ? 0 : bytes;
	switch (coll) {
	case GOAL_BARRIER:
		return goal_barrier(c, alg, g);
	case GOAL_BCAST:
		return goal_bcast(c, alg, root, bytes, g);
	case GOAL_GATHER:
		return goal_gather(c, alg, root, bytes, at_root, g);
	case GOAL_SCATTER:
		return goal_scatter(c, alg, root, bytes, at_root, g);
	case GOAL_ALLGATHER:
		return goal_allgather(c, alg, bytes, bytes, in_place, g);
	case GOAL_ALLTOALL:
		return goal_alltoall(c, alg, bytes, bytes, in_place, g);
	case GOAL_ALLREDUCE:
		return goal_allreduce(c, alg, bytes, &how, in_place, g);
	case GOAL_REDUCE:
		return goal_reduce_to(c, alg, root, bytes, &how, at_root, g);
	case GOAL_SCAN:
		return goal_scan(c, alg, bytes, &how, in_place, g);
	case GOAL_EXSCAN:
		return goal_exscan(c, alg, bytes, &how, in_place, g);
	case GOAL_REDUCE_SCATTER:
		return goal_reduce_scatter(c, alg, counts, &how, in_place, g);
	case GOAL_REDUCE_SCATTER_BLOCK:
		return goal_reduce_scatter_block(c, alg, bytes, &how, in_place, g);
	default:
		return 0;
	}
}

static uint64_t end(const struct goal_op *o, bool dst)
{
	return (dst ? o->dst_off : o->src_off) + o->len;
}

/* Bytes that a run of @s names, scratch included; reductions here are of one byte an element. */
static uint64_t taken(const struct goal_schedule *schedule)
{
	size_t bytes;
	const struct goal_sched_hdr *hdr = goal_schedule_data(schedule, &bytes);
	const struct goal_op *op = (const struct goal_op *)(hdr + 1);
	uint64_t need[GOAL_MAX_BUFS] = { 0 }, sum = hdr->scratch;

	for (uint32_t i = 0; i < hdr->nops; i++) {
		const struct goal_op *o = &op[i];

		if (o->code != GOAL_OP_RECV && o->code != GOAL_OP_NOP &&
		    o->src_buf < GOAL_MAX_BUFS && end(o, false) > need[o->src_buf])
			need[o->src_buf] = end(o, false);
		if (o->code != GOAL_OP_SEND && o->code != GOAL_OP_NOP &&
		    o->dst_buf < GOAL_MAX_BUFS && end(o, true) > need[o->dst_buf])
			need[o->dst_buf] = end(o, true);
	}
	for (uint32_t b = 0; b < GOAL_MAX_BUFS; b++)
		sum += need[b];
	return sum;
}

static void footprint__is_never_exceeded(void **state)
{
	static const uint32_t sizes[] = { 1, 2, 3, 5, 7, 8, 12, 16, 31, 33 };
	static const uint64_t blocks[] = { 1, 8, 63, 64, 1000 };
	uint32_t checked = 0;

	(void)state;
	for (int coll = 0; coll < GOAL_COLLS; coll++)
		for (uint32_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++)
			for (uint32_t k = 0; k < 5 * GOAL_ALGS * 4; k++) {
				enum goal_algorithm alg = k / 5 % GOAL_ALGS;
				struct goal_comm c = { .size = sizes[i] };
				int64_t root = k / (5 * GOAL_ALGS) / 2 ? c.size / 2 : 0;
				uint64_t bytes = blocks[k % 5];
				uint64_t most = goal_footprint(coll, c.size, bytes);

				if (most == UINT64_MAX || !goal_algorithm_valid(coll, alg, false))
					continue;
				for (c.rank = 0; c.rank < c.size; c.rank++) {
					struct goal_schedule *s = NULL;
					struct goal_graph *g = NULL;
					struct goal_error error;

					if (build(coll, &c, alg, root, bytes,
						  k / (5 * GOAL_ALGS) % 2, &g) < 0)
						continue;
					assert_int_equal(goal_compile(g, &s, &error), 0);
					if (taken(s) > most)
						fail_msg("%s, %s, rank %u of %u, %llu bytes: %llu, "
							 "not %llu",
							 goal_coll_name(coll),
							 goal_algorithm_name(alg), c.rank, c.size,
							 (unsigned long long)bytes,
							 (unsigned long long)taken(s),
							 (unsigned long long)most);
					checked++;
					goal_schedule_free(s);
					goal_graph_free(g);
				}
			}
	assert_true(checked > 10000);
}

static void footprint__knows_what_it_cannot_tell(void **state)
{
	(void)state;
	assert_true(goal_footprint(GOAL_GATHERV, 2, 8) == UINT64_MAX);
	assert_true(goal_footprint(GOAL_NEIGHBOR_ALLTOALL, 2, 8) == UINT64_MAX);
	assert_true(goal_footprint(GOAL_COLLS, 2, 8) == UINT64_MAX);
	assert_true(goal_footprint(GOAL_BCAST, 0, 8) == UINT64_MAX);
	assert_true(goal_footprint(GOAL_ALLTOALL, 4096, UINT64_MAX / 4096) == UINT64_MAX);
	assert_true(goal_footprint(GOAL_BARRIER, 4096, 0) == 0);
	assert_true(goal_footprint(GOAL_ALLREDUCE, 8, 8) <= 1024);
	assert_true(goal_footprint(GOAL_GATHER, 8, 1024) <= 65536);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(footprint__is_never_exceeded),
		cmocka_unit_test(footprint__knows_what_it_cannot_tell),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
