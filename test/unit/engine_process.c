// SPDX-License-Identifier: BSD-3-Clause
/*
 * Engines in processes of their own: collectives that block, ranks that die, leave or fork.
 */
#include <dirent.h>

#include "engine_fork.h"

static uint32_t open_files(void)
{
	DIR *d = opendir("/proc/self/fd");
	uint32_t n = 0;

	FORK_CHECK(d != NULL);
	while (readdir(d))
		n++;
	closedir(d);
	return n;
}

/* Barriers, and gathers of every size with the data looked at. */
static void collectives(struct fork_rank *r)
{
	static const uint64_t sizes[] = { 8, 24, 100, 4096, 30000, 1000000 };
	struct goal_comm comm = { .rank = r->rank, .size = r->n };
	uint32_t i, k, op_id = 0, files = open_files();
	struct goal_loaded *l;

	fork_open(r, NULL);
	l = fork_barrier_load(r);
	for (i = 0; i < 500; i++)
		FORK_CHECK(fork_exec(r, l, op_id++) == 0);
	FORK_CHECK(goal_unload(l) == 0);
	for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		uint8_t *from = malloc(sizes[i]), *to = malloc(r->n * sizes[i]);
		struct goal_segment seg[2] = { { from, sizes[i] }, { to, r->n * sizes[i] } };
		struct goal_buffer buf[2] = { { &seg[0], 1 }, { &seg[1], 1 } };
		struct goal_graph *graph = NULL;

		FORK_CHECK(from && to);
		FORK_CHECK(goal_allgather(&comm, GOAL_ALG_AUTO, sizes[i], sizes[i], false, &graph) >
			   0);
		l = fork_load(r, graph);
		for (k = 0; k < 10; k++) {
			struct goal_run_attr attr = { .op_id = op_id++, .nbufs = 2, .bufs = buf };
			uint64_t at;

			memset(from, (int)(r->rank * 16 + k), sizes[i]);
			memset(to, 0xff, r->n * sizes[i]);
			FORK_CHECK(goal_exec(r->group, l, &attr, NULL) == 0);
			for (at = 0; at < r->n * sizes[i]; at++)
				FORK_CHECK(to[at] == at / sizes[i] * 16 + k);
		}
		FORK_CHECK(goal_unload(l) == 0);
		free(from);
		free(to);
	}
	fork_close(r);
	FORK_CHECK(open_files() == files);
}

static void exec__collectives_of_2_to_5(void **state)
{
	uint32_t n;

	(void)state;
	for (n = 2; n <= 5; n++)
		fork_ranks(n, collectives, 0);
}

/* Sleep soon, and never longer than a millisecond: a late rank is met in time all the same. */
static void sleepers(struct fork_rank *r)
{
	const struct goal_engine_attr attr = { .spin = 10, .yields = 10, .sleep_us = 1000 };
	struct goal_engine_stats s;
	struct goal_loaded *l;
	uint32_t i;

	fork_open(r, &attr);
	goal_engine_cores(r->engine, 8, 2);
	l = fork_barrier_load(r);
	for (i = 0; i < 20; i++) {
		if (i % r->n == r->rank)
			usleep(5000);
		FORK_CHECK(fork_exec(r, l, i) == 0);
	}
	goal_engine_stats(r->engine, &s);
	FORK_CHECK(s.sleeps > 0);
	FORK_CHECK(s.yields > 0);
	FORK_CHECK(goal_unload(l) == 0);
	fork_close(r);
}

static void exec__waits_asleep(void **state)
{
	(void)state;
	fork_ranks(3, sleepers, 0);
}

static uint32_t idled;

static void idle(void)
{
	idled++;
}

static void idlers(struct fork_rank *r)
{
	struct goal_run_attr attr = { .op_id = 0 };
	struct goal_loaded *l;

	fork_open(r, NULL);
	l = fork_barrier_load(r);
	if (r->rank)
		usleep(100000);
	FORK_CHECK(goal_exec(r->group, l, &attr, idle) == 0);
	FORK_CHECK(r->rank || idled > 10);
	FORK_CHECK(goal_unload(l) == 0);
	fork_close(r);
}

