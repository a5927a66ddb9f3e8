// SPDX-License-Identifier: BSD-3-Clause
/*
 * Bytes to requests, and what is put right in them: pointers, counts that depend on one another, a
 * schedule that the verifier takes.
 */
#include "ioctl_input.h"
#include "ioctl_naive.h"
#include "ioctl_user.h"
#include "request_start.h"

static const u32 commands[] = {
	ESPGOAL_INFO,       ESPGOAL_OPEN, ESPGOAL_GROUP,  ESPGOAL_LOAD,     ESPGOAL_RUN,
	ESPGOAL_START,      ESPGOAL_WAIT, ESPGOAL_CANCEL, ESPGOAL_RUN_FREE, ESPGOAL_UNLOAD,
	ESPGOAL_GROUP_FREE, ESPGOAL_FAIL, ESPGOAL_CLOSE,  ESPGOAL_COUNT,    ESPGOAL_COUNTER_NAME,
	ESPGOAL_RAIL,       ESPGOAL_FLOW,
};

#define COMMANDS (sizeof(commands) / sizeof(commands[0]))

/* Somewhere in the memory, at most just behind it. */
static void fix_pointer(__u64 *at)
{
	*at = USER_BASE + (*at - USER_BASE) % (user.bytes + 1);
}

static void fix_pointers(u32 cmd, union request *a)
{
	struct espgoal_start *s = (struct espgoal_start *)a;
	u32 i;

	switch (cmd) {
	case ESPGOAL_GROUP:
		fix_pointer(&a->group.ranks);
		fix_pointer(&a->group.peers);
		break;
	case ESPGOAL_LOAD:
		fix_pointer(&a->load.data);
		break;
	case ESPGOAL_START:
		if (s->nsegs > 2)
			fix_pointer(&s->segs);
		for (i = 0; i < 2 && i < s->nsegs && s->nsegs <= 2; i++)
			fix_pointer(&s->seg[i].addr);
		break;
	default:
		break;
	}
}

/* A small number stays, a large one becomes that of a node, or just none any more. */
static void fix_counts(struct espgoal_group *g)
{
	u32 i, peer;

	g->nonce += !g->nonce;
	g->nranks = g->nranks % 8 + 1;
	g->npeers = g->npeers % g->nranks + 1;
	g->rank %= g->nranks;
	for (i = 0; i < g->nranks; i++) {
		u64 at = g->ranks + i * sizeof(struct espgoal_rank) +
			 offsetof(struct espgoal_rank, peer);

		if (!user_has(at, sizeof(peer)))
			continue;
		memcpy(&peer, user_at(at), sizeof(peer));
		if (peer >= 16)
			peer %= g->npeers + 1;
		memcpy(user_at(at), &peer, sizeof(peer));
	}
}

static void fix_self(const struct espgoal_group *g, const struct request_self *self, u32 astray)
{
	u64 entry = g->ranks + g->rank * sizeof(struct espgoal_rank), peer;
	u32 number;

	if (!user_has(entry, sizeof(struct espgoal_rank)))
		return;
	memcpy(user_at(entry), &self->cookie, sizeof(self->cookie));
	memcpy(&number, user_at(entry + offsetof(struct espgoal_rank, peer)), sizeof(number));
	peer = g->peers +
	       (number + astray) % (g->npeers + !g->npeers) * sizeof(struct espgoal_peer);
	if (user_has(peer, sizeof(self->node)))
		memcpy(user_at(peer), self->node, sizeof(self->node));
}

/* Operations without dependencies; how many, in how many buffers, and how much scratch: a->bytes. */
static void fix_schedule(struct espgoal_load *a, const struct input_world *w)
{
	u64 data[INPUT_SCHEDULE / 8] = { 0 };
	struct goal_sched_hdr *h = (void *)data;
	struct goal_op *op = (struct goal_op *)(h + 1);
	struct input_op made;
	u32 *match, i;

	*h = (struct goal_sched_hdr){ .magic = GOAL_SCHED_MAGIC,
				      .version = GOAL_SCHED_VERSION,
				      .rank = w->rank,
				      .npeers = w->ranks,
				      .nops = (a->bytes & 0xff) % (INPUT_OPS + 1),
				      .nbufs = (a->bytes >> 8 & 0xff) % (GOAL_MAX_BUFS + 1),
				      .scratch = (a->bytes >> 16) % 1024,
				      .ntags = INPUT_OPS };
	h->nindep = h->nops;
	match = (u32 *)(op + h->nops) + h->nops;
	for (i = 0; i < h->nops; i++) {
		u64 at = a->data + i * sizeof(made);
		u16 buf = GOAL_BUF_SCRATCH, behind = GOAL_BUF_SCRATCH;

		memset(&made, 0, sizeof(made));
		if (user_has(at, sizeof(made)))
			memcpy(&made, user_at(at), sizeof(made));
		if (h->nbufs)
			buf = made.buf % h->nbufs;
		if (h->nbufs > 1)
			behind = (made.buf + 1) % h->nbufs;
		made.len = made.large & 1 ? made.len : made.len % 128;
		op[i] = (struct goal_op){ .code = made.code % GOAL_OP_CODES,
					  .len_from = GOAL_OP_NONE,
					  .len = made.len };
		switch (op[i].code) {
		case GOAL_OP_NOP:
			op[i].len = 0;
			break;
		case GOAL_OP_RECV:
			op[i].tag = i;
			op[i].dst_buf = buf;
			op[i].slot = h->nrecv;
			match[h->nrecv++] = i;
			break;
		case GOAL_OP_SEND:
			op[i].src_buf = buf;
			break;
		default:
			op[i].src_buf = buf;
			op[i].dst_buf = behind;
			break;
		}
		if (op[i].code == GOAL_OP_REDUCE) {
			op[i].dtype = made.dtype % GOAL_TYPES;
			op[i].rop = made.rop % GOAL_ROPS;
		}
	}
	h->total = sizeof(*h) + h->nops * (sizeof(*op) + 4) + h->nrecv * 4;
	h->total = (h->total + 7) / 8 * 8;
	for (i = h->nbufs; i < GOAL_MAX_BUFS; i++)
		a->buf[i] &= a->buf[i] & 0x80 ? ESPGOAL_BUF_KNOWN : 0;
	a->bytes = h->total;
	a->data = user_append(data, h->total);
}

