/* SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause */
/*
 * SipHash-2-4 with 64 bits of result, which both sides of a hello compute with a node's name as the
 * key (esp_hello.c). Part of the wire's format, so it is not left to the home.
 */
#ifndef ESP_SIP_H
#define ESP_SIP_H

#include "esp.h"

struct esp_sip {
	u64 v[4];
};

static inline u64 esp_sip_rotate(u64 x, u32 by)
{
	return x << by | x >> (64 - by);
}

static inline void esp_sip_rounds(struct esp_sip *s, u32 n)
{
	u64 *v = s->v;

	while (n--) {
		v[0] += v[1];
		v[2] += v[3];
		v[1] = esp_sip_rotate(v[1], 13) ^ v[0];
		v[3] = esp_sip_rotate(v[3], 16) ^ v[2];
		v[0] = esp_sip_rotate(v[0], 32);
		v[2] += v[1];
		v[0] += v[3];
		v[1] = esp_sip_rotate(v[1], 17) ^ v[2];
		v[3] = esp_sip_rotate(v[3], 21) ^ v[0];
		v[2] = esp_sip_rotate(v[2], 32);
	}
}

static inline void esp_sip_word(struct esp_sip *s, u64 word)
{
	s->v[3] ^= word;
	esp_sip_rounds(s, 2);
	s->v[0] ^= word;
}

static inline u64 esp_sip_bytes(const u8 *p, u32 n)
{
	u64 word = 0;

	while (n--)
		word = word << 8 | p[n];
	return word;
}

static inline u64 esp_sip(const u8 key[16], const void *data, u32 len)
{
	u64 k0 = esp_sip_bytes(key, 8), k1 = esp_sip_bytes(key + 8, 8);
	struct esp_sip s = { { k0 ^ 0x736f6d6570736575ull, k1 ^ 0x646f72616e646f6dull,
			       k0 ^ 0x6c7967656e657261ull, k1 ^ 0x7465646279746573ull } };
	const u8 *p = data;
	u32 left;

	for (left = len; left >= 8; left -= 8, p += 8)
		esp_sip_word(&s, esp_sip_bytes(p, 8));
	esp_sip_word(&s, esp_sip_bytes(p, left) | (u64)len << 56);
	s.v[2] ^= 0xff;
	esp_sip_rounds(&s, 4);
	return s.v[0] ^ s.v[1] ^ s.v[2] ^ s.v[3];
}

#endif /* ESP_SIP_H */
