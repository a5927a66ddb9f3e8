// SPDX-License-Identifier: BSD-3-Clause
/*
 * What the system refuses: memory, descriptors, pages for a mailbox, a random number. Who meets
 * it gets an error, and the others hear of it. Linked with --wrap for the functions below.
 */
#include <fcntl.h>
#include <sys/random.h>

#include "engine_fork.h"
#include "engine_pair.h"

#include "core.h"
#include "host.h"

void *__real_malloc(size_t bytes);
void *__real_calloc(size_t n, size_t bytes);
void *__real_realloc(void *p, size_t bytes);
int __real_open(const char *path, int flags, ...);
int __real_fallocate(int fd, int mode, off_t at, off_t bytes);
ssize_t __real_getrandom(void *to, size_t bytes, unsigned int flags);
void *__wrap_malloc(size_t bytes);
void *__wrap_calloc(size_t n, size_t bytes);
void *__wrap_realloc(void *p, size_t bytes);
int __wrap_open(const char *path, int flags, ...);
int __wrap_fallocate(int fd, int mode, off_t at, off_t bytes);
ssize_t __wrap_getrandom(void *to, size_t bytes, unsigned int flags);

static long memory_in = -1; /* allocations until one fails; negative: never */
static bool no_memory;      /* from now on */
static bool no_random;
static int open_error;
static int fallocate_error; /* of the next one */

static bool fails(void)
{
	return no_memory || (memory_in >= 0 && memory_in-- == 0);
}

void *__wrap_malloc(size_t bytes)
{
	return fails() ? NULL : __real_malloc(bytes);
}

void *__wrap_calloc(size_t n, size_t bytes)
{
	return fails() ? NULL : __real_calloc(n, bytes);
}

void *__wrap_realloc(void *p, size_t bytes)
{
	return fails() ? NULL : __real_realloc(p, bytes);
}

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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(group_create__cannot_open_a_peer),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
