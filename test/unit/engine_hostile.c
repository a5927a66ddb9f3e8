// SPDX-License-Identifier: BSD-3-Clause
/*
 * A process of the same user that writes nonsense: into mailboxes, into headers, into addresses.
 * Nobody may crash, write outside a receive, or wait for ever.
 */
#include "engine_pair.h"

#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core.h"
#include "host.h"
#include "mailbox.h"

static uint64_t seed = 88172645463325252ull;

static uint64_t draw(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed;
}

/* The peer that @engine knows at the address of @to, with a mailbox of ours there. */
static struct host_peer *mailbox(struct pair *p, uint32_t from, uint32_t to)
{
	struct host_peer *peer = p->group[from]->peer[to];

	if (!peer->box)
		assert_int_equal(host_peer_claim(p->engine[from], peer), 0);
	return peer;
}

/* Put @slot into it as it is. */
static void forge(struct host_peer *peer, const struct shm_slot *slot)
{
	struct shm_slot *s = box_control(peer);

	assert_non_null(s);
	memcpy((char *)s + 4, (const char *)slot + 4, sizeof(*s) - 4);
	box_publish(peer, s);
}

/* Slots of random contents, and of nearly right contents, while a run waits. */
static void slots__random(void **state)
{
	struct {
		uint64_t before, data[8], after;
	} memory;
	struct goal_loaded *l;
	struct goal_run *run = NULL;
	struct pair_bufs b;
	struct pair p;
	uint32_t i, op_id = 0;

	(void)state;
	pair_create(&p, 2, NULL);
	l = pair_load(&p, 1, pair_one_way(1, 64, 64));
	pair_bind(&b, NULL, 0, memory.data, 64);
	memory.before = memory.after = 0x5a5a5a5a5a5a5a5aull;
	for (i = 0; i < 20000; i++) {
		struct host_peer *peer = mailbox(&p, 0, 1);
		struct shm_slot s;
		uint32_t k;

		if (!run)
			run = pair_start(&p, 1, l, op_id++, &b);
		for (k = 0; k < sizeof(s) / 8; k++)
			((uint64_t *)&s)[k] = draw();
		s.kind = (uint8_t)(draw() % 7);
		if (draw() % 4) {
			s.nonce = p.nonce;
			s.key = (uint64_t)(draw() % 3 ? op_id - 1 : op_id + draw() % 4) << 32;
		}
		if (draw() % 2) {
			s.src = (uint32_t)(draw() % 3);
			s.tag = (uint32_t)(draw() % 2);
			s.instance = (uint32_t)(draw() % 2);
		}
		if (draw() % 2)
			s.len = (uint16_t)(draw() % 80);
		if (draw() % 2)
			s.u.words[0] = draw() % 128 | (draw() % 3) << 32;
		forge(peer, &s);
		goal_engine_progress(p.engine[1]);
		/* Answers to offers that rank 0 never made. */
		goal_engine_progress(p.engine[0]);
		if (goal_run_test(run)) {
			goal_run_free(run);
			run = NULL;
		}
		if (i % 100 == 99) {
			/* What is kept for runs to come is bounded by credit, which we ignore. */
			assert_int_equal(goal_group_free(p.group[0]), 0);
			if (run) {
				goal_run_cancel(run);
				pair_settle(&p);
				goal_run_free(run);
				run = NULL;
			}
			assert_int_equal(goal_group_free(p.group[1]), 0);
			p.nonce++;
			p.group[0] = pair_join(&p, 0, p.nonce);
			p.group[1] = pair_join(&p, 1, p.nonce);
		}
	}
	assert_true(memory.before == 0x5a5a5a5a5a5a5a5aull && memory.after == memory.before);
	assert_true(pair_stats(&p, 1).drops > 1000);
	if (run) {
		goal_run_cancel(run);
		pair_settle(&p);
		goal_run_free(run);
	}
	pair_settle(&p);
	assert_int_equal(goal_unload(l), 0);
	pair_free(&p);
}

