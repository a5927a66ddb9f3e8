/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The host that is no node of the job, for esp_foreign.c and esp_foreign_hello.c. Node 2 of the home is
 * that one: its own core never gets a frame, and the tests speak for it.
 */
#ifndef ESP_FOREIGN_H
#define ESP_FOREIGN_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

#include "home.h"

#define HOST 2

/* The last hello to the host, how many there were, and frames with messages in them. */
static u8 got[ESP_MTU_MAX];
static u32 got_len, ngot, stolen;

/* What becomes of frames between the nodes. */
static bool cut;
static u8 unheard; /* frames of this type are lost */

/* Where the host is now: it has more addresses than one. */
static struct esp_addr place;

/* The node that has the host's address now, instead of its own. */
static u32 mover;

static inline bool has_message(const u8 *bytes, u32 len)
{
	u32 off = sizeof(struct esp_hdr);

	while (off < len) {
		const struct esp_chunk *c = (const struct esp_chunk *)(bytes + off);

		if (c->kind == ESP_K_MSG || c->kind == ESP_K_RTS)
			return true;
		off += le16_to_cpu(c->len);
	}
	return false;
}

static inline int wire(u32 from, u32 to, const u8 *bytes, u32 len)
{
	if (to == mover)
		return HOME_DROP;
	if (to != HOST)
		return cut || bytes[1] == unheard ? HOME_DROP : HOME_PASS;
	if (mover < HOST) {
		home_inject(mover, 0, &home.node[from]->rail[0].addr, bytes, len);
		return HOME_DROP;
	}
	if (bytes[1] == ESP_T_DATA) {
		stolen += has_message(bytes, le16_to_cpu(((const struct esp_hdr *)bytes)->hdr_len));
		return HOME_DROP;
	}
	memcpy(got, bytes, len);
	got_len = len;
	ngot++;
	return HOME_DROP;
}

static inline void open_rails(u32 rails)
{
	struct esp_params p;

	esp_params_default(&p);
	home_open(3, rails, &p);
	home.fate = wire;
	ngot = 0;
	stolen = 0;
	cut = false;
	unheard = 0;
	mover = HOST + 1;
	place = home.peer[HOST].addr[0];
}

static inline void open3(void)
{
	open_rails(1);
}

static struct esp_out o;
static struct esp_hello *h;

/* A frame with the body of a hello, as the host would make it. */
static inline void begin(u8 type, u64 cid, u64 stamp)
{
	memset(&o, 0, sizeof(o));
	esp_out_begin(&o, type, 0);
	h = (struct esp_hello *)(o.hdr + o.hdr_len);
	o.hdr_len += sizeof(*h);
	o.total_len += sizeof(*h);
	h->cid = cpu_to_le64(cid);
	h->stamp = cpu_to_le64(stamp);
	h->order = ESP_ORDER_LITTLE;
	h->word = sizeof(void *);
	h->mtu = cpu_to_le16(1500);
	h->version = ESP_VERSION;
	h->addr[0] = place;
}

static inline void say(u32 to, const struct esp_addr *from)
{
	esp_out_end(&o);
	esp_seal(&o, 0xffffffff);
	home_inject(to, 0, from, o.hdr, o.hdr_len);
	home_pass(100 * ESP_US, NULL);
}

static inline const struct esp_hello *answer(u8 type)
{
	assert_int_equal(ngot, 1);
	assert_int_equal(got_len, sizeof(struct esp_hdr) + sizeof(struct esp_hello));
	assert_int_equal(got[1], type);
	ngot = 0;
	return (const struct esp_hello *)(got + sizeof(struct esp_hdr));
}

/* The host asks node @to for a token, as who knows the name @name. */
static inline void ask(u32 to, const u8 *name, u64 cid, u64 stamp, u8 token[16])
{
	begin(ESP_T_HELLO, cid, stamp);
	esp_hello_hash(name, ESP_T_HELLO, &place, &home.peer[to].addr[0], h, h->node);
	say(to, &place);
	memcpy(token, answer(ESP_T_TOKEN)->token, 16);
}

/* ... and opens a flow as the node @as. */
static inline void claim(u32 to, u32 as, u64 cid, u64 stamp)
{
	u8 token[16];

	ask(to, home.peer[to].node, cid, stamp, token);
	begin(ESP_T_OPEN, cid, stamp);
	memcpy(h->node, home.peer[as].node, 16);
	memcpy(h->token, token, 16);
	say(to, &place);
}

static inline struct home_run *start(u32 at, u32 code, u32 peer, u32 opid)
{
	struct home_op op = { code, peer, 0, 0, 100 };

	return home_start(home.node[at], opid, &op, 1);
}

static inline void transfer(u32 from, u32 to, u32 opid, u64 patience)
{
	struct home_run *r = start(to, GOAL_OP_RECV, from, opid);

	start(from, GOAL_OP_SEND, to, opid);
	if (!home_pass(patience, home_idle)) {
		home_dump();
		fail();
	}
	assert_int_equal(r->run.status, 0);
}

static inline u64 count(u32 node, u32 c)
{
	return home.node[node]->count[c];
}

/* The host opens a flow as a node that nobody has ever heard of. */
static inline void invent(u8 name, u64 cid, u64 stamp)
{
	u8 token[16];

	ask(1, home.peer[1].node, cid, stamp, token);
	begin(ESP_T_OPEN, cid, stamp);
	memset(h->node, name, sizeof(h->node));
	memcpy(h->token, token, 16);
	say(1, &place);
	ngot = 0;
}

static inline void reset(u32 to, u64 cid)
{
	esp_out_begin(&o, ESP_T_RESET, cid);
	say(to, &home.peer[HOST].addr[0]);
}

#endif /* ESP_FOREIGN_H */
