/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * libgoal/collectives/neighbor.c: Cartesian grids of every kind, graphs with edges twice and to
 * oneself, MPI_PROC_NULL, degree 0.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "coll_world.h"

#define MAX_RANKS  24
#define MAX_DEGREE 32
#define GAP        5 /* bytes between blocks of the v forms */

/* Everybody's neighbors, and where what comes in each edge was sent. */
struct topology {
	uint32_t n, ndims;
	struct {
		uint32_t in, out;
		int32_t src[MAX_DEGREE], dst[MAX_DEGREE];
		uint32_t mate[MAX_DEGREE]; /* by incoming edge: the source's outgoing one */
	} at[MAX_RANKS];
};

static void cartesian(struct topology *t, uint32_t ndims, const uint32_t *dims, uint32_t periodic)
{
	uint32_t stride = 1;

	memset(t, 0, sizeof(*t));
	t->n = 1;
	t->ndims = ndims;
	for (uint32_t d = 0; d < ndims; d++)
		t->n *= dims[d];
	/* the last dimension varies fastest */
	for (uint32_t d = ndims; d-- > 0; stride *= dims[d]) {
		for (uint32_t r = 0; r < t->n; r++) {
			int32_t x = (int32_t)(r / stride % dims[d]), n = (int32_t)dims[d];

			for (int32_t dir = -1; dir <= 1; dir += 2) {
				uint32_t slot = 2 * d + (dir > 0);
				int32_t y = x + dir;
				int32_t peer = -1;

				if (periodic >> d & 1)
					y = (y + n) % n;
				if (y >= 0 && y < n)
					peer = (int32_t)r + (y - x) * (int32_t)stride;
				t->at[r].src[slot] = t->at[r].dst[slot] = peer;
				/* what comes from below was sent upwards, and the reverse */
				t->at[r].mate[slot] = 2 * d + (dir < 0);
			}
			t->at[r].in = t->at[r].out = 2 * ndims;
		}
	}
}

/*
 * @edges pairs of (from, to). With @twist, incoming edges stand in another order, which keeps
 * that of edges from the same process.
 */
static void graph(struct topology *t, uint32_t n, uint32_t edges, const uint32_t (*edge)[2],
		  bool twist)
{
	memset(t, 0, sizeof(*t));
	t->n = n;
	for (uint32_t e = 0; e < edges; e++)
		t->at[edge[e][0]].dst[t->at[edge[e][0]].out++] = (int32_t)edge[e][1];
	for (uint32_t r = 0; r < n; r++) {
		for (uint32_t k = 0; k < n; k++) {
			uint32_t from = twist ? n - 1 - k : k;

			for (uint32_t o = 0; o < t->at[from].out; o++) {
				if (t->at[from].dst[o] != (int32_t)r)
					continue;
				t->at[r].src[t->at[r].in] = (int32_t)from;
				t->at[r].mate[t->at[r].in++] = o;
			}
		}
	}
}

/* Bytes that process @i sends along outgoing edge @o. */
static uint64_t edge_bytes(enum goal_coll coll, uint64_t bytes, uint32_t i, uint32_t o)
{
	switch (coll) {
	case GOAL_NEIGHBOR_ALLGATHERV:
		return bytes * (i % 3);
	case GOAL_NEIGHBOR_ALLTOALLV:
		return bytes * ((i + o) % 3);
	default:
		return bytes;
	}
}

static bool one_block(enum goal_coll coll)
{
	return coll == GOAL_NEIGHBOR_ALLGATHER || coll == GOAL_NEIGHBOR_ALLGATHERV;
}

static bool with_gaps(enum goal_coll coll)
{
	return coll == GOAL_NEIGHBOR_ALLGATHERV || coll == GOAL_NEIGHBOR_ALLTOALLV;
}

/* The blocks of a process: in the order of edges, with gaps in the v forms. */
struct layout {
	uint64_t bytes[MAX_DEGREE], off[MAX_DEGREE], total;
};

static void lay_out(struct layout *l, enum goal_coll coll, uint32_t n)
{
	l->total = 0;
	for (uint32_t k = 0; k < n; k++) {
		l->off[k] = l->total;
		l->total += l->bytes[k] + (with_gaps(coll) ? GAP : 0);
	}
}

