// SPDX-License-Identifier: BSD-3-Clause
/*
 * Groups of the kernel engine: from the members' addresses to the rank table that the device
 * wants. Called by group.c.
 */
#include <stdlib.h>

#include "kernel.h"

/* Libraries of one version agree on what goes to the kernel; what their modules are is each one's own. */
static int speaks(const struct kernel_address *a)
{
	return a->abi == ESPGOAL_ABI && a->schedule == GOAL_SCHED_VERSION ? 0 : -EPROTO;
}

int kernel_reach(const struct goal_engine *e, const struct goal_address *address)
{
	struct kernel_engine *k = kernel_of(e);
	struct kernel_address a;

	if (!k)
		return -ECHILD;
	if (!kernel_address_valid(address, &a))
		return -EINVAL;
	if (speaks(&a))
		return -EPROTO;
	if (memcmp(a.node, k->address.node, sizeof(a.node)) && !k->info.rails)
		return -EHOSTUNREACH;
	return 0;
}

/* The table under construction. */
struct table {
	struct espgoal_rank *rank;
	struct espgoal_peer *peer;
	u32 npeers;
	u32 last; /* the node that was met last */
};

/* Its node's number. Ranks of a node mostly stand together, or in a round. */
static u32 node_of(struct table *t, const struct kernel_address *a)
{
	u32 i;

	for (i = 0; i < t->npeers; i++) {
		u32 n = (t->last + i) % t->npeers;

		if (!memcmp(t->peer[n].node, a->node, sizeof(a->node))) {
			t->last = n;
			return n;
		}
	}
	memcpy(t->peer[t->npeers].node, a->node, sizeof(a->node));
	memcpy(t->peer[t->npeers].link, a->link, sizeof(a->link));
	t->last = t->npeers++;
	return t->last;
}

static int fill(struct kernel_engine *k, struct kernel_group *kg, struct table *t,
		const struct goal_group_attr *attr, struct goal_error *error)
{
	struct kernel_address a;
	u32 i;

	for (i = 0; i < attr->npeers; i++) {
		if (!kernel_address_valid(&attr->addresses[i], &a))
			return host_error(error, -EINVAL, i,
					  "peer %u's address is none of a kernel engine", i);
		if (speaks(&a))
			return host_error(error, -EPROTO, i,
					  "peer %u's library speaks ABI %u.%u, ours %u.%u", i,
					  a.abi, a.schedule, ESPGOAL_ABI, GOAL_SCHED_VERSION);
		t->rank[i].cookie = a.cookie;
		t->rank[i].peer = node_of(t, &a);
		kg->dtypes &= a.dtypes;
		kg->rops &= a.rops;
		if (!memcmp(a.node, k->address.node, sizeof(a.node)))
			kg->local[i / 8] |= (u8)(1u << i % 8);
	}
	return 0;
}

int kernel_group_create(struct goal_engine *e, const struct goal_group_attr *attr,
			struct goal_group **group, struct goal_error *error)
{
	struct kernel_engine *k = kernel_of(e);
	struct espgoal_group g = {
		.nonce = attr->nonce,
		.nranks = attr->npeers,
		.rank = attr->rank,
	};
	struct table t = { 0 };
	struct kernel_group *kg;
	struct goal_group *gg;
	int rc;

