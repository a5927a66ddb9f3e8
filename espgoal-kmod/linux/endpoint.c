// SPDX-License-Identifier: GPL-2.0-only
/*
 * Endpoints: one process's part of a node. How they are made, what they add to the node's
 * pools, how they end, and for how long their cookie is remembered.
 */
#include <linux/cred.h>
#include <linux/hash.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>

#include "home.h"

static const u32 pool_share[ESP_POOLS] = {
	[ESP_POOL_SENT] = KEP_POOL_SENT, [ESP_POOL_CTL] = KEP_POOL_CTL,       [ESP_POOL_QUEUE] = 16,
	[ESP_POOL_RX] = KEP_POOL_RX,     [ESP_POOL_RX_POSTED] = KEP_POOL_RXP,
};

static struct hlist_head *ep_head(struct knode *n, u64 cookie)
{
	return &n->ep[hash_64(cookie, KHASH_BITS)];
}

int kep_charge(struct kep *e, u64 bytes)
{
	return kuser_charge(e->user, KUSER_BYTES, bytes);
}

void kep_uncharge(struct kep *e, u64 bytes)
{
	kuser_uncharge(e->user, KUSER_BYTES, bytes);
}

void kep_get(struct kep *e)
{
	refcount_inc(&e->refs);
}

static void pools_shrink(struct knode *n, u32 pools, bool flows)
{
	u32 i;

	for (i = 0; i < pools; i++)
		kpool_shrink(&n->pool[i], pool_share[i]);
	if (flows)
		kpool_shrink(&n->flow_pool, KEP_POOL_FLOW);
}

static int pools_grow(struct knode *n)
{
	int rc = 0;
	u32 i;

	for (i = 0; i < ESP_POOLS && !rc; i++)
		rc = kpool_grow(&n->pool[i], pool_share[i], GFP_KERNEL_ACCOUNT);
	if (rc) {
		pools_shrink(n, i - 1, false);
		return rc;
	}
	rc = kpool_grow(&n->flow_pool, KEP_POOL_FLOW, GFP_KERNEL_ACCOUNT);
	if (rc)
		pools_shrink(n, ESP_POOLS, false);
	return rc;
}

/* Nobody refers to it any more. */
static void free_ep(struct work_struct *w)
{
	struct kep *e = container_of(to_rcu_work(w), struct kep, work);
	struct knode *n = e->node;
	struct net *net = n->net;

	kmm_put(e->mm, e);
	xa_destroy(&e->groups);
	xa_destroy(&e->scheds);
	kvfree(e->run_used);
	kvfree(e->run);
	karea_free(&e->area);
	kpool_free(&e->room);
	free_percpu(e->count);
	kep_uncharge(e, e->charged);
	kuser_uncharge(e->user, KUSER_ENDPOINTS, 1);
	kuser_put(e->user);
	kfile_put(e->file);
	kfree(e->left);
	kshare_put(e->share);
	kfree(e);
	pools_shrink(n, ESP_POOLS, true);
	atomic_dec(&n->open); /* the node may be gone from here on */
	put_net(net);
}

void kep_put(struct kep *e)
{
	if (refcount_dec_and_test(&e->refs))
		queue_rcu_work(knode_wq, &e->work);
}

/* What others must know to reach this node; how many links it has. */
u32 kep_self(struct knode *n, u8 node[16], struct espgoal_link link[ESPGOAL_RAILS])
{
	u32 i, links = 0;

	memcpy(node, n->n.id, 16);
	rcu_read_lock();
	for (i = 0; i < ESP_PATHS; i++) {
		struct krail *r = rcu_dereference(n->rail[i]);

		if (r && r->r.up) {
			memcpy(&link[i], &r->r.addr, sizeof(link[i]));
			links++;
		}
	}
	rcu_read_unlock();
	return links;
}

