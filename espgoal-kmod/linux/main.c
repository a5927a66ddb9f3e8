// SPDX-License-Identifier: GPL-2.0-only
/*
 * Module init and exit. The module links the interpreter core, as the kernel's own build system
 * compiles it, and does nothing else: it creates no device and handles no frame.
 */
#include <linux/init.h>
#include <linux/module.h>

#include "core.h"

static int __init espgoal_init(void)
{
	pr_info("espgoal: interpreter core for schedule format %d linked; no device, no "
		"transport\n",
		GOAL_SCHED_VERSION);
	return 0;
}

static void __exit espgoal_exit(void)
{
}

module_init(espgoal_init);
module_exit(espgoal_exit);

MODULE_DESCRIPTION("GOAL schedule interpreter core, without a device or a transport");
MODULE_LICENSE("GPL");
