/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Several engines in one process, each with a rank of one group, driven by turns: what their
 * messages do to each other is then the same in every run. For the engine's tests.
 */
#ifndef TEST_ENGINE_PAIR_H
#define TEST_ENGINE_PAIR_H

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <goal/goal.h>

#define PAIR_MOST 4

struct pair {
	uint32_t n;
	uint64_t nonce;
	struct goal_engine *engine[PAIR_MOST];
	struct goal_address address[PAIR_MOST];
	struct goal_group *group[PAIR_MOST];
};

static inline void pair_open(struct pair *p, uint32_t n, const struct goal_engine_attr *attr)
{
	struct goal_error error;
	uint32_t i;

	memset(p, 0, sizeof(*p));
	p->n = n;
	p->nonce = 0x1234;
	for (i = 0; i < n; i++) {
		assert_int_equal(goal_engine_open(attr, &p->engine[i], &error), 0);
		goal_engine_address(p->engine[i], &p->address[i]);
	}
}

/* Group of rank @i with number @nonce. */
static inline struct goal_group *pair_join(struct pair *p, uint32_t i, uint64_t nonce)
{
	struct goal_group_attr attr = {
		.nonce = nonce, .rank = i, .npeers = p->n, .addresses = p->address
	};
	struct goal_group *group = NULL;
	struct goal_error error;

	assert_int_equal(goal_group_create(p->engine[i], &attr, &group, &error), 0);
	return group;
}

static inline void pair_create(struct pair *p, uint32_t n, const struct goal_engine_attr *attr)
{
	uint32_t i;

	pair_open(p, n, attr);
	for (i = 0; i < n; i++)
		p->group[i] = pair_join(p, i, p->nonce);
}

/* Nobody makes progress while an engine lingers: let all of it be taken before. */
static inline void pair_settle(struct pair *p)
{
	uint32_t i, quiet = 0;

	while (quiet < 3) {
		quiet++;
		for (i = 0; i < p->n; i++)
			if (p->engine[i] && goal_engine_progress(p->engine[i]))
				quiet = 0;
	}
}

static inline void pair_free(struct pair *p)
{
	uint32_t i;

	pair_settle(p);
	for (i = 0; i < p->n; i++)
		if (p->group[i])
			assert_int_equal(goal_group_free(p->group[i]), 0);
	for (i = 0; i < p->n; i++)
		if (p->engine[i])
			assert_int_equal(goal_engine_close(p->engine[i]), 0);
}

static inline struct goal_graph *pair_graph(uint32_t rank, uint32_t n)
{
	struct goal_graph *graph = NULL;

	assert_int_equal(goal_graph_create(rank, n, &graph), 0);
	return graph;
}

/* Compile and load @graph, which is freed. */
static inline struct goal_loaded *pair_load(struct pair *p, uint32_t i, struct goal_graph *graph)
{
	struct goal_schedule *schedule = NULL;
	struct goal_loaded *loaded = NULL;
	struct goal_error error;

	assert_int_equal(goal_compile(graph, &schedule, &error), 0);
	assert_int_equal(goal_load(p->engine[i], schedule, &loaded, &error), 0);
	goal_schedule_free(schedule);
	goal_graph_free(graph);
	return loaded;
}

/* Rank 0 sends @bytes to rank 1. */
static inline struct goal_graph *pair_one_way(uint32_t rank, uint64_t bytes, uint64_t room)
{
	struct goal_graph *g = pair_graph(rank, 2);

	if (rank == 0)
		assert_true(goal_send(g, GOAL_BUF_SEND, 0, bytes, 1, 0) >= 0);
	else
		assert_true(goal_recv(g, GOAL_BUF_RECV, 0, room, 0, 0) >= 0);
	return g;
}

/* Ranks 0 and 1 send each other @bytes. */
static inline struct goal_graph *pair_exchange(uint32_t rank, uint64_t bytes)
{
	struct goal_graph *g = pair_graph(rank, 2);

	assert_true(goal_send(g, GOAL_BUF_SEND, 0, bytes, !rank, 0) >= 0);
	assert_true(goal_recv(g, GOAL_BUF_RECV, 0, bytes, !rank, 0) >= 0);
	return g;
}

