/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Access to compiled schedules. Called by the engines and by whoever stores schedules.
 */
#include <stdlib.h>

#include <internal/schedule.h>

const void *goal_schedule_data(const struct goal_schedule *schedule, size_t *bytes)
{
	if (bytes)
		*bytes = schedule->bytes;
	return &schedule->hdr;
}

uint32_t goal_schedule_ntags(const struct goal_schedule *schedule)
{
	return schedule->hdr.ntags;
}

void goal_schedule_free(struct goal_schedule *schedule)
{
	free(schedule);
}
