// SPDX-License-Identifier: BSD-3-Clause
/*
 * Every request of /dev/espgoal with every argument wrong, one at a time, beside the same request with
 * nothing wrong: the errno that espgoal(4) names, and no effect.
 *
 *	abi
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <goal/collectives.h>

#include "device.h"

static int checks;

static const char *name_of(int rc)
{
	return rc < 0 ? strerrorname_np(-rc) : rc ? "a number" : "success";
}

static void want(int got, int expected, const char *what)
{
	checks++;
	if (got != expected)
		complain("%s: %s, and must be %s", what, name_of(got), name_of(expected));
}

/* The request answers @expected to what @arg points to, and leaves it as it is. */
static void refused(int fd, unsigned long code, const void *arg, size_t size, int expected,
		    const char *what)
{
	char copy[1024];
	int rc;

	memcpy(copy, arg, size);
	rc = request(fd, code, copy);
	want(rc, expected, what);
	if (rc && code != ESPGOAL_LOAD && memcmp(copy, arg, size))
		complain("%s: refused, and yet it wrote into the argument", what);
}

/* clang-format off */
/* REFUSED(fd, LOAD, load, -EINVAL, flags = 1): @load, with one field wrong. */
#define REFUSED(fd, code, var, expected, ...) do { \
	__typeof__(var) wrong_ = var; \
	(void)sizeof(wrong_.__VA_ARGS__); \
	wrong_.__VA_ARGS__; \
	refused(fd, ESPGOAL_##code, &wrong_, sizeof(wrong_), expected, #code ": " #__VA_ARGS__); \
} while (0)
/* clang-format on */

/* Pages that cannot be read, only be read, and a kernel address. */
static char *nowhere, *readonly, *edge;

