// SPDX-License-Identifier: GPL-2.0-only
/*
 * An endpoint ends with the address space it belongs to, wherever its descriptor lives on. The mmu
 * notifier tells: its release is called when the last user of the address space is gone, by exit,
 * kill or exec. It only leaves word; the endpoint is closed by a work item.
 */
#include <linux/mmu_notifier.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>

#include "home.h"

struct kmm {
	struct mmu_notifier mn;
	spinlock_t lock;
	struct list_head eps; /* kep.of_mm */
	bool released;
};

static void release(struct mmu_notifier *mn, struct mm_struct *mm)
{
	struct kmm *m = container_of(mn, struct kmm, mn);
	struct kep *e;

	spin_lock_bh(&m->lock);
	m->released = true;
	list_for_each_entry(e, &m->eps, of_mm) {
		WRITE_ONCE(e->wants_close, true);
		knode_poke(e->node);
	}
	spin_unlock_bh(&m->lock);
}

static struct mmu_notifier *alloc_notifier(struct mm_struct *mm)
{
	struct kmm *m = kzalloc(sizeof(*m), GFP_KERNEL_ACCOUNT);

	if (!m)
		return ERR_PTR(-ENOMEM);
	spin_lock_init(&m->lock);
	INIT_LIST_HEAD(&m->eps);
	return &m->mn;
}

static void free_notifier(struct mmu_notifier *mn)
{
	kfree(container_of(mn, struct kmm, mn));
}

static const struct mmu_notifier_ops ops = {
	.release = release,
	.alloc_notifier = alloc_notifier,
	.free_notifier = free_notifier,
};

struct kmm *kmm_get(struct kep *e)
{
	struct mmu_notifier *mn = mmu_notifier_get(&ops, current->mm);
	struct kmm *m;

	if (IS_ERR(mn))
		return ERR_CAST(mn);
	m = container_of(mn, struct kmm, mn);
	spin_lock_bh(&m->lock);
	list_add(&e->of_mm, &m->eps);
	spin_unlock_bh(&m->lock);
	return m;
}

void kmm_put(struct kmm *m, struct kep *e)
{
	spin_lock_bh(&m->lock);
	list_del_init(&e->of_mm);
	spin_unlock_bh(&m->lock);
	mmu_notifier_put(&m->mn);
}

bool kmm_is_current(const struct kmm *m)
{
	return m->mn.mm == current->mm;
}

void kmm_module_exit(void)
{
	mmu_notifier_synchronize();
}
