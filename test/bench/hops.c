/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the kernel engine costs without MPI, by the module's ABI: two ranks, one on each of two nodes,
 *
 *	hops [-n RUNS] [-h HOPS | -s] FOLDER RANK
 *
 * They meet in FOLDER. A run is a message without bytes, as a barrier's are, that goes to and fro HOPS
 * times from interrupt to interrupt while both ranks sleep; rank 0 prints HOP and the nanoseconds of a hop
 * for each run but the first. With -s a run is a barrier that is started and not waited for; rank 0 prints
 * START and the ticks of the time stamp counter from before the system call until the frame is handed to
 * the device, for each run; rank 1 starts later each time. That takes goal_echo.ko (test/vm/echo).
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <goal/collectives.h>

#include "test/vm/device.h"

#define HANDED "/sys/kernel/debug/goal_echo/handed"
#define LATER  2000 /* microseconds */

static uint32_t runs = 10, hops = 1000, rank;
static bool starts;

static uint64_t ticks(void)
{
#ifdef __x86_64__
	return __builtin_ia32_rdtsc();
#else
	die("there is no time stamp counter that this program knows");
#endif
}

static int chain(struct goal_graph **graph)
{
	int64_t last = -1, op;
	uint32_t i;
	int rc = goal_graph_create(rank, 2, graph);

	for (i = 0; i < hops && !rc; i++) {
		if (i % 2 == rank) {
			op = goal_send(*graph, GOAL_BUF_SEND, 0, 0, 1 - rank, 0);
			rc = op < 0 ? (int)op : last < 0 ? 0 : goal_requires(*graph, op, last);
		} else {
			last = goal_recv(*graph, GOAL_BUF_RECV, 0, 0, 1 - rank, 0);
			rc = last < 0 ? (int)last : 0;
		}
	}
	return rc;
}

/* Load what is to run, and make its run object; its id. */
static uint32_t load(struct device *d)
{
	struct goal_comm comm = { .rank = rank, .size = 2 };
	struct espgoal_load load = { .flags = 0 };
	struct espgoal_run run = { .flags = 0 };
	struct goal_schedule *schedule;
	struct goal_graph *graph;
	size_t bytes;
	int rc = starts ? goal_barrier(&comm, GOAL_ALG_AUTO, &graph) : chain(&graph);

	if (rc < 0 || (rc = goal_compile(graph, &schedule, NULL)))
		die("no schedule: %s", strerror(-rc));
	load.data = (uintptr_t)goal_schedule_data(schedule, &bytes);
	load.bytes = bytes;
	rc = request(d->fd, ESPGOAL_LOAD, &load);
	if (rc)
		die("ESPGOAL_LOAD: %s", strerror(-rc));
	goal_schedule_free(schedule);
	goal_graph_free(graph);
	run.sched = load.id;
	rc = request(d->fd, ESPGOAL_RUN, &run);
	if (rc)
		die("ESPGOAL_RUN: %s", strerror(-rc));
	return run.id;
}

/* Until the run object can be started again. */
static void until_free(const struct espgoal_word *w, uint32_t n)
{
	double end = now() + 60;

	while (peek(&w->over) != n || peek(&w->free) != n) {
		if (now() > end)
			die("run %u does not end", n);
		usleep(100);
	}
	if (w->status)
		die("run %u: %s", n, strerror(-w->status));
}

static void start(struct device *d, struct espgoal_start *s)
{
	int rc = request(d->fd, ESPGOAL_START, s);

	if (rc)
		die("ESPGOAL_START: %s", strerror(-rc));
}

static void time_hops(struct device *d, struct espgoal_start *s)
{
	double begin = now();

	s->flags = ESPGOAL_START_WAIT;
	s->timeout = 60000000000ull;
	start(d, s);
	if (rank == 0 && s->start)
		printf("HOP %.0f\n", 1e9 * (now() - begin) / hops);
}

static void time_start(struct device *d, struct espgoal_start *s, int fd)
{
	char text[32] = "";
	uint64_t before, handed;

	/* Rank 0 starts first: else it depends on chance whether its starts take in a message, too. */
	if (rank)
		usleep(LATER);
	if (write(fd, "1", 1) != 1)
		die("%s: %s", HANDED, strerror(errno));
	before = ticks();
	start(d, s);
	if (pread(fd, text, sizeof(text) - 1, 0) <= 0)
		die("%s: %s", HANDED, strerror(errno));
	handed = strtoull(text, NULL, 10);
	if (!handed)
		die("the start has sent no frame");
	if (rank == 0)
		printf("START %llu\n", (unsigned long long)(handed - before));
}

int main(int argc, char **argv)
{
	struct espgoal_start s = { .op_id = 1 };
	const struct espgoal_word *w;
	struct device d;
	struct team t;
	int opt, rc, fd = -1;

	while ((opt = getopt(argc, argv, "n:h:s")) != -1) {
		if (opt == 'n')
			runs = (uint32_t)atoi(optarg);
		else if (opt == 'h')
			hops = (uint32_t)atoi(optarg);
		else if (opt == 's')
			starts = true;
		else
			return 2;
	}
	if (argc - optind != 2 || hops < 2)
		return 2;
	rank = (uint32_t)atoi(argv[optind + 1]);
	if (rank > 1)
		return 2;
	if (starts) {
		fd = open(HANDED, O_RDWR);
		if (fd < 0)
			die("%s: %s", HANDED, strerror(errno));
	}
	/* Who watches sees the first line when traffic is under way. */
	setvbuf(stdout, NULL, _IOLBF, 0);
	device_open(&d, 0, 0);
	team_meet(&t, &d, argv[optind], rank, 2);
	rc = team_group(&t, &d, 0x686f7073, false, &s.group);
	if (rc)
		die("ESPGOAL_GROUP: %s", strerror(-rc));
	s.run = load(&d);
	w = &d.word[s.run];
	for (s.start = 0; s.start < runs; s.start++) {
		if (starts)
			time_start(&d, &s, fd);
		else
			time_hops(&d, &s);
		until_free(w, s.start + 1);
	}
	device_close(&d, true);
	team_free(&t);
	return 0;
}
