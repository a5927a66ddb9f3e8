// SPDX-License-Identifier: BSD-3-Clause
/*
 * The entries of a run, one situation at a time: what starts when, what each entry answers, how
 * runs fail, and how they end.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "home/build.h"
#include "home/home.h"

/* A run whose operations answer what the test wants, and whose calls are written down. */
struct probe {
	struct home_run home; /* first: converted */
	struct build build;
	struct core_sched sched;
	void *data, *arrays;
	int answer[16]; /* by operation */
	char log[256];  /* one letter and digit each: S3 started, D delivered, P posted, ... */
	u32 dropped, done;
	u32 drops, later; /* how many may be dropped in an entry; entries that had to end early */
	void (*hook)(struct probe *p, u32 op); /* within the env function of @op */
	void (*on_done)(struct probe *p);
};

static struct probe *probe_of(struct home_run *h)
{
	return (struct probe *)h;
}

static void note(struct probe *p, char what, u32 op)
{
	size_t n = strlen(p->log);

	assert_true(n + 3 < sizeof(p->log));
	assert_false(p->home.locked);
	p->log[n] = what;
	p->log[n + 1] = (char)('0' + op);
	p->log[n + 2] = 0;
}

static int reply(struct probe *p, char what, u32 op)
{
	note(p, what, op);
	if (p->hook)
		p->hook(p, op);
	return p->answer[op];
}

static int probe_send(struct home_run *h, u32 op)
{
	return reply(probe_of(h), 'S', op);
}

static int probe_post(struct home_run *h, u32 op)
{
	return reply(probe_of(h), 'P', op);
}

static int probe_deliver(struct home_run *h, u32 op, void *msg)
{
	assert_ptr_equal(msg, h);
	h->core.rlen[probe_of(h)->sched.op[op].slot] = 1;
	return reply(probe_of(h), 'D', op);
}

static int probe_move(struct home_run *h, u32 op)
{
	return reply(probe_of(h), 'M', op);
}

static int probe_reduce(struct home_run *h, u32 op)
{
	return reply(probe_of(h), 'R', op);
}

static void probe_drop(struct home_run *h, void *msg)
{
	assert_ptr_equal(msg, h);
	assert_false(h->locked);
	probe_of(h)->dropped++;
}

static bool probe_drop_more(struct home_run *h)
{
	assert_false(h->locked);
	assert_false(h->core.over);
	if (!probe_of(h)->drops)
		return false;
	probe_of(h)->drops--;
	return true;
}

static void probe_later(struct home_run *h)
{
	assert_false(h->locked);
	probe_of(h)->later++;
}

static void probe_done(struct home_run *h)
{
	struct probe *p = probe_of(h);

	assert_false(h->locked);
	assert_true(h->core.over);
	assert_int_equal(h->core.busy, 0);
	p->done++;
	if (p->on_done)
		p->on_done(p);
}

static const struct home_ops probe_ops = {
	.send = probe_send,
	.post = probe_post,
	.deliver = probe_deliver,
	.move = probe_move,
	.reduce = probe_reduce,
	.drop = probe_drop,
	.drop_more = probe_drop_more,
	.later = probe_later,
	.done = probe_done,
};

static struct probe *probe_new(void)
{
	struct probe *p = calloc(1, sizeof(*p));

	assert_non_null(p);
	p->home.ops = &probe_ops;
	p->drops = ~0u;
	pthread_mutex_init(&p->home.mutex, NULL);
	p->build.hdr = (struct goal_sched_hdr){ .npeers = 4, .nbufs = 2, .ntags = 2 };
	return p;
}

/* What was built is compiled, and the run reset. */
static struct core_run *probe_ready(struct probe *p)
{
	struct core_error e;
	size_t len;

	p->data = build_bytes(&p->build, &len);
	assert_int_equal(build_verify(p->data, len, &p->sched, &e), 0);
	p->arrays = malloc(core_run_bytes(&p->sched));
	core_run_init(&p->home.core, &p->sched, p->arrays);
	core_run_reset(&p->home.core);
	return &p->home.core;
}

static void probe_free(struct probe *p)
{
	pthread_mutex_destroy(&p->home.mutex);
	free(p->data);
	free(p->arrays);
	free(p);
}

static int message(struct probe *p, u32 src, u32 tag, u32 instance)
{
	return core_message(&p->home.core, src, tag, instance, p);
}

