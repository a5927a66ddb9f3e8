// SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause
/*
 * The gate: a byte string is a schedule, or it is refused with the rule it breaks and the place.
 * Called by every engine for every schedule it loads, whoever made it. The bytes are hostile: no
 * field is used before it has been checked, sums cannot overflow (each operand is bounded first),
 * and the work is linear in the number of bytes. doc/schedule.md has the rules in prose.
 */
#include "core.h"

static const char *const rule_text[CORE_RULES] = {
	[CORE_RULE_OK] = "the schedule is valid",
	[CORE_RULE_SIZE] = "a schedule has at least the 64 bytes of its header",
	[CORE_RULE_ALIGN] = "a schedule in memory is aligned to 8 bytes",
	[CORE_RULE_MAGIC] = "a schedule begins with the bytes GOAL in the machine's byte order",
	[CORE_RULE_VERSION] = "the format version must be 1",
	[CORE_RULE_RESERVED] = "flags and reserved fields must be 0",
	[CORE_RULE_LIMIT] = "a count in the header is above its limit",
	[CORE_RULE_TOTAL] = "the total must be the sum of the parts and the number of bytes given",
	[CORE_RULE_PADDING] = "the padding at the end must be zero",
	[CORE_RULE_RANK] = "there must be at least one peer",
	[CORE_RULE_INDEP] = "the operations without dependencies, and no others, come first",
	[CORE_RULE_CODE] = "the operation code is unknown",
	[CORE_RULE_PEER] = "a peer must be below the number of peers",
	[CORE_RULE_TAG] = "a tag must be below the number of tags",
	[CORE_RULE_INSTANCE] = "receives of one peer and tag must be numbered 0, 1, 2, ...",
	[CORE_RULE_BUFFER] = "a buffer must be below the number of buffers, or the scratch",
	[CORE_RULE_SCRATCH] = "a range of the scratch must end within it",
	[CORE_RULE_EXTENT] = "a range must end within 2^56 bytes of its buffer's start",
	[CORE_RULE_DTYPE] = "a reduction needs a known element type",
	[CORE_RULE_ROP] = "the reduction is not defined for this element type",
	[CORE_RULE_LEN_FROM] = "a length may come only from a receive that is required directly",
	[CORE_RULE_UNUSED] = "fields that the operation does not use must be 0 (len_from: none)",
	[CORE_RULE_SUCC_RANGE] = "the successor lists must follow each other without gaps",
	[CORE_RULE_SUCC_ORDER] = "a successor must have a higher number and exist",
	[CORE_RULE_DEPS] = "the number of dependencies must be that of the successor entries",
	[CORE_RULE_MATCH] = "match must list every receive once, ascending by its name",
	[CORE_RULE_OVERLAP] = "source and destination must not overlap",
	[CORE_RULE_USER] = "user elements need a size",
};

const char *core_rule_text(u32 rule)
{
	return rule < CORE_RULES ? rule_text[rule] : "unknown rule";
}

/* The in-degree of an operation stays below this bit of its tmp word: GOAL_MAX_SUCC does. */
#define LEN_FROM_SEEN 0x80000000u

static int refuse(struct core_error *e, s32 code, u32 rule, u64 where)
{
	e->code = code;
	e->rule = rule;
	e->where = where;
	return code;
}

#define HDR(field) __builtin_offsetof(struct goal_sched_hdr, field)

