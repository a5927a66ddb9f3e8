// SPDX-License-Identifier: GPL-2.0-only
/*
 * Rank tables: who the ranks of a group are. The endpoints of one user in one namespace that are in
 * the same group share one, after it has been compared byte by byte. Messages between ranks of
 * this node are exchanged only between members that share their table.
 */
#include <linux/etherdevice.h>
#include <linux/hash.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "home.h"

#define BITS 12

static struct hlist_head tables[1u << BITS]; /* by nonce, under kuser_lock */

static bool link_ok(const struct esp_addr *a)
{
	static const struct esp_addr none;

	if (!memcmp(a, &none, sizeof(none)))
		return true;
	return a->carrier == ESP_CARRIER_ETHER && !a->reserved && !a->port &&
	       is_valid_ether_addr(a->addr) &&
	       !memchr_inv(a->addr + ETH_ALEN, 0, sizeof(a->addr) - ETH_ALEN);
}

/* Own place, indices, addresses; and whether the others can be reached at all. */
static int check(struct kep *e, const struct espgoal_group *g, struct ktable *t,
		 const struct espgoal_rank *rank)
{
	struct knode *n = e->node;
	struct espgoal_link self[ESPGOAL_RAILS];
	bool rails = false, remote = false;
	u8 node[16];
	u32 i, k;

	memset(self, 0, sizeof(self));
	kep_self(n, node, self);
	for (k = 0; k < ESP_PATHS; k++)
		rails |= ((struct esp_addr *)&self[k])->carrier != ESP_CARRIER_NONE;
	t->local = g->npeers;
	for (i = 0; i < g->npeers; i++) {
		const struct esp_peer *p = &t->t.peer[i];

		for (k = 0; k < ESP_PATHS; k++)
			if (!link_ok(&p->addr[k]))
				return -EINVAL;
		if (memcmp(p->node, n->n.id, sizeof(p->node))) {
			remote = true;
			continue;
		}
		if (t->local != g->npeers)
			return -EINVAL;
		t->local = i;
	}
	for (i = 0; i < g->nranks; i++)
		if (rank[i].peer >= g->npeers || rank[i].reserved || !rank[i].cookie)
			return -EINVAL;
	if (rank[g->rank].cookie != e->e.cookie || rank[g->rank].peer != t->local)
		return -EINVAL;
	return remote && !rails ? -EHOSTUNREACH : 0;
}

static bool same(const struct ktable *a, const struct ktable *b)
{
	return a->t.nranks == b->t.nranks && a->t.npeers == b->t.npeers &&
	       !memcmp(a->t.rank, b->t.rank, a->t.nranks * sizeof(*a->t.rank)) &&
	       !memcmp(a->t.peer, b->t.peer, a->t.npeers * sizeof(*a->t.peer));
}

/*
 * Under kuser_lock: the table of this name that is there already, with a reference; NULL; or
 * ERR_PTR.
 */
static struct ktable *known(const struct ktable *t)
{
	struct ktable *other;

	hlist_for_each_entry(other, &tables[hash_64(t->nonce, BITS)], all) {
		if (other->nonce != t->nonce || other->user != t->user || other->node != t->node)
			continue;
		if (!same(other, t))
			return ERR_PTR(-EEXIST);
		other->refs++;
		return other;
	}
	return NULL;
}

/* Under kuser_lock: @t becomes known, with @missing nodes that no other table names. */
static int enter(struct ktable *t, u32 missing, struct kpeers *spare)
{
	int rc = kuser_charge(t->user, KUSER_RANKS, t->t.nranks);

	if (rc)
		return rc;
	rc = kuser_charge(t->user, KUSER_BYTES, t->bytes);
	if (rc)
		goto uncharge_ranks;
	rc = kpeers_charge(t, missing);
	if (rc)
		goto uncharge_bytes;
	kpeers_get(t, t->node, spare);
	t->user->refs++;
	hlist_add_head(&t->all, &tables[hash_64(t->nonce, BITS)]);
	return 0;

uncharge_bytes:
	kuser_uncharge(t->user, KUSER_BYTES, t->bytes);
uncharge_ranks:
	kuser_uncharge(t->user, KUSER_RANKS, t->t.nranks);
	return rc;
}

