/* SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause */
/*
 * What the files of the protocol half share. Homes see esp.h only.
 *
 * A name ending in _locked does not exist: every function below that is given a flow runs under
 * the flow's lock, one that is given a node and says so under the node's lock, and what must wait
 * until the lock is released goes into the struct esp_todo.
 */
#ifndef ESP_INT_H
#define ESP_INT_H

#include "esp.h"
#include "esp_batch.h"

/* What an entry has to do once it has released the flow's lock. */
struct esp_todo {
	struct esp_node *n;
	u64 now;
	u32 kick;              /* rails to transmit, by place */
	struct esp_link ended; /* esp_msg.link: env_sent() */
	struct esp_link rx;    /* esp_rx.of_flow.link: receptions to be given back */
	struct esp_link ctls;  /* esp_ctl.link: to be freed */
	u8 waits;              /* what waits for it goes: 1 refusals, 2 all */
	u32 renewed;           /* ... those of incarnations before this one */
	bool died;             /* the peer is dead: its groups fail */
	bool rest;             /* the flow has ended, and not all that is in it */
	u64 past_cid,
		past_stamp; /* an OPEN not to be believed again; stamp 0: none, else waits is set */
	bool new_era;       /* no token that was given so far is good any more */
};

static inline void esp_todo_init(struct esp_todo *t, struct esp_node *n, u64 now)
{
	t->n = n;
	t->now = now;
	t->kick = 0;
	t->waits = 0;
	t->renewed = 0;
	t->died = false;
	t->rest = false;
	t->new_era = false;
	t->past_stamp = 0;
	esp_link_init(&t->ended);
	esp_link_init(&t->rx);
	esp_link_init(&t->ctls);
}

/* Keys of tokens are numbered by the upper half of the time, and the last two are good. */
#define ESP_TOKEN_LIFE (2ull << 32)

/* Serial numbers that wrap. */
static inline bool esp_before(u32 a, u32 b)
{
	return (s32)(a - b) < 0;
}

#include "esp_mid.h"
#include "esp_pn.h"

/* Without the lock that goes with it: the caller says why an old value does no harm. */
#define ESP_PEEK(x)    (*(const volatile __typeof__(x) *)&(x))
#define ESP_POKE(x, v) (*(volatile __typeof__(x) *)&(x) = (v))

/*
 * The rail of a place, or NULL. Rails come and go while entries are under way: ask once, and keep
 * the answer; it stays valid until the entry is over.
 */
static inline struct esp_rail *esp_rail_at(const struct esp_node *n, u32 place)
{
	return ESP_PEEK(n->rail[place]);
}

static inline u64 esp_min(u64 a, u64 b)
{
	return a < b ? a : b;
}

static inline u64 esp_max(u64 a, u64 b)
{
	return a > b ? a : b;
}

/*
 * The time from @then to @now, or 0. An entry takes its time before it has the lock: another CPU
 * may have noted a later one under it meanwhile.
 */
static inline u64 esp_since(u64 now, u64 then)
{
	return now > then ? now - then : 0;
}

static inline bool esp_same_key(const struct esp_key *a, const struct esp_key *b)
{
	return a->nonce == b->nonce && a->cookie == b->cookie && a->opid == b->opid &&
	       a->start == b->start && a->src == b->src && a->tag == b->tag &&
	       a->instance == b->instance;
}

/* Runs of a group have an order, in which they mostly start. */
static inline u64 esp_run_number(const struct esp_key *k)
{
	return (u64)k->opid << 32 | k->start;
}

static inline bool esp_same_run(const struct esp_key *a, const struct esp_key *b)
{
	return a->nonce == b->nonce && a->cookie == b->cookie && a->opid == b->opid &&
	       a->start == b->start;
}

/* Kinds of chunks that refuse messages, as bits. */
#define ESP_REFUSALS (1u << ESP_K_NOT_READY | 1u << ESP_K_AHEAD | 1u << ESP_K_BUSY)

