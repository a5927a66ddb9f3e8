// SPDX-License-Identifier: BSD-3-Clause
/*
 * Requests by the book: what an argument may say, who may be in a rank table, what a schedule may
 * need, and what segments hold. Byte by byte, everybody with everybody.
 */
#include "esp_int.h"
#include "ioctl_naive.h"
#include "ioctl_user.h"

struct field {
	size_t at, bytes;
};

#define FIELD(type, field)                                                      \
	{                                                                       \
		offsetof(struct type, field), sizeof(((struct type *)0)->field) \
	}
#define ALL(type)                      \
	{                              \
		0, sizeof(struct type) \
	}
#define FIELDS 10

/* Each request: what of its argument is input, the rest has to be 0; and the errors it may meet. */
struct request_of {
	u32 cmd;
	u32 errors;
	struct field in[FIELDS];
};

#define ANY (SAYS_FAULT | SAYS_INVAL)
#define ID                            \
	{                             \
		FIELD(espgoal_id, id) \
	}

static const struct request_of requests[] = {
	{ ESPGOAL_INFO, ANY, { ALL(espgoal_info) } },
	{ ESPGOAL_OPEN, ANY | SAYS_2BIG, { FIELD(espgoal_open, runs), FIELD(espgoal_open, area) } },
	{ ESPGOAL_GROUP,
	  ANY | SAYS_2BIG | SAYS_UNREACH,
	  { FIELD(espgoal_group, nonce), FIELD(espgoal_group, nranks), FIELD(espgoal_group, npeers),
	    FIELD(espgoal_group, rank), FIELD(espgoal_group, ranks),
	    FIELD(espgoal_group, peers) } },
	{ ESPGOAL_LOAD,
	  ANY | SAYS_2BIG | SAYS_NOTSUPP,
	  { FIELD(espgoal_load, data), FIELD(espgoal_load, bytes), FIELD(espgoal_load, buf) } },
	{ ESPGOAL_RUN, ANY, { FIELD(espgoal_run, sched) } },
	{ ESPGOAL_START, ANY | SAYS_2BIG, { ALL(espgoal_start) } },
	{ ESPGOAL_WAIT,
	  ANY,
	  { FIELD(espgoal_wait, run), FIELD(espgoal_wait, seen), FIELD(espgoal_wait, timeout),
	    FIELD(espgoal_wait, flags) } },
	{ ESPGOAL_CANCEL, ANY, ID },
	{ ESPGOAL_RUN_FREE, ANY, ID },
	{ ESPGOAL_UNLOAD, ANY, ID },
	{ ESPGOAL_GROUP_FREE, ANY, ID },
	{ ESPGOAL_FAIL,
	  ANY,
	  { FIELD(espgoal_fail, group), FIELD(espgoal_fail, status), FIELD(espgoal_fail, rank) } },
	{ ESPGOAL_CLOSE, ANY, { { 0, 0 } } },
	{ ESPGOAL_COUNT,
	  ANY,
	  { FIELD(espgoal_counters, set), FIELD(espgoal_counters, n),
	    FIELD(espgoal_counters, value), FIELD(espgoal_counters, flow) } },
	{ ESPGOAL_COUNTER_NAME,
	  ANY | SAYS_RANGE,
	  { FIELD(espgoal_counter_name, set), FIELD(espgoal_counter_name, index) } },
	{ ESPGOAL_RAIL, ANY | SAYS_RANGE, { ALL(espgoal_rail) } },
	/* All that was answered may come back. */
	{ ESPGOAL_FLOW,
	  ANY | SAYS_RANGE,
	  { FIELD(espgoal_flow, cursor), FIELD(espgoal_flow, id), FIELD(espgoal_flow, node),
	    FIELD(espgoal_flow, state), FIELD(espgoal_flow, messages),
	    FIELD(espgoal_flow, refusals), FIELD(espgoal_flow, idle_us),
	    FIELD(espgoal_flow, path) } },
};

#define REQUESTS (sizeof(requests) / sizeof(requests[0]))

static const struct request_of *find(u32 cmd)
{
	u32 i;

	for (i = 0; i < REQUESTS; i++)
		if (requests[i].cmd == cmd)
			return &requests[i];
	return NULL;
}

