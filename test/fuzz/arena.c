// SPDX-License-Identifier: BSD-3-Clause
/*
 * The memory of the protocol's home (home_alloc()) in the fuzz target `frame': one block, from which
 * objects are cut one behind the other. An execution gives its state back by copying the few
 * objects it began with, which takes a microsecond; building them anew takes hundreds.
 * AddressSanitizer sees the same as with malloc(), and more: what lies between objects and what was
 * freed is poisoned, and no address is used twice in an execution.
 */
#include <sanitizer/asan_interface.h>
#include <stdlib.h>

#include "arena.h"
#include "home.h"

#define ROOM    (1u << 20)
#define EDGE    32 /* poisoned bytes between two objects */
#define ALIGN   16
#define OBJECTS (ROOM / (ALIGN + EDGE))

struct object {
	u8 *at;
	u32 bytes;
	bool live;
};

static u8 block[ROOM] __attribute__((aligned(ALIGN)));
static struct object object[OBJECTS];
static u32 number[ROOM / ALIGN]; /* of the object that begins there */
static u32 top, objects;         /* in use */
static u32 kept_top, kept_objects;
static bool kept_live[OBJECTS];
static u8 *kept_bytes;

static u32 room_of(u32 bytes)
{
	return (bytes + EDGE + ALIGN - 1) & ~(ALIGN - 1u);
}

void *home_alloc(size_t bytes)
{
	struct object *o;
	u8 *p;

	/* What does not fit in is the sanitizer's; home_close() gives it back. */
	if (bytes > ROOM || room_of((u32)bytes) > ROOM - top || objects == OBJECTS) {
		p = malloc(bytes + !bytes);
		if (!p)
			abort();
		return p;
	}
	if (!top)
		ASAN_POISON_MEMORY_REGION(block, ROOM);
	p = block + top;
	number[top / ALIGN] = objects;
	o = &object[objects++];
	o->at = p;
	o->bytes = (u32)bytes;
	o->live = true;
	top += room_of((u32)bytes);
	ASAN_UNPOISON_MEMORY_REGION(p, bytes);
	memset(p, 0xbe, bytes); /* the same in every execution */
	return p;
}

void *home_zalloc(size_t bytes)
{
	return memset(home_alloc(bytes), 0, bytes);
}

void home_free(void *at)
{
	u8 *p = at;
	struct object *o;

	if (!p)
		return;
	if (p < block || p >= block + ROOM) {
		free(p);
		return;
	}
	o = &object[number[(p - block) / ALIGN]];
	if (o->at != p || !o->live)
		abort(); /* freed twice, or never allocated */
	o->live = false;
	ASAN_POISON_MEMORY_REGION(p, o->bytes);
}

void arena_keep(void)
{
	u32 i, at = 0;

	kept_top = top;
	kept_objects = objects;
	kept_bytes = malloc(top);
	if (!kept_bytes)
		abort();
	for (i = 0; i < objects; i++) {
		kept_live[i] = object[i].live;
		if (!kept_live[i])
			continue;
		memcpy(kept_bytes + at, object[i].at, object[i].bytes);
		at += object[i].bytes;
	}
}

void arena_restore(void)
{
	u32 i, at = 0;

	ASAN_POISON_MEMORY_REGION(block + kept_top, top - kept_top);
	top = kept_top;
	objects = kept_objects;
	for (i = 0; i < objects; i++) {
		struct object *o = &object[i];

		if (!kept_live[i])
			continue;
		if (!o->live)
			ASAN_UNPOISON_MEMORY_REGION(o->at, o->bytes);
		o->live = true;
		memcpy(o->at, kept_bytes + at, o->bytes);
		at += o->bytes;
	}
}
