// SPDX-License-Identifier: GPL-2.0-only
/*
 * Nodes that rank tables name, each once for a user and a namespace, however many groups it is in:
 * for each of them there is memory for a flow, which the user is charged for. So nobody's flows
 * keep another user from having theirs. Changed under kuser_lock; softirq looks with RCU.
 */
#include <linux/hash.h>
#include <linux/slab.h>

#include "home.h"

#define BITS 10

struct kpeer {
	struct hlist_node all;
	struct kuser *user;
	struct knode *node;
	u8 id[16];
	u32 refs;
	struct rcu_head rcu;
};

static struct hlist_head heads[1u << BITS];

static struct hlist_head *head_of(const u8 id[16])
{
	u64 v;

	memcpy(&v, id, sizeof(v));
	return &heads[hash_64(v, BITS)];
}

static u64 price(void)
{
	return sizeof(struct kpeer) + sizeof(struct kflow);
}

static struct kpeer *find(const struct ktable *t, struct knode *n, const u8 id[16])
{
	struct kpeer *p;

	hlist_for_each_entry(p, head_of(id), all)
		if (p->user == t->user && p->node == n && !memcmp(p->id, id, sizeof(p->id)))
			return p;
	return NULL;
}

static int get(const struct ktable *t, struct knode *n, const u8 id[16])
{
	struct kpeer *p = find(t, n, id);
	int rc;

	if (p) {
		p->refs++;
		return 0;
	}
	rc = kuser_charge(t->user, KUSER_PEERS, 1);
	if (rc)
		return rc;
	rc = kuser_charge(t->user, KUSER_BYTES, price());
	if (rc)
		goto uncharge_peer;
	rc = -ENOMEM;
	p = kzalloc(sizeof(*p), GFP_KERNEL_ACCOUNT);
	if (!p)
		goto uncharge;
	rc = kpool_grow(&n->flow_pool, 1, GFP_KERNEL_ACCOUNT);
	if (rc)
		goto free_peer;
	p->user = t->user;
	p->node = n;
	memcpy(p->id, id, sizeof(p->id));
	p->refs = 1;
	hlist_add_head_rcu(&p->all, head_of(id));
	return 0;

free_peer:
	kfree(p);
uncharge:
	kuser_uncharge(t->user, KUSER_BYTES, price());
uncharge_peer:
	kuser_uncharge(t->user, KUSER_PEERS, 1);
	return rc;
}

static void put(const struct ktable *t, struct knode *n, const u8 id[16])
{
	struct kpeer *p = find(t, n, id);

	if (--p->refs)
		return;
	hlist_del_rcu(&p->all);
	kfree_rcu(p, rcu);
	/* A flow lives on for a while, and what is spare then is meant for others. */
	if (kflow_exists(n, id))
		kpool_want_less(&n->flow_pool, 1);
	else
		kpool_shrink(&n->flow_pool, 1);
	kuser_uncharge(t->user, KUSER_BYTES, price());
	kuser_uncharge(t->user, KUSER_PEERS, 1);
}

bool kpeers_know(const struct knode *n, const u8 id[16])
{
	struct kpeer *p;

	hlist_for_each_entry_rcu(p, head_of(id), all)
		if (p->node == n && !memcmp(p->id, id, sizeof(p->id)))
			return true;
	return false;
}

static void put_first(const struct ktable *t, struct knode *n, u32 count)
{
	u32 i;

	for (i = 0; i < count; i++)
		if (i != t->local)
			put(t, n, t->t.peer[i].node);
}

int kpeers_get(const struct ktable *t, struct knode *n)
{
	u32 i;
	int rc;

	for (i = 0; i < t->t.npeers; i++) {
		if (i == t->local)
			continue;
		rc = get(t, n, t->t.peer[i].node);
		if (rc) {
			put_first(t, n, i);
			return rc;
		}
	}
	return 0;
}

void kpeers_put(const struct ktable *t, struct knode *n)
{
	put_first(t, n, t->t.npeers);
}
