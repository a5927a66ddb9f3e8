/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Worlds: a few ranks with random graphs that fit together, their memory, and what that must hold
 * in the end. The reference knows nothing of schedules: it carries out the operations of all
 * ranks one after another, in the order in which they were invented, and the graphs have the
 * dependencies that make every other order equivalent to that one.
 */
#ifndef HOME_WORLD_H
#define HOME_WORLD_H

#include "build.h"
#include "exec.h"

#define WORLD_RANKS 5
#define WORLD_CELLS 8  /* of each buffer */
#define WORLD_CELL  64 /* bytes */
#define WORLD_BUFS  3  /* two bound ones, and the scratch */
#define WORLD_TAGS  3

struct world {
	struct random random;
	u32 nranks;
	struct build build[WORLD_RANKS];
	u8 ref[WORLD_RANKS][WORLD_BUFS][WORLD_CELLS * WORLD_CELL]; /* memory in the end */
	u8 init[WORLD_RANKS][WORLD_BUFS][WORLD_CELLS * WORLD_CELL];
	void *data[WORLD_RANKS]; /* schedules */
	size_t len[WORLD_RANKS];
	struct exec exec[WORLD_RANKS];
	bool running[WORLD_RANKS]; /* core_start() was called */
	struct message **net;      /* sent and not arrived */
	u32 nnet, netsize;
};

/* Invent graphs of about @nops operations each. The same @seed makes the same world. */
void world_create(struct world *w, u64 seed, u32 nops);
void world_free(struct world *w);
/*
 * Run it, in an order that @seed chooses, and look at the outcome. @cancel: of 65536 steps, how
 * many cancel some rank's run. True: it ran to the end (and its memory was right).
 */
bool world_run(struct world *w, u64 seed, u32 cancel);

#endif /* HOME_WORLD_H */
