// SPDX-License-Identifier: BSD-3-Clause
/*
 * The consumer's side of the mailboxes: look at each that exists, and take what has arrived.
 * Called with the engine's lock held by everything that makes progress.
 *
 * A slot's fields are read once, then checked, then used: its writer is another process.
 */
#include "env_run.h"

#define TAKE_MOST 64 /* slots of one mailbox before the others have their turn */

struct goal_run *host_run_find(struct goal_engine *e, u64 nonce, u64 key)
{
	struct goal_run *r = e->last;

	if (likely(r && r->key == key && r->nonce == nonce))
		return r;
	for (r = e->hash[host_hash(nonce, key, HOST_RUN_HASH)]; r; r = r->hash_next) {
		if (r->key == key && r->nonce == nonce) {
			e->last = r;
			return r;
		}
	}
	return NULL;
}

/* Is @src of @r's group the process that writes to mailbox @rx? */
static inline bool from(const struct goal_run *r, const struct host_rx *rx, u32 src)
{
	return likely(src < r->group->npeers && r->group->peer[src] == rx->peer);
}

/* Where payload at position @at is; NULL: not in the ring. */
static const u8 *payload(struct goal_engine *e, struct host_rx *rx, u32 at, u32 len)
{
	u32 size = e->attr.ring_bytes;
	u32 off = at & (size - 1);

	if (len > size - off)
		return NULL;
	rx->data_head = (at + len + SHM_LINE - 1) & ~(SHM_LINE - 1u);
	return shm_data(rx->box, e->attr.ring_slots) + off;
}

/* A message object for what is in slot @s; its name is filled in. */
static struct host_msg *keep(struct goal_engine *e, struct host_rx *rx, const struct shm_slot *s,
			     u32 kind, u64 payload_bytes)
{
	struct host_msg *m = host_msg_get(e, payload_bytes);

	if (!m)
		return NULL;
	m->kind = kind;
	m->peer = rx->peer;
	m->src = READ_ONCE(s->src);
	m->tag = READ_ONCE(s->tag);
	m->instance = READ_ONCE(s->instance);
	rx->peer->refs++;
	rx->held++;
	return m;
}

/* Without memory for a message its run cannot go on; without a run the slot stays. */
static bool no_memory(struct goal_run *r, u32 src)
{
	if (!r)
		return false;
	host_group_fail(r->group, -ENOMEM, src);
	return true;
}

/* @len bytes of payload for operation @op of @r. */
static inline void receive(struct goal_run *r, u32 op, const u8 *data, u32 len)
{
	const struct goal_op *o = &r->core.sched->op[op];
	int status = 0;

	if (unlikely(len > o->len)) {
		status = -EMSGSIZE;
	} else {
		if (len) {
			const struct core_binding *b = env_buffer(&r->core, o->dst_buf);

			if (likely(b->nseg == 1))
				env_copy((u8 *)b->seg->base + o->dst_off, data, len);
			else
				host_copy_in(b, o->dst_off, data, len);
		}
		r->core.rlen[o->slot] = len;
	}
	core_op_done(&r->core, op, status);
}

/* The functions below: true: the slot was used; false: it must stay for now. */

static inline bool take_eager(struct goal_engine *e, struct host_rx *rx, const struct shm_slot *s)
{
	u64 nonce = READ_ONCE(s->nonce), key = READ_ONCE(s->key);
	u32 src = READ_ONCE(s->src);
	u32 len = READ_ONCE(s->len);
	const u8 *data = s->u.bytes;
	struct goal_run *r = host_run_find(e, nonce, key);
	struct host_msg *m;
	s64 op = -EAGAIN;

	if (unlikely(r && !from(r, rx, src)))
		goto drop;
	if (unlikely(len > SHM_INLINE)) {
		data = len <= e->attr.eager ? payload(e, rx, READ_ONCE(s->data), len) : NULL;
		if (!data)
			goto drop;
	}
	if (likely(r)) {
		op = core_message_claim(&r->core, src, READ_ONCE(s->tag), READ_ONCE(s->instance));
		if (likely(op >= 0)) {
			rx->msgs++;
			rx->bytes += len;
			receive(r, (u32)op, data, len);
			return true;
		}
		if (op != -EAGAIN)
			goto drop;
	}

	m = keep(e, rx, s, HOST_MSG_EAGER, len);
	if (!m) {
		if (no_memory(r, src))
			goto drop;
		return false;
	}
	m->len = len;
	memcpy(m->data, data, len);
	e->stats.unexpected++;
	if (r)
		host_message(r, m);
	else
		host_message_early(e, nonce, key, m);
	return true;

drop:
	e->stats.drops++;
	rx->msgs++;
	rx->bytes += len;
	return true;
}

