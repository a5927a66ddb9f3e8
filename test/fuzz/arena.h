/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory of a fuzz target that begins each execution in the same state: see arena.c.
 */
#ifndef FUZZ_ARENA_H
#define FUZZ_ARENA_H

/* What is allocated now, with its contents, is what every execution begins with. */
void arena_keep(void);
/* It does: whatever was allocated, freed or written since then was not. */
void arena_restore(void);

#endif /* FUZZ_ARENA_H */
