// SPDX-License-Identifier: BSD-3-Clause
/* Functions of shape.h. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shape.h"

#define GAP 0x5a /* what stands where nothing is to be written */

static const enum goal_coll drawn[] = {
	GOAL_BARRIER,
	GOAL_BCAST,
	GOAL_GATHER,
	GOAL_SCATTER,
	GOAL_ALLGATHER,
	GOAL_ALLTOALL,
	GOAL_ALLREDUCE,
	GOAL_REDUCE,
	GOAL_SCAN,
	GOAL_EXSCAN,
	GOAL_BARRIER,
	GOAL_REDUCE_SCATTER_BLOCK,
	GOAL_GATHER,
	GOAL_BARRIER,
	GOAL_NEIGHBOR_ALLGATHER,
	GOAL_NEIGHBOR_ALLTOALL,
};

static const uint32_t types[] = { GOAL_TYPE_INT32, GOAL_TYPE_INT64, GOAL_TYPE_UINT16,
				  GOAL_TYPE_DOUBLE };
static const uint32_t type_size[] = { 4, 8, 2, 8 };

static bool reduces(const struct shape *s)
{
	return s->coll == GOAL_ALLREDUCE || s->coll == GOAL_REDUCE || s->coll == GOAL_SCAN ||
	       s->coll == GOAL_EXSCAN || s->coll == GOAL_REDUCE_SCATTER_BLOCK;
}

static bool neighborhood(const struct shape *s)
{
	return s->coll == GOAL_NEIGHBOR_ALLGATHER || s->coll == GOAL_NEIGHBOR_ALLTOALL;
}

void shape_draw(struct shape *s, struct dice *d, uint32_t size, uint64_t most)
{
	uint32_t type = below(d, 4), tries;

	memset(s, 0, sizeof(*s));
	s->size = size;
	s->coll = drawn[below(d, sizeof(drawn) / sizeof(*drawn))];
	for (tries = 0; tries < 8; tries++) {
		s->alg = below(d, GOAL_ALGS);
		if (goal_algorithm_valid(s->coll, s->alg, false))
			break;
		s->alg = GOAL_ALG_AUTO;
	}
	s->root = below(d, size);
	/* Half of them tiny, as most are in life. */
	if (s->coll == GOAL_BCAST)
		most *= 4 * size;
	s->bytes = below(d, 2) ? below(d, 17) : 1 + below(d, (uint32_t)most);
	s->how = (struct goal_reduction){ .dtype = types[type],
					  .size = type_size[type],
					  .rop = below(d, 2) ? GOAL_ROP_SUM : GOAL_ROP_MAX,
					  .commutative = below(d, 4) };
	if (reduces(s))
		s->bytes = 1 + s->bytes / s->how.size;
	s->in_place = below(d, 4) == 0 && !neighborhood(s) && s->coll != GOAL_BARRIER &&
		      s->coll != GOAL_BCAST && s->coll != GOAL_ALLTOALL;
	s->ndims = size % 2 == 0 && size >= 4 && below(d, 2) ? 2 : 1;
}

/* Who has a root, and is not it, may not work in place. */
static bool in_place(const struct shape *s)
{
	bool rooted = s->coll == GOAL_GATHER || s->coll == GOAL_SCATTER || s->coll == GOAL_REDUCE;

	return s->in_place && (!rooted || s->rank == s->root);
}

/* The ring, or the torus of 2 x n, of @rank; periodic, so with 1 and 2 in a dimension too. */
static void neighbors(int32_t *n, uint32_t ndims, uint32_t rank, uint32_t size)
{
	uint32_t rows = ndims == 2 ? 2 : 1;
	uint32_t cols = size / rows, row = rank / cols, col = rank % cols;
	int i = 0;

	if (ndims == 2) {
		n[i++] = (int32_t)((row + rows - 1) % rows * cols + col);
		n[i++] = (int32_t)((row + 1) % rows * cols + col);
	}
	n[i++] = (int32_t)(row * cols + (col + cols - 1) % cols);
	n[i++] = (int32_t)(row * cols + (col + 1) % cols);
}

