// SPDX-License-Identifier: BSD-3-Clause
/*
 * The engine's memory: every allocation is made here and counted, and what comes and goes while
 * schedules run is cut from blocks and kept in free lists, so that a start that has been made
 * before asks malloc for nothing.
 *
 * What bounds the pools: message objects by the senders' credit (one RTS object for
 * each operation a peer has under way beyond that), transfers by the operations under way here.
 */
#include <stdlib.h>

#include "host.h"

#define MSG_SMALL_BLOCK 64
#define MSG_LARGE_BLOCK 16
#define EARLY_BLOCK     64
#define XFER_BLOCK      64

void *host_alloc(struct goal_engine *e, size_t bytes)
{
	e->stats.allocs++;
	return calloc(1, bytes);
}

/* A block that lives as long as the engine. */
static void *block(struct goal_engine *e, size_t bytes)
{
	void *p;

	if (e->nblocks == e->room_blocks) {
		u32 room = e->room_blocks ? 2 * e->room_blocks : 16;
		void **more;

		e->stats.allocs++;
		more = realloc(e->blocks, room * sizeof(*more));
		if (!more)
			return NULL;
		e->blocks = more;
		e->room_blocks = room;
	}
	p = host_alloc(e, bytes);
	if (p)
		e->blocks[e->nblocks++] = p;
	return p;
}

static size_t msg_bytes(const struct goal_engine *e, bool large)
{
	size_t payload = large ? e->attr.eager : HOST_MSG_SMALL;

	return (sizeof(struct host_msg) + payload + 15) & ~(size_t)15;
}

static int grow_msgs(struct goal_engine *e, bool large)
{
	u32 i, n = large ? MSG_LARGE_BLOCK : MSG_SMALL_BLOCK;
	size_t bytes = msg_bytes(e, large);
	char *p = block(e, n * bytes);

	if (!p)
		return -ENOMEM;
	for (i = 0; i < n; i++) {
		struct host_msg *m = (struct host_msg *)(p + i * bytes);

		m->large = large;
		m->next = e->free_msg[large];
		e->free_msg[large] = m;
	}
	return 0;
}

static int grow_early(struct goal_engine *e)
{
	struct host_early *p = block(e, EARLY_BLOCK * sizeof(*p));
	u32 i;

	if (!p)
		return -ENOMEM;
	for (i = 0; i < EARLY_BLOCK; i++)
		host_early_put(e, &p[i]);
	return 0;
}

static int grow_xfers(struct goal_engine *e)
{
	struct host_xfer **table, *p;
	u32 i;

	e->stats.allocs++;
	table = realloc(e->xfers, (e->nxfers + XFER_BLOCK) * sizeof(struct host_xfer *));
	if (!table)
		return -ENOMEM;
	e->xfers = table;
	p = block(e, XFER_BLOCK * sizeof(*p));
	if (!p)
		return -ENOMEM;
	for (i = 0; i < XFER_BLOCK; i++) {
		p[i].id.index = e->nxfers;
		p[i].id.gen = 1;
		e->xfers[e->nxfers++] = &p[i];
		list_append(&e->free_xfers, &p[i].link);
		list_init(&p[i].run_link);
	}
	e->nfree_xfers += XFER_BLOCK;
	return 0;
}

int host_pools_init(struct goal_engine *e)
{
	int rc;

	list_init(&e->free_xfers);
	rc = grow_msgs(e, false);
	if (!rc)
		rc = grow_msgs(e, true);
	if (!rc)
		rc = grow_early(e);
	if (!rc)
		rc = grow_xfers(e);
	return rc;
}

void host_pools_free(struct goal_engine *e)
{
	u32 i;

	for (i = 0; i < e->nxfers; i++)
		free(e->xfers[i]->bounce);
	free(e->xfers);
	for (i = 0; i < e->nblocks; i++)
		free(e->blocks[i]);
	free(e->blocks);
}

/* NULL: out of memory. @payload is at most the engine's eager limit. */
struct host_msg *host_msg_get(struct goal_engine *e, u64 payload)
{
	bool large = payload > HOST_MSG_SMALL;
	struct host_msg *m;

	if (unlikely(!e->free_msg[large]) && grow_msgs(e, large))
		return NULL;
	m = e->free_msg[large];
	e->free_msg[large] = m->next;
	return m;
}

void host_msg_put(struct goal_engine *e, struct host_msg *m)
{
	m->next = e->free_msg[m->large];
	e->free_msg[m->large] = m;
}

/* Have what it takes to keep an empty message that comes too early. */
int host_early_reserve(struct goal_engine *e)
{
	int rc = e->free_msg[false] ? 0 : grow_msgs(e, false);

	return rc || e->free_early ? rc : grow_early(e);
}

struct host_early *host_early_get(struct goal_engine *e)
{
	struct host_early *early;

	if (unlikely(!e->free_early) && grow_early(e))
		return NULL;
	early = e->free_early;
	e->free_early = early->next;
	early->first = NULL;
	early->last = &early->first;
	return early;
}

void host_early_put(struct goal_engine *e, struct host_early *early)
{
	early->next = e->free_early;
	e->free_early = early;
}

int host_xfer_reserve(struct goal_engine *e, u32 n)
{
	int rc;

	while (e->nfree_xfers < n) {
		rc = grow_xfers(e);
		if (rc)
			return rc;
	}
	return 0;
}

/* A transfer for operation @op of @r (or NULL). NULL: out of memory. */
struct host_xfer *host_xfer_get(struct goal_engine *e, struct goal_run *r, u32 op, u32 state)
{
	struct host_xfer *x;

	if (unlikely(host_xfer_reserve(e, 1)))
		return NULL;
	x = list_entry(e->free_xfers.next, struct host_xfer, link);
	list_remove(&x->link);
	e->nfree_xfers--;
	x->run = r;
	x->peer = NULL;
	x->state = state;
	x->op = op;
	x->bytes = 0;
	x->done = 0;
	x->cancelling = false;
	x->drain = false;
	x->told = false;
	if (r) {
		const struct goal_op *o = &r->core.sched->op[op];

		x->nonce = r->nonce;
		x->key = r->key;
		x->src = r->group->rank;
		x->tag = o->tag;
		x->instance = o->instance;
		list_append(&r->xfers, &x->run_link);
	}
	return x;
}

void host_xfer_put(struct goal_engine *e, struct host_xfer *x)
{
	list_remove(&x->link);
	list_remove(&x->run_link);
	x->state = HOST_XFER_FREE;
	x->id.gen++;
	x->run = NULL;
	x->peer = NULL;
	free(x->bounce);
	x->bounce = NULL;
	list_append(&e->free_xfers, &x->link);
	e->nfree_xfers++;
}

/* The transfer that a peer means by @id; NULL: it is over, or never was. */
struct host_xfer *host_xfer_find(struct goal_engine *e, struct shm_id id)
{
	struct host_xfer *x;

	if (unlikely(id.index >= e->nxfers))
		return NULL;
	x = e->xfers[id.index];
	return likely(x->id.gen == id.gen && x->state != HOST_XFER_FREE) ? x : NULL;
}
