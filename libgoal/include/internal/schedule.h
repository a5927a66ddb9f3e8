/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a compiled schedule is inside libgoal. Not installed. The graph half makes schedules from
 * graphs, the engine half from foreign bytes; neither may include the other, so that
 * the one struct they share lives here.
 */
#ifndef GOAL_INTERNAL_SCHEDULE_H
#define GOAL_INTERNAL_SCHEDULE_H

#include <goal/graph.h>

struct goal_schedule {
	size_t bytes; /* of the schedule itself: hdr.total */
	struct goal_sched_hdr hdr;
	unsigned char body[]; /* operations and lists, as the header tells */
};

#endif /* GOAL_INTERNAL_SCHEDULE_H */
