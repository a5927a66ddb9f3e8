/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Nodes of one endpoint each, all in one group, on a network of one or two rails. A test starts
 * runs, lets time pass, and looks at buffers and counters. Whatever is left over at the end is a
 * failure: home_close() checks it.
 */
#ifndef HOME_H
#define HOME_H

#include "esp_int.h"

#define HOME_NODES 8
#define HOME_RAILS 2
#define HOME_BUF   (4 << 20)

struct home_node;

struct home_flow {
	struct esp_flow f; /* first */
	struct home_node *node;
	struct home_flow *next;
	bool in_table;
	int refs;
	u64 timer;
};

struct home_run {
	struct core_run run; /* first */
	struct esp_run erun;
	struct core_sched sched;
	struct home_node *node;
	struct home_run *next;
	struct esp_link msgs; /* long ones under way */
	void *bytes, *arrays;
	u8 *buf;
	struct core_segment seg;
	int refs;
	bool over;
};

struct home_node {
	struct esp_node n; /* first */
	struct esp_rail rail[HOME_RAILS];
	struct esp_ep ep;
	struct esp_member m;
	struct esp_member *beside; /* one more, of another endpoint, that runs nothing */
	bool has_member, alive;
	bool to_look; /* env_look() was called */
	enum esp_ep_state ep_state;
	bool deserted; /* nor is any other endpoint there */
	struct esp_batch batch;
	s32 endings;
	struct home_flow *flows;
	struct home_run *runs;
	u32 rank;
	u64 count[ESP_COUNTERS];
	int pool_used[ESP_POOLS], pool_max[ESP_POOLS];
	int rooms, rooms_max;
	int msgs;
	int late; /* env_place() answers later */
};

/* What the network does with a frame; 0: delivers. */
enum {
	HOME_PASS = 0,
	HOME_DROP,
	HOME_TWICE,
	HOME_LATE,
	HOME_FLIP
};

struct home {
	u64 now;
	u32 nnodes;
	struct home_node *node[HOME_NODES];
	struct esp_table table;
	struct esp_rank rank[HOME_NODES];
	struct esp_peer peer[HOME_NODES];
	u64 delay; /* one way, ns */
	u64 ns_per_byte;
	u16 mtu_limit; /* larger frames vanish */
	int (*fate)(u32 from, u32 to, const u8 *bytes, u32 len);
	void (*fill)(struct home_run *r); /* its buffer, instead of the usual pattern */
	void (*between)(void);            /* a lock was released: the turn of another CPU */
	u64 frames;
	u64 events, events_max; /* time stands still after so many; 0: never */
	u32 buf;                /* bytes of a run's buffer, HOME_BUF unless set */
	u32 loss;               /* of 65536 */
	u32 hold;    /* operations of a run from this one on wait for the first; 0: none do */
	bool starts; /* a run's number is its start number, of one operation id */
	/* home.c's own */
	struct home_frame *wire;
	struct home_late *lates;
	const void *locked;
	u64 seed;
	u64 rail_free[HOME_NODES][HOME_RAILS];
};

/* All there is, with what home_alloc() gave out and is not freed. */
extern struct home home;

/* memory.c, or the fuzzer's own. Never NULL; the contents of the first are undefined. */
void *home_alloc(size_t bytes);
void *home_zalloc(size_t bytes);
void home_free(void *p);

static inline struct home_node *node_of(struct esp_node *n)
{
	return (struct home_node *)n;
}

static inline struct home_run *erun_of(struct esp_run *r)
{
	return esp_entry(r, struct home_run, erun);
}

void home_open(u32 nodes, u32 rails, const struct esp_params *p);
void home_close(void);
struct home_node *home_boot(u32 rank, u32 rails, const struct esp_params *p);
void home_kill(struct home_node *hn);
/* It is no more, and has left nothing behind. */
void home_remove(struct home_node *hn);
void home_join(struct home_node *hn);
/* What env_look() has asked for, at all nodes. */
void home_look(void);
/* What is done once a second. */
void home_watch(struct home_node *hn);
void home_ep_close(struct home_node *hn, bool clean);
/* Let time pass until @done says so, or @ns are over; true: it did. */
bool home_pass(u64 ns, bool (*done)(void));
bool home_idle(void);
void home_dump(void);

/* Operations of a run: {GOAL_OP_SEND or _RECV, peer, tag, off, len}; all independent. */
struct home_op {
	u32 code, peer, tag;
	u64 off, len;
};

struct home_run *home_start(struct home_node *hn, u32 number, const struct home_op *op, u32 n);
u64 home_counted(u32 c); /* over all nodes */
u32 home_random(void);
void home_inject(u32 to, u32 rail, const struct esp_addr *from, const u8 *bytes, u32 len);

#endif /* HOME_H */
