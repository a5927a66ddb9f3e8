// SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause
/*
 * Which requests there are, and what is wrong with an argument by itself: reserved fields, flags,
 * answers that are not empty, counts and sizes above their limits.
 */
#include "request.h"

#define RUNS 256          /* of an endpoint that does not say */
#define AREA (256 * 1024) /* bytes, likewise */

static bool all_zero(const void *at, size_t bytes)
{
	const u8 *b = at;

	while (bytes && !*b) {
		b++;
		bytes--;
	}
	return !bytes;
}

bool request_known(unsigned int cmd)
{
	switch (cmd) {
	case ESPGOAL_INFO:
	case ESPGOAL_OPEN:
	case ESPGOAL_GROUP:
	case ESPGOAL_LOAD:
	case ESPGOAL_RUN:
	case ESPGOAL_WAIT:
	case ESPGOAL_CANCEL:
	case ESPGOAL_RUN_FREE:
	case ESPGOAL_UNLOAD:
	case ESPGOAL_GROUP_FREE:
	case ESPGOAL_FAIL:
	case ESPGOAL_CLOSE:
	case ESPGOAL_COUNT:
	case ESPGOAL_COUNTER_NAME:
	case ESPGOAL_RAIL:
	case ESPGOAL_FLOW:
		return true;
	default:
		return false;
	}
}

static int check_open(struct espgoal_open *a, const struct request_limits *l)
{
	if (a->flags || a->map_bytes || a->area_off || a->cookie ||
	    !all_zero(a->node, sizeof(a->node)) || !all_zero(a->link, sizeof(a->link)))
		return -EINVAL;
	if (!a->runs)
		a->runs = RUNS;
	if (!a->area)
		a->area = AREA;
	if (a->runs > l->runs_max || a->area > l->area_max)
		return -E2BIG;
	a->area = (a->area + l->page - 1) & ~((u64)l->page - 1);
	return 0;
}

static int check_group(const struct espgoal_group *a, const struct request_limits *l)
{
	if (a->id || a->flags || a->reserved)
		return -EINVAL;
	if (!a->nonce || !a->nranks || a->rank >= a->nranks || !a->npeers || a->npeers > a->nranks)
		return -EINVAL;
	return a->nranks > l->ranks_max ? -E2BIG : 0;
}

static int check_load(const struct espgoal_load *a, const struct request_limits *l)
{
	if (a->flags || a->id || a->rule || a->reserved || a->where ||
	    !all_zero(a->need, sizeof(a->need)))
		return -EINVAL;
	if (a->bytes > l->sched_max)
		return -E2BIG;
	return a->bytes ? 0 : -EINVAL;
}

static int check_run(const struct espgoal_run *a)
{
	return a->id || a->flags || a->reserved || !all_zero(a->off, sizeof(a->off)) ? -EINVAL : 0;
}

static int check_wait(const struct espgoal_wait *a)
{
	return a->flags & ~ESPGOAL_WAIT_KNOWN || a->reserved ? -EINVAL : 0;
}

static int check_fail(const struct espgoal_fail *a)
{
	if (a->reserved)
		return -EINVAL;
	switch (a->status) {
	case -ECONNRESET:
	case -ECONNABORTED:
	case -EHOSTUNREACH:
	case -ECANCELED:
		return 0;
	default:
		return -EINVAL;
	}
}

static int check_counters(const struct espgoal_counters *a, const struct request_limits *l)
{
	if (!request_counters(a->set, l) || (a->set != ESPGOAL_SET_FLOW && a->flow) || a->flags ||
	    a->reserved)
		return -EINVAL;
	return 0;
}

static int check_name(const struct espgoal_counter_name *a, const struct request_limits *l)
{
	u32 n = request_counters(a->set, l);

	if (!n || !all_zero(a->name, sizeof(a->name)))
		return -EINVAL;
	return a->index < n ? 0 : -ERANGE;
}

/* The last answer may be handed in again, so the reserved fields are all there is to check. */
static int check_flow(const struct espgoal_flow *a)
{
	u32 i;

	if (a->reserved)
		return -EINVAL;
	for (i = 0; i < ESPGOAL_RAILS; i++)
		if (a->path[i].reserved)
			return -EINVAL;
	return 0;
}

int request_check(unsigned int cmd, union request *a, const struct request_limits *l)
{
	switch (cmd) {
	case ESPGOAL_INFO:
	case ESPGOAL_CLOSE:
		return 0;
	case ESPGOAL_OPEN:
		return check_open(&a->open, l);
	case ESPGOAL_GROUP:
		return check_group(&a->group, l);
	case ESPGOAL_LOAD:
		return check_load(&a->load, l);
	case ESPGOAL_RUN:
		return check_run(&a->run);
	case ESPGOAL_WAIT:
		return check_wait(&a->wait);
	case ESPGOAL_CANCEL:
	case ESPGOAL_RUN_FREE:
	case ESPGOAL_UNLOAD:
	case ESPGOAL_GROUP_FREE:
		return a->id.reserved ? -EINVAL : 0;
	case ESPGOAL_FAIL:
		return check_fail(&a->fail);
	case ESPGOAL_COUNT:
		return check_counters(&a->counters, l);
	case ESPGOAL_COUNTER_NAME:
		return check_name(&a->name, l);
	case ESPGOAL_RAIL:
		return a->rail.path < ESPGOAL_RAILS ? 0 : -ERANGE;
	case ESPGOAL_FLOW:
		return check_flow(&a->flow);
	default:
		return -ENOTTY;
	}
}
