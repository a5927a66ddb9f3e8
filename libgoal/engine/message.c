// SPDX-License-Identifier: BSD-3-Clause
/*
 * Messages that have no receive yet: of a run whose receive has not started (they wait in the
 * core), of a run that has not been started here, or of a group that is not here yet (they
 * wait in a table by run identity, which serves both). Called by progress.c and run.c.
 */
#include "host.h"

/* Eager message @m is not kept any more: its sender may send another. */
static void taken(struct goal_engine *e, const struct host_msg *m)
{
	struct host_rx *rx;

	if (m->peer->rx == HOST_NO_RX)
		return;
	rx = &e->rx[m->peer->rx];
	rx->held--;
	if (m->kind != HOST_MSG_EAGER)
		return;
	rx->msgs++;
	rx->bytes += (u32)m->len;
	__atomic_store_n(&rx->box->taken.bytes, rx->bytes, __ATOMIC_RELAXED);
	__atomic_store_n(&rx->box->taken.msgs, rx->msgs, __ATOMIC_RELEASE);
}

static void put(struct goal_engine *e, struct host_msg *m)
{
	if (m->peer) {
		taken(e, m);
		host_peer_put(e, m->peer);
	}
	host_msg_put(e, m);
}

void host_message_drop(struct goal_engine *e, struct host_msg *m)
{
	e->stats.drops++;
	if (m->kind == HOST_MSG_RTS)
		host_refuse(e, m->peer, m->sender);
	put(e, m);
}

/* @m is for @r, which is active. */
void host_message(struct goal_run *r, struct host_msg *m)
{
	struct goal_engine *e = r->engine;
	struct goal_group *g = r->group;

	if (m->src >= g->npeers || g->peer[m->src] != m->peer) {
		host_message_drop(e, m);
		return;
	}
	if (m->kind == HOST_MSG_GONE) {
		if (m->peer)
			core_cancel(&r->core, -ECONNABORTED, m->src);
		else
			host_failed_told(r, m->src);
		put(e, m);
	} else if (core_message(&r->core, m->src, m->tag, m->instance, m)) {
		host_message_drop(e, m);
	}
}

static bool failed_before(const struct goal_engine *e, u64 nonce, u64 key)
{
	u32 i, n = e->nfailed < HOST_FAILED ? e->nfailed : HOST_FAILED;

	for (i = 0; i < n; i++)
		if (e->failed[i].key == key && e->failed[i].nonce == nonce)
			return true;
	return false;
}

static bool freed_before(const struct goal_engine *e, u64 nonce)
{
	u32 i;

	for (i = 0; i < HOST_FREED; i++)
		if (e->freed[i] == nonce)
			return true;
	return false;
}

/* @m is for a run that is not active: keep it until that is started, or drop it. */
void host_message_early(struct goal_engine *e, u64 nonce, u64 key, struct host_msg *m)
{
	struct host_early **bucket = &e->early[host_hash(nonce, key, HOST_EARLY_HASH)];
	struct host_early *early;

	if (unlikely(e->nfailed) && failed_before(e, nonce, key)) {
		host_message_drop(e, m);
		return;
	}
	if (unlikely(nonce != e->early_nonce)) {
		if (freed_before(e, nonce)) {
			host_message_drop(e, m);
			return;
		}
		e->early_nonce = nonce;
	}
	for (early = *bucket; early; early = early->next)
		if (early->key == key && early->nonce == nonce)
			break;
	if (!early) {
		early = host_early_get(e);
		if (!early) {
			host_message_drop(e, m);
			return;
		}
		early->nonce = nonce;
		early->key = key;
		early->next = *bucket;
		*bucket = early;
	}
	m->next = NULL;
	*early->last = m;
	early->last = &m->next;
	e->nearly++;
	e->stats.early++;
}

/* @r has been started: it gets what came before, in the order in which it came. */
void host_message_start(struct goal_run *r)
{
	struct goal_engine *e = r->engine;
	struct host_early **at = &e->early[host_hash(r->nonce, r->key, HOST_EARLY_HASH)];
	struct host_early *early;
	struct host_msg *m, *next;

	while (*at && ((*at)->key != r->key || (*at)->nonce != r->nonce))
		at = &(*at)->next;
	early = *at;
	if (!early)
		return;
	*at = early->next;
	m = early->first;
	host_early_put(e, early);
	for (; m; m = next) {
		next = m->next;
		e->nearly--;
		host_message(r, m);
	}
}

/* Group @nonce is removed: nothing that was or will be sent to it is wanted. */
void host_messages_forget(struct goal_engine *e, u64 nonce)
{
	u32 i;

	if (nonce)
		e->freed[e->nfreed++ % HOST_FREED] = nonce;
	if (nonce == e->early_nonce)
		e->early_nonce = 0;
	for (i = 0; i < HOST_EARLY_HASH && e->nearly; i++) {
		struct host_early **at = &e->early[i];

		while (*at) {
			struct host_early *early = *at;
			struct host_msg *m, *next;

			if (nonce && early->nonce != nonce) {
				at = &early->next;
				continue;
			}
			*at = early->next;
			for (m = early->first; m; m = next) {
				next = m->next;
				e->nearly--;
				host_message_drop(e, m);
			}
			host_early_put(e, early);
		}
	}
}

/* The receive @op of @r has started, and @m, which came before, is for it. */
int host_deliver(struct goal_run *r, u32 op, struct host_msg *m)
{
	const struct goal_op *o = &r->core.sched->op[op];
	struct goal_engine *e = r->engine;
	int rc = CORE_DONE;

	switch (m->kind) {
	case HOST_MSG_RTS:
		rc = host_receive(r, op, m->peer, m->sender, m->len);
		break;
	case HOST_MSG_SELF:
		rc = host_self_deliver(r, op, m);
		break;
	default:
		if (m->len > o->len) {
			rc = -EMSGSIZE;
			break;
		}
		host_copy_in(core_buffer(&r->core, o->dst_buf), o->dst_off, m->data, m->len);
		r->core.rlen[o->slot] = m->len;
		break;
	}
	put(e, m);
	return rc;
}
