// SPDX-License-Identifier: BSD-3-Clause
/* Functions of device.h, except for the collectives. */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "device.h"

int complaints;

void die_at(const char *file, int line, const char *format, ...)
{
	va_list list;

	printf("FAIL %s:%d: ", file, line);
	va_start(list, format);
	vprintf(format, list);
	va_end(list);
	putchar('\n');
	fflush(stdout);
	_exit(1);
}

void complain(const char *format, ...)
{
	va_list list;

	if (++complaints > 20)
		die("and so on");
	printf("FAIL ");
	va_start(list, format);
	vprintf(format, list);
	va_end(list);
	putchar('\n');
	fflush(stdout);
}

uint64_t scramble(uint64_t x)
{
	x ^= x >> 32;
	x *= 0xd6e8feb86659fd93ull;
	x ^= x >> 32;
	x *= 0xd6e8feb86659fd93ull;
	return x ^ x >> 32;
}

uint64_t roll(struct dice *d)
{
	d->state += 0x9e3779b97f4a7c15ull;
	return scramble(d->state);
}

uint32_t below(struct dice *d, uint32_t n)
{
	return (uint32_t)((roll(d) >> 32) * n >> 32);
}

double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

uint32_t times_as_often(void)
{
	const char *text = getenv("GOAL_TIMES");
	int n = text ? atoi(text) : 1;

	return n > 0 ? (uint32_t)n : 1;
}

int request(int fd, unsigned long code, void *arg)
{
	return ioctl(fd, code, arg) < 0 ? -errno : 0;
}

void device_open(struct device *d, uint32_t runs, uint64_t area)
{
	int rc;

	memset(d, 0, sizeof(*d));
	d->fd = open(ESPGOAL_PATH, O_RDWR | O_CLOEXEC);
	if (d->fd < 0)
		die("%s: %s", ESPGOAL_PATH, strerror(errno));
	d->open.runs = runs;
	d->open.area = area;
	rc = request(d->fd, ESPGOAL_OPEN, &d->open);
	if (rc)
		die("ESPGOAL_OPEN: %s", strerror(-rc));
	d->map = mmap(NULL, d->open.map_bytes, PROT_READ, MAP_SHARED, d->fd, 0);
	if (d->map == MAP_FAILED)
		die("mmap of %llu bytes: %s", (unsigned long long)d->open.map_bytes,
		    strerror(errno));
	d->head = d->map;
	d->word = (const void *)(d->head + 1);
}

void device_close(struct device *d, bool clean)
{
	int rc = clean ? request(d->fd, ESPGOAL_CLOSE, NULL) : 0;

	if (rc)
		die("ESPGOAL_CLOSE: %s", strerror(-rc));
	munmap(d->map, d->open.map_bytes);
	close(d->fd);
	d->fd = -1;
}

static uint32_t counters(struct device *d, uint32_t set, uint64_t *value, uint32_t room)
{
	struct espgoal_counters c = { .set = set, .n = room, .value = (uintptr_t)value };
	int rc = request(d->fd, ESPGOAL_COUNT, &c);

	if (rc)
		die("ESPGOAL_COUNT: %s", strerror(-rc));
	return c.n;
}

uint64_t device_counter(struct device *d, uint32_t set, const char *name)
{
	uint64_t value[512] = { 0 };
	uint32_t n = counters(d, set, value, 512);
	uint32_t i;

	for (i = 0; i < n && i < 512; i++) {
		struct espgoal_counter_name c = { .set = set, .index = i };

		if (!request(d->fd, ESPGOAL_COUNTER_NAME, &c) && !strcmp(c.name, name))
			return value[i];
	}
	die("there is no counter %s in set %u", name, set);
}