static void layouts(const struct topology *t, enum goal_coll coll, uint64_t bytes, uint32_t i,
		    struct layout *send, struct layout *recv)
{
	for (uint32_t o = 0; o < t->at[i].out; o++)
		send->bytes[o] = edge_bytes(coll, bytes, i, o);
	lay_out(send, coll, t->at[i].out);
	if (one_block(coll)) {
		send->total = edge_bytes(coll, bytes, i, 0);
		memset(send->off, 0, sizeof(send->off));
	}
	for (uint32_t k = 0; k < t->at[i].in; k++)
		recv->bytes[k] = t->at[i].src[k] < 0
					 ? bytes
					 : edge_bytes(coll, bytes, (uint32_t)t->at[i].src[k],
						      t->at[i].mate[k]);
	lay_out(recv, coll, t->at[i].in);
}

static int build(const struct topology *t, enum goal_coll coll, uint64_t bytes, uint32_t i,
		 const struct layout *send, const struct layout *recv, struct goal_graph **g)
{
	struct goal_comm c = { .rank = i, .size = t->n };
	struct goal_neighbors n = {
		.indegree = t->at[i].in,
		.outdegree = t->at[i].out,
		.sources = t->at[i].src,
		.destinations = t->at[i].dst,
		.ndims = t->ndims,
	};
	struct goal_blocks s = { send->bytes, send->off }, r = { recv->bytes, recv->off };

	switch (coll) {
	case GOAL_NEIGHBOR_ALLGATHER:
		return goal_neighbor_allgather(&c, &n, bytes, bytes, g);
	case GOAL_NEIGHBOR_ALLGATHERV:
		return goal_neighbor_allgatherv(&c, &n, send->total, &r, g);
	case GOAL_NEIGHBOR_ALLTOALL:
		return goal_neighbor_alltoall(&c, &n, bytes, bytes, g);
	default:
		return goal_neighbor_alltoallv(&c, &n, &s, &r, g);
	}
}

static void check(struct world *w, const struct topology *t, uint32_t i, const struct layout *recv,
		  const uint8_t *data, enum goal_coll coll, uint64_t bytes)
{
	for (uint32_t k = 0; k < t->at[i].in; k++) {
		uint32_t from = (uint32_t)t->at[i].src[k];
		struct layout theirs, unused;

		if (t->at[i].src[k] < 0) {
			world_expect_zero(w, i, data + recv->off[k], recv->bytes[k],
					  "block of MPI_PROC_NULL");
			continue;
		}
		layouts(t, coll, bytes, from, &theirs, &unused);
		world_expect(w, i, data + recv->off[k], from, theirs.off[t->at[i].mate[k]],
			     recv->bytes[k], "block");
		if (with_gaps(coll))
			world_expect_zero(w, i, data + recv->off[k] + recv->bytes[k], GAP, "gap");
	}
}

static void run(const struct topology *t, enum goal_coll coll, uint64_t bytes, const char *name)
{
	static struct layout send[MAX_RANKS], recv[MAX_RANKS];
	uint8_t *in[MAX_RANKS];

	for (uint32_t seed = 0; seed < 4; seed++) {
		struct world w;

		world_open(&w, t->n, 0, "%s, %s, %llu bytes", goal_coll_name(coll), name,
			   (unsigned long long)bytes);
		w.seed = seed;
		for (uint32_t i = 0; i < t->n; i++) {
			const struct goal_op *op;
			struct goal_graph *g = NULL;
			int ntags;

			layouts(t, coll, bytes, i, &send[i], &recv[i]);
			ntags = build(t, coll, bytes, i, &send[i], &recv[i], &g);
			world_graph(&w, i, ntags, g);
			/* all in flight at once, nothing sent to oneself */
			assert_int_equal(world_hdr(&w, i)->nindep, world_hdr(&w, i)->nops);
			op = world_ops(&w, i);
			for (uint32_t k = 0; k < world_hdr(&w, i)->nops; k++)
				assert_false(op[k].code == GOAL_OP_SEND && op[k].peer == i);
			world_fill(world_bind(&w, i, GOAL_BUF_SEND, send[i].total), i, 0,
				   send[i].total);
			in[i] = world_bind(&w, i, GOAL_BUF_RECV, recv[i].total);
		}
		world_run(&w);
		for (uint32_t i = 0; i < t->n; i++)
			check(&w, t, i, &recv[i], in[i], coll, bytes);
		world_close(&w);
	}
}

