/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Collectives of many shapes on a team's group: made by the library's builders, run by the device, and
 * every byte that comes out compared with what must. All ranks draw the same shapes from the same
 * seed.
 */
#ifndef VM_SHAPE_H
#define VM_SHAPE_H

#include <goal/collectives.h>

#include "device.h"

#define SHAPE_OBJECTS 6 /* run objects of a shape at most */

struct object {
	uint32_t id;
	uint32_t starts;
	uint32_t start; /* number of its last start */
	bool busy;      /* started and not checked yet */
	uint64_t off[GOAL_MAX_BUFS];
};

struct shape {
	enum goal_coll coll;
	enum goal_algorithm alg;
	uint32_t root;
	uint64_t bytes; /* of a block; of a reduction: elements */
	struct goal_reduction how;
	bool in_place;
	uint32_t ndims; /* of neighborhoods: ring or torus */
	int32_t neighbor[4];
	bool kept; /* local: buffer RECV goes in too, so what is not written stays */

	uint32_t rank, size, group;
	uint32_t op_id;
	uint32_t started; /* how often, by all of its objects */
	uint32_t id;
	uint8_t flags[GOAL_MAX_BUFS];
	uint64_t need[GOAL_MAX_BUFS];
	uint32_t nobjects;
	struct object object[SHAPE_OBJECTS];
	uint8_t *in, *want;
	uint8_t *send, *recv; /* whole buffers, also where the schedule needs less of them */
	uint64_t room;        /* of each */
};

/* Draw what, the same at all ranks, with blocks of at most @most bytes. */
void shape_draw(struct shape *s, struct dice *d, uint32_t size, uint64_t most);
/* Build it for this rank, and load it. @own: what this rank may decide for itself. */
void shape_load(struct shape *s, struct device *d, uint32_t rank, uint32_t group, uint32_t op_id,
		struct dice *own);
/*
 * Start it: the object, or NULL when none is free and no more may be made. @flags, @timeout: as of
 * espgoal_start. @rc: what the request answered, when it is not 0 NULL is returned.
 */
struct object *shape_start(struct shape *s, struct device *d, uint32_t flags, uint64_t timeout,
			   int *rc);
/* Is the run over? Its status, then in word.status. */
bool shape_over(const struct shape *s, const struct device *d, const struct object *o);
/* Compare what came out. */
void shape_check(struct shape *s, const struct device *d, struct object *o);
void shape_unload(struct shape *s, struct device *d);
const char *shape_name(const struct shape *s);

#endif /* VM_SHAPE_H */
