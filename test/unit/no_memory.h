/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An allocator that fails when it is told to. For tests that are linked with --wrap for malloc,
 * calloc and realloc; what they allocate themselves counts, too.
 */
#ifndef TEST_NO_MEMORY_H
#define TEST_NO_MEMORY_H

#include <stdbool.h>
#include <stddef.h>

void *__real_malloc(size_t bytes);
void *__real_calloc(size_t n, size_t bytes);
void *__real_realloc(void *p, size_t bytes);
void *__wrap_malloc(size_t bytes);
void *__wrap_calloc(size_t n, size_t bytes);
void *__wrap_realloc(void *p, size_t bytes);

static long fail_in = -1; /* allocations until one fails; negative: never */
static bool no_memory;    /* all of them fail */

static bool fails(void)
{
	return no_memory || (fail_in >= 0 && fail_in-- == 0);
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

#endif /* TEST_NO_MEMORY_H */
