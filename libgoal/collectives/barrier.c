/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Barrier. All receives are independent, so they are posted when the run starts; each send
 * waits for what this rank has to have heard before it may speak. A schedule has O(log P)
 * operations (linear: O(P) at rank 0), and the same peer is never sent two messages of one tag.
 *
 * dissemination: Hensgen, Finkel, Manber, "Two algorithms for barrier synchronization", 1988.
 * recursive doubling: see doubling.h.
 * flat, binomial: the combining trees of Yew, Tzeng, Lawrie, "Distributing hot-spot addressing
 * in large-scale multiprocessors", 1987; binomial trees after Vuillemin, 1978.
 */
#include "doubling.h"
#include "draft.h"
#include "node.h"

/*
 * Children of a rank in the tree of a node: a star up to 16 ranks. A message costs its receiver
 * about as much as its sender, so beyond that one more level is cheaper. In very large
 * communicators trees are narrower, to keep schedules below 4 KiB.
 */
#define TREE_RADIX       15
#define TREE_RADIX_LARGE 8
#define TREE_LARGE       65536

/* What has to have happened: @n consecutive operations finished, and one started. */
struct gate {
	int64_t first;
	uint64_t n;
	int64_t started;
};

static void gate_pass(struct draft *d, int64_t op, const struct gate *g)
{
	for (uint64_t i = 0; i < g->n; i++)
		draft_after(d, op, g->first + (int64_t)i);
	draft_after_start(d, op, g->started);
}

static int64_t signal(struct draft *d, uint32_t peer, uint32_t tag)
{
	return draft_send(d, at(GOAL_BUF_SCRATCH, 0), 0, peer, tag);
}

static int64_t await(struct draft *d, uint32_t peer, uint32_t tag)
{
	return draft_recv(d, at(GOAL_BUF_SCRATCH, 0), 0, peer, tag);
}

/*
 * A round: tell @to, hear @from. The next round's send will wait for this receive to finish and
 * this send to start, hence for everything before it.
 */
static void exchange(struct draft *d, struct gate *g, uint32_t to, uint32_t from)
{
	int64_t send = signal(d, to, 0);

	gate_pass(d, send, g);
	g->first = await(d, from, 0);
	g->n = 1;
	g->started = send;
}

static void disseminate(struct draft *d, struct gate *g, const struct rank_list *l)
{
	for (uint64_t dist = 1; dist < l->n; dist *= 2)
		exchange(d, g, rank_list_at(l, (l->me + dist) % l->n),
			 rank_list_at(l, (l->me + l->n - dist) % l->n));
}

/* Let @n ranks go, the first when @g is passed, the others with it. */
static int64_t release(struct draft *d, const struct gate *g, int64_t first, uint32_t peer)
{
	int64_t send = signal(d, peer, 0);

	if (first == DRAFT_NONE)
		gate_pass(d, send, g);
	else
		draft_after_start(d, send, first);
	return first == DRAFT_NONE ? send : first;
}

/* A tree over @l with @radix children each; its root meets the roots in @tops in between. */
static void tree(struct draft *d, const struct rank_list *l, uint32_t radix,
		 const struct rank_list *tops)
{
	uint64_t child = (uint64_t)l->me * radix + 1;
	uint64_t end = child + radix < l->n ? child + radix : l->n;
	struct gate g = { .first = DRAFT_NONE, .started = DRAFT_NONE };
	int64_t first = DRAFT_NONE;

	for (uint64_t i = child; i < end; i++) {
		int64_t recv = await(d, rank_list_at(l, i), 0);

		if (g.n++ == 0)
			g.first = recv;
	}
	if (l->me) {
		uint32_t parent = rank_list_at(l, (l->me - 1) / radix);

		gate_pass(d, signal(d, parent, 0), &g);
		g = (struct gate){ .first = await(d, parent, 0), .n = 1, .started = DRAFT_NONE };
	} else if (tops) {
		disseminate(d, &g, tops);
	}
	for (uint64_t i = child; i < end; i++)
		first = release(d, &g, first, rank_list_at(l, i));
}

static void barrier_flat(struct draft *d, const struct goal_comm *c)
{
	uint32_t radix = c->size > TREE_LARGE ? TREE_RADIX_LARGE : TREE_RADIX;
	struct rank_list members, tops = { .rank = NULL };
	int err;

	err = node_members(c, &members);
	if (err) {
		draft_fail(d, err);
		return;
	}
	if (members.me == 0)
		err = node_leaders(c, &tops);
	if (err)
		draft_fail(d, err);
	else
		tree(d, &members, radix, members.me == 0 ? &tops : NULL);
	rank_list_free(&tops);
	rank_list_free(&members);
}

