// SPDX-License-Identifier: GPL-2.0-only
/*
 * /dev/espgoal: the requests of uapi/espgoal.h. Each is copied in once, checked (core/request.c),
 * carried out and answered; what was made and cannot be told about is taken back.
 */
#include <linux/fs.h>
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/nsproxy.h>
#include <linux/poll.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "home.h"
#include "request_start.h"

#define ABI_OLDEST 1 /* programs built for that one, and those since, work with this module */

struct request_limits kdev_limits __ro_after_init;

/* The endpoint that a descriptor has become, or NULL. */
static struct kep *ep_of(struct file *file)
{
	struct kfile *f = file->private_data;

	/* With do_open(): who sees it sees what is in it. */
	return smp_load_acquire(&f->ep);
}

/* The endpoint, for a process that may use it, or ERR_PTR. */
static struct kep *endpoint(struct file *file)
{
	struct kep *e = ep_of(file);

	if (!e)
		return ERR_PTR(-EBADFD);
	if (!kmm_is_current(e->mm)) {
		kep_count(e, KEP_C_foreign, 1);
		return ERR_PTR(-ECHILD);
	}
	if (READ_ONCE(e->state) != KEP_OPEN)
		return ERR_PTR(-ESHUTDOWN);
	return e;
}

/* The same with its mutex held. */
static struct kep *endpoint_lock(struct file *file)
{
	struct kep *e = endpoint(file);

	if (IS_ERR(e))
		return e;
	/* Whoever has it may be reading memory that another process provides. */
	if (mutex_lock_killable(&e->mutex))
		return ERR_PTR(-EINTR);
	if (e->state == KEP_OPEN)
		return e;
	mutex_unlock(&e->mutex);
	return ERR_PTR(-ESHUTDOWN);
}

static struct knode *node_for(struct file *file)
{
	struct kep *e = ep_of(file);

	return e ? e->node : knode_of_net(current->nsproxy->net_ns);
}

static int do_info(struct file *file, struct espgoal_info *a)
{
	struct espgoal_link link[ESPGOAL_RAILS] = {};
	struct knode *n = node_for(file);
	u32 i;

	memset(a, 0, sizeof(*a));
	a->abi = ESPGOAL_ABI;
	a->abi_oldest = ABI_OLDEST;
	a->sched_version = GOAL_SCHED_VERSION;
	strscpy(a->version, ESPGOAL_MODULE_VERSION, sizeof(a->version));
	a->rails = kep_self(n, a->node, link);
#ifdef ESPGOAL_DEBUG
	a->flags |= ESPGOAL_INFO_DEBUG;
#endif
	for (i = 0; i < GOAL_TYPES; i++)
		if (core_type_size(i) && !core_type_host_only(i) &&
		    (kpayload_fpu() || (i != GOAL_TYPE_FLOAT && i != GOAL_TYPE_DOUBLE)))
			a->dtypes |= 1ull << i;
	for (i = GOAL_ROP_MAX; i < GOAL_ROP_USER; i++)
		if (i != GOAL_ROP_MAXLOC && i != GOAL_ROP_MINLOC)
			a->rops |= 1ull << i;
	a->run_max = kdev_limits.run_max;
	a->sched_max = kdev_limits.sched_max;
	a->area_max = kdev_limits.area_max;
	a->runs_max = kdev_limits.runs_max;
	a->ranks_max = kdev_limits.ranks_max;
	a->eager_max = kdev_limits.eager_max;
	a->segs_max = REQUEST_SEGS_MAX;
	a->node_counters = kdev_limits.node_counters;
	a->ep_counters = kdev_limits.ep_counters;
	a->flow_counters = kdev_limits.flow_counters;
	return 0;
}

static int do_open(struct file *file, union request *a)
{
	struct kfile *f = file->private_data;
	struct kep *e;
	int rc;

	mutex_lock(&f->mutex);
	rc = -EEXIST;
	if (f->ep)
		goto unlock;
	rc = request_check(ESPGOAL_OPEN, a, &kdev_limits);
	if (rc)
		goto unlock;
	rc = kep_open(current->nsproxy->net_ns, f, &a->open, &e);
	if (!rc) /* with ep_of() */
		smp_store_release(&f->ep, e);
unlock:
	mutex_unlock(&f->mutex);
	return rc;
}

/* What needs the endpoint's mutex. */
static int locked(struct kep *e, unsigned int cmd, union request *a)
{
	switch (cmd) {
	case ESPGOAL_GROUP:
		return kmember_new(e, &a->group);
	case ESPGOAL_LOAD:
		return ksched_load(e, &a->load);
	case ESPGOAL_RUN:
		return krun_new(e, &a->run);
	case ESPGOAL_RUN_FREE:
		return krun_free(e, a->id.id);
	case ESPGOAL_UNLOAD:
		return ksched_unload(e, a->id.id);
	default:
		return kmember_remove(e, a->id.id);
	}
}

