/* SPDX-License-Identifier: BSD-3-Clause */
/* Reproducible random numbers for the tests (splitmix64), and a check that no build leaves out. */
#ifndef HOME_RANDOM_H
#define HOME_RANDOM_H

#include <stdio.h>
#include <stdlib.h>

#include "env.h"

struct random {
	u64 state;
};

static inline u64 random_u64(struct random *r)
{
	u64 z = r->state += 0x9e3779b97f4a7c15ull;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
	return z ^ (z >> 31);
}

static inline u32 random_below(struct random *r, u32 n)
{
	return n ? (u32)(random_u64(r) % n) : 0;
}

/* True @of256 times of 256. */
static inline bool random_chance(struct random *r, u32 of256)
{
	return (random_u64(r) & 255) < of256;
}

/* Usable in threads and in the fuzzer, where no framework's assertion is. */
#define must(condition)                                                                           \
	do {                                                                                      \
		if (!(condition)) {                                                               \
			fprintf(stderr, "%s:%d: %s is not so\n", __FILE__, __LINE__, #condition); \
			abort();                                                                  \
		}                                                                                 \
	} while (0)

#endif /* HOME_RANDOM_H */
