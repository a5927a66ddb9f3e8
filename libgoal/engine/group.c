// SPDX-License-Identifier: BSD-3-Clause
/*
 * Groups: from a peer's rank to its endpoint. Functions of goal/engine.h.
 */
#include <stdlib.h>

#include "kernel.h"

static void put_peers(struct goal_group *g)
{
	u32 i;

	for (i = 0; i < g->npeers; i++)
		if (g->peer[i])
			host_peer_put(g->engine, g->peer[i]);
}

/* The peer with @address; NULL in *@peer: it is remote. */
static int find_peer(struct goal_engine *e, const struct goal_address *address,
		     struct host_peer **peer)
{
	struct host_address a;
	int rc;

	*peer = NULL;
	if (!host_address_valid(address, &a))
		return -EINVAL;
	if (a.cookie != e->address.cookie && !host_address_near(e, &a))
		return -EHOSTUNREACH;
	rc = host_peer_get(e, address, peer);
	if (rc)
		return rc;
	rc = host_peer_attach(e, *peer);
	if (rc) {
		host_peer_put(e, *peer);
		*peer = NULL;
	}
	return rc;
}

int goal_engine_reach(struct goal_engine *e, const struct goal_address *address)
{
	struct host_peer *p;
	int rc;

	if (host_elsewhere(e))
		return kernel_reach(e, address);
	host_lock(e);
	rc = find_peer(e, address, &p);
	if (!rc)
		host_peer_put(e, p);
	host_unlock(e);
	return rc;
}

int goal_group_create(struct goal_engine *e, const struct goal_group_attr *attr,
		      struct goal_group **group, struct goal_error *error)
{
	struct goal_group *g;
	struct list *l;
	u32 i;
	int rc;

	if (host_elsewhere(e))
		return kernel_group_create(e, attr, group, error);
	if (!attr->nonce || !attr->npeers)
		return host_error(error, -EINVAL, 0, "a group needs a nonce and peers");
	if (!attr->addresses && !attr->remote)
		return host_error(error, -EINVAL, 0,
				  "a group without addresses needs a remote transport");
	host_lock(e);
	for (i = 0; i < HOST_FREED; i++) {
		if (e->freed[i] != attr->nonce)
			continue;
		rc = host_error(error, -EINVAL, 0, "group nonce %#llx was used before",
				(unsigned long long)attr->nonce);
		goto unlock;
	}
	list_for(l, &e->groups)
	{
		if (list_entry(l, struct goal_group, link)->nonce != attr->nonce)
			continue;
		rc = host_error(error, -EEXIST, 0, "group nonce %#llx is in use",
				(unsigned long long)attr->nonce);
		goto unlock;
	}
	g = host_alloc(e, sizeof(*g) + attr->npeers * sizeof(g->peer[0]));
	if (!g) {
		rc = host_error(error, -ENOMEM, 0, "no memory for a group of %u", attr->npeers);
		goto unlock;
	}
	g->engine = e;
	g->nonce = attr->nonce;
	g->rank = attr->rank;
	g->npeers = attr->npeers;
	g->remote = attr->remote;
	g->remote_arg = attr->remote_arg;
	g->word = attr->remote_word;
	list_init(&g->runs);
	for (i = 0; i < g->npeers; i++) {
		rc = attr->addresses ? find_peer(e, &attr->addresses[i], &g->peer[i])
				     : -EHOSTUNREACH;
		if (!rc)
			continue;
		/* It may well share memory: without what it takes to see that, it is not remote. */
		if (rc == -ENOMEM || rc == -EMFILE || rc == -ENFILE || rc == -EINVAL) {
			host_error(error, rc, i, "cannot use the address of peer %u: %s", i,
				   strerror(-rc));
			goto free_group;
		}
		if (!g->remote) {
			rc = host_error(error, -EHOSTUNREACH, i,
					"peer %u shares no memory with this process (%s), and "
					"there is no remote transport",
					i, strerror(-rc));
			goto free_group;
		}
		g->nremote++;
	}
	list_append(&e->groups, &g->link);
	host_unlock(e);
	*group = g;
	return 0;

free_group:
	put_peers(g);
	free(g);
unlock:
	host_unlock(e);
	return rc;
}

int goal_group_free(struct goal_group *g)
{
	struct goal_engine *e = g->engine;

	if (host_elsewhere(e))
		return kernel_group_free(g);
	host_lock(e);
	if (!list_empty(&g->runs)) {
		host_unlock(e);
		return -EBUSY;
	}
	list_remove(&g->link);
	host_messages_forget(e, g->nonce);
	put_peers(g);
	host_unlock(e);
	free(g);
	return 0;
}

/* The lock is held. */
void host_group_fail(struct goal_group *g, int status, u32 peer)
{
	struct list *l, *next;

	if (!g->status) {
		g->status = status;
		g->status_peer = peer;
	}
	list_for_safe(l, next, &g->runs)
	{
		struct goal_run *r = list_entry(l, struct goal_run, group_link);

		host_run_fail(r, status, peer);
		if (r->failing)
			host_failed_release(r);
	}
}

void goal_group_fail(struct goal_group *g, int status, uint32_t peer)
{
	struct goal_engine *e = g->engine;
	bool calls;

	/* 0 would end its runs as if they were good. */
	if (status >= 0)
		status = -ECANCELED;
	if (host_elsewhere(e)) {
		kernel_group_fail(g, status, peer);
		return;
	}
	host_lock(e);
	host_group_fail(g, status, peer);
	calls = e->ncalls && !e->dispatching;
	host_unlock(e);
	if (calls)
		host_dispatch(e);
}

bool goal_group_local(const struct goal_group *g, uint32_t peer)
{
	if (peer >= g->npeers)
		return false;
	return kernel_kind(g->engine) ? kernel_group_local(g, peer) : g->peer[peer] != NULL;
}

bool goal_group_computes(const struct goal_group *g, uint32_t dtype, uint32_t rop)
{
	if (!core_reduce_valid(dtype, rop))
		return false;
	return !kernel_kind(g->engine) || kernel_group_computes(g, dtype, rop);
}
