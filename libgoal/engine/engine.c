// SPDX-License-Identifier: BSD-3-Clause
/*
 * Open and close an engine, and ask it about itself. Functions of goal/engine.h.
 */
#include <sched.h>
#include <stdlib.h>
#include <unistd.h>

#include "kernel.h"

#define LINGER_NS 10000000000ull

/* Counts the forks that led to this process; engines opened before it belong to a parent. */
static u32 forks;
static pthread_once_t forks_once = PTHREAD_ONCE_INIT;

static void forked(void)
{
	forks++;
}

static void watch_forks(void)
{
	pthread_atfork(NULL, NULL, forked);
}

u32 *host_forks(void)
{
	pthread_once(&forks_once, watch_forks);
	return &forks;
}

static bool power_of_two_in(u32 n, u32 low, u32 high)
{
	return n >= low && n <= high && !(n & (n - 1));
}

int host_check_attr(struct goal_engine_attr *a, u32 flags, struct goal_error *error)
{
	if (a->flags & ~flags)
		return host_error(error, -EINVAL, 0,
				  "flags %#x has bits that this engine does not know", a->flags);
	if (a->flags & GOAL_ENGINE_PROGRESS)
		a->flags |= GOAL_ENGINE_THREADS;
	if (!a->spin)
		a->spin = 10000;
	if (!a->yields)
		a->yields = 1000;
	if (!a->sleep_us)
		a->sleep_us = 1000;
	if (a->sleep_us > 1000000)
		return host_error(error, -EINVAL, 0, "sleep_us %u must be at most a second",
				  a->sleep_us);
	return 0;
}

static int check_mailboxes(struct goal_engine_attr *a, struct goal_error *error)
{
	if (!a->ring_slots)
		a->ring_slots = 128;
	if (!a->ring_bytes)
		a->ring_bytes = 65536;
	if (!power_of_two_in(a->ring_slots, 4, 1u << 16))
		return host_error(error, -EINVAL, 0,
				  "ring_slots %u must be a power of two from 4 to 65536",
				  a->ring_slots);
	if (!power_of_two_in(a->ring_bytes, 1024, 1u << 28))
		return host_error(error, -EINVAL, 0,
				  "ring_bytes %u must be a power of two from 1 KiB to 256 MiB",
				  a->ring_bytes);
	if (!a->eager)
		a->eager = a->ring_bytes / 4 < 4096 ? a->ring_bytes / 4 : 4096;
	if (a->eager > a->ring_bytes / 2 || a->eager > SHM_LEN_MAX)
		return host_error(error, -EINVAL, 0,
				  "eager %u must be at most half of ring_bytes, and %u", a->eager,
				  SHM_LEN_MAX);
	return 0;
}

int goal_engine_open(const struct goal_engine_attr *attr, struct goal_engine **engine,
		     struct goal_error *error)
{
	struct goal_engine_attr a = { 0 };
	struct goal_engine *e;
	int rc;

	if (attr)
		a = *attr;
	if (a.kind == GOAL_ENGINE_KERNEL)
		return kernel_open(&a, engine, error);
	if (a.kind != GOAL_ENGINE_HOST)
		return host_error(error, -EINVAL, 0, "kind %u is no kind of engine", a.kind);
	rc = host_check_attr(
		&a, GOAL_ENGINE_THREADS | GOAL_ENGINE_PROGRESS | GOAL_ENGINE_REMOTE_ONLY, error);
	if (!rc)
		rc = check_mailboxes(&a, error);
	if (rc)
		return rc;

	e = calloc(1, sizeof(*e));
	if (!e)
		return host_error(error, -ENOMEM, 0, "no memory for an engine");
	e->stats.allocs = 1;
	e->attr = a;
	e->threads = a.flags & GOAL_ENGINE_THREADS;
	e->fork_seen = host_forks();
	e->fork_mark = *e->fork_seen;
	e->over_last = &e->over;
	pthread_mutex_init(&e->lock, NULL);
	list_init(&e->peers);
	list_init(&e->groups);
	list_init(&e->reductions);
	list_init(&e->remote_posts);
	list_init(&e->remote_active);

