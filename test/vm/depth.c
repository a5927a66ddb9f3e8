// SPDX-License-Identifier: BSD-3-Clause
/*
 * Ends that bring about other ends: many at once, so that a kernel which handles them one inside the
 * other runs out of stack, and ends that meet starts.
 *
 *	depth
 */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <goal/collectives.h>

#include "device.h"

#define ENDPOINTS 96
#define SENDS     2000
#define RUNS      4000

static uint64_t nonce = 77;

struct one { /* a run of something */
	struct espgoal_run run;
	struct espgoal_start start;
	uint32_t sched;
};

static void load(struct device *d, struct goal_graph *g, struct one *o)
{
	struct espgoal_load l = { .flags = 0 };
	struct goal_schedule *s;
	struct goal_error error;
	size_t bytes;
	int rc;

	if (goal_compile(g, &s, &error))
		die("compile: %s", error.text);
	l.data = (uintptr_t)goal_schedule_data(s, &bytes);
	l.bytes = bytes;
	rc = request(d->fd, ESPGOAL_LOAD, &l);
	if (rc)
		die("ESPGOAL_LOAD: %s", strerror(-rc));
	goal_schedule_free(s);
	goal_graph_free(g);
	o->sched = l.id;
	o->run = (struct espgoal_run){ .sched = l.id };
	rc = request(d->fd, ESPGOAL_RUN, &o->run);
	if (rc)
		die("ESPGOAL_RUN: %s", strerror(-rc));
	o->start = (struct espgoal_start){ .run = o->run.id, .op_id = 1 };
}

static struct goal_graph *graph(uint32_t rank, uint32_t size)
{
	struct goal_graph *g;

	if (goal_graph_create(rank, size, &g))
		die("no graph");
	return g;
}

static void must(int rc, const char *what)
{
	if (rc)
		die("%s: %s", what, strerror(-rc));
}

static void wait_over(struct device *d, const struct one *o, uint32_t over, const char *what)
{
	double end = now() + 20;

	while (peek(&d->word[o->run.id].over) != over) {
		if (now() > end) {
			device_dump(d);
			die("%s: no end within 20 s", what);
		}
		usleep(1000);
	}
}

/*
 * Endpoints of one process, all in one group, each in a run that waits for its neighbour. Then one of
 * them is cancelled, or closed, or its group declared failed; the others hear of it.
 */
static void crowd(int how)
{
	static struct device d[ENDPOINTS];
	static struct one o[ENDPOINTS];
	static struct espgoal_rank rank[ENDPOINTS];
	struct espgoal_peer peer = { .node = { 0 } };
	struct espgoal_id id = { .id = 0 };
	uint32_t i;

	memset(o, 0, sizeof(o));
	for (i = 0; i < ENDPOINTS; i++) {
		device_open(&d[i], 8, 4096);
		rank[i] = (struct espgoal_rank){ .cookie = d[i].open.cookie };
	}
	memcpy(peer.node, d[0].open.node, sizeof(peer.node));
	memcpy(peer.link, d[0].open.link, sizeof(peer.link));
	nonce++;
	for (i = 0; i < ENDPOINTS; i++) {
		struct goal_graph *g = graph(i, ENDPOINTS);
		struct espgoal_group grp = { .nonce = nonce,
					     .nranks = ENDPOINTS,
					     .npeers = 1,
					     .rank = i,
					     .ranks = (uintptr_t)rank,
					     .peers = (uintptr_t)&peer };

		if (goal_recv(g, GOAL_BUF_SCRATCH, 0, 0, (i + 1) % ENDPOINTS, 0) < 0)
			die("no receive");
		load(&d[i], g, &o[i]);
		must(request(d[i].fd, ESPGOAL_GROUP, &grp), "ESPGOAL_GROUP");
		o[i].start.group = grp.id;
		must(request(d[i].fd, ESPGOAL_START, &o[i].start), "ESPGOAL_START");
	}
	if (how == 0) {
		id.id = o[5].run.id;
		must(request(d[5].fd, ESPGOAL_CANCEL, &id), "ESPGOAL_CANCEL");
	} else if (how == 1) {
		device_close(&d[5], false);
	} else {
		struct espgoal_fail f = { .group = o[5].start.group,
					  .status = -ECONNRESET,
					  .rank = ESPGOAL_NONE };

		must(request(d[5].fd, ESPGOAL_FAIL, &f), "ESPGOAL_FAIL");
		device_close(&d[5], false);
	}
	for (i = 0; i < ENDPOINTS; i++) {
		if (d[i].fd < 0)
			continue;
		wait_over(&d[i], &o[i], 1, "the crowd");
		if (!d[i].word[o[i].run.id].status)
			complain("rank %u of a crowd whose rank 5 ended: status 0", i);
		device_close(&d[i], i % 2);
	}
}

