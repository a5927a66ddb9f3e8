// SPDX-License-Identifier: BSD-3-Clause
/*
 * Open and close the kernel engine, its address and its counters. Called by engine.c.
 */
#include <stdlib.h>

#include "kernel.h"

#define ADDRESS_MAGIC 0x4b53504cu
#define RUNS          4096u
#define AREA          (2u << 20)

/* What kernel engines show to host_elsewhere(); their marks are 0. */
static u32 elsewhere = 1;

struct kernel_engine *kernel_of(const struct goal_engine *e)
{
	struct kernel_engine *k = kernel_engine((struct goal_engine *)e);

	return kernel_kind(e) && k->fork_mark == *k->forks ? k : NULL;
}

static int no_device(int rc, struct goal_error *error)
{
	switch (rc) {
	case -ENOENT:
	case -ENXIO:
	case -ENODEV:
		return host_error(error, -ENODEV, 0,
				  "there is no " ESPGOAL_PATH ": load the module espgoal");
	case -EACCES:
	case -EPERM:
		return host_error(error, -EACCES, 0,
				  ESPGOAL_PATH
				  " is not for this user: the group espgoal may use it");
	default:
		return host_error(error, rc, 0, "cannot open " ESPGOAL_PATH ": %s", strerror(-rc));
	}
}

/* Does it speak as we do? */
static int ask(struct kernel_engine *k, struct goal_error *error)
{
	struct espgoal_info *i = &k->info;
	int rc;

	rc = kernel_device_request(k->fd, ESPGOAL_INFO, i);
	if (rc == -ENOTTY)
		return host_error(error, -EPROTO, 0,
				  ESPGOAL_PATH " speaks another ABI than %u: the module and this "
					       "library are of different versions",
				  ESPGOAL_ABI);
	if (rc)
		return host_error(error, rc, 0, "cannot ask " ESPGOAL_PATH ": %s", strerror(-rc));
	if (ESPGOAL_ABI < i->abi_oldest || ESPGOAL_ABI > i->abi ||
	    i->sched_version != GOAL_SCHED_VERSION)
		return host_error(
			error, -EPROTO, 0,
			"the module espgoal speaks ABI %u to %u and schedules %u, this library "
			"%u and %u: they are of different versions",
			i->abi_oldest, i->abi, i->sched_version, ESPGOAL_ABI, GOAL_SCHED_VERSION);
	return 0;
}

static u64 smaller(u64 a, u64 b)
{
	return a < b ? a : b;
}

static int make_endpoint(struct kernel_engine *k, struct goal_error *error)
{
	const struct goal_engine_attr *a = &k->e.attr;
	struct kernel_address *self = &k->address;
	struct espgoal_open o = {
		.runs = a->runs ? a->runs : (u32)smaller(RUNS, k->info.runs_max),
		.area = a->area ? a->area : smaller(AREA, k->info.area_max),
	};
	int rc;

	if (o.runs > k->info.runs_max || o.area > k->info.area_max)
		return host_error(
			error, -EINVAL, 0,
			"runs %u and area %u must be at most %u and %llu, says the module "
			"espgoal",
			a->runs, a->area, k->info.runs_max, (unsigned long long)k->info.area_max);
	rc = kernel_device_request(k->fd, ESPGOAL_OPEN, &o);
	if (rc)
		return host_error(error, rc, 0,
				  "no endpoint of " ESPGOAL_PATH " with %u runs, %llu bytes: %s",
				  o.runs, (unsigned long long)o.area, strerror(-rc));
	k->map_bytes = o.map_bytes;
	k->head = kernel_device_map(k->fd, k->map_bytes);
	if (!k->head) {
		rc = -errno;
		return host_error(error, rc, 0, "cannot map %zu bytes of " ESPGOAL_PATH ": %s",
				  k->map_bytes, strerror(-rc));
	}
	k->word = (const struct espgoal_word *)(k->head + 1);
	self->magic = ADDRESS_MAGIC;
	self->abi = ESPGOAL_ABI;
	self->schedule = GOAL_SCHED_VERSION;
	self->dtypes = (u32)k->info.dtypes;
	self->rops = (u32)k->info.rops;
	memcpy(self->node, o.node, sizeof(self->node));
	memcpy(self->link, o.link, sizeof(self->link));
	self->cookie = o.cookie;
	return 0;
}

int kernel_open(const struct goal_engine_attr *attr, struct goal_engine **engine,
		struct goal_error *error)
{
	struct goal_engine_attr a = *attr;
	struct kernel_engine *k;
	int rc;

	rc = host_check_attr(&a, GOAL_ENGINE_THREADS | GOAL_ENGINE_PROGRESS, error);
	if (rc)
		return rc;
	k = calloc(1, sizeof(*k));
	if (!k)
		return host_error(error, -ENOMEM, 0, "no memory for an engine");
	k->e.attr = a;
	k->e.threads = a.flags & GOAL_ENGINE_THREADS;
	k->e.stats.allocs = 1;
	k->e.fork_seen = &elsewhere;
	k->e.over_last = &k->e.over;
	k->forks = host_forks();
	k->fork_mark = *k->forks;
	kernel_spin_init(&k->spin);
	pthread_mutex_init(&k->e.lock, NULL);
	list_init(&k->e.groups);
	list_init(&k->active);
	list_init(&k->queued);
	list_init(&k->loaded);

	k->fd = kernel_device_open();
	if (k->fd < 0) {
		rc = no_device(k->fd, error);
		goto free_engine;
	}
	rc = ask(k, error);
	if (!rc)
		rc = make_endpoint(k, error);
	if (rc)
		goto close_device;
	*engine = &k->e;
	return 0;

close_device:
	kernel_device_close(k->fd);
free_engine:
	pthread_mutex_destroy(&k->e.lock);
	free(k);
	return rc;
}

int kernel_close(struct goal_engine *e)
{
	struct kernel_engine *k = kernel_engine(e);
	bool child = !kernel_of(e);
	struct kernel_run *r;

	if (!child) {
		host_lock(e);
		kernel_reap(k);
		if (!list_empty(&e->groups) || e->nloaded) {
			host_unlock(e);
			return -EBUSY;
		}
		host_unlock(e);
		/* What was sent still gets there; where the endpoint is over already, it is over. */
		(void)kernel_device_request(k->fd, ESPGOAL_CLOSE, NULL);
		/* A child has not inherited the mapping. */
		kernel_device_unmap(k->head, k->map_bytes);
		pthread_mutex_destroy(&e->lock);
	}
	kernel_device_close(k->fd);
	while ((r = k->free)) {
		k->free = r->next;
		free(r);
	}
	free(k);
	return 0;
}

void kernel_address(const struct goal_engine *e, struct goal_address *address)
{
	memcpy(address->bytes, &kernel_engine((struct goal_engine *)e)->address,
	       sizeof(struct kernel_address));
}

bool kernel_address_valid(const struct goal_address *a, struct kernel_address *out)
{
	memcpy(out, a->bytes, sizeof(*out));
	return out->magic == ADDRESS_MAGIC && out->cookie;
}

void kernel_stats(struct goal_engine *e, struct goal_engine_stats *stats)
{
	if (!kernel_of(e))
		return;
	host_lock(e);
	*stats = e->stats;
	host_unlock(e);
}

bool kernel_active(struct goal_engine *e)
{
	bool active;

	if (!kernel_of(e))
		return false;
	host_lock(e);
	active = e->active || e->ncalls;
	host_unlock(e);
	return active;
}