/* Each field out of range by itself, else right. */
static void slots__one_field_wrong(void **state)
{
	const struct shm_slot good = { .kind = SHM_EAGER, .len = 8, .nonce = 0x1234 };
	struct shm_slot bad[10];
	struct goal_loaded *l;
	struct goal_run *run;
	struct pair_bufs b;
	uint64_t to = 0;
	struct pair p;
	uint32_t i;

	(void)state;
	for (i = 0; i < 10; i++)
		bad[i] = good;
	bad[0].kind = 0;
	bad[1].kind = 200;
	bad[2].src = 1; /* not the rank whose mailbox it is */
	bad[3].src = 2; /* nobody */
	bad[4].tag = 1; /* no such receive */
	bad[5].instance = 1;
	bad[6].len = 4097; /* longer than eager messages are */
	bad[7].len = 4096; /* runs out of the ring */
	bad[7].data = 65536 - 100;
	bad[8].len = 0xffff;
	bad[9].kind = SHM_FRAG; /* beyond the ring */
	bad[9].len = 60000;
	bad[9].data = 60000;
	pair_create(&p, 2, NULL);
	l = pair_load(&p, 1, pair_one_way(1, 8, 8));
	pair_bind(&b, NULL, 0, &to, 8);
	run = pair_start(&p, 1, l, 0, &b);
	for (i = 0; i < 10; i++) {
		forge(mailbox(&p, 0, 1), &bad[i]);
		pair_settle(&p);
		assert_int_equal(goal_run_test(run), 0);
		assert_int_equal(pair_stats(&p, 1).drops, i + 1);
	}
	forge(mailbox(&p, 0, 1), &good);
	assert_int_equal(pair_end(&p, run), 0);
	assert_int_equal(goal_unload(l), 0);
	pair_free(&p);
}

/* A mailbox of rank 2's is no way to speak as rank 0, early or late. */
static void slots__another_ranks_name(void **state)
{
	struct shm_slot s = { .kind = SHM_EAGER, .len = 8, .nonce = 0x1234, .u.words = { 666 } };
	struct goal_loaded *l[2];
	struct goal_run *run;
	struct pair_bufs b;
	uint64_t from = 7, to = 0;
	struct pair p;
	uint32_t i;

	(void)state;
	pair_create(&p, 3, NULL);
	for (i = 0; i < 2; i++) {
		struct goal_graph *g = pair_graph(i, 3);

		if (i)
			assert_true(goal_recv(g, GOAL_BUF_RECV, 0, 8, 0, 0) >= 0);
		else
			assert_true(goal_send(g, GOAL_BUF_SEND, 0, 8, 1, 0) >= 0);
		l[i] = pair_load(&p, i, g);
	}
	for (i = 0; i < 2; i++) {
		s.key = (uint64_t)i << 32;
		pair_bind(&b, &from, 8, &to, 8);
		to = 0;
		if (i)
			forge(mailbox(&p, 2, 1), &s);
		pair_settle(&p);
		run = pair_start(&p, 1, l[1], i, &b);
		if (!i)
			forge(mailbox(&p, 2, 1), &s);
		pair_settle(&p);
		assert_int_equal(goal_run_test(run), 0);
		assert_int_equal(pair_end(&p, pair_start(&p, 0, l[0], i, &b)), 0);
		assert_int_equal(pair_end(&p, run), 0);
		assert_int_equal(to, 7);
		assert_int_equal(pair_stats(&p, 1).drops, i + 1);
	}
	assert_int_equal(goal_unload(l[0]), 0);
	assert_int_equal(goal_unload(l[1]), 0);
	pair_free(&p);
}