/* The table that is there already, or @t, which becomes known. */
static struct ktable *share(struct ktable *t)
{
	struct kpeers spare = { .n = 0 };
	struct ktable *got;
	u32 missing;
	int rc;

	for (;;) {
		mutex_lock(&kuser_lock);
		got = known(t);
		missing = got ? 0 : kpeers_new(t, t->node);
		if (missing <= spare.n)
			break;
		mutex_unlock(&kuser_lock);
		rc = kpeers_prepare(&spare, missing, t);
		if (rc) {
			got = ERR_PTR(rc);
			goto give_back;
		}
	}
	if (!got) {
		rc = enter(t, missing, &spare);
		got = rc ? ERR_PTR(rc) : t;
	}
	mutex_unlock(&kuser_lock);
give_back:
	kpeers_give_back(&spare, t->node);
	return got;
}

struct ktable *ktable_get(struct kep *e, const struct espgoal_group *g)
{
	struct espgoal_rank *rank;
	struct ktable *t, *got;
	struct esp_peer *peer;
	size_t bytes;
	u32 i;
	int rc;

	BUILD_BUG_ON(sizeof(struct espgoal_peer) != sizeof(struct esp_peer));
	BUILD_BUG_ON(sizeof(struct espgoal_rank) != sizeof(struct esp_rank));
	BUILD_BUG_ON(offsetof(struct espgoal_rank, cookie) != offsetof(struct esp_rank, cookie));
	BUILD_BUG_ON(offsetof(struct espgoal_rank, peer) != offsetof(struct esp_rank, peer));

	if (!g->nonce || !g->nranks || g->rank >= g->nranks || !g->npeers || g->npeers > g->nranks)
		return ERR_PTR(-EINVAL);
	if (g->nranks > kparam_ranks_max)
		return ERR_PTR(-E2BIG);
	bytes = sizeof(*t) + g->nranks * (sizeof(*rank) + sizeof(*t->here)) +
		g->npeers * sizeof(*peer) + esp_table_index_size(g->nranks, g->npeers);
	t = kvzalloc(bytes, GFP_KERNEL_ACCOUNT);
	if (!t)
		return ERR_PTR(-ENOMEM);
	rank = (struct espgoal_rank *)(t + 1);
	peer = (struct esp_peer *)(rank + g->nranks);
	t->here = (u32 *)(peer + g->npeers);
	t->refs = 1;
	t->user = e->user;
	t->node = e->node;
	t->nonce = g->nonce;
	t->bytes = bytes;
	t->t.nranks = g->nranks;
	t->t.npeers = g->npeers;
	t->t.rank = (struct esp_rank *)rank;
	t->t.peer = peer;
	rc = -EFAULT;
	if (copy_from_user(rank, u64_to_user_ptr(g->ranks), g->nranks * sizeof(*rank)) ||
	    copy_from_user(peer, u64_to_user_ptr(g->peers), g->npeers * sizeof(*peer)))
		goto free_table;
	rc = check(e, g, t, rank);
	if (rc)
		goto free_table;
	/* A cookie is the name of one endpoint, and that has one rank. */
	rc = esp_table_index(&t->t, t->here + g->nranks);
	if (rc)
		goto free_table;
	for (i = 0; i < g->nranks; i++)
		if (rank[i].peer == t->local)
			t->here[t->nhere++] = i;
	got = share(t);
	if (got == t)
		return t;
	rc = PTR_ERR_OR_ZERO(got);
	kvfree(t);
	return rc ? ERR_PTR(rc) : got;

free_table:
	kvfree(t);
	return ERR_PTR(rc);
}

void ktable_put(struct ktable *t)
{
	struct kuser *u = t->user;

	mutex_lock(&kuser_lock);
	if (--t->refs) {
		mutex_unlock(&kuser_lock);
		return;
	}
	hlist_del(&t->all);
	kpeers_put(t, t->node);
	mutex_unlock(&kuser_lock);
	kuser_uncharge(u, KUSER_RANKS, t->t.nranks);
	kuser_uncharge(u, KUSER_BYTES, t->bytes);
	kvfree(t);
	kuser_put(u);
}