/* Everything that can be said of the header alone; the parts it announces are all there then. */
static int check_header(const void *data, u64 len, struct core_error *e)
{
	const struct goal_sched_hdr *h = data;
	u64 sum;

	if (len < sizeof(*h))
		return refuse(e, -EINVAL, CORE_RULE_SIZE, len);
	if ((size_t)data % 8)
		return refuse(e, -EINVAL, CORE_RULE_ALIGN, 0);
	if (h->magic != GOAL_SCHED_MAGIC)
		return refuse(e, -EINVAL, CORE_RULE_MAGIC, HDR(magic));
	if (h->version != GOAL_SCHED_VERSION)
		return refuse(e, -EINVAL, CORE_RULE_VERSION, HDR(version));
	if (h->flags)
		return refuse(e, -EINVAL, CORE_RULE_RESERVED, HDR(flags));
	if (h->reserved)
		return refuse(e, -EINVAL, CORE_RULE_RESERVED, HDR(reserved));
	if (h->nops > GOAL_MAX_OPS)
		return refuse(e, -E2BIG, CORE_RULE_LIMIT, HDR(nops));
	if (h->nsucc > GOAL_MAX_SUCC)
		return refuse(e, -E2BIG, CORE_RULE_LIMIT, HDR(nsucc));
	if (h->nbufs > GOAL_MAX_BUFS)
		return refuse(e, -E2BIG, CORE_RULE_LIMIT, HDR(nbufs));
	if (h->ntags > GOAL_MAX_TAGS)
		return refuse(e, -E2BIG, CORE_RULE_LIMIT, HDR(ntags));
	if (h->scratch > GOAL_MAX_BYTES)
		return refuse(e, -E2BIG, CORE_RULE_LIMIT, HDR(scratch));
	if (h->npeers == 0)
		return refuse(e, -EINVAL, CORE_RULE_RANK, HDR(npeers));
	if (h->nindep > h->nops)
		return refuse(e, -EINVAL, CORE_RULE_LIMIT, HDR(nindep));
	if (h->nrecv > h->nops)
		return refuse(e, -EINVAL, CORE_RULE_LIMIT, HDR(nrecv));

	sum = sizeof(*h) + (u64)h->nops * (sizeof(struct goal_op) + sizeof(u32)) +
	      ((u64)h->nsucc + h->nrecv) * sizeof(u32);
	sum = (sum + 7) & ~(u64)7;
	if (h->total != sum || len != sum)
		return refuse(e, -EINVAL, CORE_RULE_TOTAL, HDR(total));
	return 0;
}

s64 core_verify_tmp(const void *data, u64 len, struct core_error *e)
{
	int rc = check_header(data, len, e);

	if (rc)
		return rc;
	return (s64)((const struct goal_sched_hdr *)data)->nops * (s64)sizeof(u32);
}

/* @bytes at @off of buffer @buf, named by operation @i. Empty ranges may lie anywhere. */
static int check_range(struct core_sched *s, u32 i, u32 buf, u64 off, u64 bytes,
		       struct core_error *e)
{
	if (buf != GOAL_BUF_SCRATCH && buf >= s->hdr->nbufs)
		return refuse(e, -EINVAL, CORE_RULE_BUFFER, i);
	if (off > GOAL_MAX_BYTES || bytes > GOAL_MAX_BYTES - off)
		return refuse(e, -E2BIG, CORE_RULE_EXTENT, i);
	if (bytes == 0)
		return 0;
	if (buf == GOAL_BUF_SCRATCH) {
		if (off + bytes > s->hdr->scratch)
			return refuse(e, -EINVAL, CORE_RULE_SCRATCH, i);
		return 0;
	}
	if (s->need[buf] < off + bytes)
		s->need[buf] = off + bytes;
	return 0;
}

/* Source and destination of a copy or reduction. */
static int check_two_ranges(struct core_sched *s, u32 i, u64 bytes, struct core_error *e)
{
	const struct goal_op *op = &s->op[i];
	int rc;

	rc = check_range(s, i, op->src_buf, op->src_off, bytes, e);
	if (rc)
		return rc;
	rc = check_range(s, i, op->dst_buf, op->dst_off, bytes, e);
	if (rc)
		return rc;
	if (bytes && op->src_buf == op->dst_buf && op->src_off < op->dst_off + bytes &&
	    op->dst_off < op->src_off + bytes)
		return refuse(e, -EINVAL, CORE_RULE_OVERLAP, i);
	return 0;
}

static int check_reduce(struct core_sched *s, u32 i, struct core_error *e)
{
	const struct goal_op *op = &s->op[i];
	u32 size;

	if (op->dtype == GOAL_TYPE_NONE || op->dtype >= GOAL_TYPES)
		return refuse(e, -EINVAL, CORE_RULE_DTYPE, i);
	if (!core_reduce_valid(op->dtype, op->rop))
		return refuse(e, -EINVAL, CORE_RULE_ROP, i);
	size = op->dtype == GOAL_TYPE_USER ? s->hdr->user_size : core_type_size(op->dtype);
	if (size == 0)
		return refuse(e, -EINVAL, CORE_RULE_USER, i);
	/* The product fits into 64 bits only when both factors are bounded: 2^56 by 2^32 do not. */
	if (op->len > GOAL_MAX_BYTES || (op->len >> 24) * size > (GOAL_MAX_BYTES >> 24))
		return refuse(e, -E2BIG, CORE_RULE_EXTENT, i);
	if (core_type_host_only(op->dtype))
		s->host_only = 1;
	return check_two_ranges(s, i, op->len * size, e);
}