static void pages(void)
{
	long page = sysconf(_SC_PAGESIZE);

	nowhere = mmap(NULL, (size_t)page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	readonly = mmap(NULL, (size_t)page, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	edge = mmap(NULL, 2 * (size_t)page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
		    0);
	if (nowhere == MAP_FAILED || readonly == MAP_FAILED || edge == MAP_FAILED)
		die("mmap: %s", strerror(errno));
	munmap(edge + page, (size_t)page);
	edge += page; /* the first byte that is not there */
}

static const unsigned long codes[] = {
	ESPGOAL_INFO,     ESPGOAL_OPEN,         ESPGOAL_GROUP,      ESPGOAL_LOAD,
	ESPGOAL_RUN,      ESPGOAL_START,        ESPGOAL_WAIT,       ESPGOAL_CANCEL,
	ESPGOAL_RUN_FREE, ESPGOAL_UNLOAD,       ESPGOAL_GROUP_FREE, ESPGOAL_FAIL,
	ESPGOAL_COUNT,    ESPGOAL_COUNTER_NAME, ESPGOAL_RAIL,       ESPGOAL_FLOW,
};
#define NCODES (sizeof(codes) / sizeof(*codes))

static void bad_pointers(int fd)
{
	void *bad[] = { NULL, nowhere, edge - 1, (void *)0xffff888000000000ull, (void *)~0ull };
	unsigned int i, k;

	for (i = 0; i < NCODES; i++)
		for (k = 0; k < sizeof(bad) / sizeof(*bad); k++) {
			checks++;
			if (request(fd, codes[i], bad[k]) != -EFAULT)
				complain("request %u of an argument at %p: %s", i, bad[k],
					 strerror(errno));
		}
	want(request(fd, ESPGOAL_INFO, readonly), -EFAULT, "INFO to a read-only page");
}

static void unknown_requests(int fd)
{
	char buffer[512] = { 0 };
	unsigned int nr, i;

	for (nr = 0; nr < 256; nr++) {
		if (nr >= 1 && nr <= 17)
			continue;
		want(request(fd, _IOWR(ESPGOAL_IOC, nr, char[16]), buffer), -ENOTTY,
		     "unknown request");
	}
	for (i = 0; i < NCODES; i++) {
		/* The same number with another size, and with another direction. */
		nr = _IOC_NR(codes[i]);
		want(request(fd, _IOC(_IOC_DIR(codes[i]), ESPGOAL_IOC, nr, _IOC_SIZE(codes[i]) + 8),
			     buffer),
		     -ENOTTY, "request of another size");
		want(request(fd, _IOC(_IOC_DIR(codes[i]) ^ 3, ESPGOAL_IOC, nr, _IOC_SIZE(codes[i])),
			     buffer),
		     -ENOTTY, "request of another direction");
	}
	want(request(fd, TCGETS, buffer), -ENOTTY, "TCGETS");
}

static void before_open(void)
{
	char zeros[1024] = { 0 }, byte;
	int fd = open(ESPGOAL_PATH, O_RDWR | O_CLOEXEC);
	struct pollfd p = { .fd = fd, .events = POLLIN };
	struct espgoal_info info;
	unsigned int i;

	if (fd < 0)
		die("%s: %s", ESPGOAL_PATH, strerror(errno));
	memset(&info, 0xff, sizeof(info));
	want(request(fd, ESPGOAL_INFO, &info), 0, "INFO");
	if (info.abi < ESPGOAL_ABI || info.abi_oldest > ESPGOAL_ABI || !info.abi_oldest ||
	    info.sched_version != GOAL_SCHED_VERSION)
		complain("INFO: ABI %u to %u, schedules %u", info.abi_oldest, info.abi,
			 info.sched_version);
	if (!memchr(info.version, 0, sizeof(info.version)) || !info.version[0])
		complain("INFO: no version");
	if (info.run_max < ESPGOAL_SURE_RUN || info.sched_max < ESPGOAL_SURE_SCHED ||
	    info.ranks_max < ESPGOAL_SURE_RANKS || info.eager_max < ESPGOAL_SURE_EAGER)
		complain("INFO: less than what every module takes");
	if (memcmp(info.reserved, zeros, sizeof(info.reserved)) || info.flags & ~ESPGOAL_INFO_DEBUG)
		complain("INFO: reserved fields are not 0");
	for (i = 2; i < NCODES; i++) {
		int rc;

		if (codes[i] == ESPGOAL_COUNT || codes[i] == ESPGOAL_COUNTER_NAME ||
		    codes[i] == ESPGOAL_RAIL || codes[i] == ESPGOAL_FLOW)
			continue;
		rc = request(fd, codes[i], zeros);
		checks++;
		if (rc != -EBADFD)
			complain("request %lu before OPEN: %s", _IOC_NR(codes[i]), name_of(rc));
	}
	want(request(fd, ESPGOAL_CLOSE, NULL), -EBADFD, "CLOSE before OPEN");
	want(read(fd, zeros, 8) < 0 ? -errno : 0, -EBADFD, "read before OPEN");
	want(poll(&p, 1, 0), 0, "poll before OPEN has nothing to tell");
	checks++;
	if (mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0) != MAP_FAILED)
		complain("mmap before OPEN succeeds");
	want(write(fd, &byte, 1) < 0 ? -errno : 0, -EINVAL, "write");
	bad_pointers(fd);
	unknown_requests(fd);
	close(fd);
}

static void opening(void)
{
	struct espgoal_open o = { .runs = 4, .area = 4096 };
	struct espgoal_info info;
	int fd = open(ESPGOAL_PATH, O_RDWR | O_CLOEXEC);

	request(fd, ESPGOAL_INFO, &info);
	REFUSED(fd, OPEN, o, -EINVAL, flags = 1);
	REFUSED(fd, OPEN, o, -EINVAL, flags = 1u << 31);
	REFUSED(fd, OPEN, o, -E2BIG, runs = info.runs_max + 1);
	REFUSED(fd, OPEN, o, -E2BIG, runs = ~0u);
	REFUSED(fd, OPEN, o, -E2BIG, area = info.area_max + 1);
	REFUSED(fd, OPEN, o, -E2BIG, area = ~0ull);
	REFUSED(fd, OPEN, o, -E2BIG, area = ~0ull - 4094);
	REFUSED(fd, OPEN, o, -EINVAL, cookie = 1);
	want(request(fd, ESPGOAL_OPEN, &o), 0, "OPEN");
	if (o.runs != 4 || o.area != 4096 || !o.cookie || o.map_bytes < o.area_off + o.area ||
	    o.area_off < sizeof(struct espgoal_head) + 4 * sizeof(struct espgoal_word))
		complain("OPEN: runs %u area %llu at %llu of %llu", o.runs,
			 (unsigned long long)o.area, (unsigned long long)o.area_off,
			 (unsigned long long)o.map_bytes);
	o = (struct espgoal_open){ .runs = 4 };
	want(request(fd, ESPGOAL_OPEN, &o), -EEXIST, "OPEN of an endpoint");
	close(fd);
	fd = open(ESPGOAL_PATH, O_RDONLY | O_CLOEXEC);
	o = (struct espgoal_open){ .runs = 1, .area = 1 };
	if (fd >= 0) {
		want(request(fd, ESPGOAL_OPEN, &o), 0, "OPEN on a descriptor for reading");
		close(fd);
	}
}

static void mapping(struct device *d)
{
	size_t n = d->open.map_bytes;
	int fd = d->fd;
	void *p;

	checks += 7;
	if (mmap(NULL, n, PROT_READ, MAP_PRIVATE, fd, 0) != MAP_FAILED)
		complain("a private mmap succeeds");
	if (mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0) != MAP_FAILED)
		complain("mmap for writing succeeds");
	if (mmap(NULL, n, PROT_READ, MAP_SHARED, fd, 4096) != MAP_FAILED)
		complain("mmap beyond the end succeeds");
	if (mmap(NULL, n + 4096, PROT_READ, MAP_SHARED, fd, 0) != MAP_FAILED)
		complain("mmap of more than there is succeeds");
	if (mmap(NULL, n, PROT_READ | PROT_EXEC, MAP_SHARED, fd, 0) != MAP_FAILED)
		complain("mmap for executing succeeds");
	p = mmap(NULL, n, PROT_READ, MAP_SHARED, fd, 0);
	if (p == MAP_FAILED) {
		complain("a second mmap: %s", strerror(errno));
		return;
	}
	if (!mprotect(p, n, PROT_READ | PROT_WRITE))
		complain("mprotect for writing succeeds");
	if (memcmp(p, d->map, n))
		complain("two mappings differ");
	munmap(p, n);
}

static struct team alone(struct device *d, struct espgoal_peer *peer, struct espgoal_rank *entry)
{
	memcpy(peer->node, d->open.node, sizeof(peer->node));
	memcpy(peer->link, d->open.link, sizeof(peer->link));
	*entry = (struct espgoal_rank){ .cookie = d->open.cookie };
	return (struct team){ .rank = 0, .size = 1, .npeers = 1, .peer = peer, .entry = entry };
}

/* -EINVAL; and where it is taken all the same, it goes again, for the sake of what follows. */
static void bad_group(int fd, const struct espgoal_group *g, const char *what)
{
	struct espgoal_group copy = *g;
	int rc = request(fd, ESPGOAL_GROUP, &copy);
	struct espgoal_id id = { .id = copy.id };

	want(rc, -EINVAL, what);
	if (!rc)
		request(fd, ESPGOAL_GROUP_FREE, &id);
}

