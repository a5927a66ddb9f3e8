// SPDX-License-Identifier: BSD-3-Clause
/*
 * Collectives of random shapes over the device, several under way at a time, every result compared:
 *
 *	collectives [-t SECONDS] [-s SEED] [-c] [-m BYTES] [-o OUTSTANDING] [-ev] FOLDER SIZE FIRST LOCAL
 *
 * makes ranks FIRST .. FIRST + LOCAL - 1 of a job of SIZE ranks that meet in FOLDER; test/vm/check starts
 * one on each node. -t: for how long (5); -c: groups are given back and made anew all the
 * time; -m: blocks of up to so many bytes; -o: runs under way at a time; -e: runs may fail (peers are
 * killed, cables pulled for long), then it says how and ends with 3; -v: the first rank shows the node's
 * counters and flows at the end. All ranks need the same options. Each rank makes a file under_way.RANK in
 * FOLDER when the first runs are over.
 */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "shape.h"

#define SHAPES 24
#define MOST   8  /* outstanding */
#define HANG   90 /* seconds until a run counts as one that never ends */

static double seconds = 5;
static uint64_t seed = 1, most;
static uint32_t outstanding = 4;
static bool churn, may_fail, show;

struct job {
	struct device d;
	struct team t;
	struct dice all, own; /* all: the same at every rank */
	struct shape shape[SHAPES], stop;
	uint32_t group, groups; /* how many there were */
	bool reversed;
	uint32_t runs, failed;
};

/* How many of this node's ranks have come to each barrier: nobody may leave before all have. */
static uint32_t *arrived;
#define ARRIVED 4096

static void ended(struct job *j, const struct shape *s, const struct object *o)
{
	const struct espgoal_word *w = &j->d.word[o->id];

	if (may_fail) {
		printf("ENDED rank %u: %s, peer %d\n", j->t.rank, strerror(-w->status),
		       (int)w->peer);
		fflush(stdout);
		_exit(3);
	}
	device_dump(&j->d);
	die("%s, start %u: %s, peer %d", shape_name(s), o->start, strerror(-w->status),
	    (int)w->peer);
}

static void wait_over(struct job *j, const struct shape *s, const struct object *o)
{
	struct espgoal_wait w = { .run = o->id, .timeout = 2000000000ull };
	struct pollfd p = { .fd = j->d.fd, .events = POLLIN };
	double end = now() + HANG;
	uint32_t how = below(&j->own, 3);
	uint64_t n;
	int rc = 0;

	while (!shape_over(s, &j->d, o)) {
		if (now() > end) {
			printf("rank %u waits for %s, start %u, rc %d, over %u free %u\n",
			       j->t.rank, shape_name(s), o->start, rc, peek(&j->d.word[o->id].over),
			       peek(&j->d.word[o->id].free));
			device_dump(&j->d);
			die("no end within %d s", HANG);
		}
		switch (how) {
		case 0:
			usleep(200);
			break;
		case 1:
			w.seen = o->starts - 1;
			rc = request(j->d.fd, ESPGOAL_WAIT, &w);
			if (rc && rc != -ETIMEDOUT && rc != -EINTR)
				die("ESPGOAL_WAIT: %s", strerror(-rc));
			break;
		default:
			if (poll(&p, 1, 2000) > 0 && read(j->d.fd, &n, sizeof(n)) != sizeof(n))
				die("read: %s", strerror(errno));
			break;
		}
	}
	j->runs++;
	if (j->d.word[o->id].status)
		ended(j, s, o);
}

static struct object *start(struct job *j, struct shape *s)
{
	bool wait = below(&j->own, 8) == 0;
	double end = now() + HANG;
	struct object *o;
	int rc;

	for (;;) {
		o = shape_start(s, &j->d, wait ? ESPGOAL_START_WAIT : 0, 1000000, &rc);
		if (o)
			return o;
		/* All its objects are in use, or the memory of this endpoint is: until one ends. */
		if (rc && rc != -EBUSY && rc != -EDQUOT && rc != -ENOSPC && rc != -ENOMEM) {
			if (may_fail) {
				printf("ENDED rank %u: start: %s\n", j->t.rank, strerror(-rc));
				fflush(stdout);
				_exit(3);
			}
			die("starting %s: %s", shape_name(s), strerror(-rc));
		}
		if (now() > end) {
			device_dump(&j->d);
			die("no run object of %s becomes free within %d s", shape_name(s), HANG);
		}
		usleep(500);
	}
}

