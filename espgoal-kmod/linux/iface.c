// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which devices are rails: those the administrator of the namespace lists, in that order, or with
 * "auto" what looks like a real Ethernet adapter. Looked at again whenever the list or a device
 * changes. All under RTNL.
 */
#include <linux/etherdevice.h>
#include <linux/if_arp.h>
#include <linux/netdevice.h>
#include <linux/rtnetlink.h>

#include "home.h"

static bool ethernet(const struct net_device *dev)
{
	return dev->type == ARPHRD_ETHER && dev->addr_len == ETH_ALEN &&
	       !(dev->flags & IFF_LOOPBACK);
}

/* Backed by hardware or a hypervisor: no bridge, veth, tunnel, tap; no part of a bond or bridge. */
static bool real(const struct net_device *dev)
{
	return ethernet(dev) && dev->dev.parent && !kwireless(dev) &&
	       !netif_is_bridge_master(dev) && !netif_is_bridge_port(dev) &&
	       !netif_is_lag_port(dev) && !dev->rtnl_link_ops;
}

static bool usable(const struct net_device *dev)
{
	return (dev->flags & IFF_UP) && krail_mtu(dev) && dev->reg_state == NETREG_REGISTERED &&
	       is_valid_ether_addr(dev->dev_addr);
}

static bool named(struct net_device *const want[ESP_PATHS], const struct net_device *dev)
{
	u32 i;

	for (i = 0; i < ESP_PATHS; i++)
		if (want[i] == dev)
			return true;
	return false;
}

/* Devices by path; NULL: none. One that is named twice counts once. */
static void listed(struct knode *n, struct net_device *want[ESP_PATHS])
{
	char list[sizeof(n->list)], *at = list, *name;
	u32 i = 0;

	strscpy(list, n->list, sizeof(list));
	while (i < ESP_PATHS && (name = strsep(&at, " \t,\n")) != NULL) {
		struct net_device *dev;

		if (!*name)
			continue;
		dev = __dev_get_by_name(n->net, name);
		if (dev && ethernet(dev) && !named(want, dev))
			want[i] = dev;
		n->state[i] = want[i] ? ESPGOAL_RAIL_DOWN : ESPGOAL_RAIL_MISSING;
		i++;
	}
}

/* Those in use keep their path, so that the other ends need not change. */
static void chosen(struct knode *n, struct net_device *want[ESP_PATHS])
{
	struct net_device *dev;
	u32 i;

	for (i = 0; i < ESP_PATHS; i++) {
		struct krail *r = rtnl_dereference(n->rail[i]);

		if (r && dev_net(r->dev) == n->net && real(r->dev))
			want[i] = r->dev;
	}
	for_each_netdev(n->net, dev) {
		u32 place = ESP_PATHS;

		if (!real(dev) || !usable(dev))
			continue;
		for (i = 0; i < ESP_PATHS; i++) {
			if (want[i] == dev)
				break;
			if (!want[i] && place == ESP_PATHS)
				place = i;
		}
		if (i == ESP_PATHS && place < ESP_PATHS)
			want[place] = dev;
	}
}

void krails_update(struct knode *n)
{
	struct net_device *want[ESP_PATHS] = {};
	u32 i;

	ASSERT_RTNL();
	memset(n->state, 0, sizeof(n->state));
	if (!strcmp(n->list, "auto"))
		chosen(n, want);
	else
		listed(n, want);
	for (i = 0; i < ESP_PATHS; i++) {
		struct krail *r = rtnl_dereference(n->rail[i]);

		if (!r)
			continue;
		if (r->dev == want[i] && usable(r->dev) &&
		    ether_addr_equal(r->r.addr.addr, r->dev->dev_addr))
			continue;
		krail_stop(r);
	}
	for (i = 0; i < ESP_PATHS; i++) {
		struct krail *r;

		if (!want[i] || !usable(want[i]) || rtnl_dereference(n->rail[i]))
			continue;
		r = krail_new(n, want[i]);
		if (r)
			krail_start(r, (u8)i);
		else
			netdev_warn(want[i], "espgoal: no memory to use this interface\n");
	}
}

void krails_stop(struct knode *n)
{
	u32 i;

	for (i = 0; i < ESP_PATHS; i++) {
		struct krail *r = rtnl_dereference(n->rail[i]);

		if (r)
			krail_stop(r);
	}
}

static void new_mtu(struct knode *n, struct net_device *dev)
{
	u32 i;

	for (i = 0; i < ESP_PATHS; i++) {
		struct krail *r = rtnl_dereference(n->rail[i]);

		if (!r || r->dev != dev)
			continue;
		kgate_enter(n);
		esp_rail_mtu(&r->r, krail_mtu(dev), know());
		kgate_leave(n);
	}
}

/* A link is up before it knows its speed. */
static void new_speed(struct knode *n, struct net_device *dev)
{
	u32 i;

	for (i = 0; i < ESP_PATHS; i++) {
		struct krail *r = rtnl_dereference(n->rail[i]);
		u64 speed;

		if (!r || r->dev != dev)
			continue;
		speed = krail_speed(dev);
		if (speed == r->r.speed)
			continue;
		WRITE_ONCE(r->r.speed, speed);
		kgate_enter(n);
		esp_rail_mtu(&r->r, krail_mtu(dev), know()); /* it looks at the speed, too */
		kgate_leave(n);
	}
}

static void dropped(struct knode *n, const struct net_device *dev)
{
	u32 i;

	for (i = 0; i < ESP_PATHS; i++) {
		struct krail *r = rtnl_dereference(n->rail[i]);

		if (r && r->dev == dev)
			krail_stop(r);
	}
}

static int event(struct notifier_block *nb, unsigned long what, void *ptr)
{
	struct net_device *dev = netdev_notifier_info_to_dev(ptr);
	struct knode *n = knode_of_net(dev_net(dev));

	if (!n || READ_ONCE(n->exiting))
		return NOTIFY_DONE;
	switch (what) {
	case NETDEV_GOING_DOWN:
	case NETDEV_UNREGISTER:
		dropped(n, dev);
		break;
	case NETDEV_CHANGEMTU:
		if (krail_mtu(dev))
			new_mtu(n, dev);
		krails_update(n);
		break;
	case NETDEV_CHANGE:
		new_speed(n, dev);
		break;
	case NETDEV_UP:
	case NETDEV_REGISTER:
	case NETDEV_CHANGENAME:
	case NETDEV_CHANGEADDR:
	case NETDEV_CHANGEUPPER:
		krails_update(n);
		break;
	default:
		break;
	}
	return NOTIFY_DONE;
}

static struct notifier_block notifier = {
	.notifier_call = event,
};

/* Registering replays what is there already. */
int kiface_module_init(void)
{
	return register_netdevice_notifier(&notifier);
}

void kiface_module_exit(void)
{
	unregister_netdevice_notifier(&notifier);
}
