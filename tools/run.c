/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `goal run': run a GOAL text for real on this machine, with zeros for data: a process per rank,
 * an engine between them.
 */
#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tool.h"

struct how {
	int timeout_ms;
	uint32_t engine; /* enum goal_engine_kind */
};

/* What a rank reports, in memory shared with the parent. */
struct report {
	double seconds;
	int status;     /* 0, -errno, or 1: not finished */
	char text[200]; /* of a failure */
};

/* A rank's ends of the ring of sockets over which the ranks find each other. */
struct ring {
	uint32_t rank, ranks;
	int next, previous;
};

static int move_all(int fd, void *buf, size_t bytes, bool out)
{
	while (bytes) {
		ssize_t n = out ? send(fd, buf, bytes, MSG_NOSIGNAL) : recv(fd, buf, bytes, 0);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (n == 0)
			return -ECONNRESET;
		buf = (char *)buf + n;
		bytes -= n;
	}
	return 0;
}

/* In each of ranks - 1 steps, what came last goes on to the next rank. */
static int ring_allgather(void *arg, const void *mine, void *all, size_t bytes)
{
	const struct ring *ring = arg;
	char *block = all;
	uint32_t step, at = ring->rank;
	int err = 0;

	memcpy(block + at * bytes, mine, bytes);
	for (step = 1; step < ring->ranks && !err; step++) {
		err = move_all(ring->next, block + at * bytes, bytes, true);
		at = (at + ring->ranks - 1) % ring->ranks;
		if (!err)
			err = move_all(ring->previous, block + at * bytes, bytes, false);
	}
	return err;
}

static int report_error(struct report *r, int status, const char *text)
{
	snprintf(r->text, sizeof(r->text), "%s", text);
	return r->status = status;
}

/* How much of each buffer the schedule touches. */
static void buffer_sizes(const struct goal_schedule *s, uint64_t *bytes)
{
	const struct goal_sched_hdr *hdr = goal_schedule_data(s, NULL);
	const struct goal_op *op = (const struct goal_op *)(hdr + 1);
	uint32_t i;

	for (i = 0; i < hdr->nops; i++) {
		/* A text has messages and calcs only, and no scratch. */
		if (op[i].code == GOAL_OP_SEND && op[i].src_off + op[i].len > bytes[op[i].src_buf])
			bytes[op[i].src_buf] = op[i].src_off + op[i].len;
		if (op[i].code == GOAL_OP_RECV && op[i].dst_off + op[i].len > bytes[op[i].dst_buf])
			bytes[op[i].dst_buf] = op[i].dst_off + op[i].len;
	}
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec * 1e-9;
}

/* Start @loaded with zeros bound to its buffers, and wait for its end. */
static int run_once(struct goal_group *group, struct goal_loaded *loaded, const uint64_t *bytes,
		    int timeout_ms, struct report *r)
{
	struct goal_segment seg[2] = { 0 };
	struct goal_buffer buf[2];
	struct goal_run_attr attr = { .nbufs = 2, .bufs = buf };
	struct goal_run *run;
	double start;
	int64_t peer;
	int err, i;

	for (i = 0; i < 2; i++) {
		seg[i].len = bytes[i];
		seg[i].base = calloc(1, bytes[i] ? bytes[i] : 1);
		if (!seg[i].base) {
			err = report_error(r, -ENOMEM,
					   "There is not enough memory for its buffers");
			goto free_buffers;
		}
		buf[i] = (struct goal_buffer){ &seg[i], 1 };
	}
	start = now();
	err = goal_start(group, loaded, &attr, &run);
	if (err) {
		report_error(r, err, strerror(-err));
		goto free_buffers;
	}
	err = goal_run_wait(run, timeout_ms);
	r->seconds = now() - start;
	peer = goal_run_peer(run);
	if (err == -ETIMEDOUT) {
		report_error(r, err, "It did not end in time, its messages may not fit together");
		goal_run_cancel(run);
		goal_run_wait(run, 1000);
	} else if (err) {
		char text[100];

		if (peer < 0)
			snprintf(text, sizeof(text), "%s", strerror(-err));
		else
			snprintf(text, sizeof(text), "%s (rank %lld)", strerror(-err),
				 (long long)peer);
		report_error(r, err, text);
	}
	goal_run_free(run);
free_buffers:
	free(seg[0].base);
	free(seg[1].base);
	return err;
}

static int run_rank(struct ring *ring, const struct goal_schedule *s, const struct how *how,
		    struct report *r)
{
	struct goal_engine_attr attr = { .kind = how->engine };
	uint64_t bytes[2] = { 0 };
	struct goal_engine *engine;
	struct goal_loaded *loaded;
	struct goal_group *group;
	struct goal_error e;
	const char *mask;
	char text[1024], *ended;
	int err;

	if (goal_engine_open(&attr, &engine, &e))
		return report_error(r, e.code, e.text);
	/* All ranks were forked with the same mask. */
	mask = text;
	if (!goal_cores_mask(text, sizeof(text)))
		goal_engine_cores(engine, ring->ranks, goal_cores_union(&mask, 1));
	err = goal_group_bootstrap(engine, ring->rank, ring->ranks, ring_allgather, ring, &group,
				   &e);
	if (err) {
		report_error(r, err, e.text);
		goto close_engine;
	}
	err = goal_load(engine, s, &loaded, &e);
	if (err) {
		report_error(r, err, e.text);
		goto free_group;
	}
	buffer_sizes(s, bytes);
	err = run_once(group, loaded, bytes, how->timeout_ms, r);
	/*
	 * Leave together: who has nothing to do stays until the others have ended, or one of them
	 * has failed and closed its sockets.
	 */
	if (!err) {
		ended = calloc(ring->ranks, 1);
		if (ended)
			ring_allgather(ring, "", ended, 1);
		free(ended);
	}
	goal_unload(loaded);
free_group:
	goal_group_free(group);
close_engine:
	goal_engine_close(engine);
	return err;
}

/* Fork a rank. In the child this does not return. */
static pid_t fork_rank(uint32_t rank, uint32_t ranks, int (*pair)[2],
		       struct goal_schedule *const *s, const struct how *how,
		       struct report *reports)
{
	pid_t parent = getpid();
	pid_t child = fork();
	uint32_t before = (rank + ranks - 1) % ranks, i;
	struct ring ring = { rank, ranks, pair[rank][0], pair[before][1] };

	if (child)
		return child;
	/* Nobody stays behind when the parent is killed. */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(1);
	/* Foreign ends closed, the death of a rank is the end of its sockets. */
	for (i = 0; i < ranks; i++) {
		if (i != rank)
			close(pair[i][0]);
		if (i != before)
			close(pair[i][1]);
	}
	reports[rank].status = run_rank(&ring, s[rank], how, &reports[rank]);
	_exit(reports[rank].status ? 1 : 0);
}

/* Has a rank before @rank failed for the same reason? It is said once. */
static bool said(const struct report *reports, uint32_t rank)
{
	uint32_t i;

	for (i = 0; i < rank; i++)
		if (reports[i].status && !strcmp(reports[i].text, reports[rank].text))
			return true;
	return false;
}

static int wait_ranks(const pid_t *child, uint32_t ranks, const struct report *reports,
		      const char *path)
{
	double slowest = 0;
	int status = TOOL_OK, how;
	uint32_t i;

	for (i = 0; i < ranks; i++) {
		while (waitpid(child[i], &how, 0) < 0 && errno == EINTR)
			;
		if (WIFSIGNALED(how))
			status = tool_failed("%s: rank %u was killed by signal %d", path, i,
					     WTERMSIG(how));
		else if (reports[i].status && !said(reports, i))
			status = tool_failed("%s: rank %u: %s", path, i,
					     reports[i].text[0] ? reports[i].text
								: "It ended without a word");
		if (reports[i].seconds > slowest)
			slowest = reports[i].seconds;
	}
	if (!status)
		printf("%s: %u ranks, %.1f us on the slowest\n", path, ranks, slowest * 1e6);
	return status;
}

static int run_ranks(struct goal_schedule *const *s, uint32_t ranks, const struct how *how,
		     const char *path)
{
	struct report *reports;
	int(*pair)[2] = calloc(ranks, sizeof(*pair));
	pid_t *child = calloc(ranks, sizeof(*child));
	uint32_t pairs = 0, forked = 0, i;
	int status = TOOL_FAILED;

	reports = mmap(NULL, ranks * sizeof(*reports), PROT_READ | PROT_WRITE,
		       MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (!pair || !child || reports == MAP_FAILED) {
		tool_failed("%s: There is not enough memory for %u ranks", path, ranks);
		goto free_all;
	}
	for (; pairs < ranks; pairs++) {
		reports[pairs].status = 1;
		if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair[pairs])) {
			tool_failed("%s: Sockets for %u ranks: %s", path, ranks, strerror(errno));
			goto close_pairs;
		}
	}
	fflush(NULL);
	for (; forked < ranks; forked++) {
		child[forked] = fork_rank(forked, ranks, pair, s, how, reports);
		if (child[forked] < 0) {
			tool_failed("%s: Rank %u: %s", path, forked, strerror(errno));
			break;
		}
	}
	if (forked < ranks) {
		for (i = 0; i < forked; i++)
			kill(child[i], SIGKILL);
		for (i = 0; i < forked; i++)
			waitpid(child[i], NULL, 0);
	}
close_pairs:
	for (i = 0; i < pairs; i++) {
		close(pair[i][0]);
		close(pair[i][1]);
	}
	if (pairs == ranks && forked == ranks)
		status = wait_ranks(child, ranks, reports, path);
free_all:
	if (reports != MAP_FAILED)
		munmap(reports, ranks * sizeof(*reports));
	free(child);
	free(pair);
	return status;
}

static int run_program(const struct goal_program *p, const struct how *how, const char *path)
{
	uint32_t ranks = goal_program_ranks(p), rank;
	struct goal_schedule **s = calloc(ranks, sizeof(struct goal_schedule *));
	int status = TOOL_OK;

	if (!s)
		return tool_failed("%s: There is not enough memory for %u ranks", path, ranks);
	for (rank = 0; rank < ranks; rank++) {
		struct goal_error e;

		if (!goal_compile(goal_program_graph(p, rank), &s[rank], &e))
			continue;
		fprintf(stderr, "%s:%u:%u: %s\n", path, e.line, e.column, e.text);
		status = TOOL_FAILED;
	}
	if (!status)
		status = run_ranks(s, ranks, how, path);
	for (rank = 0; rank < ranks; rank++)
		goal_schedule_free(s[rank]);
	free(s);
	return status;
}

int tool_run(int argc, char **argv)
{
	static const struct option longs[] = {
		{ "engine", required_argument, NULL, 'e' },
		{ "timeout", required_argument, NULL, 't' },
		{ NULL, 0, NULL, 0 },
	};
	struct how how = { .engine = GOAL_ENGINE_HOST };
	struct goal_program *p;
	uint64_t seconds = 60;
	int status, opt;

	opterr = 0;
	while ((opt = getopt_long(argc, argv, ":e:t:", longs, NULL)) != -1) {
		switch (opt) {
		case 'e':
			if (!strcmp(optarg, "kernel"))
				how.engine = GOAL_ENGINE_KERNEL;
			else if (strcmp(optarg, "host"))
				return tool_usage("-e takes `host' or `kernel', not `%s'", optarg);
			break;
		case 't':
			if (!tool_number(optarg, INT32_MAX / 1000, &seconds) || seconds == 0)
				return tool_usage("-t takes a number of seconds, not `%s'", optarg);
			break;
		case ':':
			return tool_usage("Option `%s' takes a value", argv[optind - 1]);
		default:
			return tool_usage("There is no option `%s'", argv[optind - 1]);
		}
	}
	if (optind + 1 != argc)
		return tool_usage("`goal run' takes one GOAL text");
	p = tool_read_program(argv[optind]);
	if (!p)
		return TOOL_FAILED;
	how.timeout_ms = (int)(seconds * 1000);
	status = run_program(p, &how, argv[optind]);
	goal_program_free(p);
	return status;
}
