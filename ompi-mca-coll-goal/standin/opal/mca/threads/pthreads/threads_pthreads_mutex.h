/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Debian's libopenmpi-dev 5.0 leaves this header out although its opal_config.h names it and
 * opal/mca/threads/mutex.h includes it. It says what opal's mutexes and conditions are made of:
 * the pthread ones, as opal_mutex_t's layout and libopen-pal have them in every build with
 * pthreads and without OPAL_ENABLE_DEBUG. The folder comes last in the include path, so an
 * Open MPI that has its own header uses that.
 */
#ifndef GOAL_STANDIN_THREADS_PTHREADS_MUTEX_H
#define GOAL_STANDIN_THREADS_PTHREADS_MUTEX_H

#include "opal_config.h"

#include <pthread.h>

#include "opal/class/opal_object.h"
#include "opal/constants.h"

#if OPAL_ENABLE_DEBUG
#error "a debugging Open MPI must bring threads_pthreads_mutex.h itself"
#endif

typedef pthread_mutex_t opal_thread_internal_mutex_t;
typedef pthread_cond_t opal_thread_internal_cond_t;

#define OPAL_THREAD_INTERNAL_MUTEX_INITIALIZER PTHREAD_MUTEX_INITIALIZER
#define OPAL_THREAD_INTERNAL_COND_INITIALIZER  PTHREAD_COND_INITIALIZER
#ifdef PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP
#define OPAL_THREAD_INTERNAL_RECURSIVE_MUTEX_INITIALIZER PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP
#endif

static inline int opal_thread_internal_mutex_init(opal_thread_internal_mutex_t *mutex,
						  bool recursive)
{
	pthread_mutexattr_t attr;
	int rc;

	if (!recursive)
		return pthread_mutex_init(mutex, NULL) ? OPAL_ERR_IN_ERRNO : OPAL_SUCCESS;
	if (pthread_mutexattr_init(&attr))
		return OPAL_ERR_IN_ERRNO;
	(void)pthread_mutexattr_settype(&attr, PTHREAD_MUTEX_RECURSIVE);
	rc = pthread_mutex_init(mutex, &attr);
	(void)pthread_mutexattr_destroy(&attr);
	return rc ? OPAL_ERR_IN_ERRNO : OPAL_SUCCESS;
}

static inline void opal_thread_internal_mutex_lock(opal_thread_internal_mutex_t *mutex)
{
	(void)pthread_mutex_lock(mutex);
}

static inline int opal_thread_internal_mutex_trylock(opal_thread_internal_mutex_t *mutex)
{
	return pthread_mutex_trylock(mutex) ? 1 : 0;
}

static inline void opal_thread_internal_mutex_unlock(opal_thread_internal_mutex_t *mutex)
{
	(void)pthread_mutex_unlock(mutex);
}

static inline void opal_thread_internal_mutex_destroy(opal_thread_internal_mutex_t *mutex)
{
	(void)pthread_mutex_destroy(mutex);
}

static inline int opal_thread_internal_cond_init(opal_thread_internal_cond_t *cond)
{
	return pthread_cond_init(cond, NULL) ? OPAL_ERR_IN_ERRNO : OPAL_SUCCESS;
}

static inline void opal_thread_internal_cond_wait(opal_thread_internal_cond_t *cond,
						  opal_thread_internal_mutex_t *mutex)
{
	(void)pthread_cond_wait(cond, mutex);
}

static inline void opal_thread_internal_cond_broadcast(opal_thread_internal_cond_t *cond)
{
	(void)pthread_cond_broadcast(cond);
}

static inline void opal_thread_internal_cond_signal(opal_thread_internal_cond_t *cond)
{
	(void)pthread_cond_signal(cond);
}

static inline void opal_thread_internal_cond_destroy(opal_thread_internal_cond_t *cond)
{
	(void)pthread_cond_destroy(cond);
}

#endif /* GOAL_STANDIN_THREADS_PTHREADS_MUTEX_H */
