/* SPDX-License-Identifier: BSD-3-Clause */
/* The test home's run, and the functions through which a test answers the core. */
#ifndef HOME_H
#define HOME_H

#include <pthread.h>

#include "core.h"

struct home_run;

struct home_ops {
	int (*send)(struct home_run *h, u32 op);
	int (*post)(struct home_run *h, u32 op);
	int (*deliver)(struct home_run *h, u32 op, void *msg);
	int (*move)(struct home_run *h, u32 op);
	int (*reduce)(struct home_run *h, u32 op);
	void (*drop)(struct home_run *h, void *msg);
	bool (*drop_more)(struct home_run *h); /* may be NULL: always */
	void (*later)(struct home_run *h);     /* may be NULL */
	void (*failed)(struct home_run *h);    /* may be NULL */
	void (*done)(struct home_run *h);
};

struct home_run {
	struct core_run core; /* first: home_run() converts */
	const struct home_ops *ops;
	pthread_mutex_t mutex;
	bool locked; /* by whom does not matter: env_*() with the lock held is what it catches */
};

static inline struct home_run *home_run(struct core_run *r)
{
	return (struct home_run *)r;
}

static inline void home_lock(struct home_run *h)
{
	pthread_mutex_lock(&h->mutex);
	h->locked = true;
}

static inline void home_unlock(struct home_run *h)
{
	h->locked = false;
	pthread_mutex_unlock(&h->mutex);
}

#endif /* HOME_H */
