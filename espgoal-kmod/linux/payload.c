// SPDX-License-Identifier: GPL-2.0-only
/*
 * Bytes of payload: from frames into receives and unexpected memory, within a run, and through a
 * reduction. All of it is kernel memory here, so it moves at once.
 */
#include <linux/skbuff.h>
#ifdef CONFIG_X86
#include <asm/fpu/api.h>
#endif
#ifdef CONFIG_ARM64
#include <asm/neon.h>
#include <asm/simd.h>
#include <asm/sysreg.h>
#endif

#include "env_run.h"
#include "home.h"

/* Moved bytes count against the budget of the entry. */
void kpayload_moved(struct krun *r, u64 bytes)
{
	kgate_here(r->ep->node)->bytes -= (s32)bytes;
}

int env_place(struct esp_rx *rx, struct esp_run *er, u32 op, u64 off, void *frame, u32 foff,
	      u32 len)
{
	struct krun *r;
	u8 *to;

	if (!len)
		return CORE_DONE;
	if (er) {
		const struct goal_op *o;

		r = krun_of_esp(er);
		o = &r->core.sched->op[op];
		to = kpayload_at(r, o->dst_buf, o->dst_off + off);
		kpayload_moved(r, len);
		kep_count(r->ep, KEP_C_bytes_received, len);
	} else {
		to = (u8 *)rx->ref + off;
	}
	/* The core has checked that the frame is that long. */
	WARN_ON_ONCE(skb_copy_bits(frame, (int)foff, to, (int)len));
	return CORE_DONE;
}

int env_unpack(struct esp_rx *rx, struct esp_run *er, u32 op)
{
	struct krun *r = krun_of_esp(er);
	const struct goal_op *o = &r->core.sched->op[op];

	if (rx->total)
		memcpy(kpayload_at(r, o->dst_buf, o->dst_off), rx->ref, rx->total);
	kpayload_moved(r, rx->total);
	kep_count(r->ep, KEP_C_bytes_received, rx->total);
	return CORE_DONE;
}

int env_move(struct core_run *cr, u32 op)
{
	struct krun *r = krun_of(cr);
	const struct goal_op *o = &cr->sched->op[op];
	u64 len = core_op_bytes(cr, o);

	if (len)
		memcpy(kpayload_at(r, o->dst_buf, o->dst_off),
		       kpayload_at(r, o->src_buf, o->src_off), len);
	kpayload_moved(r, len);
	return CORE_DONE;
}

bool kpayload_fpu(void)
{
#if defined(CONFIG_X86_64) || (defined(CONFIG_ARM64) && defined(CONFIG_KERNEL_MODE_NEON))
	return true;
#else
	return false;
#endif
}

static bool is_fp(const struct goal_op *o)
{
	return o->code == GOAL_OP_REDUCE &&
	       (o->dtype == GOAL_TYPE_FLOAT || o->dtype == GOAL_TYPE_DOUBLE);
}

/* Who was interrupted may be using the registers: then it is the turn of a later bottom half. */
bool kpayload_ready(const struct krun *r)
{
	const struct core_run *c = &r->core;

	if (likely(!is_fp(&c->sched->op[c->queue[c->qhead]])))
		return true;
#if defined(CONFIG_X86_64)
	return irq_fpu_usable();
#elif defined(CONFIG_ARM64) && defined(CONFIG_KERNEL_MODE_NEON)
	return may_use_simd();
#else
	return true;
#endif
}

/* kpayload_ready() has said yes, and bottom halves have been off since. */
static int reduce_fp(const struct goal_op *o, const void *in, void *inout)
{
	int rc;

#if defined(CONFIG_X86_64)
	kernel_fpu_begin();
	rc = core_reduce_fp(o->dtype, o->rop, in, inout, o->len);
	kernel_fpu_end();
#elif defined(CONFIG_ARM64) && defined(CONFIG_KERNEL_MODE_NEON)
	kernel_neon_begin();
	/* As whoever was interrupted left it, it may round otherwise or flush to zero. */
	write_sysreg(0, fpcr);
	rc = core_reduce_fp(o->dtype, o->rop, in, inout, o->len);
	kernel_neon_end();
#else
	rc = -EOPNOTSUPP; /* refused when it was loaded */
#endif
	return rc;
}

int env_reduce(struct core_run *cr, u32 op)
{
	struct krun *r = krun_of(cr);
	const struct goal_op *o = &cr->sched->op[op];
	const void *in = kpayload_at(r, o->src_buf, o->src_off);
	void *inout = kpayload_at(r, o->dst_buf, o->dst_off);
	int rc;

	if (!o->len)
		return CORE_DONE;
	kpayload_moved(r, o->len * core_type_size(o->dtype));
	if (is_fp(o))
		rc = reduce_fp(o, in, inout);
	else
		rc = core_reduce_int(o->dtype, o->rop, in, inout, o->len);
	return rc;
}

int env_post(struct core_run *cr, u32 op)
{
	struct krun *r = krun_of(cr);
	const struct kmember *m = r->m;

	if (m->table->t.rank[cr->sched->op[op].peer].peer != m->table->local)
		esp_run_posted(&r->e, op, know_here(r->ep->node));
	return CORE_PENDING;
}
