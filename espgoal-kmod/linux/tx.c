// SPDX-License-Identifier: GPL-2.0-only
/*
 * Frames out. The core fills them in and queues them under a flow's lock; they are sealed and
 * given to the device without one, in order, by one drainer of a rail at a time. Payload is
 * copied into the frame, and headers are written by the kernel: nothing in an skb of ours is
 * memory that a process can change.
 */
#include <linux/etherdevice.h>
#include <linux/skbuff.h>

#include "home.h"
#include "trace.h"

#define TRIES 8 /* of a frame that the device does not take: all others wait behind it */
#define PAUSE (50 * ESP_US)
#define DRAIN 512 /* frames in one go */

struct esp_out *env_out_get(struct esp_rail *er)
{
	struct krail *r = krail_of(er);
	struct kout *o;

	spin_lock(&r->lock);
	o = r->gone ? NULL : r->spare;
	if (o)
		r->spare = o->next;
	spin_unlock(&r->lock);
	return o ? &o->out : NULL;
}

/* Under the rail's lock. */
static void give_back(struct krail *r, struct kout *o)
{
	o->next = r->spare;
	r->spare = o;
}

void env_out_put(struct esp_rail *er, struct esp_out *o)
{
	struct krail *r = krail_of(er);

	spin_lock(&r->lock);
	give_back(r, container_of(o, struct kout, out));
	spin_unlock(&r->lock);
}

/* Runs keep the payload that queued frames name. */
void env_out(struct esp_rail *er, struct esp_out *o)
{
	struct krail *r = krail_of(er);
	struct kout *k = container_of(o, struct kout, out);
	u32 i;

	for (i = 0; i < o->npiece; i++) {
		struct kmsg *m = o->piece[i].ref;

		if (m)
			atomic_inc(&m->run->busy);
	}
	k->next = NULL;
	spin_lock(&r->lock);
	*r->last = k;
	r->last = &k->next;
	spin_unlock(&r->lock);
}

/* It needs its payload no more. */
static void let_go(struct kout *k)
{
	u32 i;

	for (i = 0; i < k->out.npiece; i++) {
		struct kmsg *m = k->out.piece[i].ref;

		if (m)
			krun_unuse(m->run);
	}
}

static const void *piece_at(const struct esp_piece *p)
{
	const struct kmsg *m = p->ref;
	const struct goal_op *o;

	if (m->len <= m->run->ep->node->n.p.eager_max)
		return m->copy + p->off;
	o = &m->run->core.sched->op[m->op];
	return kpayload_at(m->run, o->src_buf, o->src_off + p->off);
}

#ifdef ESPGOAL_DEBUG
/* Flip a bit of the payload of every n-th frame, behind the checksum. */
static unsigned int corrupt;
module_param(corrupt, uint, 0644);
MODULE_PARM_DESC(corrupt, "debug: damage the payload of every n-th frame that has some");

static void damage(u8 *payload, u32 len)
{
	static atomic_t n = ATOMIC_INIT(0);
	unsigned int every = READ_ONCE(corrupt);

	if (every && len && (unsigned int)atomic_inc_return(&n) % every == 0)
		payload[len / 2] ^= 0x10;
}
#else
static inline void damage(u8 *payload, u32 len)
{
}
#endif

/* Most frames are short: made of a piece of a page, and of the remains of one that came in. */
static struct sk_buff *empty(u32 bytes)
{
	u32 all = SKB_DATA_ALIGN(bytes) + SKB_DATA_ALIGN(sizeof(struct skb_shared_info));
	struct sk_buff *skb;
	void *head;

	if (all > PAGE_SIZE / 2)
		return alloc_skb(bytes, GFP_ATOMIC | __GFP_NOWARN);
	head = napi_alloc_frag(all);
	if (!head)
		return NULL;
	skb = napi_build_skb(head, all);
	if (!skb)
		skb_free_frag(head);
	return skb;
}

static struct sk_buff *build(struct krail *r, struct esp_out *o)
{
	struct net_device *dev = r->dev;
	u32 room = LL_RESERVED_SPACE(dev), crc = 0xffffffff, i;
	struct sk_buff *skb;
	u8 *hdr, *payload;

