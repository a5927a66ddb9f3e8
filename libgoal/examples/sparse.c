/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A collective of one's own, without MPI: the processes of a ring exchange the cells at their
 * edges with both neighbors and, in the same schedule, add up a number over all of them. Each is
 * told the same two things at every step that a solver would ask an MPI library for with a
 * neighborhood collective and an allreduce.
 *
 *	cc sparse.c $(pkg-config --cflags --libs goal) && ./a.out [ranks]
 *
 * Every step adds to each cell the two beside it, so that the sum of all cells triples (modulo
 * 2^64): that is checked at every step, and the cells themselves at the end.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <goal/goal.h>

#define CELLS 1000 /* of one rank */
#define STEPS 2000

/* The schedule's names for the memory that a run binds. */
enum {
	BUF_CELLS = 0, /* halo, CELLS cells, halo */
	BUF_SUM = 1,   /* before: this rank's part; after: of all ranks */
};

enum {
	TAG_LEFTWARD,
	TAG_RIGHTWARD,
	TAG_UP,
	TAG_DOWN,
};

#define CELL(i) ((uint64_t)(i) * sizeof(uint64_t))

/* Keeps the first error, so that a graph is built without a test behind every call. */
struct builder {
	struct goal_graph *g;
	uint32_t rank, ranks;
	int err;
};

static int64_t keep(struct builder *b, int64_t id)
{
	if (id < 0 && !b->err)
		b->err = id;
	return id;
}

static void after(struct builder *b, int64_t op, int64_t before)
{
	keep(b, goal_requires(b->g, op, before));
}

/* Our edges to the neighbors, theirs into our halo: four operations that wait for nothing. */
static void add_exchange(struct builder *b)
{
	uint32_t left = (b->rank + b->ranks - 1) % b->ranks;
	uint32_t right = (b->rank + 1) % b->ranks;

	keep(b, goal_send(b->g, BUF_CELLS, CELL(1), 8, left, TAG_LEFTWARD));
	keep(b, goal_send(b->g, BUF_CELLS, CELL(CELLS), 8, right, TAG_RIGHTWARD));
	keep(b, goal_recv(b->g, BUF_CELLS, CELL(CELLS + 1), 8, right, TAG_LEFTWARD));
	keep(b, goal_recv(b->g, BUF_CELLS, CELL(0), 8, left, TAG_RIGHTWARD));
}

/* Receive the sum below @child and add it to ours. */
static int64_t add_child(struct builder *b, uint32_t child)
{
	int64_t off = keep(b, goal_scratch(b->g, 8));
	int64_t recv, add;

	recv = keep(b, goal_recv(b->g, GOAL_BUF_SCRATCH, off, 8, child, TAG_UP));
	add = keep(b, goal_reduce(b->g, BUF_SUM, 0, GOAL_BUF_SCRATCH, off, 1, GOAL_TYPE_UINT64,
				  GOAL_ROP_SUM));
	after(b, add, recv);
	return add;
}

/* The sum goes up a binary tree and comes down again. */
static void add_sum(struct builder *b)
{
	const uint32_t parent = (b->rank - 1) / 2;
	const uint32_t first = 2 * b->rank + 1, end = first + 2 < b->ranks ? first + 2 : b->ranks;
	int64_t last = -1, add, send;
	uint32_t child;

	for (child = first; child < end; child++) {
		add = add_child(b, child);
		/* Both children's sums are added to the same number: one after the other. */
		if (last >= 0)
			after(b, add, last);
		last = add;
	}
	if (b->rank > 0) {
		send = keep(b, goal_send(b->g, BUF_SUM, 0, 8, parent, TAG_UP));
		if (last >= 0)
			after(b, send, last);
		/* The total replaces our part once that has been sent. */
		last = keep(b, goal_recv(b->g, BUF_SUM, 0, 8, parent, TAG_DOWN));
		after(b, last, send);
	}
	for (child = first; child < end; child++)
		after(b, keep(b, goal_send(b->g, BUF_SUM, 0, 8, child, TAG_DOWN)), last);
}

