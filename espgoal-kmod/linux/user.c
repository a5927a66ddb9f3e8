// SPDX-License-Identifier: GPL-2.0-only
/*
 * What one user has, over all descriptors and namespaces, and how much that may be. Endpoints hold
 * their user. Memory itself is charged to the control group of the process as well.
 */
#include <linux/cred.h>
#include <linux/slab.h>

#include "home.h"

DEFINE_MUTEX(kuser_lock); /* users, rank tables, their reference counts */
static LIST_HEAD(users);

struct kuser *kuser_get(kuid_t uid)
{
	struct kuser *fresh = kzalloc(sizeof(*fresh), GFP_KERNEL_ACCOUNT), *u;

	mutex_lock(&kuser_lock);
	list_for_each_entry(u, &users, all) {
		if (uid_eq(u->uid, uid)) {
			u->refs++;
			goto unlock;
		}
	}
	u = fresh;
	fresh = NULL;
	if (u) {
		u->uid = uid;
		u->refs = 1;
		list_add(&u->all, &users);
	}
unlock:
	mutex_unlock(&kuser_lock);
	kfree(fresh);
	return u;
}

void kuser_put(struct kuser *u)
{
	mutex_lock(&kuser_lock);
	if (--u->refs == 0) {
		list_del(&u->all);
		kfree(u);
	}
	mutex_unlock(&kuser_lock);
}

static u64 limit(enum kuser_kind kind)
{
	switch (kind) {
	case KUSER_ENDPOINTS:
		return kparam_user_endpoints;
	case KUSER_GROUPS:
		return kparam_user_groups;
	case KUSER_RANKS:
		return kparam_user_ranks;
	case KUSER_PEERS:
		return kparam_flows_max;
	default:
		return (u64)kparam_user_mbytes << 20;
	}
}

bool kuser_has_room(const struct kuser *u, enum kuser_kind kind, u64 n)
{
	return (u64)atomic64_read(&u->used[kind]) + n <= limit(kind);
}

int kuser_charge(struct kuser *u, enum kuser_kind kind, u64 n)
{
	if (atomic64_add_return(n, &u->used[kind]) <= limit(kind))
		return 0;
	atomic64_sub(n, &u->used[kind]);
	return -EDQUOT;
}

void kuser_uncharge(struct kuser *u, enum kuser_kind kind, u64 n)
{
	atomic64_sub(n, &u->used[kind]);
}
