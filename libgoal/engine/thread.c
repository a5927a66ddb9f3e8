// SPDX-License-Identifier: BSD-3-Clause
/*
 * The progress thread (GOAL_ENGINE_PROGRESS): collectives advance while the application computes.
 * It polls while things move, and otherwise sleeps until a sender rings.
 */
#include <signal.h>

#include "host.h"

#define POLLS_FIRST 200 /* fruitless rounds before it sleeps */

static void *run(void *arg)
{
	struct goal_engine *e = arg;
	u32 polls = 0;

	while (!__atomic_load_n(&e->stop, __ATOMIC_ACQUIRE)) {
		if (host_progress(e)) {
			polls = 0;
		} else if (++polls >= POLLS_FIRST) {
			if (host_sleep(e, e->attr.sleep_us))
				polls = 0;
		}
	}
	return NULL;
}

int host_thread_start(struct goal_engine *e)
{
	sigset_t all, old;
	int rc;

	/* The application's signals are not for this thread. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	rc = pthread_create(&e->thread, NULL, run, e);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (rc)
		return -rc;
	e->has_thread = true;
	return 0;
}

void host_thread_stop(struct goal_engine *e)
{
	__atomic_store_n(&e->stop, true, __ATOMIC_RELEASE);
	host_wake(e->shm);
	pthread_join(e->thread, NULL);
	e->has_thread = false;
}
