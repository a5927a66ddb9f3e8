/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Exscan: every rank passes its vector to the next one; then an inclusive scan (scan.c) over
 * the ranks from 1 on of what they got.
 */
#include "scan.h"

int goal_exscan(const struct goal_comm *c, enum goal_algorithm alg, uint64_t count,
		const struct goal_reduction *how, bool in_place, struct goal_graph **graph)
{
	struct vector v = { .count = count, .how = how };
	struct place own = at(GOAL_BUF_SEND, 0), result = at(GOAL_BUF_RECV, 0);
	int64_t saved = DRAFT_NONE, recv;
	struct draft d;
	int err;

	err = draft_begin(&d, c, GOAL_EXSCAN, alg);
	if (err)
		return err;
	draft_check_reduction(&d, how, count);
	if (d.err || count == 0)
		return draft_end(&d, 2, graph);
	if (in_place) {
		/* what comes takes the place of what goes; rank 0's stays */
		own = result;
		if (c->rank && c->rank + 1ull < c->size) {
			own = draft_scratch(&d, vector_bytes(&v));
			saved = draft_copy(&d, own, result, vector_bytes(&v));
		}
	}
	if (c->rank + 1ull < c->size)
		draft_after(&d, draft_send(&d, own, vector_bytes(&v), c->rank + 1, 0), saved);
	if (c->rank) {
		recv = draft_recv(&d, result, vector_bytes(&v), c->rank - 1, 0);
		draft_after(&d, recv, saved);
		scan_doubling(&d, c, 1, &v, result, recv, 1);
	}
	return draft_end(&d, 2, graph);
}
