/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Races inside one schedule: for each operation the set of those that start after it has
 * finished, and the set of those that start after it has started, as bit sets, computed from the
 * last operation to the first; then every pair that touches the same bytes is looked up.
 * Used by coll_world.c.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "coll_hazard.h"

struct sets {
	uint64_t *bits;
	size_t words; /* of one set */
};

static uint64_t *set_of(const struct sets *s, uint32_t i)
{
	return s->bits + i * s->words;
}

static bool set_has(const struct sets *s, uint32_t i, uint32_t member)
{
	return set_of(s, i)[member / 64] >> (member % 64) & 1;
}

/* Put @member, and what is in its set of @from, into @i's set of @to. */
static void set_join(struct sets *to, uint32_t i, const struct sets *from, uint32_t member)
{
	for (size_t w = 0; w < to->words; w++)
		set_of(to, i)[w] |= set_of(from, member)[w];
	set_of(to, i)[member / 64] |= 1ull << (member % 64);
}

/* Bytes that an operation reads or writes. */
struct access {
	uint32_t buf;
	uint64_t off, len;
	bool write;
};

static uint64_t reduce_bytes(const struct goal_sched_hdr *hdr, const struct goal_op *o)
{
	switch (o->dtype) {
	case GOAL_TYPE_USER:
		return o->len * hdr->user_size;
	case GOAL_TYPE_2INT:
		return o->len * 8;
	default:
		return o->len * 4; /* INT32 and FLOAT: what the tests use */
	}
}

static int accesses(const struct goal_sched_hdr *hdr, const struct goal_op *o, struct access a[2])
{
	uint64_t len = o->code == GOAL_OP_REDUCE ? reduce_bytes(hdr, o) : o->len;
	struct access src = { o->src_buf, o->src_off, len, false };
	struct access dst = { o->dst_buf, o->dst_off, len, true };

	switch (o->code) {
	case GOAL_OP_SEND:
		a[0] = src;
		return 1;
	case GOAL_OP_RECV:
		a[0] = dst;
		return 1;
	case GOAL_OP_COPY:
	case GOAL_OP_REDUCE:
		a[0] = src;
		a[1] = dst;
		return 2;
	default:
		return 0;
	}
}

static bool touch(const struct goal_sched_hdr *hdr, const struct goal_op *a,
		  const struct goal_op *b)
{
	struct access x[2], y[2];
	int nx = accesses(hdr, a, x), ny = accesses(hdr, b, y);

	for (int i = 0; i < nx; i++)
		for (int j = 0; j < ny; j++)
			if ((x[i].write || y[j].write) && x[i].buf == y[j].buf &&
			    x[i].off < y[j].off + y[j].len && y[j].off < x[i].off + x[i].len)
				return true;
	return false;
}

static bool same_channel(const struct goal_op *a, const struct goal_op *b)
{
	return a->code == b->code && (a->code == GOAL_OP_SEND || a->code == GOAL_OP_RECV) &&
	       a->peer == b->peer && a->tag == b->tag;
}

int hazard_find(const void *schedule, char *text, size_t bytes)
{
	const struct goal_sched_hdr *hdr = schedule;
	const struct goal_op *op = (const struct goal_op *)(hdr + 1);
	const uint32_t *succ = (const uint32_t *)(op + hdr->nops) + hdr->nops;
	struct sets finished = { .words = hdr->nops / 64 + 1 };
	struct sets started = { .words = hdr->nops / 64 + 1 };
	int found = 0;

	finished.bits = calloc((size_t)hdr->nops + 1, finished.words * sizeof(uint64_t));
	started.bits = calloc((size_t)hdr->nops + 1, started.words * sizeof(uint64_t));
	assert_non_null(finished.bits);
	assert_non_null(started.bits);
	for (uint32_t i = hdr->nops; i-- > 0;) {
		for (uint32_t j = 0; j < op[i].nsucc; j++) {
			set_join(&finished, i, &started, succ[op[i].succ + j]);
			set_join(&started, i, &started, succ[op[i].succ + j]);
		}
		for (uint32_t j = 0; j < op[i].nisucc; j++)
			set_join(&started, i, &started, succ[op[i].succ + op[i].nsucc + j]);
	}
	for (uint32_t i = 0; i < hdr->nops && !found; i++) {
		for (uint32_t j = i + 1; j < hdr->nops && !found; j++) {
			if (touch(hdr, &op[i], &op[j]) && !set_has(&finished, i, j)) {
				found = 1;
				snprintf(text, bytes,
					 "operations %u (code %u) and %u (code %u) of rank %u race",
					 i, op[i].code, j, op[j].code, hdr->rank);
			}
			if (same_channel(&op[i], &op[j]) &&
			    (set_has(&started, i, j) || op[i].instance > op[j].instance)) {
				found = 1;
				snprintf(text, bytes,
					 "operations %u and %u of rank %u share peer %u, tag %u "
					 "and are not independent",
					 i, j, hdr->rank, op[i].peer, op[i].tag);
			}
		}
	}
	free(finished.bits);
	free(started.bits);
	return found;
}
