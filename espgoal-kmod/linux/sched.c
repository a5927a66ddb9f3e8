// SPDX-License-Identifier: GPL-2.0-only
/*
 * Schedules: copied once, then verified, then never changed (core/request_load.c). They are kept
 * here, for as long as they have an id or a run object.
 */
#include <linux/mm.h>
#include <linux/slab.h>

#include "home.h"

void ksched_put(struct ksched *s)
{
	struct kep *e = s->ep;

	if (!refcount_dec_and_test(&s->refs))
		return;
	kep_uncharge(e, s->bytes);
	kvfree(s->lay.msg_at);
	kvfree(s->data);
	kfree(s);
	kep_put(e);
}

/* Read, verified and laid out: what follows from the bytes alone. */
static int take_in(struct ksched *s, struct espgoal_load *a)
{
	s64 bytes = request_load_read(a, s->data);
	u32 *words;
	int rc;

	if (bytes < 0)
		return (int)bytes;
	words = kvmalloc(bytes, GFP_KERNEL_ACCOUNT);
	if (!words)
		return -ENOMEM;
	rc = request_load(a, s->data, words, &kdev_limits, &s->s, &s->lay);
	if (rc)
		kvfree(words);
	return rc;
}

/* Under the endpoint's mutex. */
int ksched_load(struct kep *e, struct espgoal_load *a)
{
	struct ksched *s = kzalloc(sizeof(*s), GFP_KERNEL_ACCOUNT);
	int rc;

	if (!s)
		return -ENOMEM;
	refcount_set(&s->refs, 1);
	s->ep = e;
	/* With lay.msg_at[]: a word for each operation, which has 64 bytes in the schedule. */
	s->bytes = sizeof(*s) + a->bytes + a->bytes / 16;
	rc = kep_charge(e, s->bytes);
	if (rc)
		goto free_sched;
	rc = -ENOMEM;
	s->data = kvmalloc(a->bytes, GFP_KERNEL_ACCOUNT);
	if (!s->data)
		goto uncharge;
	rc = take_in(s, a);
	if (rc)
		goto free_data;
	rc = xa_alloc(&e->scheds, &s->id, s, xa_limit_31b, GFP_KERNEL_ACCOUNT);
	if (rc)
		goto free_words;
	kep_get(e);
	a->id = s->id;
	return 0;

free_words:
	kvfree(s->lay.msg_at);
free_data:
	kvfree(s->data);
uncharge:
	kep_uncharge(e, s->bytes);
free_sched:
	kfree(s);
	return rc;
}

/* Under the endpoint's mutex. */
int ksched_unload(struct kep *e, u32 id)
{
	struct ksched *s = xa_load(&e->scheds, id);
	u32 i, left;

	if (!s)
		return -ENOENT;
	for (i = 0, left = s->nruns; i < e->nruns && left; i++) {
		struct krun *r = rcu_dereference_protected(e->run[i], lockdep_is_held(&e->mutex));

		if (!r || r->sched != s)
			continue;
		left--;
		if (krun_active(r))
			return -EBUSY;
	}
	for (i = 0; i < e->nruns && s->nruns; i++) {
		struct krun *r = rcu_dereference_protected(e->run[i], lockdep_is_held(&e->mutex));

		if (r && r->sched == s)
			krun_drop(e, r);
	}
	xa_erase(&e->scheds, id);
	ksched_put(s);
	return 0;
}
