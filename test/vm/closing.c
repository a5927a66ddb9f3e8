// SPDX-License-Identifier: BSD-3-Clause
/*
 * An endpoint that is closed while another thread is in the middle of sending for it: nothing of it
 * is left behind in the flow, where nobody would ever end it.
 *
 *	closing [TIMES]
 */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <goal/collectives.h>

#include "device.h"

#define SENDS 60   /* of a run: fewer than an entry carries out in one go */
#define LONG  2048 /* bytes: they end with the endpoint, also when that is a clean one */

static struct device dev;
static uint32_t group, run[64];
static int under_way;

/* A group of ours and of a rank on a node that does not exist. */
static void join(void)
{
	struct espgoal_rank rank[2] = { { .cookie = dev.open.cookie }, { .cookie = 7, .peer = 1 } };
	struct espgoal_peer peer[2];
	struct espgoal_group g = { .nonce = 5000,
				   .nranks = 2,
				   .npeers = 2,
				   .ranks = (uintptr_t)rank,
				   .peers = (uintptr_t)peer };
	uint32_t i;
	int rc;

	for (i = 0; i < 2; i++) {
		memcpy(peer[i].node, dev.open.node, sizeof(peer[i].node));
		memcpy(peer[i].link, dev.open.link, sizeof(peer[i].link));
	}
	memset(peer[1].node, 0x35, sizeof(peer[1].node));
	g.nonce += scramble((uint64_t)getpid() << 32 | dev.open.cookie >> 32);
	rc = request(dev.fd, ESPGOAL_GROUP, &g);
	if (rc)
		die("ESPGOAL_GROUP: %s", strerror(-rc));
	group = g.id;
}

static void load(const struct goal_schedule *c)
{
	struct espgoal_load l = { .flags = 0 };
	size_t bytes;
	uint32_t i;
	int rc;

	l.data = (uintptr_t)goal_schedule_data(c, &bytes);
	l.bytes = bytes;
	rc = request(dev.fd, ESPGOAL_LOAD, &l);
	if (rc)
		die("ESPGOAL_LOAD: %s", strerror(-rc));
	for (i = 0; i < 64; i++) {
		struct espgoal_run r = { .sched = l.id };

		rc = request(dev.fd, ESPGOAL_RUN, &r);
		if (rc)
			die("ESPGOAL_RUN: %s", strerror(-rc));
		run[i] = r.id;
	}
}

static void *sends(void *arg)
{
	struct espgoal_start s = { .group = group, .op_id = 1 };
	uint32_t i;

	for (i = 0; i < 64; i++) {
		s.run = run[i];
		s.start = i;
		if (request(dev.fd, ESPGOAL_START, &s))
			break;
		__atomic_store_n(&under_way, (int)i + 1, __ATOMIC_RELEASE);
	}
	return arg;
}

/* Messages of this node that are under way to any other. */
static uint32_t messages(int fd)
{
	struct espgoal_flow f = { .cursor = 0 };
	uint32_t n = 0;

	while (!request(fd, ESPGOAL_FLOW, &f))
		n += f.messages;
	return n;
}

int main(int argc, char **argv)
{
	uint32_t times = argc > 1 ? (uint32_t)atoi(argv[1]) : 60, i, left, met = 0;
	struct dice dice = { .state = 7 };
	struct goal_schedule *c;
	struct goal_graph *g;
	struct device other;
	pthread_t thread;

	if (goal_graph_create(0, 2, &g))
		die("no graph");
	for (i = 0; i < SENDS; i++)
		if (goal_send(g, 0, 0, LONG, 1, i) < 0)
			die("no operation");
	if (goal_compile(g, &c, NULL))
		die("no schedule");
	device_open(&other, 0, 0);
	for (i = 0; i < times; i++) {
		device_open(&dev, 0, 0);
		join();
		load(c);
		under_way = 0;
		if (pthread_create(&thread, NULL, sends, NULL))
			die("no thread");
		while (!__atomic_load_n(&under_way, __ATOMIC_ACQUIRE))
			sched_yield();
		usleep(below(&dice, 3000));
		if (request(dev.fd, ESPGOAL_CLOSE, NULL))
			die("ESPGOAL_CLOSE");
		left = messages(other.fd);
		if (left)
			complain("%u messages are left behind", left);
		met += under_way < 64;
		pthread_join(thread, NULL);
		device_close(&dev, false);
	}
	printf("%u of %u ends came while runs were being started\n", met, times);
	if (met < times / 4)
		complain("too few ends came in between");
	device_close(&other, true);
	goal_schedule_free(c);
	goal_graph_free(g);
	printf("%s\n", complaints ? "FAIL" : "PASS");
	return complaints != 0;
}
