/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The host home: types and helpers that the core needs in a process. core.h includes it first;
 * the env_*() that look into a run are in env_run.h, which core.h includes last.
 */
#ifndef ENGINE_ENV_H
#define ENGINE_ENV_H

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <linux/types.h>

typedef __u8 u8;
typedef __u16 u16;
typedef __u32 u32;
typedef __u64 u64;
typedef __s8 s8;
typedef __s16 s16;
typedef __s32 s32;
typedef __s64 s64;

#ifndef likely
#define likely(x)   __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)
#endif

#define READ_ONCE(x)     (*(const volatile __typeof__(x) *)&(x))
#define WRITE_ONCE(x, v) (*(volatile __typeof__(x) *)&(x) = (v))

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

#endif /* ENGINE_ENV_H */
