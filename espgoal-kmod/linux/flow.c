// SPDX-License-Identifier: GPL-2.0-only
/*
 * Flows: their memory and references, the tables that find them by connection id and by peer, and
 * their timers. Readers use RCU; who changes a table holds table_lock.
 */
#include <linux/hash.h>
#include <linux/slab.h>

#include "home.h"

static struct hlist_head *cid_head(struct knode *n, u64 cid)
{
	return &n->cid[hash_64(cid, KHASH_BITS)];
}

static struct hlist_head *peer_head(struct knode *n, const u8 id[16])
{
	u64 v;

	memcpy(&v, id, sizeof(v)); /* it is random */
	return &n->peer[hash_64(v, KHASH_BITS)];
}

static enum hrtimer_restart fire(struct hrtimer *t)
{
	struct kflow *f = container_of(t, struct kflow, timer);
	struct knode *n = knode_of(f->f.node);
	bool due = false, done = true;
	u64 now;

	kgate_enter(n);
	now = know_here(n);
	spin_lock(&f->lock);
	if (hrtimer_is_queued(t)) {
		/* It was set anew before we got the lock: that one will come. */
		done = false;
	} else if (f->when <= now) {
		f->when = ESP_NEVER;
		f->armed = ESP_NEVER;
		f->set = false;
		due = true;
	} else if (f->when != ESP_NEVER) {
		f->armed = f->when;
		hrtimer_start(t, ns_to_ktime(f->when), HRTIMER_MODE_ABS_SOFT);
		done = false;
	} else {
		f->armed = ESP_NEVER;
		f->set = false;
	}
	spin_unlock(&f->lock);
	if (due)
		esp_timer(&f->f, now);
	if (done)
		env_flow_put(&f->f);
	kgate_leave(n);
	return HRTIMER_NORESTART;
}

/*
 * A later time than the one that is set waits until that has come: most are put off for ever. An
 * earlier one is set at the end of the gate, behind the frames that wait to leave.
 */
void env_timer(struct esp_flow *ef, u64 when)
{
	struct kflow *f = kflow_of(ef);
	struct kgate *g;

	f->when = when;
	if (when >= f->armed)
		return;
	if (f->armed == ESP_NEVER)
		refcount_inc(&f->refs);
	f->armed = when;
	if (f->to_arm)
		return;
	f->to_arm = true;
	refcount_inc(&f->refs);
	g = kgate_here(knode_of(ef->node));
	f->arm_next = g->arm;
	g->arm = f;
}

void kflow_arm(struct kflow *f)
{
	spin_lock(&f->lock);
	f->to_arm = false;
	if (f->armed != ESP_NEVER && f->listed) {
		f->set = true;
		hrtimer_start(&f->timer, ns_to_ktime(f->armed), HRTIMER_MODE_ABS_SOFT);
	}
	spin_unlock(&f->lock);
	env_flow_put(&f->f);
}

/* A node that no table names and for which there is no room is told to come again. */
static bool let_in(struct knode *n, struct kflow *f)
{
	u32 strangers = (u32)atomic_read(&n->open) * KEP_STRANGERS;
	bool ok;

	spin_lock_bh(&n->table_lock);
	ok = !f->stranger || n->nstrangers < strangers;
	if (ok) {
		n->nstrangers += f->stranger;
		n->nflows++;
	}
	spin_unlock_bh(&n->table_lock);
	return ok;
}

struct esp_flow *env_flow_alloc(struct esp_node *n, const struct esp_peer *peer, bool wanted)
{
	struct knode *k = knode_of(n);
	struct kflow *f;

	if (k->exiting)
		return NULL;
	f = kpool_get(&k->flow_pool);
	if (!f) {
		knode_count(k, KNODE_C_no_flow_memory);
		return NULL;
	}
	memset(f, 0, sizeof(*f));
	spin_lock_init(&f->lock);
	refcount_set(&f->refs, 1);
	INIT_HLIST_NODE(&f->by_cid);
	INIT_HLIST_NODE(&f->by_peer);
	INIT_LIST_HEAD(&f->all);
	khrtimer_init(&f->timer, fire);
	f->when = ESP_NEVER;
	f->armed = ESP_NEVER;
	f->stranger = !wanted && !kpeers_know(k, peer->node);
	if (!let_in(k, f)) {
		knode_count(k, KNODE_C_no_room_for_stranger);
		kpool_put(&k->flow_pool, f);
		return NULL;
	}
	return &f->f;
}

static void free_flow(struct rcu_head *rcu)
{
	struct kflow *f = container_of(rcu, struct kflow, rcu);
	struct knode *n = knode_of(f->f.node);
	bool stranger = f->stranger;

	kpool_put(&n->flow_pool, f);
	spin_lock_bh(&n->table_lock);
	if (stranger)
		n->nstrangers--;
	n->nflows--; /* kflows_stop() waits for that */
	spin_unlock_bh(&n->table_lock);
}

void kflow_free(struct kflow *f)
{
	call_rcu(&f->rcu, free_flow);
}

bool kflow_exists(struct knode *n, const u8 node[16])
{
	struct kflow *f;
	bool found = false;

	rcu_read_lock();
	hlist_for_each_entry_rcu(f, peer_head(n, node), by_peer)
		found |= !memcmp(f->f.peer.node, node, 16);
	rcu_read_unlock();
	return found;
}

