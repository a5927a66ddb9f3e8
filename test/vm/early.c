// SPDX-License-Identifier: BSD-3-Clause
/*
 * Messages between ranks of one node that come before their receiver's run, many at a time: they
 * get there whenever and in whatever order the runs start, also when their sender has left; and
 * whoever goes takes along what waits for it, or what it has sent.
 *
 *	early
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "ranks.h"

#define MANY 500  /* messages of a run: several parts */
#define RUNS 300  /* several in each head */
#define LONG 2048 /* bytes: a sender of these waits for its receiver */

static struct device dev[2];
static struct batch out, in;

static void want(int got, int expected, const char *what)
{
	if (got != expected)
		complain("%s: %d, and must be %d", what, got, expected);
}

static void begin(void)
{
	device_open(&dev[0], 1024, 0);
	device_open(&dev[1], 1024, 1 << 20);
}

static void end(void)
{
	batch_free(&out);
	device_close(&dev[0], true);
	device_close(&dev[1], true);
}

/* One run with many messages, sent before the other rank is in the group at all. */
static void one_run(void)
{
	uint64_t before;
	double limit;
	uint32_t g;

	begin();
	g = ranks_join(dev, 0, 2, 700);
	batch_load(&out, &dev[0], 0, 2, 1, MANY, 8, true);
	before = device_counter(&dev[0], ESPGOAL_SET_ENDPOINT, "messages_local_early");
	want(batch_start(&out, out.run, g, 1, 0), 0, "start of a sender");
	want(batch_wait(&out, out.run, 1), 0, "a sender of short messages is over at once");
	want((int)(device_counter(&dev[0], ESPGOAL_SET_ENDPOINT, "messages_local_early") - before),
	     MANY, "messages that wait");
	want((int)peek(&dev[0].word[out.run].free), 0, "the object of messages that wait is free");
	g = ranks_join(dev, 1, 2, 700);
	batch_load(&in, &dev[1], 1, 2, 0, MANY, 8, false);
	want(batch_start(&in, in.run, g, 1, 0), 0, "start of their receiver");
	want(batch_wait(&in, in.run, 20), 0, "many messages for one run");
	want(batch_good(&in), true, "what they have brought");
	for (limit = now() + 5; !peek(&dev[0].word[out.run].free);) {
		if (now() > limit)
			die("the object of messages that are delivered is not free");
		usleep(1000);
	}
	end();
}

/* Many runs, whose receivers start in the opposite order; the sender has left meanwhile. */
static void many_runs(bool leave)
{
	uint32_t g[2], run[RUNS], i;
	int rc;

	begin();
	for (i = 0; i < 2; i++)
		g[i] = ranks_join(dev, i, 2, 701 + leave);
	batch_load(&out, &dev[0], 0, 2, 1, 3, 8, true);
	batch_load(&in, &dev[1], 1, 2, 0, 3, 8, false);
	for (i = 0; i < RUNS; i++) {
		rc = i ? batch_again(&out) : (int)out.run;
		if (rc < 0)
			die("no run object: %s", strerror(-rc));
		want(batch_start(&out, (uint32_t)rc, g[0], i / 100, i), 0, "start of a sender");
	}
	if (leave)
		want(request(dev[0].fd, ESPGOAL_CLOSE, NULL), 0, "CLOSE of the sender");
	for (i = RUNS; i-- > 0;) {
		rc = batch_again(&in);
		if (rc < 0)
			die("no run object: %s", strerror(-rc));
		run[i] = (uint32_t)rc;
		want(batch_start(&in, run[i], g[1], i / 100, i), 0, "start of a receiver");
		rc = batch_wait(&in, run[i], 20);
		want(rc, 0, "a run whose messages had come");
		want(batch_good(&in), true, "what they have brought");
	}
	if (leave) {
		batch_free(&out);
		device_close(&dev[0], false);
		device_close(&dev[1], true);
	} else {
		end();
	}
}

/*
 * Long messages to one that goes without having started. A clean end is none of the sender's
 * business; otherwise its group has failed.
 */
static void receiver_goes(bool joined, bool clean)
{
	uint32_t g, group;
	struct espgoal_id id = { .id = 0 };
	uint64_t nonce = 710 + 2 * joined + clean;
	int expected = clean ? 0 : -ECONNRESET;

	begin();
	g = ranks_join(dev, 0, 2, nonce);
	group = joined ? ranks_join(dev, 1, 2, nonce) : 0;
	batch_load(&out, &dev[0], 0, 2, 1, 100, LONG, true);
	want(batch_start(&out, out.run, g, 1, 0), 0, "start of a sender of long messages");
	want(batch_wait(&out, out.run, 0.05), -ETIMEDOUT, "long messages that wait");
	if (joined && clean) { /* it is enough that it leaves the group */
		id.id = group;
		want(request(dev[1].fd, ESPGOAL_GROUP_FREE, &id), 0, "GROUP_FREE");
		want(batch_wait(&out, out.run, 5), 0, "sends to one that has left the group");
	}
	device_close(&dev[1], clean);
	want(batch_wait(&out, out.run, 5), expected, "sends to one that has gone");
	batch_free(&out);
	device_close(&dev[0], true);
}

/* A sender that dies takes along what waits for others; its objects are given back with it. */
static void sender_dies(void)
{
	uint32_t g[2], i;

	begin();
	for (i = 0; i < 2; i++)
		g[i] = ranks_join(dev, i, 2, 720);
	batch_load(&out, &dev[0], 0, 2, 1, MANY, 8, true);
	batch_load(&in, &dev[1], 1, 2, 0, MANY, 8, false);
	want(batch_start(&out, out.run, g[0], 1, 0), 0, "start of a sender");
	batch_free(&out);
	device_close(&dev[0], false);
	want(batch_start(&in, in.run, g[1], 1, 0), 0, "start in a group that has failed");
	want(batch_wait(&in, in.run, 5), -ECONNRESET, "a run whose sender has died");
	device_close(&dev[1], true);
}

static void stage(const char *what)
{
	static double begun;

	if (begun)
		printf("%.2f s\n", now() - begun);
	begun = now();
	printf("%s: ", what);
	fflush(stdout);
}

int main(void)
{
	stage("one");
	one_run();
	stage("many");
	many_runs(false);
	many_runs(true);
	stage("goes");
	receiver_goes(false, true);
	receiver_goes(false, false);
	receiver_goes(true, true);
	receiver_goes(true, false);
	stage("dies");
	sender_dies();
	stage("end");
	printf("%s\n", complaints ? "FAIL" : "PASS");
	return complaints != 0;
}