static void check_barrier(struct job *j, uint32_t before, uint32_t local)
{
	uint32_t n = peek(&arrived[before % ARRIVED]);

	if (n % local)
		complain("rank %u leaves barrier %u when %u of %u have come", j->t.rank, before,
			 n % local, local);
}

static void make_group(struct job *j)
{
	uint32_t i, rank;
	int rc;

	j->reversed = below(&j->all, 2);
	rank = j->reversed ? j->t.size - 1 - j->t.rank : j->t.rank;
	rc = team_group(&j->t, &j->d, scramble(seed) + 2 * j->groups++ + 1, j->reversed, &j->group);
	if (rc)
		die("ESPGOAL_GROUP: %s", strerror(-rc));
	for (i = 0; i < SHAPES; i++) {
		shape_draw(&j->shape[i], &j->all, j->t.size, most);
		shape_load(&j->shape[i], &j->d, rank, j->group, i + 1, &j->own);
	}
	memset(&j->stop, 0, sizeof(j->stop));
	j->stop.size = j->t.size;
	j->stop.coll = GOAL_BARRIER;
	shape_load(&j->stop, &j->d, rank, j->group, SHAPES + 1, &j->own);
}

static void end_group(struct job *j)
{
	struct espgoal_id id = { .id = j->group };
	uint32_t i;
	int rc;

	for (i = 0; i < SHAPES; i++)
		shape_unload(&j->shape[i], &j->d);
	shape_unload(&j->stop, &j->d);
	rc = request(j->d.fd, ESPGOAL_GROUP_FREE, &id);
	if (rc)
		complain("ESPGOAL_GROUP_FREE: %s", strerror(-rc));
}

/* A few runs at once, of shapes all ranks agree on, ended in an order of this rank's own. */
static void round_of_runs(struct job *j)
{
	struct shape *s[MOST];
	struct object *o[MOST];
	uint32_t n = 1 + below(&j->all, outstanding), i, k;

	for (i = 0; i < n; i++) {
		s[i] = &j->shape[below(&j->all, SHAPES)];
		o[i] = start(j, s[i]);
	}
	while (n) {
		i = below(&j->own, n);
		wait_over(j, s[i], o[i]);
		shape_check(s[i], &j->d, o[i]);
		n--;
		for (k = i; k < n; k++) {
			s[k] = s[k + 1];
			o[k] = o[k + 1];
		}
	}
}

static void barrier(struct job *j, uint32_t serial, uint32_t local)
{
	struct object *o;

	__atomic_fetch_add(&arrived[serial % ARRIVED], 1, __ATOMIC_ACQ_REL);
	o = start(j, &j->stop);
	wait_over(j, &j->stop, o);
	o->busy = false;
	check_barrier(j, serial, local);
}

/* Rank 0 says when it is enough, by a broadcast whose schedule is loaded and given back each time. */
static bool enough(struct job *j, double end)
{
	struct goal_comm c = { .rank = j->t.rank, .size = j->t.size };
	struct espgoal_load load = { .buf = { [GOAL_BUF_RECV] = ESPGOAL_BUF_KNOWN } };
	struct espgoal_start st = { .group = j->group, .op_id = SHAPES + 2 };
	struct espgoal_run run = { .flags = 0 };
	struct object o = { .starts = 0 };
	static uint32_t serial;
	static uint32_t group;
	struct goal_schedule *schedule;
	struct goal_graph *graph;
	struct espgoal_id id;
	uint64_t over = now() > end;
	size_t bytes;
	int rc;

	if (group != j->groups)
		serial = 0;
	group = j->groups;
	c.rank = j->reversed ? j->t.size - 1 - j->t.rank : j->t.rank;
	if (goal_bcast(&c, GOAL_ALG_AUTO, j->reversed ? j->t.size - 1 : 0, 8, &graph) < 0 ||
	    goal_compile(graph, &schedule, NULL))
		die("no bcast");
	load.data = (uintptr_t)goal_schedule_data(schedule, &bytes);
	load.bytes = bytes;
	rc = request(j->d.fd, ESPGOAL_LOAD, &load);
	if (rc)
		die("ESPGOAL_LOAD: %s", strerror(-rc));
	run.sched = load.id;
	rc = request(j->d.fd, ESPGOAL_RUN, &run);
	if (rc)
		die("ESPGOAL_RUN: %s", strerror(-rc));
	o.id = run.id;
	o.starts = peek(&j->d.word[o.id].over) + 1;
	st.run = run.id;
	st.start = o.start = serial++;
	st.nsegs = 1;
	st.seg[0] = (struct espgoal_seg){ .addr = (uintptr_t)&over, .len = 8 };
	rc = request(j->d.fd, ESPGOAL_START, &st);
	if (rc) {
		if (may_fail)
			_exit(3);
		die("ESPGOAL_START: %s", strerror(-rc));
	}
	wait_over(j, &j->stop, &o);
	memcpy(&over, (const char *)j->d.map + run.off[GOAL_BUF_RECV], 8);
	id = (struct espgoal_id){ .id = load.id };
	rc = request(j->d.fd, ESPGOAL_UNLOAD, &id);
	if (rc)
		die("ESPGOAL_UNLOAD: %s", strerror(-rc));
	goal_schedule_free(schedule);
	goal_graph_free(graph);
	return over;
}