static void run_all(const struct topology *t, const char *name)
{
	const enum goal_coll colls[] = { GOAL_NEIGHBOR_ALLGATHER, GOAL_NEIGHBOR_ALLGATHERV,
					 GOAL_NEIGHBOR_ALLTOALL, GOAL_NEIGHBOR_ALLTOALLV };
	const uint64_t bytes[] = { 0, 1, 9, 5000 };

	for (size_t k = 0; k < 4; k++)
		for (size_t b = 0; b < 4; b++)
			run(t, colls[k], bytes[b], name);
}

static void neighbor__cartesian(void **state)
{
	static const uint32_t grids[][4] = {
		{ 1 },       { 2 },       { 3 },       { 8 },       { 2, 1 },
		{ 1, 2 },    { 2, 2 },    { 3, 2 },    { 5, 4 },    { 1, 1, 1 },
		{ 4, 1, 1 }, { 1, 3, 1 }, { 2, 2, 2 }, { 3, 2, 4 }, { 1, 2, 1, 2 },
	};
	struct topology t;

	(void)state;
	for (size_t g = 0; g < sizeof(grids) / sizeof(grids[0]); g++) {
		uint32_t ndims = 0;

		while (ndims < 4 && grids[g][ndims])
			ndims++;
		for (uint32_t periodic = 0; periodic < 1u << ndims; periodic++) {
			char name[80];

			snprintf(name, sizeof(name), "grid %u x %u x %u x %u, periods %x",
				 grids[g][0], grids[g][1], grids[g][2], grids[g][3], periodic);
			cartesian(&t, ndims, grids[g], periodic);
			run_all(&t, name);
		}
	}
}

static void neighbor__graph(void **state)
{
	static const uint32_t ring[][2] = { { 0, 1 }, { 1, 2 }, { 2, 3 }, { 3, 0 } };
	static const uint32_t twice[][2] = { { 0, 1 }, { 0, 1 }, { 1, 0 }, { 0, 0 },
					     { 0, 1 }, { 0, 0 }, { 1, 0 }, { 1, 1 } };
	static const uint32_t star[][2] = { { 0, 1 }, { 0, 2 }, { 0, 4 }, { 0, 4 } };
	uint32_t random[90][2], x = 12345;
	struct topology t;

	(void)state;
	for (uint32_t e = 0; e < 90; e++) {
		for (uint32_t k = 0; k < 2; k++) {
			x = x * 1103515245u + 12345u;
			random[e][k] = (x >> 16) % 11;
		}
	}
	for (uint32_t twist = 0; twist < 2; twist++) {
		graph(&t, 4, 4, ring, twist);
		run_all(&t, "directed ring");
		graph(&t, 2, 8, twice, twist);
		run_all(&t, "edges twice");
		graph(&t, 6, 4, star, twist);
		run_all(&t, "star with ranks of degree 0");
		graph(&t, 3, 0, ring, twist);
		run_all(&t, "no edges");
		graph(&t, 11, 90, random, twist);
		run_all(&t, "random graph");
	}
}

/*
 * Uniform blocks of no bytes are not sent, since a rank that has only such may not be called;
 * those of the v forms are.
 */
