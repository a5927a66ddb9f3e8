// SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause
/*
 * What takes long, since it concerns all members of a node or all runs of a member: what was
 * heard of a node's or an endpoint's end, whom tables take for the peer of a flow, and whether
 * those live that runs wait for. It is only noted where it is heard, and done in parts, from
 * where the home may pause between them. Part of the pump: takes the locks, one at a time.
 */
#include "esp_int.h"

/* In one call. */
#define WATCH_RUNS   64    /* runs looked at */
#define WATCH_STEPS  65536 /* their operations */
#define WATCH_PEERS  64    /* peers asked after */
#define LOOK_MEMBERS 64    /* members whose table is searched */

/* In one round of calls, so of a member each time its timer comes. */
#define ROUND_STEPS (16 * WATCH_STEPS)
#define ROUND_PEERS 1024

#define GONE_PAUSE (10 * ESP_MS)
#define ASK_PAUSE  (100 * ESP_MS) /* a flow's, between two looks through the tables */

/* Why a flow waits for a look. */
#define LOOK_DIED 1u /* the peer */
#define LOOK_GONE 2u /* esp_flow.gone_heard */
#define LOOK_ASK  4u /* who the peer is */
#define LOOK_REST 8u /* it has ended, and not all that was in it */

/* All tables are to be looked through for @f. Under the node's lock. */
static void note(struct esp_flow *f, u8 why)
{
	struct esp_node *n = f->node;

	if (!f->look) {
		env_flow_get(f);
		f->look_next = n->look_first;
		n->look_first = f;
	}
	f->look |= why;
}

static void look_for(struct esp_flow *f, u8 why)
{
	struct esp_node *n = f->node;

	env_node_lock(n);
	note(f, why);
	env_node_unlock(n);
	env_look(n);
}

void esp_peer_died(struct esp_flow *f)
{
	look_for(f, LOOK_DIED);
}

void esp_flow_rest(struct esp_flow *f)
{
	look_for(f, LOOK_REST);
}

/* True: there is more. */
static bool clear(struct esp_flow *f, u64 now)
{
	struct esp_todo t;
	bool more;

	esp_todo_init(&t, f->node, now);
	env_flow_lock(f);
	more = esp_flow_clear(f, &t);
	env_flow_unlock(f);
	esp_todo_run(f, &t);
	return more;
}

/*
 * Each costs a look through all tables, so strangers are not heard (who has asked or sent a message
 * has had a table decide who the peer is), and others not too often: who still waits asks again.
 */
static bool gone_heeded(struct esp_flow *f, u64 now)
{
	bool yes;

	env_flow_lock(f);
	yes = f->vouched && f->gone_at <= now + (ESP_GONES - 1) * GONE_PAUSE;
	if (yes)
		f->gone_at = esp_max(f->gone_at, now) + GONE_PAUSE;
	env_flow_unlock(f);
	return yes;
}

/* What was refused by an endpoint that is no more, in parts that are not long under the lock. */
static void end_messages(struct esp_flow *f, u64 cookie, u64 now)
{
	struct esp_todo t;
	bool more;

	do {
		esp_todo_init(&t, f->node, now);
		env_flow_lock(f);
		more = esp_msg_gone(f, cookie, &t);
		esp_batch_push(f);
		env_flow_unlock(f);
		esp_todo_run(f, &t);
	} while (more);
}

/* An endpoint of the flow's peer is no more: the end of every group it is in. */
void esp_gone_in(struct esp_flow *f, u64 cookie, u64 now)
{
	struct esp_node *n = f->node;
	bool ok;

	if (!gone_heeded(f, now))
		return;
	end_messages(f, cookie, now);
	env_node_lock(n);
	ok = f->ngone_heard < ESP_GONES; /* else who still waits asks again */
	if (ok) {
		f->gone_heard[f->ngone_heard++] = cookie;
		note(f, LOOK_GONE);
	}
	env_node_unlock(n);
	if (!ok)
		return;
	env_count(n, ESP_C_gone_heard, 1);
	env_look(n);
}

/*
 * Two say that they are the peer of @f, and no table was asked yet. Strangers' flows are few, so
 * it is enough that each may cost a look through all tables now and then.
 */
void esp_ask_tables(struct esp_flow *f, u64 now)
{
	bool ok;

	env_flow_lock(f);
	ok = esp_since(now, f->asked) >= ASK_PAUSE;
	if (ok)
		f->asked = now;
	env_flow_unlock(f);
	if (ok)
		look_for(f, LOOK_ASK);
}

/* The next flow, with its reference. */
static bool take(struct esp_node *n, struct esp_look *l)
{
	struct esp_flow *f;
	u32 i;

	env_node_lock(n);
	f = n->look_first;
	if (f) {
		n->look_first = f->look_next;
		l->why = f->look;
		l->ngone = f->ngone_heard;
		for (i = 0; i < f->ngone_heard; i++)
			l->gone[i] = f->gone_heard[i];
		f->look = 0;
		f->ngone_heard = 0;
	}
	env_node_unlock(n);
	l->flow = f;
	return f != NULL;
}

