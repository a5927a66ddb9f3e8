// SPDX-License-Identifier: GPL-2.0-only
/* /sys/kernel/debug/espgoal/<namespace>: counters of the node and of its flows, for people. */
#include <linux/debugfs.h>
#include <linux/seq_file.h>

#include "home.h"

static struct dentry *root;

static int counters_show(struct seq_file *s, void *unused)
{
	struct knode *n = s->private;
	u32 i;

	for (i = 0; i < ESP_COUNTERS + KNODE_COUNTERS; i++) {
		u64 v = knode_sum(n->count, i);

		if (v)
			seq_printf(s, "%s %llu\n", kquery_node_counter(i), v);
	}
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(counters);

static int flows_show(struct seq_file *s, void *unused)
{
	struct knode *n = s->private;
	struct esp_flow *f = NULL;
	u32 i;

	while ((f = env_flow_next(&n->n, f)) != NULL) {
		const struct kflow *k = kflow_of(f);

		seq_printf(s, "flow %llu peer %*phN state %u messages %u\n", k->serial, 16,
			   f->peer.node, READ_ONCE(f->state), READ_ONCE(f->nmsgs));
		for (i = 0; i < ESP_COUNTERS; i++)
			if (READ_ONCE(k->count[i]))
				seq_printf(s, "  %s %u\n", esp_count_name(i),
					   READ_ONCE(k->count[i]));
	}
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(flows);

static int endpoints_show(struct seq_file *s, void *unused)
{
	struct knode *n = s->private;
	struct kep *e;
	u32 i;

	spin_lock_bh(&n->table_lock);
	list_for_each_entry(e, &n->eps, all) {
		seq_printf(s, "endpoint of uid %u state %u\n",
			   from_kuid_munged(seq_user_ns(s), e->user->uid), e->state);
		for (i = 0; i < KEP_COUNTERS; i++) {
			u64 v = knode_sum(e->count, i);

			if (v)
				seq_printf(s, "  %s %llu\n", kquery_ep_counter(i), v);
		}
	}
	spin_unlock_bh(&n->table_lock);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(endpoints);

void kdebugfs_node(struct knode *n)
{
	char name[24];

	snprintf(name, sizeof(name), "%u", n->net->ns.inum);
	n->debugfs = debugfs_create_dir(name, root);
	debugfs_create_file("counters", 0400, n->debugfs, n, &counters_fops);
	debugfs_create_file("flows", 0400, n->debugfs, n, &flows_fops);
	debugfs_create_file("endpoints", 0400, n->debugfs, n, &endpoints_fops);
}

void kdebugfs_node_exit(struct knode *n)
{
	debugfs_remove_recursive(n->debugfs);
}

void kdebugfs_init(void)
{
	root = debugfs_create_dir("espgoal", NULL);
}

void kdebugfs_exit(void)
{
	debugfs_remove_recursive(root);
}
