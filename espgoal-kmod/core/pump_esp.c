// SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause
/*
 * The entries of the protocol half, and the order of its locks: one thing is locked at a time, and
 * what must not happen under a lock is noted in a struct esp_todo and done after it. Frames leave
 * when the outermost entry of a CPU is through, so that everything it had to say to one node
 * shares frames (struct esp_batch). pump_take.c and pump_group.c are the same file by nature.
 */
#include "esp_int.h"

#define SEARCH_FLOWS 16 /* as many as may be looked at for one allowed answer */

void esp_params_default(struct esp_params *p)
{
	memset(p, 0, sizeof(*p));
	p->eager_max = 1024;
	p->features = ESP_FEAT_PAYLOAD_CRC;
	p->window_init = 16;
	p->window_max = 384;
	p->window_min = 2;
	p->ack_every = 10;
	p->refuse_max = 64;
	p->keep_max = 128;
	p->keep_ahead = 32;
	p->pull_pct = 200;
	p->pull_min = 16384;
	p->pull_rate = 1250000000; /* 10 Gb/s */
	p->hello_rate = 10000;
	p->rtt_init = 100 * ESP_US;
	p->rto_min = ESP_MS;
	p->rto_max = 500 * ESP_MS;
	p->probe_min = 100 * ESP_US;
	p->ack_delay = 500 * ESP_US;
	p->queue_delay = 50 * ESP_US;
	p->hello_retry = 500 * ESP_US;
	p->death = 5 * ESP_S;
	p->idle = 12 * ESP_S;
	p->watch = ESP_S;
	p->linger = 10 * ESP_S;
	p->mtu_retry = 10 * ESP_S;
	p->rail_retry = 100 * ESP_MS;
	p->busy_retry = 200 * ESP_US;
	p->hold = 20 * ESP_MS;
	p->local_retry = 20 * ESP_US;
}

size_t esp_pool_size(enum esp_pool pool)
{
	switch (pool) {
	case ESP_POOL_SENT:
		return sizeof(struct esp_sent);
	case ESP_POOL_CTL:
		return sizeof(struct esp_ctl);
	case ESP_POOL_QUEUE:
		return sizeof(struct esp_queue);
	default:
		return sizeof(struct esp_rx);
	}
}

void esp_node_init(struct esp_node *n, const u8 id[16], const struct esp_params *p)
{
	u32 i;

	memset(n, 0, sizeof(*n));
	memcpy(n->id, id, sizeof(n->id));
	n->p = *p;
	for (i = 0; i < ESP_WAIT_HASH; i++) {
		esp_link_init(&n->wait[i]);
		esp_link_init(&n->kept[i]);
	}
	esp_link_init(&n->pull.granted);
	for (i = 0; i < ESP_BUCKETS; i++)
		n->bucket[i].left = p->hello_rate;
	n->hello_pause = 1000000000u / (p->hello_rate ? p->hello_rate : 1);
}

/* No copy of an OPEN makes again what has ended under the lock: see open_in(). */
static void forget_tokens(struct esp_todo *t)
{
	struct esp_node *n = t->n;

	env_node_lock(n);
	n->token_ends++;
	n->token_era += t->new_era;
	if (t->past_stamp)
		esp_hello_past(n, t->past_cid, t->past_stamp, t->now);
	env_node_unlock(n);
	env_endings(n, -(t->new_era + (t->past_stamp != 0))); /* as many as were said to begin */
}

static inline void kick(struct esp_node *n, u32 rails)
{
	u32 i;

	for (i = 0; rails; i++, rails >>= 1) {
		struct esp_rail *r = esp_rail_at(n, i);

		if ((rails & 1) && r)
			env_kick(r);
	}
}

