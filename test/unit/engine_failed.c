// SPDX-License-Identifier: BSD-3-Clause
/*
 * Failed runs with peers behind a remote transport: whatever fails where, each part of the run
 * ends, those that end well have the right data, no message is left in the transport, and the
 * next run with the same tags is good.
 */
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "engine_wire.h"
#include "libgoal/engine/host.h"
#include "no_memory.h"

enum {
	RANKS = 4,
	BLOCK = 64,
	BYTES = RANKS * BLOCK,
	BASE = 1000,
	WORD = 77
};

/* What goes wrong. */
enum fault {
	ISEND,  /* the transport refuses a send */
	IRECV,  /* or a receive */
	LONG,   /* a message is longer than its receive */
	CANCEL, /* a rank gives up after some progress */
	REFUSE, /* a rank has no buffers to start with */
	REDUCE, /* a rank's callback fails */
	MEMORY, /* a rank has few transfers, and for some time no memory for more */
	FAULTS
};

static const int status_of[FAULTS] = { -ENOBUFS, -ENOBUFS, -EMSGSIZE, -ECANCELED,
				       -EFAULT,  -EDOM,    -ENOMEM };

struct rank {
	struct goal_loaded *loaded;
	struct goal_run *run;
	struct pair_bufs bufs;
	uint8_t in[BYTES], out[BYTES], good[BYTES];
	int status; /* of goal_start() */
	bool reduce_fails;
};

struct world {
	struct pair p;
	struct rank rank[RANKS];
	uint32_t starts;
};

/* Leave @left transfers to @e, or give it back the rest. */
static void shortage(struct goal_engine *e, bool on, uint32_t left)
{
	static struct host_xfer *all[2048];
	static uint32_t n;

	no_memory = on;
	while (!on && n)
		host_xfer_put(e, all[--n]);
	while (on && e->nfree_xfers > left) {
		assert_true(n < 2048);
		all[n++] = host_xfer_get(e, NULL, 0, HOST_XFER_OFFERED);
	}
}

static int build(const struct goal_comm *c, uint32_t coll, struct goal_graph **g)
{
	const struct goal_reduction sum = {
		.dtype = GOAL_TYPE_USER, .rop = GOAL_ROP_USER, .size = 8, .commutative = true
	};

	switch (coll) {
	case 0:
		return goal_barrier(c, GOAL_ALG_DISSEMINATION, g);
	case 1:
		return goal_alltoall(c, GOAL_ALG_LINEAR, BLOCK, BLOCK, false, g);
	case 2:
		return goal_alltoall(c, GOAL_ALG_BRUCK, BLOCK, BLOCK, false, g);
	case 3:
		return goal_allgather(c, GOAL_ALG_BRUCK, BLOCK, BLOCK, false, g);
	case 4:
		return goal_gather(c, GOAL_ALG_BINOMIAL, 3, BLOCK, false, g);
	case 5:
		return goal_bcast(c, GOAL_ALG_BINOMIAL, 1, BYTES, g);
	case 6:
		return goal_allreduce(c, GOAL_ALG_RECURSIVE_DOUBLING, BYTES / 8, &sum, false, g);
	case 7:
		return goal_reduce_to(c, GOAL_ALG_BINOMIAL, 2, BYTES / 8, &sum, false, g);
	default:
		return goal_scan(c, GOAL_ALG_AUTO, BYTES / 8, &sum, false, g);
	}
}

enum {
	COLLS = 9
};

static int reduce(void *arg, const void *in, void *inout, uint64_t count)
{
	const struct rank *r = arg;
	const uint64_t *a = in;
	uint64_t *b = inout;

	if (r->reduce_fails)
		return -EDOM;
	while (count--)
		*b++ += *a++;
	return 0;
}

/* @per_node ranks share memory. */
static void open_world(struct world *w, uint32_t per_node)
{
	struct goal_error error;
	uint32_t i;

	memset(w, 0, sizeof(*w));
	memset(&wire, 0, sizeof(wire));
	wire.delay = 1;
	w->p.n = RANKS;
	for (i = 0; i < RANKS; i++) {
		struct goal_engine_attr attr = { .node = i / per_node };

		assert_int_equal(goal_engine_open(&attr, &w->p.engine[i], &error), 0);
		goal_engine_address(w->p.engine[i], &w->p.address[i]);
	}
	for (i = 0; i < RANKS; i++) {
		struct goal_group_attr group = { .nonce = 99,
						 .rank = i,
						 .npeers = RANKS,
						 .addresses = w->p.address,
						 .remote = &wire_tell_ops,
						 .remote_arg = &wire_ends[i],
						 .remote_word = WORD };

		assert_int_equal(goal_group_create(w->p.engine[i], &group, &w->p.group[i], &error),
				 0);
	}
}

