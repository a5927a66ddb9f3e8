// SPDX-License-Identifier: GPL-2.0-only
/*
 * Frames in: the packet handler. It is one for all namespaces and devices, so it looks first
 * whether the frame concerns a rail of ours at all. Frames of a packet socket's ring can be changed
 * by a process while they are read: the core is given copies of headers, each byte fetched once.
 */
#include <linux/etherdevice.h>
#include <linux/if_arp.h>
#include <linux/skbuff.h>

#include "home.h"
#include "trace.h"

const u8 *env_frame_bytes(void *frame, u32 off, u32 len, u8 *buf)
{
	struct sk_buff *skb = frame;

	if (likely(off + len <= skb_headlen(skb)))
		kcopy_header(buf, skb->data + off, len);
	else if (skb_copy_bits(frame, (int)off, buf, (int)len))
		memset(buf, 0, len); /* no header is valid with it */
	return buf;
}

u32 env_frame_crc(void *frame, u32 off, u32 len, u32 crc)
{
	struct sk_buff *skb = frame;
	struct skb_seq_state st;
	const u8 *data;
	u32 n, done = 0;

	if (off + len <= skb_headlen(skb))
		return env_crc32c(crc, skb->data + off, len);
	skb_prepare_seq_read(skb, off, off + len, &st);
	while (done < len && (n = skb_seq_read(done, &data, &st)) != 0) {
		n = min(n, len - done); /* the last block goes on behind the frame */
		crc = env_crc32c(crc, data, n);
		done += n;
	}
	skb_abort_seq_read(&st);
	return crc;
}

static struct krail *rail_of(struct knode *n, const struct net_device *dev)
{
	u32 i;

	for (i = 0; i < ESP_PATHS; i++) {
		struct krail *r = rcu_dereference(n->rail[i]);

		if (r && r->dev == dev)
			return r;
	}
	return NULL;
}

static void take(struct knode *n, struct sk_buff *skb)
{
	struct krail *r = rail_of(n, skb->dev);
	struct esp_addr from = { .carrier = ESP_CARRIER_ETHER };

	if (!r) {
		knode_count(n, KNODE_C_drop_no_rail);
		kfree_skb(skb);
		return;
	}
	this_cpu_inc(r->count[KRAIL_FRAMES_IN]);
	this_cpu_add(r->count[KRAIL_BYTES_IN], skb->len);
	trace_espgoal_frame_in(skb->dev, skb->len);
	ether_addr_copy(from.addr, eth_hdr(skb)->h_source);
	kgate_enter_bh(n);
	esp_frame_in(&r->r, &from, skb, skb->len, know_here(n));
	napi_consume_skb(skb, 1); /* before frames go out, which may be made of it */
	kgate_leave_bh(n);
}

static int receive(struct sk_buff *skb, struct net_device *dev, struct packet_type *pt,
		   struct net_device *orig)
{
	struct knode *n = knode_of_net(dev_net(dev));

	/* Where nobody has an endpoint, nobody is at home. */
	if (!n || (!atomic_read(&n->open) && !READ_ONCE(n->nflows))) {
		kfree_skb(skb);
		return NET_RX_DROP;
	}
	knode_count(n, KNODE_C_frames_seen);
	if (skb->pkt_type != PACKET_HOST || dev->type != ARPHRD_ETHER ||
	    !skb_mac_header_was_set(skb) || skb_mac_header_len(skb) < ETH_HLEN) {
		knode_count(n, KNODE_C_drop_not_for_us);
		kfree_skb(skb);
		return NET_RX_DROP;
	}
	skb = skb_share_check(skb, GFP_ATOMIC);
	if (!skb) {
		knode_count(n, KNODE_C_drop_shared);
		return NET_RX_DROP;
	}
	take(n, skb);
	return NET_RX_SUCCESS;
}

static struct packet_type handler __read_mostly = {
	.func = receive,
};

int krx_module_init(void)
{
	handler.type = htons(kparam_ethertype);
	dev_add_pack(&handler);
	return 0;
}

void krx_module_exit(void)
{
	dev_remove_pack(&handler);
}