/* After the lock: what was noted under it. */
void esp_todo_carry_out(struct esp_flow *f, struct esp_todo *t)
{
	struct esp_node *n = t->n;

	if (t->new_era || t->past_stamp)
		forget_tokens(t);
	kick(n, t->kick);
	esp_todo_ended(t);
	while (esp_linked(&t->rx)) {
		struct esp_rx *rx = esp_entry(t->rx.next, struct esp_rx, of_flow.link);

		esp_unlink(&rx->of_flow.link);
		esp_rx_release(rx, t->now);
	}
	while (esp_linked(&t->ctls)) {
		struct esp_ctl *c = esp_entry(t->ctls.next, struct esp_ctl, link);

		esp_unlink(&c->link);
		env_ctl_put(n, c);
	}
	if (t->waits)
		esp_waits_drop(f, t->waits, t->renewed);
	if (t->died)
		esp_peer_died(f);
	if (t->rest)
		esp_flow_rest(f);
}

static void flush(struct esp_flow *f, u64 now)
{
	u32 rails;

	env_flow_lock(f);
	f->batched = false;
	rails = esp_output(f, now);
	if (!rails)
		esp_flow_arm(f, now);
	env_flow_unlock(f);
	if (rails) { /* frames go first */
		kick(f->node, rails);
		env_flow_lock(f);
		esp_flow_arm(f, now);
		env_flow_unlock(f);
	}
	env_flow_put(f);
}

void esp_batch_flush(struct esp_node *n, u64 now)
{
	struct esp_batch *b = env_batch(n);

	while (b->first) {
		struct esp_flow *f = b->first;

		b->first = f->batch_next;
		flush(f, now);
	}
}

void esp_vouch(struct esp_flow *f, const struct esp_peer *peer, u64 now)
{
	struct esp_todo t;

	esp_batch_enter(f->node);
	esp_todo_init(&t, f->node, now);
	env_flow_lock(f);
	esp_flow_vouch(f, peer, &t);
	esp_batch_push(f);
	env_flow_unlock(f);
	esp_todo_run(f, &t);
	esp_batch_leave(f->node, now);
}

static CORE_APART struct esp_flow *make_flow(struct esp_node *n, const struct esp_peer *peer,
					     u64 now)
{
	struct esp_flow *f = env_flow_alloc(n, peer, true);
	struct esp_todo t;

	if (!f) {
		env_count(n, ESP_C_drop_flow_memory, 1);
		return NULL;
	}
	esp_flow_init(f, n, peer, now);
	f->vouched = true;
	memcpy(f->addr_table, peer->addr, sizeof(f->addr_table));
	if (env_flow_insert(f)) {
		env_flow_put(f);
		return env_flow_by_peer(
			n, peer->node); /* or its id is taken: the caller tries again */
	}
	esp_batch_enter(n);
	esp_todo_init(&t, n, now);
	env_flow_lock(f);
	if (f->state == ESP_FLOW_IDLE)
		esp_hello_start(f, &t);
	esp_batch_push(f);
	env_flow_unlock(f);
	esp_todo_run(f, &t);
	esp_batch_leave(n, now);
	return f;
}

/* A flow that was found may have ended before it was locked: then once more. */
struct esp_flow *esp_flow_to(struct esp_node *n, const struct esp_peer *peer, u64 now)
{
	struct esp_flow *f = env_flow_by_peer(n, peer->node);

	if (unlikely(!f))
		return make_flow(n, peer, now);
	/* An older value is one from before the flow was found. */
	if (unlikely(!ESP_PEEK(f->vouched) || ESP_PEEK(f->guessed) || esp_flow_seeks(f)))
		esp_vouch(f, peer, now);
	return f;
}

void esp_say(struct esp_flow *f, struct esp_ctl *c, u64 now)
{
	bool no;

	esp_batch_enter(f->node);
	env_flow_lock(f);
	no = f->state == ESP_FLOW_DEAD;
	if (!no) {
		esp_append(&f->ctls, &c->all);
		esp_append(&f->ctl, &c->link);
		esp_batch_push(f);
	}
	env_flow_unlock(f);
	if (no)
		env_ctl_put(f->node, c);
	esp_batch_leave(f->node, now);
}