static void neighbor__nothing(void **state)
{
	const int32_t list[2] = { 0, 2 };
	const uint64_t bytes[2] = { 0, 0 }, off[2] = { 0, 0 };
	struct goal_comm c = { .rank = 1, .size = 3 };
	struct goal_neighbors n = { 2, 2, list, list, 1 };
	struct goal_blocks b = { bytes, off };
	const struct {
		enum goal_coll coll;
		uint64_t send, recv;
		uint32_t nops, nrecv;
	} cases[] = {
		{ GOAL_NEIGHBOR_ALLGATHER, 0, 0, 1, 0 }, { GOAL_NEIGHBOR_ALLGATHER, 8, 0, 2, 0 },
		{ GOAL_NEIGHBOR_ALLGATHER, 0, 8, 2, 2 }, { GOAL_NEIGHBOR_ALLTOALL, 0, 0, 1, 0 },
		{ GOAL_NEIGHBOR_ALLTOALL, 0, 8, 2, 2 },  { GOAL_NEIGHBOR_ALLGATHERV, 0, 0, 4, 2 },
		{ GOAL_NEIGHBOR_ALLTOALLV, 0, 0, 4, 2 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct goal_sched_hdr *hdr;
		struct goal_schedule *s;
		struct goal_graph *g;
		int ntags;

		if (cases[i].coll == GOAL_NEIGHBOR_ALLGATHER)
			ntags = goal_neighbor_allgather(&c, &n, cases[i].send, cases[i].recv, &g);
		else if (cases[i].coll == GOAL_NEIGHBOR_ALLTOALL)
			ntags = goal_neighbor_alltoall(&c, &n, cases[i].send, cases[i].recv, &g);
		else if (cases[i].coll == GOAL_NEIGHBOR_ALLGATHERV)
			ntags = goal_neighbor_allgatherv(&c, &n, 0, &b, &g);
		else
			ntags = goal_neighbor_alltoallv(&c, &n, &b, &b, &g);
		assert_int_equal(ntags, 2);
		assert_int_equal(goal_compile(g, &s, NULL), 0);
		hdr = goal_schedule_data(s, NULL);
		assert_int_equal(hdr->nops, cases[i].nops);
		assert_int_equal(hdr->nrecv, cases[i].nrecv);
		goal_schedule_free(s);
		goal_graph_free(g);
	}
}

static void neighbor__bad(void **state)
{
	const int32_t list[4] = { 0, 1, 2, 3 }, minus[2] = { -2, 0 }, self[2] = { 1, 1 };
	struct goal_comm c = { .rank = 1, .size = 3 };
	struct goal_comm inter = { .rank = 1, .size = 3, .remote_size = 2 };
	struct goal_neighbors beyond = { 4, 4, list, list, 0 };
	struct goal_neighbors below = { 2, 2, minus, minus, 0 };
	struct goal_neighbors degree = { 2, 2, list, list, 2 };
	struct goal_neighbors unequal = { 1, 2, self, self, 0 };
	struct goal_neighbors none = { 2, 1, self, self, 0 };
	struct goal_neighbors half = { 2, 2, list, self, 1 };
	struct goal_neighbors good = { 2, 2, self, self, 1 };
	struct goal_graph *g = NULL;

	(void)state;
	assert_int_equal(goal_neighbor_alltoall(&c, &beyond, 8, 8, &g), -EINVAL);
	assert_int_equal(goal_neighbor_alltoall(&c, &below, 8, 8, &g), -EINVAL);
	assert_int_equal(goal_neighbor_alltoall(&c, &degree, 8, 8, &g), -EINVAL);
	assert_int_equal(goal_neighbor_alltoall(&c, &unequal, 8, 8, &g), -EINVAL);
	assert_int_equal(goal_neighbor_alltoall(&c, &none, 8, 8, &g), -EINVAL);
	assert_int_equal(goal_neighbor_allgather(&c, &half, 8, 8, &g), -EINVAL);
	assert_int_equal(goal_neighbor_allgather(&inter, &good, 8, 8, &g), -EINVAL);
	assert_int_equal(goal_neighbor_allgather(&c, &good, 9, 8, &g), -EMSGSIZE);
	assert_int_equal(goal_neighbor_allgather(&c, &good, 8, 1ull << 56, &g), -E2BIG);
	assert_int_equal(goal_neighbor_allgather(&c, NULL, 8, 8, &g), -EINVAL);
	assert_int_equal(goal_neighbor_allgatherv(&c, &good, 8, NULL, &g), -EINVAL);
	assert_int_equal(goal_neighbor_alltoallv(&c, &good, NULL, NULL, &g), -EINVAL);
	assert_null(g);
	assert_int_equal(goal_neighbor_allgather(&c, &good, 8, 8, &g), 2);
	goal_graph_free(g);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(neighbor__cartesian),
		cmocka_unit_test(neighbor__graph),
		cmocka_unit_test(neighbor__nothing),
		cmocka_unit_test(neighbor__bad),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
