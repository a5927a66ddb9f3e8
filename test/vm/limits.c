// SPDX-License-Identifier: BSD-3-Clause
/*
 * What one endpoint may have at a time, and that others have theirs meanwhile: active runs of a
 * group, bytes of an operation, records of news for peers that do not answer.
 *
 *	limits
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <goal/collectives.h>

#include "ranks.h"

#define ACTIVES 4096  /* runs of a group, as espgoal(4) says */
#define OP_MOST 65536 /* bytes of an operation, likewise */
#define MANY    2000  /* messages of a run */
#define FLOODS  10    /* runs of so many */
#define PEERS   33    /* so that 6 are told of a failure: rank + 2^k */

static void want(int got, int expected, const char *what)
{
	if (got != expected)
		complain("%s: %d, and must be %d", what, got, expected);
}

/* Runs that wait for a rank which never starts them. */
static void actives(void)
{
	struct device d[2];
	uint32_t g, other, i, n = 0;
	struct espgoal_id id = { .id = 0 };
	struct espgoal_fail f = { .status = -ECANCELED, .rank = ESPGOAL_NONE };
	static int run[ACTIVES + 2];
	struct batch in;
	double begun;

	device_open(&d[0], ACTIVES + 16, 1 << 20);
	device_open(&d[1], 0, 0);
	g = ranks_join(d, 0, 2, 800);
	other = ranks_join(d, 0, 2, 801);
	batch_load(&in, &d[0], 0, 2, 1, 1, 8, false);
	for (i = 0; i < ACTIVES + 2; i++) {
		run[i] = i ? batch_again(&in) : (int)in.run;
		if (run[i] < 0)
			die("no run object %u: %s", i, strerror(-run[i]));
	}
	for (i = 0; i < ACTIVES; i++)
		if (batch_start(&in, (uint32_t)run[i], g, 1, i))
			die("run %u is refused", i);
	want(batch_start(&in, (uint32_t)run[ACTIVES], g, 1, ACTIVES), -EAGAIN,
	     "START of one run too many");
	want(batch_start(&in, (uint32_t)run[ACTIVES], other, 1, ACTIVES), 0,
	     "START in another group meanwhile");
	/* When one is over there is room for one. */
	id.id = (uint32_t)run[7];
	want(request(d[0].fd, ESPGOAL_CANCEL, &id), 0, "CANCEL");
	want(batch_wait(&in, (uint32_t)run[7], 5), -ECANCELED, "a run that was cancelled");
	want(batch_start(&in, (uint32_t)run[ACTIVES + 1], g, 1, ACTIVES), 0,
	     "START when one is over");
	want(batch_start(&in, (uint32_t)run[7], g, 1, ACTIVES + 1), -EAGAIN,
	     "START of one run too many again");
	begun = now();
	f.group = g;
	want(request(d[0].fd, ESPGOAL_FAIL, &f), 0, "FAIL");
	for (i = 0; i < ACTIVES; i++)
		n += batch_wait(&in, (uint32_t)run[i], 20) != -ECANCELED;
	want((int)n, 0, "runs of a group that has failed and did not end so");
	printf("%u runs have failed within %.2f s\n", ACTIVES, now() - begun);
	want(batch_wait(&in, (uint32_t)run[ACTIVES], 0.01), -ETIMEDOUT,
	     "a run of another group that has not failed");
	device_close(&d[0], true);
	device_close(&d[1], true);
}

/* ESPGOAL_LOAD of one operation: 0 or -errno. */
static int load(struct device *d, struct goal_graph *g, bool in, bool out)
{
	struct espgoal_load l = { .flags = 0 };
	struct goal_schedule *s;
	size_t bytes;
	int rc;

	if (goal_compile(g, &s, NULL))
		die("no schedule");
	l.data = (uintptr_t)goal_schedule_data(s, &bytes);
	l.bytes = bytes;
	l.buf[0] = in ? ESPGOAL_BUF_IN : 0;
	l.buf[1] = out ? ESPGOAL_BUF_OUT : 0;
	rc = request(d->fd, ESPGOAL_LOAD, &l);
	goal_schedule_free(s);
	goal_graph_free(g);
	return rc;
}

static struct goal_graph *one(uint32_t kind, uint64_t len)
{
	struct goal_graph *g;
	int rc;

	if (goal_graph_create(0, 2, &g))
		die("no graph");
	switch (kind) {
	case 0:
		rc = (int)goal_send(g, 0, 0, len, 1, 0);
		break;
	case 1:
		rc = (int)goal_recv(g, 1, 0, len, 1, 0);
		break;
	case 2:
		rc = (int)goal_copy(g, 1, 0, 0, 0, len);
		break;
	default:
		rc = (int)goal_reduce(g, 1, 0, 0, 0, len / 4, GOAL_TYPE_INT32, GOAL_ROP_SUM);
		break;
	}
	if (rc < 0)
		die("no operation");
	return g;
}

static void operations(void)
{
	static const char *const name[] = { "a send", "a receive", "a copy", "a reduction" };
	struct device d;
	char what[80];
	uint32_t k;

	device_open(&d, 0, 0);
	for (k = 0; k < 4; k++) {
		snprintf(what, sizeof(what), "LOAD of %s of %u bytes", name[k], OP_MOST);
		want(load(&d, one(k, OP_MOST), k != 1, k != 0), 0, what);
		snprintf(what, sizeof(what), "LOAD of %s of %u bytes", name[k], OP_MOST + 4);
		want(load(&d, one(k, OP_MOST + 4), k != 1, k != 0), -E2BIG, what);
	}
	device_close(&d, true);
}