static int build(struct shape *s, struct goal_graph **g)
{
	struct goal_comm c = { .rank = s->rank, .size = s->size };
	struct goal_neighbors n = { .indegree = 2 * s->ndims,
				    .outdegree = 2 * s->ndims,
				    .sources = s->neighbor,
				    .destinations = s->neighbor,
				    .ndims = s->ndims };
	bool here = in_place(s);

	neighbors(s->neighbor, s->ndims, s->rank, s->size);
	switch (s->coll) {
	case GOAL_BARRIER:
		return goal_barrier(&c, s->alg, g);
	case GOAL_BCAST:
		return goal_bcast(&c, s->alg, s->root, s->bytes, g);
	case GOAL_GATHER:
		return goal_gather(&c, s->alg, s->root, s->bytes, here, g);
	case GOAL_SCATTER:
		return goal_scatter(&c, s->alg, s->root, s->bytes, here, g);
	case GOAL_ALLGATHER:
		return goal_allgather(&c, s->alg, s->bytes, s->bytes, here, g);
	case GOAL_ALLTOALL:
		return goal_alltoall(&c, s->alg, s->bytes, s->bytes, here, g);
	case GOAL_ALLREDUCE:
		return goal_allreduce(&c, s->alg, s->bytes, &s->how, here, g);
	case GOAL_REDUCE:
		return goal_reduce_to(&c, s->alg, s->root, s->bytes, &s->how, here, g);
	case GOAL_SCAN:
		return goal_scan(&c, s->alg, s->bytes, &s->how, here, g);
	case GOAL_EXSCAN:
		return goal_exscan(&c, s->alg, s->bytes, &s->how, here, g);
	case GOAL_REDUCE_SCATTER_BLOCK:
		return goal_reduce_scatter_block(&c, s->alg, s->bytes, &s->how, here, g);
	case GOAL_NEIGHBOR_ALLGATHER:
		return goal_neighbor_allgather(&c, &n, s->bytes, s->bytes, g);
	case GOAL_NEIGHBOR_ALLTOALL:
		return goal_neighbor_alltoall(&c, &n, s->bytes, s->bytes, g);
	default:
		return -EINVAL;
	}
}

/* Byte @i of the block that @from has for @to (or for all) in the @start-th run. */
static uint8_t byte(const struct shape *s, uint32_t start, uint32_t from, uint32_t to, uint64_t i)
{
	uint64_t key = (uint64_t)s->op_id << 48 | (uint64_t)from << 32 | (uint64_t)to << 16 | start;

	return (uint8_t)scramble(scramble(key) + i / 8) ^ (uint8_t)(i * 37);
}

static void block(const struct shape *s, uint32_t start, uint8_t *at, uint32_t from, uint32_t to)
{
	uint64_t i;

	for (i = 0; i < s->bytes; i++)
		at[i] = byte(s, start, from, to, i);
}

/* Element @i of @rank: small, so that doubles stay exact in any order. */
static int64_t number(const struct shape *s, uint32_t start, uint32_t rank, uint64_t i)
{
	uint64_t key = (uint64_t)s->op_id << 40 | (uint64_t)rank << 20 | start;

	return (int64_t)(scramble(scramble(key) + i) % 1000);
}

static void put(const struct shape *s, uint8_t *at, uint64_t i, int64_t v)
{
	double f = (double)v;

	if (s->how.dtype == GOAL_TYPE_DOUBLE)
		memcpy(at + 8 * i, &f, 8);
	else
		memcpy(at + s->how.size * i, &v, s->how.size);
}