/* Lengths that sum up to what the run needs, addresses where there is something. */
static void fix_segments(struct espgoal_start *a, u64 left)
{
	u32 i;

	if (!a->nsegs && left)
		a->nsegs = 1;
	for (i = 0; i < a->nsegs && a->nsegs <= REQUEST_SEGS_MAX; i++) {
		u64 at = a->segs + i * sizeof(struct espgoal_seg);
		struct espgoal_seg seg;

		if (a->nsegs > 2 && !user_has(at, sizeof(seg)))
			return;
		memcpy(&seg, a->nsegs > 2 ? (void *)user_at(at) : &a->seg[i], sizeof(seg));
		if (seg.len > left || i == a->nsegs - 1)
			seg.len = left;
		if (seg.len <= user.bytes)
			seg.addr = USER_BASE + (seg.addr - USER_BASE) % (user.bytes - seg.len + 1);
		left -= seg.len;
		memcpy(a->nsegs > 2 ? (void *)user_at(at) : &a->seg[i], &seg, sizeof(seg));
	}
	if (a->nsegs > 2)
		memset(a->seg, 0, sizeof(a->seg));
	else
		a->segs = 0;
	a->flags &= ~(u32)ESPGOAL_START_FAILED;
}

/* The limit, one less or one more. */
static u64 edge(u64 limit, u64 by)
{
	return limit + by % 3 - 1;
}

static void fix_edge(u32 cmd, union request *a, const struct request_limits *l)
{
	struct espgoal_start *s = (struct espgoal_start *)a;

	switch (cmd) {
	case ESPGOAL_OPEN:
		a->open.runs = (u32)edge(l->runs_max, a->open.runs);
		a->open.area = edge(l->area_max, a->open.area);
		break;
	case ESPGOAL_GROUP:
		a->group.nonce %= 3;
		a->group.nranks = (u32)edge(l->ranks_max, a->group.nranks);
		a->group.npeers = (u32)edge(a->group.nranks, a->group.npeers);
		a->group.rank = (u32)edge(a->group.nranks, a->group.rank);
		break;
	case ESPGOAL_LOAD:
		a->load.bytes = edge(l->sched_max, a->load.bytes);
		break;
	case ESPGOAL_START:
		s->nsegs = (u32)edge(REQUEST_SEGS_MAX, s->nsegs);
		break;
	case ESPGOAL_FAIL:
		a->fail.status = -96 - a->fail.status % 32;
		break;
	case ESPGOAL_RAIL:
		a->rail.path = (u32)edge(ESPGOAL_RAILS, a->rail.path);
		break;
	case ESPGOAL_COUNTER_NAME:
		a->name.index = (u32)edge(request_counters(a->name.set, l), a->name.index);
		break;
	default:
		break;
	}
}

void input_fix(struct input *in, const struct input_world *w)
{
	struct espgoal_group *g = &in->arg.group;

	if (in->how & FIX_EDGE)
		fix_edge(in->cmd, &in->arg, w->l);
	if (in->how & FIX_BLANK)
		naive_blank(in->cmd, &in->arg);
	if (in->how & FIX_POINTERS)
		fix_pointers(in->cmd, &in->arg);
	if (in->how & FIX_COUNTS && in->cmd == ESPGOAL_GROUP)
		fix_counts(g);
	if (in->how & FIX_SELF && in->cmd == ESPGOAL_GROUP)
		fix_self(g, &w->self, in->how & FIX_ASTRAY ? 1 : 0);
	if (in->how & FIX_SCHEDULE && in->cmd == ESPGOAL_LOAD)
		fix_schedule(&in->arg.load, w);
	if (in->how & FIX_SEGMENTS && in->cmd == ESPGOAL_START)
		fix_segments((struct espgoal_start *)&in->arg, w->in_bytes);
}

u8 input_code(u32 cmd)
{
	u8 i;

	for (i = 0; i < COMMANDS - 1 && commands[i] != cmd; i++)
		;
	return i;
}

/*
 * A byte that says which, INPUT_OTHER: with four more; a byte of FIX_*; its argument. What is not there
 * is 0.
 */
size_t input_request(const u8 *data, size_t size, struct input *in)
{
	size_t at = 2, bytes;

	memset(in, 0, sizeof(*in));
	in->cmd = commands[data[0] % COMMANDS];
	in->how = size > 1 ? data[1] : 0;
	if (data[0] == INPUT_OTHER && size >= at + sizeof(in->cmd)) {
		memcpy(&in->cmd, data + at, sizeof(in->cmd));
		at += sizeof(in->cmd);
	}
	if (size <= at)
		return size;
	bytes = naive_known(in->cmd) ? _IOC_SIZE(in->cmd) : 0;
	bytes = bytes > size - at ? size - at : bytes;
	memcpy(&in->arg, data + at, bytes);
	return at + bytes;
}
