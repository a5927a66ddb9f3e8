/* SPDX-License-Identifier: BSD-3-Clause */
/* What scan and exscan share. Internal to libgoal/collectives. */
#ifndef GOAL_COLLECTIVES_SCAN_H
#define GOAL_COLLECTIVES_SCAN_H

#include "fold.h"

/*
 * Inclusive scan over the ranks from @base to the last one, this rank among them: RECV = those up
 * to and with our own. @own is our vector; when it is RECV itself it is there once @ready
 * has finished, else it stays as it is. Messages have @tag.
 */
void scan_doubling(struct draft *d, const struct goal_comm *c, uint32_t base,
		   const struct vector *v, struct place own, int64_t ready, uint32_t tag);

#endif /* GOAL_COLLECTIVES_SCAN_H */