static int enter(struct kep *e)
{
	struct knode *n = e->node;
	struct kep *other;

	do {
		e->e.cookie = get_random_u64();
	} while (!e->e.cookie);
	spin_lock_bh(&n->table_lock);
	hlist_for_each_entry(other, ep_head(n, e->e.cookie), by_cookie)
		if (other->e.cookie == e->e.cookie) {
			spin_unlock_bh(&n->table_lock);
			return -EAGAIN;
		}
	hlist_add_head_rcu(&e->by_cookie, ep_head(n, e->e.cookie));
	list_add_tail(&e->all, &n->eps);
	refcount_inc(&e->refs);
	spin_unlock_bh(&n->table_lock);
	return 0;
}

static u64 charge_of(const struct knode *n, u32 runs, u64 area)
{
	u64 bytes = sizeof(struct kep) + area + (u64)KMAX_ROOMS * n->n.p.eager_max +
		    runs * (sizeof(void *) + sizeof(struct espgoal_word));
	u32 i;

	for (i = 0; i < ESP_POOLS; i++)
		bytes += (u64)pool_share[i] * n->pool[i].size;
	return bytes + KEP_POOL_FLOW * sizeof(struct kflow);
}

/* Once: most namespaces never have an endpoint. */
static int make_members(struct knode *n)
{
	struct hlist_head *m;

	if (READ_ONCE(n->member))
		return 0;
	m = kvcalloc(1u << KMEMBER_BITS, sizeof(*m), GFP_KERNEL);
	if (!m)
		return -ENOMEM;
	if (cmpxchg_release(&n->member, NULL, m)) /* with env_member_find() */
		kvfree(m);
	return 0;
}

static int bring_up(struct kep *e, u32 runs, u64 area)
{
	u32 head = sizeof(struct espgoal_head) + runs * sizeof(struct espgoal_word);
	int rc = -ENOMEM;

	e->run = kvcalloc(runs, sizeof(*e->run), GFP_KERNEL_ACCOUNT);
	e->count = __alloc_percpu_gfp(KEP_COUNTERS * sizeof(u64), sizeof(u64), GFP_KERNEL_ACCOUNT);
	e->run_used = kvcalloc(BITS_TO_LONGS(runs), sizeof(long), GFP_KERNEL_ACCOUNT);
	e->left = kzalloc(sizeof(*e->left), GFP_KERNEL_ACCOUNT);
	e->share = kzalloc(sizeof(*e->share), GFP_KERNEL_ACCOUNT);
	if (!e->run || !e->count || !e->run_used || !e->left || !e->share)
		return -ENOMEM;
	refcount_set(&e->share->refs, 1);
	e->nruns = runs;
	rc = make_members(e->node);
	if (rc)
		return rc;
	rc = karea_init(&e->area, head, area);
	if (rc)
		return rc;
	e->head = (struct espgoal_head *)e->area.mem;
	rc = kpool_grow(&e->room, KMAX_ROOMS, GFP_KERNEL_ACCOUNT);
	if (rc)
		return rc;
	e->mm = kmm_get(e);
	if (IS_ERR(e->mm))
		return PTR_ERR(e->mm);
	rc = pools_grow(e->node);
	if (rc) {
		kmm_put(e->mm, e);
		return rc;
	}
	atomic_inc(&e->node->open);
	do {
		rc = enter(e);
	} while (rc == -EAGAIN);
	return rc;
}