static bool take_rts(struct goal_engine *e, struct host_rx *rx, const struct shm_slot *s)
{
	u64 nonce = READ_ONCE(s->nonce), key = READ_ONCE(s->key);
	u32 src = READ_ONCE(s->src);
	struct goal_run *r = host_run_find(e, nonce, key);
	struct shm_rts rts = {
		.sender.index = READ_ONCE(s->u.rts.sender.index),
		.sender.gen = READ_ONCE(s->u.rts.sender.gen),
		.bytes = READ_ONCE(s->u.rts.bytes),
	};
	struct host_msg *m;
	s64 op;
	int rc;

	if (r) {
		if (!from(r, rx, src))
			goto refuse;
		op = core_message_claim(&r->core, src, READ_ONCE(s->tag), READ_ONCE(s->instance));
		if (op >= 0) {
			rc = host_receive(r, (u32)op, rx->peer, rts.sender, rts.bytes);
			if (rc != CORE_PENDING)
				core_op_done(&r->core, (u32)op, rc);
			return true;
		}
		if (op != -EAGAIN)
			goto refuse;
	}
	m = keep(e, rx, s, HOST_MSG_RTS, 0);
	if (!m) {
		if (no_memory(r, src))
			goto refuse;
		return false;
	}
	m->sender = rts.sender;
	m->len = rts.bytes;
	e->stats.unexpected++;
	if (r)
		host_message(r, m);
	else
		host_message_early(e, nonce, key, m);
	return true;

refuse:
	e->stats.drops++;
	host_refuse(e, rx->peer, rts.sender);
	return true;
}

/* Rank src has failed in this run, and will not send what it should. */
static bool take_gone(struct goal_engine *e, struct host_rx *rx, const struct shm_slot *s)
{
	u64 nonce = READ_ONCE(s->nonce), key = READ_ONCE(s->key);
	struct goal_run *r = host_run_find(e, nonce, key);
	struct host_msg *m = keep(e, rx, s, HOST_MSG_GONE, 0);

	if (!m)
		return no_memory(r, READ_ONCE(s->src));
	m->len = 0;
	if (r)
		host_message(r, m);
	else
		host_message_early(e, nonce, key, m);
	return true;
}

static void take_frag(struct goal_engine *e, struct host_rx *rx, const struct shm_slot *s)
{
	struct shm_frag frag = {
		.receiver.index = READ_ONCE(s->u.frag.receiver.index),
		.receiver.gen = READ_ONCE(s->u.frag.receiver.gen),
		.off = READ_ONCE(s->u.frag.off),
		.aborted = READ_ONCE(s->u.frag.aborted),
	};
	u32 len = READ_ONCE(s->len);
	const u8 *data = NULL;

	if (!frag.aborted) {
		data = payload(e, rx, READ_ONCE(s->data), len);
		if (!data) {
			e->stats.drops++;
			return;
		}
	}
	host_fragment(e, rx->peer, &frag, data, len);
}

static void take_cts(struct goal_engine *e, struct host_rx *rx, const struct shm_slot *s)
{
	struct shm_cts cts = {
		.sender.index = READ_ONCE(s->u.cts.sender.index),
		.sender.gen = READ_ONCE(s->u.cts.sender.gen),
		.receiver.index = READ_ONCE(s->u.cts.receiver.index),
		.receiver.gen = READ_ONCE(s->u.cts.receiver.gen),
		.bytes = READ_ONCE(s->u.cts.bytes),
	};

	host_granted(e, rx->peer, &cts);
}