static int build(uint32_t rank, uint32_t ranks, struct goal_schedule **schedule)
{
	struct builder b = { .rank = rank, .ranks = ranks };
	int err;

	err = goal_graph_create(rank, ranks, &b.g);
	if (err)
		return err;
	add_exchange(&b);
	add_sum(&b);
	err = b.err ? b.err : goal_compile(b.g, schedule, NULL);
	goal_graph_free(b.g);
	return err;
}

/* What the ranks know of each other before there is a group: a ring of sockets. */
struct ring {
	uint32_t rank, ranks;
	int next, previous;
};

static int move_all(int fd, char *buf, size_t bytes, int out)
{
	ssize_t n;

	for (; bytes; buf += n, bytes -= n) {
		n = out ? send(fd, buf, bytes, MSG_NOSIGNAL) : recv(fd, buf, bytes, 0);
		if (n <= 0)
			return n < 0 ? -errno : -ECONNRESET;
	}
	return 0;
}

/* The callback that goal_group_bootstrap() asks for: what came last goes on to the next. */
static int allgather(void *arg, const void *mine, void *all, size_t bytes)
{
	const struct ring *ring = arg;
	uint32_t at = ring->rank, step;
	char *block = all;
	int err = 0;

	memcpy(block + at * bytes, mine, bytes);
	for (step = 1; step < ring->ranks && !err; step++) {
		err = move_all(ring->next, block + at * bytes, bytes, 1);
		at = (at + ring->ranks - 1) % ring->ranks;
		if (!err)
			err = move_all(ring->previous, block + at * bytes, bytes, 0);
	}
	return err;
}

static uint64_t first_value(uint64_t cell)
{
	return cell * cell + 1;
}

static uint64_t sum_of(const uint64_t *cell)
{
	uint64_t sum = 0;
	uint32_t i;

	for (i = 1; i <= CELLS; i++)
		sum += cell[i];
	return sum;
}

static void advance(uint64_t *cell)
{
	uint64_t before = cell[0], here;
	uint32_t i;

	for (i = 1; i <= CELLS; i++) {
		here = cell[i];
		cell[i] = before + here + cell[i + 1];
		before = here;
	}
}

/* STEPS runs of one loaded schedule. The number of wrong sums, or -errno. */
static int iterate(struct goal_group *group, struct goal_loaded *loaded, uint64_t *cell,
		   uint64_t *sum)
{
	struct goal_segment seg[] = { { cell, CELL(CELLS + 2) }, { sum, sizeof(*sum) } };
	struct goal_buffer buf[] = { { &seg[BUF_CELLS], 1 }, { &seg[BUF_SUM], 1 } };
	struct goal_run_attr attr = { .op_id = 1, .nbufs = 2, .bufs = buf };
	uint64_t want = 0;
	int wrong = 0, err;
	uint32_t step;

	for (step = 0; step < STEPS; step++) {
		*sum = sum_of(cell);
		attr.start = step;
		err = goal_exec(group, loaded, &attr, NULL);
		if (err)
			return err;
		if (step > 0 && *sum != want)
			wrong++;
		want = 3 * *sum;
		advance(cell);
	}
	return wrong;
}

/* The whole ring, computed here. The number of our cells that differ. */
static int compare(const uint64_t *cell, uint32_t rank, uint32_t ranks)
{
	const uint64_t all = (uint64_t)ranks * CELLS;
	uint64_t *now = malloc(all * sizeof(*now)), *then = malloc(all * sizeof(*then)), *swap;
	uint64_t i;
	uint32_t step;
	int differ = 0;

	if (!now || !then) {
		free(now);
		free(then);
		return -ENOMEM;
	}
	for (i = 0; i < all; i++)
		now[i] = first_value(i);
	for (step = 0; step < STEPS; step++) {
		for (i = 0; i < all; i++)
			then[i] = now[(i + all - 1) % all] + now[i] + now[(i + 1) % all];
		swap = now;
		now = then;
		then = swap;
	}
	for (i = 0; i < CELLS; i++)
		differ += cell[1 + i] != now[(uint64_t)rank * CELLS + i];
	free(now);
	free(then);
	return differ;
}

