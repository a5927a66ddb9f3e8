// SPDX-License-Identifier: BSD-3-Clause
/* Memory of the home of the protocol's unit tests. The fuzz target has another one (arena.c). */
#include <stdlib.h>

#include "home.h"

static void *must(void *p)
{
	if (!p)
		abort();
	return p;
}

void *home_alloc(size_t bytes)
{
	return must(malloc(bytes ? bytes : 1));
}

void *home_zalloc(size_t bytes)
{
	return must(calloc(1, bytes ? bytes : 1));
}

void home_free(void *p)
{
	free(p);
}
