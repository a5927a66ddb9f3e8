// SPDX-License-Identifier: BSD-3-Clause
/*
 * The host engine alone, without MPI: what barrier, ping-pong and gather cost among forked
 * processes, blocking (goal_exec) and nonblocking (goal_start, test, free). Run by hand.
 *
 *	engine [ranks [seconds per figure]]
 *
 * Prints one line per figure: name, ranks, nanoseconds per operation (median of the samples of
 * rank 0, and the least one).
 */
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <goal/goal.h>

#define MOST_RANKS 64
#define SAMPLES    15

/* What the processes share besides their engines. */
struct board {
	_Atomic uint32_t arrived;
	_Atomic uint32_t round;
	/* By turns: a rank may be one exchange ahead of one that still reads. */
	unsigned char cards[2][MOST_RANKS][256];
};

static struct board *board;
static uint32_t ranks, rank;
static double seconds = 0.02;

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void fail(const char *what, int rc)
{
	fprintf(stderr, "engine: rank %u: %s: %s\n", rank, what, strerror(rc < 0 ? -rc : rc));
	exit(1);
}

static int allgather(void *arg, const void *mine, void *all, size_t bytes)
{
	uint32_t round = board->round, i;

	(void)arg;
	memcpy(board->cards[round & 1][rank], mine, bytes);
	if (atomic_fetch_add(&board->arrived, 1) + 1 == ranks) {
		board->arrived = 0;
		board->round++;
	}
	while (board->round == round)
		sched_yield();
	for (i = 0; i < ranks; i++)
		memcpy((char *)all + i * bytes, board->cards[round & 1][i], bytes);
	return 0;
}

static struct goal_engine *engine;
static struct goal_group *group;
static uint32_t op_id;
static char *send_buf, *recv_buf;
static struct goal_segment segment[2];
static const struct goal_buffer buffer[2] = { { &segment[0], 1 }, { &segment[1], 1 } };

static void blocking(struct goal_loaded *l)
{
	struct goal_run_attr attr = { .op_id = op_id++, .nbufs = 2, .bufs = buffer };
	int rc = goal_exec(group, l, &attr, NULL);

	if (rc)
		fail("goal_exec", rc);
}