static void load_world(struct world *w, uint32_t coll)
{
	struct goal_comm comm = { .size = RANKS };
	struct goal_graph *g;
	uint32_t i;

	for (i = 0; i < RANKS; i++) {
		comm.rank = i;
		assert_true(build(&comm, coll, &g) >= 0);
		w->rank[i].loaded = pair_load(&w->p, i, g);
	}
}

static void start_calling(struct world *w, uint32_t i, bool refused,
			  void (*done)(void *arg, int status))
{
	struct rank *r = &w->rank[i];
	struct goal_run_attr attr = { .op_id = 1,
				      .start = w->starts,
				      .remote_tag = BASE,
				      .nbufs = refused ? 0 : 2,
				      .bufs = r->bufs.buf,
				      .reduce = reduce,
				      .reduce_arg = r,
				      .done = done,
				      .done_arg = w };

	pair_fill(r->in, BYTES, i);
	memset(r->out, 0, BYTES);
	if (i == 1)
		memcpy(r->out, r->in, BYTES); /* a broadcast's root has it there */
	pair_bind(&r->bufs, r->in, BYTES, r->out, BYTES);
	r->run = NULL;
	r->status = goal_start(w->p.group[i], r->loaded, &attr, &r->run);
}

static void start_rank(struct world *w, uint32_t i, bool refused)
{
	start_calling(w, i, refused, NULL);
}

static void progress(struct world *w)
{
	uint32_t i;

	for (i = 0; i < RANKS; i++)
		goal_engine_progress(w->p.engine[i]);
}

/* Progress until all is over, what was refused included, or for 5 s. */
static bool all_over(struct world *w)
{
	time_t end = time(NULL) + 5;
	bool active;
	uint32_t i;

	do {
		progress(w);
		active = false;
		for (i = 0; i < RANKS; i++)
			active |= goal_engine_active(w->p.engine[i]);
	} while (active && time(NULL) < end);
	return !active;
}

/* The outcomes, of runs that are all over. */
static uint32_t take_outcomes(struct world *w, int fault)
{
	uint32_t i, failed = 0;

	for (i = 0; i < RANKS; i++) {
		struct rank *r = &w->rank[i];
		int rc = r->status;

		if (r->run) {
			rc = goal_run_test(r->run);
			rc = rc == 1 ? 0 : rc;
			goal_run_free(r->run);
		}
		if (!rc) {
			assert_memory_equal(r->out, r->good, BYTES);
			continue;
		}
		failed++;
		if (rc != -ECONNABORTED)
			assert_int_equal(rc, fault);
	}
	return failed;
}

static void good_run(struct world *w)
{
	uint32_t i;

	w->starts++;
	for (i = 0; i < RANKS; i++)
		start_rank(w, i, false);
	assert_true(all_over(w));
	assert_int_equal(take_outcomes(w, 0), 0);
	assert_int_equal(wire.active, 0);
	wire.n = 0;
}

/* What good runs give. */
static void learn(struct world *w)
{
	uint32_t i;

	w->starts++;
	for (i = 0; i < RANKS; i++)
		start_rank(w, i, false);
	assert_true(all_over(w));
	for (i = 0; i < RANKS; i++) {
		struct rank *r = &w->rank[i];

		assert_int_equal(goal_run_test(r->run), 1);
		goal_run_free(r->run);
		memcpy(r->good, r->out, BYTES);
	}
	assert_int_equal(wire.active, 0);
	wire.n = 0;
}

/*
 * @fault strikes at place @n. Rank @late starts when the others have come to a halt. Is there
 * another place? *@struck counts the attempts that failed.
 */
static bool attempt(struct world *w, uint32_t fault, uint32_t n, uint32_t late, uint32_t *struck)
{
	uint32_t i, k, failed;

	wire.nth_isend = fault == ISEND ? n + 1 : 0;
	wire.nth_irecv = fault == IRECV ? n + 1 : 0;
	wire.nth_short = fault == LONG ? n + 1 : 0;
	w->starts++;
	for (i = 0; i < RANKS; i++)
		w->rank[i].reduce_fails = fault == REDUCE && i == n % RANKS;
	if (fault == MEMORY)
		shortage(w->p.engine[n % RANKS], true, n / RANKS);
	for (i = 0; i < RANKS; i++)
		if (i != late)
			start_rank(w, i, fault == REFUSE && i == n);
	for (k = 0; k < 50; k++)
		progress(w);
	shortage(w->p.engine[n % RANKS], false, 0);
	if (late < RANKS)
		start_rank(w, late, fault == REFUSE && late == n);
	if (fault == CANCEL) {
		for (k = 0; k < n / RANKS; k++)
			progress(w);
		if (w->rank[n % RANKS].run)
			goal_run_cancel(w->rank[n % RANKS].run);
	}
	assert_true(all_over(w));
	for (i = 0; i < RANKS; i++)
		w->rank[i].reduce_fails = false;
	failed = take_outcomes(w, status_of[fault]);
	assert_int_equal(wire.active, 0);
	wire.n = 0;
	*struck += failed != 0;
	if (fault <= LONG)
		return !(wire.nth_isend | wire.nth_irecv | wire.nth_short);
	return n < 5 * RANKS;
}

