// SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause
/*
 * Messages that were refused and wait for READY, and short ones that are held back behind those
 * that came ahead of their run: the next ones of the same stream of runs would be refused as well,
 * three frames each for nothing. A stream is the runs of a group with one operation id.
 *
 * No one is held for ever: as long as one is, another one of its stream waits for READY, or is out
 * as a scout, or the list is marked (esp_flow.unhold) for a look that sends a scout. The scout is
 * accepted, and then the next one goes, or it is refused, and then the receiver knows of the stream.
 * Lists are by group, and in each one scout at a time is out. Nor do they wait for long: runs may
 * start in any order, so those that have waited for a while go a few at a time.
 */
#include "esp_int.h"

#define GONE_MOST   64 /* messages ended under the lock at a time */
#define PARK_STEPS  16 /* looks for the place of one, from either end */
#define LATE_MOST   6  /* log2 of how many of a list go at a time that were held too long */
#define LATE_ALL    64 /* how many of a flow */
#define HOLD_LOOKS  4  /* waiting ones that a new one is compared with */
#define SCOUTS_MOST 8  /* messages that go at once when a scout was accepted */
#define STREAMS     8  /* of one list that a look for scouts remembers */

static u32 head(const struct esp_key *k)
{
	u64 x = k->nonce ^ k->cookie;

	x *= 0x9e3779b97f4a7c15ull;
	return (u32)(x >> 32) % ESP_PARK_HASH;
}

static bool same_stream(const struct esp_key *a, const struct esp_key *b)
{
	return a->nonce == b->nonce && a->cookie == b->cookie && a->opid == b->opid;
}

static u64 number_at(const struct esp_link *l)
{
	return esp_run_number(&esp_entry(l, struct esp_msg, link)->key);
}

/*
 * By their runs, so that those that are called together go in that order: new ones have their place
 * near the end, a scout that comes back near the beginning. The peer may refuse them in any order:
 * whose place is not found so goes to the end.
 */
static void insert(struct esp_flow *f, struct esp_msg *m)
{
	struct esp_link *list = &f->parked[head(&m->key)], *front = list->next, *back = list;
	u64 number = esp_run_number(&m->key);
	u32 i;

	m->state = ESP_MSG_PARKED;
	for (i = 0; i < PARK_STEPS; i++) {
		if (back->prev == list || number_at(back->prev) <= number) {
			esp_link_before(back, &m->link);
			return;
		}
		back = back->prev;
		if (number_at(front) > number) {
			esp_link_before(front, &m->link);
			return;
		}
		front = front->next;
	}
	esp_append(list, &m->link);
}

void esp_park(struct esp_flow *f, struct esp_msg *m, bool ahead)
{
	esp_park_left(f, m);
	m->ahead = ahead;
	insert(f, m);
}

/* Is one of its stream, of the same run or an earlier one, waiting for its run? */
bool esp_hold_wanted(const struct esp_flow *f, const struct esp_msg *m)
{
	const struct esp_link *list = &f->parked[head(&m->key)], *l;
	u32 i;

	for (l = list->next, i = 0; l != list && i < HOLD_LOOKS; l = l->next, i++) {
		const struct esp_msg *w = esp_entry(l, struct esp_msg, link);

		if (w->ahead && same_stream(&w->key, &m->key) && w->key.start <= m->key.start)
			return true;
	}
	return false;
}

void esp_hold(struct esp_flow *f, struct esp_msg *m, u64 now)
{
	m->ahead = true;
	m->held = true;
	m->again_at = now + f->node->p.hold;
	if (!f->nheld++)
		f->hold_at = m->again_at;
	f->park_at = esp_min(f->park_at, f->hold_at);
	insert(f, m);
	env_count(f->node, ESP_C_msg_held, 1);
}

/* The receiver takes what this scout was sent for: more may follow. */
void esp_hold_accepted(struct esp_flow *f, const struct esp_msg *m)
{
	f->accepted |= 1u << head(&m->key);
}

/* It waits no more, or is no scout any more: it may be another one's turn. */
void esp_park_left(struct esp_flow *f, struct esp_msg *m)
{
	u32 h;

	if (likely(!m->held && !m->scout && (m->state != ESP_MSG_PARKED || !f->nheld)))
		return;
	h = head(&m->key);
	f->nheld -= m->held;
	f->scouts &= ~((u32)m->scout << h);
	m->held = false;
	m->scout = false;
	f->unhold |= 1u << h;
}

/* It may go, again or for the first time. */
void esp_unpark(struct esp_flow *f, struct esp_msg *m)
{
	esp_unlink(&m->link);
	if (m->state == ESP_MSG_PARKED)
		esp_park_left(f, m);
	m->state = ESP_MSG_IDLE;
	esp_msg_queue(f, m);
}

/* The receiver waits for it: before what may still be ahead of its run. */
static void unpark_first(struct esp_flow *f, struct esp_msg *m)
{
	esp_unpark(f, m);
	esp_unlink(&m->link);
	esp_link_before(m->queue->small.next, &m->link);
}