int esp_send(struct esp_node *n, struct esp_msg *m, const struct esp_peer *peer, u64 now)
{
	u32 tries;

	for (tries = 0; tries < 8; tries++) {
		struct esp_flow *f = esp_flow_to(n, peer, now);
		bool dead;

		if (!f)
			continue;
		esp_batch_enter(n);
		env_flow_lock(f);
		dead = f->state == ESP_FLOW_DEAD;
		if (!dead) {
			esp_msg_add(f, m, now); /* with the reference */
			esp_batch_push(f);
		}
		env_flow_unlock(f);
		esp_batch_leave(n, now);
		if (!dead)
			return 0;
		env_flow_put(f);
	}
	return -ENOMEM;
}

void esp_send_cancel(struct esp_msg *m, u64 now)
{
	struct esp_flow *f = m->flow;
	struct esp_node *n = f->node;
	struct esp_todo t;

	env_flow_get(f);
	esp_batch_enter(n);
	esp_todo_init(&t, n, now);
	env_flow_lock(f);
	if (m->state != ESP_MSG_IDLE)
		esp_msg_cancel(f, m, &t);
	esp_batch_push(f);
	env_flow_unlock(f);
	esp_todo_run(f, &t);
	esp_batch_leave(n, now);
	env_flow_put(f);
}

void esp_timer(struct esp_flow *f, u64 now)
{
	struct esp_node *n = f->node;
	struct esp_todo t;
	bool pulls;

	esp_batch_enter(n);
	esp_todo_init(&t, n, now);
	env_flow_lock(f);
	esp_flow_late(f, now);
	f->timer = ESP_NEVER;
	esp_flow_timer(f, &t);
	pulls = now >= f->pull_at;
	if (pulls)
		f->pull_at = f->nrx ? now + esp_pull_patience(f) : ESP_NEVER;
	esp_batch_push(f);
	env_flow_unlock(f);
	esp_todo_run(f, &t);
	if (pulls) {
		env_node_lock(n);
		esp_pull_check(n, now);
		env_node_unlock(n);
		esp_pull_go(n, now);
	}
	esp_batch_leave(n, now);
}

void esp_flow_kill(struct esp_flow *f, u64 now)
{
	struct esp_todo t;

	esp_batch_enter(f->node);
	esp_todo_init(&t, f->node, now);
	env_flow_lock(f);
	if (f->state != ESP_FLOW_DEAD)
		esp_flow_end(f, -ESHUTDOWN, &t);
	env_flow_unlock(f);
	esp_todo_run(f, &t);
	esp_batch_leave(f->node, now);
}

/* The rails of the node are different now. */
static void rails_changed(struct esp_node *n, u32 place, bool mtu, u64 now)
{
	struct esp_flow *f = NULL;

	env_node_lock(n);
	esp_pull_rate(n);
	env_node_unlock(n);
	esp_batch_enter(n);
	while ((f = env_flow_next(n, f)) != NULL) {
		struct esp_todo t;

		esp_todo_init(&t, n, now);
		env_flow_lock(f);
		if (f->state == ESP_FLOW_UP) {
			esp_path_rail(f, place, &t);
			if (mtu) {
				f->path[place].say_mtu = true;
				esp_mtu_limit(&f->path[place], now);
			}
		}
		esp_batch_push(f);
		env_flow_unlock(f);
		esp_todo_run(f, &t);
	}
	esp_batch_leave(n, now);
}

void esp_rail_up(struct esp_rail *r, u8 place, u16 mtu, u64 now)
{
	struct esp_node *n = r->node;

	r->place = place;
	r->mtu = mtu;
	r->up = true;
	n->rail[place] = r;
	rails_changed(n, place, false, now);
}