static void every_place(uint32_t per_node, uint32_t fault)
{
	struct world w;
	uint32_t i, n, coll, struck = 0;

	open_world(&w, per_node);
	for (coll = 0; coll < COLLS; coll++) {
		load_world(&w, coll);
		learn(&w);
		for (n = 0; attempt(&w, fault, n, n % (RANKS + 1), &struck); n++)
			good_run(&w);
		wire.nth_isend = wire.nth_irecv = wire.nth_short = 0;
		good_run(&w);
		for (i = 0; i < RANKS; i++)
			assert_int_equal(goal_unload(w.rank[i].loaded), 0);
	}
	assert_true(struck > 2 * COLLS);
	pair_free(&w.p);
}

static void failed__refused_sends(void **state)
{
	(void)state;
	every_place(1, ISEND);
	every_place(2, ISEND);
}

static void failed__refused_receives(void **state)
{
	(void)state;
	every_place(1, IRECV);
	every_place(2, IRECV);
}

static void failed__long_messages(void **state)
{
	(void)state;
	every_place(1, LONG);
	every_place(2, LONG);
}

static void failed__cancelled_runs(void **state)
{
	(void)state;
	every_place(1, CANCEL);
	every_place(2, CANCEL);
}

static void failed__refused_starts(void **state)
{
	(void)state;
	every_place(1, REFUSE);
	every_place(2, REFUSE);
	every_place(4, REFUSE); /* nobody is remote */
}

static void failed__reductions(void **state)
{
	(void)state;
	every_place(1, REDUCE);
	every_place(2, REDUCE);
}

static void failed__no_memory(void **state)
{
	(void)state;
	every_place(1, MEMORY);
	every_place(2, MEMORY);
}

/* A peer that is owed nothing does not hear of it, and ends well. */
static void failed__who_is_owed_nothing_ends_well(void **state)
{
	struct world w;
	uint32_t i;

	(void)state;
	open_world(&w, 1);
	load_world(&w, 4); /* a gather */
	learn(&w);
	w.starts++;
	for (i = 0; i < RANKS; i++)
		start_rank(&w, i, i == 3); /* its root */
	assert_int_equal(w.rank[3].status, -EFAULT);
	assert_true(all_over(&w));
	assert_int_equal(take_outcomes(&w, -EFAULT), 1);
	assert_int_equal(wire.active, 0);
	good_run(&w);
	for (i = 0; i < RANKS; i++)
		assert_int_equal(goal_unload(w.rank[i].loaded), 0);
	pair_free(&w.p);
}

/* What does not come from a peer, or is nonsense, is dropped. */
static void failed__forged_words(void **state)
{
	uint64_t word[4] = { 0x123456789abcdefull, 42, 43, 44 };
	struct world w;
	void *request;
	uint32_t i;

	(void)state;
	open_world(&w, 1);
	load_world(&w, 0);
	learn(&w);
	word[0] = (uint64_t)1 << 32 | (w.starts + 1);
	assert_int_equal(wire_isend(&wire_ends[1], 0, WORD, 0, word, 24, &request), 0);
	w.starts++;
	start_rank(&w, 0, false);
	for (i = 0; i < 100000 && !((struct wire_request *)request)->matched; i++)
		progress(&w);
	assert_true(((struct wire_request *)request)->matched);
	assert_int_equal(pair_stats(&w.p, 0).drops, 1);
	((struct wire_request *)request)->used = false;
	wire.active--;
	for (i = 1; i < RANKS; i++)
		start_rank(&w, i, false);
	assert_true(all_over(&w));
	assert_int_equal(take_outcomes(&w, 0), 0);
	for (i = 0; i < RANKS; i++)
		assert_int_equal(goal_unload(w.rank[i].loaded), 0);
	pair_free(&w.p);
}

/* Words arrive, whether or not their receiver listens. */
static void words_arrive(void)
{
	uint32_t i;

	for (i = 0; i < wire.n; i++)
		if (wire.request[i].used && wire.request[i].base == WORD)
			wire.request[i].matched = true;
}

