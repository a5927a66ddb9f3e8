// SPDX-License-Identifier: BSD-3-Clause
/*
 * The verifier: a valid schedule passes, and each rule of doc/schedule.md refuses what breaks it,
 * by name and place. Then valid schedules with bits flipped: what still passes must run.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "home/sink.h"
#include "home/world.h"

/* Operations of the sample; independent ones first, so numbers are those of the schedule. */
enum {
	RECV_A,      /* peer 1, tag 0, instance 0; gives COPY and SEND_BACK their length */
	RECV_B,      /* peer 1, tag 0, instance 1 */
	RECV_C,      /* peer 1, tag 1 */
	RECV_D,      /* peer 2, tag 0 */
	SEND,        /* peer 2, tag 1 */
	COPY,        /* requires RECV_A */
	REDUCE,      /* requires RECV_B, RECV_C */
	REDUCE_USER, /* requires COPY */
	SEND_BACK,   /* requires RECV_A */
	NOP,         /* requires REDUCE, REDUCE_USER, RECV_D; irequires SEND, RECV_A, RECV_B */
	NOPS
};

static void *sample(size_t *len)
{
	static struct build b;

	memset(&b, 0, sizeof(b));
	b.hdr = (struct goal_sched_hdr){
		.rank = 0, .npeers = 3, .nbufs = 2, .ntags = 2, .scratch = 256, .user_size = 24
	};
	build_recv(&b, 1, 0, 64, 1, 0);
	build_recv(&b, 1, 64, 64, 1, 0);
	build_recv(&b, GOAL_BUF_SCRATCH, 0, 64, 1, 1);
	build_recv(&b, 1, 128, 64, 2, 0);
	build_send(&b, 0, 0, 64, 2, 1);
	build_copy(&b, GOAL_BUF_SCRATCH, 128, 1, 0, 64);
	build_reduce(&b, 1, 64, GOAL_BUF_SCRATCH, 0, 8, GOAL_TYPE_DOUBLE, GOAL_ROP_SUM);
	build_reduce(&b, GOAL_BUF_SCRATCH, 200, 0, 16, 2, GOAL_TYPE_USER, GOAL_ROP_USER);
	build_send(&b, 1, 0, 64, 1, 0);
	build_nop(&b);
	build_len_from(&b, COPY, RECV_A);
	build_edge(&b, RECV_B, REDUCE, false);
	build_edge(&b, RECV_C, REDUCE, false);
	build_edge(&b, COPY, REDUCE_USER, false);
	build_len_from(&b, SEND_BACK, RECV_A);
	build_edge(&b, REDUCE, NOP, false);
	build_edge(&b, REDUCE_USER, NOP, false);
	build_edge(&b, RECV_D, NOP, false);
	build_edge(&b, SEND, NOP, true);
	build_edge(&b, RECV_A, NOP, true);
	build_edge(&b, RECV_B, NOP, true);
	return build_bytes(&b, len);
}

/* The parts of the sample. */
struct parts {
	struct goal_sched_hdr *hdr;
	struct goal_op *op;
	u32 *deps, *succ, *match;
	u8 *end;
};

static struct parts parts_of(void *data, size_t len)
{
	struct parts p;

	p.hdr = data;
	p.op = (struct goal_op *)(p.hdr + 1);
	p.deps = (u32 *)(p.op + p.hdr->nops);
	p.succ = p.deps + p.hdr->nops;
	p.match = p.succ + p.hdr->nsucc;
	p.end = (u8 *)data + len;
	return p;
}

static void verify__accepts_the_sample(void **state)
{
	struct core_sched s;
	struct core_error e;
	size_t len;
	void *data = sample(&len);

	(void)state;
	assert_int_equal(build_verify(data, len, &s, &e), 0);
	assert_ptr_equal(s.hdr, data);
	assert_int_equal(s.hdr->nindep, 5);
	assert_int_equal(s.need[0], 64);
	assert_int_equal(s.need[1], 192);
	assert_int_equal(s.need[2], 0);
	assert_int_equal(s.host_only, 1);
	free(data);
}