/* A group of ours and of ranks on other nodes, none of which exists. */
static uint32_t group_of_nobody(struct device *d, uint64_t nonce)
{
	struct espgoal_rank rank[PEERS + 1] = { { .cookie = d->open.cookie } };
	struct espgoal_peer peer[PEERS + 1];
	struct espgoal_group g = { .nonce = nonce,
				   .nranks = PEERS + 1,
				   .npeers = PEERS + 1,
				   .ranks = (uintptr_t)rank,
				   .peers = (uintptr_t)peer };
	uint32_t i;
	int rc;

	memset(peer, 0, sizeof(peer));
	for (i = 0; i <= PEERS; i++) {
		uint64_t node = scramble(i + 1000000ull * (uint64_t)getpid());

		memcpy(peer[i].node, d->open.node, sizeof(peer[i].node));
		memcpy(peer[i].link, d->open.link, sizeof(peer[i].link));
		if (!i)
			continue;
		memcpy(peer[i].node, &node, sizeof(node));
		rank[i] = (struct espgoal_rank){ .cookie = scramble(node), .peer = i };
	}
	rc = request(d->fd, ESPGOAL_GROUP, &g);
	if (rc)
		die("ESPGOAL_GROUP: %s", strerror(-rc));
	return g.id;
}

static void fail_group(struct device *d, uint64_t nonce)
{
	struct espgoal_fail f = { .status = -ECANCELED, .rank = ESPGOAL_NONE };

	f.group = group_of_nobody(d, nonce);
	want(request(d->fd, ESPGOAL_FAIL, &f), 0, "FAIL");
}

/*
 * Whose group fails has some others told. With many groups that is more than there is memory for: but
 * what another endpoint has to tell is told.
 */
static void news(void)
{
	struct device hog, other;
	uint64_t before, told;
	uint32_t i;

	device_open(&hog, 0, 0);
	device_open(&other, 0, 0);
	for (i = 0; i < 60; i++)
		fail_group(&hog, 1000 + i);
	if (!device_counter(&hog, ESPGOAL_SET_ENDPOINT, "share_used_up"))
		complain("60 groups that fail do not use up an endpoint's share of records");
	before = device_counter(&other, ESPGOAL_SET_NODE, "abort_told");
	fail_group(&other, 1100);
	told = device_counter(&other, ESPGOAL_SET_NODE, "abort_told") - before;
	want((int)told, 6, "ranks that are told of another endpoint's failure");
	want((int)device_counter(&other, ESPGOAL_SET_ENDPOINT, "share_used_up"), 0,
	     "another endpoint's share of records");
	printf("%u records by one, then %u by the other\n", (unsigned int)before,
	       (unsigned int)told);
	device_close(&hog, true);
	device_close(&other, true);
}

/*
 * Very many long messages to a node that does not exist: when it counts as dead they all end, and in the
 * meantime the endpoint can be used.
 */
static void flood(void)
{
	struct espgoal_load l = { .flags = 0 };
	struct espgoal_run r[FLOODS];
	uint32_t grp, i, n = 0;
	struct goal_schedule *s;
	static char data[2048];
	struct goal_graph *g;
	struct device d;
	size_t bytes;
	double begun;

	device_open(&d, 0, 0);
	grp = group_of_nobody(&d, 1200);
	if (goal_graph_create(0, PEERS + 1, &g))
		die("no graph");
	for (i = 0; i < MANY; i++)
		if (goal_send(g, 0, 0, sizeof(data), 1, i) < 0)
			die("no operation");
	if (goal_compile(g, &s, NULL))
		die("no schedule");
	l.data = (uintptr_t)goal_schedule_data(s, &bytes);
	l.bytes = bytes;
	l.buf[0] = ESPGOAL_BUF_IN;
	want(request(d.fd, ESPGOAL_LOAD, &l), 0, "LOAD of many sends");
	for (i = 0; i < FLOODS; i++) {
		struct espgoal_start st = { .group = grp, .op_id = 1, .start = i, .nsegs = 1 };

		r[i] = (struct espgoal_run){ .sched = l.id };
		want(request(d.fd, ESPGOAL_RUN, &r[i]), 0, "RUN of many sends");
		st.run = r[i].id;
		st.seg[0] = (struct espgoal_seg){ (uintptr_t)data, sizeof(data) };
		want(request(d.fd, ESPGOAL_START, &st), 0, "START of many sends");
	}
	begun = now();
	for (i = 0; i < FLOODS && now() < begun + 20;) {
		if (!peek(&d.word[r[i].id].over)) {
			usleep(10000);
			continue;
		}
		n += d.word[r[i].id].status == -EHOSTUNREACH;
		i++;
	}
	want((int)n, FLOODS, "runs that end when their peer counts as dead");
	printf("%u messages have ended %.1f s after they were sent\n", MANY * FLOODS,
	       now() - begun);
	device_close(&d, true);
	goal_schedule_free(s);
	goal_graph_free(g);
}

int main(void)
{
	actives();
	operations();
	news();
	flood();
	printf("%s\n", complaints ? "FAIL" : "PASS");
	return complaints != 0;
}
