// SPDX-License-Identifier: GPL-2.0-only
/*
 * Members: an endpoint's place in a group. The tables that find them, the runs that are active in
 * them, their failure and their end.
 */
#include <linux/hash.h>
#include <linux/slab.h>

#include "home.h"

#define CANCELS 16 /* runs cancelled at a time */

static struct hlist_head *name_head(struct knode *n, u64 cookie, u64 nonce)
{
	return &n->member[hash_64(cookie ^ nonce, KMEMBER_BITS)];
}

static struct hlist_head *run_head(struct kmember *m, u32 opid, u32 start)
{
	return &m->run[(opid ^ start) % KRUN_HEADS];
}

static u64 number(u32 opid, u32 start)
{
	return (u64)opid << 32 | start;
}

static void free_member(struct work_struct *w)
{
	struct kmember *m = container_of(to_rcu_work(w), struct kmember, work);
	struct kep *e = m->ep;

	ktable_put(m->table);
	kuser_uncharge(e->user, KUSER_GROUPS, 1);
	kep_uncharge(e, sizeof(*m));
	kfree(m);
	kep_put(e);
}

void kmember_put(struct kmember *m)
{
	if (refcount_dec_and_test(&m->refs))
		queue_rcu_work(knode_wq, &m->work);
}

void env_member_get(struct esp_member *em)
{
	struct kmember *m = kmember_of(em);

	refcount_inc(&m->refs);
	WRITE_ONCE(m->needs, true); /* it has something to tell, perhaps */
}

void env_member_put(struct esp_member *m)
{
	kmember_put(kmember_of(m));
}

struct esp_member *env_member_find(struct esp_node *en, u64 cookie, u64 nonce)
{
	struct knode *n = knode_of(en);
	struct kmember *m;

	if (unlikely(!smp_load_acquire(&n->member))) /* with make_members() */
		return NULL;
	hlist_for_each_entry_rcu(m, name_head(n, cookie, nonce), by_name)
		if (m->m.nonce == nonce && m->ep->e.cookie == cookie &&
		    refcount_inc_not_zero(&m->refs))
			return &m->m;
	return NULL;
}

struct kmember *kmember_next(struct knode *n, struct kmember *prev)
{
	struct kmember *m, *next = NULL;

	spin_lock_bh(&n->table_lock);
	m = prev && prev->listed ? prev : list_entry(&n->members, struct kmember, all);
	list_for_each_entry_continue(m, &n->members, all)
		if ((!prev || m->serial > prev->serial) && refcount_inc_not_zero(&m->refs)) {
			next = m;
			break;
		}
	spin_unlock_bh(&n->table_lock);
	if (prev)
		kmember_put(prev);
	return next;
}

struct esp_member *env_member_next(struct esp_node *n, struct esp_member *prev)
{
	struct kmember *m = kmember_next(knode_of(n), prev ? kmember_of(prev) : NULL);

	return m ? &m->m : NULL;
}

static int enter(struct kmember *m)
{
	struct knode *n = m->ep->node;
	struct hlist_head *head = name_head(n, m->ep->e.cookie, m->m.nonce);
	struct kmember *other;
	int rc = 0;

	spin_lock_bh(&n->table_lock);
	hlist_for_each_entry(other, head, by_name)
		if (other->ep == m->ep && other->m.nonce == m->m.nonce)
			rc = -EEXIST;
	if (!rc) {
		m->serial = ++n->serial;
		m->listed = true;
		list_add_tail(&m->all, &n->members);
		hlist_add_head_rcu(&m->by_name, head);
	}
	spin_unlock_bh(&n->table_lock);
	return rc;
}

static void leave(struct kmember *m)
{
	struct knode *n = m->ep->node;

	spin_lock_bh(&n->table_lock);
	m->listed = false;
	list_del_init(&m->all);
	hlist_del_rcu(&m->by_name);
	spin_unlock_bh(&n->table_lock);
}

/* They may be 4,096, and members that fail at once many: all in one go would take too long. */
bool kmember_fail_part(struct kmember *m)
{
	s32 status = READ_ONCE(m->failed);
	u32 rank = status ? READ_ONCE(m->failed_rank) : READ_ONCE(m->m.failed_rank), i;

	if (!status)
		status = READ_ONCE(m->m.failed);
	for (i = 0; i < CANCELS; i++) {
		m->failed_upto = env_run_next(&m->m, m->failed_upto);
		if (!m->failed_upto)
			return false;
		env_run_cancel(m->failed_upto, status, rank);
		kgate_here(m->ep->node)->ops--;
	}
	return true;
}

/* Every run of it ends, now and later. */
static void fail(struct kmember *m, s32 status, u32 rank)
{
	spin_lock_bh(&m->lock);
	if (!m->failed) {
		m->failed_rank = rank;
		WRITE_ONCE(m->failed, status);
	}
	spin_unlock_bh(&m->lock);
	kgate_enter(m->ep->node);
	kgate_fail(m);
	kgate_leave(m->ep->node);
}