	if (!k)
		return host_error(error, -ECHILD, 0, "the engine belongs to the parent process");
	if (!attr->nonce || !attr->npeers || attr->rank >= attr->npeers || !attr->addresses)
		return host_error(error, -EINVAL, 0,
				  "a group of the kernel engine needs a nonce, and addresses with "
				  "its own rank among them");
	if (attr->npeers > k->info.ranks_max)
		return host_error(error, -E2BIG, 0, "the module espgoal takes %u ranks, not %u",
				  k->info.ranks_max, attr->npeers);
	host_lock(e);
	gg = host_alloc(e, sizeof(*gg) + sizeof(*kg) + (attr->npeers + 7) / 8);
	t.rank = host_alloc(e, attr->npeers * sizeof(*t.rank));
	t.peer = host_alloc(e, attr->npeers * sizeof(*t.peer));
	if (!gg || !t.rank || !t.peer) {
		rc = host_error(error, -ENOMEM, 0, "no memory for a group of %u", attr->npeers);
		goto free_all;
	}
	gg->engine = e;
	gg->nonce = attr->nonce;
	gg->rank = attr->rank;
	gg->npeers = attr->npeers;
	kg = kernel_group(gg);
	kg->dtypes = kg->rops = ~0u;
	rc = fill(k, kg, &t, attr, error);
	if (rc)
		goto free_all;
	g.npeers = t.npeers;
	g.ranks = (uintptr_t)t.rank;
	g.peers = (uintptr_t)t.peer;
	rc = kernel_device_request(k->fd, ESPGOAL_GROUP, &g);
	if (rc) {
		host_error(error, rc, 0,
			   "the module espgoal takes no group of %u ranks on %u nodes: %s",
			   g.nranks, g.npeers,
			   rc == -EHOSTUNREACH ? "this node has no interface in use"
					       : strerror(-rc));
		goto free_all;
	}
	kg->id = g.id;
	list_append(&e->groups, &gg->link);
	*group = gg;
	gg = NULL;

free_all:
	host_unlock(e);
	free(t.peer);
	free(t.rank);
	free(gg);
	return rc;
}

int kernel_group_free(struct goal_group *g)
{
	struct kernel_engine *k = kernel_of(g->engine);
	struct espgoal_id id = { .id = kernel_group(g)->id };
	int rc = -EBUSY;

	if (!k)
		return -ECHILD;
	host_lock(&k->e);
	kernel_reap(k);
	if (!kernel_group(g)->nactive) {
		rc = kernel_device_request(k->fd, ESPGOAL_GROUP_FREE, &id);
		if (rc != -EBUSY) { /* else it is gone with the endpoint */
			list_remove(&g->link);
			rc = 0;
		}
	}
	host_unlock(&k->e);
	if (!rc)
		free(g);
	return rc;
}

/* The device takes some errors only; in words of the caller the others are said by kernel_reap(). */
static s32 device_status(int status)
{
	switch (status) {
	case -ECONNRESET:
	case -EHOSTUNREACH:
	case -ECANCELED:
		return status;
	default:
		return -ECONNABORTED;
	}
}

void kernel_group_fail(struct goal_group *g, int status, u32 peer)
{
	struct kernel_engine *k = kernel_of(g->engine);
	struct espgoal_fail f = {
		.group = kernel_group(g)->id,
		.status = device_status(status),
		.rank = peer < g->npeers ? peer : ESPGOAL_NONE,
	};

	if (!k)
		return;
	host_lock(&k->e);
	if (!g->status) {
		g->status = status;
		g->status_peer = f.rank;
		(void)kernel_device_request(k->fd, ESPGOAL_FAIL, &f);
		kernel_reap(k);
	}
	host_unlock(&k->e);
	kernel_dispatch(k);
}

void kernel_group_lost(struct goal_group *g)
{
	struct kernel_engine *k = kernel_engine(g->engine);
	struct espgoal_fail f = {
		.group = kernel_group(g)->id,
		.status = -ECONNABORTED,
		.rank = g->rank,
	};

	if (g->status)
		return;
	g->status = f.status;
	g->status_peer = f.rank;
	(void)kernel_device_request(k->fd, ESPGOAL_FAIL, &f);
}

bool kernel_group_local(const struct goal_group *g, u32 peer)
{
	return kernel_group(g)->local[peer / 8] >> peer % 8 & 1;
}

bool kernel_group_computes(const struct goal_group *g, u32 dtype, u32 rop)
{
	return kernel_group(g)->dtypes >> dtype & kernel_group(g)->rops >> rop & 1;
}