static void start__ends_an_empty_schedule(void **state)
{
	struct probe *p = probe_new();

	(void)state;
	core_start(probe_ready(p));
	assert_int_equal(p->done, 1);
	assert_int_equal(p->home.core.status, 0);
	probe_free(p);
}

static void start__follows_requires_and_irequires(void **state)
{
	struct probe *p = probe_new();
	struct core_run *r;

	(void)state;
	build_send(&p->build, 0, 0, 1, 1, 0);
	build_copy(&p->build, 1, 0, 0, 0, 1); /* requires the send */
	build_copy(&p->build, 1, 1, 0, 0, 1); /* irequires the send */
	build_nop(&p->build);                 /* requires 1, irequires 2 */
	build_send(&p->build, 0, 0, 1, 2, 0); /* requires the nop */
	build_edge(&p->build, 0, 1, false);
	build_edge(&p->build, 0, 2, true);
	build_edge(&p->build, 1, 3, false);
	build_edge(&p->build, 2, 3, true);
	build_edge(&p->build, 3, 4, false);
	p->answer[0] = p->answer[2] = CORE_PENDING;
	r = probe_ready(p);
	core_start(r);
	assert_string_equal(p->log, "S0M2");
	assert_int_equal(r->busy, 2);
	core_op_done(r, 0, 0);
	assert_string_equal(p->log, "S0M2M1S4");
	assert_int_equal(p->done, 0);
	core_op_done(r, 2, 0);
	assert_int_equal(p->done, 1);
	assert_int_equal(r->status, 0);
	probe_free(p);
}

/* Receives 0 and 1 are independent, 2 waits for a send that ends late. */
static struct probe *three_receives(void)
{
	struct probe *p = probe_new();

	build_recv(&p->build, 0, 0, 8, 1, 0);
	build_recv(&p->build, 0, 8, 8, 1, 0);
	build_send(&p->build, 1, 0, 8, 3, 0);
	build_recv(&p->build, 0, 16, 8, 2, 1);
	build_edge(&p->build, 2, 3, false);
	p->answer[0] = p->answer[1] = p->answer[2] = p->answer[3] = CORE_PENDING;
	return p;
}

static void message__waits_for_its_receive(void **state)
{
	struct probe *p = three_receives();
	struct core_run *r = probe_ready(p);

	(void)state;
	p->answer[1] = CORE_DONE;
	assert_int_equal(message(p, 1, 0, 1), 0); /* before the start */
	assert_string_equal(p->log, "");
	core_start(r);
	assert_string_equal(p->log, "P0D1S2");
	assert_int_equal(message(p, 2, 1, 0), 0); /* ahead of its receive */
	assert_string_equal(p->log, "P0D1S2");
	core_op_done(r, 2, 0);
	assert_string_equal(p->log, "P0D1S2D3");
	core_op_done(r, 3, 0);
	assert_int_equal(message(p, 1, 0, 0), 0); /* posted */
	assert_string_equal(p->log, "P0D1S2D3D0");
	assert_int_equal(p->done, 0);
	core_op_done(r, 0, 0);
	assert_int_equal(p->done, 1);
	assert_int_equal(r->status, 0);
	assert_int_equal(p->dropped, 0);
	probe_free(p);
}

static void message__is_refused_with_a_reason(void **state)
{
	struct probe *p = three_receives();
	struct core_run *r = probe_ready(p);

	(void)state;
	assert_int_equal(message(p, 1, 0, 2), -ENOENT);
	assert_int_equal(message(p, 1, 1, 0), -ENOENT);
	assert_int_equal(message(p, 3, 0, 0), -ENOENT);
	assert_int_equal(message(p, ~0u, ~0u, ~0u), -ENOENT);
	assert_int_equal(message(p, 2, 1, 0), 0);
	assert_int_equal(message(p, 2, 1, 0), -EEXIST); /* the first one still waits */
	core_start(r);
	assert_int_equal(message(p, 2, 1, 0), -EEXIST);
	assert_int_equal(message(p, 1, 0, 0), 0);
	assert_int_equal(message(p, 1, 0, 0), -EEXIST); /* being delivered */
	core_op_done(r, 0, 0);
	assert_int_equal(message(p, 1, 0, 0), -EEXIST); /* delivered */
	core_cancel(r, -EIO, 2);
	assert_int_equal(message(p, 1, 0, 1), -ECANCELED);
	assert_int_equal(core_message_claim(r, 1, 0, 1), -ECANCELED);
	core_op_done(r, 2, 0);
	assert_int_equal(p->done, 1);
	assert_int_equal(p->dropped, 1);
	assert_int_equal(message(p, 1, 0, 1), -ECANCELED);
	assert_int_equal(message(p, 3, 0, 0), -ENOENT);
	probe_free(p);
}

