/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The sides that are not one piece of contiguous memory: datatypes with holes, and the blocks of
 * the v and w collectives. Called by the family files through coll_goal_sides.h.
 */
#include "coll_goal_sides.h"

static void make_packed(struct coll_goal_side *side, enum coll_goal_use use)
{
	side->base = NULL;
	side->packed = true;
	side->load = use & COLL_GOAL_READ;
	side->store = use & COLL_GOAL_WRITE;
	side->retained = false;
	side->nblocks = 0;
	side->blocks = NULL;
}

void coll_goal_side_packed(struct coll_goal_side *side, const void *buf, size_t count,
			   ompi_datatype_t *type, enum coll_goal_use use)
{
	make_packed(side, use);
	side->len = side->store_len = coll_goal_bytes(type, count);
	side->one = (struct coll_goal_block){
		.addr = (char *)buf,
		.count = count,
		.type = type,
		.bytes = side->len,
	};
}

void coll_goal_side_copied(struct coll_goal_side *side)
{
	/* As bytes: elements that the engine reduces travel with the holes in them. */
	const char *from = side->base;
	uint64_t len = side->len;

	coll_goal_side_packed(side, from, len, &ompi_mpi_byte.dt, COLL_GOAL_READ);
}

int coll_goal_key_room(struct coll_goal_module *m, struct coll_goal_key *key, int nsend, int nrecv)
{
	size_t words = 2 * ((size_t)nsend + nrecv);

	if (words > m->scratch_words) {
		uint64_t *more = coll_goal_malloc(words * sizeof(*more));

		if (!more)
			return OMPI_ERR_OUT_OF_RESOURCE;
		free(m->scratch);
		m->scratch = more;
		m->scratch_words = words;
	}
	key->vec = m->scratch;
	key->nsend = (uint32_t)nsend;
	key->nrecv = (uint32_t)nrecv;
	return OMPI_SUCCESS;
}

static ompi_datatype_t *type_at(const struct coll_goal_places *p, int i)
{
	return p->types ? p->types[i] : p->type;
}

/* Bytes from the buffer's address to the first element of block @i. */
static ptrdiff_t place_at(const struct coll_goal_places *p, int i)
{
	if (p->far)
		return p->far[i];
	return p->types ? p->displs[i] : p->displs[i] * coll_goal_extent(p->type);
}

/* All blocks lie in memory as they would be packed. */
static bool all_direct(const struct coll_goal_places *p)
{
	const uint32_t both = OPAL_DATATYPE_FLAG_CONTIGUOUS | OPAL_DATATYPE_FLAG_NO_GAPS;

	if (!p->types && (p->type->super.flags & both) == both)
		return true;
	for (int i = 0; i < p->n; i++)
		if (p->counts[i] && !coll_goal_direct(type_at(p, i), p->counts[i]) &&
		    coll_goal_bytes(type_at(p, i), p->counts[i]))
			return false;
	return true;
}

/* Offsets count from the lowest block: displacements may be negative, offsets are not. */
static void bind_direct(struct coll_goal_side *side, const struct coll_goal_places *p,
			uint64_t *bytes, uint64_t *off)
{
	ptrdiff_t low = 0, high = 0;
	bool any = false;

	for (int i = 0; i < p->n; i++) {
		ptrdiff_t from;

		bytes[i] = p->counts[i] ? coll_goal_bytes(type_at(p, i), p->counts[i]) : 0;
		off[i] = 0;
		if (!bytes[i])
			continue;
		from = place_at(p, i) + type_at(p, i)->super.true_lb;
		off[i] = (uint64_t)from;
		if (!any || from < low)
			low = from;
		if (!any || from + (ptrdiff_t)bytes[i] > high)
			high = from + (ptrdiff_t)bytes[i];
		any = true;
	}
	for (int i = 0; i < p->n; i++)
		if (bytes[i])
			off[i] -= (uint64_t)low;
	coll_goal_side_raw(side, (const char *)p->buf + low, (uint64_t)(high - low));
}

/* The blocks one behind the other in a copy. */
static int bind_packed(struct coll_goal_side *side, const struct coll_goal_places *p,
		       uint64_t *bytes, uint64_t *off, enum coll_goal_use use)
{
	uint64_t at = 0;

	make_packed(side, use);
	side->blocks = coll_goal_malloc((size_t)p->n * sizeof(*side->blocks));
	if (!side->blocks)
		return OMPI_ERR_OUT_OF_RESOURCE;
	side->nblocks = (uint32_t)p->n;
	for (int i = 0; i < p->n; i++) {
		bytes[i] = p->counts[i] ? coll_goal_bytes(type_at(p, i), p->counts[i]) : 0;
		off[i] = at;
		at += bytes[i];
		side->blocks[i] = (struct coll_goal_block){
			.addr = bytes[i] ? (char *)p->buf + place_at(p, i) : NULL,
			.count = (size_t)p->counts[i],
			.type = type_at(p, i),
			.bytes = bytes[i],
		};
	}
	side->len = side->store_len = at;
	return OMPI_SUCCESS;
}

int coll_goal_side_places(struct coll_goal_side *side, const struct coll_goal_places *p,
			  uint64_t *bytes, enum coll_goal_use use)
{
	if (coll_goal_likely(all_direct(p))) {
		bind_direct(side, p, bytes, bytes + p->n);
		return OMPI_SUCCESS;
	}
	return bind_packed(side, p, bytes, bytes + p->n, use);
}