static bool take_other(struct goal_engine *e, struct host_rx *rx, const struct shm_slot *s,
		       u32 kind)
{
	switch (kind) {
	case SHM_RTS:
		return take_rts(e, rx, s);
	case SHM_CTS:
		take_cts(e, rx, s);
		return true;
	case SHM_FRAG:
		take_frag(e, rx, s);
		return true;
	case SHM_GONE:
		return take_gone(e, rx, s);
	default:
		e->stats.drops++;
		return true;
	}
}

/* Tell the producer how far we are. */
static inline void publish(struct host_rx *rx)
{
	struct shm_taken *t = &rx->box->taken;

	/* The producer may see this one before the others, and writes there: payload is read. */
	__atomic_store_n(&t->data, rx->data_head, __ATOMIC_RELEASE);
	__atomic_store_n(&t->bytes, rx->bytes, __ATOMIC_RELAXED);
	__atomic_store_n(&t->msgs, rx->msgs, __ATOMIC_RELAXED);
	__atomic_store_n(&t->slots, rx->head, __ATOMIC_RELEASE);
	rx->published = rx->head;
}

static inline bool has_next(const struct host_rx *rx)
{
	return __atomic_load_n(&rx->next->stamp, __ATOMIC_ACQUIRE) == rx->lap;
}

/*
 * Mailbox @rx has something. Number of slots taken. Once a run is over what is left stays there:
 * it is mostly for runs to come, which take it from there with one copy; and the look at a slot
 * that the producer is just writing would hold up what the caller sends next.
 */
static u32 take(struct goal_engine *e, struct host_rx *rx)
{
	u32 mask = e->attr.ring_slots - 1;
	u32 over = e->nover;
	u32 n = 0;

	do {
		const struct shm_slot *s = rx->next;
		u32 kind = READ_ONCE(s->kind);
		u32 data_head = rx->data_head;

		/*
		 * A producer that is far ahead has written this one, too. One that is not has not
		 * come near it, and we have the line since the lap before.
		 */
		__builtin_prefetch(shm_slots(rx->box) + ((rx->head + 2) & mask));
		if (unlikely(kind == SHM_EAGER ? !take_eager(e, rx, s)
					       : !take_other(e, rx, s, kind))) {
			rx->data_head = data_head; /* its payload is needed once more */
			break;
		}
		n++;
		rx->head++;
		rx->next = shm_slots(rx->box) + (rx->head & mask);
		/* Laps are counted as the producer does, from its 32-bit count of slots. */
		if (unlikely(!(rx->head & mask)))
			rx->lap = rx->head ? rx->lap + 1 : 1;
	} while (n < TAKE_MOST && e->nover == over && has_next(rx));

	/* A producer that waits for room reads this line all the time: write it now and then. */
	if (likely(!READ_ONCE(rx->box->waiting)) || rx->head - rx->published > mask / 4)
		publish(rx);
	return n;
}

u32 host_poll(struct goal_engine *e)
{
	u32 i, n = 0;

	if (unlikely(__atomic_load_n(&e->shm->bell, __ATOMIC_ACQUIRE) != e->bell))
		host_endpoint_scan(e);
	for (i = 0; i < e->nrx; i++) {
		struct host_rx *rx = &e->rx[i];

		if (has_next(rx))
			n += take(e, rx);
		else if (unlikely(rx->head != rx->published))
			publish(rx);
	}
	return n;
}

/* One round of everything. The lock is not held; another thread that is at it is left alone. */
u32 host_progress(struct goal_engine *e)
{
	bool calls;
	u32 n;

	if (!host_trylock(e))
		return 0;
	n = host_poll(e);
	if (unlikely(e->npending))
		n += host_pending(e);
	calls = e->ncalls && !e->dispatching;
	if (n)
		e->moved += n;
	else
		host_quiet(e);
	host_unlock(e);
	if (unlikely(calls))
		n += host_dispatch(e);
	return n;
}
