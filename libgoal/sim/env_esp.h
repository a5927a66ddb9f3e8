/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the protocol half of the core asks of a home in a process; esp.h includes it at its end. The
 * declarations say no more than esp.h does. In the simulator they live thus: locks in
 * interleave.c, memory in memory.c, look-ups in table.c, frames in frame.c, payload in payload.c.
 * The home of the protocol's unit tests (test/unit/esp_home) has its own behind the same ones.
 */
#ifndef SIM_ENV_ESP_H
#define SIM_ENV_ESP_H

void env_flow_lock(struct esp_flow *f);
void env_flow_unlock(struct esp_flow *f);
void env_node_lock(struct esp_node *n);
void env_node_unlock(struct esp_node *n);

u64 env_random(struct esp_node *n);
u32 env_crc32c(u32 crc, const void *data, u32 len);
u64 env_prf(struct esp_node *n, u32 key, const void *data, u32 len);
void env_count(struct esp_node *n, u32 c, u64 by);

void *env_pool_get(struct esp_node *n, enum esp_pool pool);
void env_pool_put(struct esp_node *n, enum esp_pool pool, void *object);

/* All endpoints are of one user, and none is freed before its messages. */
static inline struct esp_rx *env_rx_get(struct esp_ep *ep, enum esp_pool pool)
{
	return env_pool_get(ep->node, pool);
}

static inline void env_rx_put(struct esp_ep *ep, enum esp_pool pool, struct esp_rx *rx)
{
	env_pool_put(ep->node, pool, rx);
}

static inline struct esp_ctl *env_ctl_get(struct esp_node *n, u64 cookie)
{
	struct esp_ctl *c = env_pool_get(n, ESP_POOL_CTL);

	(void)cookie;
	if (c)
		c->account = NULL;
	return c;
}

static inline void env_ctl_put(struct esp_node *n, struct esp_ctl *c)
{
	env_pool_put(n, ESP_POOL_CTL, c);
}

struct esp_flow *env_flow_alloc(struct esp_node *n, const struct esp_peer *peer, bool wanted);
int env_room_get(struct esp_ep *ep, struct esp_rx *rx, u64 bytes);
void env_room_put(struct esp_ep *ep, struct esp_rx *rx);

struct esp_flow *env_flow_by_cid(struct esp_node *n, u64 cid);
struct esp_flow *env_flow_by_peer(struct esp_node *n, const u8 node[16]);
struct esp_flow *env_flow_next(struct esp_node *n, struct esp_flow *prev);
int env_flow_insert(struct esp_flow *f);
int env_flow_rename(struct esp_flow *f, u64 cid);
void env_flow_remove(struct esp_flow *f);
void env_flow_get(struct esp_flow *f);
void env_flow_put(struct esp_flow *f);
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
struct esp_batch *env_batch(struct esp_node *n);

#endif /* SIM_ENV_ESP_H */