/* What helps to understand a hang: counters that are not 0, rails, flows. */
void device_dump(struct device *d)
{
	struct espgoal_flow f = { .cursor = 0 };
	uint64_t value[512] = { 0 };
	uint32_t set, i, n;

	for (set = ESPGOAL_SET_NODE; set <= ESPGOAL_SET_ENDPOINT; set++) {
		n = counters(d, set, value, 512);
		for (i = 0; i < n && i < 512; i++) {
			struct espgoal_counter_name c = { .set = set, .index = i };

			if (value[i] && !request(d->fd, ESPGOAL_COUNTER_NAME, &c))
				printf("  %s %s %llu\n", set ? "endpoint" : "node", c.name,
				       (unsigned long long)value[i]);
		}
	}
	for (i = 0; i < ESPGOAL_RAILS; i++) {
		struct espgoal_rail r = { .path = i };

		if (request(d->fd, ESPGOAL_RAIL, &r) || !r.state)
			continue;
		printf("  rail %u %s state %u mtu %u in %llu out %llu retried %llu dropped %llu\n",
		       i, r.name, r.state, r.mtu, (unsigned long long)r.frames_in,
		       (unsigned long long)r.frames_out, (unsigned long long)r.retried,
		       (unsigned long long)r.dropped);
	}
	for (i = 0; i < 64 && !request(d->fd, ESPGOAL_FLOW, &f); i++)
		printf("  flow to %02x%02x%02x%02x state %u messages %u refusals %u idle %llu us "
		       "inflight %u backoff %u srtt %u us\n",
		       f.node[0], f.node[1], f.node[2], f.node[3], f.state, f.messages, f.refusals,
		       (unsigned long long)f.idle_us, f.path[0].inflight, f.path[0].backoff,
		       f.path[0].srtt_us);
	fflush(stdout);
}

/* What a member publishes. */
struct card {
	struct espgoal_peer peer;
	uint64_t cookie;
};

static void publish(const struct card *card, const char *folder, uint32_t rank)
{
	char path[512], temporary[520];
	int fd;

	snprintf(path, sizeof(path), "%s/rank.%u", folder, rank);
	snprintf(temporary, sizeof(temporary), "%s.new", path);
	fd = open(temporary, O_WRONLY | O_CREAT | O_TRUNC, 0644);
	if (fd < 0 || write(fd, card, sizeof(*card)) != sizeof(*card) || close(fd) ||
	    rename(temporary, path))
		die("%s: %s", path, strerror(errno));
}

static void look_up(struct card *card, const char *folder, uint32_t rank)
{
	double end = now() + 60;
	char path[512];
	int fd;

	snprintf(path, sizeof(path), "%s/rank.%u", folder, rank);
	while ((fd = open(path, O_RDONLY)) < 0) {
		if (now() > end)
			die("rank %u did not come within a minute: no %s", rank, path);
		usleep(10000);
	}
	if (read(fd, card, sizeof(*card)) != sizeof(*card))
		die("%s is too short", path);
	close(fd);
}

void team_meet(struct team *t, struct device *d, const char *folder, uint32_t rank, uint32_t size)
{
	struct card card = { .cookie = d->open.cookie };
	uint32_t r, p;

	memcpy(card.peer.node, d->open.node, sizeof(card.peer.node));
	memcpy(card.peer.link, d->open.link, sizeof(card.peer.link));
	publish(&card, folder, rank);
	*t = (struct team){ .rank = rank, .size = size };
	t->peer = calloc(size, sizeof(*t->peer));
	t->entry = calloc(size, sizeof(*t->entry));
	if (!t->peer || !t->entry)
		die("no memory");
	for (r = 0; r < size; r++) {
		look_up(&card, folder, r);
		for (p = 0; p < t->npeers; p++)
			if (!memcmp(t->peer[p].node, card.peer.node, sizeof(card.peer.node)))
				break;
		if (p == t->npeers)
			t->peer[t->npeers++] = card.peer;
		t->entry[r] = (struct espgoal_rank){ .cookie = card.cookie, .peer = p };
	}
}

void team_free(struct team *t)
{
	free(t->peer);
	free(t->entry);
	t->peer = NULL;
	t->entry = NULL;
}

int team_group(const struct team *t, struct device *d, uint64_t nonce, bool reversed, uint32_t *id)
{
	struct espgoal_rank *entry = calloc(t->size, sizeof(*entry));
	struct espgoal_group g = { .nonce = nonce,
				   .nranks = t->size,
				   .npeers = t->npeers,
				   .rank = reversed ? t->size - 1 - t->rank : t->rank,
				   .ranks = (uintptr_t)entry,
				   .peers = (uintptr_t)t->peer };
	uint32_t r;
	int rc;

	if (!entry)
		die("no memory");
	for (r = 0; r < t->size; r++)
		entry[r] = t->entry[reversed ? t->size - 1 - r : r];
	rc = request(d->fd, ESPGOAL_GROUP, &g);
	free(entry);
	*id = g.id;
	return rc;
}