/* Endpoints of this node that died before this member came. */
static void look_for_dead(struct kmember *m)
{
	const struct ktable *t = m->table;
	u32 i;

	for (i = 0; i < t->nhere; i++)
		if (env_ep_state(&m->ep->node->n, t->t.rank[t->here[i]].cookie) == ESP_EP_GONE)
			fail(m, -ECONNRESET, t->here[i]);
}

/* Under the endpoint's mutex. */
int kmember_new(struct kep *e, struct espgoal_group *g)
{
	struct kmember *m;
	u32 i;
	int rc = kuser_charge(e->user, KUSER_GROUPS, 1);

	if (rc)
		return rc;
	rc = kep_charge(e, sizeof(*m));
	if (rc)
		goto uncharge_group;
	rc = -ENOMEM;
	m = kzalloc(sizeof(*m), GFP_KERNEL_ACCOUNT);
	if (!m)
		goto uncharge;
	m->table = ktable_get(e, g);
	if (IS_ERR(m->table)) {
		rc = PTR_ERR(m->table);
		goto free_member;
	}
	m->ep = e;
	m->m.ep = &e->e;
	m->m.table = &m->table->t;
	m->m.nonce = g->nonce;
	m->m.rank = g->rank;
	refcount_set(&m->refs, 1);
	spin_lock_init(&m->lock);
	INIT_LIST_HEAD(&m->active);
	INIT_LIST_HEAD(&m->failing);
	INIT_LIST_HEAD(&m->all);
	INIT_RCU_WORK(&m->work, free_member);
	for (i = 0; i < KRUN_HEADS; i++)
		INIT_HLIST_HEAD(&m->run[i]);
	rc = xa_alloc(&e->groups, &m->id, NULL, xa_limit_31b, GFP_KERNEL_ACCOUNT);
	if (rc)
		goto put_table;
	rc = enter(m);
	if (rc)
		goto erase;
	kep_get(e);
	xa_store(&e->groups, m->id, m, GFP_KERNEL_ACCOUNT); /* the entry is there already */
	rcu_assign_pointer(e->recent[m->id % KEP_RECENT], m);
	kgate_enter(e->node);
	esp_member_added(&m->m, know());
	kgate_leave(e->node);
	look_for_dead(m);
	g->id = m->id;
	return 0;

erase:
	xa_erase(&e->groups, m->id);
put_table:
	ktable_put(m->table);
free_member:
	kfree(m);
uncharge:
	kep_uncharge(e, sizeof(*m));
uncharge_group:
	kuser_uncharge(e->user, KUSER_GROUPS, 1);
	return rc;
}

struct kmember *kmember_by_id(struct kep *e, u32 id)
{
	struct kmember *m;

	rcu_read_lock();
	m = kmember_look(e, id);
	rcu_read_unlock();
	return m;
}

/* Its id is given back. Under the endpoint's mutex. */
void kmember_erase(struct kmember *m)
{
	struct kmember __rcu **slot = &m->ep->recent[m->id % KEP_RECENT];

	xa_erase(&m->ep->groups, m->id);
	if (rcu_access_pointer(*slot) == m)
		RCU_INIT_POINTER(*slot, NULL);
}

/* It cannot be found any more. */
void kmember_leave(struct kmember *m)
{
	leave(m);
	kgate_enter(m->ep->node);
	esp_member_removed(&m->m, know());
	kgate_leave(m->ep->node);
	klocal_forget(m->ep, m->table);
}

/* Under the endpoint's mutex. */
int kmember_remove(struct kep *e, u32 id)
{
	struct kmember *m = xa_load(&e->groups, id);
	bool busy;

	if (!m)
		return -ENOENT;
	spin_lock_bh(&m->lock);
	busy = m->nactive;
	m->closed = !busy;
	spin_unlock_bh(&m->lock);
	if (busy)
		return -EBUSY;
	kmember_erase(m);
	kmember_leave(m);
	kmember_put(m);
	return 0;
}

/* Its endpoint closes: first all its members end their runs, then they leave. */
void kmember_end(struct kmember *m)
{
	struct esp_run *r = NULL;
	u32 i;

	spin_lock_bh(&m->lock);
	m->closed = true;
	spin_unlock_bh(&m->lock);
	do {
		kgate_enter(m->ep->node);
		for (i = 0; i < CANCELS; i++) {
			r = env_run_next(&m->m, r);
			if (!r)
				break;
			env_run_cancel(r, -ECONNRESET, m->m.rank);
		}
		kgate_leave(m->ep->node);
		cond_resched();
	} while (r);
}