static void groups(struct device *d)
{
	struct espgoal_rank rank[4] = { { .cookie = d->open.cookie } };
	struct espgoal_peer peer[4] = { 0 };
	struct espgoal_group g = { .nonce = 99,
				   .nranks = 2,
				   .npeers = 2,
				   .ranks = (uintptr_t)rank,
				   .peers = (uintptr_t)peer };
	struct espgoal_id id = { .id = 0 };
	struct espgoal_info info;
	int fd = d->fd;

	request(fd, ESPGOAL_INFO, &info);
	alone(d, &peer[0], &rank[0]);
	memset(peer[1].node, 7, sizeof(peer[1].node));
	rank[1] = (struct espgoal_rank){ .cookie = 5, .peer = 1 };
	REFUSED(fd, GROUP, g, -EINVAL, nonce = 0);
	REFUSED(fd, GROUP, g, -EINVAL, nranks = 0);
	REFUSED(fd, GROUP, g, -EINVAL, npeers = 0);
	REFUSED(fd, GROUP, g, -EINVAL, npeers = 3);
	REFUSED(fd, GROUP, g, -EINVAL, rank = 2);
	REFUSED(fd, GROUP, g, -EINVAL, rank = 1);
	REFUSED(fd, GROUP, g, -EINVAL, rank = ~0u);
	REFUSED(fd, GROUP, g, -EINVAL, id = 1);
	REFUSED(fd, GROUP, g, -EINVAL, flags = 1);
	REFUSED(fd, GROUP, g, -EINVAL, reserved = 1);
	REFUSED(fd, GROUP, g, -E2BIG, nranks = info.ranks_max + 1);
	REFUSED(fd, GROUP, g, -EFAULT, ranks = 0);
	REFUSED(fd, GROUP, g, -EFAULT, peers = (uintptr_t)nowhere);
	REFUSED(fd, GROUP, g, -EFAULT, ranks = (uintptr_t)edge - 24);
	REFUSED(fd, GROUP, g, -EFAULT, peers = 0xffff888000000000ull);
	rank[1].reserved = 1;
	bad_group(fd, &g, "GROUP: a rank's reserved field");
	rank[1] = (struct espgoal_rank){ .cookie = 5, .peer = 2 };
	bad_group(fd, &g, "GROUP: a rank on no peer");
	rank[1] = (struct espgoal_rank){ .cookie = 0, .peer = 1 };
	bad_group(fd, &g, "GROUP: a rank without a cookie");
	rank[1] = (struct espgoal_rank){ .cookie = rank[0].cookie, .peer = 0 };
	bad_group(fd, &g, "GROUP: an endpoint twice");
	rank[1] = (struct espgoal_rank){ .cookie = 5, .peer = 1 };
	memcpy(peer[1].node, peer[0].node, sizeof(peer[1].node));
	bad_group(fd, &g, "GROUP: two peers of one name");
	memset(peer[1].node, 7, sizeof(peer[1].node));
	memset(peer[2].node, 7, sizeof(peer[2].node));
	rank[2] = (struct espgoal_rank){ .cookie = 6, .peer = 2 };
	g.nranks = g.npeers = 3;
	bad_group(fd, &g, "GROUP: two other peers of one name");
	peer[2].node[0] = 8;
	rank[2].cookie = 5;
	bad_group(fd, &g, "GROUP: another endpoint twice");
	g.nranks = g.npeers = 2;
	memset(peer[1].link, 0xff, sizeof(peer[1].link));
	bad_group(fd, &g, "GROUP: a link that is none");
	rank[0].cookie++;
	g.nranks = g.npeers = 1;
	bad_group(fd, &g, "GROUP: not our cookie");
	rank[0].cookie--;
	peer[0].node[3] ^= 1;
	bad_group(fd, &g, "GROUP: not our node");
	peer[0].node[3] ^= 1;
	want(request(fd, ESPGOAL_GROUP, &g), 0, "GROUP of one");
	id.id = g.id;
	g.id = 0;
	REFUSED(fd, GROUP, g, -EEXIST, rank = 0);
	REFUSED(fd, GROUP_FREE, id, -EINVAL, reserved = 1);
	REFUSED(fd, GROUP_FREE, id, -ENOENT, id = ~0u);
	REFUSED(fd, GROUP_FREE, id, -ENOENT, id ^= 1);
	want(request(fd, ESPGOAL_GROUP_FREE, &id), 0, "GROUP_FREE");
	want(request(fd, ESPGOAL_GROUP_FREE, &id), -ENOENT, "GROUP_FREE again");
}

/* A copy of one block from SEND to RECV, of a group of one. */
static struct goal_schedule *schedule_of(uint64_t bytes)
{
	struct goal_schedule *s;
	struct goal_graph *g;

	if (goal_graph_create(0, 1, &g) ||
	    goal_copy(g, GOAL_BUF_RECV, 0, GOAL_BUF_SEND, 0, bytes) < 0 ||
	    goal_compile(g, &s, NULL))
		die("no schedule");
	goal_graph_free(g);
	return s;
}