/* In esp_node.wait and esp_node.kept. */
static inline u32 esp_wait_head(const struct esp_key *k)
{
	u64 x = k->nonce ^ k->cookie ^ k->opid ^ (u64)k->start << 32;

	x *= 0x9e3779b97f4a7c15ull;
	return (u32)(x >> 56);
}

/* esp_frame.c */

/* A frame being read. */
struct esp_in {
	void *frame;
	const u8 *h; /* its first hdr_len bytes */
	u32 hdr_len, total;
	u32 got;   /* bytes that were read before hdr_len was known */
	u32 kinds; /* DATA: bit k: it has chunks of kind k */
	u8 buf[ESP_HDR_MAX];
};

static inline const struct esp_hdr *esp_hdr(const struct esp_in *in)
{
	return (const struct esp_hdr *)in->h;
}

/* Both: 0, or the counter of the reason to drop it. */
int esp_frame_shape(struct esp_in *in, void *frame, u32 len);
int esp_frame_sums(const struct esp_in *in);
int esp_frame_chunks(struct esp_in *in);            /* fills in kinds */
bool esp_frame_payload_ok(const struct esp_in *in); /* which has some */

static inline void esp_key_get(struct esp_key *k, const struct esp_wire_key *w)
{
	k->nonce = le64_to_cpu(w->nonce);
	k->cookie = le64_to_cpu(w->cookie);
	k->opid = le32_to_cpu(w->opid);
	k->start = le32_to_cpu(w->start);
	k->src = le32_to_cpu(w->src);
	k->tag = le32_to_cpu(w->tag);
	k->instance = le32_to_cpu(w->instance);
}

static inline void esp_key_put(struct esp_wire_key *w, const struct esp_key *k)
{
	w->nonce = cpu_to_le64(k->nonce);
	w->cookie = cpu_to_le64(k->cookie);
	w->opid = cpu_to_le32(k->opid);
	w->start = cpu_to_le32(k->start);
	w->src = cpu_to_le32(k->src);
	w->tag = cpu_to_le32(k->tag);
	w->instance = cpu_to_le32(k->instance);
}

static inline void esp_out_begin(struct esp_out *o, u8 type, u64 cid)
{
	struct esp_hdr *h = (struct esp_hdr *)o->hdr;

	memset(h, 0, sizeof(*h));
	h->version = ESP_VERSION;
	h->type = type;
	h->cid = cpu_to_le64(cid);
	o->hdr_len = sizeof(*h);
	o->total_len = sizeof(*h);
	o->npiece = 0;
	o->pcrc = false;
}

/* Everything but the checksums. */
static inline void esp_out_end(struct esp_out *o)
{
	struct esp_hdr *h = (struct esp_hdr *)o->hdr;

	h->hdr_len = cpu_to_le16(o->hdr_len);
	h->total_len = cpu_to_le16(o->total_len);
}

static inline const struct esp_chunk *esp_chunk(const struct esp_in *in, u32 off)
{
	return (const struct esp_chunk *)(in->h + off);
}

/* Offset of the next chunk; hdr_len when there is none. They were checked. */
static inline u32 esp_chunk_next(const struct esp_in *in, u32 off)
{
	return off + le16_to_cpu(esp_chunk(in, off)->len);
}

/* Payload bytes the chunk speaks of. */
static inline u32 esp_chunk_payload(const struct esp_chunk *c)
{
	switch (c->kind) {
	case ESP_K_MSG:
		return le16_to_cpu(((const struct esp_eager *)c)->plen);
	case ESP_K_PULLED:
		return le16_to_cpu(((const struct esp_pulled *)c)->plen);
	case ESP_K_PAD:
		return le16_to_cpu(((const struct esp_pad *)c)->plen);
	default:
		return 0;
	}
}

/* esp_hello.c */
/* Without a lock. */
bool esp_addr_good(const struct esp_addr *a);

