/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the core asks of this home so often that a call would cost more than the answer. Included
 * at the end of home.h. All of it is asked in a gate, where bottom halves are off.
 */
#ifndef ESPGOAL_ENV_INLINE_H
#define ESPGOAL_ENV_INLINE_H

void kflow_free(struct kflow *f);

static inline struct esp_batch *env_batch(struct esp_node *n)
{
	return &kgate_here(knode_of(n))->batch;
}

static inline void env_flow_lock(struct esp_flow *f)
{
	struct kflow *k = kflow_of(f);

	spin_lock(&k->lock);
	__release(&k->lock); /* for sparse, which sees the pairs neither here nor in the core */
	kgate_here(knode_of(f->node))->flow = k;
}

static inline void env_flow_unlock(struct esp_flow *f)
{
	__acquire(&kflow_of(f)->lock);
	spin_unlock(&kflow_of(f)->lock);
}

static inline void env_node_lock(struct esp_node *n)
{
	spin_lock(&knode_of(n)->lock);
	__release(&knode_of(n)->lock);
}

static inline void env_node_unlock(struct esp_node *n)
{
	__acquire(&knode_of(n)->lock);
	spin_unlock(&knode_of(n)->lock);
}

static inline void *env_pool_get(struct esp_node *n, enum esp_pool pool)
{
	return kpool_get(&knode_of(n)->pool[pool]);
}

static inline void env_pool_put(struct esp_node *n, enum esp_pool pool, void *object)
{
	kpool_put(&knode_of(n)->pool[pool], object);
}

static inline void env_flow_get(struct esp_flow *f)
{
	refcount_inc(&kflow_of(f)->refs);
}

static inline void env_flow_put(struct esp_flow *f)
{
	if (refcount_dec_and_test(&kflow_of(f)->refs))
		kflow_free(kflow_of(f));
}

/* Also for the flow that this entry is about: the one locked last. */
static inline void env_count(struct esp_node *n, u32 c, u64 by)
{
	struct knode *k = knode_of(n);
	struct kflow *f = kgate_here(k)->flow;

	this_cpu_add(k->count[c], by);
	if (f)
		f->count[c] += (u32)by;
}

#endif /* ESPGOAL_ENV_INLINE_H */