/* Fragments that overlap, leave gaps, are too long, or have another sender. */
static void fragments__out_of_order(void **state)
{
	enum {
		BYTES = 100000
	};
	uint8_t *to = calloc(1, BYTES);
	uint32_t what;

	(void)state;
	assert_non_null(to);
	for (what = 0; what < 4; what++) {
		struct shm_slot rts = { .kind = SHM_RTS, .nonce = 0x1234 };
		struct shm_slot frag = { .kind = SHM_FRAG, .len = 64 };
		struct goal_loaded *l;
		struct goal_run *run;
		struct pair_bufs b;
		struct pair p;
		uint32_t i;

		pair_create(&p, 3, NULL);
		{
			struct goal_graph *g = pair_graph(1, 3);

			assert_true(goal_recv(g, GOAL_BUF_RECV, 0, BYTES, 0, 0) >= 0);
			l = pair_load(&p, 1, g);
		}
		pair_bind(&b, NULL, 0, to, BYTES);
		run = pair_start(&p, 1, l, 0, &b);
		rts.u.rts.bytes = BYTES;
		forge(mailbox(&p, 0, 1), &rts);
		goal_engine_progress(p.engine[1]);
		/* Its transfer: the only one under way. */
		for (i = 0; i < p.engine[1]->nxfers; i++)
			if (p.engine[1]->xfers[i]->state == HOST_XFER_ASKED)
				frag.u.frag.receiver = p.engine[1]->xfers[i]->id;
		switch (what) {
		case 0:
			frag.u.frag.off = 64;
			break;
		case 1:
			frag.len = 0;
			break;
		case 2:
			frag.u.frag.off = BYTES - 63;
			break;
		default:
			break;
		}
		forge(mailbox(&p, what == 3 ? 2 : 0, 1), &frag);
		goal_engine_progress(p.engine[1]);
		if (what == 3) {
			assert_int_equal(goal_run_test(run), 0);
			goal_run_cancel(run);
		} else {
			assert_int_equal(goal_run_test(run), -EPROTO);
			assert_int_equal(goal_run_peer(run), 0);
		}
		goal_run_free(run);
		assert_int_equal(goal_unload(l), 0);
		pair_free(&p);
	}
	free(to);
}

/* The owner of a mailbox writes nonsense about what it has taken. */
static void taken__random(void **state)
{
	uint8_t *from = calloc(1, 5000), *to = calloc(1, 5000);
	struct goal_loaded *l;
	struct pair_bufs b;
	struct pair p;
	uint32_t i;

	(void)state;
	assert_non_null(from);
	assert_non_null(to);
	pair_create(&p, 2, NULL);
	l = pair_load(&p, 0, pair_one_way(0, 100, 100));
	pair_bind(&b, from, 5000, to, 5000);
	for (i = 0; i < 3000; i++) {
		struct host_peer *peer = mailbox(&p, 0, 1);
		struct goal_run *run;

		peer->box->taken.slots = (uint32_t)draw();
		peer->box->taken.data = (uint32_t)draw();
		peer->box->taken.msgs = (uint32_t)draw();
		peer->box->taken.bytes = (uint32_t)draw();
		run = pair_start(&p, 0, l, i, &b);
		goal_engine_progress(p.engine[0]);
		goal_run_cancel(run);
		goal_run_free(run);
	}
	/* Let close see an end: what is left there will never be counted right again. */
	goal_engine_progress(p.engine[0]);
	for (i = 0; i < 2; i++)
		assert_int_equal(goal_group_free(p.group[i]), 0);
	assert_int_equal(goal_unload(l), 0);
	assert_int_equal(goal_engine_close(p.engine[1]), 0);
	assert_int_equal(goal_engine_close(p.engine[0]), 0);
	free(from);
	free(to);
}

/* Addresses with each byte changed: refused, or not reached, or still that endpoint. */
static void address__changed(void **state)
{
	struct goal_address good;
	struct pair p;
	uint32_t i;

	(void)state;
	pair_open(&p, 2, NULL);
	good = p.address[1];
	for (i = 0; i < sizeof(struct host_address); i++) {
		struct goal_address bad = good;
		int rc;

		bad.bytes[i] ^= 0x41;
		rc = goal_engine_reach(p.engine[0], &bad);
		assert_true(rc == -EINVAL || rc == -EHOSTUNREACH ||
			    (rc == 0 && i >= offsetof(struct host_address, spare)));
	}
	memset(&good, 0, sizeof(good));
	assert_int_equal(goal_engine_reach(p.engine[0], &good), -EINVAL);
	pair_free(&p);
}