static uint32_t schedules(struct device *d)
{
	size_t bytes, i;
	struct goal_schedule *s = schedule_of(1000);
	const void *data = goal_schedule_data(s, &bytes);
	uint8_t *copy = malloc(bytes + 16);
	struct espgoal_load l = { .data = (uintptr_t)data,
				  .bytes = bytes,
				  .buf = { ESPGOAL_BUF_IN, ESPGOAL_BUF_OUT } };
	struct espgoal_load probe;
	struct espgoal_info info;
	struct espgoal_id id;
	int fd = d->fd, rc, refusals = 0;

	request(fd, ESPGOAL_INFO, &info);
	REFUSED(fd, LOAD, l, -EINVAL, flags = 1);
	REFUSED(fd, LOAD, l, -EINVAL, id = 1);
	REFUSED(fd, LOAD, l, -EINVAL, reserved = 1);
	REFUSED(fd, LOAD, l, -EINVAL, buf[0] = 4);
	REFUSED(fd, LOAD, l, -EINVAL, buf[2] = 1);
	REFUSED(fd, LOAD, l, -EINVAL, buf[15] = 2);
	REFUSED(fd, LOAD, l, -EINVAL, bytes = 0);
	REFUSED(fd, LOAD, l, -EINVAL, bytes = bytes - 8);
	REFUSED(fd, LOAD, l, -EINVAL, bytes = bytes - 1);
	REFUSED(fd, LOAD, l, -EINVAL, bytes = 8);
	REFUSED(fd, LOAD, l, -E2BIG, bytes = info.sched_max + 8);
	REFUSED(fd, LOAD, l, -E2BIG, bytes = ~0ull);
	REFUSED(fd, LOAD, l, -E2BIG, bytes = 1ull << 32);
	REFUSED(fd, LOAD, l, -EFAULT, data = 0);
	REFUSED(fd, LOAD, l, -EFAULT, data = (uintptr_t)nowhere);
	REFUSED(fd, LOAD, l, -EFAULT, data = (uintptr_t)edge - 64);
	REFUSED(fd, LOAD, l, -EFAULT, data = 0xffff888000000000ull);
	/* One byte wrong: refused with a rule, or taken, and then it is harmless. */
	for (i = 0; i < bytes; i++) {
		memcpy(copy, data, bytes);
		copy[i] ^= 1u << i % 8;
		probe = l;
		probe.data = (uintptr_t)copy;
		rc = request(fd, ESPGOAL_LOAD, &probe);
		checks++;
		if (!rc) {
			id = (struct espgoal_id){ .id = probe.id };
			want(request(fd, ESPGOAL_UNLOAD, &id), 0, "UNLOAD");
			continue;
		}
		refusals++;
		if (rc != -EINVAL && rc != -E2BIG && rc != -EOPNOTSUPP)
			complain("LOAD with byte %zu wrong: %s", i, name_of(rc));
		if (rc == -EINVAL && !probe.rule)
			complain("LOAD with byte %zu wrong: no rule is named", i);
	}
	if (!refusals)
		complain("LOAD refuses no damaged schedule");
	/* An address that is no multiple of 8 is as good. */
	memcpy(copy + 3, data, bytes);
	probe = l;
	probe.data = (uintptr_t)copy + 3;
	want(request(fd, ESPGOAL_LOAD, &probe), 0, "LOAD from an odd address");
	id = (struct espgoal_id){ .id = probe.id };
	want(request(fd, ESPGOAL_UNLOAD, &id), 0, "UNLOAD");
	want(request(fd, ESPGOAL_UNLOAD, &id), -ENOENT, "UNLOAD again");
	REFUSED(fd, UNLOAD, id, -EINVAL, reserved = 7);
	want(request(fd, ESPGOAL_LOAD, &l), 0, "LOAD");
	if (l.need[0] != 1000 || l.need[1] != 1000 || l.need[2])
		complain("LOAD: buffers need %llu and %llu bytes", (unsigned long long)l.need[0],
			 (unsigned long long)l.need[1]);
	goal_schedule_free(s);
	free(copy);
	return l.id;
}

/* More than the module takes of a run, and of the kernel's arithmetic. */
static void too_large(struct device *d)
{
	struct espgoal_info info;
	struct goal_schedule *s;
	struct espgoal_load l = { .buf = { ESPGOAL_BUF_IN, ESPGOAL_BUF_OUT } };
	struct goal_graph *g;
	size_t bytes;

	request(d->fd, ESPGOAL_INFO, &info);
	s = schedule_of(info.run_max);
	l.data = (uintptr_t)goal_schedule_data(s, &bytes);
	l.bytes = bytes;
	want(request(d->fd, ESPGOAL_LOAD, &l), -E2BIG, "LOAD of a run that is too large");
	goal_schedule_free(s);
	if (goal_graph_create(0, 1, &g) ||
	    goal_reduce(g, 1, 0, 0, 0, 4, GOAL_TYPE_LONG_DOUBLE, GOAL_ROP_SUM) < 0 ||
	    goal_compile(g, &s, NULL))
		die("no schedule");
	l = (struct espgoal_load){ .buf = { ESPGOAL_BUF_IN, ESPGOAL_BUF_OUT } };
	l.data = (uintptr_t)goal_schedule_data(s, &bytes);
	l.bytes = bytes;
	want(request(d->fd, ESPGOAL_LOAD, &l), -EOPNOTSUPP, "LOAD of a long double");
	goal_schedule_free(s);
	goal_graph_free(g);
}

