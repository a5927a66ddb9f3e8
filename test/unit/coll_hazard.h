/* SPDX-License-Identifier: BSD-3-Clause */
/* Looks for races inside one schedule. Used by coll_world.c. */
#ifndef COLL_HAZARD_H
#define COLL_HAZARD_H

#include <stddef.h>

#include <goal/types.h>

/*
 * Two operations of the schedule touch the same bytes, one of them writing, and nothing says
 * that one has finished before the other starts; or two that share (peer, tag) and direction
 * depend on each other or are numbered against their instances. 0, or 1 with a
 * sentence in @text.
 */
int hazard_find(const void *schedule, char *text, size_t bytes);

#endif /* COLL_HAZARD_H */
