/* SPDX-License-Identifier: BSD-3-Clause */
/* How requests read the memory of a process (core/request.h): here, what the input has of it (ioctl_user.c). */
#ifndef FUZZ_ENV_USER_H
#define FUZZ_ENV_USER_H

int env_user_read(void *to, u64 from, size_t bytes);

#endif /* FUZZ_ENV_USER_H */
