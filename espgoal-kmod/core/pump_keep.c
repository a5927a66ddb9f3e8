// SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause
/*
 * Short messages that are a little ahead of their run: kept, instead of being refused and called
 * for, which would cost a round trip. How far ahead depends on the room that is left, so that
 * those that are needed next find some. Part of the pump: called for messages (pump_take.c,
 * pump_place.c), for runs (pump_wait.c) and for what has failed (pump_group.c). The lists are under
 * the node's lock, and nobody holds on to what is in them: who has put a message there may not look
 * at it again.
 */
#include "esp_int.h"

/* Operation ids stand for streams of runs: plain ones, nonblocking ones, each persistent one. */
static u64 *stream(struct esp_member *m, u32 opid)
{
	return &m->ran[(opid ^ opid >> 29) % ESP_STREAMS];
}

void esp_keep_ran(struct esp_run *r)
{
	/* A hint: when two start at the same time, either may be the last one. */
	ESP_POKE(*stream(r->m, r->opid), (u64)r->opid << 32 | r->start);
}

/* By so many runs @k's is ahead of the last one that was started in its stream. */
static u64 ahead(struct esp_member *m, const struct esp_key *k)
{
	u64 ran = ESP_PEEK(*stream(m, k->opid)), number = esp_run_number(k);

	if (ran >> 32 != k->opid)
		return k->start + 1ull;
	return number > ran ? number - ran : 0;
}

/* In steps, so that what was called when there was much room mostly still finds it. */
u32 esp_keep_most(const struct esp_ep *ep)
{
	const struct esp_params *p = &ep->node->p;
	u32 kept = ESP_PEEK(ep->nkept);

	if (kept >= p->keep_max)
		return 0;
	if (kept < p->keep_max / 2)
		return p->keep_ahead;
	return kept < p->keep_max / 4 * 3 && p->keep_ahead >= 4 ? p->keep_ahead / 4 : 1;
}

/* CPUs that ask at the same moment may keep one more each: no harm. */
bool esp_keep_wanted(struct esp_member *m, const struct esp_key *k)
{
	u32 most = esp_keep_most(m->ep);

	return most && ahead(m, k) <= most;
}

/* Nobody will start the run @k any more. */
static bool is_late(struct esp_member *m, const struct esp_key *k)
{
	u32 rank;

	return env_run_past(m, k->opid, k->start) || esp_run_doomed(m, k->opid, k->start, &rank);
}

void esp_keep_give(struct esp_run *r, struct esp_rx *rx, u64 now)
{
	const struct esp_key *k = &rx->key;
	struct esp_node *n = rx->ep->node;
	int rc = core_message(r->run, k->src, k->tag, k->instance, rx);

	if (likely(!rc))
		return;
	if (rc == -ENOENT) {
		env_count(n, ESP_C_skip_unmatched, 1);
		env_run_cancel(r, -EPROTO, k->src);
	}
	env_count(n, ESP_C_rx_dropped, 1);
	esp_rx_release(rx, now);
}

/* What is kept at @i for the run @k, or for any of its group, goes to @list. */
static void take_out(struct esp_node *n, u32 i, const struct esp_key *k, bool group,
		     struct esp_link *list)
{
	struct esp_link *l, *next;

	env_node_lock(n);
	for (l = n->kept[i].next; l != &n->kept[i]; l = next) {
		struct esp_rx *rx = esp_entry(l, struct esp_rx, of_flow.link);

		next = l->next;
		if (group ? rx->key.nonce != k->nonce || rx->key.cookie != k->cookie
			  : !esp_same_run(&rx->key, k))
			continue;
		esp_unlink(l);
		esp_append(list, l);
		rx->ep->nkept--;
		n->nkept--;
	}
	env_node_unlock(n);
}

void esp_keep_run(struct esp_run *r, const struct esp_key *k, u64 now)
{
	struct esp_node *n = r->m->ep->node;
	struct esp_link mine;

	esp_link_init(&mine);
	take_out(n, esp_wait_head(k), k, false, &mine);
	while (esp_linked(&mine)) {
		struct esp_rx *rx = esp_entry(mine.next, struct esp_rx, of_flow.link);

		esp_unlink(&rx->of_flow.link);
		env_count(n, ESP_C_rx_kept_run, 1);
		esp_keep_give(r, rx, now);
	}
}

void esp_keep_forget(struct esp_node *n, const struct esp_key *k, bool group, u64 now)
{
	struct esp_link mine;
	u32 i;

	/* Who keeps one from now on looks behind that for what has failed. */
	if (!ESP_PEEK(n->nkept))
		return;
	esp_link_init(&mine);
	for (i = 0; group && i < ESP_WAIT_HASH; i++)
		take_out(n, i, k, true, &mine);
	if (!group)
		take_out(n, esp_wait_head(k), k, false, &mine);
	while (esp_linked(&mine)) {
		struct esp_rx *rx = esp_entry(mine.next, struct esp_rx, of_flow.link);

		esp_unlink(&rx->of_flow.link);
		env_count(n, ESP_C_rx_kept_dropped, 1);
		esp_rx_release(rx, now);
	}
}

/* The run of a message that was kept may have come, or ended, while nobody saw the message. */
static void look_again(struct esp_node *n, const struct esp_key *k, u64 now)
{
	struct esp_member *m = env_member_find(n, k->cookie, k->nonce);
	struct esp_run *r = m ? env_run_find(m, k->opid, k->start) : NULL;

	if (r) {
		esp_keep_run(r, k, now);
		env_run_put(r);
	} else if (!m || is_late(m, k)) {
		esp_keep_forget(n, k, !m, now);
	}
	if (m)
		env_member_put(m);
}

void esp_keep(struct esp_rx *rx, u64 now)
{
	struct esp_node *n = rx->ep->node;
	struct esp_key k = rx->key;

	env_node_lock(n);
	esp_append(&n->kept[esp_wait_head(&k)], &rx->of_flow.link);
	rx->ep->nkept++;
	n->nkept++;
	env_node_unlock(n);
	env_count(n, ESP_C_rx_kept, 1);
	look_again(n, &k, now);
}
