/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The memory of a process that makes requests: one stretch of it, of as many bytes as the input has,
 * at an address where the fuzzer itself has nothing.
 */
#ifndef FUZZ_IOCTL_USER_H
#define FUZZ_IOCTL_USER_H

#include "env.h"

#define USER_BASE 0x10000ull

struct user {
	u8 *at;
	size_t bytes;
	u64 calls, copied; /* what was read of it through env_user_read() */
};

extern struct user user;

/* It has these @bytes, and room for @more. */
void user_open(const u8 *data, size_t bytes, size_t more);
void user_close(void);
/* Append @bytes; where they are. */
u64 user_append(const void *data, size_t bytes);
/* Can all @bytes at @from be read? */
bool user_has(u64 from, u64 bytes);
/* For who reads or writes it as the process does, without being counted: @from is one of it. */
u8 *user_at(u64 from);

#endif /* FUZZ_IOCTL_USER_H */
