// SPDX-License-Identifier: BSD-3-Clause
/* CRC32C by the processor's instruction where there is one, else by a table. */
#include "crc32c.h"
#include "env.h"

static u32 table[256];

static u32 by_table(u32 crc, const u8 *p, size_t len)
{
	u32 i, k;

	if (!table[1])
		for (i = 0; i < 256; i++) {
			u32 v = i;

			for (k = 0; k < 8; k++)
				v = v >> 1 ^ (v & 1 ? 0x82f63b78 : 0);
			table[i] = v;
		}
	while (len--)
		crc = crc >> 8 ^ table[(crc ^ *p++) & 0xff];
	return crc;
}

#ifdef __x86_64__
__attribute__((target("sse4.2"))) static u32 by_processor(u32 crc, const u8 *p, size_t len)
{
	u64 c = crc, v;

	for (; len >= 8; len -= 8, p += 8) {
		memcpy(&v, p, 8);
		c = __builtin_ia32_crc32di(c, v);
	}
	for (; len; len--)
		c = __builtin_ia32_crc32qi((u32)c, *p++);
	return (u32)c;
}

u32 crc32c(u32 crc, const void *data, size_t len)
{
	return __builtin_cpu_supports("sse4.2") ? by_processor(crc, data, len)
						: by_table(crc, data, len);
}
#else
u32 crc32c(u32 crc, const void *data, size_t len)
{
	return by_table(crc, data, len);
}
#endif
