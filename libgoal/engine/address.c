// SPDX-License-Identifier: BSD-3-Clause
/*
 * What two addresses tell about their owners, to anybody who has them: of use where all members
 * of a group must come to the same answer. A function of goal/engine.h.
 */
#include "kernel.h"

bool goal_address_near(const struct goal_address *a, const struct goal_address *b)
{
	struct kernel_address ka, kb;
	struct host_address ha, hb;

	if (kernel_address_valid(a, &ka) && kernel_address_valid(b, &kb))
		return !memcmp(ka.node, kb.node, sizeof(ka.node));
	if (host_address_valid(a, &ha) && host_address_valid(b, &hb))
		return ha.node == hb.node && !memcmp(ha.boot, hb.boot, sizeof(ha.boot));
	return false;
}

bool goal_address_kin(const struct goal_address *a, const struct goal_address *b)
{
	struct kernel_address ka, kb;
	struct host_address ha, hb;

	if (kernel_address_valid(a, &ka) && kernel_address_valid(b, &kb))
		return ka.abi == kb.abi && ka.schedule == kb.schedule;
	return host_address_valid(a, &ha) && host_address_valid(b, &hb);
}
