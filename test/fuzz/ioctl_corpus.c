// SPDX-License-Identifier: BSD-3-Clause
/*
 * Writes the corpus of the fuzz target `ioctl' into the folder that it is given (make fuzz-corpus):
 * each request once as it should be, and what chance would not come across soon.
 */
#include "ioctl_input.h"
#include "ioctl_naive.h"
#include "ioctl_user.h"

/* Circumstances: which of the target's limits. */
enum {
	LARGE,
	SMALL,
	HUGE
};

static FILE *out;

static void begin(const char *folder, const char *name, u8 circumstances, u8 requests)
{
	char path[4096];

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	out = fopen(path, "wb");
	demand(out, "%s cannot be written", path);
	fputc(circumstances, out);
	fputc(requests, out);
}

static void ask_fixed(u32 cmd, const void *arg, u8 how)
{
	fputc(input_code(cmd), out);
	fputc(how, out);
	fwrite(arg, 1, _IOC_SIZE(cmd), out);
}

static void ask(u32 cmd, const void *arg)
{
	ask_fixed(cmd, arg, FIX_ALL);
}

/* What is in the memory, one thing behind the other. */
static void has(const void *what, size_t bytes)
{
	fwrite(what, 1, bytes, out);
}

static void simple(const char *folder)
{
	struct espgoal_open o = { .runs = 5, .area = 5000 };
	struct espgoal_run r = { .sched = 1 };
	struct espgoal_wait wait = {
		.run = 1, .seen = 2, .timeout = 3, .flags = ESPGOAL_WAIT_UNTIL
	};
	struct espgoal_id id = { .id = 1 };
	struct espgoal_fail f = { .group = 1, .status = -ECANCELED, .rank = ESPGOAL_NONE };
	struct espgoal_counters c = { .set = ESPGOAL_SET_FLOW, .n = 100, .flow = 7 };
	struct espgoal_counter_name name = { .set = ESPGOAL_SET_ENDPOINT, .index = 3 };
	struct espgoal_rail rail = { .path = 2 };
	struct espgoal_flow flow = { .cursor = 4 };

	begin(folder, "object", LARGE, 7);
	ask(ESPGOAL_OPEN, &o);
	ask(ESPGOAL_RUN, &r);
	ask(ESPGOAL_WAIT, &wait);
	ask(ESPGOAL_CANCEL, &id);
	ask(ESPGOAL_RUN_FREE, &id);
	ask(ESPGOAL_UNLOAD, &id);
	ask(ESPGOAL_GROUP_FREE, &id);
	fclose(out);
	begin(folder, "query", LARGE, 5);
	ask(ESPGOAL_FAIL, &f);
	ask(ESPGOAL_COUNT, &c);
	ask(ESPGOAL_COUNTER_NAME, &name);
	ask(ESPGOAL_RAIL, &rail);
	ask(ESPGOAL_FLOW, &flow);
	fclose(out);
}

/* Just below the limits, at them, above: @by is 0, 1 or 2 (FIX_EDGE). */
static void edges(const char *folder, const char *name, u32 by)
{
	struct espgoal_open o = { .runs = by, .area = by };
	struct espgoal_group g = { .nonce = by, .nranks = by, .npeers = 1, .rank = by };
	struct espgoal_load l = { .data = USER_BASE, .bytes = by };
	struct espgoal_start s = { .nsegs = by, .segs = USER_BASE };
	struct espgoal_counter_name counter = { .set = ESPGOAL_SET_FLOW, .index = by };
	struct espgoal_rail rail = { .path = by };

	begin(folder, name, SMALL, 6);
	ask_fixed(ESPGOAL_OPEN, &o, FIX_EDGE);
	ask_fixed(ESPGOAL_GROUP, &g, FIX_EDGE);
	ask_fixed(ESPGOAL_LOAD, &l, FIX_EDGE);
	ask_fixed(ESPGOAL_START, &s, FIX_EDGE);
	ask_fixed(ESPGOAL_COUNTER_NAME, &counter, FIX_EDGE);
	ask_fixed(ESPGOAL_RAIL, &rail, FIX_EDGE);
	fclose(out);
}

