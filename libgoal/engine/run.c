// SPDX-License-Identifier: BSD-3-Clause
/*
 * Runs: start, test, wait, cancel, give up. The functions of goal/engine.h that a collective
 * call passes through; goal_exec() is the one whose nanoseconds count.
 */
#include <stdlib.h>

#include "kernel.h"
#include "mailbox.h"

_Static_assert(sizeof(struct goal_segment) == sizeof(struct core_segment) &&
		       offsetof(struct goal_segment, len) == offsetof(struct core_segment, len),
	       "the core reads the caller's segments as they are");

/*
 * Polls right after a start, before the waiting policy is asked: some microseconds where there
 * are cores enough, so that a message that is under way is met without a detour.
 */
#define FIRST_POLLS      1000
#define FIRST_POLLS_FULL 4
#define START_POLLS      16 /* of a start that does not wait: what is there is taken at once */

static inline bool over(const struct goal_run *r)
{
	return __atomic_load_n(&r->over, __ATOMIC_ACQUIRE);
}

/* Memory for one run of @l with @scratch bytes; NULL: there is none. */
struct goal_run *host_run_new(struct goal_loaded *l, u64 scratch)
{
	size_t arrays = (core_run_bytes(&l->sched) + 7) & ~(size_t)7;
	size_t bytes = sizeof(struct goal_run) + arrays;
	struct goal_run *r;

	if (scratch > SIZE_MAX / 2 - bytes)
		return NULL;
	r = host_alloc(l->engine, bytes + (scratch ? scratch + SHM_LINE : 0));
	if (!r)
		return NULL;
	l->bytes += bytes;
	r->loaded = l;
	r->engine = l->engine;
	core_run_init(&r->core, &l->sched, r + 1);
	if (scratch) {
		uintptr_t at = (uintptr_t)r + bytes;

		r->scratch.base = (void *)((at + SHM_LINE - 1) & ~(uintptr_t)(SHM_LINE - 1));
		r->scratch.len = scratch;
		r->core.scratch.seg = &r->scratch;
		r->core.scratch.nseg = 1;
		r->core.scratch.len = scratch;
	}
	list_init(&r->group_link);
	list_init(&r->xfers);
	r->unsent = GOAL_OP_NONE;
	return r;
}

/* @r is over and nobody knows it any more. */
void host_run_put(struct goal_run *r)
{
	struct goal_loaded *l = r->loaded;

	l->nactive--;
	if (likely(l->nfree < l->keep && !r->refused)) {
		r->next = l->free;
		l->free = r;
		l->nfree++;
		return;
	}
	l->bytes -= sizeof(*r) + ((core_run_bytes(&l->sched) + 7) & ~(size_t)7);
	free(r);
}

static bool active(const struct goal_group *g, u64 key)
{
	const struct goal_run *r = g->engine->hash[host_hash(g->nonce, key, HOST_RUN_HASH)];

	while (unlikely(r && (r->key != key || r->nonce != g->nonce)))
		r = r->hash_next;
	return r;
}

static void enroll(struct goal_group *g, struct goal_run *r, u64 key)
{
	struct goal_engine *e = g->engine;
	struct goal_run **bucket = &e->hash[host_hash(g->nonce, key, HOST_RUN_HASH)];

	r->group = g;
	r->nonce = g->nonce;
	r->key = key;
	r->called = false;
	r->failing = false;
	r->lacking = false;
	r->lost = GOAL_OP_NONE;
	r->ended = false;
	__atomic_store_n(&r->over, 0, __ATOMIC_RELAXED);

	r->hash_next = *bucket;
	r->hash_prev = bucket;
	if (unlikely(r->hash_next != NULL))
		r->hash_next->hash_prev = &r->hash_next;
	*bucket = r;
	e->last = r;
	list_append(&g->runs, &r->group_link);
	e->active++;
}

/*
 * A run of @l cannot start here, for @status, but its peers' parts may have: they are told as by
 * a run that fails at once. It has memory of its own that does without buffers and scratch.
 * NULL: there is none, and the group has failed.
 */
static struct goal_run *refuse(struct goal_group *g, struct goal_loaded *l, u64 key,
			       int64_t remote_tag, int status)
{
	struct goal_run *r = host_run_new(l, 0);
	u32 i;

	if (!r) {
		host_group_fail(g, -ENOMEM, GOAL_OP_NONE);
		return NULL;
	}
	for (i = 0; i < l->sched.hdr->nbufs; i++)
		r->core.buf[i] = (struct core_binding){ 0 };
	l->nactive++;
	core_run_reset(&r->core);
	r->refused = true;
	r->remote_tag = remote_tag;
	enroll(g, r, key);
	core_cancel(&r->core, status, GOAL_OP_NONE);
	return r;
}

/*
 * Bind, check and register a run of @l on @g, to be launched. On failure *@run is NULL, or a run
 * that has failed, and is to be launched for its peers' sake.
 */
