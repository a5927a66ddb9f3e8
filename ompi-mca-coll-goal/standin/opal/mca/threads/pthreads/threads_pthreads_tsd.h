/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Debian's libopenmpi-dev 5.0 leaves this header out although its opal_config.h names it and
 * opal/mca/threads/tsd.h includes it: keys of thread-specific data are pthread's. Last in the
 * include path, as its neighbors.
 */
#ifndef GOAL_STANDIN_THREADS_PTHREADS_TSD_H
#define GOAL_STANDIN_THREADS_PTHREADS_TSD_H

#include <pthread.h>

#include "opal/constants.h"

typedef pthread_key_t opal_tsd_key_t;

static inline int opal_tsd_key_delete(opal_tsd_key_t key)
{
	return pthread_key_delete(key) ? OPAL_ERR_IN_ERRNO : OPAL_SUCCESS;
}

static inline int opal_tsd_set(opal_tsd_key_t key, void *value)
{
	return pthread_setspecific(key, value) ? OPAL_ERR_IN_ERRNO : OPAL_SUCCESS;
}

static inline int opal_tsd_get(opal_tsd_key_t key, void **value)
{
	*value = pthread_getspecific(key);
	return OPAL_SUCCESS;
}

#endif /* GOAL_STANDIN_THREADS_PTHREADS_TSD_H */
