// SPDX-License-Identifier: BSD-3-Clause
/* The memory of a process that makes requests. */
#include <stdlib.h>

#include "core.h"
#include "env_user.h"
#include "ioctl_user.h"

struct user user;

static size_t room; /* behind what it has */

void user_open(const u8 *data, size_t bytes, size_t more)
{
	user = (struct user){ .at = malloc(bytes + more + 1), .bytes = bytes };
	if (!user.at)
		abort();
	memcpy(user.at, data, bytes);
	room = more;
}

void user_close(void)
{
	free(user.at);
}

u64 user_append(const void *data, size_t bytes)
{
	u64 at = USER_BASE + user.bytes;

	if (bytes > room)
		abort();
	room -= bytes;
	memcpy(user.at + user.bytes, data, bytes);
	user.bytes += bytes;
	return at;
}

bool user_has(u64 from, u64 bytes)
{
	u64 at = from - USER_BASE;

	return !bytes || (at <= user.bytes && bytes <= user.bytes - at);
}

u8 *user_at(u64 from)
{
	if (!user_has(from, 1))
		abort();
	return user.at + (from - USER_BASE);
}

/* As the kernel does: what can be read is there even if not all can, and the rest is zeroed. */
int env_user_read(void *to, u64 from, size_t bytes)
{
	u64 at = from - USER_BASE, can = at < user.bytes ? user.bytes - at : 0;

	user.calls++;
	if (bytes <= can) {
		memcpy(to, user.at + at, bytes);
		user.copied += bytes;
		return 0;
	}
	if (can)
		memcpy(to, user.at + at, can);
	memset((u8 *)to + can, 0, bytes - can);
	return -EFAULT;
}
