// SPDX-License-Identifier: BSD-3-Clause
/*
 * Messages that come ahead of their receives take a record of the receiving endpoint's share: one
 * endpoint for which very many come does not keep another one's from being taken in, and gets its own
 * when their receives start.
 *
 *	shares FOLDER NODE
 *
 * On two nodes. Node 0 has rank 0, which sends; node 1 has ranks 1 and 2, which receive. Messages are
 * of no bytes, so that it is the records that are used up and not the room.
 */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <goal/collectives.h>

#include "device.h"

#define RANKS 3
#define HOG   600  /* messages for rank 1 */
#define FEW   60   /* for rank 2, less than its own records */
#define GO    1000 /* tag */

static struct device dev[RANKS];
static struct team team[RANKS];
static uint32_t group[RANKS];

/* Operation @op_id of @rank: the @g that its schedule is made of; the run. */
static uint32_t start(uint32_t rank, struct goal_graph *g, uint32_t op_id)
{
	struct espgoal_load l = { .flags = 0 };
	struct espgoal_run r = { .flags = 0 };
	struct espgoal_start s = { .group = group[rank], .op_id = op_id };
	struct goal_schedule *c;
	size_t bytes;
	int rc;

	if (goal_compile(g, &c, NULL))
		die("no schedule");
	l.data = (uintptr_t)goal_schedule_data(c, &bytes);
	l.bytes = bytes;
	rc = request(dev[rank].fd, ESPGOAL_LOAD, &l);
	r.sched = l.id;
	if (!rc)
		rc = request(dev[rank].fd, ESPGOAL_RUN, &r);
	s.run = r.id;
	if (!rc)
		rc = request(dev[rank].fd, ESPGOAL_START, &s);
	if (rc)
		die("rank %u cannot start %u: %s", rank, op_id, strerror(-rc));
	goal_schedule_free(c);
	goal_graph_free(g);
	return r.id;
}

static struct goal_graph *graph(uint32_t rank)
{
	struct goal_graph *g;

	if (goal_graph_create(rank, RANKS, &g))
		die("no graph");
	return g;
}

/* One message of no bytes, to or from @peer. */
static struct goal_graph *go(uint32_t rank, uint32_t peer, bool sends)
{
	struct goal_graph *g = graph(rank);

	if ((sends ? goal_send(g, 0, 0, 0, peer, GO) : goal_recv(g, 0, 0, 0, peer, GO)) < 0)
		die("no operation");
	return g;
}

/* @n messages for @peer, at once. */
static struct goal_graph *burst(uint32_t peer, uint32_t n)
{
	struct goal_graph *g = graph(0);
	uint32_t i;

	for (i = 0; i < n; i++)
		if (goal_send(g, 0, 0, 0, peer, i) < 0)
			die("no operation");
	return g;
}

/* @n receives from rank 0 that start when @from has said go. */
static struct goal_graph *held(uint32_t rank, uint32_t from, uint32_t n)
{
	struct goal_graph *g = go(rank, from, false);
	uint32_t i;

	for (i = 0; i < n; i++) {
		int64_t op = goal_recv(g, 0, 0, 0, 0, i);

		if (op < 0 || goal_requires(g, (uint32_t)op, 0))
			die("no operation");
	}
	return g;
}

static void over(uint32_t rank, uint32_t run, const char *what)
{
	struct espgoal_wait w = { .run = run, .timeout = 30000000000ull };
	int rc = request(dev[rank].fd, ESPGOAL_WAIT, &w);

	if (rc || dev[rank].word[run].status)
		complain("%s: %s, status %d", what, rc ? strerror(-rc) : "over",
			 dev[rank].word[run].status);
}

/* Wait until @counter of @rank is at least @least. */
static void until(uint32_t rank, const char *counter, uint64_t least)
{
	double end = now() + 20;

	while (device_counter(&dev[rank], ESPGOAL_SET_ENDPOINT, counter) < least) {
		if (now() > end) {
			complain("%s of rank %u is %llu after 20 s, and not %llu", counter, rank,
				 (unsigned long long)device_counter(&dev[rank],
								    ESPGOAL_SET_ENDPOINT, counter),
				 (unsigned long long)least);
			return;
		}
		usleep(10000);
	}
}

static void sender(const char *folder)
{
	uint32_t many, few;

	device_open(&dev[0], 0, 0);
	team_meet(&team[0], &dev[0], folder, 0, RANKS);
	if (team_group(&team[0], &dev[0], 77, false, &group[0]))
		die("no group");
	many = start(0, burst(1, HOG), 1);
	few = start(0, burst(2, FEW), 2);
	over(0, many, "the sender of many");
	over(0, few, "the sender of few");
	/* They have all been received. */
	over(0, start(0, go(0, 1, false), 3), "the end");
	device_close(&dev[0], true);
}

static void *meet(void *folder)
{
	team_meet(&team[2], &dev[2], folder, 2, RANKS);
	return NULL;
}

static void receivers(const char *folder)
{
	uint32_t r, many, few;
	pthread_t other;
	uint64_t used;

	device_open(&dev[1], 0, 0);
	device_open(&dev[2], 0, 0);
	/* Each waits for all others. */
	if (pthread_create(&other, NULL, meet, (void *)folder))
		die("no thread");
	team_meet(&team[1], &dev[1], folder, 1, RANKS);
	pthread_join(other, NULL);
	for (r = 1; r < RANKS; r++)
		if (team_group(&team[r], &dev[r], 77, false, &group[r]))
			die("no group");
	many = start(1, held(1, 2, HOG), 1);
	until(1, "share_used_up", 1);
	used = device_counter(&dev[1], ESPGOAL_SET_ENDPOINT, "room_taken");
	few = start(2, held(2, 1, FEW), 2);
	until(2, "room_taken", FEW);
	if (device_counter(&dev[2], ESPGOAL_SET_ENDPOINT, "share_used_up"))
		complain("rank 2's messages were refused, with %llu of rank 1 taken in",
			 (unsigned long long)used);
	printf("%llu of %u messages were taken in ahead, then all %u of the other\n",
	       (unsigned long long)used, HOG, FEW);
	over(1, start(1, go(1, 2, true), 2), "go");
	over(2, few, "few messages");
	over(2, start(2, go(2, 1, true), 1), "go");
	over(1, many, "many messages");
	over(1, start(1, go(1, 0, true), 3), "the end");
	for (r = 1; r < RANKS; r++)
		device_close(&dev[r], true);
}

int main(int argc, char **argv)
{
	if (argc != 3)
		die("usage: shares FOLDER NODE");
	if (atoi(argv[2]))
		receivers(argv[1]);
	else
		sender(argv[1]);
	printf("%s\n", complaints ? "FAIL" : "PASS");
	return complaints != 0;
}
