// SPDX-License-Identifier: BSD-3-Clause
/*
 * The kernel engine, over a device of the test's own (fake_device.h): what is asked of it and
 * when, what becomes of its answers, and what happens when it has no more of something.
 */
#include <sys/wait.h>
#include <unistd.h>

#include "engine_kernel.h"

static const struct goal_engine_attr threads = { .kind = GOAL_ENGINE_KERNEL,
						 .flags = GOAL_ENGINE_PROGRESS };

/* -errno of opening, with a sentence that has @word in it. */
static void refused(const struct goal_engine_attr *attr, int rc, const char *word)
{
	struct goal_engine *e = NULL;
	struct goal_error error = { .code = 0 };

	assert_int_equal(goal_engine_open(attr, &e, &error), rc);
	assert_int_equal(error.code, rc);
	if (!strstr(error.text, word))
		fail_msg("no \"%s\" in \"%s\"", word, error.text);
	assert_null(e);
	assert_int_equal(goal_engine_open(attr, &e, NULL), rc);
	nothing_left();
	fake_reset();
}

static void open__says_why_not(void **state)
{
	struct goal_engine_attr bad = kernel;

	(void)state;
	fake_reset();
	fake.open_rc = -ENOENT;
	refused(&kernel, -ENODEV, "/dev/espgoal");
	fake.open_rc = -ENXIO;
	refused(&kernel, -ENODEV, "load the module");
	fake.open_rc = -EACCES;
	refused(&kernel, -EACCES, "group espgoal");
	fake.open_rc = -EMFILE;
	refused(&kernel, -EMFILE, "/dev/espgoal");
	fake.info.abi = fake.info.abi_oldest = ESPGOAL_ABI + 1;
	refused(&kernel, -EPROTO, "ABI 2 to 2");
	fake.info.abi = fake.info.abi_oldest = ESPGOAL_ABI - 1;
	refused(&kernel, -EPROTO, "ABI 0 to 0");
	fake.info.sched_version = 9;
	refused(&kernel, -EPROTO, "schedules 9");
	fake.map_fails = true;
	refused(&kernel, -EAGAIN, "map");
	bad.runs = 65;
	refused(&bad, -EINVAL, "at most 64");
	bad = kernel;
	bad.area = 17 << 20;
	refused(&bad, -EINVAL, "at most");
	bad = kernel;
	bad.flags = GOAL_ENGINE_REMOTE_ONLY;
	refused(&bad, -EINVAL, "flags");
	bad = kernel;
	bad.sleep_us = 1000001;
	refused(&bad, -EINVAL, "sleep_us");
}

static void open__passes_on_what_the_device_says(void **state)
{
	static const int rcs[] = { -EDQUOT, -ENOMEM, -E2BIG };
	struct goal_engine *e = NULL;
	struct goal_error error;

	(void)state;
	for (uint32_t i = 0; i < 3; i++) {
		fake_reset();
		fake.rc[OPEN] = rcs[i];
		assert_int_equal(goal_engine_open(&kernel, &e, &error), rcs[i]);
		nothing_left();
	}
	fake_reset();
	fake.rc[INFO] = -ENOTTY;
	assert_int_equal(goal_engine_open(&kernel, &e, &error), -EPROTO);
	nothing_left();
}

static void open__and_close(void **state)
{
	struct goal_engine_stats s;
	struct pair p;

	(void)state;
	fake_reset();
	fake.info.abi = ESPGOAL_ABI + 7; /* newer, but it speaks ours, too */
	pair_create(&p, 3, &kernel);
	assert_int_equal(fake.endpoints, 3);
	assert_int_equal(fake.groups, 3);
	assert_int_equal(goal_engine_reach(p.engine[0], &p.address[2]), 0);
	assert_true(goal_address_near(&p.address[0], &p.address[2]));
	assert_false(goal_address_near(&p.address[0], &p.address[1]));
	assert_true(goal_address_kin(&p.address[0], &p.address[1]));
	/* Endpoints are on two nodes by turns. */
	assert_true(goal_group_local(p.group[0], 0));
	assert_false(goal_group_local(p.group[0], 1));
	assert_true(goal_group_local(p.group[0], 2));
	assert_false(goal_group_local(p.group[0], 3));
	assert_false(goal_engine_active(p.engine[0]));
	assert_int_equal(goal_engine_close(p.engine[0]), -EBUSY);
	goal_engine_stats(p.engine[0], &s);
	assert_int_equal(s.runs, 0);
	assert_true(s.allocs > 0);
	pair_free(&p);
	nothing_left();
}

