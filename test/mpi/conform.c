/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Every collective of intracommunicators against its point-to-point reference: three forms, all
 * roots, counts from none, every layout of the zoo with another one at each rank, in place,
 * absolute addresses, in the world's order of ranks and in the opposite one, and MPI_COMM_SELF.
 *
 * conform [-s seed] [-a] [collective ...]   -a: all combinations instead of a sample
 */
#include <stdlib.h>
#include <string.h>

#include "arith.h"
#include "shape.h"

#define BATCH 12

static bool all;

struct batch {
	struct shape shape[BATCH];
	int n;
	uint64_t id;
};

static void flush(struct batch *b)
{
	for (int form = 0; b->n && form < FORMS; form++)
		shape_try(b->shape, b->n, (enum form)form, b->id++);
	for (int i = 0; i < b->n; i++)
		shape_free(&b->shape[i]);
	b->n = 0;
}

static void add(struct batch *b, const struct where *w, const struct params *p)
{
	shape_new(&b->shape[b->n++], w, p);
	if (b->n == BATCH)
		flush(b);
}

/* One collective, one root: counts and types. A reduction also varies its operation. */
static void try_root(struct batch *b, const struct where *w, enum coll coll, int root)
{
	static const int counts[] = { 0, 1, 3 };
	struct params p = { .coll = coll, .root = root };
	int step = all ? 1 : 5, begin = all ? 0 : (root + (int)coll) % step;

	for (size_t c = 0; c < sizeof(counts) / sizeof(counts[0]); c++) {
		for (int t = begin; t < ZOO_TYPES + 2; t += step) {
			for (int in_place = 0; in_place <= shape_in_place(coll); in_place++) {
				p.id = ++b->id;
				p.count = counts[c];
				p.types = t < ZOO_TYPES ? t : -1;
				p.in_place = in_place;
				p.absolute = p.id % 4 == 1 && !shape_reduces(coll);
				p.plain = MPI_INT;
				p.op = t < ZOO_TYPES ? p.id % 3 ? arith_compose : arith_add
				       : p.id % 2    ? MPI_SUM
						     : MPI_MAX;
				add(b, w, &p);
			}
		}
	}
}

static void try_comm(struct batch *b, const struct where *w, const bool *wanted)
{
	for (int coll = 0; coll < NEIGHBOR_ALLGATHER; coll++) {
		if (!wanted[coll])
			continue;
		for (int root = 0; root < shape_roots(w, (enum coll)coll); root++)
			try_root(b, w, (enum coll)coll, root);
	}
	flush(b);
}

int main(int argc, char **argv)
{
	static struct batch b;
	bool wanted[COLLS] = { false }, any = false;
	MPI_Comm reversed;
	struct where w;

	check_init(&argc, &argv, MPI_THREAD_SINGLE);
	for (int i = 1; i < argc; i++) {
		int coll = coll_find(argv[i]);

		if (strcmp(argv[i], "-a") == 0) {
			all = true;
		} else if (coll >= 0) {
			wanted[coll] = any = true;
		} else {
			check_context("arguments");
			check_fail("no collective is called %s", argv[i]);
		}
	}
	for (int i = 0; !any && i < COLLS; i++)
		wanted[i] = true;
	zoo_open();
	arith_open();

	where_set(&w, MPI_COMM_WORLD, "world", 0);
	try_comm(&b, &w, wanted);

	MPI_OK(MPI_Comm_split(MPI_COMM_WORLD, 0, -check_rank, &reversed));
	where_set(&w, reversed, "reversed", 0);
	try_comm(&b, &w, wanted);
	MPI_OK(MPI_Comm_free(&reversed));

	where_set(&w, MPI_COMM_SELF, "self", 0);
	try_comm(&b, &w, wanted);

	arith_close();
	zoo_close();
	return check_end();
}