/* Who pulls cables waits for this of all ranks. */
static void say_under_way(const char *folder, uint32_t rank)
{
	char path[600];
	FILE *f;

	snprintf(path, sizeof(path), "%s/under_way.%u", folder, rank);
	f = fopen(path, "w");
	if (!f || fclose(f))
		die("%s: %s", path, strerror(errno));
}

static int member(const char *folder, uint32_t rank, uint32_t size, uint32_t local, bool first)
{
	static struct job job;
	struct job *j = &job;
	double end = now() + seconds;
	uint32_t rounds = 0;

	device_open(&j->d, 1024, 4 << 20);
	team_meet(&j->t, &j->d, folder, rank, size);
	j->all.state = seed;
	j->own.state = seed + 1000 + rank;
	make_group(j);
	for (;;) {
		round_of_runs(j);
		if (++rounds % 4 == 0)
			barrier(j, rounds / 4, local);
		if (rounds == 4)
			say_under_way(folder, rank);
		if (rounds % 16)
			continue;
		if (enough(j, end))
			break;
		if (churn) {
			end_group(j);
			make_group(j);
		}
	}
	end_group(j);
	if (j->d.head->over != j->runs || j->d.head->failed)
		complain("rank %u: %u runs over and %u failed by the device's count, %u by ours",
			 rank, j->d.head->over, j->d.head->failed, j->runs);
	printf("rank %u: %u rounds, %u runs, %u groups, node of %u\n", rank, rounds, j->runs,
	       j->groups, j->t.npeers);
	if (show && first)
		device_dump(&j->d);
	device_close(&j->d, true);
	team_free(&j->t);
	return complaints ? 1 : 0;
}

int main(int argc, char **argv)
{
	uint32_t size, first, local, i;
	int opt, status, worst = 0;

	while ((opt = getopt(argc, argv, "t:s:cm:o:ev")) != -1) {
		switch (opt) {
		case 't':
			seconds = atof(optarg);
			break;
		case 's':
			seed = strtoull(optarg, NULL, 0);
			break;
		case 'c':
			churn = true;
			break;
		case 'm':
			most = strtoull(optarg, NULL, 0);
			break;
		case 'o':
			outstanding = (uint32_t)atoi(optarg);
			break;
		case 'e':
			may_fail = true;
			break;
		case 'v':
			show = true;
			break;
		default:
			return 2;
		}
	}
	if (argc - optind != 4 || outstanding < 1 || outstanding > MOST)
		return 2;
	size = (uint32_t)atoi(argv[optind + 1]);
	first = (uint32_t)atoi(argv[optind + 2]);
	local = (uint32_t)atoi(argv[optind + 3]);
	if (!most)
		most = 10000 / size;
	seconds *= times_as_often();
	arrived = mmap(NULL, ARRIVED * sizeof(*arrived), PROT_READ | PROT_WRITE,
		       MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (arrived == MAP_FAILED)
		die("mmap: %s", strerror(errno));
	for (i = 0; i < local; i++) {
		fflush(stdout);
		switch (fork()) {
		case -1:
			die("fork: %s", strerror(errno));
		case 0:
			exit(member(argv[optind], first + i, size, local, !i));
		}
	}
	for (i = 0; i < local; i++) {
		if (wait(&status) < 0)
			die("wait: %s", strerror(errno));
		if (!WIFEXITED(status) || WEXITSTATUS(status) == 1)
			worst = 1;
		else if (WEXITSTATUS(status) && !worst)
			worst = WEXITSTATUS(status);
	}
	printf("%s\n", worst ? worst == 3 ? "ENDED" : "FAIL" : "PASS");
	return worst;
}
