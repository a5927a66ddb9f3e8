// SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause
/*
 * Failures inside a group. Whoever learns of one, first hand or from another member, tells it
 * once to the ranks at distance 1, 2, 4, ...: so it reaches all of them in about log2(n) steps,
 * also when the one it began with dies on the way. What a member knows it remembers, for runs
 * that start later and to stay silent the second time. Everything here is under the node's lock.
 */
#include "esp_int.h"

struct esp_tomb *esp_tomb_find(struct esp_member *m, u32 opid, u32 start)
{
	u32 i;

	for (i = 0; i < ESP_TOMBS; i++)
		if (m->tomb[i].at && m->tomb[i].opid == opid && m->tomb[i].start == start)
			return &m->tomb[i];
	return NULL;
}

/*
 * Remember that a run has failed. NULL: too many have lately, the group itself has to; a tomb
 * that is old enough is not needed any more, its abort has long made its round.
 */
struct esp_tomb *esp_tomb_add(struct esp_member *m, u32 opid, u32 start, s32 status, u32 rank,
			      u64 now)
{
	struct esp_tomb *t = NULL;
	u32 i;

	for (i = 0; i < ESP_TOMBS; i++) {
		struct esp_tomb *c = &m->tomb[i];

		if (!c->at) {
			t = c;
			break;
		}
		if (!c->tell && esp_since(now, c->at) > m->ep->node->p.linger &&
		    (!t || c->at < t->at))
			t = c;
	}
	if (!t)
		return NULL;
	m->tombs = true;
	t->at = now;
	t->opid = opid;
	t->start = start;
	t->status = status;
	t->rank = rank;
	t->tell = esp_tell_mask(m);
	return t;
}

/* A bit for each distance 2^k below the number of ranks. */
u32 esp_tell_mask(const struct esp_member *m)
{
	u32 k;

	for (k = 0; k < ESP_FANOUT && (1ull << k) < m->table->nranks; k++)
		;
	return (u32)((1ull << k) - 1);
}

u32 esp_tell_rank(const struct esp_member *m, u32 k)
{
	u64 rank = m->rank + (1ull << k);

	return rank >= m->table->nranks ? (u32)(rank - m->table->nranks) : (u32)rank;
}

s32 esp_abort_status(u32 code)
{
	switch (code) {
	case ESP_ABORT_PEER:
		return -EHOSTUNREACH;
	case ESP_ABORT_EXIT:
		return -ECONNRESET;
	default:
		return -ECONNABORTED;
	}
}

u32 esp_abort_code(s32 status)
{
	switch (status) {
	case -EHOSTUNREACH:
		return ESP_ABORT_PEER;
	case -ECONNRESET:
		return ESP_ABORT_EXIT;
	default:
		return ESP_ABORT_RUN;
	}
}