	skb = empty(room + o->total_len + dev->needed_tailroom + ETH_ZLEN);
	if (!skb) {
		knode_count(r->node, KNODE_C_no_skb);
		return NULL;
	}
	skb_reserve(skb, room);
	skb_reset_network_header(skb);
	hdr = __skb_put(skb, o->hdr_len);
	payload = skb_tail_pointer(skb);
	for (i = 0; i < o->npiece; i++) {
		const struct esp_piece *p = &o->piece[i];

		if (p->ref)
			skb_put_data(skb, piece_at(p), p->len);
		else
			skb_put_zero(skb, p->len);
	}
	if (o->pcrc && o->total_len > o->hdr_len)
		crc = env_crc32c(crc, payload, o->total_len - o->hdr_len);
	esp_seal(o, crc);
	kcopy_header(hdr, o->hdr, o->hdr_len);
	damage(payload, o->total_len - o->hdr_len);
	skb->dev = dev;
	skb->protocol = htons(kparam_ethertype);
	/*
	 * Not dev->dev_addr, which may just have changed: hellos say which address they are
	 * from.
	 */
	if (likely(dev->header_ops && dev->header_ops->create == eth_header)) {
		struct ethhdr *eth = __skb_push(skb, ETH_HLEN);

		ether_addr_copy(eth->h_dest, o->to.addr);
		ether_addr_copy(eth->h_source, r->r.addr.addr);
		eth->h_proto = skb->protocol;
	} else if (dev_hard_header(skb, dev, (u16)kparam_ethertype, o->to.addr, r->r.addr.addr,
				   skb->len) < 0) {
		kfree_skb(skb);
		skb = NULL;
	}
	if (!skb || skb_put_padto(skb, ETH_ZLEN)) { /* which has freed it then */
		knode_count(r->node, KNODE_C_no_skb);
		return NULL;
	}
	return skb;
}

static void count(struct krail *r, enum krail_count c, u64 by)
{
	this_cpu_add(r->count[c], by);
}

/* False: later. */
static bool transmit(struct krail *r, struct kout *k)
{
	u32 len = k->out.total_len;
	struct sk_buff *skb = build(r, &k->out);
	int rc = skb ? dev_queue_xmit(skb) : -ENOBUFS;

	if (likely(!net_xmit_eval(rc))) {
		trace_espgoal_frame_out(r->dev, len);
		count(r, KRAIL_FRAMES_OUT, 1);
		count(r, KRAIL_BYTES_OUT, len);
		return true;
	}
	/* A device that is not there loses frames as a cable does. */
	if (rc == -ENETDOWN || ++r->tries >= TRIES) {
		count(r, KRAIL_DROPPED, 1);
		return true;
	}
	count(r, KRAIL_RETRIED, 1);
	return false;
}

/* In a gate. */
void krail_drain(struct krail *r)
{
	struct kout *k;
	u32 n = 0;

	spin_lock(&r->lock);
	if (r->draining || r->paused)
		goto unlock;
	r->draining = true;
	while ((k = r->first) != NULL && !r->gone) {
		bool sent;

		spin_unlock(&r->lock);
		sent = ++n <= DRAIN && transmit(r, k);
		if (sent)
			let_go(k);
		spin_lock(&r->lock);
		if (!sent) {
			/* The device would not take it, or others add faster than we send. */
			if (!r->gone) {
				r->paused = true;
				hrtimer_start(&r->pause,
					      ns_to_ktime(know() + (n <= DRAIN ? PAUSE : 0)),
					      HRTIMER_MODE_ABS_SOFT);
			}
			break;
		}
		r->tries = 0;
		r->first = k->next;
		if (!r->first)
			r->last = &r->first;
		give_back(r, k);
	}
	r->draining = false;
unlock:
	spin_unlock(&r->lock);
}

void env_kick(struct esp_rail *r)
{
	krail_drain(krail_of(r));
}

/* The rail is gone, and nobody drains it any more. */
void krail_purge(struct krail *r)
{
	struct kout *k, *next;

	spin_lock(&r->lock);
	k = r->first;
	r->first = NULL;
	r->last = &r->first;
	spin_unlock(&r->lock);
	for (; k; k = next) {
		next = k->next;
		let_go(k);
		env_out_put(&r->r, &k->out);
	}
}