/* Elements @from .. @from + @n - 1, reduced over ranks @first .. @last. */
static void reduced(const struct shape *s, uint32_t start, uint8_t *at, uint32_t first,
		    uint32_t last, uint64_t from, uint64_t n)
{
	uint64_t i;
	uint32_t r;

	for (i = 0; i < n; i++) {
		int64_t v = number(s, start, first, from + i);

		for (r = first + 1; r <= last; r++) {
			int64_t w = number(s, start, r, from + i);

			v = s->how.rop == GOAL_ROP_SUM ? v + w : v > w ? v : w;
		}
		put(s, at, i, v);
	}
}

/* This rank's contribution, to where its builder reads it; 0 bytes: none. */
static void contribute(const struct shape *s, uint32_t start, uint8_t *send, uint8_t *recv)
{
	uint64_t b = s->bytes, n;
	bool here = in_place(s);
	uint32_t r;

	switch (s->coll) {
	case GOAL_BCAST:
		if (s->rank == s->root)
			block(s, start, recv, s->rank, 0);
		break;
	case GOAL_GATHER:
	case GOAL_ALLGATHER:
		block(s, start, here ? recv + s->rank * b : send, s->rank, 0);
		break;
	case GOAL_SCATTER:
		for (r = 0; s->rank == s->root && r < s->size; r++)
			if (!here || r != s->rank)
				block(s, start, send + r * b, s->rank, r);
		break;
	case GOAL_ALLTOALL:
		for (r = 0; r < s->size; r++)
			block(s, start, send + r * b, s->rank, r);
		break;
	case GOAL_NEIGHBOR_ALLGATHER:
		block(s, start, send, s->rank, 0);
		break;
	case GOAL_NEIGHBOR_ALLTOALL:
		for (r = 0; r < 2 * s->ndims; r++)
			block(s, start, send + r * b, s->rank, r);
		break;
	case GOAL_BARRIER:
		break;
	default:
		n = s->coll == GOAL_REDUCE_SCATTER_BLOCK ? b * s->size : b;
		reduced(s, start, here ? recv : send, s->rank, s->rank, 0, n);
		break;
	}
}

/* What buffer RECV must hold afterwards, over what it held before. */
static void expect(const struct shape *s, uint32_t start, uint8_t *recv)
{
	uint64_t b = s->bytes;
	bool root = s->rank == s->root;
	uint32_t r;

	switch (s->coll) {
	case GOAL_BCAST:
		block(s, start, recv, s->root, 0);
		break;
	case GOAL_GATHER:
		for (r = 0; root && r < s->size; r++)
			block(s, start, recv + r * b, r, 0);
		break;
	case GOAL_ALLGATHER:
		for (r = 0; r < s->size; r++)
			block(s, start, recv + r * b, r, 0);
		break;
	case GOAL_SCATTER:
		if (!in_place(s))
			block(s, start, recv, s->root, s->rank);
		break;
	case GOAL_ALLTOALL:
		for (r = 0; r < s->size; r++)
			block(s, start, recv + r * b, r, s->rank);
		break;
	case GOAL_NEIGHBOR_ALLGATHER:
		for (r = 0; r < 2 * s->ndims; r++)
			block(s, start, recv + r * b, (uint32_t)s->neighbor[r], 0);
		break;
	case GOAL_NEIGHBOR_ALLTOALL:
		/* What the neighbour sent the other way: slot r comes from its slot r ^ 1. */
		for (r = 0; r < 2 * s->ndims; r++)
			block(s, start, recv + r * b, (uint32_t)s->neighbor[r], r ^ 1);
		break;
	case GOAL_ALLREDUCE:
		reduced(s, start, recv, 0, s->size - 1, 0, b);
		break;
	case GOAL_REDUCE:
		if (root)
			reduced(s, start, recv, 0, s->size - 1, 0, b);
		break;
	case GOAL_SCAN:
		reduced(s, start, recv, 0, s->rank, 0, b);
		break;
	case GOAL_EXSCAN:
		if (s->rank)
			reduced(s, start, recv, 0, s->rank - 1, 0, b);
		break;
	case GOAL_REDUCE_SCATTER_BLOCK:
		reduced(s, start, recv, 0, s->size - 1, s->rank * b, b);
		break;
	default:
		break;
	}
}