void esp_msg_ready(struct esp_flow *f, const struct esp_key *k, bool upto)
{
	struct esp_link *list = &f->parked[head(k)], *l, *next;
	u64 number = esp_run_number(k);
	bool found = false;

	for (l = list->next; l != list; l = next) {
		struct esp_msg *m = esp_entry(l, struct esp_msg, link);
		u64 n = esp_run_number(&m->key);

		next = l->next;
		if (m->key.nonce != k->nonce || m->key.cookie != k->cookie ||
		    (upto ? n > number : n != number))
			continue;
		if (upto)
			esp_unpark(f, m);
		else
			unpark_first(f, m);
		env_count(f->node, ESP_C_msg_ready, 1);
		found = true;
	}
	if (found)
		f->late[head(k)] = 0;
	else
		env_count(f->node, ESP_C_skip_ready_unknown, 1);
}

/* The first one held in the list of a stream of which no other one waits before it. */
static struct esp_msg *first_held(const struct esp_link *list)
{
	const struct esp_key *seen[STREAMS];
	const struct esp_link *l;
	u32 n = 0, i;

	for (l = list->next; l != list; l = l->next) {
		struct esp_msg *m = esp_entry(l, struct esp_msg, link);

		for (i = 0; i < n && !same_stream(seen[i], &m->key); i++)
			;
		if (i < n)
			continue;
		if (m->held)
			return m;
		if (n < STREAMS)
			seen[n++] = &m->key;
	}
	return NULL;
}

/* @m has left the list @h, and others wait for what becomes of it. */
static void scout(struct esp_flow *f, struct esp_msg *m, u32 h)
{
	m->scout = true;
	f->scouts |= 1u << h;
}

/*
 * A scout, if there is one to be sent; where the last one was accepted, others of its stream go
 * before it.
 */
static void send_scout(struct esp_flow *f, u32 h)
{
	struct esp_link *list = &f->parked[h], *l, *next;
	struct esp_msg *m = first_held(list), *s = m;
	u32 n = f->accepted >> h & 1 ? SCOUTS_MOST : 1;

	if (!m)
		return;
	for (l = &m->link; l != list && n; l = next) {
		struct esp_msg *w = esp_entry(l, struct esp_msg, link);

		next = l->next;
		if (!w->held || !same_stream(&w->key, &m->key))
			continue;
		esp_unpark(f, w);
		s = w;
		n--;
	}
	scout(f, s, h);
	env_count(f->node, ESP_C_msg_scout, 1);
}

void esp_hold_look(struct esp_flow *f)
{
	u32 look = f->unhold & ~f->scouts, h;

	for (h = 0; look; h++, look >>= 1)
		if (look & 1)
			send_scout(f, h);
	f->unhold = 0;
	f->accepted = 0;
}

/*
 * Of those in the list @h that are due the first few go, up to @most, whatever the scout does: it may be
 * long under way. Each time twice as many go, as long as no READY comes in between: a receiver that is
 * merely slow would refuse them all. How many.
 */
static u32 end_hold(struct esp_flow *f, u32 h, u32 most, u64 now)
{
	u64 later = now + f->node->p.hold;
	struct esp_link *l, *next;
	struct esp_msg *last = NULL;
	bool any = false;
	u32 n = 0;

	most = (u32)esp_min(most, 1u << f->late[h]);
	for (l = f->parked[h].next; l != &f->parked[h]; l = next) {
		struct esp_msg *m = esp_entry(l, struct esp_msg, link);

		next = l->next;
		if (!m->held)
			continue;
		if (now < m->again_at || n == most) {
			f->hold_at = esp_min(f->hold_at, esp_max(m->again_at, later));
			any = true;
			continue;
		}
		esp_unpark(f, m);
		env_count(f->node, ESP_C_msg_held_long, 1);
		last = m;
		n++;
	}
	if (last && !(f->scouts >> h & 1))
		scout(f, last, h);
	if (!any)
		f->late[h] = 0;
	else if (n && f->late[h] < LATE_MOST)
		f->late[h]++;
	return n;
}

/* Some are due, or are not there any more. */
static void end_holds(struct esp_flow *f, u64 now)
{
	u32 h, left = LATE_ALL;

	f->hold_at = ESP_NEVER;
	for (h = 0; h < ESP_PARK_HASH; h++)
		left -= end_hold(f, h, left, now);
}

void esp_hold_timer(struct esp_flow *f, u64 now)
{
	if (now >= f->hold_at)
		end_holds(f, now);
	f->park_at = esp_min(f->park_at, f->hold_at);
}

/* Up to GONE_MOST of those in @list that are for the endpoint @cookie end; how many. */
static u32 end_gone(struct esp_flow *f, struct esp_link *list, u64 cookie, struct esp_todo *t)
{
	struct esp_link *l, *next;
	u32 n = 0;

	for (l = list->next; l != list && n < GONE_MOST; l = next) {
		struct esp_msg *m = esp_entry(l, struct esp_msg, link);

		next = l->next;
		if (m->key.cookie != cookie)
			continue;
		esp_msg_end(f, m, -ECONNRESET, t);
		n++;
	}
	return n;
}

/*
 * The endpoint @cookie is no more: nobody will ever say READY for what was refused there, and
 * its memory is its sender's. True: there may be more of that.
 */
bool esp_msg_gone(struct esp_flow *f, u64 cookie, struct esp_todo *t)
{
	u32 i;

	for (i = 0; i < ESP_PARK_HASH; i++)
		if (end_gone(f, &f->parked[i], cookie, t) == GONE_MOST)
			return true;
	for (i = 0; i < ESP_PAUSES; i++)
		if (end_gone(f, &f->paused[i], cookie, t) == GONE_MOST)
			return true;
	return false;
}