static int fail(uint32_t rank, const char *what, const char *why)
{
	fprintf(stderr, "sparse: rank %u: %s: %s\n", rank, what, why);
	return 1;
}

static int compute(struct goal_group *group, struct goal_loaded *loaded, uint32_t rank,
		   uint32_t ranks)
{
	static uint64_t cell[CELLS + 2];
	uint64_t sum;
	int wrong, differ;
	uint32_t i;

	for (i = 0; i < CELLS; i++)
		cell[1 + i] = first_value((uint64_t)rank * CELLS + i);
	wrong = iterate(group, loaded, cell, &sum);
	if (wrong < 0)
		return fail(rank, "a run failed", strerror(-wrong));
	differ = compare(cell, rank, ranks);
	if (wrong || differ)
		return fail(rank, "the result is wrong", wrong ? "sums" : "cells");
	if (rank == 0)
		printf("%u ranks, %u cells each, %u steps: sum %" PRIu64 ", every step and "
		       "cell as computed alone\n",
		       ranks, CELLS, STEPS, sum);
	return 0;
}

static int run_rank(struct ring *ring)
{
	struct goal_schedule *schedule;
	struct goal_engine *engine;
	struct goal_loaded *loaded;
	struct goal_group *group;
	struct goal_error e;
	int status = 1, err;

	err = build(ring->rank, ring->ranks, &schedule);
	if (err)
		return fail(ring->rank, "building failed", strerror(-err));
	if (goal_engine_open(NULL, &engine, &e)) {
		fail(ring->rank, "no engine", e.text);
		goto free_schedule;
	}
	if (goal_group_bootstrap(engine, ring->rank, ring->ranks, allgather, ring, &group, &e)) {
		fail(ring->rank, "no group", e.text);
		goto close_engine;
	}
	if (goal_load(engine, schedule, &loaded, &e)) {
		fail(ring->rank, "loading failed", e.text);
		goto free_group;
	}
	status = compute(group, loaded, ring->rank, ring->ranks);
	goal_unload(loaded);
free_group:
	goal_group_free(group);
close_engine:
	goal_engine_close(engine);
free_schedule:
	goal_schedule_free(schedule);
	return status;
}

static pid_t fork_rank(uint32_t rank, uint32_t ranks, int (*pair)[2])
{
	uint32_t before = (rank + ranks - 1) % ranks, i;
	struct ring ring = { rank, ranks, pair[rank][0], pair[before][1] };
	pid_t child = fork();
	int status;

	if (child)
		return child;
	/* Whatever goes wrong, nobody stays behind. */
	alarm(100);
	for (i = 0; i < ranks; i++) {
		if (i != rank)
			close(pair[i][0]);
		if (i != before)
			close(pair[i][1]);
	}
	status = run_rank(&ring);
	fflush(stdout);
	_exit(status);
}

int main(int argc, char **argv)
{
	long ranks = argc > 1 ? atol(argv[1]) : 4;
	int(*pair)[2];
	int status = 0, how;
	long i, forked;

	if (argc > 2 || ranks < 1 || ranks > 100) {
		fprintf(stderr, "Usage: sparse [RANKS], from 1 to 100\n");
		return 2;
	}
	pair = calloc(ranks, sizeof(*pair));
	if (!pair) {
		perror("sparse: memory");
		return 1;
	}
	for (i = 0; i < ranks; i++) {
		if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair[i])) {
			perror("sparse: socketpair");
			return 1;
		}
	}
	for (forked = 0; forked < ranks; forked++)
		if (fork_rank(forked, ranks, pair) < 0)
			break;
	if (forked < ranks) {
		/* The ranks there are find their sockets closed, and give up. */
		perror("sparse: fork");
		status = 1;
	}
	for (i = 0; i < ranks; i++) {
		close(pair[i][0]);
		close(pair[i][1]);
	}
	free(pair);
	for (i = 0; i < forked; i++)
		if (wait(&how) < 0 || !WIFEXITED(how) || WEXITSTATUS(how))
			status = 1;
	return status;
}
