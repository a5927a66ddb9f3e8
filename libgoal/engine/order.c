// SPDX-License-Identifier: BSD-3-Clause
/*
 * May the messages of a schedule go through a remote transport? There, those of one (peer, tag) match
 * in the order in which they are handed over, that is, in which their operations start; everywhere
 * else by their instance. Where dependencies can make the two differ, data would go to the wrong
 * receive without anybody noticing, so that such a schedule is refused. Called when one is loaded.
 */
#include <stdlib.h>

#include "host.h"

static int by_instance(const void *x, const void *y)
{
	const struct goal_op *a = *(const struct goal_op *const *)x;
	const struct goal_op *b = *(const struct goal_op *const *)y;

	if (a->code != b->code)
		return a->code < b->code ? -1 : 1;
	if (a->peer != b->peer)
		return a->peer < b->peer ? -1 : 1;
	if (a->tag != b->tag)
		return a->tag < b->tag ? -1 : 1;
	return a->instance < b->instance ? -1 : 1;
}

/* Does @b wait for @a itself? */
static bool waits(const struct core_sched *s, const struct goal_op *a, const struct goal_op *b)
{
	for (u32 i = 0; i < a->nsucc + a->nisucc; i++)
		if (s->succ[a->succ + i] == (u32)(b - s->op))
			return true;
	return false;
}

/* @a always starts before @b: those that wait for nothing start as they stand in the schedule. */
static bool before(const struct core_sched *s, const struct goal_op *a, const struct goal_op *b)
{
	return (a < b && (u32)(b - s->op) < s->hdr->nindep) || waits(s, a, b);
}

int host_order(struct goal_engine *e, const struct core_sched *s, bool *loose)
{
	const struct goal_op **op;
	u32 i, n = 0;
	bool several = false;

	*loose = false;
	for (i = 0; i < s->hdr->nops; i++) {
		const struct goal_op *o = &s->op[i];

		if (o->code != GOAL_OP_SEND && o->code != GOAL_OP_RECV)
			continue;
		n++;
		several |= o->instance != 0;
	}
	if (likely(!several))
		return 0;
	e->stats.allocs++;
	op = malloc(n * sizeof(*op));
	if (!op)
		return -ENOMEM;
	n = 0;
	for (i = 0; i < s->hdr->nops; i++)
		if (s->op[i].code == GOAL_OP_SEND || s->op[i].code == GOAL_OP_RECV)
			op[n++] = &s->op[i];
	qsort(op, n, sizeof(*op), by_instance);
	for (i = 1; i < n; i++)
		*loose |= op[i]->code == op[i - 1]->code && op[i]->peer == op[i - 1]->peer &&
			  op[i]->tag == op[i - 1]->tag && !before(s, op[i - 1], op[i]);
	free(op);
	return 0;
}
