// SPDX-License-Identifier: BSD-3-Clause
/*
 * libFuzzer on the protocol: a node with an open flow and a few runs gets whatever frames the input
 * says, and time passes as it says. No byte out of place, no assertion of the home (two locks,
 * a frame too long, something left over at the end), and every run can be ended.
 *
 * The node is made once; each execution begins with a copy of it (arena.c), so that there are tens
 * of thousands of them in a second.
 *
 * An input is a sequence of steps, see step(). Checksums, connection id and packet number are put
 * right where the step asks for it: else nothing would ever get past them.
 *
 * Built with -DFUZZ_CORPUS it is the program that wrote the corpus, into the folder that it is
 * given (make fuzz-corpus): what a real peer sends in the same situation.
 */
#include <stdio.h>
#include <stdlib.h>

#include "arena.h"
#include "home.h"

enum {
	STEP_FRAME = 0,
	STEP_TIME,
	STEP_RUN,
	STEP_OTHER
};

#define FIX_CID 0x04
#define FIX_PN  0x08
#define FIX_CRC 0x10
#define LENGTHS 3
#define STEPS   32  /* of an input, at most */
#define EVENTS  100 /* in an execution, at most: time then stands still */

static const u64 lengths[LENGTHS] = { 32, 700, 1500 }; /* one frame, two, pulled */

static struct home_run *run(u32 node, u32 opid)
{
	struct home_op op[2 * LENGTHS];
	u32 i;

	for (i = 0; i < LENGTHS; i++) {
		op[i] = (struct home_op){ GOAL_OP_RECV, !node, i, 1504 * i, lengths[i] };
		op[LENGTHS + i] = (struct home_op){ GOAL_OP_SEND, !node, i, 1504 * i, lengths[i] };
	}
	return home_start(home.node[node], opid, op, 2 * LENGTHS);
}

static int keep(u32 from, u32 to, const u8 *bytes, u32 len);

/* Always the same: the flow is open, node 1 is in run 1. */
static void begin(void)
{
	struct esp_params p;
	u32 i;
	struct home_op hello[2] = { { GOAL_OP_SEND, 1, 0, 0, 8 }, { GOAL_OP_RECV, 0, 0, 0, 8 } };

	esp_params_default(&p);
	p.features = 0; /* checksums over the payload only cost time here */
	home_open(2, 1, &p);
	home.buf = 4608;
	for (i = 0; i < 2; i++)
		esp_rail_mtu(&home.node[i]->rail[0], ESP_MTU_MIN, home.now);
	home_start(home.node[0], 100, &hello[0], 1);
	home_start(home.node[1], 100, &hello[1], 1);
	home_pass(10 * ESP_MS, home_idle);
	home_pass(ESP_MS, NULL);
	home.node[1]->rooms_max = 2;
	home.fate = keep;
}

#ifndef FUZZ_CORPUS

static int keep(u32 from, u32 to, const u8 *bytes, u32 len)
{
	(void)from;
	(void)to;
	(void)bytes;
	(void)len;
	return HOME_DROP;
}

static u32 pn;

static void frame(u8 how, u8 *b, u32 len)
{
	struct esp_hdr *h = (struct esp_hdr *)b;
	struct home_flow *f = home.node[1]->flows;
	u32 hdr, total;

	if (len >= sizeof(*h)) {
		hdr = le16_to_cpu(h->hdr_len);
		total = le16_to_cpu(h->total_len);
		if (how & FIX_CID && f)
			h->cid = cpu_to_le64(f->f.cid);
		if (how & FIX_PN)
			h->pn = cpu_to_le32(pn++);
		if (how & FIX_CRC && hdr >= sizeof(*h) && hdr <= total && total <= len) {
			h->payload_crc = 0;
			h->hdr_crc = 0;
			h->hdr_crc = cpu_to_le32(~env_crc32c(0xffffffff, b, hdr));
		}
	}
	home_inject(1, 0, &home.peer[0].addr[0], b, len);
	home_pass(1, NULL);
}