/* The same, for the source of every frame: most are of one kind. */
static inline bool esp_source_good(const struct esp_addr *a)
{
	__le64 w[2];
	u64 first, more;
	u32 rest;

	memcpy(w, a, sizeof(w));
	memcpy(&rest, a->addr + 12, sizeof(rest));
	first = le64_to_cpu(w[0]);
	more = le64_to_cpu(w[1]);
	if ((u32)first == ESP_CARRIER_ETHER && !(first >> 32 & 1) && !(more >> 16) && !rest &&
	    (first >> 32 || more))
		return true;
	return esp_addr_good(a);
}

int esp_hello_fields(const struct esp_in *in);
bool esp_hello_alike(const struct esp_hello *h);
/*
 * What only who knows the responder's @name can make, of the HELLO @h from @from to @to, or its
 * TOKEN.
 */
void esp_hello_hash(const u8 name[16], u8 type, const struct esp_addr *from,
		    const struct esp_addr *to, const struct esp_hello *h, u8 hash[16]);
bool esp_hello_same(const u8 a[16], const u8 b[16]);
void esp_hello_token(struct esp_node *n, u64 key, const struct esp_addr *from,
		     const struct esp_addr *to, const struct esp_hello *h, u8 token[16]);
void esp_hello_answer(struct esp_out *o, struct esp_rail *r, const struct esp_addr *to,
		      const struct esp_hello *h, const u8 token[16]);
void esp_hello_reject(struct esp_out *o, struct esp_rail *r, const struct esp_addr *to, u64 cid,
		      u8 reason);
/* Under the node's lock: may an unverified frame be answered? */
bool esp_hello_allowed(struct esp_node *n, enum esp_bucket_kind kind, u64 now);
void esp_hello_past(struct esp_node *n, u64 cid, u64 stamp, u64 now);
bool esp_hello_is_past(const struct esp_node *n, const struct esp_hello *h);
void esp_hello_spend(struct esp_node *n, enum esp_bucket_kind kind, u64 more);
/* Under the flow's lock; those that answer int: 0, or the reason to drop the frame. */
void esp_hello_start(struct esp_flow *f, struct esp_todo *t);
void esp_hello_timer(struct esp_flow *f, struct esp_todo *t);
int esp_hello_token_in(struct esp_flow *f, u32 place, const struct esp_addr *from,
		       const struct esp_hello *h, struct esp_todo *t);
int esp_hello_accept_in(struct esp_flow *f, u32 place, const struct esp_addr *from,
			const struct esp_hello *h, struct esp_todo *t);
int esp_hello_open_in(struct esp_flow *f, u32 place, const struct esp_addr *from,
		      const struct esp_hello *h, struct esp_todo *t);
int esp_hello_reject_in(struct esp_flow *f, u32 place, const struct esp_addr *from,
			const struct esp_rejected *j, struct esp_todo *t);

/* esp_flow.c */
void esp_flow_init(struct esp_flow *f, struct esp_node *n, const struct esp_peer *peer, u64 now);
/* Both sides agreed: @h is the peer's, on path @place. */
void esp_flow_up(struct esp_flow *f, u32 place, const struct esp_addr *from,
		 const struct esp_hello *h, struct esp_todo *t);
/* A new connection id. */
void esp_flow_rename(struct esp_flow *f);
/* The peer has forgotten the flow: nothing of it counts as sent. A new connection id. */
void esp_flow_renew(struct esp_flow *f, struct esp_todo *t);
/*
 * The peer opened the flow itself, and a rank table says where it is: if that is where it opened it
 * from, the flow is the peer's; else it begins anew, there. Or we ask for the peer, and this is one
 * more table.
 */
void esp_flow_vouch(struct esp_flow *f, const struct esp_peer *peer, struct esp_todo *t);
/* The peer said RESET. */
void esp_flow_reset(struct esp_flow *f, struct esp_todo *t);
void esp_flow_end(struct esp_flow *f, s32 status, struct esp_todo *t);
/* Of one that has ended: some of what is left in it. True: there is more. */
bool esp_flow_clear(struct esp_flow *f, struct esp_todo *t);
void esp_flow_unsay(struct esp_flow *f, struct esp_todo *t);
bool esp_flow_waits(const struct esp_flow *f);

