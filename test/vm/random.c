// SPDX-License-Identifier: BSD-3-Clause
/*
 * Requests at random, from several processes and threads at once:
 *
 *	random SECONDS [SEED]
 *
 * Arguments are right ones with one to three fields replaced by numbers that tend to be wrong, or noise from
 * one end to the other; descriptors are endpoints, closed ones, those of a parent. Another thread changes
 * arguments while the kernel reads them, and maps and unmaps. Whatever is answered is right: the kernel
 * must live, and what test/vm/check finds on its console decides. Processes are killed now and then.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <goal/collectives.h>

#include "device.h"

#define PROCESSES 3
#define FDS       4
#define LEAST     20 /* requests that the kernel must take, or nothing much was tried */

static const unsigned long codes[] = {
	ESPGOAL_INFO,         ESPGOAL_OPEN,   ESPGOAL_OPEN,       ESPGOAL_GROUP, ESPGOAL_LOAD,
	ESPGOAL_RUN,          ESPGOAL_START,  ESPGOAL_START,      ESPGOAL_WAIT,  ESPGOAL_CANCEL,
	ESPGOAL_RUN_FREE,     ESPGOAL_UNLOAD, ESPGOAL_GROUP_FREE, ESPGOAL_FAIL,  ESPGOAL_COUNT,
	ESPGOAL_COUNTER_NAME, ESPGOAL_RAIL,   ESPGOAL_FLOW,       ESPGOAL_CLOSE,
};
#define NCODES (sizeof(codes) / sizeof(*codes))

/* What a process has under way. The argument is shared with its other thread. */
static struct place {
	int fd;
	struct espgoal_open open;
	uint32_t group, sched, run, starts;
} place[FDS];
static union {
	uint8_t byte[1024];
	uint32_t word[256];
	uint64_t quad[128];
	struct espgoal_open open;
	struct espgoal_group group;
	struct espgoal_load load;
	struct espgoal_run run;
	struct espgoal_start start;
	struct espgoal_wait wait;
	struct espgoal_id id;
	struct espgoal_fail fail;
	struct espgoal_counters counters;
	struct espgoal_counter_name name;
	struct espgoal_rail rail;
} arg;
static struct espgoal_rank rank[4];
static struct espgoal_peer peer[4];
static struct espgoal_seg segs[8];
static uint8_t data[8192];
static uint8_t sched[8192];
static size_t sched_bytes;
/* Of all processes, since one that was killed or born late says little by itself. */
struct total {
	uint64_t done, answered_0;
};
static struct total *all;

static void make_schedule(struct dice *d)
{
	struct goal_schedule *s;
	struct goal_graph *g;
	uint32_t i;

	if (goal_graph_create(0, 1 + below(d, 2), &g))
		die("no graph");
	for (i = below(d, 5); i < 6; i++) {
		int64_t op = 0;

		switch (below(d, 4)) {
		case 0:
			op = goal_copy(g, 1, 64 * i, 0, 0, below(d, 64));
			break;
		case 1:
			op = goal_send(g, 0, 0, below(d, 2048), 0, below(d, 2));
			break;
		case 2:
			op = goal_recv(g, 1, 0, below(d, 2048), 0, below(d, 2));
			break;
		default:
			op = goal_reduce(g, 1, 0, 0, 0, below(d, 100), GOAL_TYPE_DOUBLE,
					 GOAL_ROP_SUM);
			break;
		}
		if (op > 0 && below(d, 2))
			goal_requires(g, op, op - 1);
	}
	if (!goal_compile(g, &s, NULL)) {
		const void *bytes = goal_schedule_data(s, &sched_bytes);

		if (sched_bytes > sizeof(sched))
			sched_bytes = sizeof(sched);
		memcpy(sched, bytes, sched_bytes);
		goal_schedule_free(s);
	}
	goal_graph_free(g);
	if (!below(d, 3))
		sched[below(d, (uint32_t)sched_bytes)] ^= 1u << below(d, 8);
}

