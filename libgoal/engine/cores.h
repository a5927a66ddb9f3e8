/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Counting of cores, with the places it reads as arguments. Used by cores.c and its test.
 */
#ifndef ENGINE_CORES_H
#define ENGINE_CORES_H

#include "env.h"

/* CPUs that cgroup v1 or v2 grants this process, rounded up; 0: no limit. @root: "" or a prefix. */
u32 host_cores_quota(const char *root);
/* Add the CPUs of list @text ("0-3,8") to @set, @cpus bits. -EINVAL: not such a list. */
int host_cores_parse(const char *text, u8 *set, u32 cpus);

#endif /* ENGINE_CORES_H */