/* Was the peer looked for at these addresses, or has it answered anywhere? */
static inline bool esp_flow_sought(const struct esp_flow *f, const struct esp_addr *addr)
{
	return f->answered || !memcmp(addr, f->peer.addr, sizeof(f->peer.addr)) ||
	       (f->elsewhere && !memcmp(addr, f->addr_else, sizeof(f->addr_else)));
}

/* It asks for the peer, and was never open. */
static inline bool esp_flow_seeks(const struct esp_flow *f)
{
	return (f->state == ESP_FLOW_HELLO || f->state == ESP_FLOW_OPEN) && !f->answered;
}

/* By so much its timer is late: this node stood still, and the peer is not to blame for that. */
static inline void esp_flow_late(struct esp_flow *f, u64 now)
{
	f->progress = esp_min(f->progress + esp_since(now, f->timer), now);
}

bool esp_flow_busy(const struct esp_flow *f);
void esp_flow_timer(struct esp_flow *f, struct esp_todo *t);
void esp_flow_arm(struct esp_flow *f, u64 now);

/* esp_ack.c */
void esp_pn_note(struct esp_flow *f, struct esp_path *p, u32 pn, u32 back, u8 flags, u64 now);
/* Acknowledgements of all paths are due. */
void esp_ack_now(struct esp_flow *f, u64 now);
int esp_ack_check(const struct esp_flow *f, const struct esp_ack *a);
void esp_ack_in(struct esp_flow *f, const struct esp_ack *a, struct esp_todo *t);
u32 esp_ack_len(const struct esp_path *p);
void esp_ack_put(struct esp_path *p, struct esp_ack *a, u64 now);

#include "esp_rtt.h"

/* esp_loss.c */
void esp_loss_window_init(struct esp_flow *f, struct esp_path *p);
void esp_loss_acked(struct esp_flow *f, struct esp_path *p, u32 pn, u32 bytes);
void esp_loss_detect(struct esp_flow *f, struct esp_path *p, struct esp_todo *t);
void esp_loss_timer(struct esp_flow *f, struct esp_path *p, struct esp_todo *t);
void esp_loss_all(struct esp_flow *f, struct esp_path *p, struct esp_todo *t);
void esp_loss_arm(struct esp_flow *f, struct esp_path *p);

/* esp_item.c */
struct esp_sent *esp_sent_get(struct esp_flow *f, bool spare);
/* A further item; the caller has made sure that there is room for it. */
static inline struct esp_item *esp_sent_item(struct esp_sent *s, u32 kind, u32 mid)
{
	struct esp_item *i = &s->item[s->n];

	esp_link_init(&i->of);
	i->msg = NULL;
	i->from = 0;
	i->to = 0;
	i->mid = mid;
	i->place = s->n++;
	i->kind = kind;
	i->again = false;
	s->live++;
	return i;
}

void esp_item_drop(struct esp_flow *f, struct esp_item *i);
/* What the frame carried is to be said again; the frame may still be acknowledged. */
void esp_sent_again(struct esp_flow *f, struct esp_sent *s);
/* It will not be acknowledged any more, or was. */
void esp_sent_landed(struct esp_flow *f, struct esp_sent *s);
void esp_sent_acked(struct esp_flow *f, struct esp_sent *s, struct esp_todo *t);

/* esp_msg.c */
struct esp_msg *esp_msg_find(struct esp_flow *f, u32 mid);
void esp_msg_add(struct esp_flow *f, struct esp_msg *m, u64 now);
void esp_msg_queue(struct esp_flow *f, struct esp_msg *m);
void esp_msg_unqueue(struct esp_flow *f, struct esp_msg *m);
void esp_msg_detach(struct esp_flow *f, struct esp_msg *m);
void esp_msg_lost(struct esp_flow *f, struct esp_item *i);
void esp_msg_end(struct esp_flow *f, struct esp_msg *m, s32 status, struct esp_todo *t);
void esp_msg_cancel(struct esp_flow *f, struct esp_msg *m, struct esp_todo *t);
void esp_msg_renew(struct esp_flow *f, struct esp_msg *m, struct esp_todo *t);
/* @kind: of the chunk that says so. */
void esp_msg_refused(struct esp_flow *f, u32 mid, u8 kind, struct esp_todo *t);
void esp_msg_granted(struct esp_flow *f, u32 mid, u64 upto);
void esp_msg_stopped(struct esp_flow *f, u32 mid, bool failed, struct esp_todo *t);
void esp_msg_timer(struct esp_flow *f, struct esp_todo *t);
bool esp_msg_has_id(struct esp_flow *f, struct esp_msg *m);

