// SPDX-License-Identifier: BSD-3-Clause
/*
 * Each request of the device with its 1st, 2nd, 3rd ... allocation failing (where there are many, with some
 * of them), until it needs no further one: it answers -ENOMEM, has had no effect, and the same request works
 * right afterwards.
 *
 *	faults
 *
 * For kernels with CONFIG_FAILSLAB; the process must be root. What leaks is found by the caller.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "shape.h"

#define MANY 10000

static int nth_fd;
static struct device d;
static struct team t;
static struct espgoal_peer peer;
static struct espgoal_rank entry;
static struct shape shape;
static uint32_t group, nonce = 1;

static void setting(const char *name, const char *value)
{
	char path[200];
	int fd;

	snprintf(path, sizeof(path), "/sys/kernel/debug/%s", name);
	fd = open(path, O_WRONLY);
	if (fd < 0 || write(fd, value, strlen(value)) < 0)
		die("%s: %s", path, strerror(errno));
	close(fd);
}

static bool armed, hit;

static void nth(uint32_t n)
{
	char text[16];
	int len = snprintf(text, sizeof(text), "%u", n);

	if (pwrite(nth_fd, text, (size_t)len, 0) != len)
		die("fail-nth: %s", strerror(errno));
	armed = n;
}

/* No failure from here on. Did the one that was ordered happen? */
static void calm(void)
{
	char text[16] = "";

	if (!armed)
		return;
	if (pread(nth_fd, text, sizeof(text) - 1, 0) <= 0)
		die("fail-nth: %s", strerror(errno));
	hit = atoi(text) == 0;
	nth(0);
}

/*
 * An endpoint with a group and a schedule of a barrier, as far as a request needs it; small, since each
 * failure takes a new one, and objects of a pool fail alike.
 */
static void endpoint(void)
{
	device_open(&d, 8, 20000);
	memcpy(peer.node, d.open.node, sizeof(peer.node));
	memcpy(peer.link, d.open.link, sizeof(peer.link));
	entry = (struct espgoal_rank){ .cookie = d.open.cookie };
	t = (struct team){ .size = 1, .npeers = 1, .peer = &peer, .entry = &entry };
}

static void grouped(void)
{
	struct dice dice = { .state = 5 };

	endpoint();
	if (team_group(&t, &d, nonce++, false, &group))
		die("no group");
	do {
		shape_draw(&shape, &dice, 1, 3000);
	} while (shape.coll != GOAL_ALLGATHER || shape.bytes < 64);
	shape_load(&shape, &d, 0, group, 1, &dice);
}

static void nothing(void)
{
}

static void close_fd(void)
{
	close(d.fd);
}

static void close_all(void)
{
	device_close(&d, true);
}

static void plain_open(void)
{
	d.fd = open(ESPGOAL_PATH, O_RDWR | O_CLOEXEC);
	if (d.fd < 0)
		die("%s: %s", ESPGOAL_PATH, strerror(errno));
}

static int act_open(void)
{
	d.fd = open(ESPGOAL_PATH, O_RDWR | O_CLOEXEC);
	return d.fd < 0 ? -errno : 0;
}

static int act_endpoint(void)
{
	struct espgoal_open o = { .runs = 16, .area = 20000 };

	return request(d.fd, ESPGOAL_OPEN, &o);
}

static int act_map(void)
{
	void *p = mmap(NULL, d.open.map_bytes, PROT_READ, MAP_SHARED, d.fd, 0);

	if (p == MAP_FAILED)
		return -errno;
	munmap(p, d.open.map_bytes);
	return 0;
}

static int act_group(void)
{
	int rc = team_group(&t, &d, nonce, false, &group);

	if (!rc) {
		struct espgoal_id id = { .id = group };

		nonce++;
		calm();
		rc = request(d.fd, ESPGOAL_GROUP_FREE, &id);
	}
	return rc;
}

static int act_load(void)
{
	struct espgoal_load l = { .flags = 0 };
	struct goal_schedule *s;
	struct espgoal_id id;
	struct goal_graph *g;
	size_t bytes;
	int rc;

	if (goal_graph_create(0, 1, &g) || goal_copy(g, 1, 0, 0, 0, 64) < 0 ||
	    goal_compile(g, &s, NULL))
		die("no schedule");
	l.data = (uintptr_t)goal_schedule_data(s, &bytes);
	l.bytes = bytes;
	rc = request(d.fd, ESPGOAL_LOAD, &l);
	goal_schedule_free(s);
	goal_graph_free(g);
	if (rc)
		return rc;
	calm();
	id = (struct espgoal_id){ .id = l.id };
	return request(d.fd, ESPGOAL_UNLOAD, &id);
}

