// SPDX-License-Identifier: GPL-2.0-only
/* Module init and exit: the parts in the order in which they need one another. */
#include <linux/init.h>
#include <linux/module.h>

#include "home.h"

static int __init espgoal_init(void)
{
	int rc = kparams_check();

	if (rc)
		return rc;
	kdebugfs_init();
	rc = knode_module_init();
	if (rc)
		goto debugfs_exit;
	rc = kiface_module_init();
	if (rc)
		goto node_exit;
	rc = krx_module_init();
	if (rc)
		goto iface_exit;
	rc = kdev_init();
	if (rc)
		goto rx_exit;
	pr_info("espgoal: version %s, ABI %d, EtherType 0x%04x\n", ESPGOAL_MODULE_VERSION,
		ESPGOAL_ABI, kparam_ethertype);
	return 0;

rx_exit:
	krx_module_exit();
iface_exit:
	kiface_module_exit();
node_exit:
	knode_module_exit();
debugfs_exit:
	kdebugfs_exit();
	return rc;
}

/*
 * Nobody has the device open. What endpoints left behind still gets its time to be acknowledged, so
 * the packet handler goes last but for the nodes, which wait for that.
 */
static void __exit espgoal_exit(void)
{
	kdev_exit();
	knode_module_drain();
	kiface_module_exit();
	krx_module_exit();
	knode_module_exit();
	kmm_module_exit();
	kdebugfs_exit();
}

module_init(espgoal_init);
module_exit(espgoal_exit);

MODULE_DESCRIPTION("GOAL schedules and the ESP transport: collective communication in the kernel");
MODULE_VERSION(ESPGOAL_MODULE_VERSION);
MODULE_LICENSE("GPL");
