// SPDX-License-Identifier: BSD-3-Clause
/*
 * Schedules made ready to run: verified, copied, and with memory for a run. Functions of
 * goal/engine.h.
 */
#include <stdlib.h>

#include "kernel.h"
#include "verified.h"

#define RESERVE_MOST 256 /* transfers set aside for a schedule at load time */

static int verify(struct goal_engine *e, const void *data, size_t bytes, struct core_sched *s,
		  struct goal_error *error)
{
	struct core_error why;
	u32 *tmp = NULL;
	s64 need;
	int rc;

	need = core_verify_tmp(data, bytes, &why);
	if (need < 0)
		goto refused;
	if (need) {
		e->stats.allocs++;
		tmp = malloc((size_t)need);
		if (!tmp)
			return host_error(error, -ENOMEM, 0, "no memory to verify the schedule");
	}
	rc = core_verify(data, bytes, tmp, s, &why);
	free(tmp);
	if (!rc)
		return 0;
refused:
	return verified_error(error, &why);
}

/* How many idle runs with @scratch bytes each stay for the next ones. */
static u32 runs_kept(u64 scratch)
{
	u64 more = scratch ? HOST_FREE_BYTES / scratch : HOST_FREE_RUNS;

	return more < HOST_FREE_RUNS ? 1 + (u32)more : HOST_FREE_RUNS;
}

int goal_load(struct goal_engine *e, const struct goal_schedule *schedule,
	      struct goal_loaded **loaded, struct goal_error *error)
{
	struct goal_loaded *l;
	struct goal_run *r;
	const void *data;
	size_t bytes;
	u32 i, messages = 0;
	int rc;

	if (host_elsewhere(e))
		return kernel_load(e, schedule, loaded, error);
	data = goal_schedule_data(schedule, &bytes);
	host_lock(e);
	l = host_alloc(e, sizeof(*l) + bytes);
	if (!l) {
		rc = host_error(error, -ENOMEM, 0, "no memory for a schedule of %zu bytes", bytes);
		goto unlock;
	}
	memcpy(l->data, data, bytes);
	l->engine = e;
	l->bytes = sizeof(*l) + bytes;
	rc = verify(e, l->data, bytes, &l->sched, error);
	if (rc)
		goto free_loaded;
	for (i = 0; i < l->sched.hdr->nops; i++) {
		const struct goal_op *o = &l->sched.op[i];

		messages += o->code == GOAL_OP_SEND || o->code == GOAL_OP_RECV;
		l->user |= o->code == GOAL_OP_REDUCE && o->dtype == GOAL_TYPE_USER;
	}
	rc = host_order(e, &l->sched, &l->loose);
	if (rc) {
		host_error(error, rc, 0, "no memory to look at the schedule");
		goto free_loaded;
	}
	l->keep = runs_kept(l->sched.hdr->scratch);
	r = host_run_new(l, l->sched.hdr->scratch);
	if (!r || host_xfer_reserve(e, messages < RESERVE_MOST ? messages : RESERVE_MOST)) {
		rc = host_error(error, -ENOMEM, 0, "no memory for a run (%llu bytes of scratch)",
				(unsigned long long)l->sched.hdr->scratch);
		goto free_run;
	}
	l->free = r;
	l->nfree = 1;
	e->nloaded++;
	e->stats.loads++;
	*loaded = l;
	host_unlock(e);
	return 0;

free_run:
	free(r);
free_loaded:
	free(l);
unlock:
	host_unlock(e);
	return rc;
}

int goal_unload(struct goal_loaded *l)
{
	struct goal_engine *e = l->engine;
	struct goal_run *r;

	if (host_elsewhere(e))
		return kernel_unload(l);
	host_lock(e);
	if (l->nactive) {
		host_unlock(e);
		return -EBUSY;
	}
	while ((r = l->free)) {
		l->free = r->next;
		free(r);
	}
	e->nloaded--;
	host_unlock(e);
	free(l);
	return 0;
}

size_t goal_loaded_bytes(const struct goal_loaded *l)
{
	size_t bytes;

	/* In a forked child nobody may ever let go of the lock, and nothing changes. */
	if (host_elsewhere(l->engine))
		return kernel_loaded_bytes(l);
	host_lock(l->engine);
	bytes = l->bytes;
	host_unlock(l->engine);
	return bytes;
}
