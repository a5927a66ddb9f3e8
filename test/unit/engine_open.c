// SPDX-License-Identifier: BSD-3-Clause
/*
 * Opening and closing engines and groups: attributes, defaults, what is refused and in which
 * words, and that nothing is left behind.
 */
#include <dirent.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "engine_pair.h"

#include "core.h"
#include "host.h"

static uint32_t open_files(void)
{
	DIR *d = opendir("/proc/self/fd");
	uint32_t n = 0;

	assert_non_null(d);
	while (readdir(d))
		n++;
	closedir(d);
	return n;
}

static uint32_t mappings(void)
{
	FILE *f = fopen("/proc/self/maps", "re");
	char line[512];
	uint32_t n = 0;

	assert_non_null(f);
	while (fgets(line, sizeof(line), f))
		n += strstr(line, "memfd:goal") != NULL;
	fclose(f);
	return n;
}

static void open__attributes_out_of_range(void **state)
{
	const struct goal_engine_attr bad[] = {
		{ .kind = 2 },
		{ .flags = 8 },
		{ .ring_slots = 3 },
		{ .ring_slots = 2 },
		{ .ring_slots = 1u << 17 },
		{ .ring_bytes = 1000 },
		{ .ring_bytes = 512 },
		{ .ring_bytes = 1u << 29 },
		{ .eager = 40000 },
		{ .ring_bytes = 1u << 20, .eager = 70000 },
		{ .sleep_us = 2000000 },
	};
	struct goal_engine *e = NULL;
	struct goal_error error;
	uint32_t i;

	(void)state;
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		memset(&error, 0, sizeof(error));
		assert_int_equal(goal_engine_open(&bad[i], &e, &error), -EINVAL);
		assert_int_equal(error.code, -EINVAL);
		assert_true(strlen(error.text) > 10);
		assert_null(e);
		/* The record is optional. */
		assert_int_equal(goal_engine_open(&bad[i], &e, NULL), -EINVAL);
	}
}

static void open__without_descriptors(void **state)
{
	struct rlimit limit, none = { 0, 0 };
	struct goal_engine *e = NULL;
	struct goal_error error;

	(void)state;
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
	none.rlim_max = limit.rlim_max;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
	assert_int_equal(goal_engine_open(NULL, &e, &error), -EMFILE);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
	assert_true(strlen(error.text) > 10);
}