static void message_claim__hands_over_a_posted_receive(void **state)
{
	struct probe *p = three_receives();
	struct core_run *r = probe_ready(p);

	(void)state;
	assert_int_equal(core_message_claim(r, 1, 0, 0), -EAGAIN);
	core_start(r);
	assert_int_equal(core_message_claim(r, 2, 1, 0), -EAGAIN);
	assert_int_equal(message(p, 2, 1, 0), 0);
	assert_int_equal(core_message_claim(r, 2, 1, 0), -EEXIST);
	assert_int_equal(core_message_claim(r, 3, 1, 0), -ENOENT);
	assert_int_equal(core_message_claim(r, 1, 0, 1), 1);
	assert_int_equal(core_message_claim(r, 1, 0, 1), -EEXIST);
	assert_int_equal(message(p, 1, 0, 1), -EEXIST);
	/* It holds the run. */
	core_cancel(r, -EIO, GOAL_OP_NONE);
	core_op_done(r, 2, 0);
	assert_int_equal(p->done, 0);
	core_op_done(r, 1, 0);
	assert_int_equal(p->done, 1);
	probe_free(p);
}

/* Within env_post() of receive 0, before it answers. */
static void end_at_once(struct probe *p, u32 op)
{
	if (op == 0) {
		p->home.core.rlen[p->sched.op[0].slot] = 0;
		core_op_done(&p->home.core, 0, 0);
	}
}

static void fail_at_once(struct probe *p, u32 op)
{
	if (op == 0)
		core_op_done(&p->home.core, 0, -EPROTO);
}

static void cancel_at_once(struct probe *p, u32 op)
{
	if (op == 0)
		core_cancel(&p->home.core, -ETIME, 1);
}

static void post__may_take_the_receive_over(void **state)
{
	struct probe *p = three_receives();
	struct core_run *r = probe_ready(p);

	(void)state;
	p->answer[0] = CORE_BUSY; /* ended later */
	p->answer[1] = CORE_DONE; /* found */
	core_start(r);
	assert_int_equal(r->state[0], CORE_OP_BUSY);
	assert_int_equal(r->state[1], CORE_OP_DONE);
	core_cancel(r, -EIO, 1);
	core_op_done(r, 2, 0);
	assert_int_equal(p->done, 0);
	core_op_done(r, 0, -EPIPE); /* the first error stays */
	assert_int_equal(p->done, 1);
	assert_int_equal(r->status, -EIO);
	probe_free(p);

	/* Before the answer it is ended, well or not, or the run is cancelled. */
	p = three_receives();
	r = probe_ready(p);
	p->answer[0] = CORE_BUSY;
	p->hook = end_at_once;
	core_start(r);
	assert_int_equal(r->state[0], CORE_OP_DONE);
	assert_int_equal(r->busy, 1); /* the send */
	assert_int_equal(r->undone, 3);
	core_cancel(r, -EIO, 1);
	core_op_done(r, 2, 0);
	assert_int_equal(p->done, 1);
	probe_free(p);

	p = three_receives();
	r = probe_ready(p);
	p->answer[0] = CORE_BUSY;
	p->hook = fail_at_once;
	core_start(r);
	assert_string_equal(p->log, "P0");
	assert_int_equal(p->done, 1);
	assert_int_equal(r->status, -EPROTO);
	assert_int_equal(r->err_peer, 1);
	probe_free(p);

	p = three_receives();
	r = probe_ready(p);
	p->answer[0] = CORE_BUSY;
	p->hook = cancel_at_once;
	core_start(r);
	assert_string_equal(p->log, "P0"); /* and nothing more */
	assert_int_equal(p->done, 0);
	core_op_done(r, 0, 0);
	assert_int_equal(p->done, 1);
	assert_int_equal(r->status, -ETIME);
	probe_free(p);
}

static void post__may_fail(void **state)
{
	struct probe *p = three_receives();
	struct core_run *r = probe_ready(p);

	(void)state;
	p->answer[1] = -ENOMEM;
	core_start(r);
	assert_string_equal(p->log, "P0P1");
	assert_int_equal(p->done, 1);
	assert_int_equal(r->status, -ENOMEM);
	assert_int_equal(r->err_peer, 1);
	probe_free(p);
}