/* True: it has failed, or its table has spoken. */
static bool look_at(struct esp_look *l, struct esp_member *m, u64 now)
{
	const struct esp_table *tab = m->table;
	struct esp_flow *f = l->flow;
	u32 rank = esp_table_find(tab, f->peer.node), i;
	const struct esp_peer *peer;
	bool news = false;

	if (rank == tab->nranks)
		return false;
	peer = &tab->peer[tab->rank[rank].peer];
	if (l->why & LOOK_ASK) {
		l->why &= ~LOOK_ASK;
		esp_vouch(f, peer, now);
		news = true;
	}
	/* Else it may be well, and not where somebody's table has it. */
	if (l->why & LOOK_DIED && esp_flow_sought(f, peer->addr))
		news |= esp_note_group(m, -EHOSTUNREACH, rank, now);
	for (i = 0; i < l->ngone; i++) {
		rank = esp_table_rank(tab, l->gone[i]);
		if (rank < tab->nranks && &tab->peer[tab->rank[rank].peer] == peer)
			news |= esp_note_group(m, -ECONNRESET, rank, now);
	}
	return news;
}

bool esp_look(struct esp_node *n, struct esp_look *l, u64 now)
{
	bool more = true;
	u32 i;

	esp_batch_enter(n);
	if (ESP_PEEK(n->tell_first)) {
		esp_tell_all(n, now);
	} else if ((l->flow || take(n, l)) && l->why & LOOK_REST) {
		if (!clear(l->flow, now))
			l->why &= ~LOOK_REST;
		if (!l->why) {
			env_flow_put(l->flow);
			l->flow = NULL;
		}
	} else if (l->flow) {
		for (i = 0; i < LOOK_MEMBERS; i++) {
			l->member = env_member_next(n, l->member);
			if (!l->member || look_at(l, l->member, now))
				break;
		}
		if (l->member && !l->why) { /* it was all */
			env_member_put(l->member);
			l->member = NULL;
		}
		if (!l->member) {
			env_flow_put(l->flow);
			l->flow = NULL;
		}
	} else {
		more = false;
	}
	esp_batch_leave(n, now);
	return more;
}

/*
 * A run waits for a message of the rank @src, or for it to take one: see that its node and its
 * endpoint live, and that the run has not failed there.
 */
static void watch(struct esp_run *r, u32 src, u64 now)
{
	struct esp_node *n = r->m->ep->node;
	const struct esp_table *tab = r->m->table;
	const struct esp_peer *peer = &tab->peer[tab->rank[src].peer];
	struct esp_flow *f;
	struct esp_ctl *c;

	if (!memcmp(peer->node, n->id, sizeof(n->id))) {
		esp_watch_local(r, src, now);
		return;
	}
	f = esp_flow_to(n, peer, now);
	if (!f)
		return; /* next time */
	env_flow_lock(f);
	if (now >= f->watch_until)
		env_count(n, ESP_C_watch_flow, 1);
	f->watch_until = now + 3 * n->p.watch;
	esp_batch_push(f);
	env_flow_unlock(f);
	c = env_ctl_get(n, r->m->ep->cookie);
	if (c) { /* else the next time */
		esp_ctl_init(c);
		c->kind = ESP_CTL_ASK;
		c->flow = f;
		c->key.nonce = r->m->nonce;
		c->key.cookie = tab->rank[src].cookie;
		c->key.opid = r->opid;
		c->key.start = r->start;
		c->key.src = r->m->rank;
		esp_say(f, c, now);
	}
	env_flow_put(f);
}

/*
 * Whom operation @i of a run waits for: its receives stand first, then all of them for the
 * sends.
 */
static u32 waits_for(const struct esp_run *r, u32 i)
{
	const struct core_sched *s = r->run->sched;
	u32 op;

	if (i < s->hdr->nrecv) {
		op = s->match[i];
		return r->run->state[op] == CORE_OP_POSTED || r->run->state[op] == CORE_OP_BUSY
			       ? s->op[op].peer
			       : GOAL_OP_NONE;
	}
	op = i - s->hdr->nrecv;
	return s->op[op].code == GOAL_OP_SEND && r->run->state[op] == CORE_OP_BUSY ? s->op[op].peer
										   : GOAL_OP_NONE;
}

/* A part of it at a time: the next one follows in the next round. */
static void watch_run(struct esp_run *r, u32 *steps, u32 *peers, u64 now)
{
	const struct core_sched *s = r->run->sched;
	u32 all = s->hdr->nrecv + s->hdr->nops, i = r->watch_at < all ? r->watch_at : 0;
	u32 last = GOAL_OP_NONE, step;

	for (step = 0; step < all && *steps && *peers; step++, (*steps)--) {
		u32 peer = waits_for(r, i);

		i = i + 1 == all ? 0 : i + 1;
		if (peer == GOAL_OP_NONE || peer == last)
			continue;
		watch(r, peer, now);
		last = peer;
		(*peers)--;
	}
	r->watch_at = i;
}

/* A run that was looked at is not looked at again before all the others were. */
struct esp_run *esp_member_watch(struct esp_member *m, struct esp_run *prev, u64 now)
{
	struct esp_node *n = m->ep->node;
	u32 steps = WATCH_STEPS, peers = WATCH_PEERS, i;
	struct esp_run *r = prev;

	if (!r) {
		m->watch_steps = 0;
		m->watch_peers = 0;
	}
	esp_batch_enter(n);
	for (i = 0; i < WATCH_RUNS && steps && peers; i++) {
		r = env_run_next(m, r);
		if (!r) {
			m->watched++;
			break;
		}
		if (r->watched == m->watched || esp_since(now, r->started) < n->p.watch)
			continue;
		r->watched = m->watched;
		watch_run(r, &steps, &peers, now);
	}
	esp_tell_all(n, now);
	esp_batch_leave(n, now);
	m->watch_steps += WATCH_STEPS - steps;
	m->watch_peers += WATCH_PEERS - peers;
	if (r && (m->watch_steps >= ROUND_STEPS || m->watch_peers >= ROUND_PEERS)) {
		env_run_put(r);
		r = NULL;
	}
	return r;
}