static void other(u8 what)
{
	struct home_node *n = home.node[1];

	switch (what % 8) {
	case 0:
		esp_rail_down(&n->rail[0], home.now);
		break;
	case 1:
		if (!n->rail[0].up)
			esp_rail_up(&n->rail[0], 0, 1500, home.now);
		break;
	case 2:
		esp_rail_mtu(&n->rail[0], ESP_MTU_MIN + what, home.now);
		break;
	case 3:
		if (n->runs && !n->runs->over)
			env_run_cancel(&n->runs->erun, -EIO, GOAL_OP_NONE);
		break;
	case 4:
		n->late = !n->late;
		break;
	case 5:
		n->pool_max[(what >> 3) % ESP_POOLS] = what >> 6;
		break;
	case 6:
		esp_ep_close(&n->ep, what & 8, home.now);
		break;
	default:
		esp_member_timer(&n->m, home.now);
		break;
	}
}

/* One step: its kind in the low two bits of the first byte. How many bytes it took. */
static size_t step(const u8 *data, size_t size)
{
	static u8 bytes[2048];
	u32 len;

	switch (data[0] & 3) {
	case STEP_FRAME:
		if (size < 3)
			return size;
		len = data[1] | data[2] << 8;
		len = len > size - 3 ? (u32)size - 3 : len;
		len = len > sizeof(bytes) ? sizeof(bytes) : len;
		memcpy(bytes, data + 3, len);
		frame(data[0], bytes, len);
		return 3 + len;
	case STEP_TIME:
		home_pass(1ull << (data[0] >> 2) % 34, NULL); /* up to 8.6 s */
		return 1;
	case STEP_RUN:
		run(1, 1 + (data[0] >> 2) % 8);
		return 1;
	default:
		other(data[0] >> 2);
		return 1;
	}
}

/* What every execution begins with, beside the objects of the arena. */
static struct home first;
static u32 first_pn;

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc;
	(void)argv;
	begin();
	first_pn = home.node[1]->flows->f.path[0].rx_top + 1;
	home_remove(home.node[0]); /* the input speaks for it */
	home.events = 0;
	home.events_max = EVENTS;
	run(1, 1);
	first = home;
	arena_keep();
	return 0;
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size);
int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	u32 steps, runs = 0;
	u8 seen = 1; /* run numbers in use */

	home = first;
	arena_restore();
	pn = first_pn;
	for (steps = 0; size && steps < STEPS; steps++) {
		u8 number = 1 << (data[0] >> 2) % 8;
		bool starts = (data[0] & 3) == STEP_RUN;
		size_t n = 1;

		/* Each run number once, and not too many. */
		if (!starts || (!(seen & number) && runs++ < 4))
			n = step(data, size);
		if (starts)
			seen |= number;
		data += n;
		size -= n;
	}
	home_close();
	return 0;
}

#else

static FILE *out;

static int keep(u32 from, u32 to, const u8 *bytes, u32 len)
{
	(void)to;
	if (from == 0) {
		fputc(STEP_FRAME | FIX_CID | FIX_CRC, out);
		fputc(len & 0xff, out);
		fputc(len >> 8, out);
		fwrite(bytes, 1, len, out);
		fputc(STEP_TIME | 16 << 2, out);
	}
	return home.loss ? home_random() % 3 == 0 ? HOME_DROP : HOME_PASS : HOME_PASS;
}

static void scene(const char *folder, const char *name, u32 which)
{
	char path[4096];
	struct home_run *r;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	out = fopen(path, "wb");
	if (!out) {
		perror(path);
		exit(1);
	}
	begin();
	home.loss = which == 1;
	if (which != 2)
		run(1, 1);
	r = run(0, 1);
	home_pass(5 * ESP_MS, NULL);
	if (which == 2) {
		fputc(STEP_RUN, out);
		run(1, 1);
	}
	if (which == 3) {
		run(0, 2);
		home_pass(ESP_MS, NULL);
		env_run_cancel(&home.node[0]->runs->erun, -EIO, GOAL_OP_NONE);
	}
	if (which == 4) {
		esp_rail_mtu(&home.node[0]->rail[0], 600, home.now);
		home_pass(ESP_MS, NULL);
		esp_ep_close(&home.node[0]->ep, false, home.now);
	}
	home_pass(100 * ESP_MS, NULL);
	(void)r;
	home_close();
	fclose(out);
}

int main(int argc, char **argv)
{
	if (argc != 2)
		return 2;
	scene(argv[1], "plain", 0);
	scene(argv[1], "lossy", 1);
	scene(argv[1], "early", 2);
	scene(argv[1], "abort", 3);
	scene(argv[1], "leave", 4);
	return 0;
}

#endif
