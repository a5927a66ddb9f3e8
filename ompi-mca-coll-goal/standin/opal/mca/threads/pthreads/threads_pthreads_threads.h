/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Debian's libopenmpi-dev 5.0 leaves this header out although its opal_config.h names it and
 * opal/mca/threads/threads.h includes it. How a thread yields is libopen-pal's choice, behind a
 * pointer that it exports. Last in the include path, as its neighbor.
 */
#ifndef GOAL_STANDIN_THREADS_PTHREADS_THREADS_H
#define GOAL_STANDIN_THREADS_PTHREADS_THREADS_H

#include <pthread.h>
#include <signal.h>

#include "opal_config.h"

#define OPAL_THREAD_YIELD_WHEN_IDLE_DEFAULT false

typedef void(opal_threads_pthreads_yield_fn_t)(void);
OPAL_DECLSPEC extern opal_threads_pthreads_yield_fn_t *opal_threads_pthreads_yield_fn;

static inline void opal_thread_yield(void)
{
	opal_threads_pthreads_yield_fn();
}

#endif /* GOAL_STANDIN_THREADS_PTHREADS_THREADS_H */