static int act_run(void)
{
	struct espgoal_run r = { .sched = shape.id };
	struct espgoal_id id;
	int rc = request(d.fd, ESPGOAL_RUN, &r);

	if (rc)
		return rc;
	calm();
	id = (struct espgoal_id){ .id = r.id };
	return request(d.fd, ESPGOAL_RUN_FREE, &id);
}

/* The third start of a shape is in many segments, for which there is an allocation. */
static int act_start(void)
{
	struct object *o;
	int rc;

	shape.started = shape.started / 3 * 3 + 2;
	o = shape_start(&shape, &d, ESPGOAL_START_WAIT, ESPGOAL_EVER, &rc);
	calm();
	if (!o)
		return rc ? rc : -ENOENT;
	if (d.word[o->id].status)
		return d.word[o->id].status;
	shape_check(&shape, &d, o);
	return 0;
}

static int act_count(void)
{
	uint64_t value[8];
	struct espgoal_counters c = { .n = 8, .value = (uintptr_t)value };

	return request(d.fd, ESPGOAL_COUNT, &c);
}

static int act_info(void)
{
	struct espgoal_info i;

	return request(d.fd, ESPGOAL_INFO, &i);
}

static int act_fail(void)
{
	struct espgoal_fail f = { .group = group, .status = -ECANCELED, .rank = ESPGOAL_NONE };

	return request(d.fd, ESPGOAL_FAIL, &f);
}

static int act_close(void)
{
	return request(d.fd, ESPGOAL_CLOSE, NULL);
}

static const struct {
	const char *name;
	void (*before)(void);
	int (*act)(void);
	void (*after)(void);
	bool allocates;
} tries[] = {
	{ "open", nothing, act_open, close_fd, true },
	{ "OPEN", plain_open, act_endpoint, close_fd, true },
	{ "mmap", endpoint, act_map, close_all, true },
	{ "GROUP", endpoint, act_group, close_all, true },
	{ "LOAD", endpoint, act_load, close_all, true },
	{ "RUN", grouped, act_run, close_all, true },
	{ "START", grouped, act_start, close_all, true },
	{ "COUNT", endpoint, act_count, close_all, true },
	{ "INFO", endpoint, act_info, close_all, false },
	{ "FAIL", grouped, act_fail, close_all, false },
	{ "CLOSE", grouped, act_close, close_fd, false },
};

static void try_all(unsigned int i)
{
	uint32_t n, failures = 0, refusals = 0;
	int rc;

	/* Behind the first ones come those of pools, which are alike. */
	for (n = 1; n < MANY; n += 1 + n / 64 * 4) {
		tries[i].before();
		nth(n);
		rc = tries[i].act();
		calm();
		failures += hit;
		if (rc == -ENOMEM) {
			refusals++;
			/* And again, with memory: nothing was left half done. */
			rc = tries[i].act();
			if (rc)
				complain("%s after its failure %u: %s", tries[i].name, n,
					 strerror(-rc));
		} else if (rc) {
			complain("%s with failure %u: %s", tries[i].name, n, strerror(-rc));
		}
		tries[i].after();
		if (!hit)
			break;
	}
	printf("%s: %u allocations fail, %u refusals\n", tries[i].name, failures, refusals);
	fflush(stdout);
	if (n >= MANY)
		complain("%s has no end of allocations", tries[i].name);
	if (tries[i].allocates && !refusals)
		complain("%s: no allocation failed, so this has tried nothing", tries[i].name);
}

int main(void)
{
	unsigned int i;

	nth_fd = open("/proc/thread-self/fail-nth", O_RDWR | O_CLOEXEC);
	if (nth_fd < 0) {
		printf("this kernel injects no faults\n");
		return 77;
	}
	setting("failslab/ignore-gfp-wait", "N");
	setting("failslab/verbose", "0");
	setting("fail_page_alloc/ignore-gfp-wait", "N");
	setting("fail_page_alloc/ignore-gfp-highmem", "N");
	setting("fail_page_alloc/min-order", "0");
	setting("fail_page_alloc/verbose", "0");
	for (i = 0; i < sizeof(tries) / sizeof(*tries); i++)
		try_all(i);
	printf("%s\n", complaints ? "FAIL" : "PASS");
	return complaints != 0;
}
