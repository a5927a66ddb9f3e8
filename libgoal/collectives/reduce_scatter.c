/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reduce_scatter.
 *
 * linear: everybody sends each part to the rank that it is for, which reduces in rank order
 * (fold.c). Between groups a rank does not know where the parts of the remote group begin, so
 * all of the remote group's reduction comes to every rank (fold_inter()), which takes
 * its part.
 */
#include "fold.h"
#include "reduce_scatter.h"

/* The parts, in elements. */
struct parts {
	const uint64_t *counts; /* NULL: count each */
	uint64_t count;
	uint64_t total;
	uint64_t before; /* this rank's part */
};

static uint64_t part_count(const struct parts *p, uint32_t r)
{
	return p->counts ? p->counts[r] : p->count;
}

static void parts_measure(struct draft *d, struct parts *p, const struct goal_comm *c)
{
	if (!p->counts) {
		draft_check_bytes(d, p->count, c->size);
		p->before = c->rank * p->count;
		p->total = c->size * p->count;
		return;
	}
	for (uint32_t r = 0; r < c->size && !d->err; r++) {
		if (r == c->rank)
			p->before = p->total;
		if (p->counts[r] > GOAL_MAX_BYTES - p->total)
			draft_fail(d, -E2BIG);
		p->total += p->counts[r];
	}
}

static void reduce_scatter_intra(struct draft *d, const struct goal_comm *c, const struct parts *p,
				 const struct goal_reduction *how, bool in_place)
{
	uint32_t src = in_place ? GOAL_BUF_RECV : GOAL_BUF_SEND;
	struct place own = at(src, p->before * how->size), acc = at(GOAL_BUF_RECV, 0);
	struct vector part = { .count = part_count(p, c->rank), .how = how };
	int64_t first = DRAFT_NONE, done, copy;
	uint64_t off = 0, sends = 0;

	for (uint32_t r = 0; r < c->size && !d->err; r++) {
		uint64_t bytes = part_count(p, r) * how->size;

		if (r != c->rank && bytes) {
			int64_t send = draft_send(d, at(src, off), bytes, r, 0);

			first = sends++ ? first : send;
		}
		off += bytes;
	}
	if (part.count == 0)
		return;
	if (in_place && c->size > 1)
		acc = draft_scratch(d, vector_bytes(&part));
	done = fold_linear(d, &part, c->size, c->rank, own, acc, 0);
	if (!in_place)
		return;
	/* the result's place is part of what is being sent */
	if (sends)
		first = draft_join(d, first, sends);
	copy = draft_copy(d, at(GOAL_BUF_RECV, 0), acc, vector_bytes(&part));
	draft_after(d, copy, done);
	draft_after(d, copy, first);
}

static void reduce_scatter_inter(struct draft *d, const struct goal_comm *c, const struct parts *p,
				 const struct goal_reduction *how)
{
	struct vector all = { .count = p->total, .how = how };
	struct place sum = draft_scratch(d, vector_bytes(&all));
	int64_t done = fold_inter(d, c, &all, sum);

	draft_after(d,
		    draft_copy(d, at(GOAL_BUF_RECV, 0), place_add(sum, p->before * how->size),
			       part_count(p, c->rank) * how->size),
		    done);
}

int reduce_scatter(const struct goal_comm *c, enum goal_coll coll, enum goal_algorithm alg,
		   const uint64_t *counts, uint64_t count, const struct goal_reduction *how,
		   bool in_place, struct goal_graph **graph)
{
	struct parts p = { .counts = counts, .count = count };
	struct draft d;
	uint32_t ntags;
	int err;

	err = draft_begin(&d, c, coll, alg);
	if (err)
		return err;
	ntags = c->remote_size ? 3 : 1;
	draft_check_in_place(&d, c, in_place, true);
	parts_measure(&d, &p, c);
	draft_check_reduction(&d, how, p.total);
	if (d.err || p.total == 0)
		return draft_end(&d, ntags, graph);
	if (c->remote_size)
		reduce_scatter_inter(&d, c, &p, how);
	else
		reduce_scatter_intra(&d, c, &p, how, in_place);
	return draft_end(&d, ntags, graph);
}

int goal_reduce_scatter(const struct goal_comm *c, enum goal_algorithm alg, const uint64_t *counts,
			const struct goal_reduction *how, bool in_place, struct goal_graph **graph)
{
	if (!counts)
		return -EINVAL;
	return reduce_scatter(c, GOAL_REDUCE_SCATTER, alg, counts, 0, how, in_place, graph);
}