/* A segment whose header was damaged is not used. */
static void header__damaged(void **state)
{
	struct shm_header good;
	uint32_t i;

	(void)state;
	for (i = 0; i < offsetof(struct shm_header, bell); i++) {
		struct shm_header *h;
		struct pair p;
		int rc;

		/* Who owns it, and how much it takes unasked, may be any number. */
		if (i >= offsetof(struct shm_header, pid) &&
		    i < offsetof(struct shm_header, cookie))
			continue;
		if (i >= offsetof(struct shm_header, eager) &&
		    i < offsetof(struct shm_header, first))
			continue;
		if (i >= offsetof(struct shm_header, stride) + 8)
			break;
		pair_open(&p, 2, NULL);
		h = p.engine[1]->shm;
		memcpy(&good, h, sizeof(good));
		((uint8_t *)h)[i] ^= 0x85;
		rc = goal_engine_reach(p.engine[0], &p.address[1]);
		assert_int_equal(rc, -EHOSTUNREACH);
		memcpy(h, &good, sizeof(good));
		pair_free(&p);
	}
}

/* Mailboxes that claim to be ready without being anybody's are not read. */
static void scan__mailbox_of_nobody(void **state)
{
	struct goal_loaded *l[2];
	struct goal_run *run[2];
	struct pair_bufs b;
	uint64_t from = 9, to = 0;
	struct pair p;
	uint32_t i;

	(void)state;
	pair_create(&p, 2, NULL);
	for (i = 0; i < SHM_BOXES; i += 3)
		p.engine[1]->shm->state[i] = i % 2 ? SHM_READY : 77;
	p.engine[1]->shm->bell++;
	for (i = 0; i < 2; i++)
		l[i] = pair_load(&p, i, pair_one_way(i, 8, 8));
	pair_bind(&b, &from, 8, &to, 8);
	for (i = 0; i < 2; i++)
		run[i] = pair_start(&p, i, l[i], 0, &b);
	for (i = 0; i < 2; i++)
		assert_int_equal(pair_end(&p, run[i]), 0);
	assert_int_equal(to, 9);
	for (i = 0; i < 2; i++)
		assert_int_equal(goal_unload(l[i]), 0);
	pair_free(&p);
}

/* All mailboxes taken: the send fails, and says so. */
static void claim__none_left(void **state)
{
	struct goal_loaded *l;
	struct goal_run *run;
	struct pair_bufs b;
	uint64_t from = 9;
	struct pair p;
	uint32_t i;

	(void)state;
	pair_create(&p, 2, NULL);
	for (i = 0; i < SHM_BOXES; i++)
		p.engine[1]->shm->state[i] = SHM_CLAIMED;
	l = pair_load(&p, 0, pair_one_way(0, 8, 8));
	pair_bind(&b, &from, 8, NULL, 0);
	run = pair_start(&p, 0, l, 0, &b);
	assert_int_equal(pair_wait(&p, run), -ENOSPC);
	assert_int_equal(goal_run_peer(run), 1);
	goal_run_free(run);
	assert_int_equal(goal_unload(l), 0);
	pair_free(&p);
}

/* A process was killed at work on a mailbox: it is used again. One that lives keeps its own. */
static void claim__by_a_process_that_died(void **state)
{
	struct goal_engine *e;
	struct pair p;
	u8 *mailbox;
	pid_t pid;

	(void)state;
	pair_create(&p, 2, NULL);
	e = p.engine[1];
	pid = fork();
	if (!pid)
		_exit(0);
	assert_true(pid > 0);
	e->shm->state[0] = shm_claimed((u32)pid);
	e->shm->state[1] = shm_claimed((u32)getpid());
	e->shm->state[2] = SHM_CLAIMED;
	mailbox = (u8 *)e->shm + e->first;
	mailbox[0] = 1;
	mailbox[e->stride - 1] = 1;
	mailbox[e->stride] = 1;
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	host_peers_check(e);
	assert_int_equal(e->shm->state[0], SHM_FREE);
	assert_int_equal(e->shm->state[1], shm_claimed((u32)getpid()));
	assert_int_equal(e->shm->state[2], SHM_CLAIMED);
	assert_int_equal(mailbox[0] | mailbox[e->stride - 1], 0);
	assert_int_equal(mailbox[e->stride], 1);
	pair_check_exchange(&p, 8, 0);
	assert_int_equal(e->shm->state[0], SHM_READY);
	pair_free(&p);
}

