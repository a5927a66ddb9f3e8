/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A remote transport inside this process that matches in posting order, as MPI's point-to-point
 * does, completes late, fails and refuses on demand. A send is done only when it has met its
 * receive, so that one without is seen. For the engine's tests.
 */
#ifndef TEST_ENGINE_WIRE_H
#define TEST_ENGINE_WIRE_H

#include "engine_pair.h"

#define WIRE_MOST 4096

/* One isend or irecv. */
struct wire_request {
	bool used, send, matched, gone;
	uint32_t from, to, tag;
	int64_t base;
	void *buf;
	uint64_t bytes, got;
	uint32_t left; /* tests until it is done, once it is matched */
	int status;
};

static struct wire {
	struct wire_request request[WIRE_MOST];
	uint32_t n, active;
	uint32_t delay;     /* tests that a completion takes */
	uint32_t cancels;   /* asked for */
	bool refuse_cancel; /* a matched receive cannot be cancelled */
	int fail_isend, fail_irecv, fail_test;
	/* The n-th of these calls fails, or gives a message that is too long; 0: none. */
	uint32_t nth_isend, nth_irecv, nth_short;
} wire;

/* Of one rank: what the transport's arg points to. */
struct wire_end {
	uint32_t rank;
};

static struct wire_end wire_ends[PAIR_MOST] = { { 0 }, { 1 }, { 2 }, { 3 } };

static inline void wire_match(struct wire_request *send, struct wire_request *recv)
{
	send->matched = true;
	recv->matched = true;
	send->left = wire.delay;
	recv->left = wire.delay;
	recv->got = send->bytes;
	if (send->bytes > recv->bytes || (wire.nth_short && !--wire.nth_short)) {
		recv->status = -EMSGSIZE;
		return;
	}
	if (send->bytes)
		memcpy(recv->buf, send->buf, send->bytes);
}

static inline int wire_post(struct wire_request *mine, void **request)
{
	uint32_t i;

	for (i = 0; i < wire.n; i++) {
		struct wire_request *q = &wire.request[i];

		if (q->used && !q->matched && q->send != mine->send && q->from == mine->from &&
		    q->to == mine->to && q->tag == mine->tag && q->base == mine->base)
			break;
	}
	assert_true(wire.n < WIRE_MOST);
	wire.request[wire.n] = *mine;
	mine = &wire.request[wire.n++];
	mine->used = true;
	wire.active++;
	if (i < wire.n - 1) {
		if (mine->send)
			wire_match(mine, &wire.request[i]);
		else
			wire_match(&wire.request[i], mine);
	}
	*request = mine;
	return 0;
}

static inline int wire_isend(void *arg, uint32_t peer, int64_t base, uint32_t tag, const void *buf,
			     uint64_t bytes, void **request)
{
	struct wire_request r = { .send = true,
				  .from = ((struct wire_end *)arg)->rank,
				  .to = peer,
				  .tag = tag,
				  .base = base,
				  .buf = (void *)(uintptr_t)buf,
				  .bytes = bytes };

	if (wire.nth_isend && !--wire.nth_isend)
		return -ENOBUFS;
	return wire.fail_isend ? wire.fail_isend : wire_post(&r, request);
}

static inline int wire_irecv(void *arg, uint32_t peer, int64_t base, uint32_t tag, void *buf,
			     uint64_t bytes, void **request)
{
	struct wire_request r = { .from = peer,
				  .to = ((struct wire_end *)arg)->rank,
				  .tag = tag,
				  .base = base,
				  .buf = buf,
				  .bytes = bytes };

	if (wire.nth_irecv && !--wire.nth_irecv)
		return -ENOBUFS;
	return wire.fail_irecv ? wire.fail_irecv : wire_post(&r, request);
}

static inline int wire_test(void *arg, void *request, uint64_t *got)
{
	struct wire_request *r = request;

	(void)arg;
	assert_true(r->used);
	if (wire.fail_test) {
		r->used = false;
		wire.active--;
		return wire.fail_test;
	}
	if (!r->matched || r->left--)
		return 0;
	r->used = false;
	wire.active--;
	*got = r->got;
	return r->status ? r->status : 1;
}

static inline int wire_cancel(void *arg, void *request)
{
	struct wire_request *r = request;

	(void)arg;
	assert_true(r->used && !r->send);
	wire.cancels++;
	if (r->matched || wire.refuse_cancel)
		return -EBUSY;
	r->used = false;
	wire.active--;
	return 0;
}

/* The first message of tag 0 for us, whoever sent it. */
static inline int wire_hear(void *arg, int64_t base, void *word, uint64_t bytes)
{
	uint32_t to = ((struct wire_end *)arg)->rank, i;

	for (i = 0; i < wire.n; i++) {
		struct wire_request *q = &wire.request[i];

		if (!q->used || q->matched || !q->send || q->to != to || q->tag || q->base != base)
			continue;
		assert_int_equal(q->bytes, bytes);
		memcpy(word, q->buf, bytes);
		q->matched = true;
		q->left = wire.delay;
		return 1;
	}
	return 0;
}

static const struct goal_remote_ops wire_ops = {
	.isend = wire_isend, .irecv = wire_irecv, .test = wire_test, .cancel = wire_cancel
};

/* With word of failed runs. */
static const struct goal_remote_ops wire_tell_ops = { .isend = wire_isend,
						      .irecv = wire_irecv,
						      .test = wire_test,
						      .cancel = wire_cancel,
						      .hear = wire_hear };

/* @n engines; @addresses: those that can share memory do. */
static inline void wire_create(struct pair *p, uint32_t n, const struct goal_engine_attr *attr,
			       bool addresses)
{
	uint32_t i;

	memset(&wire, 0, sizeof(wire));
	pair_open(p, n, attr);
	for (i = 0; i < n; i++) {
		struct goal_group_attr group = { .nonce = 99,
						 .rank = i,
						 .npeers = n,
						 .addresses = addresses ? p->address : NULL,
						 .remote = &wire_ops,
						 .remote_arg = &wire_ends[i] };
		struct goal_error error;

		assert_int_equal(goal_group_create(p->engine[i], &group, &p->group[i], &error), 0);
	}
}

static inline struct goal_run *wire_start(struct pair *p, uint32_t i, struct goal_loaded *l,
					  uint32_t op_id, const struct pair_bufs *b)
{
	struct goal_run_attr attr = {
		.op_id = op_id, .remote_tag = 1000 + op_id, .nbufs = 2, .bufs = b->buf
	};
	struct goal_run *run = NULL;

	assert_int_equal(goal_start(p->group[i], l, &attr, &run), 0);
	return run;
}

#endif /* TEST_ENGINE_WIRE_H */