/* @what of the sample is made @how, and refused by @rule at @where with @code. */
static void refused(const char *what, void *data, size_t len, int code, u32 rule, u64 where)
{
	struct core_sched s, untouched;
	struct core_error e;
	int rc;

	memset(&s, 0x5a, sizeof(s));
	untouched = s;
	rc = build_verify(data, len, &s, &e);
	if (rc != code || e.code != code || e.rule != rule || e.where != where)
		fail_msg("%s: %d by rule %u at %llu, expected %d by %u at %llu", what, rc, e.rule,
			 e.where, code, rule, where);
	assert_memory_equal(&s, &untouched, sizeof(s));
	free(data);
}

static u32 rules_seen[CORE_RULES];

/* core_verify() does not rely on its caller having asked core_verify_tmp(). */
static void verify__checks_the_header_again(void **state)
{
	struct core_sched s;
	struct core_error e;
	size_t len;
	void *data = sample(&len);

	(void)state;
	assert_int_equal(core_verify(data, len - 8, NULL, &s, &e), -EINVAL);
	assert_int_equal(e.rule, CORE_RULE_TOTAL);
	assert_int_equal(core_verify(data, 0, NULL, &s, &e), -EINVAL);
	assert_int_equal(e.rule, CORE_RULE_SIZE);
	free(data);
}

