/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What differs between Linux 5.15 and 6.18. The only file of the module that looks at versions.
 */
#ifndef ESPGOAL_COMPAT_H
#define ESPGOAL_COMPAT_H

#include <linux/hrtimer.h>
#include <linux/interrupt.h>
#include <linux/mm.h>
#include <linux/netdevice.h>
#include <linux/random.h>
#include <linux/sysctl.h>
#include <linux/version.h>
#include <linux/workqueue.h>

/* This header has moved in 6.12. */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 12, 0)
#include <linux/unaligned.h>
#else
#include <asm/unaligned.h>
#endif

/* References to devices are tracked by name since 5.17, through netdev_hold() since 6.0. */
#if LINUX_VERSION_CODE < KERNEL_VERSION(5, 17, 0)
typedef struct {
} netdevice_tracker;
#endif
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 0, 0)
static inline void netdev_hold(struct net_device *dev, netdevice_tracker *tracker, gfp_t gfp)
{
	dev_hold(dev);
}

static inline void netdev_put(struct net_device *dev, netdevice_tracker *tracker)
{
	dev_put(dev);
}
#endif

/* Bottom halves that go on soon: a work item in BH context since 6.9, a tasklet before. */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 9, 0)
typedef struct work_struct kbh_t;
#define kbh_callback(name)          void name(struct work_struct *kbh)
#define kbh_container(type, member) container_of(kbh, type, member)

static inline void kbh_init(kbh_t *b, void (*fn)(struct work_struct *))
{
	INIT_WORK(b, fn);
}

static inline void kbh_schedule(kbh_t *b)
{
	queue_work(system_bh_wq, b);
}

static inline void kbh_stop(kbh_t *b)
{
	cancel_work_sync(b);
}
#else
typedef struct tasklet_struct kbh_t;
#define kbh_callback(name)          void name(struct tasklet_struct *kbh)
#define kbh_container(type, member) container_of(kbh, type, member)

static inline void kbh_init(kbh_t *b, void (*fn)(struct tasklet_struct *))
{
	tasklet_setup(b, fn);
}

static inline void kbh_schedule(kbh_t *b)
{
	tasklet_schedule(b);
}

static inline void kbh_stop(kbh_t *b)
{
	tasklet_kill(b);
}
#endif

/* hrtimer_init() and the assignment of the function became one call in 6.13. */
static inline void khrtimer_init(struct hrtimer *t, enum hrtimer_restart (*fn)(struct hrtimer *))
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 13, 0)
	hrtimer_setup(t, fn, CLOCK_MONOTONIC, HRTIMER_MODE_ABS_SOFT);
#else
	hrtimer_init(t, CLOCK_MONOTONIC, HRTIMER_MODE_ABS_SOFT);
	t->function = fn;
#endif
}

/* vm_flags became read-only in 6.3. */
static inline void kvm_flags(struct vm_area_struct *vma, unsigned long set, unsigned long clear)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 3, 0)
	vm_flags_mod(vma, set, clear);
#else
	vma->vm_flags = (vma->vm_flags | set) & ~clear;
#endif
}

/* A device of a wireless network, if this kernel knows such. */
static inline bool kwireless(const struct net_device *dev)
{
#if IS_ENABLED(CONFIG_CFG80211)
	return dev->ieee80211_ptr;
#else
	return false;
#endif
}

/* Sysctl handlers are given a const table since 6.11, and tables need no end mark since 6.11. */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 11, 0)
#define KCTL_CONST const
#define KCTL_END
#else
#define KCTL_CONST
#define KCTL_END \
	{        \
	}
#endif

#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 5, 0)
#define kregister_net_sysctl(net, path, table, n) register_net_sysctl_sz(net, path, table, n)
#else
#define kregister_net_sysctl(net, path, table, n) register_net_sysctl(net, path, table)
#endif

#endif /* ESPGOAL_COMPAT_H */
