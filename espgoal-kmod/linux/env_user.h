/* SPDX-License-Identifier: GPL-2.0-only */
/* How requests read the memory of the process that makes them (core/request.h). */
#ifndef ESPGOAL_ENV_USER_H
#define ESPGOAL_ENV_USER_H

#include <linux/errno.h>
#include <linux/uaccess.h>

static inline int env_user_read(void *to, u64 from, size_t bytes)
{
	return copy_from_user(to, u64_to_user_ptr(from), bytes) ? -EFAULT : 0;
}

#endif /* ESPGOAL_ENV_USER_H */
