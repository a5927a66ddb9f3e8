/* SPDX-License-Identifier: BSD-3-Clause */
/* The loops of the conformance programs over one communicator; see sweep.h. */
#include <string.h>

#include "arith.h"
#include "sweep.h"

#define BATCH 12

struct batch {
	struct shape shape[BATCH];
	int n;
};

static struct batch batch;

void sweep_open(struct sweep *s, int argc, char **argv, bool neighbor)
{
	bool any = false;

	memset(s, 0, sizeof(*s));
	check_context("arguments");
	for (int i = 1; i < argc; i++) {
		int coll = coll_find(argv[i]);

		if (strcmp(argv[i], "-a") == 0)
			s->all = true;
		else if (coll >= 0)
			s->wanted[coll] = any = true;
		else
			check_fail("no collective is called %s", argv[i]);
	}
	for (int i = 0; !any && i < COLLS; i++)
		s->wanted[i] = (i >= NEIGHBOR_ALLGATHER) == neighbor;
	zoo_open();
	arith_open();
}

void sweep_close(void)
{
	arith_close();
	zoo_close();
}

static void flush(struct sweep *s)
{
	for (int form = 0; batch.n && form < FORMS; form++)
		shape_try(batch.shape, batch.n, (enum form)form, s->id++);
	for (int i = 0; i < batch.n; i++)
		shape_free(&batch.shape[i]);
	batch.n = 0;
}

static void add(struct sweep *s, const struct where *w, const struct params *p)
{
	shape_new(&batch.shape[batch.n++], w, p);
	if (batch.n == BATCH)
		flush(s);
}

/* One collective, one root: counts and types. A reduction also varies its operation. */
static void try_root(struct sweep *s, const struct where *w, enum coll coll, int root)
{
	static const int counts[] = { 0, 1, 3 };
	struct params p = { .coll = coll, .root = root };
	int step = s->all ? 1 : 5, begin = s->all ? 0 : (root + (int)coll) % step;
	int in_places = shape_in_place(coll) && !w->inter ? 2 : 1;

	for (size_t c = 0; c < sizeof(counts) / sizeof(counts[0]); c++) {
		for (int t = begin; t < ZOO_TYPES + 2; t += step) {
			for (int in_place = 0; in_place < in_places; in_place++) {
				p.id = ++s->id;
				p.count = counts[c];
				p.types = t < ZOO_TYPES ? t : -1;
				p.in_place = in_place;
				p.absolute = p.id % 4 == 1 && !shape_reduces(coll);
				p.plain = MPI_INT;
				p.op = t < ZOO_TYPES ? p.id % 3 ? arith_compose : arith_add
				       : p.id % 2    ? MPI_SUM
						     : MPI_MAX;
				add(s, w, &p);
			}
		}
	}
}

void sweep_comm(struct sweep *s, const struct where *w)
{
	for (int coll = 0; coll < COLLS; coll++) {
		if (!s->wanted[coll] || (w->inter && (coll == SCAN || coll == EXSCAN)))
			continue;
		for (int root = 0; root < shape_roots(w, (enum coll)coll); root++)
			try_root(s, w, (enum coll)coll, root);
	}
	flush(s);
}
