/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sides whose datatype has holes: a temporary copy in packed form stands for the user's memory
 * during the run. What the run leaves alone (a gap, a neighbor that is MPI_PROC_NULL, a message
 * shorter than its block) must come back as it was, so the copy starts with what stood there.
 * Called by run.c and request.c; direct sides (coll_goal_sides.h) never come here.
 */
#include "coll_goal.h"

static struct coll_goal_block *blocks_of(struct coll_goal_side *side, uint32_t *n)
{
	*n = side->nblocks ? side->nblocks : 1;
	return side->nblocks ? side->blocks : &side->one;
}

int coll_goal_side_load(struct coll_goal_side *side)
{
	const struct coll_goal_block *block;
	uint32_t n;
	char *at;
	int rc;

	if (!side->packed)
		return 0;
	if (!side->base) {
		side->base = coll_goal_malloc(side->len);
		if (!side->base)
			return -ENOMEM;
	}
	if (!side->load && !side->store)
		return 0;
	at = side->base;
	block = blocks_of(side, &n);
	for (; n--; block++) {
		rc = coll_goal_pack(block, at);
		if (rc)
			return rc;
		at += block->bytes;
	}
	return 0;
}

int coll_goal_side_store(struct coll_goal_side *side)
{
	const struct coll_goal_block *block;
	uint64_t left = side->store_len;
	uint32_t n;
	char *at;

	if (!side->packed || !side->store)
		return 0;
	at = side->base;
	block = blocks_of(side, &n);
	for (; n-- && left; block++) {
		uint64_t bytes = block->bytes < left ? block->bytes : left;
		int rc = coll_goal_unpack(block, at, bytes);

		if (rc)
			return rc;
		at += bytes;
		left -= bytes;
	}
	return 0;
}

static void each_type(struct coll_goal_side *side, bool retain)
{
	struct coll_goal_block *block;
	uint32_t n;

	block = blocks_of(side, &n);
	for (; n--; block++) {
		if (!block->bytes || ompi_datatype_is_predefined(block->type))
			continue;
		if (retain) {
			OBJ_RETAIN(block->type);
		} else {
			OMPI_DATATYPE_RELEASE_NO_NULLIFY(block->type);
		}
	}
	side->retained = retain;
}

/* The user may free the types before the run is over. */
void coll_goal_side_retain(struct coll_goal_side *side)
{
	if (side->packed)
		each_type(side, true);
}

void coll_goal_side_release(struct coll_goal_side *side)
{
	if (!side->packed)
		return;
	if (side->retained)
		each_type(side, false);
	free(side->base);
	side->base = NULL;
	if (side->nblocks)
		free(side->blocks);
	side->nblocks = 0;
	side->packed = false;
}