static int do_locked(struct file *file, unsigned int cmd, union request *a)
{
	struct kep *e = endpoint_lock(file);
	int rc;

	if (IS_ERR(e))
		return PTR_ERR(e);
	rc = request_check(cmd, a, &kdev_limits);
	if (!rc)
		rc = locked(e, cmd, a);
	mutex_unlock(&e->mutex);
	return rc;
}

static int cancel(struct kep *e, u32 id)
{
	struct krun *r = krun_by_id(e, id);

	if (!r)
		return -ENOENT;
	if (krun_use(r)) {
		kgate_enter(e->node);
		env_run_cancel(&r->e, -ECANCELED, r->m->m.rank);
		krun_unuse(r);
		kgate_leave(e->node);
	}
	krun_put(r);
	return 0;
}

/* What needs the endpoint, and no mutex. */
static int do_unlocked(struct file *file, unsigned int cmd, union request *a)
{
	struct kep *e = endpoint(file);
	int rc;

	if (IS_ERR(e))
		return PTR_ERR(e);
	rc = request_check(cmd, a, &kdev_limits);
	if (rc)
		return rc;
	switch (cmd) {
	case ESPGOAL_WAIT:
		return kwait(e, &a->wait);
	case ESPGOAL_CANCEL:
		return cancel(e, a->id.id);
	default:
		return kmember_fail(e, &a->fail);
	}
}

/* What tools ask. Only the counters of an endpoint need one. */
static int do_query(struct file *file, unsigned int cmd, union request *a)
{
	struct kep *e = NULL;
	int rc;

	if (cmd == ESPGOAL_COUNT && a->counters.set == ESPGOAL_SET_ENDPOINT) {
		e = endpoint(file);
		if (IS_ERR(e))
			return PTR_ERR(e);
	}
	rc = request_check(cmd, a, &kdev_limits);
	if (rc)
		return rc;
	switch (cmd) {
	case ESPGOAL_COUNT:
		return kquery_counters(e, node_for(file), &a->counters);
	case ESPGOAL_COUNTER_NAME:
		return kquery_name(&a->name);
	case ESPGOAL_RAIL:
		return kquery_rail(node_for(file), &a->rail);
	default:
		return kquery_flow(node_for(file), &a->flow);
	}
}

static int do_start(struct file *file, const void __user *user)
{
	const u64 __user *from = user;
	struct espgoal_start a ESP_UNSET;
	u64 *to = (u64 *)&a;
	struct kep *e;
	u32 i;

	BUILD_BUG_ON(sizeof(a) % sizeof(*to));
	/* It is short, and the way to what copies long ones is not. */
	if (!user_access_begin(from, sizeof(a)))
		return -EFAULT;
	for (i = 0; i < sizeof(a) / sizeof(*to); i++)
		unsafe_get_user(to[i], &from[i], fault);
	user_access_end();
	e = endpoint(file);
	return IS_ERR(e) ? PTR_ERR(e) : krun_start(e, &a);

fault:
	user_access_end();
	return -EFAULT;
}

static int do_close(struct file *file)
{
	struct kep *e = endpoint(file);

	if (IS_ERR(e))
		return PTR_ERR(e);
	kep_close(e, true);
	return 0;
}

static int carry_out(struct file *file, unsigned int cmd, union request *a)
{
	switch (cmd) {
	case ESPGOAL_INFO:
		return do_info(file, &a->info);
	case ESPGOAL_OPEN:
		return do_open(file, a);
	case ESPGOAL_CLOSE:
		return do_close(file);
	case ESPGOAL_WAIT:
	case ESPGOAL_CANCEL:
	case ESPGOAL_FAIL:
		return do_unlocked(file, cmd, a);
	case ESPGOAL_COUNT:
	case ESPGOAL_COUNTER_NAME:
	case ESPGOAL_RAIL:
	case ESPGOAL_FLOW:
		return do_query(file, cmd, a);
	default:
		return do_locked(file, cmd, a);
	}
}

/* The caller cannot be told what was made for it. Most requests make nothing. */
static void take_back(struct file *file, unsigned int cmd, const union request *a)
{
	struct kep *e = ep_of(file);

	switch (cmd) {
	case ESPGOAL_OPEN:
		kep_close(e, false); /* the descriptor is of no use any more */
		return;
	case ESPGOAL_GROUP:
	case ESPGOAL_LOAD:
	case ESPGOAL_RUN:
		break;
	default:
		return;
	}
	mutex_lock(&e->mutex);
	if (e->state == KEP_OPEN) {
		if (cmd == ESPGOAL_GROUP)
			kmember_remove(e, a->group.id);
		else if (cmd == ESPGOAL_LOAD)
			ksched_unload(e, a->load.id);
		else
			krun_free(e, a->run.id);
	}
	mutex_unlock(&e->mutex);
}