/* esp_queue.c */
void esp_queue_init(struct esp_queue *q);
/* The one for what @ep sends. */
struct esp_queue *esp_queue_for(struct esp_flow *f, struct esp_ep *ep);
void esp_queue_drop(struct esp_flow *f, struct esp_queue *q);
void esp_queues_renew(struct esp_flow *f, struct esp_todo *t);
/* Up to *@left messages end; true: there are more. */
bool esp_queues_end(struct esp_flow *f, s32 status, u32 *left, struct esp_todo *t);
/*
 * The endpoint goes: eager messages stay for a while if the end is clean, all others end. Up to
 * *@left of them, and of others it has to look at; true: there may be more.
 */
bool esp_queue_close(struct esp_flow *f, const struct esp_ep *ep, bool clean, u32 *left,
		     struct esp_todo *t);
/* The same in the common queue, from @at on, which is in its list or, when there was none, in no one. */
bool esp_common_close(struct esp_flow *f, struct esp_row *at, const struct esp_ep *ep, bool clean,
		      u32 *left, struct esp_todo *t);

/* esp_park.c: messages that wait for READY, and those held behind them. */
/* @ahead: because its run is not there yet. */
void esp_park(struct esp_flow *f, struct esp_msg *m, bool ahead);
void esp_unpark(struct esp_flow *f, struct esp_msg *m);
bool esp_hold_wanted(const struct esp_flow *f, const struct esp_msg *m);
void esp_hold(struct esp_flow *f, struct esp_msg *m, u64 now);
void esp_hold_timer(struct esp_flow *f, u64 now);
/* @m is taken out of its list, or was sent and has an answer. */
void esp_park_left(struct esp_flow *f, struct esp_msg *m);
void esp_hold_accepted(struct esp_flow *f, const struct esp_msg *m);
/* If f->unhold says so. */
void esp_hold_look(struct esp_flow *f);
/* For the run @k, or for all of its group up to that one. */
void esp_msg_ready(struct esp_flow *f, const struct esp_key *k, bool upto);
bool esp_msg_gone(struct esp_flow *f, u64 cookie, struct esp_todo *t);

/* esp_send.c */
bool esp_msg_idle(const struct esp_msg *m);
bool esp_news_pending(const struct esp_flow *f);
/* The rails to transmit, by place, once the lock is released. */
u32 esp_output(struct esp_flow *f, u64 now);

/* esp_mtu.c */
void esp_mtu_start(struct esp_path *p);
void esp_mtu_limit(struct esp_path *p, u64 now);
void esp_mtu_timer(struct esp_flow *f, struct esp_path *p, u64 now);
void esp_mtu_acked(struct esp_flow *f, struct esp_path *p, const struct esp_sent *s, u64 now);
void esp_mtu_lost(struct esp_flow *f, struct esp_path *p, const struct esp_sent *s, u64 now);

/* esp_rail.c */
void esp_path_set(struct esp_flow *f, struct esp_path *p, u8 state, struct esp_todo *t);
void esp_path_rail(struct esp_flow *f, u32 place, struct esp_todo *t);
void esp_path_addr(struct esp_flow *f, u32 place, const struct esp_addr *a, struct esp_todo *t);
void esp_path_pong(struct esp_flow *f, struct esp_path *p, u64 value, struct esp_todo *t);
void esp_path_timer(struct esp_flow *f, struct esp_path *p, struct esp_todo *t);
struct esp_path *esp_path_pick(struct esp_flow *f, bool window);

