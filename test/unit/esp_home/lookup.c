// SPDX-License-Identifier: BSD-3-Clause
/* What the home of the protocol's unit tests keeps: memory, counters, and who is found by what. */
#include <assert.h>

#include "home.h"
#include "libgoal/sim/crc32c.h"

u32 env_crc32c(u32 crc, const void *data, u32 len)
{
	return crc32c(crc, data, len);
}

u64 env_prf(struct esp_node *n, u32 key, const void *data, u32 len)
{
	u64 h = 0x1234567 + key;
	const u8 *p = data;

	(void)n;
	while (len--)
		h = (h ^ *p++) * 0x100000001b3ull;
	return h;
}

void env_count(struct esp_node *n, u32 c, u64 by)
{
	node_of(n)->count[c] += by;
}

u64 home_counted(u32 c)
{
	u64 sum = 0;
	u32 i;

	for (i = 0; i < home.nnodes; i++)
		sum += home.node[i] ? home.node[i]->count[c] : 0;
	return sum;
}

void *env_pool_get(struct esp_node *n, enum esp_pool pool)
{
	struct home_node *hn = node_of(n);

	if (hn->pool_used[pool] >= hn->pool_max[pool])
		return NULL;
	hn->pool_used[pool]++;
	return home_alloc(esp_pool_size(pool));
}

void env_pool_put(struct esp_node *n, enum esp_pool pool, void *object)
{
	node_of(n)->pool_used[pool]--;
	home_free(object);
}

struct esp_flow *env_flow_alloc(struct esp_node *n, const struct esp_peer *peer, bool wanted)
{
	struct home_flow *f;

	(void)peer;
	(void)wanted;
	if (!env_any_ep(n))
		return NULL;
	f = home_zalloc(sizeof(*f));
	f->node = node_of(n);
	f->refs = 1;
	f->timer = ESP_NEVER;
	return &f->f;
}

static struct home_flow *flow_of(struct esp_flow *f)
{
	return (struct home_flow *)f;
}

void env_flow_get(struct esp_flow *f)
{
	flow_of(f)->refs++;
}

void env_flow_put(struct esp_flow *f)
{
	struct home_flow *hf = flow_of(f);

	assert(hf->refs > 0);
	if (--hf->refs)
		return;
	assert(!hf->in_table);
	assert(!f->nmsgs && !f->nwaits);
	home_free(hf);
}

struct esp_flow *env_flow_by_cid(struct esp_node *n, u64 cid)
{
	struct home_flow *f;

	for (f = node_of(n)->flows; f; f = f->next)
		if (f->f.cid == cid) {
			f->refs++;
			return &f->f;
		}
	return NULL;
}

struct esp_flow *env_flow_by_peer(struct esp_node *n, const u8 node[16])
{
	struct home_flow *f;

	for (f = node_of(n)->flows; f; f = f->next)
		if (!memcmp(f->f.peer.node, node, 16)) {
			f->refs++;
			return &f->f;
		}
	return NULL;
}

struct esp_flow *env_flow_next(struct esp_node *n, struct esp_flow *prev)
{
	struct home_flow *f = prev ? flow_of(prev)->next : node_of(n)->flows;

	if (f)
		f->refs++;
	if (prev)
		env_flow_put(prev);
	return f ? &f->f : NULL;
}

int env_flow_insert(struct esp_flow *f)
{
	struct home_flow *hf = flow_of(f);

	hf->next = hf->node->flows;
	hf->node->flows = hf;
	hf->in_table = true;
	hf->refs++;
	return 0;
}

int env_flow_rename(struct esp_flow *f, u64 cid)
{
	f->cid = cid;
	return 0;
}

void env_flow_remove(struct esp_flow *f)
{
	struct home_flow *hf = flow_of(f), **at = &hf->node->flows;

	assert(hf->in_table);
	while (*at != hf)
		at = &(*at)->next;
	*at = hf->next;
	hf->in_table = false;
	hf->refs--;
	assert(hf->refs > 0);
}

void env_endings(struct esp_node *n, s32 more)
{
	node_of(n)->endings += more;
}

bool env_any_ending(struct esp_node *n)
{
	return node_of(n)->endings != 0;
}

void env_timer(struct esp_flow *f, u64 when)
{
	flow_of(f)->timer = when;
}

struct esp_batch *env_batch(struct esp_node *n)
{
	return &node_of(n)->batch;
}

int env_room_get(struct esp_ep *ep, struct esp_rx *rx, u64 bytes)
{
	struct home_node *hn = node_of(ep->node);

	if (hn->rooms >= hn->rooms_max)
		return -ENOMEM;
	hn->rooms++;
	rx->ref = home_alloc(bytes + 1);
	return 0;
}

void env_room_put(struct esp_ep *ep, struct esp_rx *rx)
{
	node_of(ep->node)->rooms--;
	home_free(rx->ref);
}

struct esp_member *env_member_find(struct esp_node *n, u64 cookie, u64 nonce)
{
	struct home_node *hn = node_of(n);

	if (hn->beside && hn->beside->ep->cookie == cookie && hn->beside->nonce == nonce)
		return hn->beside;
	return hn->has_member && hn->ep.cookie == cookie && hn->m.nonce == nonce ? &hn->m : NULL;
}

struct esp_member *env_member_next(struct esp_node *n, struct esp_member *prev)
{
	struct home_node *hn = node_of(n);

	return !prev && hn->has_member ? &hn->m : NULL;
}

void env_member_get(struct esp_member *m)
{
	(void)m;
}

void env_member_put(struct esp_member *m)
{
	(void)m;
}

static struct home_node *node_of_member(struct esp_member *m)
{
	return esp_entry(m, struct home_node, m);
}

bool env_any_ep(struct esp_node *n)
{
	return !node_of(n)->deserted;
}

enum esp_ep_state env_ep_state(struct esp_node *n, u64 cookie)
{
	struct home_node *hn = node_of(n);

	return cookie == hn->ep.cookie ? hn->ep_state : ESP_EP_OPEN;
}

struct esp_run *env_run_find(struct esp_member *m, u32 opid, u32 start)
{
	struct home_run *r;

	for (r = node_of_member(m)->runs; r; r = r->next)
		if (!r->over && r->erun.opid == opid && r->erun.start == start) {
			r->refs++;
			return &r->erun;
		}
	return NULL;
}

struct esp_run *env_run_next(struct esp_member *m, struct esp_run *prev)
{
	struct home_run *r = prev ? erun_of(prev)->next : node_of_member(m)->runs;

	while (r && r->over)
		r = r->next;
	if (r)
		r->refs++;
	if (prev)
		env_run_put(prev);
	return r ? &r->erun : NULL;
}

bool env_run_past(struct esp_member *m, u32 opid, u32 start)
{
	struct home_run *r;

	for (r = node_of_member(m)->runs; r; r = r->next)
		if (r->over && r->erun.opid == opid && r->erun.start == start)
			return true;
	return false;
}

void env_run_get(struct esp_run *r)
{
	erun_of(r)->refs++;
}

void env_run_put(struct esp_run *r)
{
	assert(erun_of(r)->refs > 0);
	erun_of(r)->refs--;
}