static u32 *ready; /* a mailbox whose claimer is done with it, and gone, when it is looked for */

int __real_kill(pid_t pid, int sig);
int __wrap_kill(pid_t pid, int sig);

int __wrap_kill(pid_t pid, int sig)
{
	if (!ready)
		return __real_kill(pid, sig);
	*ready = SHM_READY;
	ready = NULL;
	errno = ESRCH;
	return -1;
}

/* A process sends what it has to send and ends, just while its claim is looked at. */
static void claim__by_a_process_that_has_sent(void **state)
{
	struct goal_engine *e;
	struct pair p;
	u8 *mailbox;

	(void)state;
	pair_create(&p, 2, NULL);
	e = p.engine[1];
	mailbox = (u8 *)e->shm + e->first;
	mailbox[0] = 1;
	e->shm->state[0] = shm_claimed((u32)getpid());
	ready = &e->shm->state[0];
	host_endpoint_reclaim(e);
	assert_null(ready);
	assert_int_equal(e->shm->state[0], SHM_READY);
	assert_int_equal(mailbox[0], 1);
	e->shm->state[0] = SHM_FREE;
	pair_free(&p);
}

/* Mailboxes of endpoints that are closed are used again, from zero pages. */
static void retire__mailboxes_are_used_again(void **state)
{
	struct goal_loaded *l[2];
	struct pair_bufs b;
	uint64_t from, to;
	struct pair p;
	uint32_t i, k;

	(void)state;
	pair_open(&p, 2, NULL);
	l[1] = pair_load(&p, 1, pair_one_way(1, 8, 8));
	for (i = 0; i < 50; i++) {
		struct goal_run *run[2];

		p.group[0] = pair_join(&p, 0, 500 + i);
		p.group[1] = pair_join(&p, 1, 500 + i);
		l[0] = pair_load(&p, 0, pair_one_way(0, 8, 8));
		pair_bind(&b, &from, 8, &to, 8);
		from = i + 1;
		to = 0;
		for (k = 0; k < 2; k++)
			run[k] = pair_start(&p, k, l[k], 0, &b);
		for (k = 0; k < 2; k++)
			assert_int_equal(pair_end(&p, run[k]), 0);
		assert_int_equal(to, from);
		assert_int_equal(goal_unload(l[0]), 0);
		for (k = 0; k < 2; k++) {
			assert_int_equal(goal_group_free(p.group[k]), 0);
			p.group[k] = NULL;
		}
		assert_int_equal(goal_engine_close(p.engine[0]), 0);
		goal_engine_progress(p.engine[1]);
		assert_int_equal(p.engine[1]->nrx, 0);
		assert_int_equal(p.engine[1]->shm->state[0], SHM_FREE);
		{
			struct goal_error error;

			assert_int_equal(goal_engine_open(NULL, &p.engine[0], &error), 0);
			goal_engine_address(p.engine[0], &p.address[0]);
		}
	}
	assert_int_equal(goal_unload(l[1]), 0);
	pair_free(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(slots__random),
		cmocka_unit_test(slots__one_field_wrong),
		cmocka_unit_test(slots__another_ranks_name),
		cmocka_unit_test(fragments__out_of_order),
		cmocka_unit_test(taken__random),
		cmocka_unit_test(address__changed),
		cmocka_unit_test(header__damaged),
		cmocka_unit_test(scan__mailbox_of_nobody),
		cmocka_unit_test(claim__none_left),
		cmocka_unit_test(claim__by_a_process_that_died),
		cmocka_unit_test(claim__by_a_process_that_has_sent),
		cmocka_unit_test(retire__mailboxes_are_used_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
