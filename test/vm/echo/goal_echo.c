// SPDX-License-Identifier: GPL-2.0-only
/*
 * The floor under everything that answers frames in the receive interrupt, for test/bench/vm alone: a
 * packet handler that sends each frame back to where it came from, as it is. In debugfs:
 *
 *	goal_echo/ping		write "INTERFACE MAC HOPS": a frame goes to and fro until it has made
 *				that many hops, and the write waits for it; read: nanoseconds it took
 *	goal_echo/handed	write a byte, then read: the time stamp counter when this process
 *				next gave a device a frame of EtherType watch
 *
 * HOPS is even, so that the frame ends where it began. The module is loaded at both sides.
 */
#include <linux/completion.h>
#include <linux/debugfs.h>
#include <linux/etherdevice.h>
#include <linux/if_ether.h>
#include <linux/module.h>
#include <linux/netdevice.h>
#include <linux/nsproxy.h>
#include <linux/sched.h>
#include <linux/skbuff.h>
#include <linux/timex.h>
#include <linux/tracepoint.h>
#include <linux/uaccess.h>

#define ECHO_TYPE    0x88b6 /* IEEE 802 local experimental 2 */
#define ECHO_TIMEOUT (60 * HZ)

static unsigned int watch = 0x88b5;
module_param(watch, uint, 0644);
MODULE_PARM_DESC(watch, "EtherType of the frames that goal_echo/handed sees");

struct echo {
	__be32 left; /* hops still to be made */
};

static DEFINE_MUTEX(pinging); /* one frame under way at a time */
static DECLARE_COMPLETION(back);
static ktime_t came_back;
static u64 took; /* of the last one, ns */

static int answer(struct sk_buff *skb, struct net_device *dev, struct packet_type *type,
		  struct net_device *orig)
{
	struct echo *e;
	struct ethhdr *eth;
	u32 left;

	skb = skb_share_check(skb, GFP_ATOMIC);
	if (!skb)
		return NET_RX_DROP;
	if (skb->pkt_type != PACKET_HOST || skb_ensure_writable(skb, sizeof(*e)))
		goto drop;
	e = (struct echo *)skb->data;
	left = be32_to_cpu(e->left);
	if (!left) {
		came_back = ktime_get();
		complete(&back);
		consume_skb(skb);
		return NET_RX_SUCCESS;
	}
	e->left = cpu_to_be32(left - 1);
	eth = skb_push(skb, ETH_HLEN);
	ether_addr_copy(eth->h_dest, eth->h_source);
	ether_addr_copy(eth->h_source, dev->dev_addr);
	skb->dev = dev;
	skb->pkt_type = PACKET_OUTGOING;
	dev_queue_xmit(skb);
	return NET_RX_SUCCESS;
drop:
	kfree_skb(skb);
	return NET_RX_DROP;
}

static struct packet_type handler __read_mostly = {
	.type = cpu_to_be16(ECHO_TYPE),
	.func = answer,
};

static int send(struct net_device *dev, const u8 *to, u32 hops)
{
	struct sk_buff *skb = alloc_skb(LL_RESERVED_SPACE(dev) + ETH_ZLEN, GFP_KERNEL);
	struct echo *e;
	int rc;

	if (!skb)
		return -ENOMEM;
	skb_reserve(skb, LL_RESERVED_SPACE(dev));
	skb_reset_network_header(skb);
	e = skb_put_zero(skb, ETH_ZLEN - ETH_HLEN);
	e->left = cpu_to_be32(hops - 1);
	skb->dev = dev;
	skb->protocol = cpu_to_be16(ECHO_TYPE);
	if (dev_hard_header(skb, dev, ECHO_TYPE, to, dev->dev_addr, skb->len) < 0) {
		kfree_skb(skb);
		return -EINVAL;
	}
	rc = dev_queue_xmit(skb);
	return net_xmit_eval(rc);
}

