// SPDX-License-Identifier: GPL-2.0-only
/*
 * Rails: devices that carry frames of a node. Which ones is decided by iface.c; here is what one
 * consists of, and how it comes and goes. All under RTNL.
 */
#include <linux/etherdevice.h>
#include <linux/ethtool.h>
#include <linux/slab.h>

#include "home.h"

/* What the core may put into a frame; 0: too little. */
u16 krail_mtu(const struct net_device *dev)
{
	u32 mtu = READ_ONCE(dev->mtu);

	if (mtu < ESP_MTU_MIN)
		return 0;
	return (u16)min_t(u32, mtu, ESP_MTU_MAX);
}

/* The device would not take a frame, and a while has passed. */
static enum hrtimer_restart again(struct hrtimer *t)
{
	struct krail *r = container_of(t, struct krail, pause);

	kgate_enter(r->node);
	WRITE_ONCE(r->paused, false);
	krail_drain(r);
	kgate_leave(r->node);
	return HRTIMER_NORESTART;
}

u64 krail_speed(struct net_device *dev)
{
	struct ethtool_link_ksettings s;

	if (__ethtool_get_link_ksettings(dev, &s) || s.base.speed == SPEED_UNKNOWN)
		return 0;
	return s.base.speed * 125000ull;
}

struct krail *krail_new(struct knode *n, struct net_device *dev)
{
	struct krail *r = kzalloc(sizeof(*r), GFP_KERNEL);
	u32 i;

	if (!r)
		return NULL;
	r->frames = kvcalloc(KRAIL_FRAMES, sizeof(*r->frames), GFP_KERNEL);
	r->count = __alloc_percpu(KRAIL_COUNTS * sizeof(u64), sizeof(u64));
	if (!r->frames || !r->count) {
		free_percpu(r->count);
		kvfree(r->frames);
		kfree(r);
		return NULL;
	}
	for (i = 0; i < KRAIL_FRAMES; i++) {
		r->frames[i].next = r->spare;
		r->spare = &r->frames[i];
	}
	r->node = n;
	r->r.node = &n->n;
	r->r.addr.carrier = ESP_CARRIER_ETHER;
	ether_addr_copy(r->r.addr.addr, dev->dev_addr);
	r->r.speed = krail_speed(dev);
	r->dev = dev;
	netdev_hold(dev, &r->tracker, GFP_KERNEL);
	spin_lock_init(&r->lock);
	r->last = &r->first;
	khrtimer_init(&r->pause, again);
	return r;
}

void krail_start(struct krail *r, u8 place)
{
	kgate_enter(r->node);
	rcu_assign_pointer(r->node->rail[place], r);
	esp_rail_up(&r->r, place, krail_mtu(r->dev), know());
	kgate_leave(r->node);
}

static void free_rail(struct rcu_head *rcu)
{
	struct krail *r = container_of(rcu, struct krail, rcu);

	free_percpu(r->count);
	kvfree(r->frames);
	kfree(r);
}

/* When this returns nothing of the device is used any more. */
void krail_stop(struct krail *r)
{
	struct knode *n = r->node;

	kgate_enter(n);
	esp_rail_down(&r->r, know());
	RCU_INIT_POINTER(n->rail[r->r.place], NULL);
	kgate_leave(n);
	/* Entries that found it before are through after this. */
	synchronize_net();
	spin_lock_bh(&r->lock);
	r->gone = true;
	spin_unlock_bh(&r->lock);
	hrtimer_cancel(&r->pause);
	kgate_enter(n);
	krail_purge(r);
	kgate_leave(n);
	netdev_put(r->dev, &r->tracker);
	call_rcu(&r->rcu, free_rail);
}
