/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The producer's side of a mailbox: how a slot is filled and handed over. Inline, since a
 * message between two processes is hardly more than this. Used by env_run.h and send.c.
 */
#ifndef ENGINE_MAILBOX_H
#define ENGINE_MAILBOX_H

#include "host.h"

/* The slot that is written next. There must be room. */
static inline struct shm_slot *box_slot(const struct host_peer *p)
{
	return &p->slots[p->tail & p->slot_mask];
}

/*
 * Fetch the line at @p for writing. The consumer has a copy of it from the lap before; without
 * this the next message would have to wait until that is taken away from it.
 */
static inline void box_fetch(const void *p)
{
#if defined(__x86_64__)
	__asm__ volatile("prefetchw %0" : : "m"(*(const char *)p));
#else
	__builtin_prefetch(p, 1);
#endif
}

/* Hand slot @s over, after everything else in it was written. */
static inline void box_publish(struct host_peer *p, struct shm_slot *s)
{
	u32 lap = (p->tail >> p->slot_shift) + 1;

	p->tail++;
	__atomic_store_n(&s->stamp, lap, __ATOMIC_RELEASE);
	/*
	 * The owner sets this before it sleeps, and looks once more after that, and the sleep is
	 * bounded: so no fence is paid for here to close the last gap.
	 */
	if (unlikely(__atomic_load_n(&p->shm->sleeping, __ATOMIC_RELAXED)))
		host_wake(p->shm);
	box_fetch(box_slot(p));
}

/* Look at how far the owner is, and work out what may be sent. */
static inline void box_refresh(struct host_peer *p)
{
	u32 slots, msgs;

	p->taken.slots = __atomic_load_n(&p->box->taken.slots, __ATOMIC_ACQUIRE);
	p->taken.data = __atomic_load_n(&p->box->taken.data, __ATOMIC_ACQUIRE);
	p->taken.msgs = READ_ONCE(p->box->taken.msgs);
	p->taken.bytes = READ_ONCE(p->box->taken.bytes);
	/* A broken owner may have written anything: more than all is nothing. */
	slots = p->slot_mask + 1 - (p->tail - p->taken.slots);
	msgs = p->credit_msgs - ((u32)p->msgs - p->taken.msgs);
	if (slots > p->slot_mask + 1)
		slots = 0;
	if (msgs > p->credit_msgs)
		msgs = 0;
	p->room = slots < msgs ? slots : msgs;
}

static inline u32 box_free_slots(const struct host_peer *p)
{
	u32 n = p->slot_mask + 1 - (p->tail - p->taken.slots);

	return n > p->slot_mask + 1 ? 0 : n;
}

/* A slot without credit, for what is not an eager message: NULL when there is no room. */
static inline struct shm_slot *box_control(struct host_peer *p)
{
	if (!box_free_slots(p)) {
		box_refresh(p);
		if (!box_free_slots(p))
			return NULL;
	}
	if (p->room)
		p->room--; /* one slot less; credit is looked up again when it is 0 */
	return box_slot(p);
}

/* Where @len payload bytes can be written, in one piece: true, and the position in *@at. */
static inline bool box_data(struct host_peer *p, u32 len, u32 *at)
{
	u32 size = p->data_mask + 1;
	u32 start = p->data_tail;
	u32 left = size - (start & p->data_mask);

	if (left < len)
		start += left; /* what is left before the end of the ring stays empty */
	if (start + len - p->taken.data > size) {
		box_refresh(p);
		if (start + len - p->taken.data > size)
			return false;
	}
	*at = start;
	/* The next one begins at a line of its own. */
	p->data_tail = (start + len + SHM_LINE - 1) & ~(SHM_LINE - 1u);
	return true;
}

static inline void box_name(struct shm_slot *s, u32 kind, u32 len, u64 nonce, u64 key, u32 src,
			    u32 tag, u32 instance)
{
	s->kind = (u8)kind;
	s->spare = 0;
	s->len = (u16)len;
	s->nonce = nonce;
	s->key = key;
	s->src = src;
	s->tag = tag;
	s->instance = instance;
}

#endif /* ENGINE_MAILBOX_H */
