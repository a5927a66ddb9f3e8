// SPDX-License-Identifier: BSD-3-Clause
/*
 * libFuzzer on the protocol: a node with an open flow and a few runs gets whatever frames the input
 * says, and time passes as it says. No byte out of place, no assertion of the home (two locks,
 * a frame too long, something left over at the end), and every run can be ended.
 *
 * The node is made once; each execution begins with a copy of it (arena.c), so that there are tens
 * of thousands of them in a second.
 *
 * An input is a sequence of steps, see step(). Checksums, connection ids, packet numbers and tokens
 * are put right where the step asks for it: else nothing would ever get past them.
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

#define FIX_ID  0x04 /* connection ids, names and tokens */
#define FIX_PN  0x08
#define FIX_CRC 0x10
#define FIX_LEN 0x20 /* as long as it says: payload, at which nobody looks, is not in the input */
#define FIX_ALL (FIX_ID | FIX_PN | FIX_CRC | FIX_LEN)
#define STEPS   32   /* of an input, at most */
#define EVENTS  100  /* in an execution, at most: time then stands still */
#define FRAME   2048 /* bytes */
#define FORGET  8    /* of other(): the flow is gone, as if it had been idle */

/*
 * One frame, two, pulled. The longer ones are sent first, and received once the shortest is here:
 * they come unexpected.
 */
#define LENGTHS 3

static const u64 lengths[LENGTHS] = { 32, 700, 1100 }, places[LENGTHS] = { 0, 32, 736 };

static struct home_run *run(u32 node, u32 opid)
{
	struct home_op op[2 * LENGTHS];
	u32 i;

	for (i = 0; i < LENGTHS; i++) {
		op[i ? LENGTHS + i : 0] =
			(struct home_op){ GOAL_OP_RECV, !node, i, places[i], lengths[i] };
		op[LENGTHS - i] = (struct home_op){ GOAL_OP_SEND, !node, i, places[i], lengths[i] };
	}
	home.hold = 1 + LENGTHS;
	return home_start(home.node[node], opid, op, 2 * LENGTHS);
}

static int keep(u32 from, u32 to, const u8 *bytes, u32 len);

