/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The test home: what the core needs of its surroundings when the unit tests and the fuzzer
 * compile it.
 */
#ifndef HOME_ENV_H
#define HOME_ENV_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
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

#define likely(x)   __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)

#endif /* HOME_ENV_H */