/* A message for receive 0, from within the env function of any other operation. */
static void message_inside(struct probe *p, u32 op)
{
	if (op == 1)
		assert_int_equal(message(p, 1, 0, 0), 0);
}

static void pump__is_entered_once(void **state)
{
	struct probe *p = three_receives();
	struct core_run *r = probe_ready(p);

	(void)state;
	p->hook = message_inside;
	p->answer[0] = CORE_PENDING;
	core_start(r);
	/* Delivered by the pump that runs already, behind what was on the worklist. */
	assert_string_equal(p->log, "P0P1S2D0");
	core_pump(r);
	assert_string_equal(p->log, "P0P1S2D0");
	core_cancel(r, -EIO, 0);
	core_op_done(r, 0, 0);
	core_op_done(r, 2, 0);
	assert_int_equal(p->done, 1);
	probe_free(p);
}

static void op_done_quiet__leaves_it_to_the_pump(void **state)
{
	struct probe *p = probe_new();
	struct core_run *r;

	(void)state;
	build_send(&p->build, 0, 0, 1, 1, 0);
	build_send(&p->build, 0, 0, 1, 2, 0);
	build_copy(&p->build, 1, 0, 0, 0, 1);
	build_edge(&p->build, 0, 2, false);
	build_edge(&p->build, 1, 2, false);
	p->answer[0] = p->answer[1] = CORE_PENDING;
	r = probe_ready(p);
	core_start(r);
	core_op_done_quiet(r, 0, 0);
	core_op_done_quiet(r, 1, 0);
	assert_string_equal(p->log, "S0S1");
	core_pump(r);
	assert_string_equal(p->log, "S0S1M2");
	assert_int_equal(p->done, 1);
	probe_free(p);
}

static void cancel__before_the_start_takes_effect_in_it(void **state)
{
	struct probe *p = three_receives();
	struct core_run *r = probe_ready(p);

	(void)state;
	assert_int_equal(message(p, 1, 0, 0), 0);
	core_cancel(r, -ECANCELED, GOAL_OP_NONE);
	core_pump(r);
	assert_int_equal(p->done, 0);
	core_start(r);
	assert_string_equal(p->log, "");
	assert_int_equal(p->done, 1);
	assert_int_equal(p->dropped, 1);
	assert_int_equal(r->status, -ECANCELED);
	assert_int_equal(r->err_peer, GOAL_OP_NONE);
	core_cancel(r, -EIO, 1); /* over: nothing happens */
	assert_int_equal(r->status, -ECANCELED);
	assert_int_equal(p->done, 1);
	probe_free(p);
}

static void cancel__forgets_posted_receives(void **state)
{
	struct probe *p = three_receives();
	struct core_run *r = probe_ready(p);

	(void)state;
	p->answer[2] = CORE_DONE;
	core_start(r);
	assert_string_equal(p->log, "P0P1S2P3");
	core_cancel(r, -EPIPE, 3);
	assert_int_equal(p->done, 1);
	assert_int_equal(r->status, -EPIPE);
	assert_int_equal(r->err_peer, 3);
	/* And it runs again. */
	p->log[0] = 0;
	p->answer[0] = p->answer[1] = p->answer[3] = CORE_DONE;
	core_run_reset(r);
	core_start(r);
	assert_string_equal(p->log, "P0P1S2P3");
	assert_int_equal(p->done, 2);
	assert_int_equal(r->status, 0);
	assert_int_equal(r->err_peer, GOAL_OP_NONE);
	probe_free(p);
}