int kep_open(struct net *net, struct kfile *f, struct espgoal_open *a, struct kep **ep)
{
	struct knode *n = knode_of_net(net);
	struct kep *e;
	u32 i;
	int rc;

	e = kzalloc(sizeof(*e), GFP_KERNEL_ACCOUNT);
	if (!e)
		return -ENOMEM;
	e->node = n;
	e->e.node = &n->n;
	e->file = f;
	refcount_set(&e->refs, 1);
	mutex_init(&e->mutex);
	spin_lock_init(&e->over_lock);
	spin_lock_init(&e->early_lock);
	for (i = 0; i < KEARLY; i++)
		INIT_LIST_HEAD(&e->early[i]);
	spin_lock_init(&e->parked_lock);
	INIT_LIST_HEAD(&e->parked);
	xa_init_flags(&e->groups, XA_FLAGS_ALLOC | XA_FLAGS_ACCOUNT);
	xa_init_flags(&e->scheds, XA_FLAGS_ALLOC | XA_FLAGS_ACCOUNT);
	INIT_LIST_HEAD(&e->of_mm);
	INIT_LIST_HEAD(&e->all);
	INIT_RCU_WORK(&e->work, free_ep);
	kpool_init(&e->room, n->n.p.eager_max);
	e->user = kuser_get(current_euid());
	if (!e->user) {
		rc = -ENOMEM;
		goto free_ep;
	}
	rc = kuser_charge(e->user, KUSER_ENDPOINTS, 1);
	if (rc)
		goto put_user;
	e->charged = charge_of(n, a->runs, a->area);
	rc = kep_charge(e, e->charged);
	if (rc)
		goto uncharge_endpoint;
	rc = bring_up(e, a->runs, a->area);
	if (rc)
		goto bring_down;
	kref_get(&f->refs);
	get_net(net);
	queue_delayed_work(knode_wq, &n->work, HZ); /* if it is not queued */

	kep_self(n, a->node, a->link);
	a->area_off = e->area.first;
	a->map_bytes = (u64)e->area.npages << PAGE_SHIFT;
	a->cookie = e->e.cookie;
	*ep = e;
	return 0;

bring_down:
	kfree(e->share);
	kfree(e->left);
	kpool_free(&e->room);
	karea_free(&e->area);
	free_percpu(e->count);
	kvfree(e->run_used);
	kvfree(e->run);
	kep_uncharge(e, e->charged);
uncharge_endpoint:
	kuser_uncharge(e->user, KUSER_ENDPOINTS, 1);
put_user:
	kuser_put(e->user);
free_ep:
	kfree(e);
	return rc;
}

static void drop_objects(struct kep *e)
{
	struct ksched *s;
	unsigned long id;
	u32 i;

	for (i = 0; i < e->nruns; i++) {
		struct krun *r = rcu_dereference_protected(e->run[i], lockdep_is_held(&e->mutex));

		if (r)
			krun_drop(e, r);
	}
	xa_for_each(&e->scheds, id, s) {
		xa_erase(&e->scheds, id);
		ksched_put(s);
	}
}

static void leave_flows(struct kep *e, bool clean)
{
	struct esp_close c;
	bool more;

	memset(&c, 0, sizeof(c));
	do {
		kgate_enter(e->node);
		more = esp_ep_close(&e->e, &c, clean, know());
		kgate_leave(e->node);
		cond_resched();
	} while (more);
}

void kep_close(struct kep *e, bool clean)
{
	struct knode *n = e->node;
	struct kmember *m;
	unsigned long id;
	bool gone = false;

	mutex_lock(&e->mutex);
	if (e->state != KEP_OPEN) {
		mutex_unlock(&e->mutex);
		return;
	}
	e->closed_at = know();
	WRITE_ONCE(e->state, clean ? KEP_LEFT : KEP_GONE);
	WRITE_ONCE(e->head->ended, (u32)-ESHUTDOWN);
	/* Nothing is sent behind esp_ep_close(): the runs end first. */
	xa_for_each(&e->groups, id, m) {
		kmember_end(m);
	}
	/*
	 * Whoever was sending for one of them meanwhile is through with it then: entries are RCU
	 * readers.
	 */
	if (!xa_empty(&e->groups))
		synchronize_rcu_expedited();
	if (!clean) {
		xa_for_each(&e->groups, id, m) {
			kgate_enter(n);
			esp_member_fail(&m->m, -ECONNRESET, m->m.rank, know());
			kgate_leave(n);
			cond_resched();
		}
	}
	leave_flows(e, clean);
	xa_for_each(&e->groups, id, m) {
		kmember_erase(m);
		kmember_leave(m);
		kmember_put(m);
	}
	klocal_forget(e, NULL);
	if (!clean)
		klocal_take_back(e);
	drop_objects(e);
	mutex_unlock(&e->mutex);
	wake_up_all(&e->file->wait);

	if (!clean) {
		/* It is not known any more, so whoever asks hears that it is gone. */
		spin_lock_bh(&n->table_lock);
		gone = !list_empty(&e->all);
		list_del_init(&e->all);
		hlist_del_init_rcu(&e->by_cookie);
		spin_unlock_bh(&n->table_lock);
	}
	if (gone) {
		kmembers_without(n, e->e.cookie);
		kep_put(e);
	}
}

