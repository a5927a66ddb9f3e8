/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Message sizes on both sides of every switch of protocol: empty, inline, eager, rendezvous, and
 * more than the rings hold; every collective that moves data, all three forms; then the same with layouts that differ
 * from rank to rank, so that who looks at local datatypes chooses differently than its peers.
 *
 * sizes [-s seed] [largest bytes]
 */
#include <stdlib.h>

#include "arith.h"
#include "shape.h"

#define BATCH 3 /* in flight at once: large buffers */

static const int sizes[] = { 0,    1,    8,    23,   24,    25,    1023,  1024,   1025,   4095,
			     4096, 4097, 8192, 8193, 65535, 65536, 65537, 262144, 1048576 };
#define NSIZES ((int)(sizeof(sizes) / sizeof(sizes[0])))
/* On both sides of the switches in elements of 48 bytes, each rank with another layout. */
static const int mixed[] = { 1008, 1056, 4080, 4128, 8160, 8208, 65520, 65568, 196608 };
#define NMIXED ((int)(sizeof(mixed) / sizeof(mixed[0])))

static void try_coll(const struct where *w, enum coll coll, int bytes, bool mixed, uint64_t id)
{
	struct shape s[BATCH];
	struct params p = { .coll = coll, .types = -1, .plain = MPI_BYTE, .count = bytes };

	if (mixed) {
		p.types = (int)(id % ZOO_TYPES);
		p.count = bytes / (ZOO_INTS * (int)sizeof(int));
		p.op = arith_compose;
	} else if (shape_reduces(coll)) {
		p.plain = MPI_INT;
		p.op = MPI_SUM;
		p.count = (bytes + 3) / 4;
	}
	for (int form = 0; form < FORMS; form++) {
		int n = form == BLOCKING || bytes > 65537 ? 1 : BATCH;

		for (int i = 0; i < n; i++) {
			p.id = id * 16 + (uint64_t)(form * 4 + i);
			p.root = shape_rooted(coll) ? (int)(p.id % (uint64_t)w->size) : 0;
			shape_new(&s[i], w, &p);
		}
		shape_try(s, n, (enum form)form, id);
		for (int i = 0; i < n; i++)
			shape_free(&s[i]);
	}
}

int main(int argc, char **argv)
{
	int dims[2] = { 0, 0 }, wraps[2] = { 1, 1 }, most;
	struct where world, cart;
	MPI_Comm grid;

	check_init(&argc, &argv, MPI_THREAD_SINGLE);
	most = argc > 1 ? atoi(argv[1]) : 1048576;
	zoo_open();
	arith_open();
	where_set(&world, MPI_COMM_WORLD, "world", 0);
	MPI_OK(MPI_Dims_create(check_size, 2, dims));
	MPI_OK(MPI_Cart_create(MPI_COMM_WORLD, 2, dims, wraps, 0, &grid));
	where_set(&cart, grid, "grid", 0);
	for (int i = 0; i < NSIZES && sizes[i] <= most; i++) {
		for (int coll = 0; coll < COLLS; coll++)
			try_coll(coll >= NEIGHBOR_ALLGATHER ? &cart : &world, (enum coll)coll,
				 sizes[i], false, (uint64_t)(i * COLLS + coll));
	}
	for (int i = 0; i < NMIXED && mixed[i] <= most; i++) {
		for (int coll = 0; coll < COLLS; coll++)
			try_coll(coll >= NEIGHBOR_ALLGATHER ? &cart : &world, (enum coll)coll,
				 mixed[i], true, (uint64_t)((i + NSIZES) * COLLS + coll));
	}
	MPI_OK(MPI_Comm_free(&grid));
	arith_close();
	zoo_close();
	return check_end();
}