/* What had come ahead is given up in parts; until the last one the run is not over. */
static void cancel__gives_up_messages_in_parts(void **state)
{
	struct probe *p = probe_new();
	struct core_run *r;
	u32 first, i, before;

	(void)state;
	first = build_recv(&p->build, 0, 0, 8, 3, 0);
	for (i = 0; i < 8; i++)
		build_edge(&p->build, first, build_recv(&p->build, 0, 8, 8, 1, 0), false);
	r = probe_ready(p);
	for (i = 0; i < 9; i++)
		p->answer[i] = CORE_PENDING;
	core_start(r);
	for (i = 0; i < 8; i++)
		assert_int_equal(core_message(r, 1, 0, i, p), 0);
	p->drops = 3;
	core_cancel(r, -ECANCELED, 3);
	for (before = 3; before < 8; before += 3) {
		assert_int_equal(p->dropped, before);
		assert_int_equal(p->later, before / 3);
		assert_int_equal(p->done, 0);
		/* Meanwhile nobody else goes on, and nothing comes in. */
		core_pump(r);
		core_cancel(r, -EIO, 1);
		assert_int_equal(core_message(r, 1, 0, 7, p), -ECANCELED);
		assert_int_equal(p->dropped, before);
		p->drops = 3;
		core_resume(r);
	}
	assert_int_equal(p->dropped, 8);
	assert_int_equal(p->done, 1);
	assert_int_equal(r->status, -ECANCELED);
	/* Once more: from the first one on. */
	p->drops = ~0u;
	core_run_reset(r);
	core_start(r);
	assert_int_equal(core_message(r, 1, 0, 0, p), 0);
	core_cancel(r, -ECANCELED, 3);
	assert_int_equal(p->dropped, 9);
	assert_int_equal(p->done, 2);
	probe_free(p);
}

static void failure__names_the_peer_of_a_message_only(void **state)
{
	struct probe *p = probe_new();
	struct core_run *r;

	(void)state;
	build_send(&p->build, 0, 0, 8, 2, 1);
	build_reduce(&p->build, 0, 0, 1, 0, 1, GOAL_TYPE_INT32, GOAL_ROP_SUM);
	r = probe_ready(p);
	p->answer[0] = -EHOSTDOWN;
	core_start(r);
	assert_string_equal(p->log, "S0");
	assert_int_equal(p->done, 1);
	assert_int_equal(r->status, -EHOSTDOWN);
	assert_int_equal(r->err_peer, 2);

	p->answer[0] = CORE_PENDING;
	p->answer[1] = -EIO;
	p->log[0] = 0;
	core_run_reset(r);
	core_start(r);
	assert_string_equal(p->log, "S0R1");
	assert_int_equal(p->done, 1);
	core_op_done(r, 0, -EPIPE);
	assert_int_equal(p->done, 2);
	assert_int_equal(r->status, -EIO);
	assert_int_equal(r->err_peer, GOAL_OP_NONE);
	probe_free(p);
}

static void failure__of_a_truncated_message(void **state)
{
	struct probe *p = three_receives();
	struct core_run *r = probe_ready(p);

	(void)state;
	p->answer[2] = CORE_DONE;
	core_start(r);
	p->answer[3] = -EMSGSIZE; /* as env_deliver() says */
	assert_int_equal(message(p, 2, 1, 0), 0);
	assert_int_equal(p->done, 1);
	assert_int_equal(r->status, -EMSGSIZE);
	assert_int_equal(r->err_peer, 2);
	probe_free(p);
}

/* The run starts again from within its end, as persistent ones do. */
static void start_again(struct probe *p)
{
	if (p->done == 3)
		return;
	core_run_reset(&p->home.core);
	core_start(&p->home.core);
}

static void run_done__may_start_the_run_again(void **state)
{
	struct probe *p = probe_new();

	(void)state;
	build_send(&p->build, 0, 0, 8, 2, 1);
	p->on_done = start_again;
	core_start(probe_ready(p));
	assert_int_equal(p->done, 3);
	assert_string_equal(p->log, "S0S0S0");
	probe_free(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(start__ends_an_empty_schedule),
		cmocka_unit_test(start__follows_requires_and_irequires),
		cmocka_unit_test(message__waits_for_its_receive),
		cmocka_unit_test(message__is_refused_with_a_reason),
		cmocka_unit_test(message_claim__hands_over_a_posted_receive),
		cmocka_unit_test(post__may_take_the_receive_over),
		cmocka_unit_test(post__may_fail),
		cmocka_unit_test(pump__is_entered_once),
		cmocka_unit_test(op_done_quiet__leaves_it_to_the_pump),
		cmocka_unit_test(cancel__before_the_start_takes_effect_in_it),
		cmocka_unit_test(cancel__forgets_posted_receives),
		cmocka_unit_test(cancel__gives_up_messages_in_parts),
		cmocka_unit_test(failure__names_the_peer_of_a_message_only),
		cmocka_unit_test(failure__of_a_truncated_message),
		cmocka_unit_test(run_done__may_start_the_run_again),
	};

	return cmocka_run_group_tests_name("core_pump", tests, NULL, NULL);
}
