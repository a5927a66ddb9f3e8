// SPDX-License-Identifier: GPL-2.0-only
/*
 * Nodes that rank tables name, each once for a user and a namespace, however many groups it is in:
 * for each of them there is memory for a flow, which the user is charged for. So nobody's flows
 * keep another user from having theirs. Changed under kuser_lock; softirq looks with RCU. Memory is
 * allocated before the lock is taken: that may take long, and the lock is all users'.
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

int kpeers_charge(const struct ktable *t, u32 count)
{
	int rc = kuser_charge(t->user, KUSER_PEERS, count);

	if (rc)
		return rc;
	rc = kuser_charge(t->user, KUSER_BYTES, count * price());
	if (rc)
		kuser_uncharge(t->user, KUSER_PEERS, count);
	return rc;
}

void kpeers_uncharge(const struct ktable *t, u32 count)
{
	kuser_uncharge(t->user, KUSER_BYTES, count * price());
	kuser_uncharge(t->user, KUSER_PEERS, count);
}

/* One that may be needed, with the memory of its flow. */
static int add_spare(struct kpeers *spare, struct knode *n)
{
	struct kpeer *p = kzalloc(sizeof(*p), GFP_KERNEL_ACCOUNT);
	int rc;

	if (!p)
		return -ENOMEM;
	rc = kpool_grow(&n->flow_pool, 1, GFP_KERNEL_ACCOUNT);
	if (rc) {
		kfree(p);
		return rc;
	}
	hlist_add_head(&p->all, &spare->all);
	spare->n++;
	return 0;
}

static struct kpeer *take_spare(struct kpeers *spare)
{
	struct kpeer *p = hlist_entry(spare->all.first, struct kpeer, all);

	hlist_del(&p->all);
	spare->n--;
	return p;
}

int kpeers_prepare(struct kpeers *spare, u32 count, const struct ktable *t)
{
	int rc = 0;

	/* What will be refused is not allocated first. */
	if (!kuser_has_room(t->user, KUSER_PEERS, count) ||
	    !kuser_has_room(t->user, KUSER_BYTES, count * price()))
		return -EDQUOT;
	while (spare->n < count && !rc) {
		rc = add_spare(spare, t->node);
		cond_resched();
	}
	return rc;
}

void kpeers_give_back(struct kpeers *spare, struct knode *n)
{
	while (spare->n) {
		kfree(take_spare(spare));
		kpool_shrink(&n->flow_pool, 1);
	}
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
	kpeers_uncharge(t, 1);
}

bool kpeers_know(const struct knode *n, const u8 id[16])
{
	struct kpeer *p;

	hlist_for_each_entry_rcu(p, head_of(id), all)
		if (p->node == n && !memcmp(p->id, id, sizeof(p->id)))
			return true;
	return false;
}

u32 kpeers_new(const struct ktable *t, struct knode *n)
{
	u32 i, count = 0;

	for (i = 0; i < t->t.npeers; i++)
		if (i != t->local && !find(t, n, t->t.peer[i].node))
			count++;
	return count;
}

void kpeers_get(const struct ktable *t, struct knode *n, struct kpeers *spare)
{
	u32 i;

	for (i = 0; i < t->t.npeers; i++) {
		const u8 *id = t->t.peer[i].node;
		struct kpeer *p;

		if (i == t->local)
			continue;
		p = find(t, n, id);
		if (!p) {
			p = take_spare(spare);
			p->user = t->user;
			p->node = n;
			memcpy(p->id, id, sizeof(p->id));
			hlist_add_head_rcu(&p->all, head_of(id));
		}
		p->refs++;
	}
}

void kpeers_put(const struct ktable *t, struct knode *n)
{
	u32 i;

	for (i = 0; i < t->t.npeers; i++)
		if (i != t->local)
			put(t, n, t->t.peer[i].node);
}