static int ping(const char *name, const u8 *to, u32 hops)
{
	struct net_device *dev = dev_get_by_name(current->nsproxy->net_ns, name);
	ktime_t begun;
	long rc;

	if (!dev)
		return -ENODEV;
	mutex_lock(&pinging);
	reinit_completion(&back);
	begun = ktime_get();
	rc = send(dev, to, hops);
	if (rc)
		goto unlock;
	rc = wait_for_completion_interruptible_timeout(&back, ECHO_TIMEOUT);
	if (rc <= 0) {
		rc = rc ? rc : -ETIMEDOUT;
		goto unlock;
	}
	took = ktime_to_ns(ktime_sub(came_back, begun));
	rc = 0;
unlock:
	mutex_unlock(&pinging);
	dev_put(dev);
	return rc;
}

static ssize_t ping_write(struct file *file, const char __user *from, size_t len, loff_t *pos)
{
	char text[64], name[IFNAMSIZ], mac[18];
	u8 to[ETH_ALEN];
	u32 hops;
	int rc;

	if (len >= sizeof(text))
		return -EINVAL;
	if (copy_from_user(text, from, len))
		return -EFAULT;
	text[len] = '\0';
	if (sscanf(text, "%15s %17s %u", name, mac, &hops) != 3 || !mac_pton(mac, to) || !hops ||
	    hops % 2)
		return -EINVAL;
	rc = ping(name, to, hops);
	return rc ? rc : len;
}

static ssize_t number_read(char __user *to, size_t len, loff_t *pos, u64 number)
{
	char text[24];
	int n = scnprintf(text, sizeof(text), "%llu\n", number);

	return simple_read_from_buffer(to, len, pos, text, n);
}

static ssize_t ping_read(struct file *file, char __user *to, size_t len, loff_t *pos)
{
	return number_read(to, len, pos, READ_ONCE(took));
}

static const struct file_operations ping_ops = {
	.owner = THIS_MODULE,
	.open = simple_open,
	.read = ping_read,
	.write = ping_write,
	.llseek = default_llseek,
};

/* Who waits for a frame of its own, and when that came. */
static struct task_struct *armed;
static u64 handed;

static void start_xmit(void *data, const struct sk_buff *skb, const struct net_device *dev)
{
	if (READ_ONCE(armed) == current && skb->protocol == htons((u16)watch)) {
		handed = get_cycles();
		WRITE_ONCE(armed, NULL);
	}
}

static ssize_t handed_write(struct file *file, const char __user *from, size_t len, loff_t *pos)
{
	handed = 0;
	WRITE_ONCE(armed, current);
	return len;
}

static ssize_t handed_read(struct file *file, char __user *to, size_t len, loff_t *pos)
{
	return number_read(to, len, pos, READ_ONCE(handed));
}

static const struct file_operations handed_ops = {
	.owner = THIS_MODULE,
	.open = simple_open,
	.read = handed_read,
	.write = handed_write,
	.llseek = default_llseek,
};

static struct tracepoint *point;

static void look_at(struct tracepoint *tp, void *data)
{
	if (!strcmp(tp->name, "net_dev_start_xmit"))
		point = tp;
}

static struct dentry *folder;

static int __init echo_init(void)
{
	int rc;

	for_each_kernel_tracepoint(look_at, NULL);
	if (!point)
		return -ENOENT;
	rc = tracepoint_probe_register(point, start_xmit, NULL);
	if (rc)
		return rc;
	folder = debugfs_create_dir("goal_echo", NULL);
	debugfs_create_file("ping", 0600, folder, NULL, &ping_ops);
	debugfs_create_file("handed", 0600, folder, NULL, &handed_ops);
	dev_add_pack(&handler);
	return 0;
}

static void __exit echo_exit(void)
{
	dev_remove_pack(&handler);
	debugfs_remove(folder);
	tracepoint_probe_unregister(point, start_xmit, NULL);
	tracepoint_synchronize_unregister();
}

module_init(echo_init);
module_exit(echo_exit);
MODULE_DESCRIPTION("Sends frames back, for test/bench/vm");
MODULE_LICENSE("GPL");