static inline bool esp_path_at(const struct esp_path *p, const struct esp_addr *a)
{
	return p->state != ESP_PATH_NONE && !memcmp(&p->addr, a, sizeof(*a));
}

/*
 * A frame of the peer's with a number that is good and higher than all before: where it comes
 * from is where the peer is. ADDR alone would not do: it needs a path that works, and on their
 * way an older one may overtake a newer one.
 */
static inline void esp_path_heard(struct esp_flow *f, u32 place, u32 pn,
				  const struct esp_addr *from, struct esp_todo *t)
{
	struct esp_path *p = &f->path[place];

	if (p->rail == esp_rail_at(f->node, place) && esp_before(p->rx_top, pn) &&
	    unlikely(!esp_path_at(p, from)))
		esp_path_addr(f, place, from, t);
}

/* Of the same kind: an address means nothing to another carrier. */
static inline bool esp_path_ends(const struct esp_path *p)
{
	return p->rail && p->addr.carrier == p->rail->addr.carrier;
}

static inline bool esp_path_usable(const struct esp_path *p)
{
	return p->state == ESP_PATH_UP && p->rail;
}

/* May one more number be opened? */
static inline bool esp_path_span(const struct esp_path *p)
{
	if (!esp_linked(&p->sent))
		return true;
	return p->pn - esp_entry(p->sent.next, struct esp_sent, link)->pn < ESP_PN_SPAN;
}

/* From now on there may be something to be done on path @place. */
static inline void esp_path_used(struct esp_flow *f, u32 place)
{
	if (f->npaths <= place)
		f->npaths = place + 1;
}

#include "esp_take.h"

/* esp_rx.c: receptions. */
struct esp_rx *esp_rx_new(struct esp_flow *f, enum esp_pool pool, const struct esp_key *k,
			  struct esp_ep *ep, u64 total, bool pull);
struct esp_rx *esp_rx_find(struct esp_flow *f, u32 mid);
void esp_rx_enter(struct esp_flow *f, struct esp_rx *rx, u32 mid);
void esp_rx_enter_unnamed(struct esp_flow *f, struct esp_rx *rx);
/* The next one after @prev (NULL: the first) of this key; nothing may have left in between. */
struct esp_rx *esp_rx_of(struct esp_flow *f, struct esp_rx *prev, const struct esp_key *k);
void esp_rx_leave(struct esp_flow *f, struct esp_rx *rx);
s64 esp_rx_add(struct esp_rx *rx, u64 from, u64 to);
void esp_rx_end(struct esp_flow *f, struct esp_rx *rx, s32 status, struct esp_todo *t);
void esp_rx_stop(struct esp_flow *f, struct esp_rx *rx, s32 status, struct esp_todo *t);
void esp_rx_renew(struct esp_flow *f, struct esp_todo *t);
struct esp_rx *esp_rx_adopt(struct esp_flow *f, const struct esp_key *k, u32 mid, u64 total);
/* The flow ends: up to *@left of them; true: there are more. */
bool esp_rx_end_all(struct esp_flow *f, s32 status, u32 *left, struct esp_todo *t);
/* Those for an endpoint that goes end, from @at on, as for messages. */
bool esp_rx_close(struct esp_flow *f, struct esp_row *at, const struct esp_ep *ep, u32 *left,
		  struct esp_todo *t);

/* esp_pull.c */
struct esp_granted {
	struct esp_flow *f; /* with a reference */
	u32 mid, serial;
	u64 upto;
};

/* Under the flow's lock. */
u64 esp_pull_patience(const struct esp_flow *f);
void esp_pull_size(const struct esp_flow *f, struct esp_rx *rx);
/* From here on under the node's lock. */
void esp_pull_rate(struct esp_node *n);
/* @mid, @serial: its name now. What was granted under an older one is void. */
void esp_pull_add(struct esp_node *n, struct esp_rx *rx, u32 mid, u32 serial, u64 now);
void esp_pull_arrived(struct esp_node *n, struct esp_rx *rx, u64 bytes, u64 now);
void esp_pull_remove(struct esp_node *n, struct esp_rx *rx);
void esp_pull_check(struct esp_node *n, u64 now);
u32 esp_pull_next(struct esp_node *n, struct esp_granted *g, u32 max, u64 now);

