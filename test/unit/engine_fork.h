/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ranks as processes of their own, for the engine's tests: forked, joined by a board of shared
 * memory, judged by their exit codes. A rank says what is wrong and ends with 1; cmocka's asserts
 * belong to the parent alone.
 */
#ifndef TEST_ENGINE_FORK_H
#define TEST_ENGINE_FORK_H

#include <errno.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include <goal/goal.h>

#define FORK_MOST 8

struct fork_board {
	uint32_t arrived, round;
	uint32_t flag[FORK_MOST]; /* for the tests */
	uint8_t card[FORK_MOST][256];
};

/* What a rank knows. */
struct fork_rank {
	struct fork_board *board;
	uint32_t rank, n;
	struct goal_engine *engine;
	struct goal_group *group;
};

#define FORK_CHECK(condition)                                                                   \
	do {                                                                                    \
		if (!(condition)) {                                                             \
			fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition); \
			_exit(1);                                                               \
		}                                                                               \
	} while (0)

static inline void fork_barrier(struct fork_rank *r)
{
	struct fork_board *b = r->board;
	uint32_t round = __atomic_load_n(&b->round, __ATOMIC_ACQUIRE);

	if (__atomic_add_fetch(&b->arrived, 1, __ATOMIC_ACQ_REL) == r->n) {
		__atomic_store_n(&b->arrived, 0, __ATOMIC_RELAXED);
		__atomic_store_n(&b->round, round + 1, __ATOMIC_RELEASE);
	}
	while (__atomic_load_n(&b->round, __ATOMIC_ACQUIRE) == round)
		sched_yield();
}

static inline int fork_allgather(void *arg, const void *mine, void *all, size_t bytes)
{
	struct fork_rank *r = arg;
	uint32_t i;

	memcpy(r->board->card[r->rank], mine, bytes);
	fork_barrier(r);
	for (i = 0; i < r->n; i++)
		memcpy((char *)all + i * bytes, r->board->card[i], bytes);
	fork_barrier(r);
	return 0;
}

static inline void fork_open(struct fork_rank *r, const struct goal_engine_attr *attr)
{
	struct goal_error error;

	FORK_CHECK(goal_engine_open(attr, &r->engine, &error) == 0);
	goal_engine_cores(r->engine, r->n, 2);
	FORK_CHECK(goal_group_bootstrap(r->engine, r->rank, r->n, fork_allgather, r, &r->group,
					&error) == 0);
}

static inline void fork_close(struct fork_rank *r)
{
	FORK_CHECK(goal_group_free(r->group) == 0);
	FORK_CHECK(goal_engine_close(r->engine) == 0);
}

/* Load @graph, which is freed. */
static inline struct goal_loaded *fork_load(struct fork_rank *r, struct goal_graph *graph)
{
	struct goal_schedule *schedule = NULL;
	struct goal_loaded *loaded = NULL;
	struct goal_error error;

	FORK_CHECK(goal_compile(graph, &schedule, &error) == 0);
	FORK_CHECK(goal_load(r->engine, schedule, &loaded, &error) == 0);
	goal_schedule_free(schedule);
	goal_graph_free(graph);
	return loaded;
}

static inline struct goal_loaded *fork_barrier_load(struct fork_rank *r)
{
	struct goal_comm comm = { .rank = r->rank, .size = r->n };
	struct goal_graph *graph = NULL;

	FORK_CHECK(goal_barrier(&comm, GOAL_ALG_DISSEMINATION, &graph) > 0);
	return fork_load(r, graph);
}

static inline int fork_exec(struct fork_rank *r, struct goal_loaded *l, uint32_t op_id)
{
	struct goal_run_attr attr = { .op_id = op_id };

	return goal_exec(r->group, l, &attr, NULL);
}

static inline uint64_t fork_now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

/*
 * Run @body as @n ranks. Each must exit with 0, but those in @killed (a bit mask) with SIGKILL.
 */
static inline void fork_ranks(uint32_t n, void (*body)(struct fork_rank *r), uint32_t killed)
{
	struct fork_board *board = mmap(NULL, sizeof(*board), PROT_READ | PROT_WRITE,
					MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pid_t pid[FORK_MOST];
	uint32_t i;
	int status;

	assert_ptr_not_equal(board, MAP_FAILED);
	fflush(NULL);
	for (i = 0; i < n; i++) {
		pid[i] = fork();
		assert_true(pid[i] >= 0);
		if (!pid[i]) {
			struct fork_rank r = { .board = board, .rank = i, .n = n };

			alarm(60);
			body(&r);
			/* With the leak check of the sanitizer. */
			exit(0);
		}
	}
	for (i = 0; i < n; i++) {
		assert_int_equal(waitpid(pid[i], &status, 0), pid[i]);
		if (killed & 1u << i)
			assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
		else
			assert_int_equal(status, 0);
	}
	munmap(board, sizeof(*board));
}

#endif /* TEST_ENGINE_FORK_H */
