/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ranks of this node in one process, each an endpoint of its own, and schedules of many small
 * messages from one to the other: for what happens within a node.
 */
#ifndef VM_RANKS_H
#define VM_RANKS_H

#include "device.h"

/* Endpoint @rank of the @size in @d joins their group @nonce: its id there. */
uint32_t ranks_join(struct device *d, uint32_t rank, uint32_t size, uint64_t nonce);
/* The same, that may fail: 0 or -errno. */
int ranks_try_join(struct device *d, uint32_t rank, uint32_t size, uint64_t nonce, uint32_t *id);

/* A loaded schedule, with a run object of it, of @n messages of @bytes each. */
struct batch {
	struct device *d;
	uint32_t sched, run;
	uint32_t n, bytes;
	bool sends;
	uint64_t out;  /* where what was received lies in the mapping */
	uint8_t *data; /* what is sent */
};

/* Rank @rank of @size sends them to @peer, or receives them from there, all at once. */
void batch_load(struct batch *b, struct device *d, uint32_t rank, uint32_t size, uint32_t peer,
		uint32_t n, uint32_t bytes, bool sends);
/* One more run object of it: its id, or -errno. */
int batch_again(struct batch *b);
/* 0 or -errno. */
int batch_start(const struct batch *b, uint32_t run, uint32_t group, uint32_t op_id,
		uint32_t start);
/* Wait until the run is over, at most @seconds: its status, or -ETIMEDOUT. */
int batch_wait(const struct batch *b, uint32_t run, double seconds);
/* Is what came what batch_load() of a sender has filled in? */
bool batch_good(const struct batch *b);
void batch_free(struct batch *b);

#endif /* VM_RANKS_H */