	rc = host_pools_init(e);
	if (rc) {
		host_error(error, rc, 0, "no memory for the engine's pools");
		goto free_pools;
	}
	rc = host_endpoint_open(e, error);
	if (rc)
		goto free_pools;
	if (a.flags & GOAL_ENGINE_PROGRESS) {
		rc = host_thread_start(e);
		if (rc) {
			host_error(error, rc, 0, "cannot start a progress thread: %s",
				   strerror(-rc));
			goto close_endpoint;
		}
	}
	*engine = e;
	return 0;

close_endpoint:
	host_endpoint_close(e, false);
free_pools:
	host_pools_free(e);
	pthread_mutex_destroy(&e->lock);
	free(e);
	return rc;
}

/*
 * Until what waits for room is in the peers' mailboxes. What is there already is in their memory,
 * and counts without us.
 */
static void linger(struct goal_engine *e)
{
	u64 end = host_now() + LINGER_NS;
	u64 check = 0;

	while (e->npending && host_now() < end) {
		host_poll(e);
		host_pending(e);
		if (host_now() >= check) {
			host_peers_check(e);
			check = host_now() + 10000000;
		}
		sched_yield();
	}
}

int goal_engine_close(struct goal_engine *e)
{
	bool child = host_elsewhere(e);

	if (kernel_kind(e))
		return kernel_close(e);
	if (!child) {
		/* Also when it must stay: its user may go, and take the code along. */
		if (e->has_thread)
			host_thread_stop(e);
		host_lock(e);
		if (!list_empty(&e->groups) || e->nloaded) {
			host_unlock(e);
			return -EBUSY;
		}
		host_unlock(e);
		linger(e);
		host_messages_forget(e, 0);
		__atomic_store_n(&e->shm->closed, 1, __ATOMIC_RELEASE);
	}
	host_peers_free(e, child);
	host_endpoint_close(e, child);
	host_pools_free(e);
	if (!child)
		pthread_mutex_destroy(&e->lock);
	free(e);
	return 0;
}

void goal_engine_address(const struct goal_engine *e, struct goal_address *address)
{
	memset(address, 0, sizeof(*address));
	if (kernel_kind(e))
		kernel_address(e, address);
	else
		memcpy(address->bytes, &e->address, sizeof(e->address));
}

void goal_engine_stats(const struct goal_engine *engine, struct goal_engine_stats *stats)
{
	struct goal_engine *e = (struct goal_engine *)engine;
	struct list *l;

	/* In a child, the lock may be held for ever by a thread that only the parent has. */
	memset(stats, 0, sizeof(*stats));
	if (host_elsewhere(e)) {
		kernel_stats(e, stats);
		return;
	}
	host_lock(e);
	*stats = e->stats;
	list_for(l, &e->peers)
	{
		const struct host_peer *p = list_entry(l, struct host_peer, all);

		stats->msgs_local += p->msgs;
		stats->bytes_local += p->bytes;
	}
	host_unlock(e);
}

void goal_engine_cores(struct goal_engine *e, uint32_t ranks, uint32_t cores)
{
	__atomic_store_n(&e->spins, ranks && ranks <= cores, __ATOMIC_RELAXED);
}

int goal_engine_progress(struct goal_engine *e)
{
	u32 n;

	n = host_elsewhere(e) ? kernel_progress(e) : host_progress(e);
	return n > INT_MAX ? INT_MAX : (int)n;
}

bool goal_engine_active(const struct goal_engine *engine)
{
	struct goal_engine *e = (struct goal_engine *)engine;
	bool active;

	if (host_elsewhere(e))
		return kernel_active(e);
	host_lock(e);
	active = e->active || e->npending || e->ncalls;
	host_unlock(e);
	return active;
}