static void runs(struct device *d, uint32_t sched)
{
	struct espgoal_run r = { .sched = sched }, many;
	struct espgoal_id id;
	uint32_t i, n;
	int rc = 0;

	REFUSED(d->fd, RUN, r, -EINVAL, flags = 1);
	REFUSED(d->fd, RUN, r, -EINVAL, reserved = 1);
	REFUSED(d->fd, RUN, r, -EINVAL, id = 3);
	REFUSED(d->fd, RUN, r, -EINVAL, off[3] = 64);
	REFUSED(d->fd, RUN, r, -ENOENT, sched = ~0u);
	REFUSED(d->fd, RUN, r, -ENOENT, sched = sched + 1);
	for (n = 0; n < 10000; n++) {
		many = r;
		rc = request(d->fd, ESPGOAL_RUN, &many);
		if (rc)
			break;
		if (many.off[1] % 64 || many.off[1] < d->open.area_off || many.off[0] ||
		    many.off[1] + 1000 > d->open.map_bytes || many.id >= d->open.runs)
			complain("RUN: id %u, buffer at %llu", many.id,
				 (unsigned long long)many.off[1]);
	}
	want(rc, -ENOSPC, "RUN when all are taken");
	if (!n || n > d->open.runs)
		complain("RUN: %u of them", n);
	for (i = 0; i < n; i++) {
		id = (struct espgoal_id){ .id = i };
		want(request(d->fd, ESPGOAL_RUN_FREE, &id), 0, "RUN_FREE");
		want(request(d->fd, ESPGOAL_RUN_FREE, &id), -ENOENT, "RUN_FREE again");
	}
	id = (struct espgoal_id){ .id = ~0u };
	want(request(d->fd, ESPGOAL_RUN_FREE, &id), -ENOENT, "RUN_FREE of no run");
	REFUSED(d->fd, RUN_FREE, id, -EINVAL, reserved = 1);
}

/* Timeouts that are points in time; @w waits for what does not come. */
static void waits_until(int fd, struct espgoal_wait *w)
{
	uint64_t begun = (uint64_t)(now() * 1e9), past;

	w->flags = ESPGOAL_WAIT_UNTIL;
	w->timeout = 1;
	want(request(fd, ESPGOAL_WAIT, w), -ETIMEDOUT, "WAIT until long ago");
	w->timeout = begun;
	want(request(fd, ESPGOAL_WAIT, w), -ETIMEDOUT, "WAIT until just now");
	past = (uint64_t)(now() * 1e9);
	if (past - begun > 50000000)
		printf("note: two looks took %llu us\n", (unsigned long long)(past - begun) / 1000);
	w->timeout = past + 30000000;
	want(request(fd, ESPGOAL_WAIT, w), -ETIMEDOUT, "WAIT until 30 ms from now");
	past = (uint64_t)(now() * 1e9);
	if (past < w->timeout)
		complain("WAIT until a time ended %llu us before it",
			 (unsigned long long)(w->timeout - past) / 1000);
	w->flags = 0;
}

static void starts(struct device *d, uint32_t sched, uint32_t group)
{
	struct espgoal_run r = { .sched = sched };
	struct espgoal_id id;
	struct espgoal_wait w = { .timeout = 1000000 };
	static uint8_t data[1000];
	struct espgoal_seg many[3] = { { (uintptr_t)data, 1 },
				       { (uintptr_t)data + 1, 0 },
				       { (uintptr_t)data + 1, 999 } };
	struct espgoal_start s = {
		.group = group, .op_id = 1, .nsegs = 1, .seg = { { (uintptr_t)data, 1000 } }
	};
	const uint8_t *out;
	uint32_t before, i;
	int fd = d->fd;

	/* So soon after RUN_FREE the area may not have everything back yet. */
	for (i = 0; request(fd, ESPGOAL_RUN, &r) == -ENOSPC; i++) {
		if (i > 200)
			die("no run object is free 2 s after all were given back");
		usleep(10000);
	}
	for (i = 0; i < 1000; i++)
		data[i] = (uint8_t)(i * 7);
	s.run = r.id;
	before = d->word[r.id].over;
	REFUSED(fd, START, s, -ENOENT, run = r.id + 1);
	REFUSED(fd, START, s, -ENOENT, run = ~0u);
	REFUSED(fd, START, s, -ENOENT, group = ~0u);
	REFUSED(fd, START, s, -EINVAL, flags = 4);
	REFUSED(fd, START, s, -EINVAL, flags = ESPGOAL_START_FAILED);
	REFUSED(fd, START, s, -EINVAL, timeout = 1);
	REFUSED(fd, START, s, -EINVAL, nsegs = 0);
	REFUSED(fd, START, s, -EINVAL, segs = (uintptr_t)many);
	REFUSED(fd, START, s, -EINVAL, seg[0].len = 999);
	REFUSED(fd, START, s, -EINVAL, seg[0].len = 1001);
	REFUSED(fd, START, s, -EINVAL, seg[0].len = ~0ull);
	REFUSED(fd, START, s, -EINVAL, seg[1].addr = 1);
	REFUSED(fd, START, s, -E2BIG, nsegs = ~0u);
	REFUSED(fd, START, s, -EFAULT, seg[0].addr = 0);
	REFUSED(fd, START, s, -EFAULT, seg[0].addr = (uintptr_t)nowhere);
	REFUSED(fd, START, s, -EFAULT, seg[0].addr = (uintptr_t)edge - 999);
	REFUSED(fd, START, s, -EFAULT, seg[0].addr = 0xffff888000000000ull);
	if (d->word[r.id].over != before || d->word[r.id].free != before)
		complain("START: what was refused shows in the word");
	s.seg[0] = (struct espgoal_seg){ 0 };
	s.nsegs = 3;
	s.segs = (uintptr_t)nowhere;
	refused(fd, ESPGOAL_START, &s, sizeof(s), -EFAULT, "START: segs at no page");
	s.segs = (uintptr_t)many;
	many[2].len = 998;
	refused(fd, ESPGOAL_START, &s, sizeof(s), -EINVAL, "START: segs too short");
	many[2].len = 999;
	many[1].len = ~0ull;
	refused(fd, ESPGOAL_START, &s, sizeof(s), -EINVAL, "START: segs that wrap around");
	many[1].len = 0;
	want(request(fd, ESPGOAL_START, &s), 0, "START");
	w.run = r.id;
	w.seen = before;
	w.timeout = ESPGOAL_EVER;
	want(request(fd, ESPGOAL_WAIT, &w), 0, "WAIT");
	out = (const uint8_t *)d->map + r.off[1];
	if (d->word[r.id].over != before + 1 || d->word[r.id].status || memcmp(out, data, 1000))
		complain("START: the run's result is wrong, status %d", d->word[r.id].status);
	while (peek(&d->word[r.id].free) != before + 1)
		usleep(1000);
	want(request(fd, ESPGOAL_START, &s), -EEXIST, "START under a name that was used");
	w.seen = before + 1;
	w.timeout = 0;
	want(request(fd, ESPGOAL_WAIT, &w), -ETIMEDOUT, "WAIT that only looks");
	w.timeout = 1000000;
	want(request(fd, ESPGOAL_WAIT, &w), -ETIMEDOUT, "WAIT of 1 ms");
	REFUSED(fd, WAIT, w, -ENOENT, run = r.id + 1);
	REFUSED(fd, WAIT, w, -EINVAL, flags = 2);
	REFUSED(fd, WAIT, w, -EINVAL, flags = 1u << 31);
	REFUSED(fd, WAIT, w, -EINVAL, reserved = 1);
	waits_until(fd, &w);
	id = (struct espgoal_id){ .id = r.id };
	REFUSED(fd, CANCEL, id, -ENOENT, id = ~1u);
	REFUSED(fd, CANCEL, id, -EINVAL, reserved = 1);
	/* A member that cannot start says so, and its run is over. */
	s = (struct espgoal_start){ .run = r.id, .group = group, .op_id = 2 };
	s.flags = ESPGOAL_START_FAILED;
	want(request(fd, ESPGOAL_START, &s), 0, "START of a failed run");
	w.timeout = ESPGOAL_EVER;
	want(request(fd, ESPGOAL_WAIT, &w), 0, "WAIT for a failed run");
	want(d->word[r.id].status, -ECANCELED, "status of a failed run");
	before++;
	/* With nothing under way there is nothing to cancel, and nothing happens. */
	want(request(fd, ESPGOAL_CANCEL, &id), 0, "CANCEL of an idle run");
	if (d->word[r.id].over != before + 1 || d->word[r.id].status != -ECANCELED)
		complain("CANCEL of an idle run shows in its word");
	want(request(fd, ESPGOAL_RUN_FREE, &id), 0, "RUN_FREE");
}

