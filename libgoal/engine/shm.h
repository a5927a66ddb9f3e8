/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What processes of a node share: the layout of an endpoint's segment.
 *
 * Each endpoint owns one segment, an anonymous file (memfd) that peers open through
 * /proc/<pid>/fd/<n>, so that nothing stays behind however a process ends. It is sparse: a
 * header, then room for SHM_BOXES mailboxes. A process that wants to send to the owner
 * claims a mailbox in it at the first message, allocates its pages, and is from then on its only
 * producer; the owner is its only consumer.
 *
 * A mailbox is a ring of 64-byte slots and a ring of payload bytes. The producer writes a slot's
 * stamp last, with release: the number of the lap, counted from 1, so that fresh zero pages
 * are empty and nobody ever clears a slot. The consumer writes back how far it is in
 * struct shm_taken, a line of its own, which the producer reads only when it believes that
 * there is no room: in the usual case a message costs one cache line.
 *
 * Nothing that is read from here is trusted: the process at the other end belongs to the
 * same user, but it may be broken. Every value is read once and checked before use.
 */
#ifndef ENGINE_SHM_H
#define ENGINE_SHM_H

#include "env.h"

#define SHM_MAGIC   0x6c616f672d707365ull /* "esp-goal" */
#define SHM_VERSION 2
#define SHM_BOXES   4096
#define SHM_LINE    64
#define SHM_UNHEARD 16

/* shm_header.state: the life of a mailbox. */
enum shm_state {
	SHM_FREE = 0, /* nobody's */
	SHM_CLAIMED,  /* its producer is at work on it (shm_claimed()) */
	SHM_READY,    /* in use */
	SHM_CLOSED    /* the producer is gone, all it sent is there; the owner frees it */
};

/* SHM_CLAIMED with the claimer's process id, so that one who dies then can be told. */
static inline u32 shm_claimed(u32 pid)
{
	return pid << 8 | SHM_CLAIMED;
}

struct shm_header {
	u64 magic;
	u32 version;
	u32 pid;
	u64 cookie; /* must be the one in the endpoint's address */
	u32 slots;  /* geometry of a mailbox: slots, power of two */
	u32 bytes;  /* payload bytes, power of two */
	u32 eager;  /* longest payload sent unasked */
	u32 boxes;
	u64 first;  /* offset of the first mailbox */
	u64 stride; /* from one to the next */

	u32 bell __attribute__((aligned(SHM_LINE))); /* counts changes of state[] */
	u32 sleeping;                                /* the owner sleeps, or is about to */
	u32 wake;                                    /* its futex: counts wake-ups */
	u32 closed;                                  /* the owner takes nothing any more */

	/* Endpoints that wait for word of the owner, which got no mailbox there: the last ones. */
	u32 nunheard;
	u64 unheard[SHM_UNHEARD]; /* their cookies, by count */

	u32 state[SHM_BOXES] __attribute__((aligned(SHM_LINE))); /* enum shm_state */
};

/* What the consumer has done, counted since the mailbox was made; all wrap around. */
struct shm_taken {
	u32 slots; /* slots read */
	u32 data;  /* payload bytes read, gaps included */
	u32 msgs;  /* eager messages delivered or dropped */
	u32 bytes; /* their payload bytes */
} __attribute__((aligned(SHM_LINE)));

struct shm_box {
	u8 address[128]; /* of the producer (struct goal_address) */
	struct shm_taken taken;
	u32 waiting; /* (producer) it waits for room, and reads taken all the time */
	u8 spare[60];
};

/* shm_slot.kind */
enum shm_kind {
	SHM_EAGER = 1, /* a message: its payload inline, or in the payload ring */
	SHM_RTS,       /* a message that waits for its receive */
	SHM_CTS,       /* the answer: send it now, or forget it */
	SHM_FRAG,      /* a piece of what was asked for */
	SHM_GONE       /* a message that will never come: its run failed */
};

#define SHM_INLINE 24 /* payload bytes in a slot */

/* Which transfer of the other side: its place in a table and how often that was used. */
struct shm_id {
	u32 index, gen;
};

struct shm_rts {
	struct shm_id sender;
	u64 bytes;
};

struct shm_cts {
	struct shm_id sender;
	struct shm_id receiver;
	u64 bytes; /* 0: forget it, the operation is done */
};

struct shm_frag {
	struct shm_id receiver;
	u64 off;
	u32 aborted; /* the run of the sender failed: no more will come */
	u32 spare;
};

struct shm_slot {
	u32 stamp; /* lap, written last */
	u8 kind;
	u8 spare;
	u16 len; /* EAGER, FRAG: payload bytes */
	u64 nonce;
	u64 key; /* run: operation id << 32 | start number */
	u32 src;
	u32 tag;
	u32 instance;
	u32 data; /* EAGER above SHM_INLINE, FRAG: position in the payload ring */
	union {
		u8 bytes[SHM_INLINE];
		u64 words[SHM_INLINE / 8];
		struct shm_rts rts;
		struct shm_cts cts;
		struct shm_frag frag;
	} u;
} __attribute__((aligned(SHM_LINE)));

_Static_assert(sizeof(struct shm_slot) == SHM_LINE, "a slot is one cache line");
_Static_assert(sizeof(struct shm_box) == 256, "the rings begin at a line");

#define SHM_LEN_MAX 0xffffu /* shm_slot.len */

static inline struct shm_slot *shm_slots(struct shm_box *box)
{
	return (struct shm_slot *)(box + 1);
}

static inline u8 *shm_data(struct shm_box *box, u32 slots)
{
	return (u8 *)(shm_slots(box) + slots);
}

static inline u64 shm_box_bytes(u32 slots, u32 bytes)
{
	return sizeof(struct shm_box) + (u64)slots * sizeof(struct shm_slot) + bytes;
}

#endif /* ENGINE_SHM_H */