static int prepare(struct goal_group *g, struct goal_loaded *l, const struct goal_run_attr *attr,
		   struct goal_run **run)
{
	const struct goal_sched_hdr *hdr = l->sched.hdr;
	struct goal_engine *e = g->engine;
	u64 key = (u64)attr->op_id << 32 | attr->start;
	struct goal_run *r;
	u32 i, k;
	int rc;

	*run = NULL;
	if (unlikely(hdr->npeers > g->npeers || hdr->rank != g->rank || l->engine != e ||
		     (l->user && !attr->reduce) || (l->loose && g->nremote)))
		return -EINVAL;
	if (unlikely(active(g, key)))
		return -EINVAL; /* a run's identity is never used twice */

	rc = g->status;
	if (unlikely(rc))
		goto refuse;
	r = l->free;
	if (likely(r != NULL)) {
		l->free = r->next;
		l->nfree--;
	} else {
		r = host_run_new(l, hdr->scratch);
		rc = -ENOMEM;
		if (!r)
			goto refuse;
	}
	for (i = 0; i < hdr->nbufs; i++) {
		struct core_binding *b = &r->core.buf[i];

		if (unlikely(i >= attr->nbufs)) {
			b->nseg = 0;
			b->len = 0;
			continue;
		}
		b->seg = (const struct core_segment *)attr->bufs[i].seg;
		b->nseg = attr->bufs[i].nseg;
		b->len = 0;
		for (k = 0; k < b->nseg; k++)
			b->len += b->seg[k].len;
	}
	l->nactive++;
	rc = core_run_check(&r->core);
	if (unlikely(rc)) {
		host_run_put(r);
		goto refuse;
	}
	core_run_reset(&r->core);

	r->given_up = false;
	r->remote_tag = attr->remote_tag;
	r->reduce = attr->reduce;
	r->reduce_arg = attr->reduce_arg;
	r->done = attr->done;
	r->done_arg = attr->done_arg;
	enroll(g, r, key);
	e->stats.runs++;
	*run = r;
	return 0;

refuse:
	*run = refuse(g, l, key, attr->remote_tag, rc);
	return rc;
}

/*
 * The same for @r once more, with another start number: its bindings are checked, and stay. *@run as
 * above; a run that has failed then is another one.
 */
static int prepare_again(struct goal_run *r, u32 start, struct goal_run **run)
{
	u64 key = (r->key & ~(u64)0xffffffff) | start;
	struct goal_group *g = r->group;
	int rc = g->status;

	*run = NULL;
	/* Whoever waited for its callback may be here before that has returned. */
	if (unlikely(!over(r) || r->called))
		return -EBUSY;
	if (unlikely(active(g, key)))
		return -EINVAL;
	if (unlikely(rc)) {
		*run = refuse(g, r->loaded, key, r->remote_tag, rc);
		return rc;
	}
	core_run_reset(&r->core);
	enroll(g, r, key);
	g->engine->stats.runs++;
	*run = r;
	return 0;
}

/* Let a prepared run go, and give it what came before it. */
static inline void launch(struct goal_run *r)
{
	core_start(&r->core);
	if (unlikely(r->engine->nearly))
		host_message_start(r);
	if (unlikely(r->group->left))
		host_run_check_peers(r);
}

/* env_run_done(), put off while something holds @r. The lock is held, the core is done with @r. */
void host_run_done(struct goal_run *r)
{
	struct goal_engine *e = r->engine;

	if (unlikely(r->holds)) {
		r->ended = true;
		return;
	}
	*r->hash_prev = r->hash_next;
	if (unlikely(r->hash_next != NULL))
		r->hash_next->hash_prev = r->hash_prev;
	if (e->last == r)
		e->last = NULL;
	list_remove(&r->group_link);
	e->active--;
	e->nover++;
	e->stats.ops += r->core.sched->hdr->nops - r->core.undone;
	if (unlikely(r->core.status)) {
		u32 i = e->nfailed++ % HOST_FAILED;

		e->stats.runs_failed += !r->refused;
		e->failed[i].nonce = r->nonce;
		e->failed[i].key = r->key;
	}
	if (unlikely(r->failing))
		host_failed_over(r);
	if (r->done || r->given_up) {
		r->called = true;
		r->next = NULL;
		*e->over_last = r;
		e->over_last = &r->next;
		e->ncalls++;
	}
	__atomic_store_n(&r->over, 1, __ATOMIC_RELEASE);
	/* Another thread may wait for it. */
	if (unlikely(e->threads && __atomic_load_n(&e->shm->sleeping, __ATOMIC_RELAXED)))
		host_wake(e->shm);
}

/*
 * env_run_failed(): end what @r has under way, and tell peers that wait for messages which it
 * will not send; their parts of the run end with -ECONNABORTED instead of never.
 */
