/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The plans of a communicator, by key: a hash table with a list by last use through it, bounded
 * by coll_goal_cache_size; the plan that was not used for the longest time goes first. A plan
 * that is still in use when it leaves the cache goes with its last user. Called by plan.c.
 */
#include "coll_goal.h"

uint64_t coll_goal_key_hash(const struct coll_goal_key *key)
{
	uint64_t h = key->code, n = 2ull * (key->nsend + (uint64_t)key->nrecv);
	const uint64_t words[] = { (uint64_t)key->root, key->send, key->recv,
				   (uint64_t)key->nsend << 32 | key->nrecv };

	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		h = (h ^ words[i]) * 0x9e3779b97f4a7c15ull + (h >> 29);
	for (uint64_t i = 0; i < n; i++)
		h = (h ^ key->vec[i]) * 0x9e3779b97f4a7c15ull + (h >> 29);
	return h ^ h >> 32;
}

static void detach(struct coll_goal_cache *cache, struct coll_goal_plan *plan)
{
	if (plan->newer)
		plan->newer->older = plan->older;
	else
		cache->newest = plan->older;
	if (plan->older)
		plan->older->newer = plan->newer;
	else
		cache->oldest = plan->newer;
	plan->newer = plan->older = NULL;
}

static void attach(struct coll_goal_cache *cache, struct coll_goal_plan *plan)
{
	plan->older = cache->newest;
	plan->newer = NULL;
	if (cache->newest)
		cache->newest->newer = plan;
	else
		cache->oldest = plan;
	cache->newest = plan;
}

struct coll_goal_plan *coll_goal_cache_find(struct coll_goal_cache *cache,
					    const struct coll_goal_key *key, uint64_t hash)
{
	struct coll_goal_plan *plan;

	if (!cache->nbuckets)
		return NULL;
	for (plan = cache->bucket[hash & (cache->nbuckets - 1)]; plan; plan = plan->chain)
		if (plan->hash == hash && coll_goal_key_equal(&plan->key, key))
			break;
	if (plan && plan != cache->newest) {
		detach(cache, plan);
		attach(cache, plan);
	}
	return plan;
}

/* Take @plan out, and give up the cache's reference to it. */
static void evict(struct coll_goal_module *m, struct coll_goal_plan *plan)
{
	struct coll_goal_cache *cache = &m->cache;
	struct coll_goal_plan **at = &cache->bucket[plan->hash & (cache->nbuckets - 1)];
	enum goal_coll coll = coll_goal_key_coll(&plan->key);

	while (*at != plan)
		at = &(*at)->chain;
	*at = plan->chain;
	detach(cache, plan);
	cache->plans--;
	if (m->last[coll] == plan)
		m->last[coll] = NULL;
	coll_goal_plan_unref(plan);
}

int coll_goal_cache_add(struct coll_goal_module *m, struct coll_goal_plan *plan)
{
	struct coll_goal_cache *cache = &m->cache;
	struct coll_goal_plan **at;

	if (!cache->nbuckets) {
		uint32_t n = 16;

		while (n < mca_coll_goal_component.params.cache_size)
			n *= 2;
		cache->bucket = coll_goal_calloc(n, sizeof(struct coll_goal_plan *));
		if (!cache->bucket)
			return -ENOMEM;
		cache->nbuckets = n;
	}
	if (cache->plans == mca_coll_goal_component.params.cache_size)
		evict(m, cache->oldest);
	at = &cache->bucket[plan->hash & (cache->nbuckets - 1)];
	plan->chain = *at;
	*at = plan;
	attach(cache, plan);
	cache->plans++;
	return 0;
}

int coll_goal_cache_settle(struct coll_goal_module *m)
{
	int rc = 0;

	for (struct coll_goal_plan *plan = m->cache.newest; plan && !rc; plan = plan->older)
		rc = coll_goal_plan_settle(m, plan);
	return rc;
}

void coll_goal_cache_drop(struct coll_goal_module *m)
{
	while (m->cache.newest)
		evict(m, m->cache.newest);
	free(m->cache.bucket);
	m->cache.bucket = NULL;
	m->cache.nbuckets = 0;
}
