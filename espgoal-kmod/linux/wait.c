// SPDX-License-Identifier: GPL-2.0-only
/*
 * Waits of a process, for a run or for any: part of a start, or a request of their own. One timer of the
 * file ends those that last too long. It stays set when its waiter leaves, since most waits are
 * short and setting and stopping it costs more than all the rest of them, above all where the
 * clock is a hypervisor's.
 */
#include <linux/sched/signal.h>
#include <linux/time_namespace.h>

#include "home.h"

/* Under the file's wait_lock. */
static void set(struct kfile *f, u64 when)
{
	f->timer_at = when;
	hrtimer_start(&f->timer, ns_to_ktime(when), HRTIMER_MODE_ABS_SOFT);
}

static enum hrtimer_restart fire(struct hrtimer *t)
{
	struct kfile *f = container_of(t, struct kfile, timer);
	bool over = false;

	spin_lock(&f->wait_lock);
	/* Else it was set anew before we got the lock: that one will come. */
	if (!hrtimer_is_queued(t)) {
		f->timer_at = ESP_NEVER;
		over = f->due <= know();
		if (over)
			WRITE_ONCE(f->due, ESP_NEVER); /* whose it is not sets it anew */
		else if (f->due != ESP_NEVER)
			set(f, f->due);
	}
	spin_unlock(&f->wait_lock);
	if (over)
		wake_up_all(&f->wait);
	return HRTIMER_NORESTART;
}

void kwait_init(struct kfile *f)
{
	init_waitqueue_head(&f->wait);
	spin_lock_init(&f->wait_lock);
	khrtimer_init(&f->timer, fire);
	f->due = ESP_NEVER;
	f->timer_at = ESP_NEVER;
}

/* Nobody waits any more. */
void kwait_exit(struct kfile *f)
{
	hrtimer_cancel(&f->timer);
}

/* Under wait_lock: who waits until @until is to be woken up then. */
static void expect(struct kfile *f, u64 until)
{
	if (until < f->due)
		WRITE_ONCE(f->due, until);
	if (f->due < f->timer_at)
		set(f, f->due);
}

static void come(struct kfile *f, u64 until)
{
	spin_lock_bh(&f->wait_lock);
	f->nwait++;
	expect(f, until);
	spin_unlock_bh(&f->wait_lock);
}

static void leave(struct kfile *f)
{
	spin_lock_bh(&f->wait_lock);
	if (!--f->nwait)
		WRITE_ONCE(f->due, ESP_NEVER);
	spin_unlock_bh(&f->wait_lock);
}

/* Is the time of a waiter over, who has come? He looks at the clock only when the timer has fired. */
static bool late(struct kfile *f, u64 until)
{
	if (likely(READ_ONCE(f->due) <= until))
		return false;
	if (know() >= until)
		return true;
	spin_lock_bh(&f->wait_lock);
	expect(f, until);
	spin_unlock_bh(&f->wait_lock);
	return false;
}

static u64 until(u64 timeout)
{
	u64 now = know();

	return timeout < KTIME_MAX - now ? now + timeout : ESP_NEVER;
}

/* 0, -ETIMEDOUT or -EINTR. */
#define wait_for(e, condition, timeout)                                                            \
	({                                                                                         \
		struct kfile *f_ = (e)->file;                                                      \
		int rc_ = 0;                                                                       \
		if (!(condition)) {                                                                \
			u64 until_ = until(timeout);                                               \
			kep_count(e, KEP_C_sleeps, 1);                                             \
			come(f_, until_);                                                          \
			rc_ = wait_event_interruptible(f_->wait, (condition) || late(f_, until_)); \
			leave(f_);                                                                 \
			rc_ = (condition) ? 0 : rc_ ? -EINTR : -ETIMEDOUT;                         \
		}                                                                                  \
		rc_;                                                                               \
	})

static bool ended(const struct kep *e)
{
	return READ_ONCE(e->state) != KEP_OPEN;
}

static bool is_over(const struct krun *r, u32 starts)
{
	return (s32)(READ_ONCE(r->over) - starts) >= 0 || ended(r->ep);
}

void kwait_started(struct krun *r, u32 starts, u64 timeout)
{
	kep_count(r->ep, KEP_C_waits, 1);
	(void)wait_for(r->ep, is_over(r, starts), timeout);
}

/* What is left until a time of the caller's clock, which its time namespace may have shifted. */
static u64 left_until(u64 when)
{
	struct timespec64 ts;
	u64 now;

	ktime_get_ts64(&ts);
	timens_add_monotonic(&ts);
	now = (u64)timespec64_to_ns(&ts);
	return when > now ? when - now : 0;
}

int kwait(struct kep *e, const struct espgoal_wait *a)
{
	u64 timeout = a->timeout;
	struct krun *r;
	int rc;

	if (a->flags & ESPGOAL_WAIT_UNTIL && timeout != ESPGOAL_EVER)
		timeout = left_until(timeout);
	kep_count(e, KEP_C_waits, 1);
	if (a->run == ESPGOAL_NONE) {
		rc = wait_for(e, READ_ONCE(e->over) != a->seen || ended(e), timeout);
	} else {
		r = krun_by_id(e, a->run);
		if (!r)
			return -ENOENT;
		rc = wait_for(e, READ_ONCE(r->over) != a->seen || ended(e), timeout);
		krun_put(r);
	}
	return ended(e) ? -ESHUTDOWN : rc;
}