bool naive_says(u32 set, s64 rc)
{
	switch (rc) {
	case 0:
		return !set || set & SAYS_GOOD;
	case -EFAULT:
		return set & SAYS_FAULT;
	case -EINVAL:
		return set & SAYS_INVAL;
	case -E2BIG:
		return set & SAYS_2BIG;
	case -ERANGE:
		return set & SAYS_RANGE;
	case -EHOSTUNREACH:
		return set & SAYS_UNREACH;
	case -EOPNOTSUPP:
		return set & SAYS_NOTSUPP;
	case -ENOTTY:
		return set & SAYS_NOTTY;
	default:
		return false;
	}
}

u32 naive_documented(u32 cmd)
{
	const struct request_of *r = find(cmd);

	return r ? r->errors : SAYS_NOTTY;
}

bool naive_known(u32 cmd)
{
	return find(cmd) != NULL;
}

void naive_blank(u32 cmd, void *arg)
{
	const struct request_of *r = find(cmd);
	size_t bytes = _IOC_SIZE(cmd), i;
	u8 was[sizeof(union request)];
	u32 k;

	if (!r)
		return;
	demand(bytes <= sizeof(was), "request %u has no room in the union", _IOC_NR(cmd));
	memcpy(was, arg, bytes);
	memset(arg, 0, bytes);
	for (k = 0; k < FIELDS; k++)
		for (i = r->in[k].at; i < r->in[k].at + r->in[k].bytes; i++)
			((u8 *)arg)[i] = was[i];
	if (cmd == ESPGOAL_FLOW)
		for (k = 0; k < ESPGOAL_RAILS; k++)
			((struct espgoal_flow *)arg)->path[k].reserved = 0;
}

static bool has_more(u32 cmd, const void *arg)
{
	u8 copy[sizeof(union request)];

	memcpy(copy, arg, _IOC_SIZE(cmd));
	naive_blank(cmd, copy);
	return memcmp(copy, arg, _IOC_SIZE(cmd)) != 0;
}

/* Counters in each set. */
static u32 counters(u32 set, const struct request_limits *l)
{
	return set == 0   ? l->node_counters
	       : set == 1 ? l->ep_counters
	       : set == 2 ? l->flow_counters
			  : 0;
}

static u32 check_start(const struct espgoal_start *a)
{
	u32 says = 0, i;

	if (a->flags != 0 && a->flags != ESPGOAL_START_WAIT && a->flags != ESPGOAL_START_FAILED &&
	    a->flags != (ESPGOAL_START_WAIT | ESPGOAL_START_FAILED))
		says |= SAYS_INVAL;
	if (a->timeout != 0 && a->flags != ESPGOAL_START_WAIT &&
	    a->flags != (ESPGOAL_START_WAIT | ESPGOAL_START_FAILED))
		says |= SAYS_INVAL;
	if (a->nsegs > 1024)
		says |= SAYS_2BIG;
	if (a->nsegs != 0 && (a->flags / 2) % 2 == 1)
		says |= SAYS_INVAL;
	if (a->nsegs < 3 && a->segs != 0)
		says |= SAYS_INVAL;
	for (i = 0; i < 2; i++)
		if ((a->nsegs > 2 || i >= a->nsegs) && (a->seg[i].addr != 0 || a->seg[i].len != 0))
			says |= SAYS_INVAL;
	return says;
}