/* A schedule of another rank, and of another number of ranks, than the group's. */
static void misfits(struct device *d, uint32_t group)
{
	uint32_t i;

	for (i = 0; i < 2; i++) {
		struct espgoal_load l = { .flags = 0 };
		struct espgoal_run r = { .flags = 0 };
		struct espgoal_start s = { .group = group, .op_id = 50 + i };
		struct goal_schedule *sched;
		struct goal_graph *g;
		struct espgoal_id id;
		size_t bytes;

		if (goal_graph_create(i, 2, &g) || goal_nop(g) < 0 || goal_compile(g, &sched, NULL))
			die("no schedule");
		l.data = (uintptr_t)goal_schedule_data(sched, &bytes);
		l.bytes = bytes;
		want(request(d->fd, ESPGOAL_LOAD, &l), 0, "LOAD of a schedule for two");
		r.sched = l.id;
		want(request(d->fd, ESPGOAL_RUN, &r), 0, "RUN of a schedule for two");
		s.run = r.id;
		want(request(d->fd, ESPGOAL_START, &s), -EINVAL,
		     "START of a schedule for two in a group of one");
		id = (struct espgoal_id){ .id = l.id };
		want(request(d->fd, ESPGOAL_UNLOAD, &id), 0, "UNLOAD with its run object");
		goal_schedule_free(sched);
		goal_graph_free(g);
	}
}