int kmember_fail(struct kep *e, const struct espgoal_fail *f)
{
	struct kmember *m = kmember_by_id(e, f->group);

	if (!m)
		return -ENOENT;
	if (!request_fail_fits(f, m->m.table->nranks)) {
		kmember_put(m);
		return -EINVAL;
	}
	fail(m, f->status, f->rank);
	kgate_enter(e->node);
	esp_member_fail(&m->m, f->status, f->rank, know());
	kgate_leave(e->node);
	kmember_put(m);
	return 0;
}

/*
 * The endpoint with this cookie has died. Where it was a member the core tells the others; but it
 * may have died before it joined.
 */
void kmembers_without(struct knode *n, u64 cookie)
{
	struct kmember *m = NULL;

	while ((m = kmember_next(n, m)) != NULL) {
		const struct ktable *t = m->table;
		u32 rank = esp_table_rank(&t->t, cookie);

		if (rank < t->t.nranks && t->t.rank[rank].peer == t->local && rank != m->m.rank)
			fail(m, -ECONNRESET, rank);
		cond_resched();
	}
}

void env_member_failed(struct esp_member *m)
{
	kgate_fail(kmember_of(m));
}

int kmember_enter(struct kmember *m, struct krun *r)
{
	struct hlist_head *head = run_head(m, r->e.opid, r->e.start);
	struct krun *other;
	int rc = 0;

	spin_lock(&m->lock);
	if (m->closed)
		rc = -ESHUTDOWN;
	else if (m->nactive >= KRUN_ACTIVES)
		rc = -EAGAIN;
	else if (kpast_has(&m->past, number(r->e.opid, r->e.start)))
		rc = -EEXIST;
	hlist_for_each_entry(other, head, by_name)
		if (other->e.opid == r->e.opid && other->e.start == r->e.start)
			rc = -EEXIST;
	if (!rc) {
		/* Not before: until here nobody can use it, and so nobody can be the last to. */
		r->starts++;
		refcount_inc(&r->refs);
		atomic_set(&r->state, KRUN_ACTIVE);
		atomic_set_release(&r->busy, 1);
		r->serial = ++m->run_serial;
		m->nactive++;
		list_add_tail(&r->active, &m->active);
		hlist_add_head(&r->by_name, head);
	}
	spin_unlock(&m->lock);
	return rc;
}

void kmember_over(struct kmember *m, struct krun *r)
{
	spin_lock(&m->lock);
	hlist_del_init(&r->by_name);
	list_del_init(&r->active);
	m->nactive--;
	kpast_add(&m->past, number(r->e.opid, r->e.start));
	spin_unlock(&m->lock);
}

struct esp_run *env_run_find(struct esp_member *em, u32 opid, u32 start)
{
	struct kmember *m = kmember_of(em);
	struct krun *r;

	spin_lock(&m->lock);
	hlist_for_each_entry(r, run_head(m, opid, start), by_name)
		if (r->e.opid == opid && r->e.start == start && krun_use(r)) {
			spin_unlock(&m->lock);
			return &r->e;
		}
	spin_unlock(&m->lock);
	return NULL;
}

struct esp_run *env_run_next(struct esp_member *em, struct esp_run *eprev)
{
	struct kmember *m = kmember_of(em);
	struct krun *prev = eprev ? krun_of_esp(eprev) : NULL, *r, *next = NULL;
	u64 after = prev ? prev->serial : 0;

	spin_lock_bh(&m->lock);
	r = prev && !list_empty(&prev->active) ? prev : list_entry(&m->active, struct krun, active);
	list_for_each_entry_continue(r, &m->active, active)
		if (r->serial > after && krun_use(r)) {
			next = r;
			break;
		}
	spin_unlock_bh(&m->lock);
	if (prev)
		krun_unuse(prev);
	return next ? &next->e : NULL;
}

bool env_run_past(struct esp_member *em, u32 opid, u32 start)
{
	struct kmember *m = kmember_of(em);
	bool past;

	spin_lock(&m->lock);
	past = kpast_has(&m->past, number(opid, start));
	spin_unlock(&m->lock);
	return past;
}

void kmember_second(struct knode *n)
{
	struct kmember *m = NULL;

	while ((m = kmember_next(n, m)) != NULL) {
		struct esp_run *r = NULL;
		bool needs;

		if (READ_ONCE(m->needs)) {
			WRITE_ONCE(m->needs, false);
			kgate_enter(n);
			needs = esp_member_timer(&m->m, know());
			kgate_leave(n);
			if (needs)
				WRITE_ONCE(m->needs, true);
		}
		if (!READ_ONCE(m->nactive))
			continue;
		do {
			kgate_enter(n);
			r = esp_member_watch(&m->m, r, know());
			kgate_leave(n);
			cond_resched();
		} while (r);
	}
}
