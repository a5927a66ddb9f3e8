// SPDX-License-Identifier: BSD-3-Clause
/*
 * Starting runs on the device, at once or when there is an object for them. Called by kernel_run.c
 * and kernel_progress.c.
 */
#include <stdlib.h>

#include "kernel.h"

#define SEGS_HERE 16            /* segments that need no memory of their own */
#define PATIENCE  5000000000ull /* ns that a run waits for memory that other processes have */

/* The first @need bytes of @b, as segments; how many. */
static u32 segments_of(const struct core_binding *b, u64 need, struct espgoal_seg *seg)
{
	u32 i, n = 0;

	for (i = 0; i < b->nseg && need; i++) {
		u64 len = b->seg[i].len < need ? b->seg[i].len : need;

		if (!len)
			continue;
		if (seg)
			seg[n] = (struct espgoal_seg){ .addr = (uintptr_t)b->seg[i].base,
						       .len = len };
		n++;
		need -= len;
	}
	return n;
}

static u32 segments(const struct kernel_run *r, struct espgoal_seg *seg)
{
	const struct kernel_loaded *l = kernel_loaded(r->run.loaded);
	u32 b, n = 0;

	for (b = 0; b < l->nbufs; b++)
		if (l->flags[b] & ESPGOAL_BUF_IN)
			n += segments_of(&r->run.core.buf[b], l->need[b], seg ? seg + n : NULL);
	return n;
}

/* One piece of memory instead of more segments than the device takes. */
static int gather(struct espgoal_seg *seg, u32 n, u8 **memory)
{
	u64 bytes = 0;
	u32 i;
	u8 *at;

	for (i = 0; i < n; i++)
		bytes += seg[i].len;
	*memory = at = malloc(bytes);
	if (!at)
		return -ENOMEM;
	for (i = 0; i < n; i++) {
		memcpy(at, (const void *)(uintptr_t)seg[i].addr, seg[i].len);
		at += seg[i].len;
	}
	seg[0] = (struct espgoal_seg){ .addr = (uintptr_t)*memory, .len = bytes };
	return 0;
}

/* Fill in what is copied, and start. The lock is not held. */
static int request(const struct kernel_engine *k, const struct kernel_run *r,
		   struct espgoal_start *s)
{
	struct espgoal_seg here[SEGS_HERE], *seg = here;
	u32 n = s->flags & ESPGOAL_START_FAILED ? 0 : segments(r, NULL);
	u8 *memory = NULL;
	int rc = 0;

	if (n > SEGS_HERE) {
		seg = malloc(n * sizeof(*seg));
		if (!seg)
			return -ENOMEM;
	}
	if (n)
		segments(r, seg);
	if (n > k->info.segs_max) {
		rc = gather(seg, n, &memory);
		n = 1;
	}
	if (!rc) {
		s->nsegs = n;
		if (n <= 2)
			memcpy(s->seg, seg, n * sizeof(*seg));
		else
			s->segs = (uintptr_t)seg;
		rc = kernel_device_request(k->fd, ESPGOAL_START, s);
	}
	free(memory);
	if (seg != here)
		free(seg);
	return rc;
}

static void enqueue(struct kernel_engine *k, struct kernel_run *r)
{
	r->object = NULL;
	r->queued_at = host_now();
	list_append(&k->queued, &r->link);
	__atomic_store_n(&k->nqueued, k->nqueued + 1, __ATOMIC_RELAXED);
}

/* A cancel came while @o was being started for the @starts time: is that run still active? */
static void cancel_late(struct kernel_engine *k, const struct kernel_object *o, u32 starts)
{
	struct list *pos;

	list_for(pos, &k->active)
	{
		const struct kernel_run *r = list_entry(pos, struct kernel_run, link);
		struct espgoal_id id;

		if (r->object != o || r->starts != starts)
			continue;
		id = (struct espgoal_id){ .id = o->id };
		(void)kernel_device_request(k->fd, ESPGOAL_CANCEL, &id);
		return;
	}
}

static void started(struct kernel_engine *k, struct kernel_starting *s)
{
	struct kernel_starting **at = &k->starting;

	while (*at != s)
		at = &(*at)->next;
	*at = s->next;
	k->nstarting--;
}

/*
 * The device has as many active runs of the group as it takes, all of this process: @r waits, in front
 * of others, until one is over that was not when @seen were.
 */