/* Many sends to a node that is not there: short ones are over, long ones wait; then the end. */
static void backlog(uint32_t bytes)
{
	struct goal_graph *g = graph(0, 2);
	struct espgoal_rank rank[2] = { { .cookie = 0 } };
	struct espgoal_peer peer[2] = { { .node = { 0 } } };
	struct espgoal_group grp = { .nonce = ++nonce,
				     .nranks = 2,
				     .npeers = 2,
				     .ranks = (uintptr_t)rank,
				     .peers = (uintptr_t)peer };
	struct espgoal_id id;
	struct device d;
	struct one o;
	uint32_t i;
	int rc;

	device_open(&d, 8, 4096);
	for (i = 0; i < SENDS; i++)
		if (goal_send(g, GOAL_BUF_SEND, 0, bytes, 1, 0) < 0)
			die("no send");
	rank[0].cookie = d.open.cookie;
	rank[1] = (struct espgoal_rank){ .cookie = 4711, .peer = 1 };
	memcpy(peer[0].node, d.open.node, sizeof(peer[0].node));
	memcpy(peer[0].link, d.open.link, sizeof(peer[0].link));
	memset(peer[1].node, 0x5a, sizeof(peer[1].node));
	memcpy(peer[1].link, d.open.link, sizeof(peer[1].link));
	for (i = 0; i < ESPGOAL_RAILS; i++)
		if (peer[1].link[i].bytes[0])
			peer[1].link[i].bytes[9] ^= 0x40;
	load(&d, g, &o);
	rc = request(d.fd, ESPGOAL_GROUP, &grp);
	if (rc == -EHOSTUNREACH) {
		printf("no interface: no backlog\n");
		device_close(&d, true);
		return;
	}
	must(rc, "ESPGOAL_GROUP");
	o.start.group = grp.id;
	must(request(d.fd, ESPGOAL_START, &o.start), "ESPGOAL_START");
	usleep(100000);
	id = (struct espgoal_id){ .id = o.run.id };
	must(request(d.fd, ESPGOAL_CANCEL, &id), "ESPGOAL_CANCEL");
	wait_over(&d, &o, 1, "the backlog");
	if (bytes > ESPGOAL_SURE_EAGER && !d.word[o.run.id].status)
		complain("a cancelled run with sends to nobody: status 0");
	device_close(&d, bytes > 1024);
}

static void alone(struct device *d, uint32_t runs, uint32_t *group)
{
	struct espgoal_rank rank = { .cookie = 0 };
	struct espgoal_peer peer = { .node = { 0 } };
	struct espgoal_group g = { .nonce = ++nonce,
				   .nranks = 1,
				   .npeers = 1,
				   .ranks = (uintptr_t)&rank,
				   .peers = (uintptr_t)&peer };

	device_open(d, runs, 4096);
	rank.cookie = d->open.cookie;
	memcpy(peer.node, d->open.node, sizeof(peer.node));
	memcpy(peer.link, d->open.link, sizeof(peer.link));
	must(request(d->fd, ESPGOAL_GROUP, &g), "ESPGOAL_GROUP");
	*group = g.id;
}

/* Thousands of active runs of one endpoint end at once. */
static void many(int how)
{
	struct goal_graph *g = graph(0, 1);
	struct espgoal_fail f = { .status = -ECANCELED, .rank = ESPGOAL_NONE };
	struct device d;
	struct one o;
	uint32_t i;

	alone(&d, RUNS, &f.group);
	if (goal_recv(g, GOAL_BUF_SCRATCH, 0, 0, 0, 0) < 0)
		die("no receive");
	load(&d, g, &o);
	o.start.group = f.group;
	for (i = 0; i < RUNS; i++) {
		struct espgoal_run r = { .sched = o.sched };

		if (i) {
			must(request(d.fd, ESPGOAL_RUN, &r), "ESPGOAL_RUN");
			o.start.run = r.id;
		}
		o.start.start = i;
		must(request(d.fd, ESPGOAL_START, &o.start), "ESPGOAL_START");
	}
	if (how == 0) {
		must(request(d.fd, ESPGOAL_FAIL, &f), "ESPGOAL_FAIL");
		for (double end = now() + 20; peek(&d.head->over) != RUNS && now() < end;)
			usleep(1000);
		if (d.head->over != RUNS || d.head->failed != RUNS)
			complain("FAIL of a group with %u runs: %u over, %u failed", RUNS,
				 d.head->over, d.head->failed);
	}
	device_close(&d, how == 1);
}

static struct device raced;
static uint32_t raced_run, stop;

static void *canceller(void *unused)
{
	struct espgoal_id id = { .id = raced_run };

	while (!peek(&stop))
		request(raced.fd, ESPGOAL_CANCEL, &id);
	return unused;
}

/* Starts that succeed and starts whose name was used, against cancels of the same object. */
static void race(void)
{
	struct goal_graph *g = graph(0, 1);
	double end = now() + 5;
	uint32_t good = 0, used = 0;
	pthread_t thread;
	uint32_t group;
	struct one o;
	int rc;

	alone(&raced, 8, &group);
	if (goal_recv(g, GOAL_BUF_SCRATCH, 0, 0, 0, 0) < 0)
		die("no receive");
	load(&raced, g, &o);
	raced_run = o.run.id;
	o.start.group = group;
	if (pthread_create(&thread, NULL, canceller, NULL))
		die("no thread");
	while (now() < end) {
		o.start.start = good;
		rc = request(raced.fd, ESPGOAL_START, &o.start);
		if (!rc)
			good++;
		else if (rc != -EBUSY)
			die("ESPGOAL_START: %s", strerror(-rc));
		o.start.start = 0;
		rc = good ? request(raced.fd, ESPGOAL_START, &o.start) : -EBUSY;
		used += rc == -EEXIST;
		if (!rc || (rc != -EEXIST && rc != -EBUSY))
			die("ESPGOAL_START under a used name: %s", strerror(-rc));
	}
	__atomic_store_n(&stop, 1, __ATOMIC_RELEASE);
	pthread_join(thread, NULL);
	printf("%u starts, %u under a used name\n", good, used);
	if (!good || !used)
		complain("the race did not take place");
	device_close(&raced, true);
}

int main(void)
{
	int how;

	for (how = 0; how < 3; how++)
		crowd(how);
	backlog(512);
	backlog(2048);
	for (how = 0; how < 3; how++)
		many(how);
	race();
	printf("%s\n", complaints ? "FAIL" : "PASS");
	return complaints != 0;
}
