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

/* At the limits; and what excludes each other. */
static void edges(const char *folder)
{
	struct espgoal_open o = { .runs = 0, .area = 1 };
	struct espgoal_group g = { .nonce = 1, .npeers = 1, .peers = USER_BASE, .ranks = USER_BASE };
	struct espgoal_load l = { .data = USER_BASE, .bytes = 1 };
	struct espgoal_start s = { .segs = USER_BASE };
	struct espgoal_start both = { .flags = ESPGOAL_START_KNOWN, .nsegs = 1 };
	struct espgoal_counter_name name = { .set = ESPGOAL_SET_FLOW };

	begin(folder, "edge", SMALL, 6);
	ask_fixed(ESPGOAL_OPEN, &o, FIX_EDGE);
	ask_fixed(ESPGOAL_GROUP, &g, FIX_EDGE);
	ask_fixed(ESPGOAL_LOAD, &l, FIX_EDGE);
	ask_fixed(ESPGOAL_START, &s, FIX_EDGE);
	ask_fixed(ESPGOAL_START, &both, 0);
	ask_fixed(ESPGOAL_COUNTER_NAME, &name, FIX_EDGE);
	fclose(out);
}

/* What is special about a table. */
struct special {
	u8 how; /* beside FIX_ALL */
	u8 carrier;
	u32 rank;
	u32 cookies, nodes; /* that are different */
};

struct table {
	struct espgoal_rank rank[4];
	struct espgoal_peer peer[3];
};

/* Four ranks of three nodes that have one link each. */
static struct table table_of(const struct special *special)
{
	struct table t = { 0 };
	u32 i;

	for (i = 0; i < 4; i++)
		t.rank[i] = (struct espgoal_rank){ .cookie = 100 + i % special->cookies,
						   .peer = i % 3 };
	for (i = 0; i < 3; i++) {
		memset(t.peer[i].node, 0x80 + (int)(i % special->nodes), sizeof(t.peer[i].node));
		t.peer[i].link[i].bytes[0] = special->carrier;
		t.peer[i].link[i].bytes[4] = (u8)(10 + 2 * i);
	}
	return t;
}

/* The group of the table at @at. */
static void ask_group(const struct special *special, u64 at)
{
	struct espgoal_group g = { .nonce = 1,
				   .nranks = 11, /* made to be 4 and 3 */
				   .npeers = 6,
				   .rank = special->rank,
				   .ranks = at + offsetof(struct table, rank),
				   .peers = at + offsetof(struct table, peer) };

	ask_fixed(ESPGOAL_GROUP, &g, FIX_ALL | special->how);
}

static void group(const char *folder, const char *name, struct special special)
{
	struct table t = table_of(&special);

	begin(folder, name, LARGE | INPUT_RAILS, 1);
	ask_group(&special, USER_BASE);
	has(&t, sizeof(t));
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
	struct special first = { 0, ESP_CARRIER_ETHER, 0, 4, 3 }, last = first;
	struct espgoal_load l = loaded;
	struct espgoal_start s = { .nsegs = 1 };
	struct table t;

	last.rank = 3;
	l.data += 2 * sizeof(t);
	begin(folder, "misfits", LARGE | INPUT_RAILS, 6);
	ask(ESPGOAL_LOAD, &l);
	ask_group(&first, USER_BASE);
	ask(ESPGOAL_START, &s);
	ask(ESPGOAL_LOAD, &l);
	ask_group(&last, USER_BASE + sizeof(t));
	ask(ESPGOAL_START, &s);
	t = table_of(&first);
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

/* Starts from one, two and four segments, from two that wrap around, and of who cannot. */
static void starts(const char *folder, const char *name, u8 circumstances)
{
	struct espgoal_seg seg[4] = { { 0, 8 }, { 8, 0 }, { 1, 30 }, { 16, 100 } };
	struct espgoal_start one = { .nsegs = 1 }, two = one, four = one, wrap, none = one;

	two.nsegs = 2;
	two.seg[0].len = 20;
	wrap = two;
	wrap.seg[0].len = -8ull;
	wrap.seg[1].len = 64 + 8;
	two.flags = ESPGOAL_START_WAIT;
	two.timeout = 5;
	four.nsegs = 4;
	four.segs = USER_BASE + sizeof(ops);
	none.nsegs = 0;
	none.flags = ESPGOAL_START_FAILED;
	begin(folder, name, circumstances, 6);
	ask(ESPGOAL_LOAD, &loaded);
	ask(ESPGOAL_START, &one);
	ask(ESPGOAL_START, &two);
	ask(ESPGOAL_START, &four);
	ask_fixed(ESPGOAL_START, &wrap, FIX_POINTERS);
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
	edges(argv[1]);
	group(argv[1], "group", (struct special){ 0, ESP_CARRIER_ETHER, 2, 4, 3 });
	group(argv[1], "group-first", (struct special){ 0, ESP_CARRIER_ETHER, 0, 4, 3 });
	group(argv[1], "group-astray", (struct special){ FIX_ASTRAY, ESP_CARRIER_ETHER, 2, 4, 3 });
	group(argv[1], "group-cookies", (struct special){ 0, ESP_CARRIER_ETHER, 3, 2, 3 });
	group(argv[1], "group-nodes", (struct special){ 0, ESP_CARRIER_ETHER, 1, 4, 2 });
	group(argv[1], "group-udp4", (struct special){ 0, ESP_CARRIER_UDP4, 2, 4, 3 });
	group(argv[1], "group-udp6", (struct special){ 0, ESP_CARRIER_UDP6, 2, 4, 3 });
	misfits(argv[1]);
	types(argv[1]);
	starts(argv[1], "start", LARGE);
	starts(argv[1], "start-small", SMALL);
	starts(argv[1], "start-huge", HUGE);
	return 0;
}