static void group__refuses_strangers(void **state)
{
	struct goal_group_attr attr = { .nonce = 5, .npeers = 2 };
	struct goal_address a[2];
	struct goal_group *g = NULL;
	struct goal_error error;
	struct pair p;

	(void)state;
	fake_reset();
	pair_open(&p, 2, &kernel);
	assert_int_equal(goal_group_create(p.engine[0], &attr, &g, &error), -EINVAL);
	memcpy(a, p.address, sizeof(a));
	attr.addresses = a;
	a[1].bytes[4]++; /* its ABI */
	assert_int_equal(goal_group_create(p.engine[0], &attr, &g, &error), -EPROTO);
	assert_non_null(strstr(error.text, "peer 1"));
	assert_int_equal(goal_engine_reach(p.engine[0], &a[1]), -EPROTO);
	assert_false(goal_address_kin(&a[0], &a[1]));
	memset(&a[1], 0, sizeof(a[1]));
	assert_int_equal(goal_group_create(p.engine[0], &attr, &g, &error), -EINVAL);
	assert_int_equal(goal_engine_reach(p.engine[0], &a[1]), -EINVAL);
	assert_false(goal_address_kin(&a[0], &a[1]));
	assert_false(goal_address_near(&a[0], &a[1]));
	a[1] = p.address[1];
	fake.rc[GROUP] = -EHOSTUNREACH;
	assert_int_equal(goal_group_create(p.engine[0], &attr, &g, &error), -EHOSTUNREACH);
	assert_non_null(strstr(error.text, "interface"));
	attr.npeers = ESPGOAL_SURE_RANKS + 1;
	assert_int_equal(goal_group_create(p.engine[0], &attr, &g, &error), -E2BIG);
	assert_null(g);
	pair_free(&p);
	nothing_left();
	/* On another node, and none of our interfaces is in use. */
	fake_reset();
	fake.info.rails = 0;
	pair_open(&p, 2, &kernel);
	assert_int_equal(goal_engine_reach(p.engine[0], &p.address[1]), -EHOSTUNREACH);
	assert_int_equal(goal_engine_reach(p.engine[0], &p.address[0]), 0);
	pair_free(&p);
}

static void group__computes_what_all_members_do(void **state)
{
	struct pair p, h;

	(void)state;
	fake_reset();
	pair_open(&p, 1, &kernel);
	fake.info.dtypes = 1ull << GOAL_TYPE_INT32;
	p.n = 2;
	assert_int_equal(goal_engine_open(&kernel, &p.engine[1], NULL), 0);
	goal_engine_address(p.engine[1], &p.address[1]);
	p.group[0] = pair_join(&p, 0, 3);
	assert_true(goal_group_computes(p.group[0], GOAL_TYPE_INT32, GOAL_ROP_SUM));
	assert_false(goal_group_computes(p.group[0], GOAL_TYPE_DOUBLE, GOAL_ROP_SUM));
	assert_false(goal_group_computes(p.group[0], GOAL_TYPE_INT32, GOAL_ROP_BXOR));
	pair_free(&p);
	pair_create(&h, 2, NULL);
	assert_true(goal_address_kin(&h.address[0], &h.address[1]));
	assert_true(goal_address_near(&h.address[0], &h.address[1]));
	assert_false(goal_address_kin(&h.address[0], &p.address[0]));
	assert_true(goal_group_computes(h.group[0], GOAL_TYPE_DOUBLE, GOAL_ROP_SUM));
	assert_false(goal_group_computes(h.group[0], GOAL_TYPE_DOUBLE, GOAL_ROP_BXOR));
	assert_false(goal_group_computes(h.group[0], GOAL_TYPES, GOAL_ROP_SUM));
	pair_free(&h);
	nothing_left();
}

static int bootstrap_one(void *arg, const void *mine, void *all, size_t bytes)
{
	(void)arg;
	memcpy(all, mine, bytes);
	return 0;
}

static void group__bootstraps(void **state)
{
	struct goal_engine *e = NULL;
	struct goal_group *g = NULL;
	struct goal_error error;

	(void)state;
	fake_reset();
	assert_int_equal(goal_engine_open(&kernel, &e, &error), 0);
	assert_int_equal(goal_group_bootstrap(e, 0, 1, bootstrap_one, NULL, &g, &error), 0);
	assert_int_equal(goal_group_free(g), 0);
	assert_int_equal(goal_engine_close(e), 0);
	nothing_left();
}