static void exec__calls_idle_while_it_waits(void **state)
{
	(void)state;
	fork_ranks(2, idlers, 0);
}

/* Rank 1 is killed inside a barrier; the others hear of it, and of whom. */
static void one_dies(struct fork_rank *r)
{
	struct goal_run_attr attr = { .op_id = 0 };
	struct goal_loaded *l;
	struct goal_run *run;
	uint64_t begin;
	uint32_t i;
	int rc = 0;

	fork_open(r, NULL);
	l = fork_barrier_load(r);
	for (i = 0; i < 50; i++)
		FORK_CHECK(fork_exec(r, l, i) == 0);
	if (r->rank == 1) {
		usleep(50000);
		kill(getpid(), SIGKILL);
	}
	begin = fork_now_ms();
	attr.op_id = i;
	FORK_CHECK(goal_start(r->group, l, &attr, &run) == 0);
	if (r->rank == 0) {
		rc = goal_run_wait(run, -1);
	} else {
		/* The nonblocking way hears of it, too. */
		while (!(rc = goal_run_test(run)))
			goal_engine_progress(r->engine);
	}
	FORK_CHECK(rc == -ECONNRESET || rc == -ECONNABORTED);
	FORK_CHECK(goal_run_peer(run) >= 0);
	if (rc == -ECONNRESET)
		FORK_CHECK(goal_run_peer(run) == 1);
	FORK_CHECK(fork_now_ms() - begin < 5000);
	goal_run_free(run);
	/* Whoever heard it from another rank finds out himself in a moment. */
	begin = fork_now_ms();
	do {
		attr.op_id++;
		rc = goal_exec(r->group, l, &attr, NULL);
		FORK_CHECK(rc < 0);
	} while (rc != -ECONNRESET && fork_now_ms() - begin < 5000);
	FORK_CHECK(rc == -ECONNRESET);
	FORK_CHECK(goal_unload(l) == 0);
	fork_close(r);
}

static void exec__a_rank_is_killed(void **state)
{
	(void)state;
	fork_ranks(2, one_dies, 1u << 1);
	fork_ranks(4, one_dies, 1u << 1);
}

/* The receiver of a long message, or its sender, is killed in the middle. */
static void dies_in_transfer(struct fork_rank *r)
{
	const uint64_t bytes = 64 << 20;
	struct goal_segment seg = { calloc(1, bytes), bytes };
	struct goal_buffer buf[2] = { { &seg, 1 }, { &seg, 1 } };
	struct goal_run_attr attr = { .nbufs = 2, .bufs = buf };
	struct goal_graph *g = NULL;
	struct goal_loaded *l;
	struct goal_run *run;
	uint32_t i;

	FORK_CHECK(seg.base != NULL);
	fork_open(r, NULL);
	FORK_CHECK(goal_graph_create(r->rank, 2, &g) == 0);
	if (r->rank)
		FORK_CHECK(goal_recv(g, GOAL_BUF_RECV, 0, bytes, 0, 0) >= 0);
	else
		FORK_CHECK(goal_send(g, GOAL_BUF_SEND, 0, bytes, 1, 0) >= 0);
	l = fork_load(r, g);
	FORK_CHECK(goal_start(r->group, l, &attr, &run) == 0);
	if (r->rank == r->board->flag[0]) {
		for (i = 0; i < 200; i++) {
			goal_engine_progress(r->engine);
			sched_yield();
		}
		kill(getpid(), SIGKILL);
	}
	FORK_CHECK(goal_run_wait(run, 5000) == -ECONNRESET);
	FORK_CHECK(goal_run_peer(run) == !r->rank);
	goal_run_free(run);
	FORK_CHECK(goal_unload(l) == 0);
	fork_close(r);
	free(seg.base);
}

static void receiver_dies(struct fork_rank *r)
{
	r->board->flag[0] = 1;
	dies_in_transfer(r);
}

static void exec__a_rank_is_killed_in_a_transfer(void **state)
{
	(void)state;
	fork_ranks(2, dies_in_transfer, 1u << 0);
	fork_ranks(2, receiver_dies, 1u << 1);
}

