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

/* False: out of memory. */
static bool tell(struct goal_run *r, u32 peer, bool answer)
{
	struct goal_group *g = r->group;
	struct goal_engine *e = g->engine;
	struct host_xfer *x = host_xfer_get(e, NULL, GOAL_OP_NONE, HOST_XFER_WORD);

	if (!x)
		return false;
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
	return true;
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

/* Operation @op of @r is ours, and @x stands for it. */
static void stand_in(struct goal_run *r, u32 op)
{
	const struct goal_op *o = &r->core.sched->op[op];
	struct goal_engine *e = r->engine;
	bool send = o->code == GOAL_OP_SEND;
	struct host_xfer *x = host_xfer_get(e, r, op, send ? HOST_XFER_HELD : HOST_XFER_IRECV);

	x->group = r->group;
	x->drain = true;
	e->ncalls++;
	if (!send) {
		x->bytes = o->len;
		list_append(&e->remote_posts, &x->link);
	}
}

/*
 * Take all operations of remote peers that have not started. False: out of memory; one of them
 * (r->lost) keeps the run from being over, until another attempt succeeds.
 */
static bool take_all(struct goal_run *r)
{
	const struct core_sched *s = r->core.sched;
	struct goal_engine *e = r->engine;
	u32 i;

	for (i = 0; i < s->hdr->nops; i++) {
		const struct goal_op *o = &s->op[i];

		if ((o->code != GOAL_OP_SEND && o->code != GOAL_OP_RECV) || r->group->peer[o->peer])
			continue;
		if (r->core.state[i] != CORE_OP_IDLE)
			continue;
		if (host_xfer_reserve(e, 1)) {
			if (r->lost == GOAL_OP_NONE && core_op_take(&r->core, i))
				r->lost = i;
			return false;
		}
		if (core_op_take(&r->core, i))
			stand_in(r, i);
	}
	if (r->lost != GOAL_OP_NONE) {
		if (host_xfer_reserve(e, 1))
			return false;
		stand_in(r, r->lost);
		r->lost = GOAL_OP_NONE;
	}
	return true;
}

/* Tell each peer, once, that something is held back from it. False: out of memory. */
static bool tell_all(struct goal_run *r)
{
	u8 *told = host_alloc(r->engine, r->group->npeers / 8 + 1);
	struct list *l;
	bool ok = true;

	if (!told)
		return false;
	list_for(l, &r->xfers)
	{
		struct host_xfer *x = list_entry(l, struct host_xfer, run_link);
		u32 peer = r->core.sched->op[x->op].peer;

		if (x->state == HOST_XFER_HELD && x->told)
			told[peer / 8] |= (u8)(1u << peer % 8);
	}
	for (l = r->xfers.next; ok && l != &r->xfers; l = l->next) {
		struct host_xfer *x = list_entry(l, struct host_xfer, run_link);
		u32 peer = r->core.sched->op[x->op].peer;

		if (x->state != HOST_XFER_HELD || x->told)
			continue;
		if (!(told[peer / 8] & 1u << peer % 8))
			ok = tell(r, peer, false);
		x->told = ok;
		told[peer / 8] |= (u8)(1u << peer % 8);
	}
	free(told);
	return ok;
}

/* A run that lacks memory is the dispatcher's business, which tries again. */
static void set_lacking(struct goal_run *r, bool lacking)
{
	if (lacking == r->lacking)
		return;
	r->lacking = lacking;
	if (lacking)
		r->engine->ncalls++;
	else
		r->engine->ncalls--;
}

static void take_over(struct goal_run *r)
{
	set_lacking(r, !take_all(r) || !tell_all(r));
}

/* @r has failed, and the core lets us take what has not started. */
void host_failed(struct goal_run *r)
{
	struct goal_group *g = r->group;

	/* A failed group's members know by other ways, or are dead. */
	if (!g->nremote || !host_tells(g) || g->status)
		return;
	r->failing = true;
	r->engine->nfailing++;
	take_over(r);
}

void host_failed_over(struct goal_run *r)
{
	r->engine->nfailing--;
	set_lacking(r, false);
}

/* Message @x cannot be sent, which fails its run with @status: an empty one takes its place. */
void host_failed_hold(struct host_xfer *x, int status)
{
	struct goal_run *r = x->run;

	free(x->bounce);
	x->bounce = NULL;
	x->bytes = 0;
	x->drain = true;
	x->told = false;
	x->state = HOST_XFER_HELD;
	if (r->failing)
		set_lacking(r, !tell_all(r) || r->lacking);
	else
		core_cancel(&r->core, status, r->core.sched->op[x->op].peer);
}

/* There is no memory for operation @op, which starts. True: it is taken care of. */
bool host_failed_lost(struct goal_run *r, u32 op)
{
	struct goal_group *g = r->group;

	if (!host_tells(g) || g->status)
		return false;
	r->lost = op;
	core_cancel(&r->core, -ENOMEM, r->core.sched->op[op].peer);
	return true;
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
	if (r->lost != GOAL_OP_NONE) {
		u32 op = r->lost;

		r->lost = GOAL_OP_NONE;
		core_op_done(&r->core, op, -ECANCELED);
	}
	set_lacking(r, false);
}

/* Peer @src has said that its part of run @key has failed, and waits for an answer. */
void host_failed_told(struct goal_run *r, u32 src)
{
	core_cancel(&r->core, -ECONNABORTED, src);
	/* Over by that, or of a failed group: nothing was held back from us. */
	if (r->over)
		return;
	if (!tell(r, src, true))
		host_group_fail(r->group, -ENOMEM, src);
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
	/* What was there before the transport was asked, another thread may have used since. */
	m = host_early_reserve(e) ? NULL : host_msg_get(e, 0);
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
	/* A word takes memory, and so does its answer: without, it stays where it is. */
	while (!host_xfer_reserve(e, 1) && !host_early_reserve(e)) {
		host_unlock(e);
		rc = g->remote->hear(g->remote_arg, g->word, &word, sizeof(word));
		host_lock(e);
		if (rc <= 0)
			break;
		hear(g, &word);
		n++;
	}
	let_go(r);
	return n;
}

/* What failed for want of memory before. */
static void try_again(struct goal_group *g)
{
	struct list *l;

	list_for(l, &g->runs)
	{
		struct goal_run *r = list_entry(l, struct goal_run, group_link);

		if (r->lacking)
			take_over(r);
	}
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

		if (!g->nremote || !host_tells(g) || list_empty(&g->runs))
			continue;
		if (e->nfailing)
			try_again(g);
		n += listen_to(g, list_entry(g->runs.next, struct goal_run, group_link));
	}
	return n;
}