struct esp_flow *env_flow_by_cid(struct esp_node *en, u64 cid)
{
	struct knode *n = knode_of(en);
	struct kflow *f;

	hlist_for_each_entry_rcu(f, cid_head(n, cid), by_cid)
		if (READ_ONCE(f->f.cid) == cid && refcount_inc_not_zero(&f->refs))
			goto found;
	/* A flow that changes its id may lead a reader into another list. */
	spin_lock_bh(&n->table_lock);
	hlist_for_each_entry(f, cid_head(n, cid), by_cid)
		if (f->f.cid == cid && refcount_inc_not_zero(&f->refs)) {
			spin_unlock_bh(&n->table_lock);
			goto found;
		}
	spin_unlock_bh(&n->table_lock);
	return NULL;

found:
	kgate_here(n)->flow = f;
	return &f->f;
}

struct esp_flow *env_flow_by_peer(struct esp_node *en, const u8 node[16])
{
	struct knode *n = knode_of(en);
	struct kflow *f;

	hlist_for_each_entry_rcu(f, peer_head(n, node), by_peer)
		if (!memcmp(f->f.peer.node, node, 16) && refcount_inc_not_zero(&f->refs))
			return &f->f;
	return NULL;
}

struct esp_flow *env_flow_next(struct esp_node *en, struct esp_flow *eprev)
{
	struct knode *n = knode_of(en);
	struct kflow *prev = eprev ? kflow_of(eprev) : NULL, *f, *next = NULL;

	spin_lock_bh(&n->table_lock);
	f = prev && prev->listed ? prev : list_entry(&n->flows, struct kflow, all);
	list_for_each_entry_continue(f, &n->flows, all)
		if ((!prev || f->serial > prev->serial) && refcount_inc_not_zero(&f->refs)) {
			next = f;
			break;
		}
	spin_unlock_bh(&n->table_lock);
	if (eprev)
		env_flow_put(eprev);
	return next ? &next->f : NULL;
}

static bool cid_taken(struct knode *n, u64 cid)
{
	struct kflow *f;

	hlist_for_each_entry(f, cid_head(n, cid), by_cid)
		if (f->f.cid == cid)
			return true;
	return !cid;
}

static bool peer_taken(struct knode *n, const u8 node[16])
{
	struct kflow *f;

	hlist_for_each_entry(f, peer_head(n, node), by_peer)
		if (!memcmp(f->f.peer.node, node, 16))
			return true;
	return false;
}

int env_flow_insert(struct esp_flow *ef)
{
	struct kflow *f = kflow_of(ef);
	struct knode *n = knode_of(ef->node);
	int rc = -EEXIST;

	spin_lock_bh(&n->table_lock);
	if (!cid_taken(n, ef->cid) && !peer_taken(n, ef->peer.node)) {
		f->serial = ++n->serial;
		f->listed = true;
		list_add_tail(&f->all, &n->flows);
		refcount_inc(&f->refs);
		hlist_add_head_rcu(&f->by_cid, cid_head(n, ef->cid));
		hlist_add_head_rcu(&f->by_peer, peer_head(n, ef->peer.node));
		rc = 0;
	}
	spin_unlock_bh(&n->table_lock);
	return rc;
}

int env_flow_rename(struct esp_flow *ef, u64 cid)
{
	struct kflow *f = kflow_of(ef);
	struct knode *n = knode_of(ef->node);
	int rc = -EEXIST;

	spin_lock_bh(&n->table_lock);
	if (!cid_taken(n, cid)) {
		hlist_del_rcu(&f->by_cid);
		WRITE_ONCE(ef->cid, cid);
		hlist_add_head_rcu(&f->by_cid, cid_head(n, cid));
		rc = 0;
	}
	spin_unlock_bh(&n->table_lock);
	return rc;
}

void env_flow_remove(struct esp_flow *ef)
{
	struct kflow *f = kflow_of(ef);
	struct knode *n = knode_of(ef->node);

	/* If it runs at this moment it finds out by itself. */
	if (f->armed != ESP_NEVER && (!f->set || hrtimer_try_to_cancel(&f->timer) == 1)) {
		f->armed = ESP_NEVER;
		f->set = false;
		env_flow_put(ef);
	}
	spin_lock_bh(&n->table_lock);
	hlist_del_rcu(&f->by_cid);
	hlist_del_rcu(&f->by_peer);
	list_del_init(&f->all);
	f->listed = false;
	spin_unlock_bh(&n->table_lock);
	env_flow_put(ef);
}

void env_endings(struct esp_node *n, s32 more)
{
	atomic_add_return(more, &knode_of(n)->endings);
}

bool env_any_ending(struct esp_node *n)
{
	return atomic_read_acquire(&knode_of(n)->endings) != 0;
}

/* Messages of endpoints that have left are still under way. */
bool kflows_busy(struct knode *n)
{
	struct esp_flow *f = NULL;
	bool busy = false;

	while ((f = env_flow_next(&n->n, f)) != NULL)
		busy |= READ_ONCE(f->nmsgs) != 0;
	return busy;
}

/* All are killed: wait until nobody refers to them any more. */
void kflows_stop(struct knode *n)
{
	while (READ_ONCE(n->nflows)) {
		rcu_barrier();
		if (READ_ONCE(n->nflows))
			schedule_timeout_uninterruptible(1);
	}
	rcu_barrier(); /* the last one is through */
}