/* Everybody leaves right after the last barrier: nobody may be held up, or take it for a death. */
static void leavers(struct fork_rank *r)
{
	struct goal_loaded *l;
	uint64_t begin;
	uint32_t i;

	fork_open(r, NULL);
	l = fork_barrier_load(r);
	for (i = 0; i < 5; i++)
		FORK_CHECK(fork_exec(r, l, i) == 0);
	/* The last one comes late, when the others may be gone already. */
	if (r->rank == r->n - 1)
		usleep(30000);
	FORK_CHECK(fork_exec(r, l, i) == 0);
	FORK_CHECK(goal_unload(l) == 0);
	begin = fork_now_ms();
	fork_close(r);
	FORK_CHECK(fork_now_ms() - begin < 5000);
}

static void close__after_the_last_barrier(void **state)
{
	uint32_t i;

	(void)state;
	for (i = 0; i < 10; i++)
		fork_ranks(4, leavers, 0);
}

/* Rank 0 sends and leaves; rank 1 looks only later: close waited for it. */
static void lingers(struct fork_rank *r)
{
	uint64_t value = r->rank ? 0 : 4711;
	struct goal_segment seg = { &value, 8 };
	struct goal_buffer buf[2] = { { &seg, 1 }, { &seg, 1 } };
	struct goal_run_attr attr = { .nbufs = 2, .bufs = buf };
	struct goal_graph *g = NULL;
	struct goal_loaded *l;
	uint64_t begin;

	fork_open(r, NULL);
	FORK_CHECK(goal_graph_create(r->rank, 2, &g) == 0);
	if (r->rank)
		FORK_CHECK(goal_recv(g, GOAL_BUF_RECV, 0, 8, 0, 0) >= 0);
	else
		FORK_CHECK(goal_send(g, GOAL_BUF_SEND, 0, 8, 1, 0) >= 0);
	l = fork_load(r, g);
	if (r->rank)
		usleep(200000);
	FORK_CHECK(goal_exec(r->group, l, &attr, NULL) == 0);
	FORK_CHECK(value == 4711);
	FORK_CHECK(goal_unload(l) == 0);
	begin = fork_now_ms();
	fork_close(r);
	FORK_CHECK(r->rank || fork_now_ms() - begin >= 100);
}

static void close__waits_until_all_is_taken(void **state)
{
	(void)state;
	fork_ranks(2, lingers, 0);
}

/* A child of a rank calls everything; the rank's messages stay as they are. */
static void forks(struct fork_rank *r)
{
	struct goal_run_attr attr = { .op_id = 0 };
	struct goal_loaded *l, *again;
	struct goal_address address;
	struct goal_run *run;
	uint32_t i;
	int status;
	pid_t pid;

	fork_open(r, NULL);
	l = fork_barrier_load(r);
	FORK_CHECK(fork_exec(r, l, 0) == 0);
	pid = fork();
	FORK_CHECK(pid >= 0);
	if (!pid) {
		attr.op_id = 99;
		FORK_CHECK(goal_start(r->group, l, &attr, &run) == -ECHILD);
		FORK_CHECK(goal_exec(r->group, l, &attr, NULL) == -ECHILD);
		FORK_CHECK(goal_engine_progress(r->engine) == 0);
		FORK_CHECK(goal_unload(l) == -ECHILD);
		goal_group_fail(r->group, -EIO, 0);
		FORK_CHECK(goal_group_free(r->group) == -ECHILD);
		goal_engine_address(r->engine, &address);
		FORK_CHECK(goal_engine_reach(r->engine, &address) == -ECHILD);
		FORK_CHECK(goal_engine_close(r->engine) == 0);
		_exit(0);
	}
	FORK_CHECK(waitpid(pid, &status, 0) == pid);
	FORK_CHECK(status == 0);
	for (i = 1; i < 100; i++)
		FORK_CHECK(fork_exec(r, l, i) == 0);
	again = fork_barrier_load(r);
	FORK_CHECK(goal_unload(again) == 0);
	FORK_CHECK(goal_unload(l) == 0);
	fork_close(r);
}

