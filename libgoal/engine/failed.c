// SPDX-License-Identifier: BSD-3-Clause
/*
 * What peers behind the remote transport must know of a failed run. Called by run.c, message.c,
 * remote.c and dispatch.c; messages to peers of this node are told off in run.c.
 *
 * Two things are at stake: a peer that waits for what we will not send must learn it, and every
 * message must still meet its receive, or the transport would give it to a later run with the
 * same tag, and a send that waits for its receive would never end. So a failed run goes through
 * all its sends and receives of remote peers: what it had started runs to its end, receives that
 * had not started take their message into memory of nobody, and sends that had not started are
 * replaced by empty messages.
 *
 * An empty message must not be taken for a good one. So it is held back until the peer is known
 * to have failed, too: we say so in a word, which the transport carries beside the messages, the
 * peer fails its part of the run (when it starts, if it has not yet) and answers. A peer that
 * we owe nothing is told nothing, and may end well. Nobody waits in vain, whether or not the
 * transport keeps what has not been received: who is told cannot be over, since it needs what we
 * owe it, and listens; who is answered waits for that; and receives are all posted at once.
 *
 * Nobody listens for words on the way of a run that goes well: only while a failed one is
 * under way, and every 10 ms while receives are.
 */
#include <stdlib.h>

#include "host.h"

#define LISTEN_NS     10000000 /* between two looks while nothing has failed */
#define LISTEN_ROUNDS 16       /* between two looks at the clock */

/* The group is of no use any more. Its runs end, but those of its peers may not. */
static void spoil(struct goal_group *g, u32 peer)
{
	if (g->status)
		return;
	g->status = -ENOMEM;
	g->status_peer = peer;
}

static void tell(struct goal_run *r, u32 peer, bool answer)
{
	struct goal_group *g = r->group;
	struct goal_engine *e = g->engine;
	struct host_xfer *x = host_xfer_get(e, NULL, GOAL_OP_NONE, HOST_XFER_WORD);

	if (!x) {
		spoil(g, peer);
		return;
	}
	x->group = g;
	x->teller = r;
	x->src = peer;
	x->bytes = sizeof(x->word);
	x->word.magic = HOST_WORD_MAGIC;
	x->word.answer = answer;
	x->word.src = g->rank;
	x->word.spare = 0;
	x->word.key = r->key;
	r->holds++;
	list_append(&e->remote_posts, &x->link);
	e->ncalls++;
}

static void let_go(struct goal_run *r)
{
	if (!--r->holds && r->ended)
		host_run_done(r);
}

/* Word @x is with its peer, or never will be: then we would wait for its answer. */
void host_failed_said(struct goal_engine *e, struct host_xfer *x, int status)
{
	struct goal_run *r = x->teller;
	u32 peer = x->src;

	host_xfer_put(e, x);
	if (status < 0)
		host_group_fail(r->group, status, peer);
	let_go(r);
}

/* An operation of a remote peer that has not started is ours now. False: out of memory. */
static bool take(struct goal_run *r, u32 op)
{
	const struct goal_op *o = &r->core.sched->op[op];
	struct goal_engine *e = r->engine;
	bool send = o->code == GOAL_OP_SEND;
	struct host_xfer *x;

	if (!core_op_take(&r->core, op))
		return true;
	x = host_xfer_get(e, r, op, send ? HOST_XFER_HELD : HOST_XFER_IRECV);
	if (!x) {
		core_op_done(&r->core, op, -ECANCELED);
		return false;
	}
	x->group = r->group;
	x->drain = true;
	e->ncalls++;
	if (!send) {
		x->bytes = o->len;
		list_append(&e->remote_posts, &x->link);
	}
	return true;
}

/* Tell each peer that something is held back from. */
static bool tell_all(struct goal_run *r)
{
	u8 *told = host_alloc(r->engine, r->group->npeers / 8 + 1);
	struct list *l;

	if (!told)
		return false;
	list_for(l, &r->xfers)
	{
		const struct host_xfer *x = list_entry(l, struct host_xfer, run_link);
		u32 peer = r->core.sched->op[x->op].peer;

		if (x->state != HOST_XFER_HELD || told[peer / 8] & 1u << peer % 8)
			continue;
		told[peer / 8] |= (u8)(1u << peer % 8);
		tell(r, peer, false);
	}
	free(told);
	return true;
}