/* Each status that a group may fail with, and some that it may not. */
static void failures(const char *folder)
{
	static const s32 status[] = { -ECONNRESET, -ECONNABORTED, -EHOSTUNREACH, -ECANCELED,
				      0,           -EPERM,        ECONNRESET };
	struct espgoal_fail f = { .rank = 0 };
	u32 i;

	begin(folder, "fail", LARGE, sizeof(status) / sizeof(status[0]));
	for (i = 0; i < sizeof(status) / sizeof(status[0]); i++) {
		f.status = status[i];
		f.rank = i % 3 - 1;
		ask(ESPGOAL_FAIL, &f);
	}
	fclose(out);
}

/* Requests that there are, and those of the same number with another size or direction. */
static void unknown(const char *folder)
{
	static const u32 cmd[] = {
		ESPGOAL_INFO,
		ESPGOAL_INFO + (8 << _IOC_SIZESHIFT),
		ESPGOAL_CLOSE | _IOC_READ << _IOC_DIRSHIFT,
		ESPGOAL_START ^ _IOC_READ << _IOC_DIRSHIFT,
		_IOC(_IOC_NONE, ESPGOAL_IOC, 0, 0),
		_IOC(_IOC_NONE, ESPGOAL_IOC, 18, 0),
		_IOC(_IOC_NONE, ESPGOAL_IOC + 1, 13, 0),
		0,
	};
	u32 i;

	begin(folder, "unknown", LARGE, sizeof(cmd) / sizeof(cmd[0]));
	for (i = 0; i < sizeof(cmd) / sizeof(cmd[0]); i++) {
		static const u8 arg[sizeof(struct espgoal_info)];

		fputc(INPUT_OTHER, out);
		fputc(0, out);
		fwrite(&cmd[i], 1, sizeof(cmd[i]), out);
		fwrite(arg, 1, i ? 0 : sizeof(arg), out);
	}
	fclose(out);
}

/* What excludes each other in a start. */
static void exclusions(const char *folder)
{
	struct espgoal_start failed = { .flags = ESPGOAL_START_KNOWN, .nsegs = 1 };
	struct espgoal_start timeout = { .flags = ESPGOAL_START_FAILED, .timeout = 1 };
	struct espgoal_start near = { .nsegs = 2, .segs = 1 };
	struct espgoal_start far = { .nsegs = 3, .segs = USER_BASE, .seg = { { 1, 0 } } };
	struct espgoal_start flag = { .flags = 1u << 31 };

	begin(folder, "exclusions", LARGE, 5);
	ask_fixed(ESPGOAL_START, &failed, 0);
	ask_fixed(ESPGOAL_START, &timeout, 0);
	ask_fixed(ESPGOAL_START, &near, 0);
	ask_fixed(ESPGOAL_START, &far, 0);
	ask_fixed(ESPGOAL_START, &flag, 0);
	fclose(out);
}

struct table {
	struct espgoal_rank rank[4];
	struct espgoal_peer peer[3];
};

/* Four ranks of three nodes that have one link each. */
static struct table good_table(void)
{
	struct table t = { 0 };
	u32 i;

	for (i = 0; i < 4; i++)
		t.rank[i] = (struct espgoal_rank){ .cookie = 100 + i, .peer = i % 3 };
	for (i = 0; i < 3; i++) {
		memset(t.peer[i].node, 0x80 + (int)i, sizeof(t.peer[i].node));
		t.peer[i].link[i].bytes[0] = ESP_CARRIER_ETHER;
		t.peer[i].link[i].bytes[4] = (u8)(10 + 2 * i);
	}
	return t;
}

