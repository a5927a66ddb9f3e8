// SPDX-License-Identifier: BSD-3-Clause
/*
 * Makes and gives back, over and over, so that the caller can see whether anything stays:
 *
 *	cycle ENDPOINTS GROUPS
 *
 * ENDPOINTS times: open, map, a group, a schedule, a run that is carried out, and the end, clean or not.
 * With each endpoint GROUPS groups are made and given back, with a run in every 16th.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "shape.h"

static void carry_out(struct device *d, struct shape *s)
{
	double end = now() + 10;
	struct object *o;
	int rc;

	while (!(o = shape_start(s, d, ESPGOAL_START_WAIT, ESPGOAL_EVER, &rc)))
		if ((rc && rc != -EBUSY && rc != -ENOSPC) || now() > end)
			die("starting %s: %s", shape_name(s), strerror(-rc));
	if (!shape_over(s, d, o) || d->word[o->id].status)
		die("%s: status %d", shape_name(s), d->word[o->id].status);
	shape_check(s, d, o);
}

int main(int argc, char **argv)
{
	struct dice dice = { .state = 9 }, own = { .state = 10 };
	uint32_t endpoints, groups, i, k, group;
	struct espgoal_peer peer;
	struct espgoal_rank entry;
	struct espgoal_id id;
	struct device d;
	struct shape s;
	int rc;

	if (argc != 3)
		return 2;
	endpoints = (uint32_t)atoi(argv[1]) * times_as_often();
	groups = (uint32_t)atoi(argv[2]);
	for (i = 0; i < endpoints; i++) {
		struct team t = { .size = 1, .npeers = 1, .peer = &peer, .entry = &entry };

		device_open(&d, 16, 0);
		memcpy(peer.node, d.open.node, sizeof(peer.node));
		memcpy(peer.link, d.open.link, sizeof(peer.link));
		entry = (struct espgoal_rank){ .cookie = d.open.cookie };
		for (k = 0; k <= groups; k++) {
			rc = team_group(&t, &d, (uint64_t)getpid() << 32 | (i + 1) << 16 | (k + 1),
					false, &group);
			if (rc)
				die("group %u of endpoint %u: %s", k, i, strerror(-rc));
			if (k % 16 == 0) {
				shape_draw(&s, &dice, 1, 2000);
				shape_load(&s, &d, 0, group, k + 1, &own);
				carry_out(&d, &s);
				shape_unload(&s, &d);
			}
			if (k == groups)
				break; /* the last one goes with its endpoint */
			id = (struct espgoal_id){ .id = group };
			rc = request(d.fd, ESPGOAL_GROUP_FREE, &id);
			if (rc)
				die("GROUP_FREE: %s", strerror(-rc));
		}
		device_close(&d, i % 2);
	}
	printf("PASS: %u endpoints, %u groups in each\n", endpoints, groups);
	return complaints != 0;
}