/* esp_wait.c, all under the node's lock. But the first: may anything wait for this run? */
bool esp_wait_any(struct esp_node *n, const struct esp_key *k);
struct esp_ctl *esp_wait_find(struct esp_node *n, const struct esp_flow *f, const struct esp_key *k,
			      u8 kind);
/* The next one of @kind for this run after @prev (NULL: the first), of whatever flow. */
struct esp_ctl *esp_wait_next(struct esp_node *n, struct esp_ctl *prev, const struct esp_key *k,
			      u8 kind);
void esp_wait_insert(struct esp_node *n, struct esp_flow *f, struct esp_ctl *c,
		     const struct esp_key *k, u8 kind);
void esp_wait_remove(struct esp_ctl *c);
void esp_ctl_init(struct esp_ctl *c); /* all but the account */

/*
 * Under the flow's lock, of which endpoints GONE is to be said: of @cookie, too, unless it is already, or
 * there are too many; the place of the next in esp_flow.gone, ngone if there is none; the frame that said
 * it was lost, or has come.
 */
bool esp_gone_add(struct esp_flow *f, u64 cookie);
u32 esp_gone_next(const struct esp_flow *f);
void esp_gone_again(struct esp_flow *f, u64 cookie);
void esp_gone_over(struct esp_flow *f, u64 cookie);

/*
 * esp_place.c. Is @a one of the addresses that we have of the peer? Does the peer come from where a
 * table has it, to a flow that was led elsewhere? May its OPEN be taken in spite of its stamp? Is nothing
 * heard from where the peer was? An OPEN or ACCEPT from @from is taken; @moved: from an address that was
 * not known.
 */
bool esp_place_known(const struct esp_flow *f, const struct esp_addr *a);
bool esp_place_back(const struct esp_flow *f, const struct esp_addr *from);
bool esp_place_returns(struct esp_flow *f, struct esp_todo *t);
bool esp_place_silent(struct esp_flow *f, const struct esp_todo *t);
void esp_place_taken(struct esp_flow *f, const struct esp_addr *from, bool moved);

/* esp_group.c, all under the node's lock. */
struct esp_tomb *esp_tomb_find(struct esp_member *m, u32 opid, u32 start);
struct esp_tomb *esp_tomb_add(struct esp_member *m, u32 opid, u32 start, s32 status, u32 rank,
			      u64 now);
u32 esp_tell_mask(const struct esp_member *m);
u32 esp_tell_rank(const struct esp_member *m, u32 k);
s32 esp_abort_status(u32 code);
u32 esp_abort_code(s32 status);

/* esp_table.c: the first rank of @t whose node is @node, or nranks. */
u32 esp_table_find(const struct esp_table *t, const u8 node[16]);

/* pump_esp.c, for the other files of the pump. All without a lock. */
void esp_todo_carry_out(struct esp_flow *f, struct esp_todo *t);

static inline void esp_todo_ended(struct esp_todo *t)
{
	while (esp_linked(&t->ended)) {
		struct esp_msg *m = esp_entry(t->ended.next, struct esp_msg, link);
		struct esp_flow *of = m->flow;

		esp_unlink(&m->link);
		env_sent(m, m->status);
		env_flow_put(of);
	}
}

/* Mostly it is messages that have ended, or nothing. */
static inline void esp_todo_run(struct esp_flow *f, struct esp_todo *t)
{
	if (unlikely(t->kick || t->waits || t->died || t->new_era || esp_linked(&t->rx) ||
		     esp_linked(&t->ctls)))
		esp_todo_carry_out(f, t);
	else
		esp_todo_ended(t);
}

