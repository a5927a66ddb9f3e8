// SPDX-License-Identifier: GPL-2.0-only
/*
 * /proc/sys/net/espgoal/interfaces of each namespace: the devices that may carry frames, or "auto".
 * Only the administrator of the namespace may write it; no process chooses an interface otherwise.
 */
#include <linux/rtnetlink.h>
#include <linux/slab.h>
#include <linux/sysctl.h>

#include "home.h"

static int interfaces(KCTL_CONST struct ctl_table *table, int write, void *buffer, size_t *lenp,
		      loff_t *ppos)
{
	struct knode *n = table->extra1;
	char list[sizeof(n->list)];
	struct ctl_table copy = *table;
	int rc;

	copy.data = list;
	rtnl_lock();
	strscpy(list, n->list, sizeof(list));
	rc = proc_dostring(&copy, write, buffer, lenp, ppos);
	if (!rc && write) {
		strscpy(n->list, list, sizeof(n->list));
		krails_update(n);
	}
	rtnl_unlock();
	return rc;
}

static const struct ctl_table template[] = { {
						     .procname = "interfaces",
						     .maxlen = sizeof_field(struct knode, list),
						     .mode = 0644,
						     .proc_handler = interfaces,
					     },
					     KCTL_END };

int ksysctl_init(struct knode *n)
{
	struct ctl_table *t = kmemdup(template, sizeof(template), GFP_KERNEL);

	if (!t)
		return -ENOMEM;
	t[0].extra1 = n;
	n->sysctl = kregister_net_sysctl(n->net, "net/espgoal", t, 1);
	if (!n->sysctl) {
		kfree(t);
		return -ENOMEM;
	}
	n->ctl = t;
	return 0;
}

void ksysctl_exit(struct knode *n)
{
	unregister_net_sysctl_table(n->sysctl);
	kfree(n->ctl);
}