/* Does the result cover all of RECV, so that it need not be given in first? */
static bool covers(const struct shape *s)
{
	return s->coll == GOAL_ALLGATHER || s->coll == GOAL_ALLTOALL || s->coll == GOAL_SCAN ||
	       s->coll == GOAL_ALLREDUCE || neighborhood(s);
}

void shape_load(struct shape *s, struct device *d, uint32_t rank, uint32_t group, uint32_t op_id,
		struct dice *own)
{
	struct espgoal_load load = { .flags = 0 };
	struct goal_error error;
	const struct goal_sched_hdr *hdr;
	struct goal_schedule *schedule;
	struct goal_graph *graph;
	size_t bytes;
	int rc;

	s->rank = rank;
	s->group = group;
	s->op_id = op_id;
	rc = build(s, &graph);
	if (rc < 0)
		die("building %s: %s", shape_name(s), strerror(-rc));
	rc = goal_compile(graph, &schedule, &error);
	if (rc)
		die("compiling %s: %s", shape_name(s), error.text);
	hdr = goal_schedule_data(schedule, &bytes);
	s->kept = in_place(s) || !covers(s) || below(own, 2);
	if (hdr->nbufs > GOAL_BUF_SEND)
		s->flags[GOAL_BUF_SEND] = ESPGOAL_BUF_IN;
	if (hdr->nbufs > GOAL_BUF_RECV)
		s->flags[GOAL_BUF_RECV] = ESPGOAL_BUF_OUT | (s->kept ? ESPGOAL_BUF_IN : 0);
	memcpy(load.buf, s->flags, sizeof(load.buf));
	load.data = (uintptr_t)hdr;
	load.bytes = bytes;
	rc = request(d->fd, ESPGOAL_LOAD, &load);
	if (rc)
		die("ESPGOAL_LOAD of %s: %s, rule %u at %llu", shape_name(s), strerror(-rc),
		    load.rule, (unsigned long long)load.where);
	s->id = load.id;
	memcpy(s->need, load.need, sizeof(s->need));
	goal_schedule_free(schedule);
	goal_graph_free(graph);
	/* With one rank, or at some, a schedule needs none of a buffer that MPI fills. */
	s->room = s->bytes * (reduces(s) ? s->how.size : 1) * (s->size > 4 ? s->size : 4) + 8;
	s->in = malloc(s->need[GOAL_BUF_SEND] + s->need[GOAL_BUF_RECV] + 1);
	s->want = malloc(s->room);
	s->send = malloc(s->room);
	s->recv = malloc(s->room);
	if (!s->in || !s->want || !s->send || !s->recv)
		die("no memory");
	if (s->need[GOAL_BUF_SEND] > s->room || s->need[GOAL_BUF_RECV] > s->room)
		die("%s needs more of its buffers than there can be", shape_name(s));
}

static struct object *free_object(struct shape *s, struct device *d, int *rc)
{
	struct espgoal_run run = { .sched = s->id };
	struct object *o;
	uint32_t i;

	*rc = 0;
	for (i = 0; i < s->nobjects; i++) {
		o = &s->object[i];
		if (!o->busy && peek(&d->word[o->id].free) == o->starts)
			return o;
	}
	if (s->nobjects == SHAPE_OBJECTS)
		return NULL;
	*rc = request(d->fd, ESPGOAL_RUN, &run);
	if (*rc)
		return NULL;
	o = &s->object[s->nobjects++];
	*o = (struct object){ .id = run.id };
	memcpy(o->off, run.off, sizeof(o->off));
	/* Ids are used again, and their words go on counting. */
	o->starts = peek(&d->word[o->id].over);
	return o;
}