/* The limit on file sizes leaves room for some mailboxes, or for none. */
static void open__within_the_file_size_limit(void **state)
{
	struct rlimit limit, small;
	struct pair p;

	(void)state;
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
	small = limit;
	small.rlim_cur = 1 << 20;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
	pair_create(&p, 2, NULL);
	assert_true(p.engine[0]->boxes > 0 && p.engine[0]->boxes < 16);
	pair_free(&p);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

/* What is shared is large and mostly holes: no core dump fills them, and no child gets them. */
static void open__segments_stay_out_of_core_dumps(void **state)
{
	char line[512];
	uint32_t all = 0, kept = 0;
	bool ours = false;
	struct pair p;
	FILE *f;

	(void)state;
	pair_create(&p, 2, NULL);
	pair_check_exchange(&p, 8, 0); /* each has a mailbox at the other */
	f = fopen("/proc/self/smaps", "re");
	assert_non_null(f);
	while (fgets(line, sizeof(line), f)) {
		unsigned long from, to;

		if (sscanf(line, "%lx-%lx ", &from, &to) == 2)
			ours = strstr(line, "memfd:goal") != NULL;
		if (!ours || strncmp(line, "VmFlags:", 8) != 0)
			continue;
		all++;
		kept += strstr(line, " dd") && strstr(line, " dc");
	}
	fclose(f);
	assert_true(all >= 6); /* segments, headers and mailboxes of two */
	assert_int_equal(kept, all);
	pair_free(&p);
}

static void close__leaves_nothing(void **state)
{
	uint32_t files = open_files(), maps = mappings(), i;

	(void)state;
	for (i = 0; i < 20; i++) {
		uint64_t from[2] = { 1, 2 }, to[2];
		struct goal_loaded *l[2];
		struct goal_run *run[2];
		struct pair p;
		uint32_t k;

		pair_create(&p, 2, NULL);
		assert_true(mappings() > maps);
		for (k = 0; k < 2; k++) {
			struct goal_comm comm = { .rank = k, .size = 2 };
			struct goal_graph *g;

			assert_true(goal_barrier(&comm, GOAL_ALG_AUTO, &g) > 0);
			l[k] = pair_load(&p, k, g);
		}
		for (k = 0; k < 2; k++) {
			struct pair_bufs b;

			pair_bind(&b, &from[k], 8, &to[k], 8);
			run[k] = pair_start(&p, k, l[k], 0, &b);
		}
		for (k = 0; k < 2; k++) {
			assert_int_equal(pair_end(&p, run[k]), 0);
			assert_int_equal(goal_unload(l[k]), 0);
		}
		pair_free(&p);
	}
	assert_int_equal(open_files(), files);
	assert_int_equal(mappings(), maps);
}

static void close__busy_while_something_is_there(void **state)
{
	struct goal_loaded *l;
	struct pair p;

	(void)state;
	pair_create(&p, 1, NULL);
	assert_int_equal(goal_engine_close(p.engine[0]), -EBUSY);
	l = pair_load(&p, 0, pair_graph(0, 1));
	assert_int_equal(goal_group_free(p.group[0]), 0);
	assert_int_equal(goal_engine_close(p.engine[0]), -EBUSY);
	assert_int_equal(goal_unload(l), 0);
	p.group[0] = NULL;
	pair_free(&p);
}

/* The first message of a peer that has left since the last look at new mailboxes. */
static void close__message_in_an_unseen_mailbox(void **state)
{
	uint64_t from = 11, to = 0;
	struct goal_loaded *l[2];
	struct goal_run *run[2];
	struct pair_bufs b;
	struct pair p;
	uint32_t i;

	(void)state;
	pair_create(&p, 2, NULL);
	pair_bind(&b, &from, 8, &to, 8);
	for (i = 0; i < 2; i++)
		l[i] = pair_load(&p, i, pair_one_way(i, 8, 8));
	run[1] = pair_start(&p, 1, l[1], 0, &b);
	run[0] = pair_start(&p, 0, l[0], 0, &b);
	assert_int_equal(goal_run_test(run[0]), 1);
	goal_run_free(run[0]);
	assert_int_equal(goal_unload(l[0]), 0);
	assert_int_equal(goal_group_free(p.group[0]), 0);
	assert_int_equal(goal_engine_close(p.engine[0]), 0);
	p.group[0] = NULL;
	p.engine[0] = NULL;
	host_peers_check(p.engine[1]);
	assert_int_equal(pair_end(&p, run[1]), 0);
	assert_int_equal(to, 11);
	assert_int_equal(goal_unload(l[1]), 0);
	pair_free(&p);
}

static void group_create__what_is_refused(void **state)
{
	struct goal_group_attr attr = { .nonce = 0, .npeers = 1 };
	struct goal_address wrong;
	struct goal_group *g = NULL;
	struct goal_error error;
	struct pair p;

	(void)state;
	pair_create(&p, 1, NULL);
	attr.addresses = p.address;
	assert_int_equal(goal_group_create(p.engine[0], &attr, &g, &error), -EINVAL);
	attr.nonce = 5;
	attr.npeers = 0;
	assert_int_equal(goal_group_create(p.engine[0], &attr, &g, &error), -EINVAL);
	attr.npeers = 1;
	attr.addresses = NULL;
	assert_int_equal(goal_group_create(p.engine[0], &attr, &g, &error), -EINVAL);
	attr.addresses = p.address;
	attr.nonce = p.nonce;
	assert_int_equal(goal_group_create(p.engine[0], &attr, &g, &error), -EEXIST);
	attr.nonce = 5;
	memset(&wrong, 7, sizeof(wrong));
	attr.addresses = &wrong;
	assert_int_equal(goal_group_create(p.engine[0], &attr, &g, &error), -EINVAL);
	assert_int_equal(error.where, 0);
	assert_null(g);
	pair_free(&p);
}

/* An endpoint that is gone is not reached any more, by whoever knew it or not. */
static void reach__closed_endpoint(void **state)
{
	struct pair p;

	(void)state;
	pair_open(&p, 3, NULL);
	assert_int_equal(goal_engine_reach(p.engine[0], &p.address[1]), 0);
	assert_int_equal(goal_engine_close(p.engine[1]), 0);
	p.engine[1] = NULL;
	assert_int_equal(goal_engine_reach(p.engine[2], &p.address[1]), -EHOSTUNREACH);
	assert_int_equal(goal_engine_reach(p.engine[0], &p.address[1]), -EHOSTUNREACH);
	pair_free(&p);
}

static void load__refuses_bad_schedules(void **state)
{
	struct goal_schedule *schedule;
	struct goal_loaded *l = NULL;
	struct goal_graph *g;
	struct goal_error error;
	struct goal_sched_hdr *hdr;
	struct pair p;
	size_t bytes;

	(void)state;
	pair_create(&p, 1, NULL);
	g = pair_graph(0, 1);
	assert_true(goal_nop(g) >= 0);
	assert_int_equal(goal_compile(g, &schedule, &error), 0);
	goal_graph_free(g);
	/* The bytes are the caller's to read only: this caller breaks the rule. */
	hdr = (struct goal_sched_hdr *)(uintptr_t)goal_schedule_data(schedule, &bytes);
	hdr->flags = 1;
	memset(&error, 0, sizeof(error));
	assert_int_equal(goal_load(p.engine[0], schedule, &l, &error), -EINVAL);
	assert_true(strlen(error.text) > 10);
	hdr->flags = 0;
	assert_int_equal(goal_load(p.engine[0], schedule, &l, &error), 0);
	assert_int_equal(goal_unload(l), 0);
	goal_schedule_free(schedule);
	pair_free(&p);
}

/* Where the kernel has no pidfd, this is how a dead peer is told that nobody has waited for. */
static void fork__a_zombie_is_gone(void **state)
{
	siginfo_t info;
	pid_t pid;

	(void)state;
	assert_true(host_process_since((uint32_t)getpid()) != 0);
	pid = fork();
	if (!pid)
		_exit(0);
	assert_true(pid > 0);
	assert_int_equal(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), 0);
	assert_true(host_process_since((uint32_t)pid) == 0);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

/* Another thread of the parent's is in the engine at the fork: the child must not wait for it. */
static void fork__with_the_lock_held(void **state)
{
	const struct goal_engine_attr attr = { .flags = GOAL_ENGINE_THREADS };
	struct goal_engine_stats stats;
	struct goal_loaded *l;
	struct pair p;
	int status;
	pid_t pid;

	(void)state;
	pair_create(&p, 2, &attr);
	l = pair_load(&p, 0, pair_exchange(0, 8));
	host_lock(p.engine[0]);
	pid = fork();
	if (!pid) {
		alarm(20);
		goal_engine_stats(p.engine[0], &stats);
		if (stats.loads || goal_engine_active(p.engine[0]) || !goal_loaded_bytes(l) ||
		    goal_unload(l) != -ECHILD)
			_exit(1);
		_exit(0);
	}
	host_unlock(p.engine[0]);
	assert_true(pid > 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	assert_int_equal(pair_stats(&p, 0).loads, 1);
	assert_int_equal(goal_unload(l), 0);
	pair_free(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(open__attributes_out_of_range),
		cmocka_unit_test(open__without_descriptors),
		cmocka_unit_test(open__within_the_file_size_limit),
		cmocka_unit_test(open__segments_stay_out_of_core_dumps),
		cmocka_unit_test(close__leaves_nothing),
		cmocka_unit_test(close__busy_while_something_is_there),
		cmocka_unit_test(close__message_in_an_unseen_mailbox),
		cmocka_unit_test(group_create__what_is_refused),
		cmocka_unit_test(reach__closed_endpoint),
		cmocka_unit_test(load__refuses_bad_schedules),
		cmocka_unit_test(fork__a_zombie_is_gone),
		cmocka_unit_test(fork__with_the_lock_held),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