u32 naive_check(u32 cmd, const void *arg, const struct request_limits *l)
{
	const union request *a = arg;
	u32 says = 0, n;

	if (!find(cmd))
		return SAYS_NOTTY;
	if (has_more(cmd, arg))
		says |= SAYS_INVAL;
	switch (cmd) {
	case ESPGOAL_OPEN:
		if ((a->open.runs == 0 && l->runs_max < 256) || a->open.runs > l->runs_max ||
		    (a->open.area == 0 && l->area_max < 262144) || a->open.area > l->area_max)
			says |= SAYS_2BIG;
		break;
	case ESPGOAL_GROUP:
		if (a->group.nonce == 0 || a->group.nranks == 0 || a->group.npeers == 0 ||
		    a->group.rank >= a->group.nranks || a->group.npeers > a->group.nranks)
			says |= SAYS_INVAL;
		if (a->group.nranks > l->ranks_max)
			says |= SAYS_2BIG;
		break;
	case ESPGOAL_LOAD:
		if (a->load.bytes == 0)
			says |= SAYS_INVAL;
		if (a->load.bytes > l->sched_max)
			says |= SAYS_2BIG;
		break;
	case ESPGOAL_START:
		return check_start(arg);
	case ESPGOAL_WAIT:
		if (a->wait.flags > 1)
			says |= SAYS_INVAL;
		break;
	case ESPGOAL_FAIL:
		if (a->fail.status != -104 && a->fail.status != -103 && a->fail.status != -113 &&
		    a->fail.status != -125)
			says |= SAYS_INVAL;
		break;
	case ESPGOAL_COUNT:
		if (counters(a->counters.set, l) == 0)
			says |= SAYS_INVAL;
		if (a->counters.flow != 0 && a->counters.set != 2)
			says |= SAYS_INVAL;
		break;
	case ESPGOAL_COUNTER_NAME:
		n = counters(a->name.set, l);
		if (n == 0)
			says |= SAYS_INVAL;
		else if (a->name.index > n - 1)
			says |= SAYS_RANGE;
		break;
	case ESPGOAL_RAIL:
		if (a->rail.path > 3)
			says |= SAYS_RANGE;
		break;
	default:
		break;
	}
	return says;
}

/* A thing of @bytes in the memory of the process, which can be read. */
static void look(u64 at, void *to, size_t bytes)
{
	size_t i;

	for (i = 0; i < bytes; i++)
		((u8 *)to)[i] = *user_at(at + i);
}

static struct espgoal_rank rank_of(const struct espgoal_group *g, u32 i)
{
	struct espgoal_rank r;

	look(g->ranks + i * sizeof(r), &r, sizeof(r));
	return r;
}

static struct espgoal_peer peer_of(const struct espgoal_group *g, u32 i)
{
	struct espgoal_peer p;

	look(g->peers + i * sizeof(p), &p, sizeof(p));
	return p;
}

/* All zero; or 1 and 3 zeros, a station's address, 10 zeros. */
static bool link_good(const struct espgoal_link *link)
{
	u32 sum = 0, station = 0, i;

	for (i = 0; i < 20; i++) {
		sum += link->bytes[i];
		if (i >= 4 && i < 10)
			station += link->bytes[i];
	}
	return !sum ||
	       (link->bytes[0] == 1 && sum == 1 + station && station && link->bytes[4] % 2 == 0);
}

static bool ours(const struct espgoal_peer *p, const struct request_self *self)
{
	return !memcmp(p->node, self->node, 16);
}

u32 naive_table(const struct espgoal_group *g, const struct request_self *self)
{
	struct espgoal_rank r, other;
	struct espgoal_peer p, peer;
	u32 says = 0, i, k;

	if (!user_has(g->ranks, g->nranks * sizeof(r)) ||
	    !user_has(g->peers, g->npeers * sizeof(p)))
		return SAYS_FAULT;
	for (i = 0; i < g->npeers; i++) {
		p = peer_of(g, i);
		for (k = 0; k < ESPGOAL_RAILS; k++)
			if (!link_good(&p.link[k]))
				says |= SAYS_INVAL;
		if (!ours(&p, self) && !self->rails)
			says |= SAYS_UNREACH;
		for (k = 0; k < i; k++) {
			peer = peer_of(g, k);
			if (!memcmp(p.node, peer.node, 16))
				says |= SAYS_INVAL;
		}
	}
	for (i = 0; i < g->nranks; i++) {
		r = rank_of(g, i);
		if (r.cookie == 0 || r.peer >= g->npeers || r.reserved != 0)
			says |= SAYS_INVAL;
		for (k = 0; k < i; k++) {
			other = rank_of(g, k);
			if (r.cookie == other.cookie)
				says |= SAYS_INVAL;
		}
		if (i != g->rank)
			continue;
		if (r.cookie != self->cookie)
			says |= SAYS_INVAL;
		if (r.peer < g->npeers) {
			p = peer_of(g, r.peer);
			if (!ours(&p, self))
				says |= SAYS_INVAL;
		}
	}
	return says;
}