/* @r has failed, and the core lets us take what has not started. */
void host_failed(struct goal_run *r)
{
	const struct core_sched *s = r->core.sched;
	struct goal_group *g = r->group;
	bool ok = true;
	u32 i;

	/* A failed group's members know by other ways, or are dead. */
	if (!g->nremote || !host_tells(g) || g->status)
		return;
	r->failing = true;
	r->engine->nfailing++;
	for (i = 0; ok && i < s->hdr->nops; i++)
		if ((s->op[i].code == GOAL_OP_SEND || s->op[i].code == GOAL_OP_RECV) &&
		    !g->peer[s->op[i].peer])
			ok = take(r, i);
	if (ok)
		ok = tell_all(r);
	if (!ok)
		spoil(g, GOAL_OP_NONE);
	if (g->status)
		host_failed_release(r);
}

static bool holds(struct goal_run *r, u32 peer)
{
	struct list *l;

	list_for(l, &r->xfers)
	{
		const struct host_xfer *x = list_entry(l, struct host_xfer, run_link);

		if (x->state == HOST_XFER_HELD && r->core.sched->op[x->op].peer == peer)
			return true;
	}
	return false;
}

/* Message @x cannot be sent, which fails its run with @status: an empty one takes its place. */
void host_failed_hold(struct host_xfer *x, int status)
{
	struct goal_run *r = x->run;
	u32 peer = r->core.sched->op[x->op].peer;
	bool held = holds(r, peer); /* then its answer is still to come */

	free(x->bounce);
	x->bounce = NULL;
	x->bytes = 0;
	x->drain = true;
	x->state = HOST_XFER_HELD;
	if (!r->failing)
		core_cancel(&r->core, status, peer);
	else if (!held)
		tell(r, peer, false);
}

/* @src knows that @r has failed: it gets what was held back from it. */
static void answered(struct goal_run *r, u32 src)
{
	struct goal_engine *e = r->engine;
	struct list *l;

	list_for(l, &r->xfers)
	{
		struct host_xfer *x = list_entry(l, struct host_xfer, run_link);

		if (x->state != HOST_XFER_HELD || r->core.sched->op[x->op].peer != src)
			continue;
		x->state = HOST_XFER_ISEND;
		list_append(&e->remote_posts, &x->link);
	}
}

/* The group has failed: nobody will answer. */
void host_failed_release(struct goal_run *r)
{
	struct goal_engine *e = r->engine;
	struct list *l, *next;

	list_for_safe(l, next, &r->xfers)
	{
		struct host_xfer *x = list_entry(l, struct host_xfer, run_link);

		if (x->state != HOST_XFER_HELD)
			continue;
		e->ncalls--;
		host_xfer_end(e, x, -ECANCELED);
	}
}

/* Peer @src has said that its part of run @key has failed, and waits for an answer. */
void host_failed_told(struct goal_run *r, u32 src)
{
	core_cancel(&r->core, -ECONNABORTED, src);
	tell(r, src, true);
}

static void hear(struct goal_group *g, const struct host_word *word)
{
	struct goal_engine *e = g->engine;
	struct goal_run *r;
	struct host_msg *m;

	if (word->magic != HOST_WORD_MAGIC || word->src >= g->npeers || g->peer[word->src]) {
		e->stats.drops++;
		return;
	}
	r = host_run_find(e, g->nonce, word->key);
	if (r) {
		if (word->answer)
			answered(r, word->src);
		else
			host_failed_told(r, word->src);
		return;
	}
	if (word->answer)
		return;
	m = host_msg_get(e, 0);
	if (!m) {
		host_group_fail(g, -ENOMEM, word->src);
		return;
	}
	m->kind = HOST_MSG_GONE;
	m->peer = NULL;
	m->src = word->src;
	m->len = 0;
	host_message_early(e, g->nonce, word->key, m);
}

/*
 * Take what peers of @g have said. The lock is held, but not while the transport is called: @r,
 * an active run of it, answers for its being there.
 */
static u32 listen_to(struct goal_group *g, struct goal_run *r)
{
	struct goal_engine *e = g->engine;
	struct host_word word;
	u32 n = 0;
	int rc;

	r->holds++;
	do {
		host_unlock(e);
		rc = g->remote->hear(g->remote_arg, g->word, &word, sizeof(word));
		host_lock(e);
		if (rc > 0) {
			hear(g, &word);
			n++;
		}
	} while (rc > 0);
	let_go(r);
	return n;
}

u32 host_failed_listen(struct goal_engine *e)
{
	struct list *l;
	u32 n = 0;

	if (likely(!e->nfailing)) {
		u64 now;

		if (list_empty(&e->remote_active) || ++e->remote_rounds % LISTEN_ROUNDS)
			return 0;
		now = host_now();
		if (now - e->listened < LISTEN_NS)
			return 0;
		e->listened = now;
	}
	list_for(l, &e->groups)
	{
		struct goal_group *g = list_entry(l, struct goal_group, link);

		if (g->nremote && host_tells(g) && !list_empty(&g->runs))
			n += listen_to(g, list_entry(g->runs.next, struct goal_run, group_link));
	}
	return n;
}