static void fork__a_child_leaves_the_parent_alone(void **state)
{
	(void)state;
	fork_ranks(2, forks, 0);
}

/* The progress thread answers while its rank computes. */
static void computes(struct fork_rank *r)
{
	const struct goal_engine_attr attr = { .flags = GOAL_ENGINE_PROGRESS };
	struct goal_run_attr start = { .op_id = 0 };
	struct goal_loaded *l;
	struct goal_run *run;
	uint64_t begin;

	fork_open(r, &attr);
	l = fork_barrier_load(r);
	FORK_CHECK(fork_exec(r, l, 1000) == 0);
	begin = fork_now_ms();
	FORK_CHECK(goal_start(r->group, l, &start, &run) == 0);
	if (r->rank == 1) {
		usleep(1000000);
		FORK_CHECK(goal_run_test(run) == 1);
	} else {
		FORK_CHECK(goal_run_wait(run, -1) == 0);
		FORK_CHECK(fork_now_ms() - begin < 800);
	}
	goal_run_free(run);
	FORK_CHECK(goal_unload(l) == 0);
	fork_close(r);
}

static void progress_thread__answers_for_a_rank_that_computes(void **state)
{
	(void)state;
	fork_ranks(4, computes, 0);
}

/* One of the ranks cannot join: nobody has the group. */
static void one_cannot(struct fork_rank *r)
{
	const struct goal_engine_attr alone = { .flags = GOAL_ENGINE_REMOTE_ONLY };
	struct goal_error error;

	FORK_CHECK(goal_engine_open(r->rank == 1 ? &alone : NULL, &r->engine, &error) == 0);
	FORK_CHECK(goal_group_bootstrap(r->engine, r->rank, r->n, fork_allgather, r, &r->group,
					&error) == -EHOSTUNREACH);
	FORK_CHECK(strlen(error.text) > 10);
	FORK_CHECK(goal_engine_close(r->engine) == 0);
}

static void bootstrap__all_or_nobody(void **state)
{
	(void)state;
	fork_ranks(3, one_cannot, 0);
}

/* The allgather mixes the ranks up. */
static int mixed_up(void *arg, const void *mine, void *all, size_t bytes)
{
	struct fork_rank *r = arg;

	memcpy(all, mine, bytes);
	memcpy((char *)all + bytes, mine, bytes);
	return r->board->flag[0] ? -EIO : 0;
}

static void bootstrap__a_wrong_allgather_is_noticed(void **state)
{
	struct fork_board board = { .flag = { 0 } };
	struct fork_rank r = { .board = &board };
	struct goal_error error;

	(void)state;
	assert_int_equal(goal_engine_open(NULL, &r.engine, &error), 0);
	assert_int_equal(goal_group_bootstrap(r.engine, 0, 2, mixed_up, &r, &r.group, &error),
			 -EINVAL);
	board.flag[0] = 1;
	assert_int_equal(goal_group_bootstrap(r.engine, 0, 2, mixed_up, &r, &r.group, &error),
			 -EIO);
	assert_int_equal(goal_group_bootstrap(r.engine, 2, 2, mixed_up, &r, &r.group, &error),
			 -EINVAL);
	assert_int_equal(goal_engine_close(r.engine), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(exec__collectives_of_2_to_5),
		cmocka_unit_test(exec__waits_asleep),
		cmocka_unit_test(exec__calls_idle_while_it_waits),
		cmocka_unit_test(exec__a_rank_is_killed),
		cmocka_unit_test(exec__a_rank_is_killed_in_a_transfer),
		cmocka_unit_test(close__after_the_last_barrier),
		cmocka_unit_test(close__waits_until_all_is_taken),
		cmocka_unit_test(fork__a_child_leaves_the_parent_alone),
		cmocka_unit_test(progress_thread__answers_for_a_rank_that_computes),
		cmocka_unit_test(bootstrap__all_or_nobody),
		cmocka_unit_test(bootstrap__a_wrong_allgather_is_noticed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