void naive_same_table(const struct espgoal_group *g, const struct request_self *self,
		      const struct esp_table *t, const struct request_here *here)
{
	u32 i, k, n = 0;

	demand(t->nranks == g->nranks && t->npeers == g->npeers, "a table of another size");
	for (i = 0; i < g->npeers; i++) {
		struct espgoal_peer p = peer_of(g, i);
		u32 first = g->nranks;

		demand(!memcmp(&t->peer[i], &p, sizeof(p)), "peer %u is another", i);
		demand(ours(&p, self) == (i == here->local), "peer %u is ours, or not", i);
		for (k = g->nranks; k--;)
			if (rank_of(g, k).peer == i)
				first = k;
		demand(esp_table_find(t, p.node) == first, "peer %u is not found", i);
	}
	for (i = 0; i < g->nranks; i++) {
		struct espgoal_rank r = rank_of(g, i);

		demand(t->rank[i].cookie == r.cookie && t->rank[i].peer == r.peer,
		       "rank %u is another", i);
		demand(esp_table_rank(t, r.cookie) == i, "rank %u is not found", i);
		if (r.peer != here->local)
			continue;
		demand(n < here->nranks && here->rank[n] == i, "rank %u is here", i);
		n++;
	}
	demand(n == here->nranks, "ranks that are not here");
}

/* Bytes of the message that goes with operation @i; 0: none. */
static u64 message(const struct core_sched *s, u32 i, const struct request_limits *l)
{
	if (s->op[i].code != GOAL_OP_SEND)
		return 0;
	return l->msg_head + (s->op[i].len > l->eager_max ? l->eager_max : s->op[i].len);
}

/* What a run takes: that much, and less than *@padding in between. */
static unsigned __int128 run_bytes(const struct espgoal_load *a, const struct core_sched *s,
				   const struct request_limits *l, u64 *padding)
{
	unsigned __int128 all =
		(unsigned __int128)l->run_head + core_run_bytes(s) + s->hdr->scratch;
	u32 i;

	*padding = REQUEST_UNIT * (GOAL_MAX_BUFS + 4) + 8ull * s->hdr->nops;
	for (i = 0; i < s->hdr->nops; i++)
		all += message(s, i, l);
	for (i = 0; i < s->hdr->nbufs; i++)
		if (!(a->buf[i] & ESPGOAL_BUF_OUT))
			all += s->need[i];
	return all;
}

u32 naive_load(const struct espgoal_load *a, const struct core_sched *s,
	       const struct request_limits *l)
{
	unsigned __int128 data = s->hdr->scratch, all;
	u64 padding;
	u32 says = 0, i;

	for (i = 0; i < GOAL_MAX_BUFS; i++) {
		if (a->buf[i] > 3 || (a->buf[i] != 0 && i >= s->hdr->nbufs))
			says |= SAYS_INVAL;
		if (i < s->hdr->nbufs)
			data += s->need[i];
	}
	for (i = 0; i < s->hdr->nops; i++) {
		bool reduce = s->op[i].code == GOAL_OP_REDUCE;
		u32 size = reduce ? core_type_size(s->op[i].dtype) : 1;

		if ((unsigned __int128)s->op[i].len * size > ESPGOAL_SURE_RUN)
			says |= SAYS_2BIG;
		if (!reduce)
			continue;
		if (s->op[i].dtype >= GOAL_TYPE_LONG_DOUBLE)
			says |= SAYS_NOTSUPP;
		if (!l->fp &&
		    (s->op[i].dtype == GOAL_TYPE_FLOAT || s->op[i].dtype == GOAL_TYPE_DOUBLE))
			says |= SAYS_NOTSUPP;
	}
	all = run_bytes(a, s, l, &padding);
	if (data > l->run_max || all > REQUEST_RUN_MAX)
		says |= SAYS_2BIG;
	else if (all + padding > REQUEST_RUN_MAX)
		says |= says ? SAYS_2BIG : SAYS_2BIG | SAYS_GOOD;
	return says;
}