/* Peer, tag and, as far as one operation shows it, instance. */
static int check_message(const struct core_sched *s, u32 i, struct core_error *e)
{
	const struct goal_op *op = &s->op[i];

	if (op->peer >= s->hdr->npeers)
		return refuse(e, -EINVAL, CORE_RULE_PEER, i);
	if (op->tag >= s->hdr->ntags)
		return refuse(e, -EINVAL, CORE_RULE_TAG, i);
	if (op->instance >= s->hdr->nops)
		return refuse(e, -EINVAL, CORE_RULE_INSTANCE, i);
	return 0;
}

/* The fields that only some operations use. */
enum {
	USES_REDUCTION = 1 << 0, /* dtype, rop */
	USES_MESSAGE = 1 << 1,   /* peer, tag, instance */
	USES_SRC = 1 << 2,       /* src_buf, src_off */
	USES_DST = 1 << 3,       /* dst_buf, dst_off */
	USES_SLOT = 1 << 4,
	USES_LEN = 1 << 5,
	USES_LEN_FROM = 1 << 6,
};

static const u8 uses[GOAL_OP_CODES] = {
	[GOAL_OP_NOP] = 0,
	[GOAL_OP_SEND] = USES_MESSAGE | USES_SRC | USES_LEN | USES_LEN_FROM,
	[GOAL_OP_RECV] = USES_MESSAGE | USES_DST | USES_LEN | USES_SLOT,
	[GOAL_OP_COPY] = USES_SRC | USES_DST | USES_LEN | USES_LEN_FROM,
	[GOAL_OP_REDUCE] = USES_REDUCTION | USES_SRC | USES_DST | USES_LEN,
};

static bool unused_set(const struct goal_op *op, u32 used)
{
	return (!(used & USES_REDUCTION) && (op->dtype || op->rop)) ||
	       (!(used & USES_MESSAGE) && (op->peer || op->tag || op->instance)) ||
	       (!(used & USES_SRC) && (op->src_buf || op->src_off)) ||
	       (!(used & USES_DST) && (op->dst_buf || op->dst_off)) ||
	       (!(used & USES_SLOT) && op->slot) || (!(used & USES_LEN) && op->len) ||
	       (!(used & USES_LEN_FROM) && op->len_from != GOAL_OP_NONE);
}

static int check_op(struct core_sched *s, u32 i, struct core_error *e)
{
	const struct goal_op *op = &s->op[i];
	int rc;

	if (op->code >= GOAL_OP_CODES)
		return refuse(e, -EINVAL, CORE_RULE_CODE, i);
	if (op->flags || unused_set(op, uses[op->code]))
		return refuse(e, -EINVAL, CORE_RULE_UNUSED, i);

	switch (op->code) {
	case GOAL_OP_SEND:
		rc = check_message(s, i, e);
		return rc ? rc : check_range(s, i, op->src_buf, op->src_off, op->len, e);
	case GOAL_OP_RECV:
		rc = check_message(s, i, e);
		return rc ? rc : check_range(s, i, op->dst_buf, op->dst_off, op->len, e);
	case GOAL_OP_COPY:
		return check_two_ranges(s, i, op->len, e);
	case GOAL_OP_REDUCE:
		return check_reduce(s, i, e);
	default:
		return 0;
	}
}

/*
 * The successor list of operation @i, which must start at @row. Counts dependencies in @tmp, and
 * marks there who takes its length from @i and requires it.
 */
static int check_successors(const struct core_sched *s, u32 i, u64 row, u32 *tmp,
			    struct core_error *e)
{
	const struct goal_op *op = &s->op[i];
	u64 n = (u64)op->nsucc + op->nisucc, k;