/* The group of the table at @at. */
static void ask_group(u32 rank, u64 at, u8 how)
{
	struct espgoal_group g = { .nonce = 1,
				   .nranks = 11, /* made to be 4 and 3 */
				   .npeers = 6,
				   .rank = rank,
				   .ranks = at + offsetof(struct table, rank),
				   .peers = at + offsetof(struct table, peer) };

	ask_fixed(ESPGOAL_GROUP, &g, how);
}

static void group(const char *folder, const char *name, u32 rank, const struct table *t, u8 how)
{
	begin(folder, name, LARGE | INPUT_RAILS, 1);
	ask_group(rank, USER_BASE, how);
	has(t, sizeof(*t));
	fclose(out);
}

/* As it should be, and with one thing wrong. */
static void groups(const char *folder)
{
	const struct table good = good_table();
	struct table t = good;

	group(folder, "group", 2, &t, FIX_ALL);
	group(folder, "group-first", 0, &t, FIX_ALL);
	group(folder, "group-astray", 2, &t, FIX_ALL | FIX_ASTRAY);
	t.rank[0].cookie = t.rank[1].cookie;
	group(folder, "group-cookies", 3, &t, FIX_ALL);
	t = good;
	memcpy(t.peer[0].node, t.peer[2].node, sizeof(t.peer[0].node));
	group(folder, "group-nodes", 1, &t, FIX_ALL);
	t = good;
	t.rank[3].peer = 3;
	group(folder, "group-nowhere", 2, &t, FIX_ALL);
	t = good;
	t.rank[3].cookie = 0;
	group(folder, "group-nobody", 2, &t, FIX_ALL);
	t = good;
	memset(t.peer[2].node, INPUT_NODE, sizeof(t.peer[2].node));
	group(folder, "group-stranger", 2, &t, FIX_ALL & ~FIX_SELF);
	t = good;
	t.peer[1].link[1].bytes[0] = ESP_CARRIER_UDP4;
	group(folder, "group-udp4", 2, &t, FIX_ALL);
	t.peer[1].link[1].bytes[0] = ESP_CARRIER_UDP6;
	group(folder, "group-udp6", 2, &t, FIX_ALL);
	begin(folder, "group-unreached", LARGE, 1);
	ask_group(2, USER_BASE, FIX_ALL);
	has(&good, sizeof(good));
	fclose(out);
}

static const struct input_op ops[4] = {
	{ .code = GOAL_OP_SEND, .buf = 0, .len = 40 },
	{ .code = GOAL_OP_COPY, .buf = 1, .len = 24 },
	{ .code = GOAL_OP_RECV, .buf = 2, .len = 16 },
	{ .code = GOAL_OP_REDUCE,
	  .dtype = GOAL_TYPE_INT32,
	  .rop = GOAL_ROP_SUM,
	  .buf = 3,
	  .len = 2 },
};

/* Of those, and three buffers: two are copied in, 64 bytes, and two lie in the area. */
static const struct espgoal_load loaded = {
	.data = USER_BASE,
	.bytes = 100 << 16 | 3 << 8 | 4,
	.buf = { ESPGOAL_BUF_IN, ESPGOAL_BUF_KNOWN, ESPGOAL_BUF_OUT },
};

/* A schedule for another rank, and for another number of ranks, than the group's. */
static void misfits(const char *folder)
{
	struct espgoal_load l = loaded;
	struct espgoal_start s = { .nsegs = 1 };
	struct table t = good_table();

	l.data += 2 * sizeof(t);
	begin(folder, "misfits", LARGE | INPUT_RAILS, 6);
	ask(ESPGOAL_LOAD, &l);
	ask_group(0, USER_BASE, FIX_ALL);
	ask(ESPGOAL_START, &s);
	ask(ESPGOAL_LOAD, &l);
	ask_group(3, USER_BASE + sizeof(t), FIX_ALL);
	ask(ESPGOAL_START, &s);
	has(&t, sizeof(t));
	has(&t, sizeof(t));
	has(ops, sizeof(ops));
	fclose(out);
}

