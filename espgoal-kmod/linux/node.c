// SPDX-License-Identifier: GPL-2.0-only
/*
 * Nodes: one per network namespace. Their life, their locks as the core takes them, their secrets
 * and counters, and the work item that does what cannot be done in softirq, or is done once a
 * second.
 */
#include <linux/rtnetlink.h>
#include <linux/siphash.h>
#include <linux/slab.h>
#include <net/netns/generic.h>

#include "home.h"

unsigned int knode_id __read_mostly;
/* For what is given back in softirq and needs a process to be freed. */
struct workqueue_struct *knode_wq __read_mostly;

/* NULL while the namespace is being set up, and when it is as good as gone. */
struct knode *knode_of_net(struct net *net)
{
	struct knode **slot = net_generic(net, knode_id);

	return slot ? READ_ONCE(*slot) : NULL;
}

u64 knode_sum(const u64 __percpu *count, u32 c)
{
	u64 sum = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		sum += READ_ONCE(per_cpu_ptr(count, cpu)[c]);
	return sum;
}

u64 env_prf(struct esp_node *n, u32 key, const void *data, u32 len)
{
	struct knode *k = knode_of(n);
	siphash_key_t s;

	spin_lock(&k->prf_lock);
	if (!k->prf[key & 1].set || k->prf[key & 1].number != key) {
		k->prf[key & 1].set = true;
		k->prf[key & 1].number = key;
		get_random_bytes(k->prf[key & 1].key, sizeof(k->prf[0].key));
	}
	s.key[0] = k->prf[key & 1].key[0];
	s.key[1] = k->prf[key & 1].key[1];
	spin_unlock(&k->prf_lock);
	return siphash(data, len, &s);
}

static void node_work(struct work_struct *w)
{
	struct knode *n = container_of(to_delayed_work(w), struct knode, work);

	kmember_second(n);
	kep_linger(n, know(), false);
	if (!n->exiting && (atomic_read(&n->open) || !list_empty(&n->lefts)))
		queue_delayed_work(knode_wq, &n->work, HZ);
}

/* What concerns all members takes long: in parts, and never in softirq. */
static void look(struct work_struct *w)
{
	struct knode *n = container_of(w, struct knode, look);
	struct esp_look l;
	bool more;

	memset(&l, 0, sizeof(l));
	do {
		kgate_enter(n);
		more = esp_look(&n->n, &l, know());
		kgate_leave(n);
		cond_resched();
	} while (more);
}

void env_look(struct esp_node *n)
{
	queue_work(knode_wq, &knode_of(n)->look);
}

void knode_poke(struct knode *n)
{
	if (!READ_ONCE(n->exiting))
		mod_delayed_work(knode_wq, &n->work, 0);
}

static int __net_init node_init(struct net *net)
{
	struct knode *n = kvzalloc(sizeof(*n), GFP_KERNEL);
	struct esp_params p;
	u8 id[16];
	int rc = -ENOMEM;
	u32 i;

	if (!n)
		return -ENOMEM;
	n->gate = alloc_percpu(struct kgate);
	n->count = __alloc_percpu((ESP_COUNTERS + KNODE_COUNTERS) * sizeof(u64), sizeof(u64));
	if (!n->gate || !n->count)
		goto free_node;
	get_random_bytes(id, sizeof(id));
	kparams_esp(&p);
	esp_node_init(&n->n, id, &p);
	n->net = net;
	spin_lock_init(&n->lock);
	spin_lock_init(&n->table_lock);
	spin_lock_init(&n->prf_lock);
	INIT_LIST_HEAD(&n->flows);
	INIT_LIST_HEAD(&n->members);
	INIT_LIST_HEAD(&n->eps);
	INIT_LIST_HEAD(&n->lefts);
	for (i = 0; i < ESP_POOLS; i++)
		kpool_init(&n->pool[i], (u32)esp_pool_size(i));
	kpool_init(&n->flow_pool, sizeof(struct kflow));
	INIT_DELAYED_WORK(&n->work, node_work);
	INIT_WORK(&n->look, look);
	kgate_init(n);
	strscpy(n->list, net_eq(net, &init_net) ? "auto" : "", sizeof(n->list));
	rc = ksysctl_init(n);
	if (rc)
		goto free_node;
	kdebugfs_node(n);
	/* Last: from here on it is found. */
	WRITE_ONCE(*(struct knode **)net_generic(net, knode_id), n);
	return 0;

free_node:
	free_percpu(n->count);
	free_percpu(n->gate);
	kvfree(n);
	return rc;
}

static void kill_flows(struct knode *n)
{
	struct esp_flow *f = NULL;

	kgate_enter(n);
	while ((f = env_flow_next(&n->n, f)) != NULL)
		esp_flow_kill(f, know());
	kgate_leave(n);
}

/* No endpoint is open; when the namespace itself ends, none lingers either: each holds it. */
static void __net_exit node_exit(struct net *net)
{
	struct knode *n = knode_of_net(net);
	u32 i;

	ksysctl_exit(n);
	kdebugfs_node_exit(n);
	WRITE_ONCE(n->exiting, true);
	cancel_delayed_work_sync(&n->work);
	kep_linger(n, know(), true);
	rtnl_lock();
	krails_stop(n);
	WRITE_ONCE(*(struct knode **)net_generic(net, knode_id), NULL);
	rtnl_unlock();
	synchronize_net();
	kill_flows(n);
	kflows_stop(n);
	do {
		rcu_barrier();
		flush_workqueue(knode_wq);
	} while (atomic_read(&n->open));
	/* A process that ended meanwhile may have asked for it once more. */
	cancel_delayed_work_sync(&n->work);
	cancel_work_sync(&n->look);
	kgate_stop(n);
	for (i = 0; i < ESP_POOLS; i++)
		kpool_free(&n->pool[i]);
	kpool_free(&n->flow_pool);
	kvfree(n->member);
	free_percpu(n->count);
	free_percpu(n->gate);
	kvfree(n);
}

/*
 * The module is to go: lingering endpoints get the time they were promised, unless everything
 * they sent has been acknowledged earlier.
 */
void knode_module_drain(void)
{
	u64 end = 0;
	bool busy;

	do {
		struct net *net;

		busy = false;
		down_read(&net_rwsem);
		for_each_net(net) {
			struct knode *n = knode_of_net(net);

			if (!n)
				continue;
			if (!end)
				end = know() + n->n.p.linger;
			busy |= kflows_busy(n);
		}
		up_read(&net_rwsem);
		if (busy)
			schedule_timeout_uninterruptible(msecs_to_jiffies(10));
	} while (busy && know() < end);
}

/* Of devices, so that the namespace's interfaces still exist when flows say good-bye. */
static struct pernet_operations ops = {
	.init = node_init,
	.exit = node_exit,
	.id = &knode_id,
	.size = sizeof(struct knode *),
};

int knode_module_init(void)
{
	int rc;

	knode_wq = alloc_workqueue("espgoal", WQ_UNBOUND, 0);
	if (!knode_wq)
		return -ENOMEM;
	rc = register_pernet_device(&ops);
	if (rc)
		destroy_workqueue(knode_wq);
	return rc;
}

void knode_module_exit(void)
{
	unregister_pernet_device(&ops);
	rcu_barrier();
	destroy_workqueue(knode_wq);
}