void esp_rail_down(struct esp_rail *r, u64 now)
{
	struct esp_node *n = r->node;

	if (!r->up)
		return;
	r->up = false;
	n->rail[r->place] = NULL;
	rails_changed(n, r->place, false, now);
}

void esp_rail_mtu(struct esp_rail *r, u16 mtu, u64 now)
{
	r->mtu = mtu;
	if (r->up)
		rails_changed(r->node, r->place, true, now);
}

/* An answer that needs no flow. */
static void answer(struct esp_rail *r, struct esp_out *o)
{
	env_count(r->node, ESP_C_frames_out, 1);
	env_count(r->node, ESP_C_bytes_out, o->total_len);
	env_out(r, o);
	env_kick(r);
}

/* A frame for an output that may be used on unverified word, or NULL. */
static struct esp_out *reply(struct esp_rail *r, enum esp_bucket_kind kind, u64 now)
{
	struct esp_node *n = r->node;
	struct esp_out *o;
	bool ok;

	env_node_lock(n);
	ok = esp_hello_allowed(n, kind, now);
	env_node_unlock(n);
	if (!ok) {
		env_count(n, ESP_C_drop_hello_rate, 1);
		return NULL;
	}
	o = env_out_get(r);
	if (!o)
		env_count(n, ESP_C_no_out, 1);
	return o;
}

static void reset(struct esp_rail *r, const struct esp_addr *to, u64 cid, u64 now)
{
	struct esp_out *o = reply(r, ESP_BUCKET_RESET, now);

	if (!o)
		return;
	o->rail = r;
	o->to = *to;
	esp_out_begin(o, ESP_T_RESET, cid);
	esp_out_end(o);
	env_count(r->node, ESP_C_resets_out, 1);
	answer(r, o);
}

static void hello_in(struct esp_rail *r, const struct esp_addr *from, const struct esp_hello *h,
		     u64 now)
{
	u8 token[16], hash[16];
	struct esp_out *o;
	bool knows;

	/* First: those who do not know our name must not use up what is for those who do. */
	esp_hello_hash(r->node->id, ESP_T_HELLO, from, &r->addr, h, hash);
	knows = esp_hello_same(hash, h->node);
	o = reply(r, knows ? ESP_BUCKET_HELLO : ESP_BUCKET_WRONG, now);
	if (!o)
		return;
	if (knows)
		esp_hello_token(r->node, (u32)(now >> 32), from, &r->addr, h, token);
	else
		memset(token, 0, sizeof(token)); /* they have no business here */
	esp_hello_answer(o, r, from, h, token);
	answer(r, o);
}

static bool token_ours(struct esp_rail *r, const struct esp_addr *from, const struct esp_hello *h,
		       u64 now)
{
	u32 key = (u32)(now >> 32), age;
	u8 token[16];

	for (age = 0; age < 2 && age <= key; age++) {
		esp_hello_token(r->node, key - age, from, &r->addr, h, token);
		if (esp_hello_same(token, h->token))
			return true;
	}
	return false;
}

static bool token_good(struct esp_rail *r, const struct esp_addr *from, const struct esp_hello *h,
		       u64 now)
{
	struct esp_node *n = r->node;
	bool past;

	if (!token_ours(r, from, h, now))
		return false;
	env_node_lock(n);
	past = esp_hello_is_past(n, h);
	env_node_unlock(n);
	return !past;
}

/* The flow an OPEN is for, made if there is none; NULL: no memory. */
static struct esp_flow *open_flow(struct esp_rail *r, const struct esp_hello *h, u64 now)
{
	struct esp_node *n = r->node;
	struct esp_flow *f = env_flow_by_peer(n, h->node);
	struct esp_peer peer;

	if (f)
		return f;
	memset(&peer, 0, sizeof(peer));
	memcpy(peer.node, h->node, sizeof(peer.node));
	memcpy(peer.addr, h->addr, sizeof(peer.addr));
	f = env_flow_alloc(n, &peer, false);
	if (!f)
		return NULL;
	esp_flow_init(f, n, &peer, now);
	if (!env_flow_insert(f))
		return f;
	env_flow_put(f);
	return env_flow_by_peer(n, h->node);
}