/* The sample with one change; p names its parts. */
#define REFUSED_AS(code, rule, where, change)                     \
	do {                                                      \
		size_t len_;                                      \
		void *data_ = sample(&len_);                      \
		struct parts p = parts_of(data_, len_);           \
                                                                  \
		change;                                           \
		rules_seen[rule]++;                               \
		refused(#change, data_, len_, code, rule, where); \
	} while (0)
#define REFUSED(rule, where, change) REFUSED_AS(-EINVAL, rule, where, change)

#define HDR(field) offsetof(struct goal_sched_hdr, field)

static void verify__checks_the_header(void **state)
{
	(void)state;
	REFUSED(CORE_RULE_SIZE, 63, len_ = 63; (void)p);
	REFUSED(CORE_RULE_SIZE, 0, len_ = 0; (void)p);
	REFUSED(CORE_RULE_MAGIC, 0, p.hdr->magic = __builtin_bswap32(GOAL_SCHED_MAGIC));
	REFUSED(CORE_RULE_VERSION, HDR(version), p.hdr->version = 0);
	REFUSED(CORE_RULE_VERSION, HDR(version), p.hdr->version = 2);
	REFUSED(CORE_RULE_RESERVED, HDR(flags), p.hdr->flags = 0x8000);
	REFUSED(CORE_RULE_RESERVED, HDR(reserved), p.hdr->reserved = 1);
	REFUSED_AS(-E2BIG, CORE_RULE_LIMIT, HDR(nops), p.hdr->nops = GOAL_MAX_OPS + 1);
	REFUSED_AS(-E2BIG, CORE_RULE_LIMIT, HDR(nops), p.hdr->nops = ~0u);
	REFUSED_AS(-E2BIG, CORE_RULE_LIMIT, HDR(nsucc), p.hdr->nsucc = GOAL_MAX_SUCC + 1);
	REFUSED_AS(-E2BIG, CORE_RULE_LIMIT, HDR(nbufs), p.hdr->nbufs = GOAL_MAX_BUFS + 1);
	REFUSED_AS(-E2BIG, CORE_RULE_LIMIT, HDR(ntags), p.hdr->ntags = GOAL_MAX_TAGS + 1);
	REFUSED_AS(-E2BIG, CORE_RULE_LIMIT, HDR(scratch), p.hdr->scratch = GOAL_MAX_BYTES + 1);
	REFUSED(CORE_RULE_LIMIT, HDR(nindep), p.hdr->nindep = NOPS + 1);
	REFUSED(CORE_RULE_LIMIT, HDR(nrecv), p.hdr->nrecv = NOPS + 1);
	REFUSED(CORE_RULE_RANK, HDR(npeers), p.hdr->npeers = 0);
	REFUSED(CORE_RULE_TOTAL, HDR(total), p.hdr->total += 8);
	REFUSED(CORE_RULE_TOTAL, HDR(total), p.hdr->total = 0);
	REFUSED(CORE_RULE_TOTAL, HDR(total), p.hdr->total = ~0ull);
	REFUSED(CORE_RULE_TOTAL, HDR(total), p.hdr->nops--);
	REFUSED(CORE_RULE_TOTAL, HDR(total), p.hdr->nops = GOAL_MAX_OPS);
	REFUSED(CORE_RULE_TOTAL, HDR(total), p.hdr->nsucc = GOAL_MAX_SUCC);
	REFUSED(CORE_RULE_TOTAL, HDR(total), len_ -= 8; (void)p);
	REFUSED(CORE_RULE_TOTAL, HDR(total), len_ = 64; (void)p);
}

static void verify__checks_the_padding(void **state)
{
	size_t len;
	void *data = sample(&len);
	struct parts p = parts_of(data, len);

	(void)state;
	/* Without padding in the sample this test would see none. */
	assert_int_equal(p.end - (u8 *)(p.match + p.hdr->nrecv), 4);
	free(data);
	REFUSED(CORE_RULE_PADDING, len_ - 1, p.end[-1] = 1);
	REFUSED(CORE_RULE_PADDING, len_ - 4, p.end[-4] = 0x80);
}

static void verify__checks_alignment(void **state)
{
	struct core_sched s;
	struct core_error e;
	size_t len;
	void *data = sample(&len);
	char *moved = malloc(len + 4);

	(void)state;
	memcpy(moved + 4, data, len);
	rules_seen[CORE_RULE_ALIGN]++;
	assert_int_equal(build_verify(moved + 4, len, &s, &e), -EINVAL);
	assert_int_equal(e.rule, CORE_RULE_ALIGN);
	free(moved);
	free(data);
}

static void verify__checks_messages(void **state)
{
	(void)state;
	REFUSED(CORE_RULE_PEER, SEND, p.op[SEND].peer = 3);
	REFUSED(CORE_RULE_PEER, RECV_A, p.op[RECV_A].peer = ~0u);
	REFUSED(CORE_RULE_TAG, SEND, p.op[SEND].tag = 2);
	REFUSED(CORE_RULE_TAG, RECV_C, p.op[RECV_C].tag = ~0u);
	REFUSED(CORE_RULE_INSTANCE, SEND, p.op[SEND].instance = NOPS);
	REFUSED(CORE_RULE_INSTANCE, RECV_B, p.op[RECV_B].instance = 0);
	REFUSED(CORE_RULE_INSTANCE, RECV_B, p.op[RECV_B].instance = 2);
	REFUSED(CORE_RULE_INSTANCE, RECV_A, p.op[RECV_A].instance = 1);
	REFUSED(CORE_RULE_INSTANCE, RECV_D, p.op[RECV_D].instance = 1);
	REFUSED(CORE_RULE_MATCH, 1, p.match[0] = RECV_B; p.match[1] = RECV_A; p.op[RECV_B].slot = 0;
		p.op[RECV_B].instance = 0; p.op[RECV_A].instance = 0; p.op[RECV_A].slot = 2);
	REFUSED(CORE_RULE_MATCH, 0, p.match[0] = NOPS);
	REFUSED(CORE_RULE_MATCH, 0, p.match[0] = ~0u);
	REFUSED(CORE_RULE_MATCH, 0, p.match[0] = SEND);
	REFUSED(CORE_RULE_MATCH, 1, p.match[1] = RECV_A);
	REFUSED(CORE_RULE_MATCH, 3, p.op[RECV_D].slot = 2);
	/* Descending peers, tags. */
	REFUSED(CORE_RULE_MATCH, 3, p.op[RECV_D].peer = 0);
	REFUSED(CORE_RULE_MATCH, 1, p.op[RECV_A].tag = 1);
	/* A receive that is not listed: one entry fewer, and padding in its place. */
	REFUSED(CORE_RULE_MATCH, 4, p.hdr->nrecv = 3; len_ -= 8; p.hdr->total = len_);
}

static void verify__checks_ranges(void **state)
{
	(void)state;
	REFUSED(CORE_RULE_BUFFER, SEND, p.op[SEND].src_buf = 2);
	REFUSED(CORE_RULE_BUFFER, RECV_A, p.op[RECV_A].dst_buf = 0xfffe);
	REFUSED(CORE_RULE_BUFFER, COPY, p.op[COPY].src_buf = GOAL_MAX_BUFS);
	REFUSED(CORE_RULE_BUFFER, REDUCE, p.op[REDUCE].dst_buf = GOAL_MAX_BUFS);
	REFUSED(CORE_RULE_SCRATCH, RECV_C, p.op[RECV_C].dst_off = 193);
	REFUSED(CORE_RULE_SCRATCH, RECV_C, p.op[RECV_C].len = 257);
	REFUSED(CORE_RULE_SCRATCH, RECV_C, p.hdr->scratch = 63);
	REFUSED(CORE_RULE_SCRATCH, COPY, p.op[COPY].dst_off = 193);
	REFUSED(CORE_RULE_SCRATCH, REDUCE, p.op[REDUCE].src_off = 193);
	REFUSED(CORE_RULE_SCRATCH, REDUCE_USER, p.hdr->user_size = 29);
	REFUSED_AS(-E2BIG, CORE_RULE_EXTENT, SEND, p.op[SEND].src_off = GOAL_MAX_BYTES - 63);
	REFUSED_AS(-E2BIG, CORE_RULE_EXTENT, SEND, p.op[SEND].src_off = ~0ull);
	REFUSED_AS(-E2BIG, CORE_RULE_EXTENT, SEND, p.op[SEND].src_off = ~0ull; p.op[SEND].len = 0);
	REFUSED_AS(-E2BIG, CORE_RULE_EXTENT, SEND, p.op[SEND].len = ~0ull);
	REFUSED_AS(-E2BIG, CORE_RULE_EXTENT, REDUCE, p.op[REDUCE].len = ~0ull);
	REFUSED_AS(-E2BIG, CORE_RULE_EXTENT, REDUCE, p.op[REDUCE].len = 1ull << 61);
	REFUSED_AS(-E2BIG, CORE_RULE_EXTENT, REDUCE, p.op[REDUCE].len = GOAL_MAX_BYTES / 8 + 1);
	REFUSED_AS(-E2BIG, CORE_RULE_EXTENT, REDUCE_USER, p.op[REDUCE_USER].len = 1ull << 56;
		   p.hdr->user_size = ~0u);
	REFUSED_AS(-E2BIG, CORE_RULE_EXTENT, REDUCE_USER, p.op[REDUCE_USER].len = 1ull << 32;
		   p.hdr->user_size = ~0u);
}

static void verify__checks_overlap(void **state)
{
	(void)state;
	REFUSED(CORE_RULE_OVERLAP, COPY, p.op[COPY].dst_buf = 1; p.op[COPY].dst_off = 63);
	REFUSED(CORE_RULE_OVERLAP, COPY, p.op[COPY].dst_buf = 1; p.op[COPY].dst_off = 0);
	REFUSED(CORE_RULE_OVERLAP, COPY, p.op[COPY].src_buf = GOAL_BUF_SCRATCH;
		p.op[COPY].src_off = 191);
	REFUSED(CORE_RULE_OVERLAP, REDUCE, p.op[REDUCE].src_buf = 1; p.op[REDUCE].src_off = 127);
	REFUSED(CORE_RULE_OVERLAP, REDUCE, p.op[REDUCE].src_buf = 1; p.op[REDUCE].src_off = 1);
}

static void verify__checks_reductions(void **state)
{
	(void)state;
	REFUSED(CORE_RULE_CODE, NOP, p.op[NOP].code = GOAL_OP_CODES);
	REFUSED(CORE_RULE_CODE, NOP, p.op[NOP].code = 255);
	REFUSED(CORE_RULE_DTYPE, REDUCE, p.op[REDUCE].dtype = GOAL_TYPE_NONE);
	REFUSED(CORE_RULE_DTYPE, REDUCE, p.op[REDUCE].dtype = GOAL_TYPES);
	REFUSED(CORE_RULE_ROP, REDUCE, p.op[REDUCE].rop = GOAL_ROP_NONE);
	REFUSED(CORE_RULE_ROP, REDUCE, p.op[REDUCE].rop = GOAL_ROP_BAND);
	REFUSED(CORE_RULE_ROP, REDUCE, p.op[REDUCE].rop = GOAL_ROP_USER);
	REFUSED(CORE_RULE_ROP, REDUCE, p.op[REDUCE].rop = GOAL_ROPS);
	REFUSED(CORE_RULE_ROP, REDUCE_USER, p.op[REDUCE_USER].rop = GOAL_ROP_SUM);
	REFUSED(CORE_RULE_USER, REDUCE_USER, p.hdr->user_size = 0);
}

static void verify__checks_where_lengths_come_from(void **state)
{
	(void)state;
	REFUSED(CORE_RULE_LEN_FROM, COPY, p.op[COPY].len_from = RECV_B);
	REFUSED(CORE_RULE_LEN_FROM, COPY, p.op[COPY].len_from = SEND);
	REFUSED(CORE_RULE_LEN_FROM, COPY, p.op[COPY].len_from = COPY);
	REFUSED(CORE_RULE_LEN_FROM, COPY, p.op[COPY].len_from = SEND_BACK);
	REFUSED(CORE_RULE_LEN_FROM, COPY, p.op[COPY].len_from = ~0u - 1);
	/* It is not enough that the receive has started. */
	REFUSED(CORE_RULE_LEN_FROM, COPY, p.op[RECV_A].nsucc = 0; p.op[RECV_A].nisucc = 3);
}

static void verify__checks_successors(void **state)
{
	(void)state;
	REFUSED(CORE_RULE_SUCC_RANGE, RECV_A, p.op[RECV_A].succ = 1);
	REFUSED(CORE_RULE_SUCC_RANGE, RECV_B, p.op[RECV_B].succ = 0);
	REFUSED(CORE_RULE_SUCC_RANGE, RECV_B, p.op[RECV_B].nsucc = ~0u);
	REFUSED(CORE_RULE_SUCC_RANGE, RECV_B, p.op[RECV_B].nsucc = ~0u; p.op[RECV_B].nisucc = ~0u);
	REFUSED(CORE_RULE_SUCC_RANGE, NOP, p.op[NOP].nsucc = 1);
	/* An entry that belongs to nobody. */
	REFUSED(CORE_RULE_SUCC_RANGE, NOPS, p.op[REDUCE_USER].nsucc = 0; p.op[SEND_BACK].succ--;
		p.op[NOP].succ--; p.deps[NOP]--);
	REFUSED(CORE_RULE_SUCC_ORDER, RECV_A, p.succ[0] = RECV_A);
	REFUSED(CORE_RULE_SUCC_ORDER, RECV_A, p.succ[0] = NOPS);
	REFUSED(CORE_RULE_SUCC_ORDER, RECV_A, p.succ[0] = ~0u);
	REFUSED(CORE_RULE_SUCC_ORDER, COPY, p.succ[p.op[COPY].succ] = RECV_A);
	REFUSED(CORE_RULE_DEPS, COPY, p.deps[COPY] = 2);
	REFUSED(CORE_RULE_DEPS, COPY, p.deps[COPY] = 0);
	REFUSED(CORE_RULE_DEPS, RECV_A, p.deps[RECV_A] = 1);
	REFUSED(CORE_RULE_DEPS, COPY, p.deps[COPY] |= 0x80000000u);
	REFUSED(CORE_RULE_INDEP, SEND, p.hdr->nindep = SEND);
	REFUSED(CORE_RULE_INDEP, COPY, p.hdr->nindep = NOPS);
}

/* Every field that an operation does not use, one after another. */
static void verify__checks_unused_fields(void **state)
{
	u32 i;

	(void)state;
	for (i = 0; i < NOPS; i++) {
		bool recv = i <= RECV_D, send = i == SEND || i == SEND_BACK;
		bool reduce = i == REDUCE || i == REDUCE_USER, copy = i == COPY;

		REFUSED(CORE_RULE_UNUSED, i, p.op[i].flags = 1);
		if (!reduce) {
			REFUSED(CORE_RULE_UNUSED, i, p.op[i].dtype = 1);
			REFUSED(CORE_RULE_UNUSED, i, p.op[i].rop = 1);
		}
		if (!recv && !send) {
			REFUSED(CORE_RULE_UNUSED, i, p.op[i].peer = 1);
			REFUSED(CORE_RULE_UNUSED, i, p.op[i].tag = 1);
			REFUSED(CORE_RULE_UNUSED, i, p.op[i].instance = 1);
		}
		if (!send && !copy && !reduce) {
			REFUSED(CORE_RULE_UNUSED, i, p.op[i].src_buf = 1);
			REFUSED(CORE_RULE_UNUSED, i, p.op[i].src_off = 1);
		}
		if (!recv && !copy && !reduce) {
			REFUSED(CORE_RULE_UNUSED, i, p.op[i].dst_buf = 1);
			REFUSED(CORE_RULE_UNUSED, i, p.op[i].dst_off = 1);
		}
		if (!recv)
			REFUSED(CORE_RULE_UNUSED, i, p.op[i].slot = 1);
		if (!send && !copy) {
			REFUSED(CORE_RULE_UNUSED, i, p.op[i].len_from = RECV_A);
			REFUSED(CORE_RULE_UNUSED, i, p.op[i].len_from = 0);
		}
		if (i == NOP)
			REFUSED(CORE_RULE_UNUSED, i, p.op[i].len = 1);
	}
}

/* Runs behind all that check a rule. */
static void verify__has_a_test_and_a_text_for_every_rule(void **state)
{
	u32 rule, other;

	(void)state;
	for (rule = CORE_RULE_OK + 1; rule < CORE_RULES; rule++)
		if (!rules_seen[rule])
			fail_msg("no test breaks rule %u (%s)", rule, core_rule_text(rule));
	for (rule = 0; rule < CORE_RULES; rule++) {
		assert_non_null(core_rule_text(rule));
		assert_true(strlen(core_rule_text(rule)) > 10);
		for (other = 0; other < rule; other++)
			assert_string_not_equal(core_rule_text(rule), core_rule_text(other));
	}
	assert_string_equal(core_rule_text(CORE_RULES), "unknown rule");
	assert_string_equal(core_rule_text(~0u), "unknown rule");
}

static void verify__accepts_what_is_odd_but_harmless(void **state)
{
	struct build *b = calloc(1, sizeof(*b));
	struct core_sched s;
	struct core_error e;
	size_t len;
	void *data;

	(void)state;
	/* Nothing to do at all. */
	b->hdr.npeers = 1;
	data = build_bytes(b, &len);
	assert_int_equal(len, 64);
	assert_int_equal(build_verify(data, len, &s, &e), 0);
	free(data);
	/* A rank above npeers (the peers are a remote group); empty ranges, far out and
	 * touching; a dependency named twice. */
	b->hdr = (struct goal_sched_hdr){ .rank = 7, .npeers = 2, .nbufs = 1, .ntags = 1 };
	build_copy(b, 0, 100, 0, 100, 0);
	build_copy(b, GOAL_BUF_SCRATCH, 64, 0, GOAL_MAX_BYTES, 0);
	build_copy(b, 0, 8, 0, 0, 8);
	build_edge(b, 0, 2, false);
	build_edge(b, 0, 2, false);
	build_edge(b, 0, 2, true);
	data = build_bytes(b, &len);
	assert_int_equal(build_verify(data, len, &s, &e), 0);
	assert_int_equal(s.need[0], 16);
	assert_int_equal(s.deps[2], 3);
	assert_int_equal(s.host_only, 0);
	free(data);
	free(b);
}

static struct world world;

/* Whatever passes the gate runs to its end, in the memory that it says it needs. */
static void verify__lets_only_pass_what_runs(void **state)
{
	u32 accepted = 0, refusals = 0, seed, tries;

	(void)state;
	for (seed = 0; seed < 100; seed++) {
		struct random r = { seed };

		world_create(&world, seed, 1 + seed % 12);
		for (tries = 0; tries < 150; tries++) {
			u32 rank = random_below(&r, world.nranks), flips;
			size_t len = world.len[rank];
			u8 *data = malloc(len);

			memcpy(data, world.data[rank], len);
			for (flips = 1 + random_below(&r, 2); flips; flips--)
				data[random_below(&r, (u32)len)] ^= 1 << random_below(&r, 8);
			if (sink_schedule(data, len, &r))
				accepted++;
			else
				refusals++;
			free(data);
		}
		world_free(&world);
	}
	/* Neither side of the gate stays untested. */
	assert_true(accepted > 500);
	assert_true(refusals > 500);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(verify__accepts_the_sample),
		cmocka_unit_test(verify__checks_the_header),
		cmocka_unit_test(verify__checks_the_header_again),
		cmocka_unit_test(verify__checks_the_padding),
		cmocka_unit_test(verify__checks_alignment),
		cmocka_unit_test(verify__checks_messages),
		cmocka_unit_test(verify__checks_ranges),
		cmocka_unit_test(verify__checks_overlap),
		cmocka_unit_test(verify__checks_reductions),
		cmocka_unit_test(verify__checks_where_lengths_come_from),
		cmocka_unit_test(verify__checks_successors),
		cmocka_unit_test(verify__checks_unused_fields),
		cmocka_unit_test(verify__has_a_test_and_a_text_for_every_rule),
		cmocka_unit_test(verify__accepts_what_is_odd_but_harmless),
		cmocka_unit_test(verify__lets_only_pass_what_runs),
	};

	return cmocka_run_group_tests_name("core_verify", tests, NULL, NULL);
}