struct object *shape_start(struct shape *s, struct device *d, uint32_t flags, uint64_t timeout,
			   int *rc)
{
	struct espgoal_start start = { .group = s->group,
				       .op_id = s->op_id,
				       .flags = flags,
				       .timeout = flags & ESPGOAL_START_WAIT ? timeout : 0 };
	uint8_t *send = s->in, *recv = s->in + s->need[GOAL_BUF_SEND];
	struct espgoal_seg many[5];
	uint64_t total = 0, i;
	struct object *o;

	o = free_object(s, d, rc);
	if (!o)
		return NULL;
	memset(s->recv, GAP, s->room);
	contribute(s, s->started, s->send, s->recv);
	memcpy(send, s->send, s->need[GOAL_BUF_SEND]);
	memcpy(recv, s->recv, s->need[GOAL_BUF_RECV]);
	if (s->flags[GOAL_BUF_SEND] & ESPGOAL_BUF_IN)
		total += s->need[GOAL_BUF_SEND];
	else
		send = recv;
	if (s->flags[GOAL_BUF_RECV] & ESPGOAL_BUF_IN)
		total += s->need[GOAL_BUF_RECV];
	start.run = o->id;
	start.start = s->started;
	if (total && s->started % 3 == 2 && total >= 5) {
		/* In five pieces, of odd lengths. */
		for (i = 0; i < 5; i++) {
			many[i].addr = (uintptr_t)send + i * (total / 5);
			many[i].len = i < 4 ? total / 5 : total - 4 * (total / 5);
		}
		start.segs = (uintptr_t)many;
		start.nsegs = 5;
	} else if (total) {
		start.seg[0] = (struct espgoal_seg){ .addr = (uintptr_t)send, .len = total };
		start.nsegs = 1;
	}
	*rc = request(d->fd, ESPGOAL_START, &start);
	if (*rc)
		return NULL;
	/* It has been copied: what happens to it from now on does not matter. */
	memset(s->in, 0xee, s->need[GOAL_BUF_SEND] + s->need[GOAL_BUF_RECV]);
	o->start = s->started++;
	o->starts++;
	o->busy = true;
	return o;
}

bool shape_over(const struct shape *s, const struct device *d, const struct object *o)
{
	(void)s;
	return peek(&d->word[o->id].over) == o->starts;
}

void shape_check(struct shape *s, const struct device *d, struct object *o)
{
	const uint8_t *got = (const uint8_t *)d->map + o->off[GOAL_BUF_RECV];
	uint64_t i, n = s->need[GOAL_BUF_RECV];

	o->busy = false;
	if (!n)
		return;
	memset(s->want, GAP, s->room);
	/* What went in, in place, and then what must have come. */
	if (s->kept)
		contribute(s, o->start, s->send, s->want);
	expect(s, o->start, s->want);
	if (!memcmp(got, s->want, n))
		return;
	for (i = 0; got[i] == s->want[i]; i++)
		;
	complain("%s, start %u: byte %llu of %llu is %02x and must be %02x", shape_name(s),
		 o->start, (unsigned long long)i, (unsigned long long)n, got[i], s->want[i]);
}

void shape_unload(struct shape *s, struct device *d)
{
	struct espgoal_id id = { .id = s->id };
	int rc = request(d->fd, ESPGOAL_UNLOAD, &id);

	if (rc)
		complain("ESPGOAL_UNLOAD of %s: %s", shape_name(s), strerror(-rc));
	free(s->in);
	free(s->want);
	free(s->send);
	free(s->recv);
	s->in = s->want = s->send = s->recv = NULL;
	s->nobjects = 0;
}

const char *shape_name(const struct shape *s)
{
	static char name[160];

	snprintf(name, sizeof(name), "%s/%s rank %u of %u root %u, %llu %s%s",
		 goal_coll_name(s->coll), goal_algorithm_name(s->alg), s->rank, s->size, s->root,
		 (unsigned long long)s->bytes, reduces(s) ? "elements" : "bytes",
		 in_place(s) ? ", in place" : "");
	return name;
}
