/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Random numbers from a seed, the same on every machine: splitmix64 (Steele, Lea, Flood,
 * OOPSLA 2014).
 */
#ifndef SIM_RANDOM_H
#define SIM_RANDOM_H

#include <stdbool.h>
#include <stdint.h>

struct sim_random {
	uint64_t state;
};

static inline uint64_t sim_mix(uint64_t z)
{
	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
	return z ^ (z >> 31);
}

static inline uint64_t sim_u64(struct sim_random *r)
{
	return sim_mix(r->state += 0x9e3779b97f4a7c15ull);
}

/* Below @n, which is not 0. */
static inline uint64_t sim_below(struct sim_random *r, uint64_t n)
{
	return (uint64_t)(((unsigned __int128)sim_u64(r) * n) >> 64);
}

static inline uint64_t sim_between(struct sim_random *r, uint64_t from, uint64_t to)
{
	return from + sim_below(r, to - from + 1);
}

/* True @of in 65536. */
static inline bool sim_chance(struct sim_random *r, uint32_t of)
{
	return of && (sim_u64(r) & 0xffff) < of;
}

#endif /* SIM_RANDOM_H */