static void run__moves_every_byte(void **state)
{
	static const uint64_t sizes[] = { 0, 1, 8, 64, 1000, 30000 };
	struct pair p;

	(void)state;
	fake_reset();
	pair_create(&p, 2, &kernel);
	for (uint32_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
		pair_check_exchange(&p, sizes[i], i);
	assert_int_equal(pair_stats(&p, 0).runs, 6);
	assert_int_equal(pair_stats(&p, 0).ops, 12);
	assert_int_equal(pair_stats(&p, 1).runs_failed, 0);
	pair_free(&p);
	nothing_left();
}

/* Bytes that no operation writes are the program's, also while the run is active. */
static void run__leaves_gaps_and_what_a_short_message_leaves(void **state)
{
	struct goal_loaded *l[2];
	struct goal_graph *g[2] = { pair_graph(0, 2), pair_graph(1, 2) };
	uint8_t from[4] = { 1, 2, 3, 4 }, to[40];
	struct goal_segment seg[30];
	struct goal_buffer buf[2] = { { NULL, 0 }, { seg, 30 } };
	struct goal_run_attr attr = { .op_id = 1, .nbufs = 2, .bufs = buf };
	struct goal_run *run[2];
	struct pair_bufs b;
	struct pair p;

	(void)state;
	fake_reset();
	pair_create(&p, 2, &kernel);
	assert_true(goal_send(g[0], GOAL_BUF_SEND, 0, 4, 1, 0) >= 0);
	assert_true(goal_send(g[0], GOAL_BUF_SEND, 2, 2, 1, 1) >= 0);
	assert_true(goal_recv(g[1], GOAL_BUF_RECV, 20, 4, 0, 0) >= 0);
	assert_true(goal_recv(g[1], GOAL_BUF_RECV, 2, 8, 0, 1) >= 0);
	l[0] = pair_load(&p, 0, g[0]);
	l[1] = pair_load(&p, 1, g[1]);
	memset(to, 9, sizeof(to));
	/* More segments than the device takes, some of them empty. */
	for (uint32_t i = 0; i < 30; i++)
		seg[i] = (struct goal_segment){ to + i, i % 7 ? 1 : 0 };
	for (uint32_t i = 0, at = 0; i < 30; at += (uint32_t)seg[i++].len)
		seg[i].base = to + at;
	assert_int_equal(goal_start(p.group[1], l[1], &attr, &run[1]), 0);
	assert_int_equal(goal_run_test(run[1]), 0);
	to[15] = 77;
	pair_bind(&b, from, 4, NULL, 0);
	run[0] = pair_start(&p, 0, l[0], 1, &b);
	assert_int_equal(pair_end(&p, run[0]), 0);
	assert_int_equal(pair_end(&p, run[1]), 0);
	for (uint32_t i = 0; i < sizeof(to); i++) {
		uint8_t want = 9;

		if (i >= 20 && i < 24)
			want = from[i - 20];
		else if (i == 2 || i == 3)
			want = from[i];
		else if (i == 15)
			want = 77;
		assert_int_equal(to[i], want);
	}
	assert_int_equal(goal_unload(l[0]), 0);
	assert_int_equal(goal_unload(l[1]), 0);
	pair_free(&p);
	nothing_left();
}

static int done_status;
static uint32_t done_calls;

static void done(void *arg, int status)
{
	(void)arg;
	done_status = status;
	done_calls++;
}

static void run__calls_back_once(void **state)
{
	struct goal_run_attr attr = { .op_id = 4, .done = done };
	struct goal_loaded *l[2];
	struct goal_run *run;
	struct pair p;

	(void)state;
	fake_reset();
	done_calls = 0;
	done_status = -1;
	pair_create(&p, 2, &threads);
	for (uint32_t i = 0; i < 2; i++)
		l[i] = pair_load(&p, i, barrier(i, 2));
	assert_int_equal(goal_start(p.group[0], l[0], &attr, &run), 0);
	assert_true(goal_engine_active(p.engine[0]));
	assert_int_equal(goal_unload(l[0]), -EBUSY);
	assert_int_equal(goal_group_free(p.group[0]), -EBUSY);
	goal_run_free(run); /* given up, not cancelled */
	assert_int_equal(done_calls, 0);
	run = pair_start(&p, 1, l[1], 4, NULL);
	assert_int_equal(goal_run_test(run), 1);
	goal_run_free(run);
	assert_true(goal_engine_progress(p.engine[0]) > 0);
	assert_int_equal(done_calls, 1);
	assert_int_equal(done_status, 0);
	assert_int_equal(goal_engine_progress(p.engine[0]), 0);
	assert_false(goal_engine_active(p.engine[0]));
	for (uint32_t i = 0; i < 2; i++)
		assert_int_equal(goal_unload(l[i]), 0);
	pair_free(&p);
	nothing_left();
}

/* goal_exec() of one rank: in the course of its waiting the other one starts. */
static struct pair *sleepers;
static struct goal_loaded *sleepers_loaded;
static uint32_t idles;

static void start_other(void)
{
	fake.sleeping = NULL;
	goal_run_free(pair_start(sleepers, 1, sleepers_loaded, 6, NULL));
}

static void idle(void)
{
	idles++;
	if (idles == 5)
		start_other();
}

/* One of the waits that are measured before spinning is tried. */
static void asleep_at_first(struct pair *p, struct goal_loaded **l, uint32_t op_id)
{
	struct goal_run_attr attr = { .op_id = op_id };
	struct goal_run *run = pair_start(p, 1, l[1], op_id, NULL);

	assert_int_equal(goal_exec(p->group[0], l[0], &attr, NULL), 0);
	assert_int_equal(pair_end(p, run), 0);
}

static void exec__waits_spinning_or_asleep(void **state)
{
	struct goal_run_attr attr = { .op_id = 6 };
	struct goal_loaded *l[2];
	struct pair p;

	(void)state;
	for (uint32_t spins = 0; spins < 2; spins++) {
		for (uint32_t with = 0; with < 2; with++) {
			fake_reset();
			idles = 0;
			pair_create(&p, 2, &kernel);
			if (spins)
				goal_engine_cores(p.engine[0], 2, 2);
			for (uint32_t i = 0; i < 2; i++)
				l[i] = pair_load(&p, i, barrier(i, 2));
			sleepers = &p;
			sleepers_loaded = l[1];
			for (uint32_t n = 100; spins && n < 116; n++)
				asleep_at_first(&p, l, n);
			if (!with)
				fake.sleeping = start_other;
			assert_int_equal(goal_exec(p.group[0], l[0], &attr, with ? idle : NULL), 0);
			assert_int_equal(idles, with ? 5 : 0);
			if (!spins || !with)
				assert_true(fake.calls[WAIT] > 0);
			else
				assert_int_equal(fake.calls[WAIT], 0);
			for (uint32_t i = 0; i < 2; i++)
				assert_int_equal(goal_unload(l[i]), 0);
			pair_free(&p);
			nothing_left();
		}
	}
}

static void wait__ends_in_time(void **state)
{
	struct goal_loaded *l;
	struct goal_run *run;
	struct pair p;

	(void)state;
	fake_reset();
	pair_create(&p, 2, &kernel);
	l = pair_load(&p, 0, barrier(0, 2));
	run = pair_start(&p, 0, l, 1, NULL);
	assert_int_equal(goal_run_wait(run, 2), -ETIMEDOUT);
	assert_int_equal(goal_run_wait(run, 0), -ETIMEDOUT);
	goal_run_cancel(run);
	assert_int_equal(goal_run_wait(run, -1), -ECANCELED);
	assert_int_equal(goal_run_test(run), -ECANCELED);
	assert_int_equal(goal_run_peer(run), 0);
	goal_run_cancel(run); /* of one that is over */
	goal_run_free(run);
	assert_int_equal(pair_stats(&p, 0).runs_failed, 1);
	assert_int_equal(goal_unload(l), 0);
	pair_free(&p);
	nothing_left();
}

static void load__says_why_not(void **state)
{
	struct goal_schedule *schedule = NULL;
	struct goal_loaded *l = NULL, *kept, *other;
	struct goal_graph *g;
	struct goal_error error;
	uint32_t freed;
	struct pair p;

	(void)state;
	fake_reset();
	pair_create(&p, 2, &kernel);
	g = pair_exchange(0, ESPGOAL_SURE_RUN);
	assert_int_equal(goal_compile(g, &schedule, &error), 0);
	assert_int_equal(goal_load(p.engine[0], schedule, &l, &error), -E2BIG);
	assert_non_null(strstr(error.text, "too large"));
	goal_schedule_free(schedule);
	goal_graph_free(g);
	g = pair_graph(0, 2);
	assert_int_equal(goal_user_size(g, 8), 0);
	assert_true(goal_reduce(g, 1, 0, 0, 0, 1, GOAL_TYPE_USER, GOAL_ROP_USER) >= 0);
	assert_int_equal(goal_compile(g, &schedule, &error), 0);
	assert_int_equal(goal_load(p.engine[0], schedule, &l, &error), -EOPNOTSUPP);
	assert_non_null(strstr(error.text, "compute"));
	fake.rc[LOAD] = -EDQUOT;
	assert_int_equal(goal_load(p.engine[0], schedule, &l, NULL), -EDQUOT);
	/* What is kept idle is given back for it. */
	kept = pair_load(&p, 0, barrier(0, 2));
	fake.rc[LOAD] = -EDQUOT;
	freed = fake.calls[FREE];
	other = pair_load(&p, 0, barrier(0, 2));
	assert_int_equal(fake.calls[FREE], freed + 1);
	assert_int_equal(goal_unload(other), 0);
	assert_int_equal(goal_unload(kept), 0);
	fake.rc[RUN] = -EBADFD;
	goal_schedule_free(schedule);
	goal_graph_free(g);
	g = barrier(0, 2);
	assert_int_equal(goal_compile(g, &schedule, &error), 0);
	assert_int_equal(goal_load(p.engine[0], schedule, &l, &error), -EBADFD);
	assert_null(l);
	/* Without an object for now. */
	fake.rc[RUN] = -ENOMEM;
	assert_int_equal(goal_load(p.engine[0], schedule, &l, &error), 0);
	assert_true(goal_loaded_bytes(l) > 0);
	assert_int_equal(goal_unload(l), 0);
	goal_schedule_free(schedule);
	goal_graph_free(g);
	pair_free(&p);
	nothing_left();
}

static void group__that_fails_ends_its_runs(void **state)
{
	struct goal_run_attr attr = { .op_id = 2 };
	struct goal_loaded *l[2];
	struct goal_run *run;
	struct pair p;

	(void)state;
	fake_reset();
	pair_create(&p, 2, &kernel);
	for (uint32_t i = 0; i < 2; i++)
		l[i] = pair_load(&p, i, barrier(i, 2));
	run = pair_start(&p, 0, l[0], 1, NULL);
	/* A status of the caller's own, which the device does not know. */
	goal_group_fail(p.group[0], -EHOSTDOWN, 1);
	assert_int_equal(goal_run_test(run), -EHOSTDOWN);
	assert_int_equal(goal_run_peer(run), 1);
	goal_run_free(run);
	assert_int_equal(goal_start(p.group[0], l[0], &attr, &run), -EHOSTDOWN);
	goal_run_free(pair_start(&p, 1, l[1], 2, NULL));
	for (uint32_t i = 0; i < 2; i++)
		assert_int_equal(goal_unload(l[i]), 0);
	pair_free(&p);
	nothing_left();
}

static void endpoint__that_ends_ends_its_runs(void **state)
{
	struct goal_run_attr attr = { .op_id = 99 };
	struct goal_run *run[4];
	struct goal_loaded *l;
	struct pair p;

	(void)state;
	fake_reset();
	fake.objects = 2;
	pair_create(&p, 2, &kernel);
	l = pair_load(&p, 0, barrier(0, 2));
	for (uint32_t i = 0; i < 4; i++)
		run[i] = pair_start(&p, 0, l, i, NULL);
	fake_end();
	for (uint32_t i = 0; i < 4; i++)
		assert_int_equal(pair_end(&p, run[i]), -ESHUTDOWN);
	assert_int_equal(goal_start(p.group[0], l, &attr, &run[0]), -ESHUTDOWN);
	assert_int_equal(goal_unload(l), 0);
	pair_free(&p);
	assert_int_equal(fake.open | fake.mapped, 0);
}

static void fork__leaves_the_engine_to_the_parent(void **state)
{
	struct goal_run_attr attr = { .op_id = 1 };
	struct goal_loaded *l[2];
	struct goal_run *run;
	struct pair p;
	int status;
	pid_t pid;

	(void)state;
	fake_reset();
	pair_create(&p, 2, &kernel);
	for (uint32_t i = 0; i < 2; i++)
		l[i] = pair_load(&p, i, barrier(i, 2));
	run = pair_start(&p, 0, l[0], 0, NULL);
	fflush(NULL);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		struct goal_engine_stats s;
		struct goal_run *mine;
		struct goal_error error;
		uint32_t calls = 0;
		int bad = 0;

		for (uint32_t i = 0; i < FAKE_CODES; i++)
			calls += fake.calls[i];
		bad |= goal_start(p.group[0], l[0], &attr, &mine) != -ECHILD;
		bad |= goal_exec(p.group[0], l[0], &attr, NULL) != -ECHILD;
		bad |= goal_run_wait(run, 0) != -ECHILD;
		bad |= goal_engine_progress(p.engine[0]) != 0;
		bad |= goal_engine_active(p.engine[0]);
		bad |= goal_unload(l[0]) != -ECHILD;
		bad |= goal_group_free(p.group[0]) != -ECHILD;
		bad |= goal_engine_reach(p.engine[0], &p.address[1]) != -ECHILD;
		bad |= goal_group_bootstrap(p.engine[0], 0, 1, bootstrap_one, NULL, &p.group[1],
					    &error) != -ECHILD;
		goal_run_cancel(run);
		goal_run_free(run);
		goal_group_fail(p.group[0], -EIO, 0);
		goal_engine_stats(p.engine[0], &s);
		bad |= s.runs != 0 || !goal_loaded_bytes(l[0]);
		/* The mapping is not there: it must not be given back, nor anything asked. */
		bad |= goal_engine_close(p.engine[0]) != 0;
		bad |= fake.mapped != 2 || fake.open != 1;
		for (uint32_t i = 0; i < FAKE_CODES; i++)
			calls -= fake.calls[i];
		_exit(bad || calls);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	goal_run_free(pair_start(&p, 1, l[1], 0, NULL));
	assert_int_equal(pair_end(&p, run), 0);
	for (uint32_t i = 0; i < 2; i++)
		assert_int_equal(goal_unload(l[i]), 0);
	pair_free(&p);
	nothing_left();
}

/* All collectives of a few ranks, against each other in one world. */
static void collectives__reduce_as_the_host_does(void **state)
{
	const struct goal_reduction how = { GOAL_TYPE_INT32, GOAL_ROP_SUM, 4, true };
	struct goal_graph *g = NULL;
	struct goal_loaded *l[4];
	struct goal_run *run[4];
	struct pair_bufs b[4];
	int32_t in[4][3], out[4][3];
	struct pair p;

	(void)state;
	fake_reset();
	pair_create(&p, 4, &kernel);
	for (uint32_t i = 0; i < 4; i++) {
		struct goal_comm c = { .rank = i, .size = 4 };

		assert_true(goal_allreduce(&c, GOAL_ALG_AUTO, 3, &how, false, &g) > 0);
		l[i] = pair_load(&p, i, g);
		for (int32_t k = 0; k < 3; k++) {
			in[i][k] = (int32_t)i * 10 + k;
			out[i][k] = -1;
		}
		pair_bind(&b[i], in[i], 12, out[i], 12);
		run[i] = pair_start(&p, i, l[i], 1, &b[i]);
	}
	for (uint32_t i = 0; i < 4; i++) {
		assert_int_equal(pair_end(&p, run[i]), 0);
		for (int32_t k = 0; k < 3; k++)
			assert_int_equal(out[i][k], 60 + 4 * k);
		assert_int_equal(goal_unload(l[i]), 0);
	}
	pair_free(&p);
	nothing_left();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(open__says_why_not, end),
		cmocka_unit_test_teardown(open__passes_on_what_the_device_says, end),
		cmocka_unit_test_teardown(open__and_close, end),
		cmocka_unit_test_teardown(group__refuses_strangers, end),
		cmocka_unit_test_teardown(group__computes_what_all_members_do, end),
		cmocka_unit_test_teardown(group__bootstraps, end),
		cmocka_unit_test_teardown(run__moves_every_byte, end),
		cmocka_unit_test_teardown(run__leaves_gaps_and_what_a_short_message_leaves, end),
		cmocka_unit_test_teardown(run__calls_back_once, end),
		cmocka_unit_test_teardown(exec__waits_spinning_or_asleep, end),
		cmocka_unit_test_teardown(wait__ends_in_time, end),
		cmocka_unit_test_teardown(load__says_why_not, end),
		cmocka_unit_test_teardown(group__that_fails_ends_its_runs, end),
		cmocka_unit_test_teardown(endpoint__that_ends_ends_its_runs, end),
		cmocka_unit_test_teardown(fork__leaves_the_engine_to_the_parent, end),
		cmocka_unit_test_teardown(collectives__reduce_as_the_host_does, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