/* Of one that has left only this remains. Under the node's table_lock. */
static void remember(struct kep *e)
{
	struct knode *n = e->node;
	struct kleft *l = e->left;

	e->left = NULL;
	l->cookie = e->e.cookie;
	l->at = e->closed_at;
	list_add_tail(&l->all, &n->lefts);
	hlist_add_head_rcu(&l->by_cookie, &n->left[hash_64(l->cookie, KHASH_BITS)]);
	smp_wmb(); /* who does not find the endpoint any more finds this: env_ep_state() */
}

static void forget_left(struct knode *n, u64 now, bool all)
{
	struct kleft *l, *next;

	spin_lock_bh(&n->table_lock);
	list_for_each_entry_safe(l, next, &n->lefts, all) {
		if (!all && now < l->at + n->n.p.linger)
			break;
		list_del(&l->all);
		hlist_del_rcu(&l->by_cookie);
		kfree_rcu(l, rcu);
	}
	spin_unlock_bh(&n->table_lock);
}

/*
 * One whose process is gone, or whose time as LEFT is over, or of which nothing is under way since
 * it has left. With a reference.
 */
static struct kep *next_to_end(struct knode *n, u64 now, bool all)
{
	struct kep *e, *found = NULL;

	spin_lock_bh(&n->table_lock);
	list_for_each_entry(e, &n->eps, all) {
		bool idle = READ_ONCE(e->state) == KEP_LEFT && refcount_read(&e->refs) == 1;

		if (idle)
			remember(e);
		if (idle || (READ_ONCE(e->state) == KEP_LEFT &&
			     (all || now >= READ_ONCE(e->closed_at) + n->n.p.linger))) {
			list_del_init(&e->all);
			hlist_del_init_rcu(&e->by_cookie);
			found = e; /* the table's reference */
			break;
		}
		if (READ_ONCE(e->state) == KEP_OPEN && READ_ONCE(e->wants_close)) {
			kep_get(e);
			found = e;
			break;
		}
	}
	spin_unlock_bh(&n->table_lock);
	return found;
}

void kep_linger(struct knode *n, u64 now, bool all)
{
	struct kep *e;

	while ((e = next_to_end(n, now, all)) != NULL) {
		kep_close(e, false);
		klocal_take_back(e);
		kep_put(e);
	}
	forget_left(n, now, all);
}

struct kep *kep_by_cookie(struct knode *n, u64 cookie)
{
	struct kep *e;

	hlist_for_each_entry_rcu(e, ep_head(n, cookie), by_cookie)
		if (e->e.cookie == cookie)
			return e;
	return NULL;
}

bool env_any_ep(struct esp_node *n)
{
	return atomic_read(&knode_of(n)->open) != 0;
}

enum esp_ep_state env_ep_state(struct esp_node *en, u64 cookie)
{
	struct knode *n = knode_of(en);
	enum esp_ep_state s = ESP_EP_GONE;
	struct kleft *l;
	struct kep *e;

	rcu_read_lock();
	e = kep_by_cookie(n, cookie);
	if (e) {
		u8 state = READ_ONCE(e->state);

		if (state != KEP_GONE)
			s = state == KEP_OPEN ? ESP_EP_OPEN : ESP_EP_LEFT;
		goto unlock;
	}
	smp_rmb(); /* with remember() */
	hlist_for_each_entry_rcu(l, &n->left[hash_64(cookie, KHASH_BITS)], by_cookie)
		if (l->cookie == cookie) {
			s = ESP_EP_LEFT;
			break;
		}
unlock:
	rcu_read_unlock();
	return s;
}