static void crowded(struct kernel_engine *k, struct kernel_run *r, u32 seen, bool cancelled)
{
	struct kernel_group *g = kernel_group(r->run.group);

	g->crowded = true;
	g->crowded_at = seen;
	if (cancelled && !r->failed) {
		r->failed = true;
		r->refusal = -ECANCELED;
	}
	r->queued_at = host_now();
	list_append(k->queued.next, &r->link);
	__atomic_store_n(&k->nqueued, k->nqueued + 1, __ATOMIC_RELAXED);
}

/* 0; -EAGAIN: it is in the queue; or another error. */
static int start_on(struct kernel_engine *k, struct kernel_run *r, struct kernel_object *o,
		    u64 wait_ns)
{
	struct kernel_loaded *l = kernel_loaded(r->run.loaded);
	struct espgoal_start s = {
		.run = o->id,
		.group = kernel_group(r->run.group)->id,
		.op_id = r->op_id,
		.start = r->start,
		.flags = r->failed ? ESPGOAL_START_FAILED
			 : wait_ns ? ESPGOAL_START_WAIT
				   : 0,
		.timeout = r->failed ? 0 : wait_ns,
	};
	struct kernel_starting me = { .next = k->starting, .run = r };
	u32 starts = ++o->starts, seen = k->seen;
	int rc;

	/* It may be over, and dealt with by another thread, before we are back. */
	r->object = o;
	r->starts = starts;
	list_append(&k->active, &r->link);
	k->starting = &me;
	k->nstarting++;
	host_unlock(&k->e);
	rc = request(k, r, &s);
	host_lock(&k->e);
	started(k, &me);
	if (unlikely(me.cancel) && !rc)
		cancel_late(k, o, starts);
	if (likely(!rc))
		return 0;
	list_remove(&r->link);
	o->starts--;
	r->object = NULL;
	kernel_object_put(l, o);
	if (rc == -EAGAIN)
		crowded(k, r, seen, me.cancel);
	return rc == -EEXIST ? -EINVAL : rc;
}

int kernel_go(struct kernel_run *r, u64 wait_ns)
{
	struct kernel_engine *k = kernel_engine(r->run.engine);
	struct kernel_loaded *l = kernel_loaded(r->run.loaded);
	struct kernel_object *o;
	int rc;

	/* In the order in which they are started, as long as it does not matter more. */
	if (unlikely(k->nqueued)) {
		enqueue(k, r);
		kernel_queue(k);
		return 0;
	}
	o = kernel_object_get(k, l, &rc);
	if (likely(o != NULL)) {
		if (l->link.next != &k->loaded) {
			list_remove(&l->link);
			list_append(&k->loaded, &l->link);
		}
		rc = start_on(k, r, o, wait_ns);
		return rc == -EAGAIN ? 0 : rc;
	}
	if (!kernel_exhausted(rc))
		return rc;
	enqueue(k, r);
	return 0;
}

/* @r, whose owner has been told that it is started, cannot be: he and the others must hear of it. */
static void fail(struct kernel_engine *k, struct kernel_run *r, int rc)
{
	if (r->failed) {
		kernel_over(k, r, r->refusal ? r->refusal : rc, GOAL_OP_NONE);
		kernel_group_lost(r->run.group);
		return;
	}
	r->failed = true;
	r->refusal = rc;
	enqueue(k, r);
}

/* Nothing of this process will give memory back: it is up to others, but not for ever. */
static bool hopeless(const struct kernel_engine *k, const struct kernel_run *r, int rc)
{
	if (!kernel_exhausted(rc))
		return true;
	return host_now() > r->queued_at + PATIENCE && list_empty(&k->active) && !k->nstarting &&
	       !kernel_object_sending(k);
}

u32 kernel_queue(struct kernel_engine *k)
{
	struct list *pos, *next;
	u32 n = 0;

	list_for_safe(pos, next, &k->queued)
	{
		struct kernel_run *r = list_entry(pos, struct kernel_run, link);
		const struct kernel_group *g = kernel_group(r->run.group);
		struct kernel_object *o;
		int rc;

		if (g->crowded && g->crowded_at == k->seen)
			continue;
		o = kernel_object_get(k, kernel_loaded(r->run.loaded), &rc);
		if (!o && !hopeless(k, r, rc))
			continue;
		list_remove(&r->link);
		__atomic_store_n(&k->nqueued, k->nqueued - 1, __ATOMIC_RELAXED);
		if (o) {
			rc = start_on(k, r, o, 0);
			if (rc && rc != -EAGAIN)
				fail(k, r, rc);
		} else {
			r->failed = true;
			fail(k, r, rc);
		}
		n++;
		/* The lock was given up: the list may be another one. */
		next = k->queued.next;
	}
	return n;
}
