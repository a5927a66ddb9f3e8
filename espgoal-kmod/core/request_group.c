// SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause
/*
 * The rank table of ESPGOAL_GROUP, which a process makes up of what others told it: counts have been
 * checked (request.c), here it is read, and whatever is in it.
 */
#include "esp_int.h"
#include "request.h"

_Static_assert(ESPGOAL_RAILS == ESP_PATHS, "a link for each path");
_Static_assert(sizeof(struct espgoal_link) == sizeof(struct esp_addr), "a link is an address");
_Static_assert(sizeof(struct espgoal_peer) == sizeof(struct esp_peer), "nodes are used as given");
_Static_assert(sizeof(struct espgoal_rank) == sizeof(struct esp_rank), "ranks are used as given");
_Static_assert(offsetof(struct espgoal_rank, cookie) == offsetof(struct esp_rank, cookie),
	       "ranks are used as given");
_Static_assert(offsetof(struct espgoal_rank, peer) == offsetof(struct esp_rank, peer),
	       "ranks are used as given");

/* Behind one another: ranks, peers, ranks of our own node, the table's index. */
size_t request_table_bytes(const struct espgoal_group *g)
{
	return g->nranks * (sizeof(struct espgoal_rank) + sizeof(u32)) +
	       g->npeers * sizeof(struct espgoal_peer) + esp_table_index_size(g->nranks, g->npeers);
}

/* None, or one that frames of this home can be sent to. */
static bool link_ok(const struct esp_addr *a)
{
	return a->carrier <= ESP_CARRIER_ETHER && esp_addr_good(a);
}

/* Own place, indices, addresses; and whether the others can be reached at all. */
static int check(const struct espgoal_group *g, const struct request_self *self,
		 const struct espgoal_rank *rank, const struct esp_peer *peer, u32 *local)
{
	bool remote = false;
	u32 i, k;

	*local = g->npeers;
	for (i = 0; i < g->npeers; i++) {
		for (k = 0; k < ESP_PATHS; k++)
			if (!link_ok(&peer[i].addr[k]))
				return -EINVAL;
		if (memcmp(peer[i].node, self->node, sizeof(peer[i].node))) {
			remote = true;
			continue;
		}
		if (*local != g->npeers)
			return -EINVAL;
		*local = i;
	}
	for (i = 0; i < g->nranks; i++)
		if (rank[i].peer >= g->npeers || rank[i].reserved || !rank[i].cookie)
			return -EINVAL;
	if (rank[g->rank].cookie != self->cookie || rank[g->rank].peer != *local)
		return -EINVAL;
	return remote && !self->rails ? -EHOSTUNREACH : 0;
}

int request_table(const struct espgoal_group *g, const struct request_self *self, void *mem,
		  struct esp_table *t, struct request_here *here)
{
	struct espgoal_rank *rank = mem;
	struct esp_peer *peer = (struct esp_peer *)(rank + g->nranks);
	u32 i;
	int rc;

	here->rank = (u32 *)(peer + g->npeers);
	here->nranks = 0;
	*t = (struct esp_table){ .nranks = g->nranks,
				 .npeers = g->npeers,
				 .rank = (struct esp_rank *)rank,
				 .peer = peer };
	rc = env_user_read(rank, g->ranks, g->nranks * sizeof(*rank));
	if (!rc)
		rc = env_user_read(peer, g->peers, g->npeers * sizeof(*peer));
	if (!rc)
		rc = check(g, self, rank, peer, &here->local);
	/* A cookie is the name of one endpoint, and that has one rank. */
	if (!rc)
		rc = esp_table_index(t, here->rank + g->nranks);
	if (rc)
		return rc;
	for (i = 0; i < g->nranks; i++)
		if (rank[i].peer == here->local)
			here->rank[here->nranks++] = i;
	return 0;
}