/* An argument that could be right. */
static void plausible(struct dice *d, unsigned long code, struct place *p)
{
	memset(&arg, 0, sizeof(arg));
	switch (code) {
	case ESPGOAL_OPEN:
		arg.open.runs = below(d, 64);
		arg.open.area = below(d, 100000);
		break;
	case ESPGOAL_GROUP:
		memcpy(peer[0].node, p->open.node, sizeof(peer[0].node));
		memcpy(peer[0].link, p->open.link, sizeof(peer[0].link));
		rank[0].cookie = p->open.cookie;
		rank[1].cookie = place[below(d, FDS)].open.cookie;
		arg.group.nonce = 1 + below(d, 20);
		arg.group.nranks = 1 + below(d, 2);
		arg.group.npeers = 1;
		arg.group.ranks = (uintptr_t)rank;
		arg.group.peers = (uintptr_t)peer;
		break;
	case ESPGOAL_LOAD:
		make_schedule(d);
		arg.load.data = (uintptr_t)sched;
		arg.load.bytes = sched_bytes;
		arg.load.buf[0] = (uint8_t)below(d, 4);
		arg.load.buf[1] = (uint8_t)below(d, 4);
		break;
	case ESPGOAL_RUN:
		arg.run.sched = p->sched;
		break;
	case ESPGOAL_START:
		arg.start.run = p->run;
		arg.start.group = p->group;
		arg.start.op_id = below(d, 4);
		arg.start.start = below(d, 8) ? p->starts++ : below(d, 100);
		arg.start.nsegs = 1;
		arg.start.seg[0] = (struct espgoal_seg){ (uintptr_t)data, below(d, sizeof(data)) };
		if (below(d, 2)) {
			arg.start.flags = ESPGOAL_START_WAIT;
			arg.start.timeout = below(d, 3000000);
		}
		if (!below(d, 4)) {
			arg.start.nsegs = 3 + below(d, 5);
			arg.start.segs = (uintptr_t)segs;
			arg.start.seg[0] = (struct espgoal_seg){ 0 };
		}
		break;
	case ESPGOAL_WAIT:
		arg.wait.run = below(d, 2) ? p->run : ESPGOAL_NONE;
		arg.wait.seen = below(d, 50);
		arg.wait.timeout = below(d, 3000000);
		if (below(d, 2)) {
			arg.wait.flags = ESPGOAL_WAIT_UNTIL;
			arg.wait.timeout += (uint64_t)(now() * 1e9);
		}
		break;
	case ESPGOAL_FAIL:
		arg.fail.group = p->group;
		arg.fail.status = -ECANCELED;
		break;
	case ESPGOAL_COUNT:
		arg.counters.set = below(d, ESPGOAL_SETS);
		arg.counters.n = below(d, 1024);
		arg.counters.value = (uintptr_t)data;
		break;
	case ESPGOAL_COUNTER_NAME:
		arg.name.set = below(d, ESPGOAL_SETS);
		arg.name.index = below(d, 300);
		break;
	case ESPGOAL_RAIL:
		arg.rail.path = below(d, 5);
		break;
	case ESPGOAL_UNLOAD:
		arg.id.id = p->sched;
		break;
	case ESPGOAL_GROUP_FREE:
		arg.id.id = p->group;
		break;
	default:
		arg.id.id = p->run;
		break;
	}
}

static uint64_t odd(struct dice *d)
{
	static const uint64_t bits[] = { 0,
					 1,
					 7,
					 8,
					 63,
					 4095,
					 4096,
					 0x7fffffff,
					 0x80000000,
					 ~0u,
					 1ull << 32,
					 1ull << 63,
					 ~0ull,
					 ~7ull,
					 0xffff888000000000ull,
					 0x7ffffffff000ull };

	return below(d, 3) ? bits[below(d, 16)] : roll(d) >> below(d, 64);
}

static void spoil(struct dice *d, size_t bytes)
{
	uint32_t n = below(d, 4);

	if (!below(d, 40)) {
		for (n = 0; n < bytes / 8; n++)
			arg.quad[n] = odd(d);
		return;
	}
	while (n--) {
		if (below(d, 2))
			arg.word[below(d, (uint32_t)(bytes / 4 + 1))] = (uint32_t)odd(d);
		else
			arg.quad[below(d, (uint32_t)(bytes / 8 + 1))] = odd(d);
	}
}

static void note(struct place *p, unsigned long code)
{
	switch (code) {
	case ESPGOAL_OPEN:
		p->open = arg.open;
		break;
	case ESPGOAL_GROUP:
		p->group = arg.group.id;
		break;
	case ESPGOAL_LOAD:
		p->sched = arg.load.id;
		break;
	case ESPGOAL_RUN:
		p->run = arg.run.id;
		break;
	default:
		break;
	}
}

static void count(uint64_t *what)
{
	__atomic_fetch_add(what, 1, __ATOMIC_RELAXED);
}