static void barrier_binomial(struct draft *d, const struct goal_comm *c)
{
	struct gate g = { .first = DRAFT_NONE, .started = DRAFT_NONE };
	int64_t first = DRAFT_NONE;
	uint64_t mask = 1;

	for (; mask < c->size && !(c->rank & mask); mask *= 2) {
		if (c->rank + mask < c->size) {
			int64_t recv = await(d, (uint32_t)(c->rank + mask), 0);

			if (g.n++ == 0)
				g.first = recv;
		}
	}
	if (c->rank) {
		uint32_t parent = (uint32_t)(c->rank - mask);

		gate_pass(d, signal(d, parent, 0), &g);
		g = (struct gate){ .first = await(d, parent, 0), .n = 1, .started = DRAFT_NONE };
	}
	/* the largest subtree has the longest way to go */
	while (mask /= 2)
		if (c->rank + mask < c->size)
			first = release(d, &g, first, (uint32_t)(c->rank + mask));
}

static void barrier_doubling(struct draft *d, const struct goal_comm *c)
{
	struct doubling r = doubling_of(c->rank, c->size);
	struct gate g = { .first = DRAFT_NONE, .started = DRAFT_NONE };

	if (!r.active) {
		signal(d, c->rank - 1, 0);
		await(d, c->rank - 1, 0);
		return;
	}
	if (r.paired) {
		g.first = await(d, c->rank + 1, 0);
		g.n = 1;
	}
	for (uint32_t mask = 1; mask < r.pow2; mask *= 2) {
		uint32_t peer = doubling_rank(&r, r.v ^ mask);

		exchange(d, &g, peer, peer);
	}
	if (r.paired)
		release(d, &g, DRAFT_NONE, c->rank + 1);
}

/*
 * Between groups: everybody tells the other group's rank 0, which so learns that the whole
 * group is there. Its own group hears so by way of the other rank 0, since no rank can talk to
 * its own group.
 */
static void barrier_inter(struct draft *d, const struct goal_comm *c)
{
	struct gate g = { .first = DRAFT_NONE, .started = DRAFT_NONE };
	int64_t first = DRAFT_NONE;

	signal(d, 0, 0);
	if (c->rank) {
		await(d, 0, 2);
		return;
	}
	for (uint32_t r = 0; r < c->remote_size; r++) {
		int64_t recv = await(d, r, 0);

		if (g.n++ == 0)
			g.first = recv;
	}
	if (c->size > 1)
		gate_pass(d, signal(d, 0, 1), &g);
	if (c->remote_size > 1) {
		int64_t all_here = await(d, 0, 1);

		for (uint32_t r = 1; r < c->remote_size; r++) {
			int64_t send = signal(d, r, 2);

			if (first == DRAFT_NONE)
				draft_after(d, send, all_here);
			else
				draft_after_start(d, send, first);
			first = first == DRAFT_NONE ? send : first;
		}
	}
}

int goal_barrier(const struct goal_comm *c, enum goal_algorithm alg, struct goal_graph **graph)
{
	struct rank_list all = { .rank = NULL };
	struct gate g = { .first = DRAFT_NONE, .started = DRAFT_NONE };
	struct draft d;
	int err;

	err = draft_begin(&d, c, GOAL_BARRIER, alg);
	if (err)
		return err;
	if (c->remote_size) {
		barrier_inter(&d, c);
		return draft_end(&d, 3, graph);
	}
	all.n = c->size;
	all.me = c->rank;
	if (alg == GOAL_ALG_AUTO)
		alg = c->size == 2 ? GOAL_ALG_DISSEMINATION : GOAL_ALG_FLAT;
	switch (alg) {
	case GOAL_ALG_DISSEMINATION:
		disseminate(&d, &g, &all);
		break;
	case GOAL_ALG_RECURSIVE_DOUBLING:
		barrier_doubling(&d, c);
		break;
	case GOAL_ALG_BINOMIAL:
		barrier_binomial(&d, c);
		break;
	case GOAL_ALG_LINEAR:
		tree(&d, &all, c->size, NULL);
		break;
	default:
		barrier_flat(&d, c);
		break;
	}
	return draft_end(&d, 1, graph);
}
