// SPDX-License-Identifier: BSD-3-Clause
/*
 * Schedules on the kernel engine: loaded into the device, which verifies them. Called by loaded.c.
 */
#include <stdlib.h>

#include "kernel.h"
#include "verified.h"

/* Why the device does not take it. */
static int refused(const struct espgoal_load *a, int rc, struct goal_error *error)
{
	struct core_error why = { .code = rc, .rule = a->rule, .where = a->where };

	if (a->rule)
		return verified_error(error, &why);
	switch (rc) {
	case -E2BIG:
		return host_error(error, rc, 0,
				  "the schedule, or what a run of it needs, is too large for the "
				  "kernel");
	case -EOPNOTSUPP:
		return host_error(error, rc, 0,
				  "it reduces a type that the kernel does not compute");
	default:
		return host_error(error, rc, 0,
				  "the module espgoal takes no schedule of %llu bytes: %s",
				  (unsigned long long)a->bytes, strerror(-rc));
	}
}

int kernel_load(struct goal_engine *e, const struct goal_schedule *schedule,
		struct goal_loaded **loaded, struct goal_error *error)
{
	struct kernel_engine *k = kernel_of(e);
	struct espgoal_load a = { 0 };
	struct kernel_object *o;
	struct kernel_loaded *kl;
	struct goal_loaded *l;
	struct espgoal_id id;
	const void *data;
	size_t bytes;
	int rc;

	if (!k)
		return host_error(error, -ECHILD, 0, "the engine belongs to the parent process");
	data = goal_schedule_data(schedule, &bytes);
	host_lock(e);
	l = host_alloc(e, sizeof(*l) + sizeof(*kl));
	if (!l) {
		rc = host_error(error, -ENOMEM, 0, "no memory for a schedule of %zu bytes", bytes);
		goto unlock;
	}
	kl = kernel_loaded(l);
	kl->loaded = l;
	kl->sent_last = &kl->sent;
	l->engine = e;
	l->bytes = sizeof(*l) + sizeof(*kl) + bytes;
	rc = kernel_usage(e, kl, data);
	if (rc) {
		host_error(error, rc, 0, "no memory to look at the schedule");
		goto free_loaded;
	}
	l->bytes += kl->first[GOAL_MAX_BUFS] * sizeof(*kl->range);
	a.data = (uintptr_t)data;
	a.bytes = bytes;
	memcpy(a.buf, kl->flags, sizeof(a.buf));
	do {
		rc = kernel_device_request(k->fd, ESPGOAL_LOAD, &a);
	} while (kernel_exhausted(rc) && kernel_object_give_back(k, NULL));
	if (rc) {
		refused(&a, rc, error);
		goto free_loaded;
	}
	kl->id = a.id;
	memcpy(kl->need, a.need, sizeof(kl->need));
	o = kernel_object_get(k, kl, &rc);
	if (o)
		kernel_object_put(kl, o);
	/* Where others have them all, the first start waits for one. */
	if (!o && !kernel_exhausted(rc)) {
		host_error(error, rc, 0, "the module espgoal makes no run of it: %s",
			   strerror(-rc));
		goto unload;
	}
	list_append(&k->loaded, &kl->link);
	e->nloaded++;
	e->stats.loads++;
	*loaded = l;
	host_unlock(e);
	return 0;

unload:
	id = (struct espgoal_id){ .id = kl->id };
	(void)kernel_device_request(k->fd, ESPGOAL_UNLOAD, &id);
free_loaded:
	free(kl->range);
	free(l);
unlock:
	host_unlock(e);
	return rc;
}

int kernel_unload(struct goal_loaded *l)
{
	struct kernel_engine *k = kernel_of(l->engine);
	struct kernel_loaded *kl = kernel_loaded(l);
	struct espgoal_id id = { .id = kl->id };
	int rc = -EBUSY;

	if (!k)
		return -ECHILD;
	host_lock(&k->e);
	kernel_reap(k);
	if (!l->nactive) {
		rc = 0;
		(void)kernel_device_request(k->fd, ESPGOAL_UNLOAD, &id);
		list_remove(&kl->link);
		kernel_objects_free(kl);
		k->e.nloaded--;
	}
	host_unlock(&k->e);
	if (!rc) {
		free(kl->range);
		free(l);
	}
	return rc;
}

size_t kernel_loaded_bytes(const struct goal_loaded *l)
{
	struct kernel_engine *k = kernel_of(l->engine);
	size_t bytes;

	if (!k)
		return l->bytes;
	host_lock(&k->e);
	bytes = l->bytes;
	host_unlock(&k->e);
	return bytes;
}