static void nonblocking(struct goal_loaded *l)
{
	struct goal_run_attr attr = { .op_id = op_id++, .nbufs = 2, .bufs = buffer };
	struct goal_run *run;
	uint32_t polls = 0;
	int rc = goal_start(group, l, &attr, &run);

	if (rc)
		fail("goal_start", rc);
	while (!(rc = goal_run_test(run)))
		if (!goal_engine_progress(engine) && ranks > 2 && ++polls % 16 == 0)
			sched_yield();
	if (rc < 0)
		fail("goal_run_test", rc);
	goal_run_free(run);
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

/* Time @graph, which is taken over. @loaded barrier between the samples. */
static void figure(const char *name, struct goal_graph *graph, struct goal_loaded *barrier,
		   void (*call)(struct goal_loaded *l), uint32_t hops)
{
	double sample[SAMPLES], begin, took;
	struct goal_engine_stats before, after;
	struct goal_schedule *schedule;
	struct goal_loaded *l;
	struct goal_error error;
	uint32_t i, s, loops = 200;
	int rc;

	rc = goal_compile(graph, &schedule, &error);
	if (rc)
		fail(error.text, rc);
	rc = goal_load(engine, schedule, &l, &error);
	if (rc)
		fail(error.text, rc);
	goal_graph_free(graph);
	goal_schedule_free(schedule);
	for (i = 0; i < loops; i++)
		call(l);
	blocking(barrier);
	begin = now();
	for (i = 0; i < loops; i++)
		call(l);
	took = (now() - begin) / loops;
	/* All must loop equally often: rank 0 says how often. */
	{
		uint32_t mine = (uint32_t)(seconds / took) + 1, all[MOST_RANKS];

		allgather(NULL, &mine, all, sizeof(mine));
		loops = all[0];
	}
	goal_engine_stats(engine, &before);
	for (s = 0; s < SAMPLES; s++) {
		blocking(barrier);
		begin = now();
		for (i = 0; i < loops; i++)
			call(l);
		sample[s] = (now() - begin) / loops * 1e9 / hops;
	}
	goal_engine_stats(engine, &after);
	qsort(sample, SAMPLES, sizeof(sample[0]), compare);
	if (rank == 0)
		printf("%-24s np=%u %10.1f ns (least %.1f)%s\n", name, ranks, sample[SAMPLES / 2],
		       sample[0], after.allocs == before.allocs ? "" : "  allocates");
	rc = goal_unload(l);
	if (rc)
		fail("goal_unload", rc);
}

static struct goal_graph *barrier_graph(void)
{
	struct goal_comm comm = { .rank = rank, .size = ranks };
	struct goal_graph *graph;
	int rc = goal_barrier(&comm, GOAL_ALG_AUTO, &graph);

	if (rc < 0)
		fail("goal_barrier", rc);
	return graph;
}

static struct goal_graph *gather_graph(uint64_t bytes)
{
	struct goal_comm comm = { .rank = rank, .size = ranks };
	struct goal_graph *graph;
	int rc = goal_gather(&comm, GOAL_ALG_AUTO, 0, bytes, false, &graph);

	if (rc < 0)
		fail("goal_gather", rc);
	return graph;
}

/* Rank 0 and 1 send each other @bytes, one after the other. */
static struct goal_graph *pingpong_graph(uint64_t bytes)
{
	struct goal_graph *graph;
	int64_t first, second;

	if (goal_graph_create(rank, ranks, &graph))
		fail("goal_graph_create", -ENOMEM);
	if (rank > 1)
		return graph;
	if (rank == 0) {
		first = goal_send(graph, GOAL_BUF_SEND, 0, bytes, 1, 0);
		second = goal_recv(graph, GOAL_BUF_RECV, 0, bytes, 1, 0);
	} else {
		first = goal_recv(graph, GOAL_BUF_RECV, 0, bytes, 0, 0);
		second = goal_send(graph, GOAL_BUF_SEND, 0, bytes, 0, 0);
		goal_requires(graph, second, first);
	}
	if (first < 0 || second < 0)
		fail("goal_send", -EINVAL);
	return graph;
}

static void run_rank(void)
{
	static const uint64_t sizes[] = { 8, 1024, 4096, 65536, 1048576 };
	struct goal_schedule *schedule;
	struct goal_loaded *barrier;
	struct goal_graph *graph;
	struct goal_error error;
	cpu_set_t cpus;
	size_t i;
	int rc;

	if (ranks <= 2) {
		CPU_ZERO(&cpus);
		CPU_SET(rank, &cpus);
		sched_setaffinity(0, sizeof(cpus), &cpus);
	}
	rc = goal_engine_open(NULL, &engine, &error);
	if (rc)
		fail(error.text, rc);
	goal_engine_cores(engine, ranks, (uint32_t)sysconf(_SC_NPROCESSORS_ONLN));
	rc = goal_group_bootstrap(engine, rank, ranks, allgather, NULL, &group, &error);
	if (rc)
		fail(error.text, rc);

	send_buf = calloc(1, sizes[4]);
	recv_buf = calloc(ranks, sizes[4]);
	if (!send_buf || !recv_buf)
		fail("memory", -ENOMEM);
	memset(send_buf, (int)rank, sizes[4]);
	segment[0].base = send_buf;
	segment[0].len = sizes[4];
	segment[1].base = recv_buf;
	segment[1].len = ranks * sizes[4];

	graph = barrier_graph();
	rc = goal_compile(graph, &schedule, &error);
	if (rc)
		fail(error.text, rc);
	rc = goal_load(engine, schedule, &barrier, &error);
	if (rc)
		fail(error.text, rc);
	goal_schedule_free(schedule);
	goal_graph_free(graph);

	figure("barrier", barrier_graph(), barrier, blocking, 1);
	figure("ibarrier", barrier_graph(), barrier, nonblocking, 1);
	figure("gather 8", gather_graph(8), barrier, blocking, 1);
	figure("igather 8", gather_graph(8), barrier, nonblocking, 1);
	for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		char name[32];

		snprintf(name, sizeof(name), "half pingpong %llu", (unsigned long long)sizes[i]);
		figure(name, pingpong_graph(sizes[i]), barrier, blocking, 2);
	}

	goal_unload(barrier);
	rc = goal_group_free(group);
	if (rc)
		fail("goal_group_free", rc);
	rc = goal_engine_close(engine);
	if (rc)
		fail("goal_engine_close", rc);
	free(send_buf);
	free(recv_buf);
}

int main(int argc, char **argv)
{
	int status, failed = 0;
	uint32_t i;

	ranks = argc > 1 ? (uint32_t)atoi(argv[1]) : 2;
	if (argc > 2)
		seconds = atof(argv[2]);
	if (ranks < 1 || ranks > MOST_RANKS || seconds <= 0) {
		fprintf(stderr, "usage: engine [ranks (1 to %u) [seconds per sample]]\n",
			MOST_RANKS);
		return 2;
	}
	board = mmap(NULL, sizeof(*board), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		     0);
	if (board == MAP_FAILED) {
		perror("engine: mmap");
		return 1;
	}
	for (i = 1; i < ranks; i++) {
		pid_t pid = fork();

		if (pid < 0) {
			perror("engine: fork");
			return 1;
		}
		if (!pid) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			rank = i;
			run_rank();
			return 0;
		}
	}
	run_rank();
	while (wait(&status) > 0)
		failed |= status != 0;
	return failed;
}