/* Always the same: the flow is open, and every number that a frame may name is known. */
static void begin(void)
{
	struct esp_params p;
	u32 i;
	struct home_op hello[2] = { { GOAL_OP_SEND, 1, 0, 0, 8 }, { GOAL_OP_RECV, 0, 0, 0, 8 } };

	esp_params_default(&p);
	p.pn_first = 1000;
	p.mid_first = 2000;
	home_open(2, 1, &p);
	home.buf = 1840;
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

/* What only those know who have seen the frames of the flow. */
static void fix_id(struct esp_hdr *h, u32 len)
{
	const struct esp_flow *f = home.node[1]->flows ? &home.node[1]->flows->f : NULL;
	struct esp_hello *q = (struct esp_hello *)(h + 1);
	bool hello = len >= sizeof(*h) + sizeof(*q);

	if (f)
		h->cid = cpu_to_le64(h->type == ESP_T_RESET ? f->cid_peer : f->cid);
	if (f && h->type == ESP_T_DATA && len >= sizeof(*h) + sizeof(struct esp_ping)) {
		struct esp_ping *c = (struct esp_ping *)(h + 1);

		if (c->c.kind == ESP_K_PONG && c->c.flags < ESP_PATHS)
			c->value = cpu_to_le64(f->path[c->c.flags].value);
	}
	if (!hello || h->type == ESP_T_DATA)
		return;
	switch (h->type) {
	case ESP_T_TOKEN:
		if (!f)
			break;
		q->stamp = cpu_to_le64(f->stamp);
		q->cid = cpu_to_le64(f->cid);
		esp_hello_hash(home.peer[0].node, ESP_T_TOKEN, NULL, &home.peer[0].addr[0], q,
			       q->node);
		break;
	case ESP_T_ACCEPT:
		memcpy(q->node, home.peer[0].node, sizeof(q->node));
		if (!f)
			break;
		q->stamp = cpu_to_le64(f->stamp);
		memcpy(q->token, f->token, sizeof(q->token));
		break;
	case ESP_T_OPEN:
		h->cid = 0;
		memcpy(q->node, home.peer[0].node, sizeof(q->node));
		esp_hello_token(&home.node[1]->n, (u32)(home.now >> 32), &home.peer[0].addr[0],
				&home.node[1]->rail[0].addr, q, q->token);
		break;
	case ESP_T_HELLO:
		h->cid = 0;
		esp_hello_hash(home.peer[1].node, ESP_T_HELLO, &home.peer[0].addr[0],
			       &home.peer[1].addr[0], q, q->node);
		break;
	default:
		break;
	}
}

static void fix_crc(struct esp_hdr *h, u32 len)
{
	u32 hdr = le16_to_cpu(h->hdr_len), total = le16_to_cpu(h->total_len);
	const u8 *b = (const u8 *)h;

	if (hdr < sizeof(*h) || hdr > total || total > len)
		return;
	h->payload_crc = 0;
	if (total > hdr)
		h->payload_crc = cpu_to_le32(~env_crc32c(0xffffffff, b + hdr, total - hdr));
	h->hdr_crc = 0;
	h->hdr_crc = cpu_to_le32(~env_crc32c(0xffffffff, b, hdr));
}

static void frame(u8 how, u8 *b, u32 len)
{
	struct esp_hdr *h = (struct esp_hdr *)b;

	if (len >= sizeof(*h)) {
		u32 total = le16_to_cpu(h->total_len);

		if (how & FIX_LEN && total > len && total <= FRAME) {
			memset(b + len, 0, total - len);
			len = total;
		}
		if (how & FIX_ID)
			fix_id(h, len);
		if (how & FIX_PN && h->flags & ESP_F_NUMBERED)
			h->pn = cpu_to_le32(pn++);
		if (how & FIX_CRC)
			fix_crc(h, len);
	}
	home_inject(1, 0, &home.peer[0].addr[0], b, len);
	home_pass(1, NULL);
}

static void forget(void)
{
	struct home_flow *f = home.node[1]->flows;

	if (!f)
		return;
	env_flow_get(&f->f);
	esp_flow_kill(&f->f, home.now);
	env_flow_put(&f->f);
}

static void other(u8 what)
{
	struct home_node *n = home.node[1];

	switch (what % 9) {
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
		home_ep_close(n, what & 8);
		n->ep_state = what & 16 ? ESP_EP_LEFT : ESP_EP_GONE;
		break;
	case FORGET:
		forget();
		break;
	default:
		home_watch(n);
		break;
	}
}

/* One step: its kind in the low two bits of the first byte. How many bytes it took. */
static size_t step(const u8 *data, size_t size)
{
	static u8 bytes[FRAME];
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
	first = home;
	arena_keep();
	return 0;
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size);
int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	u32 steps, runs = 0;
	u8 seen = 0; /* run numbers in use */

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

static void step(u32 byte)
{
	fputc((int)byte, out);
}

static int keep(u32 from, u32 to, const u8 *bytes, u32 len)
{
	(void)to;
	if (from == 0) {
		const struct esp_hdr *h = (const struct esp_hdr *)bytes;

		len = le16_to_cpu(h->hdr_len);
		step(STEP_FRAME | FIX_ALL);
		step(len & 0xff);
		step(len >> 8);
		fwrite(bytes, 1, len, out);
		step(STEP_TIME | 16 << 2);
	}
	return home.loss ? home_random() % 3 == 0 ? HOME_DROP : HOME_PASS : HOME_PASS;
}

static void mine(u32 opid)
{
	step(STEP_RUN | (opid - 1) << 2);
	run(1, opid);
}

static void lossy(void)
{
	home.loss = 1;
	mine(1);
	run(0, 1);
}

static void plain(void)
{
	mine(1);
	run(0, 1);
}

/* Its messages come before ours: refused, and sent again. */
static void early(void)
{
	run(0, 1);
	home_pass(5 * ESP_MS, NULL);
	mine(1);
}

/* Ours come before its: NOT-READY and READY. */
static void refused(void)
{
	mine(1);
	home_pass(5 * ESP_MS, NULL);
	run(0, 1);
}

static void aborted(void)
{
	mine(1);
	run(0, 1);
	run(0, 2);
	home_pass(ESP_MS, NULL);
	env_run_cancel(&home.node[0]->runs->erun, -EIO, GOAL_OP_NONE);
}

static void leave(void)
{
	run(0, 1);
	esp_rail_mtu(&home.node[0]->rail[0], 600, home.now);
	home_pass(ESP_MS, NULL);
	home_ep_close(home.node[0], false);
}

/* It has forgotten the flow: RESET, and everything anew. */
static void anew(void)
{
	struct home_flow *f = home.node[0]->flows;

	env_flow_get(&f->f);
	esp_flow_kill(&f->f, home.now);
	env_flow_put(&f->f);
	mine(1);
	home_pass(5 * ESP_MS, NULL);
	run(0, 1);
}

/* We have: it opens anew. */
static void opened(void)
{
	struct home_flow *f = home.node[1]->flows;

	step(STEP_OTHER | FORGET << 2);
	env_flow_get(&f->f);
	esp_flow_kill(&f->f, home.now);
	env_flow_put(&f->f);
	run(0, 1);
	home_pass(5 * ESP_MS, NULL);
	mine(1);
}

/* It waits for us, and asks whether we are still there. */
static void asked(void)
{
	run(0, 1);
	home_pass(3 * ESP_S, NULL);
}

/* We wait for it, and it is gone. */
static void gone(void)
{
	home.node[0]->ep_state = ESP_EP_GONE;
	home.node[0]->has_member = false;
	mine(1);
	home_pass(3 * ESP_S, NULL);
}

static void rails(void)
{
	mine(1);
	esp_rail_down(&home.node[0]->rail[0], home.now);
	run(0, 1);
	esp_rail_up(&home.node[0]->rail[0], 0, 1500, home.now);
}

static void scene(const char *folder, const char *name, void (*play)(void))
{
	char path[4096];

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	out = fopen(path, "wb");
	if (!out) {
		perror(path);
		exit(1);
	}
	begin();
	play();
	home_pass(100 * ESP_MS, NULL);
	home.fate = NULL;
	home.node[0]->has_member = true;
	home_close();
	fclose(out);
}

int main(int argc, char **argv)
{
	if (argc != 2)
		return 2;
	scene(argv[1], "abort", aborted);
	scene(argv[1], "anew", anew);
	scene(argv[1], "asked", asked);
	scene(argv[1], "early", early);
	scene(argv[1], "gone", gone);
	scene(argv[1], "leave", leave);
	scene(argv[1], "lossy", lossy);
	scene(argv[1], "opened", opened);
	scene(argv[1], "plain", plain);
	scene(argv[1], "rails", rails);
	scene(argv[1], "refused", refused);
	return 0;
}

#endif