/* A receive that nothing will ever meet: cancelled, failed, timed out, and busy meanwhile. */
static void active(struct device *d, uint32_t group)
{
	struct espgoal_load l = { .buf = { ESPGOAL_BUF_OUT } };
	struct espgoal_run r = { .flags = 0 };
	struct espgoal_start s = { .group = group, .op_id = 60 };
	struct espgoal_wait w = { .timeout = ESPGOAL_EVER };
	struct espgoal_fail f = { .group = group, .status = -ECANCELED, .rank = ESPGOAL_NONE };
	struct espgoal_id run, sched, grp = { .id = group };
	struct goal_schedule *c;
	struct goal_graph *g;
	size_t bytes;
	int fd = d->fd;

	if (goal_graph_create(0, 1, &g) || goal_recv(g, 0, 0, 64, 0, 0) < 0 ||
	    goal_compile(g, &c, NULL))
		die("no schedule");
	l.data = (uintptr_t)goal_schedule_data(c, &bytes);
	l.bytes = bytes;
	want(request(fd, ESPGOAL_LOAD, &l), 0, "LOAD of a receive");
	r.sched = sched.id = l.id;
	sched.reserved = run.reserved = 0;
	want(request(fd, ESPGOAL_RUN, &r), 0, "RUN of a receive");
	s.run = w.run = run.id = r.id;
	w.seen = d->word[r.id].over;
	s.flags = ESPGOAL_START_WAIT;
	s.timeout = 2000000;
	want(request(fd, ESPGOAL_START, &s), 0, "START with a wait that times out");
	if (d->word[r.id].over != w.seen)
		complain("a receive that nothing meets is over");
	s.start = 1;
	want(request(fd, ESPGOAL_START, &s), -EBUSY, "START of an active run");
	want(request(fd, ESPGOAL_RUN_FREE, &run), -EBUSY, "RUN_FREE of an active run");
	want(request(fd, ESPGOAL_UNLOAD, &sched), -EBUSY, "UNLOAD with an active run");
	want(request(fd, ESPGOAL_GROUP_FREE, &grp), -EBUSY, "GROUP_FREE with an active run");
	want(request(fd, ESPGOAL_CANCEL, &run), 0, "CANCEL");
	want(request(fd, ESPGOAL_WAIT, &w), 0, "WAIT for what was cancelled");
	want(d->word[r.id].status, -ECANCELED, "status of what was cancelled");
	REFUSED(fd, FAIL, f, -EINVAL, status = 0);
	REFUSED(fd, FAIL, f, -EINVAL, status = 1);
	REFUSED(fd, FAIL, f, -EINVAL, status = -EPERM);
	REFUSED(fd, FAIL, f, -EINVAL, rank = 1);
	REFUSED(fd, FAIL, f, -EINVAL, reserved = 1);
	REFUSED(fd, FAIL, f, -ENOENT, group = ~0u);
	s.start = 2;
	s.flags = 0;
	s.timeout = 0;
	w.seen = d->word[r.id].over;
	while (peek(&d->word[r.id].free) != w.seen)
		usleep(1000);
	want(request(fd, ESPGOAL_START, &s), 0, "START again");
	f.status = -EHOSTUNREACH;
	want(request(fd, ESPGOAL_FAIL, &f), 0, "FAIL");
	want(request(fd, ESPGOAL_WAIT, &w), 0, "WAIT for what failed");
	want(d->word[r.id].status, -EHOSTUNREACH, "status of what failed");
	s.start = 3;
	w.seen = d->word[r.id].over;
	while (peek(&d->word[r.id].free) != w.seen)
		usleep(1000);
	want(request(fd, ESPGOAL_START, &s), 0, "START in a group that has failed");
	want(request(fd, ESPGOAL_WAIT, &w), 0, "WAIT for a run that failed from the start");
	want(d->word[r.id].status, -EHOSTUNREACH, "status of a run that failed from the start");
	want(request(fd, ESPGOAL_UNLOAD, &sched), 0, "UNLOAD");
	want(request(fd, ESPGOAL_GROUP_FREE, &grp), 0, "GROUP_FREE");
	goal_schedule_free(c);
	goal_graph_free(g);
}

static void looks(struct device *d)
{
	uint64_t value[4];
	struct espgoal_counters c = { .set = ESPGOAL_SET_NODE, .n = 4, .value = (uintptr_t)value };
	struct espgoal_counter_name n = { .set = ESPGOAL_SET_NODE };
	struct espgoal_rail r = { .path = 0 };
	struct espgoal_flow f = { .cursor = 0 };
	struct espgoal_info info;
	int fd = d->fd, rc;

	request(fd, ESPGOAL_INFO, &info);
	REFUSED(fd, COUNT, c, -EINVAL, set = ESPGOAL_SETS);
	REFUSED(fd, COUNT, c, -EINVAL, set = ~0u);
	REFUSED(fd, COUNT, c, -ENOENT, set = ESPGOAL_SET_FLOW);
	REFUSED(fd, COUNT, c, -EINVAL, flow = 1);
	REFUSED(fd, COUNT, c, -EINVAL, flags = 1);
	REFUSED(fd, COUNT, c, -EINVAL, reserved = 1);
	REFUSED(fd, COUNT, c, -EFAULT, value = 0);
	REFUSED(fd, COUNT, c, -EFAULT, value = (uintptr_t)nowhere);
	REFUSED(fd, COUNT, c, -EFAULT, value = (uintptr_t)edge - 8);
	want(request(fd, ESPGOAL_COUNT, &c), 0, "COUNT");
	want((int)c.n, (int)info.node_counters, "COUNT says how many there are");
	c.n = 0;
	c.value = 0;
	want(request(fd, ESPGOAL_COUNT, &c), 0, "COUNT of none");
	for (rc = 0; !rc && n.index < 1000; n.index++) {
		rc = request(fd, ESPGOAL_COUNTER_NAME, &n);
		if (!rc && (!n.name[0] || !memchr(n.name, 0, sizeof(n.name))))
			complain("counter %u has no name", n.index);
		memset(n.name, 0, sizeof(n.name));
	}
	want(rc, -ERANGE, "COUNTER_NAME behind the last one");
	want((int)n.index - 1, (int)info.node_counters, "counters with names");
	REFUSED(fd, COUNTER_NAME, n, -EINVAL, set = 9);
	for (r.path = 0; r.path < ESPGOAL_RAILS; r.path++)
		want(request(fd, ESPGOAL_RAIL, &r), 0, "RAIL");
	r.path = ESPGOAL_RAILS;
	want(request(fd, ESPGOAL_RAIL, &r), -ERANGE, "RAIL behind the last one");
	r.path = ~0u;
	want(request(fd, ESPGOAL_RAIL, &r), -ERANGE, "RAIL far behind the last one");
	REFUSED(fd, FLOW, f, -EINVAL, reserved = 1);
	REFUSED(fd, FLOW, f, -EINVAL, path[ESPGOAL_RAILS - 1].reserved = 1);
	f.cursor = ~0ull;
	rc = request(fd, ESPGOAL_FLOW, &f);
	want(rc == -ERANGE || !rc, 1, "FLOW at a cursor of our own");
}