static int open_in(struct esp_rail *r, const struct esp_addr *from, const struct esp_hello *h,
		   u64 now)
{
	struct esp_node *n = r->node;
	struct esp_todo t;
	struct esp_flow *f;
	struct esp_out *o;
	u8 refusal = 0;
	u32 ends;
	int why;

	env_node_lock(n); /* with forget_tokens(): before it or behind it, not in between */
	ends = n->token_ends;
	env_node_unlock(n);
	if (!token_good(r, from, h, now))
		return ESP_C_drop_token;
	if (!esp_hello_alike(h))
		refusal = ESP_REJECT_ORDER;
	f = refusal ? NULL : open_flow(r, h, now);
	/* FULL asks to wait, and nobody may ever come; to whom a flow still leads GONE is said. */
	if (!f && !refusal && !env_any_ep(n))
		return ESP_C_drop_nobody;
	if (!f) {
		o = reply(r, ESP_BUCKET_HELLO, now);
		if (o) {
			esp_hello_reject(o, r, from, le64_to_cpu(h->cid),
					 refusal ? refusal : ESP_REJECT_FULL);
			answer(r, o);
		}
		return refusal ? ESP_C_drop_hello_order : ESP_C_drop_flow_memory;
	}
	esp_todo_init(&t, n, now);
	env_flow_lock(f);
	/*
	 * On another CPU the flow may have ended, and its OPENs with it, since the token was
	 * looked at: what was is not noted at the same moment, and counts as being under way
	 * until then.
	 */
	if (f->state == ESP_FLOW_DEAD)
		why = ESP_C_drop_state;
	else if (env_any_ending(n) || ESP_PEEK(n->token_ends) != ends)
		why = ESP_C_drop_token;
	else
		why = esp_hello_open_in(f, r->place, from, h, &t);
	if (f->state == ESP_FLOW_IDLE && !f->vouched && !esp_flow_busy(f))
		esp_flow_end(f, 0, &t); /* it was made for this OPEN */
	esp_batch_push(f);
	env_flow_unlock(f);
	esp_todo_run(f, &t);
	if ((why == ESP_C_drop_hello_elsewhere || why == ESP_C_drop_hello_stale) &&
	    (!f->vouched || f->guessed))
		esp_ask_tables(f, now);
	env_flow_put(f);
	return why;
}

/* TOKEN, ACCEPT and REJECT speak to a flow of ours by its id. */
static int answer_in(struct esp_rail *r, const struct esp_addr *from, const struct esp_in *in,
		     u64 now)
{
	const struct esp_hdr *h = esp_hdr(in);
	const struct esp_hello *q = (const struct esp_hello *)(in->h + sizeof(*h));
	struct esp_flow *f = env_flow_by_cid(r->node, le64_to_cpu(h->cid));
	struct esp_todo t;
	int why;

	if (!f)
		return ESP_C_drop_cid;
	esp_todo_init(&t, r->node, now);
	env_flow_lock(f);
	if (h->type == ESP_T_TOKEN)
		why = esp_hello_token_in(f, r->place, from, q, &t);
	else if (h->type == ESP_T_ACCEPT)
		why = esp_hello_accept_in(f, r->place, from, q, &t);
	else
		why = esp_hello_reject_in(f, r->place, from, (const struct esp_rejected *)q, &t);
	esp_batch_push(f);
	env_flow_unlock(f);
	esp_todo_run(f, &t);
	env_flow_put(f);
	return why;
}

