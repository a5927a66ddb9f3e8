// SPDX-License-Identifier: BSD-3-Clause
/*
 * What the system refuses: memory, descriptors, pages for a mailbox, a random number. Who meets
 * it gets an error, and the others hear of it. Linked with --wrap for the functions below.
 */
#include <fcntl.h>
#include <sys/random.h>

#include "engine_fork.h"
#include "engine_pair.h"
#include "no_memory.h"

#include "core.h"
#include "host.h"

int __real_open(const char *path, int flags, ...);
int __real_fallocate(int fd, int mode, off_t at, off_t bytes);
ssize_t __real_getrandom(void *to, size_t bytes, unsigned int flags);
int __wrap_open(const char *path, int flags, ...);
int __wrap_fallocate(int fd, int mode, off_t at, off_t bytes);
ssize_t __wrap_getrandom(void *to, size_t bytes, unsigned int flags);

static bool no_random;
static int open_error;
static int fallocate_error; /* of the next one */
static bool no_fallocate;   /* of any, for the same reason */

/* The engine creates no files by it: there is no mode. */
int __wrap_open(const char *path, int flags, ...)
{
	if (!open_error)
		return __real_open(path, flags);
	errno = open_error;
	return -1;
}

int __wrap_fallocate(int fd, int mode, off_t at, off_t bytes)
{
	if (!fallocate_error)
		return __real_fallocate(fd, mode, at, bytes);
	errno = fallocate_error;
	if (!no_fallocate)
		fallocate_error = 0;
	return -1;
}

ssize_t __wrap_getrandom(void *to, size_t bytes, unsigned int flags)
{
	return no_random ? -1 : __real_getrandom(to, bytes, flags);
}

/* A peer whose segment cannot be opened for want of something is not taken for a remote one. */
static void group_create__cannot_open_a_peer(void **state)
{
	static const int errors[] = { EMFILE, ENFILE, ENOMEM };
	static const struct goal_remote_ops ops;
	struct pair p;
	uint32_t i;

	(void)state;
	pair_open(&p, 2, NULL);
	for (i = 0; i < 3; i++) {
		const struct goal_group_attr attr = {
			.nonce = 5, .npeers = 2, .addresses = p.address, .remote = &ops
		};
		struct goal_group *group = NULL;
		struct goal_error error;

		open_error = errors[i];
		assert_int_equal(goal_group_create(p.engine[0], &attr, &group, &error), -errors[i]);
		open_error = 0;
		assert_int_equal(error.where, 1);
		assert_null(group);
	}
	p.group[0] = pair_join(&p, 0, 5);
	assert_true(goal_group_local(p.group[0], 1));
	pair_free(&p);
}

/* Rank 0's only send fails in @refuse; rank 1, which has nobody else to wait for, ends. */
static void send_fails(struct pair *p, void (*refuse)(struct pair *p, bool on), int status)
{
	uint8_t *from = calloc(1, 50000), *to = calloc(1, 50000);
	struct goal_loaded *l[2];
	struct goal_run *run[2];
	struct pair_bufs b;
	uint32_t i, op_id;

	assert_non_null(from);
	assert_non_null(to);
	pair_bind(&b, from, 50000, to, 50000);
	for (i = 0; i < 2; i++)
		l[i] = pair_load(p, i, pair_one_way(i, 50000, 50000));
	/* The receiver starts before, and after. */
	for (op_id = 0; op_id < 2; op_id++) {
		if (!op_id)
			run[1] = pair_start(p, 1, l[1], op_id, &b);
		refuse(p, true);
		run[0] = pair_start(p, 0, l[0], op_id, &b);
		assert_int_equal(pair_end(p, run[0]), status);
		refuse(p, false);
		if (op_id)
			run[1] = pair_start(p, 1, l[1], op_id, &b);
		assert_int_equal(pair_wait(p, run[1]), -ECONNABORTED);
		assert_int_equal(goal_run_peer(run[1]), 0);
		goal_run_free(run[1]);
		if (status == -ENOSPC)
			break; /* it has a mailbox by now */
	}
	/* And it was only that. */
	run[0] = pair_start(p, 0, l[0], 9, &b);
	run[1] = pair_start(p, 1, l[1], 9, &b);
	for (i = 0; i < 2; i++) {
		assert_int_equal(pair_end(p, run[i]), 0);
		assert_int_equal(goal_unload(l[i]), 0);
	}
	free(from);
	free(to);
}

/* No transfer is left, and no memory for more. */
static void no_transfers(struct pair *p, bool on)
{
	static struct host_xfer *all[1024];
	static uint32_t n;
	struct goal_engine *e = p->engine[0];

	no_memory = on;
	if (!on)
		while (n)
			host_xfer_put(e, all[--n]);
	while (on && e->nfree_xfers) {
		assert_true(n < 1024);
		all[n++] = host_xfer_get(e, NULL, 0, HOST_XFER_OFFERED);
	}
}

