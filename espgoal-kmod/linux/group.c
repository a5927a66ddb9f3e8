// SPDX-License-Identifier: GPL-2.0-only
/*
 * Rank tables: who the ranks of a group are. The endpoints of one user in one namespace that are in
 * the same group share one, after it has been compared byte by byte. Messages between ranks of
 * this node are exchanged only between members that share their table.
 */
#include <linux/hash.h>
#include <linux/mm.h>
#include <linux/slab.h>

#include "home.h"

#define BITS 12

static struct hlist_head tables[1u << BITS]; /* by nonce, under kuser_lock */

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

/* The request has been checked. */
struct ktable *ktable_get(struct kep *e, const struct espgoal_group *g)
{
	struct espgoal_link link[ESPGOAL_RAILS];
	struct request_self self;
	size_t bytes = sizeof(struct ktable) + request_table_bytes(g);
	struct request_here here;
	struct ktable *t, *got;
	int rc;

	t = kvzalloc(bytes, GFP_KERNEL_ACCOUNT);
	if (!t)
		return ERR_PTR(-ENOMEM);
	t->refs = 1;
	t->user = e->user;
	t->node = e->node;
	t->nonce = g->nonce;
	t->bytes = bytes;
	self.cookie = e->e.cookie;
	self.rails = kep_self(e->node, self.node, link) != 0;
	rc = request_table(g, &self, t + 1, &t->t, &here);
	if (rc)
		goto free_table;
	t->local = here.local;
	t->here = here.rank;
	t->nhere = here.nranks;
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
