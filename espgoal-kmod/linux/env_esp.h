/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the protocol half of the core asks of the kernel home; esp.h includes it at its end. Where
 * each lives: memory in memory.c, look-ups in flow.c, member.c and endpoint.c, frames in
 * rx.c and tx.c, payload in payload.c, the rest in node.c.
 */
#ifndef ESPGOAL_ENV_ESP_H
#define ESPGOAL_ENV_ESP_H

#include <linux/crc32c.h>
#include <linux/random.h>
#ifdef CONFIG_X86_64
#include <asm/cpufeature.h>
#endif

#include "compat.h"

static inline u64 env_random(struct esp_node *n)
{
	return get_random_u64();
}

/* Headers are short, and the way to the fastest code for this machine is long. */
static inline u32 env_crc32c(u32 crc, const void *data, u32 len)
{
#ifdef CONFIG_X86_64
	if (len <= 256 && static_cpu_has(X86_FEATURE_XMM4_2)) {
		const u8 *at = data;
		u64 c = crc;
		size_t i;

		for (i = 0; i + 32 <= len; i += 32) {
			asm("crc32q %1, %0" : "+r"(c) : "m"(*(const u64 *)(at + i)));
			asm("crc32q %1, %0" : "+r"(c) : "m"(*(const u64 *)(at + i + 8)));
			asm("crc32q %1, %0" : "+r"(c) : "m"(*(const u64 *)(at + i + 16)));
			asm("crc32q %1, %0" : "+r"(c) : "m"(*(const u64 *)(at + i + 24)));
		}
		for (; i + 8 <= len; i += 8)
			asm("crc32q %1, %0" : "+r"(c) : "m"(*(const u64 *)(at + i)));
		crc = (u32)c;
		if (i + 4 <= len) {
			asm("crc32l %1, %0" : "+r"(crc) : "m"(*(const u32 *)(at + i)));
			i += 4;
		}
		for (; i < len; i++)
			asm("crc32b %1, %0" : "+r"(crc) : "rm"(at[i]));
		return crc;
	}
#endif
	return crc32c(crc, data, len);
}

u64 env_prf(struct esp_node *n, u32 key, const void *data, u32 len);

struct esp_rx *env_rx_get(struct esp_ep *ep, enum esp_pool pool);
void env_rx_put(struct esp_ep *ep, enum esp_pool pool, struct esp_rx *rx);
struct esp_ctl *env_ctl_get(struct esp_node *n, u64 cookie);
void env_ctl_put(struct esp_node *n, struct esp_ctl *c);
struct esp_flow *env_flow_alloc(struct esp_node *n, const struct esp_peer *peer, bool wanted);
int env_room_get(struct esp_ep *ep, struct esp_rx *rx, u64 bytes);
void env_room_put(struct esp_ep *ep, struct esp_rx *rx);

struct esp_flow *env_flow_by_cid(struct esp_node *n, u64 cid);
struct esp_flow *env_flow_by_peer(struct esp_node *n, const u8 node[16]);
struct esp_flow *env_flow_next(struct esp_node *n, struct esp_flow *prev);
int env_flow_insert(struct esp_flow *f);
int env_flow_rename(struct esp_flow *f, u64 cid);
void env_flow_remove(struct esp_flow *f);
void env_endings(struct esp_node *n, s32 more);
bool env_any_ending(struct esp_node *n);

struct esp_member *env_member_find(struct esp_node *n, u64 cookie, u64 nonce);
struct esp_member *env_member_next(struct esp_node *n, struct esp_member *prev);
void env_member_get(struct esp_member *m);
void env_member_put(struct esp_member *m);
bool env_any_ep(struct esp_node *n);
enum esp_ep_state env_ep_state(struct esp_node *n, u64 cookie);
struct esp_run *env_run_find(struct esp_member *m, u32 opid, u32 start);
struct esp_run *env_run_next(struct esp_member *m, struct esp_run *prev);
bool env_run_past(struct esp_member *m, u32 opid, u32 start);
void env_run_get(struct esp_run *r);
void env_run_put(struct esp_run *r);

const u8 *env_frame_bytes(void *frame, u32 off, u32 len, u8 *buf);
u32 env_frame_crc(void *frame, u32 off, u32 len, u32 crc);
struct esp_out *env_out_get(struct esp_rail *r);
void env_out_put(struct esp_rail *r, struct esp_out *o);
void env_out(struct esp_rail *r, struct esp_out *o);
void env_kick(struct esp_rail *r);

int env_place(struct esp_rx *rx, struct esp_run *r, u32 op, u64 off, void *frame, u32 foff,
	      u32 len);
int env_unpack(struct esp_rx *rx, struct esp_run *r, u32 op);
void env_sent(struct esp_msg *m, s32 status);
void env_run_cancel(struct esp_run *r, s32 status, u32 rank);
void env_member_failed(struct esp_member *m);
void env_timer(struct esp_flow *f, u64 when);
void env_look(struct esp_node *n);

/* The inline ones. They need this home's objects, and those the types of esp.h. */
#include "home.h"

#endif /* ESPGOAL_ENV_ESP_H */