/* Two buffers of one segment each. */
struct pair_bufs {
	struct goal_segment seg[2];
	struct goal_buffer buf[2];
};

static inline void pair_bind(struct pair_bufs *b, const void *send, size_t send_bytes, void *recv,
			     size_t recv_bytes)
{
	b->seg[0].base = (void *)(uintptr_t)send;
	b->seg[0].len = send_bytes;
	b->seg[1].base = recv;
	b->seg[1].len = recv_bytes;
	b->buf[0].seg = &b->seg[0];
	b->buf[0].nseg = 1;
	b->buf[1].seg = &b->seg[1];
	b->buf[1].nseg = 1;
}

static inline struct goal_run *pair_start(struct pair *p, uint32_t i, struct goal_loaded *loaded,
					  uint32_t op_id, const struct pair_bufs *b)
{
	struct goal_run_attr attr = { .op_id = op_id,
				      .nbufs = b ? 2 : 0,
				      .bufs = b ? b->buf : NULL };
	struct goal_run *run = NULL;

	assert_int_equal(goal_start(p->group[i], loaded, &attr, &run), 0);
	return run;
}

/* Progress of everybody, by turns, until @run is over (but not for ever): its outcome. */
static inline int pair_wait(struct pair *p, struct goal_run *run)
{
	uint32_t i, turns;
	int rc;

	for (turns = 0; turns < 10000000; turns++) {
		rc = goal_run_test(run);
		if (rc)
			return rc < 0 ? rc : 0;
		for (i = 0; i < p->n; i++)
			if (p->engine[i])
				goal_engine_progress(p->engine[i]);
	}
	return -ETIMEDOUT;
}

/* The same, and give it up. */
static inline int pair_end(struct pair *p, struct goal_run *run)
{
	int rc = pair_wait(p, run);

	goal_run_free(run);
	return rc;
}

/* Deterministic bytes that differ from place to place. */
static inline void pair_fill(void *data, size_t bytes, uint32_t seed)
{
	uint8_t *p = data;
	size_t i;

	for (i = 0; i < bytes; i++)
		p[i] = (uint8_t)((i * 2654435761u + seed * 40503u) >> 13);
}

static inline struct goal_engine_stats pair_stats(const struct pair *p, uint32_t i)
{
	struct goal_engine_stats s;

	goal_engine_stats(p->engine[i], &s);
	return s;
}

/* Send @bytes both ways, receiver first or last, and look at every byte. */
static inline void pair_check_exchange(struct pair *p, uint64_t bytes, uint32_t op_id)
{
	uint8_t *data[4];
	struct pair_bufs b[2];
	struct goal_loaded *l[2];
	struct goal_run *run[2];
	uint32_t i;

	for (i = 0; i < 4; i++) {
		data[i] = calloc(1, bytes + 1);
		assert_non_null(data[i]);
	}
	for (i = 0; i < 2; i++) {
		pair_fill(data[i], bytes, op_id + i);
		pair_bind(&b[i], data[i], bytes, data[2 + i], bytes);
		l[i] = pair_load(p, i, pair_exchange(i, bytes));
	}
	for (i = 0; i < 2; i++) {
		uint32_t who = (i + op_id) % 2;

		run[who] = pair_start(p, who, l[who], op_id, &b[who]);
		if (op_id % 3 == 0)
			pair_settle(p);
	}
	for (i = 0; i < 2; i++)
		assert_int_equal(pair_end(p, run[i]), 0);
	assert_memory_equal(data[0], data[3], bytes);
	assert_memory_equal(data[1], data[2], bytes);
	assert_int_equal(data[2][bytes], 0);
	assert_int_equal(data[3][bytes], 0);
	for (i = 0; i < 2; i++)
		assert_int_equal(goal_unload(l[i]), 0);
	for (i = 0; i < 4; i++)
		free(data[i]);
}

#endif /* TEST_ENGINE_PAIR_H */