/* The flow to a node, made if there is none; with a reference. */
struct esp_flow *esp_flow_to(struct esp_node *n, const struct esp_peer *peer, u64 now);
/* A table has the peer of @f as @peer. */
void esp_vouch(struct esp_flow *f, const struct esp_peer *peer, u64 now);
/* @c (READY or ABORT) is to be said in @f. */
void esp_say(struct esp_flow *f, struct esp_ctl *c, u64 now);

/*
 * An operation of @r is finished; when it failed, the run fails, and the home lets go of the
 * rest.
 */
static inline void esp_op_done(struct esp_run *r, u32 op, s32 status)
{
	core_op_done(r->run, op, status);
	if (status)
		env_run_cancel(r, status, r->run->sched->op[op].peer);
}

/* pump_wait.c: a refusal is about to be noted (NULL: it cannot be), and was, or was not. */
struct esp_ctl *esp_refusal_begin(struct esp_flow *f, const struct esp_key *k, u8 kind,
				  u32 renewed);
void esp_refusal_end(struct esp_flow *f, struct esp_ctl *c, bool noted, u64 now);

/*
 * pump_keep.c. By how many runs may a message be ahead of the last one that @ep has started, and
 * is one with this key to be kept? @r is that last one now.
 */
u32 esp_keep_most(const struct esp_ep *ep);
bool esp_keep_wanted(struct esp_member *m, const struct esp_key *k);
void esp_keep_ran(struct esp_run *r);
/* An eager message that is complete, to its run; it is given back if that does not want it. */
void esp_keep_give(struct esp_run *r, struct esp_rx *rx, u64 now);
/* The same, for a run that is not there; given back if it never will be. */
void esp_keep(struct esp_rx *rx, u64 now);
/* @r, which is @k, has started: what is kept for it. */
void esp_keep_run(struct esp_run *r, const struct esp_key *k, u64 now);
/* What is kept for the run @k, or for its group, is given back. */
void esp_keep_forget(struct esp_node *n, const struct esp_key *k, bool group, u64 now);

/* pump_place.c: the frame is dealt with, what it has brought goes its way, if anything is left of it. */
static inline bool esp_take_left(const struct esp_take *tk)
{
	return tk->how != ESP_TAKE_ACCEPTED || tk->wait || tk->run;
}

void esp_take_after(struct esp_flow *f, const struct esp_in *in, struct esp_take *tk, u64 now);
/* An eager message is complete in unexpected memory. */
void esp_arrived(struct esp_rx *rx, u64 now);
void esp_rx_release(struct esp_rx *rx, u64 now);
void esp_pull_go(struct esp_node *n, u64 now);
/* pump_take.c */
void esp_data_in(struct esp_flow *f, struct esp_rail *r, const struct esp_addr *from,
		 struct esp_in *in, u64 now);

/* pump_group.c */
void esp_say_gone(struct esp_flow *f, u64 cookie, u64 now);
void esp_ask_in(struct esp_flow *f, const struct esp_ask *a, u64 now);
void esp_abort_in(struct esp_flow *f, const struct esp_abort *a, u64 now);
/* The group has failed: false if that is known already. Then esp_tell_all(). */
bool esp_note_group(struct esp_member *m, s32 status, u32 rank, u64 now);
void esp_tell_all(struct esp_node *n, u64 now);
/* @r waits for the rank @src of this node. */
void esp_watch_local(struct esp_run *r, u32 src, u64 now);
/* Its refusals (1), and its early aborts (2), are forgotten. */
void esp_waits_drop(struct esp_flow *f, u8 which, u32 renewed);

/* pump_watch.c: esp_look() will see to it. */
void esp_gone_in(struct esp_flow *f, u64 cookie, u64 now);
/* The peer of @f is dead. */
void esp_peer_died(struct esp_flow *f);
/* @f has ended, and not all that is in it. */
void esp_flow_rest(struct esp_flow *f);
/* No table has spoken for the peer of @f. */
void esp_ask_tables(struct esp_flow *f, u64 now);

#endif /* ESP_INT_H */
