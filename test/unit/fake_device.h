/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A device /dev/espgoal made of ordinary memory, which takes the place of the system calls in
 * libgoal/engine/kernel_device.c (linked with --wrap). Any number of endpoints, all in this process.
 * Knows requests and answers as goal/espgoal.h has them, runs schedules in the plainest way, and
 * refuses what tests tell it to.
 */
#ifndef FAKE_DEVICE_H
#define FAKE_DEVICE_H

#include <stdbool.h>
#include <stdint.h>

#include <goal/espgoal.h>

#define FAKE_CODES     18 /* requests by their number */
#define FAKE_ENDPOINTS 8

struct fake {
	int open_rc; /* of open(), when not 0 */
	bool map_fails;
	bool waits;       /* runs do not move on, until fake_move() */
	bool keeps;       /* objects stay busy after their runs, until fake_release() */
	uint32_t objects; /* that an endpoint may have */
	uint32_t actives; /* runs of a member; 0: as many as it likes */
	uint32_t crowded; /* starts that were refused because of that */
	uint32_t nodes;   /* endpoints are on these by turns */
	uint32_t rails;
	struct espgoal_info info;
	int rc[FAKE_CODES];         /* what the next request of a kind gets, once */
	uint32_t calls[FAKE_CODES]; /* how many there were */
	void (*sleeping)(void);     /* somebody sleeps */
	void (*starting)(void);     /* a run is being started, and cannot be cancelled yet */
	uint32_t open, mapped;      /* that are not closed, or unmapped */
	uint32_t endpoints, groups, scheds, made;
	uint32_t failed_starts;
};

extern struct fake fake;

void fake_reset(void);
/* Let all runs move on as far as they can. */
void fake_move(void);
/* Objects whose runs are over can be started again; the first one. */
void fake_release(void);
void fake_release_one(void);
/* Every endpoint is over. */
void fake_end(void);

#endif /* FAKE_DEVICE_H */