/* A run that waits for remote peers' answers ends when its group does, by a near peer's death. */
static void failed__a_near_peer_dies(void **state)
{
	struct host_peer *p;
	struct world w;
	uint32_t i;
	pid_t pid;

	(void)state;
	open_world(&w, 2);
	load_world(&w, 1);
	learn(&w);
	w.starts++;
	start_rank(&w, 0, true);
	for (i = 0; i < 50; i++)
		progress(&w);
	words_arrive();
	for (i = 0; i < 50; i++)
		progress(&w);
	assert_true(goal_engine_active(w.p.engine[0]));

	pid = fork();
	if (!pid)
		_exit(0);
	assert_true(pid > 0);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	p = w.p.group[0]->peer[1];
	if (p->pidfd >= 0)
		close(p->pidfd);
	p->pidfd = -1;
	p->pid = (u32)pid;
	host_peers_check(w.p.engine[0]);
	assert_int_equal(w.p.group[0]->status, -ECONNRESET);
	assert_int_equal(w.p.group[0]->status_peer, 1);
	assert_true(all_over(&w));
	assert_int_equal(wire.active, 0);
	for (i = 0; i < RANKS; i++)
		assert_int_equal(goal_unload(w.rank[i].loaded), 0);
	pair_free(&w.p);
}

static void start_next(void *arg, int status)
{
	struct world *w = arg;

	assert_int_equal(status, -ENOMEM);
	w->starts++;
	start_rank(w, 0, false);
}

/* Rank 0 waits for rank 3 in one run, and that fails in the next. */
static void owe_a_word(struct world *w, struct goal_run **run)
{
	open_world(w, 1);
	load_world(w, 5);
	learn(w);
	w->starts++;
	start_calling(w, 0, false, start_next);
	assert_int_equal(w->rank[0].status, 0);
	*run = w->rank[0].run;
	w->starts++;
	start_rank(w, 3, true);
	assert_int_equal(w->rank[3].status, -EFAULT);
	w->starts--;
}

/* The group of rank 0 has failed; the others' fail, too, and all is over. */
static void end_word(struct world *w, struct goal_run *run)
{
	uint32_t i;

	for (i = 1; i < RANKS; i++)
		goal_group_fail(w->p.group[i], -EHOSTDOWN, 0);
	assert_true(all_over(w));
	assert_int_equal(goal_run_test(run), -ENOMEM);
	goal_run_free(run);
	/* The next run was refused. */
	assert_int_equal(w->rank[0].status, -ENOMEM);
	assert_null(w->rank[0].run);
	assert_int_equal(wire.active, 0);
	for (i = 0; i < RANKS; i++)
		assert_int_equal(goal_unload(w->rank[i].loaded), 0);
	pair_free(&w->p);
}

/* A run that is over when it starts, and has a word that came before it, is let alone. */
static void failed__early_word_in_a_failed_group(void **state)
{
	struct goal_engine *e;
	struct goal_run *run;
	struct world w;
	time_t end = time(NULL) + 5;

	(void)state;
	owe_a_word(&w, &run);
	e = w.p.engine[0];
	while (!e->nearly && time(NULL) < end)
		progress(&w);
	assert_int_equal(e->nearly, 1);
	goal_group_fail(w.p.group[0], -ENOMEM, 2);
	end_word(&w, run);
}

static struct goal_engine *deaf;

/* Another thread takes all memory that the listener had made sure of. */
static int hear_and_take(void *arg, int64_t base, void *word, uint64_t bytes)
{
	int rc = wire_hear(arg, base, word, bytes);

	if (rc == 1) {
		no_memory = true;
		while (host_msg_get(deaf, 0))
			;
	}
	return rc;
}

static void failed__no_memory_for_a_word(void **state)
{
	struct goal_remote_ops ops = wire_tell_ops;
	struct goal_run *run;
	struct world w;
	time_t end = time(NULL) + 5;

	(void)state;
	owe_a_word(&w, &run);
	deaf = w.p.engine[0];
	ops.hear = hear_and_take;
	w.p.group[0]->remote = &ops;
	while (!no_memory && time(NULL) < end)
		progress(&w);
	assert_true(no_memory);
	no_memory = false;
	assert_int_equal(w.p.group[0]->status, -ENOMEM);
	assert_int_equal(w.p.group[0]->status_peer, 3);
	end_word(&w, run);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(failed__refused_sends),
		cmocka_unit_test(failed__refused_receives),
		cmocka_unit_test(failed__long_messages),
		cmocka_unit_test(failed__cancelled_runs),
		cmocka_unit_test(failed__refused_starts),
		cmocka_unit_test(failed__reductions),
		cmocka_unit_test(failed__no_memory),
		cmocka_unit_test(failed__who_is_owed_nothing_ends_well),
		cmocka_unit_test(failed__forged_words),
		cmocka_unit_test(failed__a_near_peer_dies),
		cmocka_unit_test(failed__early_word_in_a_failed_group),
		cmocka_unit_test(failed__no_memory_for_a_word),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
