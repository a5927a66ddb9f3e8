// SPDX-License-Identifier: GPL-2.0-only
/*
 * Schedules: copied once, then verified, then never changed. What a run of one needs is computed
 * here: where in its memory the messages, the buffers and the scratch lie.
 */
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "home.h"

#define UNIT          64 /* buffers begin at a cache line */
#define RUN_BYTES_MAX (128u << 20)
#define OP_BYTES_MAX  ESPGOAL_SURE_RUN

void ksched_put(struct ksched *s)
{
	struct kep *e = s->ep;

	if (!refcount_dec_and_test(&s->refs))
		return;
	kep_uncharge(e, s->bytes);
	kvfree(s->msg_at);
	kvfree(s->data);
	kfree(s);
	kep_put(e);
}

/* Bytes that an operation moves, or more than the kernel takes. */
static u64 bytes_of(const struct goal_op *op)
{
	u64 size = op->code == GOAL_OP_REDUCE ? core_type_size(op->dtype) : 1;

	return min_t(u64, op->len, OP_BYTES_MAX + 1) * size;
}

/*
 * What the kernel does not compute is refused; and so is an operation that moves so much that other
 * work of the CPU would wait for it, since none is cut in parts.
 */
static int computes(struct ksched *s)
{
	u32 i;

	if (s->s.host_only)
		return -EOPNOTSUPP;
	for (i = 0; i < s->s.hdr->nops; i++) {
		const struct goal_op *op = &s->s.op[i];

		if (bytes_of(op) > OP_BYTES_MAX)
			return -E2BIG;
		if (op->code != GOAL_OP_REDUCE)
			continue;
		if (op->dtype == GOAL_TYPE_FLOAT || op->dtype == GOAL_TYPE_DOUBLE)
			s->fp = true;
	}
	return s->fp && !kpayload_fpu() ? -EOPNOTSUPP : 0;
}

static int lay_out_messages(struct ksched *s, u32 eager_max, u64 *at)
{
	u32 nops = s->s.hdr->nops, i;

	s->msg_at = kvmalloc_array(nops + 1, sizeof(*s->msg_at), GFP_KERNEL_ACCOUNT);
	if (!s->msg_at)
		return -ENOMEM;
	for (i = 0; i < nops; i++) {
		const struct goal_op *op = &s->s.op[i];

		s->msg_at[i] = (u32)*at;
		if (op->code != GOAL_OP_SEND)
			continue;
		s->nsends++;
		*at += sizeof(struct kmsg) + ALIGN(min_t(u64, op->len, eager_max), 8);
		if (*at > INT_MAX)
			return -E2BIG;
	}
	return 0;
}

/* Buffers that the process reads are in the area, the others and the scratch with the run. */
static int lay_out_buffers(struct ksched *s, u64 *mem, u64 *area)
{
	const struct goal_sched_hdr *h = s->s.hdr;
	u64 all = h->scratch;
	u32 b;

	if (all > kparam_run_max)
		return -E2BIG;
	*mem = 0;
	*area = 0;
	for (b = 0; b < h->nbufs; b++) {
		u64 need = s->s.need[b];
		u64 *at = s->buf[b] & ESPGOAL_BUF_OUT ? area : mem;

		all += need;
		if (need > kparam_run_max || all > kparam_run_max)
			return -E2BIG;
		s->buf_at[b] = (u32)*at;
		*at += ALIGN(need, UNIT);
		if (s->buf[b] & ESPGOAL_BUF_IN)
			s->in_bytes += need;
	}
	s->buf_at[GOAL_MAX_BUFS] = (u32)*mem;
	*mem += ALIGN(h->scratch, UNIT);
	return 0;
}

static int lay_out(struct ksched *s, u32 eager_max)
{
	u64 at, msgs = 0, mem, area;
	int rc = lay_out_messages(s, eager_max, &msgs);

	if (rc)
		return rc;
	rc = lay_out_buffers(s, &mem, &area);
	if (rc)
		return rc;
	at = ALIGN(sizeof(struct krun), 8);
	s->arrays_at = (u32)at;
	at += ALIGN(core_run_bytes(&s->s), 8);
	s->msgs_at = (u32)at;
	at = ALIGN(at + msgs, UNIT);
	s->mem_at = (u32)at;
	at += mem;
	if (at > RUN_BYTES_MAX)
		return -E2BIG;
	s->run_bytes = (u32)at;
	s->area_bytes = (u32)area;
	return 0;
}

static int verify(struct ksched *s, size_t bytes, struct espgoal_load *a)
{
	struct core_error err = {};
	s64 tmp_bytes = core_verify_tmp(s->data, bytes, &err);
	u32 *tmp;
	int rc;

	if (tmp_bytes < 0) {
		rc = (int)tmp_bytes;
		goto tell;
	}
	tmp = kvmalloc(tmp_bytes + 1, GFP_KERNEL_ACCOUNT);
	if (!tmp)
		return -ENOMEM;
	rc = core_verify(s->data, bytes, tmp, &s->s, &err);
	kvfree(tmp);
tell:
	if (rc) {
		a->rule = err.rule;
		a->where = err.where;
	}
	return rc;
}

static int flags_ok(const struct ksched *s)
{
	u32 b;

	for (b = 0; b < GOAL_MAX_BUFS; b++)
		if ((s->buf[b] & ~ESPGOAL_BUF_KNOWN) || (s->buf[b] && b >= s->s.hdr->nbufs))
			return -EINVAL;
	return 0;
}

/* Under the endpoint's mutex. */
int ksched_load(struct kep *e, struct espgoal_load *a)
{
	struct ksched *s;
	int rc;

	if (a->flags || a->id || a->rule || a->reserved || a->where ||
	    memchr_inv(a->need, 0, sizeof(a->need)))
		return -EINVAL;
	if (a->bytes > kparam_sched_max)
		return -E2BIG;
	if (!a->bytes)
		return -EINVAL;
	s = kzalloc(sizeof(*s), GFP_KERNEL_ACCOUNT);
	if (!s)
		return -ENOMEM;
	refcount_set(&s->refs, 1);
	s->ep = e;
	memcpy(s->buf, a->buf, sizeof(s->buf));
	/* With msg_at[]: a word for each operation, which has 64 bytes in the schedule. */
	s->bytes = sizeof(*s) + a->bytes + a->bytes / 16;
	rc = kep_charge(e, s->bytes);
	if (rc)
		goto free_sched;
	rc = -ENOMEM;
	s->data = kvmalloc(a->bytes, GFP_KERNEL_ACCOUNT);
	if (!s->data)
		goto uncharge;
	rc = -EFAULT;
	if (copy_from_user(s->data, u64_to_user_ptr(a->data), a->bytes))
		goto free_data;
	rc = verify(s, a->bytes, a);
	if (rc)
		goto free_data;
	rc = flags_ok(s);
	if (rc)
		goto free_data;
	rc = computes(s);
	if (rc)
		goto free_data;
	rc = lay_out(s, e->node->n.p.eager_max);
	if (rc)
		goto free_data;
	rc = xa_alloc(&e->scheds, &s->id, s, xa_limit_31b, GFP_KERNEL_ACCOUNT);
	if (rc)
		goto free_data;
	kep_get(e);
	a->id = s->id;
	memcpy(a->need, s->s.need, s->s.hdr->nbufs * sizeof(a->need[0]));
	return 0;

free_data:
	kvfree(s->msg_at);
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