/* It names the peer's id, which only those can know who have seen our frames. */
static int reset_in(struct esp_rail *r, u64 cid, u64 now)
{
	struct esp_node *n = r->node;
	struct esp_flow *f = NULL;
	bool found = false, ok;
	u64 looked = 0;

	env_node_lock(n);
	ok = esp_hello_allowed(n, ESP_BUCKET_SEARCH, now); /* the search is long */
	env_node_unlock(n);
	if (!ok)
		return ESP_C_drop_hello_rate;
	while ((f = env_flow_next(n, f)) != NULL) {
		struct esp_todo t;

		looked++;
		esp_todo_init(&t, n, now);
		env_flow_lock(f);
		if (f->state == ESP_FLOW_UP && f->cid_peer == cid) {
			found = true;
			esp_flow_reset(f, &t);
			esp_batch_push(f);
		}
		env_flow_unlock(f);
		esp_todo_run(f, &t);
	}
	env_node_lock(n);
	esp_hello_spend(n, ESP_BUCKET_SEARCH, looked / SEARCH_FLOWS);
	env_node_unlock(n);
	return found ? 0 : ESP_C_drop_reset;
}

static int data_in(struct esp_rail *r, const struct esp_addr *from, struct esp_in *in, u64 now)
{
	u64 cid = le64_to_cpu(esp_hdr(in)->cid);
	struct esp_flow *f = env_flow_by_cid(r->node, cid);
	int why = esp_frame_sums(in);

	if (!f) {
		if (!why)
			reset(r, from, cid, now);
		return ESP_C_drop_cid;
	}
	if (!why)
		why = esp_frame_chunks(in);
	if (!why && f->pcrc && in->total > in->hdr_len && !esp_frame_payload_ok(in))
		why = ESP_C_drop_payload_crc;
	if (!why)
		esp_data_in(f, r, from, in, now);
	env_flow_put(f);
	return why;
}

static int hellos_in(struct esp_rail *r, const struct esp_addr *from, const struct esp_in *in,
		     u64 now)
{
	const struct esp_hdr *h = esp_hdr(in);
	const struct esp_hello *q = (const struct esp_hello *)(in->h + sizeof(*h));
	int why = esp_frame_sums(in);

	if (why)
		return why;
	if (h->type == ESP_T_RESET)
		return in->hdr_len == sizeof(*h) ? reset_in(r, le64_to_cpu(h->cid), now)
						 : ESP_C_drop_hello_fields;
	if (h->type == ESP_T_REJECT) {
		const struct esp_rejected *j = (const struct esp_rejected *)q;

		if (in->hdr_len != sizeof(*h) + sizeof(*j) || j->reserved[0] || j->reserved[1] ||
		    j->reserved[2])
			return ESP_C_drop_hello_fields;
		return answer_in(r, from, in, now);
	}
	why = esp_hello_fields(in);
	if (why)
		return why;
	if (!memcmp(q->node, r->node->id, sizeof(q->node)) ||
	    !memcmp(from, &r->addr, sizeof(*from)))
		return ESP_C_drop_hello_self;
	switch (h->type) {
	case ESP_T_HELLO:
		hello_in(r, from, q, now);
		return 0;
	case ESP_T_OPEN:
		return open_in(r, from, q, now);
	default:
		return answer_in(r, from, in, now);
	}
}

void esp_frame_in(struct esp_rail *r, const struct esp_addr *from, void *frame, u32 len, u64 now)
{
	struct esp_node *n = r->node;
	struct esp_in in ESP_UNSET;
	int why;

	env_count(n, ESP_C_frames_in, 1);
	if (!r->up) {
		env_count(n, ESP_C_drop_rail_down, 1);
		return;
	}
	/* An answer would go to the whole group. */
	why = esp_source_good(from) ? esp_frame_shape(&in, frame, len) : ESP_C_drop_source;
	if (!why) {
		esp_batch_enter(n);
		why = esp_hdr(&in)->type == ESP_T_DATA ? data_in(r, from, &in, now)
						       : hellos_in(r, from, &in, now);
		esp_batch_leave(n, now);
	}
	if (why)
		env_count(n, why, 1);
}