	/* Rows of their own, so that nobody gets quadratic work out of us (or of a run). */
	if (op->succ != row || n > s->hdr->nsucc - row)
		return refuse(e, -EINVAL, CORE_RULE_SUCC_RANGE, i);
	for (k = 0; k < n; k++) {
		u32 t = s->succ[row + k];

		if (t <= i || t >= s->hdr->nops)
			return refuse(e, -EINVAL, CORE_RULE_SUCC_ORDER, i);
		tmp[t]++;
		if (op->code == GOAL_OP_RECV && k < op->nsucc && s->op[t].len_from == i)
			tmp[t] |= LEN_FROM_SEEN;
	}
	return 0;
}

static int check_dependencies(const struct core_sched *s, u32 i, u32 tmp, struct core_error *e)
{
	u32 deps = tmp & ~LEN_FROM_SEEN;

	if (s->deps[i] != deps)
		return refuse(e, -EINVAL, CORE_RULE_DEPS, i);
	if ((deps == 0) != (i < s->hdr->nindep))
		return refuse(e, -EINVAL, CORE_RULE_INDEP, i);
	if (s->op[i].len_from != GOAL_OP_NONE && !(tmp & LEN_FROM_SEEN))
		return refuse(e, -EINVAL, CORE_RULE_LEN_FROM, i);
	return 0;
}

/*
 * match[]: since slot k is that of match[k], no receive is listed twice, and since there are as
 * many entries as receives, none is missing.
 */
static int check_match(const struct core_sched *s, struct core_error *e)
{
	const struct goal_op *before = NULL;
	u32 k;

	for (k = 0; k < s->hdr->nrecv; k++) {
		u32 i = s->match[k];
		const struct goal_op *op;

		if (i >= s->hdr->nops)
			return refuse(e, -EINVAL, CORE_RULE_MATCH, k);
		op = &s->op[i];
		if (op->code != GOAL_OP_RECV || op->slot != k)
			return refuse(e, -EINVAL, CORE_RULE_MATCH, k);
		if (before && before->peer == op->peer && before->tag == op->tag) {
			if (op->instance != before->instance + 1)
				return refuse(e, -EINVAL, CORE_RULE_INSTANCE, i);
		} else {
			if (before && (before->peer > op->peer ||
				       (before->peer == op->peer && before->tag > op->tag)))
				return refuse(e, -EINVAL, CORE_RULE_MATCH, k);
			if (op->instance != 0)
				return refuse(e, -EINVAL, CORE_RULE_INSTANCE, i);
		}
		before = op;
	}
	return 0;
}

static int check_padding(const void *data, const void *end, const struct core_sched *s,
			 struct core_error *e)
{
	const u8 *pad = (const u8 *)(s->match + s->hdr->nrecv);

	for (; pad < (const u8 *)end; pad++)
		if (*pad)
			return refuse(e, -EINVAL, CORE_RULE_PADDING, (u64)(pad - (const u8 *)data));
	return 0;
}

int core_verify(const void *data, u64 len, u32 *tmp, struct core_sched *out, struct core_error *e)
{
	struct core_sched s;
	u32 nops, nrecv = 0, i;
	u64 row = 0;
	int rc;

	rc = check_header(data, len, e);
	if (rc)
		return rc;

	memset(&s, 0, sizeof(s));
	s.hdr = data;
	nops = s.hdr->nops;
	s.op = (const struct goal_op *)(s.hdr + 1);
	s.deps = (const u32 *)(s.op + nops);
	s.succ = s.deps + nops;
	s.match = s.succ + s.hdr->nsucc;

	rc = check_padding(data, (const char *)data + len, &s, e);
	if (rc)
		return rc;

	for (i = 0; i < nops; i++)
		tmp[i] = 0;
	for (i = 0; i < nops; i++) {
		rc = check_op(&s, i, e);
		if (rc)
			return rc;
		rc = check_successors(&s, i, row, tmp, e);
		if (rc)
			return rc;
		row += (u64)s.op[i].nsucc + s.op[i].nisucc;
		nrecv += s.op[i].code == GOAL_OP_RECV;
		/* All that point here come before it: its count is complete. */
		rc = check_dependencies(&s, i, tmp[i], e);
		if (rc)
			return rc;
	}
	if (row != s.hdr->nsucc)
		return refuse(e, -EINVAL, CORE_RULE_SUCC_RANGE, nops);
	if (nrecv != s.hdr->nrecv)
		return refuse(e, -EINVAL, CORE_RULE_MATCH, nrecv);
	rc = check_match(&s, e);
	if (rc)
		return rc;

	*out = s;
	return 0;
}