static void reading(struct device *d)
{
	struct pollfd p = { .fd = d->fd, .events = POLLIN };
	char buffer[16];

	fcntl(d->fd, F_SETFL, O_NONBLOCK);
	while (read(d->fd, buffer, 8) == 8)
		;
	want(-errno, -EAGAIN, "read when nothing is over");
	want(poll(&p, 1, 0), 0, "poll when nothing is over");
	want(read(d->fd, buffer, 7) < 0 ? -errno : 0, -EINVAL, "read of 7 bytes");
	want(read(d->fd, NULL, 0) < 0 ? -errno : 0, -EINVAL, "read of no byte");
	fcntl(d->fd, F_SETFL, 0);
}

/* A descriptor that is watched before it becomes an endpoint wakes who watches it when a run is over. */
static void watched_early(void)
{
	struct epoll_event event = { .events = EPOLLIN };
	struct goal_schedule *c = schedule_of(8);
	struct espgoal_load l = { .buf = { ESPGOAL_BUF_IN, ESPGOAL_BUF_OUT } };
	struct espgoal_start s = { .nsegs = 1, .seg = { { (uintptr_t) "12345678", 8 } } };
	struct device d = { .fd = open(ESPGOAL_PATH, O_RDWR | O_CLOEXEC) };
	int watch = epoll_create1(EPOLL_CLOEXEC);
	struct espgoal_run r = { .flags = 0 };
	struct espgoal_peer peer;
	struct espgoal_rank entry;
	struct team t;
	size_t bytes;

	if (d.fd < 0 || watch < 0 || epoll_ctl(watch, EPOLL_CTL_ADD, d.fd, &event))
		die("cannot watch a descriptor: %s", strerror(errno));
	want(epoll_wait(watch, &event, 1, 0), 0, "epoll before OPEN has nothing to tell");
	want(request(d.fd, ESPGOAL_OPEN, &d.open), 0, "OPEN of what is watched");
	want(epoll_wait(watch, &event, 1, 0), 0, "epoll after OPEN has nothing to tell");
	t = alone(&d, &peer, &entry);
	l.data = (uintptr_t)goal_schedule_data(c, &bytes);
	l.bytes = bytes;
	if (team_group(&t, &d, 4321, false, &s.group) || request(d.fd, ESPGOAL_LOAD, &l))
		die("no group or no schedule");
	r.sched = l.id;
	want(request(d.fd, ESPGOAL_RUN, &r), 0, "RUN of what is watched");
	s.run = r.id;
	want(request(d.fd, ESPGOAL_START, &s), 0, "START of what is watched");
	want(epoll_wait(watch, &event, 1, 5000), 1, "epoll of a run that is over");
	want((int)event.events, EPOLLIN, "epoll says that there is something to read");
	close(d.fd);
	close(watch);
	goal_schedule_free(c);
}

/* A child that has inherited the descriptor. */
static void forked(struct device *d)
{
	struct espgoal_counters c = { .set = ESPGOAL_SET_ENDPOINT };
	char zeros[1024] = { 0 };
	unsigned int i;
	int status;

	fflush(stdout);
	if (!fork()) {
		complaints = 0;
		/* From GROUP to FAIL: those that need an endpoint. */
		for (i = 2; i < 12; i++)
			want(request(d->fd, codes[i], zeros), -ECHILD, "request of a child");
		want(request(d->fd, ESPGOAL_OPEN, zeros), -EEXIST, "OPEN of a child");
		want(request(d->fd, ESPGOAL_COUNT, &c), -ECHILD, "COUNT of a child");
		want(request(d->fd, ESPGOAL_CLOSE, NULL), -ECHILD, "CLOSE of a child");
		want(read(d->fd, zeros, 8) < 0 ? -errno : 0, -ECHILD, "read of a child");
		if (mmap(NULL, 4096, PROT_READ, MAP_SHARED, d->fd, 0) != MAP_FAILED)
			complain("mmap of a child succeeds");
		_exit(complaints != 0);
	}
	wait(&status);
	checks++;
	if (status)
		complain("a child can use its parent's endpoint");
}

static void closed(struct device *d)
{
	char zeros[1024] = { 0 };
	struct pollfd p = { .fd = d->fd, .events = POLLIN };
	unsigned int i;

	want(request(d->fd, ESPGOAL_CLOSE, NULL), 0, "CLOSE");
	want(request(d->fd, ESPGOAL_CLOSE, NULL), -ESHUTDOWN, "CLOSE again");
	for (i = 2; i < 12; i++)
		want(request(d->fd, codes[i], zeros), -ESHUTDOWN, "request after CLOSE");
	want(poll(&p, 1, 0) == 1 && p.revents & POLLERR, 1, "poll after CLOSE says POLLERR");
	if (!d->head->ended)
		complain("head.ended is 0 after CLOSE");
}

int main(void)
{
	struct espgoal_peer peer;
	struct espgoal_rank entry;
	struct device d;
	struct team t;
	uint32_t sched, group;

	pages();
	before_open();
	opening();
	device_open(&d, 64, 65536);
	bad_pointers(d.fd);
	unknown_requests(d.fd);
	mapping(&d);
	groups(&d);
	sched = schedules(&d);
	too_large(&d);
	runs(&d, sched);
	t = alone(&d, &peer, &entry);
	if (team_group(&t, &d, 1234, false, &group))
		die("no group");
	starts(&d, sched, group);
	misfits(&d, group);
	looks(&d);
	reading(&d);
	watched_early();
	active(&d, group);
	forked(&d);
	closed(&d);
	device_close(&d, false);
	printf("%s: %d checks, %d complaints\n", complaints ? "FAIL" : "PASS", checks, complaints);
	return complaints != 0;
}