/* Types that are not reduced where there is no floating point. */
static void types(const char *folder)
{
	struct input_op op = { .code = GOAL_OP_REDUCE, .rop = GOAL_ROP_SUM, .len = 2 };
	static const u8 dtype[] = { GOAL_TYPE_FLOAT, GOAL_TYPE_DOUBLE, GOAL_TYPE_LONG_DOUBLE };
	struct espgoal_load l = { .bytes = 3 << 8 | 1 };
	u32 i;

	begin(folder, "types", SMALL, 3);
	for (i = 0; i < 3; i++) {
		l.data = USER_BASE + i * sizeof(op);
		ask(ESPGOAL_LOAD, &l);
	}
	for (i = 0; i < 3; i++) {
		op.dtype = dtype[i];
		has(&op, sizeof(op));
	}
	fclose(out);
}

/* As many messages as a run has room for, where they are huge, and one more. */
static void messages(const char *folder)
{
	static const struct input_op sends[4] = { { .code = GOAL_OP_SEND },
						  { .code = GOAL_OP_SEND },
						  { .code = GOAL_OP_SEND },
						  { .code = GOAL_OP_SEND } };
	struct espgoal_load l = { .data = USER_BASE, .bytes = 1 << 8 | 3 };

	begin(folder, "messages", HUGE, 2);
	ask(ESPGOAL_LOAD, &l);
	l.bytes++;
	ask(ESPGOAL_LOAD, &l);
	has(sends, sizeof(sends));
	fclose(out);
}

/*
 * Starts from one, two and four segments, from such that are too short, too long or wrap around, and
 * of who cannot.
 */
static void starts(const char *folder, const char *name, u8 circumstances)
{
	struct espgoal_seg seg[4] = { { 0, 8 }, { 8, 0 }, { 1, 30 }, { 16, 100 } };
	struct espgoal_start one = { .nsegs = 1 }, two = one, four = one, none = one;
	struct espgoal_start shorter = one, longer = one, wrap;

	two.nsegs = 2;
	two.seg[0].len = 20;
	wrap = two;
	wrap.seg[0].len = -8ull;
	wrap.seg[1].len = 64 + 8;
	shorter.seg[0].len = 64 - 1;
	longer.seg[0].len = 64 + 1;
	two.flags = ESPGOAL_START_WAIT;
	two.timeout = 5;
	four.nsegs = 4;
	four.segs = USER_BASE + sizeof(ops);
	none.nsegs = 0;
	none.flags = ESPGOAL_START_FAILED;
	begin(folder, name, circumstances, 8);
	ask(ESPGOAL_LOAD, &loaded);
	ask(ESPGOAL_START, &one);
	ask(ESPGOAL_START, &two);
	ask(ESPGOAL_START, &four);
	ask_fixed(ESPGOAL_START, &wrap, FIX_POINTERS);
	ask_fixed(ESPGOAL_START, &shorter, FIX_POINTERS);
	ask_fixed(ESPGOAL_START, &longer, FIX_POINTERS);
	ask_fixed(ESPGOAL_START, &none, 0);
	has(ops, sizeof(ops));
	has(seg, sizeof(seg));
	fclose(out);
}

int main(int argc, char **argv)
{
	if (argc != 2) {
		fprintf(stderr, "usage: %s FOLDER\n", argv[0]);
		return 2;
	}
	simple(argv[1]);
	edges(argv[1], "edge-below", 0);
	edges(argv[1], "edge", 1);
	edges(argv[1], "edge-above", 2);
	failures(argv[1]);
	unknown(argv[1]);
	exclusions(argv[1]);
	groups(argv[1]);
	misfits(argv[1]);
	types(argv[1]);
	messages(argv[1]);
	starts(argv[1], "start", LARGE);
	starts(argv[1], "start-small", SMALL);
	starts(argv[1], "start-huge", HUGE);
	return 0;
}