void host_run_failed(struct goal_run *r)
{
	const struct goal_sched_hdr *hdr = r->core.sched->hdr;
	struct goal_engine *e = r->engine;
	struct list *l, *next;
	u32 i;

	list_for_safe(l, next, &r->xfers)
		host_xfer_detach(list_entry(l, struct host_xfer, run_link));

	e->telling++;
	for (i = 0; i < hdr->nops; i++) {
		const struct goal_op *o = &r->core.sched->op[i];
		struct host_peer *p;

		if (o->code != GOAL_OP_SEND || (r->core.state[i] != CORE_OP_IDLE && i != r->unsent))
			continue;
		p = r->group->peer[o->peer];
		if (!p || p->self || p->dead || p->told == e->telling)
			continue;
		p->told = e->telling;
		host_send_gone(r, i, p);
	}
	r->unsent = GOAL_OP_NONE;
	host_failed(r);
}

void host_run_fail(struct goal_run *r, int status, u32 peer)
{
	core_cancel(&r->core, status, peer);
}

/* Let go @r, if any, which nobody waits for, and the lock. */
static inline void start(struct goal_engine *e, struct goal_run *r)
{
	bool calls;
	u32 polls;

	if (likely(r != NULL)) {
		launch(r);
		polls = __atomic_load_n(&e->spins, __ATOMIC_RELAXED) ? START_POLLS : 1;
		for (; polls && !over(r); polls--)
			host_poll(e);
	}
	calls = e->ncalls && !e->dispatching;
	host_unlock(e);
	if (unlikely(calls))
		host_dispatch(e);
}

int goal_start(struct goal_group *g, struct goal_loaded *l, const struct goal_run_attr *attr,
	       struct goal_run **run)
{
	struct goal_engine *e = g->engine;
	struct goal_run *r;
	int rc;

	if (host_elsewhere(e))
		return kernel_start(g, l, attr, run);
	host_lock(e);
	rc = prepare(g, l, attr, &r);
	/* Before its callback can be called, and give it up. */
	if (likely(!rc))
		*run = r;
	else if (r)
		r->given_up = true;
	start(e, r);
	return rc;
}

int goal_restart(struct goal_run *run, uint32_t number)
{
	struct goal_engine *e = run->engine;
	struct goal_run *r;
	int rc;

	if (host_elsewhere(e))
		return kernel_restart(run);
	host_lock(e);
	rc = prepare_again(run, number, &r);
	if (unlikely(rc && r))
		r->given_up = true;
	start(e, r);
	return rc;
}

int goal_exec(struct goal_group *g, struct goal_loaded *l, const struct goal_run_attr *attr,
	      void (*idle)(void))
{
	struct goal_engine *e = g->engine;
	struct goal_run *r;
	u32 polls;
	bool wait;
	int rc;

	if (host_elsewhere(e))
		return kernel_exec(g, l, attr, idle);
	host_lock(e);
	rc = prepare(g, l, attr, &r);
	if (unlikely(!r))
		goto unlock;
	launch(r);
	polls = __atomic_load_n(&e->spins, __ATOMIC_RELAXED) ? FIRST_POLLS : FIRST_POLLS_FULL;
	/* What waits for the dispatcher does not come about by polling. */
	for (; polls && !over(r) && !e->ncalls; polls--)
		host_poll(e);
	wait = !over(r) || e->ncalls;
	if (unlikely(wait)) {
		host_unlock(e);
		host_wait(e, r, -1, idle);
		host_lock(e);
	}
	rc = r->core.status;
	if (unlikely(r->called))
		r->given_up = true;
	else
		host_run_put(r);
unlock:
	host_unlock(e);
	return rc;
}

int goal_run_test(const struct goal_run *r)
{
	if (!over(r))
		return 0;
	return r->core.status ? r->core.status : 1;
}

int goal_run_wait(struct goal_run *r, int timeout_ms)
{
	if (host_elsewhere(r->engine))
		return kernel_run_wait(r, timeout_ms);
	return host_wait(r->engine, r, timeout_ms, NULL);
}

void goal_run_cancel(struct goal_run *r)
{
	struct goal_engine *e = r->engine;
	bool calls;

	if (host_elsewhere(e)) {
		kernel_run_cancel(r);
		return;
	}
	host_lock(e);
	if (!over(r))
		host_run_fail(r, -ECANCELED, GOAL_OP_NONE);
	calls = e->ncalls && !e->dispatching;
	host_unlock(e);
	if (calls)
		host_dispatch(e);
}

int64_t goal_run_peer(const struct goal_run *r)
{
	if (!over(r) || !r->core.status || r->core.err_peer == GOAL_OP_NONE)
		return -1;
	return r->core.err_peer;
}

void goal_run_free(struct goal_run *r)
{
	struct goal_engine *e = r->engine;

	if (host_elsewhere(e)) {
		kernel_run_free(r);
		return;
	}
	host_lock(e);
	if (over(r) && !r->called)
		host_run_put(r);
	else
		r->given_up = true;
	host_unlock(e);
}