static void other_calls(struct dice *d, struct place *p)
{
	void *m;

	switch (below(d, 6)) {
	case 0:
		m = mmap(NULL, 4096 * (1 + below(d, 40)), below(d, 8),
			 below(d, 2) ? MAP_SHARED : MAP_PRIVATE, p->fd, 4096 * (off_t)below(d, 3));
		if (m != MAP_FAILED) {
			data[0] = *(volatile uint8_t *)m;
			mprotect(m, 4096, PROT_READ | PROT_WRITE);
			munmap(m, 4096 * (1 + below(d, 40)));
		}
		break;
	case 1:
		if (read(p->fd, data, below(d, 16)) < 0)
			count(&all->done);
		break;
	case 2:
		close(p->fd);
		p->fd = open(ESPGOAL_PATH, O_RDWR | O_CLOEXEC | O_NONBLOCK);
		break;
	case 3: {
		int copy = dup(p->fd);

		close(copy);
		break;
	}
	case 4:
		if (!fork()) {
			request(p->fd, codes[below(d, NCODES)], &arg);
			_exit(0);
		}
		break;
	default:
		memset(segs, 0, sizeof(segs));
		segs[below(d, 8)] = (struct espgoal_seg){ (uintptr_t)data, below(d, sizeof(data)) };
		break;
	}
	while (waitpid(-1, NULL, WNOHANG) > 0)
		;
}

/* Changes under the kernel's eyes what it reads. */
static void *meddle(void *seed)
{
	struct dice d = { .state = (uintptr_t)seed };

	for (;;) {
		uint32_t i = below(&d, 128), old = (uint32_t)arg.quad[i];

		*(volatile uint64_t *)&arg.quad[i] = odd(&d);
		*(volatile uint64_t *)&arg.quad[i] = old;
		*(volatile uint8_t *)&sched[below(&d, sizeof(sched))] ^= 1u << below(&d, 8);
		usleep(50);
	}
	return NULL;
}

static void wake(int sig)
{
	(void)sig;
}

static void member(double end, uint64_t seed)
{
	struct sigaction sa = { .sa_handler = wake };
	struct itimerval often = { .it_interval.tv_usec = 20000, .it_value.tv_usec = 20000 };
	struct dice d = { .state = seed };
	pthread_t thread;
	uint32_t i;

	/* Waits without an end end by these. */
	sigaction(SIGALRM, &sa, NULL);
	setitimer(ITIMER_REAL, &often, NULL);
	for (i = 0; i < FDS; i++)
		place[i].fd = open(ESPGOAL_PATH, O_RDWR | O_CLOEXEC | O_NONBLOCK);
	if (below(&d, 2))
		pthread_create(&thread, NULL, meddle, (void *)(uintptr_t)(seed + 1));
	while (now() < end) {
		struct place *p = &place[below(&d, FDS)];
		unsigned long code = codes[below(&d, NCODES)];

		if (code == ESPGOAL_CLOSE && below(&d, 8))
			continue;
		if (!below(&d, 20)) {
			other_calls(&d, p);
			continue;
		}
		plausible(&d, code, p);
		if (below(&d, 3))
			spoil(&d, _IOC_SIZE(code));
		if (!below(&d, 50))
			code ^= 1ul << below(&d, 32);
		count(&all->done);
		if (!request(p->fd, code,
			     below(&d, 100) ? (void *)&arg : (void *)(uintptr_t)odd(&d))) {
			count(&all->answered_0);
			note(p, code);
		}
	}
	_exit(0);
}

int main(int argc, char **argv)
{
	double end = now() + (argc > 1 ? atof(argv[1]) : 10) * times_as_often();
	struct dice d = { .state = argc > 2 ? strtoull(argv[2], NULL, 0) : 1 };
	pid_t pid[PROCESSES];
	uint32_t i;
	int status;

	all = mmap(NULL, sizeof(*all), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (all == MAP_FAILED)
		die("no memory: %s", strerror(errno));
	for (i = 0; i < PROCESSES; i++)
		pid[i] = -1;
	while (now() < end - 1) {
		i = below(&d, PROCESSES);
		if (pid[i] > 0) {
			/* Now and then one dies where it stands, and another takes its place. */
			kill(pid[i], SIGKILL);
			waitpid(pid[i], NULL, 0);
		}
		fflush(stdout);
		pid[i] = fork();
		if (!pid[i])
			member(end, roll(&d));
		roll(&d);
		usleep(300000 + below(&d, 1500000));
	}
	for (i = 0; i < PROCESSES; i++) {
		if (pid[i] < 0)
			continue;
		for (double late = now() + 20; !waitpid(pid[i], &status, WNOHANG); usleep(10000))
			if (now() > late)
				die("process %d does not end", pid[i]);
		if (WIFEXITED(status) && WEXITSTATUS(status))
			complain("process %d ended with %d", pid[i], WEXITSTATUS(status));
	}
	printf("%llu requests, %llu answered 0\n", (unsigned long long)all->done,
	       (unsigned long long)all->answered_0);
	if (all->answered_0 < LEAST)
		complain("fewer than %d requests were taken", LEAST);
	printf("%s\n", complaints ? "FAIL" : "PASS");
	return complaints != 0;
}
