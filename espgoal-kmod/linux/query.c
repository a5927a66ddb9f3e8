// SPDX-License-Identifier: GPL-2.0-only
/* What tools ask: counters and their names, interfaces, flows. */
#include <linux/capability.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "home.h"

#define NAME(x) #x,

const char *kquery_node_counter(u32 i)
{
	static const char *const own[] = { KNODE_COUNTS(NAME) };

	if (i < ESP_COUNTERS)
		return esp_count_name(i);
	i -= ESP_COUNTERS;
	return i < KNODE_COUNTERS ? own[i] : NULL;
}

const char *kquery_ep_counter(u32 i)
{
	static const char *const own[] = { KEP_COUNTS(NAME) };

	return i < KEP_COUNTERS ? own[i] : NULL;
}

static struct kflow *flow_by_serial(struct knode *n, u64 serial, bool exact)
{
	struct esp_flow *f = NULL;

	while ((f = env_flow_next(&n->n, f)) != NULL) {
		u64 is = kflow_of(f)->serial;

		if (is == serial || (!exact && is > serial))
			return kflow_of(f);
	}
	return NULL;
}

int kquery_counters(struct kep *e, struct knode *n, struct espgoal_counters *a)
{
	u32 all = request_counters(a->set, &kdev_limits), room = a->n, i;
	struct kflow *f = NULL;
	u64 *value;
	int rc = 0;

	if (a->set == ESPGOAL_SET_FLOW) {
		f = flow_by_serial(n, a->flow, true);
		if (!f)
			return -ENOENT;
	}
	value = kcalloc(all, sizeof(*value), GFP_KERNEL);
	if (!value)
		rc = -ENOMEM;
	for (i = 0; i < all && !rc; i++)
		value[i] = f ? READ_ONCE(f->count[i])
			     : knode_sum(a->set == ESPGOAL_SET_NODE ? n->count : e->count, i);
	a->n = all;
	if (!rc && copy_to_user(u64_to_user_ptr(a->value), value, min(room, all) * sizeof(*value)))
		rc = -EFAULT;
	kfree(value);
	if (f)
		env_flow_put(&f->f);
	return rc;
}

int kquery_name(struct espgoal_counter_name *a)
{
	const char *name = a->set == ESPGOAL_SET_ENDPOINT ? kquery_ep_counter(a->index)
							  : kquery_node_counter(a->index);

	strscpy_pad(a->name, name, sizeof(a->name));
	return 0;
}

int kquery_rail(struct knode *n, struct espgoal_rail *a)
{
	u32 path = a->path;
	struct krail *r;

	memset(a, 0, sizeof(*a));
	a->path = path;
	rcu_read_lock();
	r = rcu_dereference(n->rail[path]);
	if (r) {
		a->state = ESPGOAL_RAIL_UP;
		a->ifindex = r->dev->ifindex;
		a->mtu = READ_ONCE(r->dev->mtu);
		strscpy(a->name, r->dev->name, sizeof(a->name));
		memcpy(&a->link, &r->r.addr, sizeof(a->link));
		a->speed = (u32)div_u64(r->r.speed, 125000);
		a->frames_in = knode_sum(r->count, KRAIL_FRAMES_IN);
		a->bytes_in = knode_sum(r->count, KRAIL_BYTES_IN);
		a->frames_out = knode_sum(r->count, KRAIL_FRAMES_OUT);
		a->bytes_out = knode_sum(r->count, KRAIL_BYTES_OUT);
		a->retried = knode_sum(r->count, KRAIL_RETRIED);
		a->dropped = knode_sum(r->count, KRAIL_DROPPED);
	} else {
		a->state = READ_ONCE(n->state[path]);
	}
	rcu_read_unlock();
	return 0;
}

/* Addresses are shown as they are on the wire; connection ids never. */
static void describe(struct kflow *k, struct espgoal_flow *a)
{
	const struct esp_flow *f = &k->f;
	u32 i;

	memset(a, 0, sizeof(*a));
	a->id = k->serial;
	memcpy(a->node, f->peer.node, sizeof(a->node));
	env_flow_lock(&k->f);
	a->state = f->state;
	a->messages = f->nmsgs;
	a->refusals = f->nwaits;
	a->idle_us = f->heard ? div_u64(know() - f->heard, 1000) : 0;
	for (i = 0; i < ESP_PATHS; i++) {
		const struct esp_path *p = &f->path[i];

		a->path[i].state = p->state;
		a->path[i].mtu = p->mtu;
		a->path[i].window = p->window;
		a->path[i].inflight = p->inflight;
		a->path[i].srtt_us = (u32)div_u64(p->srtt, 1000);
		a->path[i].backoff = p->backoff;
		memcpy(&a->path[i].link, &p->addr, sizeof(a->path[i].link));
	}
	env_flow_unlock(&k->f);
}

int kquery_flow(struct knode *n, struct espgoal_flow *a)
{
	struct kflow *f = flow_by_serial(n, a->cursor, false);

	if (!f)
		return -ERANGE;
	kgate_enter(n);
	describe(f, a);
	kgate_leave(n);
	/* The name of a node lets others speak to it: it is for those who have it, and for root. */
	if (!ns_capable(n->net->user_ns, CAP_NET_ADMIN))
		memset(a->node, 0, sizeof(a->node));
	a->cursor = a->id + 1;
	env_flow_put(&f->f);
	return 0;
}