static noinline long request(struct file *file, unsigned int cmd, void __user *user)
{
	union request a;
	bool verifier;
	int rc;

	if (!request_known(cmd))
		return -ENOTTY;
	if ((_IOC_DIR(cmd) & _IOC_WRITE) && copy_from_user(&a, user, _IOC_SIZE(cmd)))
		return -EFAULT;
	rc = carry_out(file, cmd, &a);
	/* A refused schedule: where it is wrong. */
	verifier = cmd == ESPGOAL_LOAD && rc && a.load.rule;
	if (!(_IOC_DIR(cmd) & _IOC_READ) || (rc && !verifier))
		return rc;
	if (copy_to_user(user, &a, _IOC_SIZE(cmd)) && !rc) {
		take_back(file, cmd, &a);
		rc = -EFAULT;
	}
	return rc;
}

/* The one that must be fast is kept out of the others' stack frame, which the compiler zeroes. */
static long ioctl(struct file *file, unsigned int cmd, unsigned long ptr)
{
	void __user *user = (void __user *)ptr;

	return cmd == ESPGOAL_START ? do_start(file, user) : request(file, cmd, user);
}

static int open(struct inode *inode, struct file *file)
{
	struct kfile *f = kzalloc(sizeof(*f), GFP_KERNEL_ACCOUNT);

	if (!f)
		return -ENOMEM;
	kref_init(&f->refs);
	mutex_init(&f->mutex);
	kwait_init(f);
	file->private_data = f;
	return stream_open(inode, file);
}

static int release(struct inode *inode, struct file *file)
{
	struct kfile *f = file->private_data;

	if (f->ep) {
		kep_close(f->ep, false);
		kep_put(f->ep);
	}
	kwait_exit(f);
	kfile_put(f);
	return 0;
}

static void free_file(struct kref *refs)
{
	kfree(container_of(refs, struct kfile, refs));
}

void kfile_put(struct kfile *f)
{
	kref_put(&f->refs, free_file);
}

static ssize_t read(struct file *file, char __user *buf, size_t bytes, loff_t *pos)
{
	struct kep *e = endpoint(file);
	u64 n;
	int rc;

	if (IS_ERR(e))
		return PTR_ERR(e);
	if (bytes < sizeof(n))
		return -EINVAL;
	do {
		if (READ_ONCE(e->over) == READ_ONCE(e->read)) {
			if (file->f_flags & O_NONBLOCK)
				return -EAGAIN;
			rc = wait_event_interruptible(e->file->wait,
						      READ_ONCE(e->over) != READ_ONCE(e->read) ||
							      READ_ONCE(e->state) != KEP_OPEN);
			if (rc)
				return rc;
			if (READ_ONCE(e->state) != KEP_OPEN)
				return -ESHUTDOWN;
		}
		spin_lock_bh(&e->over_lock);
		n = e->over - e->read;
		WRITE_ONCE(e->read, e->over);
		spin_unlock_bh(&e->over_lock);
	} while (!n);
	return copy_to_user(buf, &n, sizeof(n)) ? -EFAULT : (ssize_t)sizeof(n);
}

static __poll_t poll(struct file *file, struct poll_table_struct *pt)
{
	struct kfile *f = file->private_data;
	__poll_t mask = 0;
	struct kep *e;

	poll_wait(file, &f->wait, pt);
	e = ep_of(file);
	if (!e)
		return 0;
	if (READ_ONCE(e->state) != KEP_OPEN)
		mask |= EPOLLERR | EPOLLHUP;
	if (READ_ONCE(e->over) != READ_ONCE(e->read))
		mask |= EPOLLIN | EPOLLRDNORM;
	return mask;
}

static int mmap(struct file *file, struct vm_area_struct *vma)
{
	struct kep *e = endpoint(file);

	return IS_ERR(e) ? PTR_ERR(e) : karea_mmap(&e->area, vma);
}

static const struct file_operations fops = {
	.owner = THIS_MODULE,
	.open = open,
	.release = release,
	.unlocked_ioctl = ioctl,
	.compat_ioctl = compat_ptr_ioctl,
	.read = read,
	.poll = poll,
	.mmap = mmap,
	.llseek = noop_llseek,
};

static struct miscdevice misc = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = "espgoal",
	.fops = &fops,
	.mode = 0660,
};

int kdev_init(void)
{
	kdev_limits = (struct request_limits){
		.runs_max = kparam_runs_max,
		.area_max = kparam_area_max,
		.ranks_max = kparam_ranks_max,
		.sched_max = kparam_sched_max,
		.run_max = kparam_run_max,
		.eager_max = kparam_eager_max,
		.page = PAGE_SIZE,
		.run_head = sizeof(struct krun),
		.msg_head = sizeof(struct kmsg),
		.node_counters = ESP_COUNTERS + KNODE_COUNTERS,
		.ep_counters = KEP_COUNTERS,
		.flow_counters = ESP_COUNTERS,
		.fp = kpayload_fpu(),
	};
	return misc_register(&misc);
}

void kdev_exit(void)
{
	misc_deregister(&misc);
}