/* Parts of one block: each within it, and none in another. */
struct parts {
	u64 bytes;
	u32 n;
	struct {
		u64 from, to;
	} part[128];
};

static void part(struct parts *p, u64 from, u64 bytes, u32 align, const char *what)
{
	u32 i;

	demand(from % align == 0, "%s begins at %llu", what, (unsigned long long)from);
	demand(from <= p->bytes && bytes <= p->bytes - from, "%s is not inside", what);
	for (i = 0; i < p->n && bytes; i++)
		demand(from + bytes <= p->part[i].from || from >= p->part[i].to,
		       "%s is in another part", what);
	if (!bytes || p->n == 128)
		return;
	p->part[p->n].from = from;
	p->part[p->n++].to = from + bytes;
}

void naive_good_layout(const struct espgoal_load *a, const struct core_sched *s,
		       const struct request_limits *l, const struct request_layout *lay)
{
	struct parts run = { .bytes = lay->run_bytes }, area = { .bytes = lay->area_bytes };
	u64 in = 0, out = 0, seen = 0, padding;
	unsigned __int128 all = run_bytes(a, s, l, &padding);
	bool fp = false;
	u32 sends = 0, i;

	demand(lay->run_bytes <= REQUEST_RUN_MAX && lay->run_bytes <= all + padding,
	       "a run of %u bytes", lay->run_bytes);
	part(&run, 0, l->run_head, 1, "the head");
	part(&run, lay->arrays_at, core_run_bytes(s), 8, "the arrays");
	for (i = 0; i < s->hdr->nops; i++) {
		const struct goal_op *op = &s->op[i];

		fp |= op->code == GOAL_OP_REDUCE &&
		      (op->dtype == GOAL_TYPE_FLOAT || op->dtype == GOAL_TYPE_DOUBLE);
		if (op->code != GOAL_OP_SEND)
			continue;
		sends++;
		part(&run, (u64)lay->msgs_at + lay->msg_at[i], message(s, i, l), 8, "a message");
	}
	for (i = 0; i < GOAL_MAX_BUFS; i++) {
		u64 need = i < s->hdr->nbufs ? s->need[i] : 0;

		demand(lay->buf[i] == a->buf[i], "the flags of buffer %u", i);
		demand(a->need[i] == need, "buffer %u needs something else", i);
		seen += need;
		if (a->buf[i] & ESPGOAL_BUF_IN)
			in += need;
		if (a->buf[i] & ESPGOAL_BUF_OUT) {
			out += need + REQUEST_UNIT;
			part(&area, lay->buf_at[i], need, REQUEST_UNIT, "a buffer of the area");
		} else if (need) {
			part(&run, (u64)lay->mem_at + lay->buf_at[i], need, REQUEST_UNIT,
			     "a buffer");
		}
	}
	part(&run, (u64)lay->mem_at + lay->buf_at[GOAL_MAX_BUFS], s->hdr->scratch, REQUEST_UNIT,
	     "the scratch");
	demand(seen + s->hdr->scratch <= l->run_max, "more than a run may have");
	demand(in == lay->in_bytes && sends == lay->nsends && fp == lay->fp, "sums are wrong");
	demand(lay->area_bytes <= out, "more of the area than is needed");
}

u32 naive_segments(const struct espgoal_start *a, u64 bytes, u8 *to)
{
	unsigned __int128 sum = 0;
	struct espgoal_seg seg;
	u64 done = 0, k;
	u32 says = 0, i;

	if (a->nsegs > 2 && !user_has(a->segs, a->nsegs * sizeof(seg)))
		return SAYS_FAULT;
	for (i = 0; i < a->nsegs; i++) {
		if (a->nsegs > 2)
			look(a->segs + i * sizeof(seg), &seg, sizeof(seg));
		else
			seg = a->seg[i];
		sum += seg.len;
		for (k = 0; k < seg.len && done < bytes; k++, done++) {
			if (user_has(seg.addr + k, 1))
				to[done] = *user_at(seg.addr + k);
			else
				says = SAYS_FAULT;
		}
	}
	return sum == bytes ? says : SAYS_INVAL;
}