static void send__no_memory(void **state)
{
	struct pair p;

	(void)state;
	pair_create(&p, 2, NULL);
	pair_check_exchange(&p, 8, 100);
	send_fails(&p, no_transfers, -ENOMEM);
	pair_free(&p);
}

static void no_pages(struct pair *p, bool on)
{
	(void)p;
	fallocate_error = on ? ENOSPC : 0;
}

static void send__no_pages_for_a_mailbox(void **state)
{
	struct pair p;

	(void)state;
	pair_create(&p, 2, NULL);
	send_fails(&p, no_pages, -ENOSPC);
	pair_free(&p);
}

/*
 * Rank 1 gets no mailbox at rank 0 and cannot answer what that offers: rank 0 must not wait for it,
 * neither now nor in runs to come, whoever begins.
 */
static void receive__no_mailbox_at_the_sender(void **state)
{
	uint8_t *from = calloc(1, 50000), *to = calloc(1, 50000);
	struct goal_run *run[2];
	struct goal_loaded *l[2];
	struct pair_bufs b;
	struct pair p;
	uint32_t i, first;

	(void)state;
	for (first = 0; first < 2; first++) {
		assert_non_null(from);
		assert_non_null(to);
		pair_create(&p, 2, NULL);
		pair_bind(&b, from, 50000, to, 50000);
		for (i = 0; i < 2; i++)
			l[i] = pair_load(&p, i, pair_one_way(i, 50000, 50000));
		if (first)
			run[1] = pair_start(&p, 1, l[1], 0, &b);
		run[0] = pair_start(&p, 0, l[0], 0, &b);
		no_pages(&p, true);
		no_fallocate = true;
		if (!first)
			run[1] = pair_start(&p, 1, l[1], 0, &b);
		assert_int_equal(pair_end(&p, run[1]), -ENOSPC);
		no_fallocate = false;
		no_pages(&p, false);
		assert_int_equal(pair_wait(&p, run[0]), -ENOBUFS);
		assert_int_equal(goal_run_peer(run[0]), 1);
		goal_run_free(run[0]);
		assert_int_equal(pair_end(&p, pair_start(&p, 0, l[0], 1, &b)), -ENOBUFS);
		for (i = 0; i < 2; i++)
			assert_int_equal(goal_unload(l[i]), 0);
		pair_free(&p);
	}
	free(from);
	free(to);
}

/* Rank 1 cannot even begin: it says so, and nobody has the group or waits for it. */
static void one_cannot_begin(struct fork_rank *r)
{
	struct goal_error error;
	uint32_t what;

	FORK_CHECK(goal_engine_open(NULL, &r->engine, &error) == 0);
	for (what = 0; what < 3; what++) {
		int expect = what < 2 ? -ENOMEM : -EIO;

		if (r->rank == 1 && what < 2)
			fail_in = what;
		no_random = r->rank == 1 && what == 2;
		memset(&error, 0, sizeof(error));
		FORK_CHECK(goal_group_bootstrap(r->engine, r->rank, r->n, fork_allgather, r,
						&r->group, &error) == expect);
		no_random = false;
		FORK_CHECK(fail_in == -1);
		FORK_CHECK(error.code == expect && strlen(error.text) > 10);
		FORK_CHECK(r->rank == 1 || error.where == 1);
	}
	FORK_CHECK(goal_group_bootstrap(r->engine, r->rank, r->n, fork_allgather, r, &r->group,
					&error) == 0);
	fork_close(r);
}

static void bootstrap__one_cannot_begin(void **state)
{
	(void)state;
	fork_ranks(3, one_cannot_begin, 0);
}

/* Of 3000 members number 2500 says that it has no memory. */
static int many(void *arg, const void *mine, void *all, size_t bytes)
{
	++*(uint32_t *)arg;
	assert_int_equal(bytes, 1);
	assert_int_equal(*(const uint8_t *)mine, 0);
	memset(all, 0, 3000);
	((uint8_t *)all)[2500] = ENOMEM;
	return 0;
}

static void bootstrap__one_of_many_cannot_begin(void **state)
{
	struct goal_group *group = NULL;
	struct goal_error error;
	struct pair p;
	uint32_t calls = 0;

	(void)state;
	pair_open(&p, 1, NULL);
	assert_int_equal(goal_group_bootstrap(p.engine[0], 7, 3000, many, &calls, &group, &error),
			 -ENOMEM);
	assert_int_equal(error.where, 2500);
	assert_int_equal(calls, 1);
	assert_null(group);
	/* Not even a byte for each: that is an error, too. */
	no_memory = true;
	assert_int_equal(goal_group_bootstrap(p.engine[0], 7, 3000, many, &calls, &group, &error),
			 -ENOMEM);
	no_memory = false;
	assert_int_equal(calls, 1);
	pair_free(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(group_create__cannot_open_a_peer),
		cmocka_unit_test(send__no_memory),
		cmocka_unit_test(send__no_pages_for_a_mailbox),
		cmocka_unit_test(receive__no_mailbox_at_the_sender),
		cmocka_unit_test(bootstrap__one_cannot_begin),
		cmocka_unit_test(bootstrap__one_of_many_cannot_begin),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
