// SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause
/*
 * How two nodes come to a flow: HELLO, TOKEN, OPEN, and ACCEPT as the responder's first word. The
 * responder keeps nothing until its token has come back, and never answers an unverified frame
 * with a longer one. A stamp that grows with each attempt keeps a late OPEN of an earlier
 * incarnation from ending a later one.
 *
 * Names of nodes are what rank tables have and strangers do not: before both sides have shown that
 * they know the responder's, none is said. And who knows both may still not take the other's
 * place: a flow stays with the addresses it has while something answers there.
 */
#include "esp_int.h"
#include "esp_sip.h"

#define OPEN_TRIES 8 /* then a fresh attempt; the next one waits twice as long */
#define ASIDE      4 /* every so many OPENs, HELLO on another path as well */
#define PAUSE_MAX  6 /* doublings */

static u8 byte_order(void)
{
	const u16 one = 1;

	return *(const u8 *)&one ? ESP_ORDER_LITTLE : ESP_ORDER_BIG;
}

/* Payload means the same on both sides. */
bool esp_hello_alike(const struct esp_hello *h)
{
	return h->order == byte_order() && h->word == sizeof(void *);
}

static const struct esp_hello *hello_of(const struct esp_in *in)
{
	return (const struct esp_hello *)(in->h + sizeof(struct esp_hdr));
}

static bool all_zero(const void *at, u32 len)
{
	const u8 *p = at;

	while (len && !*p) {
		p++;
		len--;
	}
	return !len;
}

/* None, or one that is some single interface's, and nothing else in it. */
bool esp_addr_good(const struct esp_addr *a)
{
	static const u8 bytes[] = {
		[ESP_CARRIER_ETHER] = 6, [ESP_CARRIER_UDP4] = 4, [ESP_CARRIER_UDP6] = 16
	};
	u32 n;

	if (a->carrier > ESP_CARRIER_UDP6 || a->reserved)
		return false;
	n = bytes[a->carrier];
	if (!all_zero(a->addr + n, sizeof(a->addr) - n))
		return false;
	switch (a->carrier) {
	case ESP_CARRIER_NONE:
		return !a->port;
	case ESP_CARRIER_ETHER:
		return !a->port && !(a->addr[0] & 1) && !all_zero(a->addr, n);
	case ESP_CARRIER_UDP4: /* nor multicast, reserved, or to all */
		return a->addr[0] < 224 && !all_zero(a->addr, n);
	default:
		return a->addr[0] != 0xff && !all_zero(a->addr, n);
	}
}

/* What every hello must fulfil, whoever sent it. */
int esp_hello_fields(const struct esp_in *in)
{
	const struct esp_hello *h = hello_of(in);
	u8 type = esp_hdr(in)->type;
	u32 i;

	if (in->hdr_len != sizeof(struct esp_hdr) + sizeof(*h))
		return ESP_C_drop_hello_fields;
	if ((type == ESP_T_HELLO || type == ESP_T_OPEN) && esp_hdr(in)->cid)
		return ESP_C_drop_hello_fields;
	/* They could never be given a meaning if anything passed. */
	if ((type == ESP_T_HELLO || type == ESP_T_TOKEN) && (h->pn || h->mid))
		return ESP_C_drop_hello_fields;
	if (type == ESP_T_HELLO && !all_zero(h->token, sizeof(h->token)))
		return ESP_C_drop_hello_fields;
	if (h->reserved[0] || h->reserved[1] || h->reserved[2] || !h->cid || !h->stamp ||
	    !h->version)
		return ESP_C_drop_hello_fields;
	if (le16_to_cpu(h->mtu) < ESP_MTU_MIN || le16_to_cpu(h->mtu) > ESP_MTU_MAX)
		return ESP_C_drop_hello_fields;
	if (le32_to_cpu(h->features) & ~ESP_FEAT_KNOWN)
		return ESP_C_drop_hello_fields;
	for (i = 0; i < ESP_PATHS; i++)
		if (!esp_addr_good(&h->addr[i]))
			return ESP_C_drop_hello_fields;
	return 0;
}

static void fill(struct esp_node *n, struct esp_hello *h, const struct esp_rail *r)
{
	u32 i;

	memset(h, 0, sizeof(*h));
	memcpy(h->node, n->id, sizeof(h->node));
	h->features = cpu_to_le32(n->p.features);
	h->order = byte_order();
	h->word = sizeof(void *);
	h->mtu = cpu_to_le16(r->mtu);
	h->version = ESP_VERSION;
	for (i = 0; i < ESP_PATHS; i++) {
		const struct esp_rail *other = esp_rail_at(n, i);

		if (other)
			h->addr[i] = other->addr;
	}
}

static struct esp_hello *begin(struct esp_out *o, struct esp_rail *r, const struct esp_addr *to,
			       u8 type, u64 cid)
{
	struct esp_hello *h;

	o->rail = r;
	o->to = *to;
	esp_out_begin(o, type, cid);
	h = (struct esp_hello *)(o->hdr + o->hdr_len);
	fill(r->node, h, r);
	o->hdr_len += sizeof(*h);
	o->total_len += sizeof(*h);
	esp_out_end(o);
	env_count(r->node, ESP_C_hellos_out, 1);
	return h;
}

/*
 * HELLO's names both ends; TOKEN's only the responder's, since the initiator's may just be
 * changing.
 */
void esp_hello_hash(const u8 name[16], u8 type, const struct esp_addr *from,
		    const struct esp_addr *to, const struct esp_hello *h, u8 hash[16])
{
	struct {
		u8 half, type;
		__le64 cid, stamp;
		struct esp_addr to, from;
	} __attribute__((packed)) in;
	u32 half;

	memset(&in, 0, sizeof(in));
	in.type = type;
	in.cid = h->cid;
	in.stamp = h->stamp;
	in.to = *to;
	if (type == ESP_T_HELLO)
		in.from = *from;
	for (half = 0; half < 2; half++) {
		__le64 v;

		in.half = half;
		v = cpu_to_le64(esp_sip(name, &in, sizeof(in)));
		memcpy(hash + 8 * half, &v, 8);
	}
}

/* In constant time. */
bool esp_hello_same(const u8 a[16], const u8 b[16])
{
	u8 differs = 0;
	u32 i;

	for (i = 0; i < 16; i++)
		differs |= a[i] ^ b[i];
	return !differs;
}

/* The token for a hello from @from that came in at @to. */
void esp_hello_token(struct esp_node *n, u64 key, const struct esp_addr *from,
		     const struct esp_addr *to, const struct esp_hello *h, u8 token[16])
{
	struct {
		struct esp_addr from, to;
		__le64 cid, stamp;
		__le32 era;
		u8 half;
	} __attribute__((packed)) in;
	u32 half;

	memset(&in, 0, sizeof(in));
	in.from = *from;
	in.to = *to;
	in.cid = h->cid;
	in.stamp = h->stamp;
	in.era = cpu_to_le32(n->token_era);
	for (half = 0; half < 2; half++) {
		__le64 v;

		in.half = half;
		v = cpu_to_le64(env_prf(n, key, &in, sizeof(in)));
		memcpy(token + 8 * half, &v, 8);
	}
}

/*
 * The flow that this OPEN has made ended so soon that a copy of it could make one again, under
 * an id that its sender may still use. More than can be remembered at a time: all tokens go.
 */
void esp_hello_past(struct esp_node *n, u64 cid, u64 stamp, u64 now)
{
	u32 i;

	for (i = 0; i < ESP_PASTS; i++) {
		struct esp_past *p = &n->past[i];

		if (p->at && esp_since(now, p->at) <= ESP_TOKEN_LIFE)
			continue;
		p->cid = cid;
		p->stamp = stamp;
		p->at = now;
		return;
	}
	n->token_era++;
	memset(n->past, 0, sizeof(n->past));
}

bool esp_hello_is_past(const struct esp_node *n, const struct esp_hello *h)
{
	u32 i;

	for (i = 0; i < ESP_PASTS; i++)
		if (n->past[i].at && n->past[i].cid == le64_to_cpu(h->cid) &&
		    n->past[i].stamp == le64_to_cpu(h->stamp))
			return true;
	return false;
}

/*
 * TOKEN, which keeps nothing here, and says no name; nor where else we are, to who does not know
 * it.
 */
void esp_hello_answer(struct esp_out *o, struct esp_rail *r, const struct esp_addr *to,
		      const struct esp_hello *q, const u8 token[16])
{
	struct esp_hello *h = begin(o, r, to, ESP_T_TOKEN, le64_to_cpu(q->cid));

	h->cid = q->cid;
	h->stamp = q->stamp;
	esp_hello_hash(r->node->id, ESP_T_TOKEN, to, &r->addr, q, h->node);
	memcpy(h->token, token, sizeof(h->token));
	if (all_zero(token, sizeof(h->token)))
		memset(h->addr, 0, sizeof(h->addr));
}

void esp_hello_reject(struct esp_out *o, struct esp_rail *r, const struct esp_addr *to, u64 cid,
		      u8 reason)
{
	struct esp_rejected *j;

	o->rail = r;
	o->to = *to;
	esp_out_begin(o, ESP_T_REJECT, cid);
	j = (struct esp_rejected *)(o->hdr + o->hdr_len);
	memset(j, 0, sizeof(*j));
	j->reason = reason;
	o->hdr_len += sizeof(*j);
	o->total_len += sizeof(*j);
	esp_out_end(o);
}

/* A token bucket: params.hello_rate a second, and as many at once. */
static struct esp_bucket *filled(struct esp_node *n, enum esp_bucket_kind kind, u64 now)
{
	u64 most = esp_max(n->p.hello_rate, 1), pause = n->hello_pause;
	struct esp_bucket *b = &n->bucket[kind];

	if (esp_since(now, b->filled) >= most * pause)
		b->left = most; /* and not step by step */
	while (b->left < most && esp_since(now, b->filled) >= pause) {
		b->filled += pause;
		b->left++;
	}
	if (b->left >= most) {
		b->left = most;
		b->filled = now;
	}
	return b;
}

bool esp_hello_allowed(struct esp_node *n, enum esp_bucket_kind kind, u64 now)
{
	struct esp_bucket *b = filled(n, kind, now);

	if (!b->left)
		return false;
	b->left--;
	return true;
}

/* What was allowed has cost so much more: what is not there is taken from what comes next. */
void esp_hello_spend(struct esp_node *n, enum esp_bucket_kind kind, u64 more)
{
	struct esp_bucket *b = &n->bucket[kind];

	if (b->left < more) {
		b->filled += (more - b->left) * n->hello_pause;
		more = b->left;
	}
	b->left -= more;
}

static void send(struct esp_flow *f, u32 place, const struct esp_addr *to, u8 type, u64 cid,
		 const u8 *token, struct esp_todo *t)
{
	struct esp_rail *r = place < ESP_PATHS ? esp_rail_at(f->node, place) : NULL;
	struct esp_out *o = r ? env_out_get(r) : NULL;
	struct esp_hello *h;

	if (!o) {
		env_count(f->node, ESP_C_no_out, 1);
		return; /* the timer tries again */
	}
	h = begin(o, r, to, type, cid);
	h->cid = cpu_to_le64(f->cid);
	h->stamp = cpu_to_le64(type == ESP_T_ACCEPT ? f->stamp_peer : f->stamp);
	if (token)
		memcpy(h->token, token, sizeof(h->token));
	if (type == ESP_T_HELLO) {
		esp_hello_hash(f->peer.node, type, &r->addr, &o->to, h, h->node);
	} else {
		h->pn = cpu_to_le32(f->pn_first);
		h->mid = cpu_to_le32(f->mid_first);
	}
	env_out(r, o);
	t->kick |= 1u << place;
}

/* HELLO or OPEN. */
static void call(struct esp_flow *f, u32 place, u8 type, struct esp_todo *t)
{
	send(f, place, &f->peer.addr[place], type, 0, type == ESP_T_OPEN ? f->token : NULL, t);
}

/* The next place where the peer may be reached, from @place on; ESP_PATHS: none. */
static u32 next_place(const struct esp_flow *f, u32 place)
{
	u32 i;

	for (i = 0; i < ESP_PATHS; i++, place++) {
		const struct esp_rail *r;

		place %= ESP_PATHS;
		r = esp_rail_at(f->node, place);
		if (!(f->strangers & 1u << place) && r &&
		    f->peer.addr[place].carrier == r->addr.carrier)
			return place;
	}
	return ESP_PATHS;
}

/* To where the second table has the peer: those addresses are the ones to be asked now. */
static void change_places(struct esp_flow *f)
{
	u8 strangers = f->strangers;
	u32 i;

	for (i = 0; i < ESP_PATHS; i++) {
		struct esp_addr a = f->peer.addr[i];

		f->peer.addr[i] = f->addr_else[i];
		f->addr_else[i] = a;
	}
	f->strangers = f->strangers_else;
	f->strangers_else = strangers;
	f->hello_path = 0;
}

/* The next place to say HELLO to. Of two tables one has its turn, then the other. */
static u32 hello_place(struct esp_flow *f)
{
	u32 place = next_place(f, f->hello_path);

	if (!f->elsewhere || (place != ESP_PATHS && place >= f->hello_path))
		return place;
	change_places(f);
	place = next_place(f, 0);
	if (place != ESP_PATHS)
		return place;
	change_places(f);
	return next_place(f, 0);
}

/* With HELLO again. The peer may have taken an OPEN, and send to the id that was in it. */
static void new_attempt(struct esp_flow *f)
{
	f->state = ESP_FLOW_HELLO;
	esp_flow_rename(f);
	f->stamp++;
	f->hello_path++;
	f->hello_tries = 0;
}

static void again(struct esp_flow *f, struct esp_todo *t)
{
	u32 place;

	if (f->state == ESP_FLOW_OPEN && f->hello_tries >= OPEN_TRIES << f->hello_rounds) {
		new_attempt(f);
		if (f->hello_rounds < 4)
			f->hello_rounds++; /* perhaps the answer was on its way */
	}
	place = f->state == ESP_FLOW_OPEN ? next_place(f, f->hello_path) : hello_place(f);
	f->hello_at = t->now + (f->node->p.hello_retry << esp_min(f->hello_tries, PAUSE_MAX));
	if (f->hello_tries < 255)
		f->hello_tries++;
	if (place == ESP_PATHS)
		return; /* no rail now; until one comes, or the peer counts as dead */
	if (f->state == ESP_FLOW_OPEN) {
		call(f, place, ESP_T_OPEN, t);
		/* The path may have failed, or the peer have lost what made the token. */
		if (f->hello_tries % ASIDE == 0)
			call(f, next_place(f, place + f->hello_tries / ASIDE), ESP_T_HELLO, t);
		return;
	}
	call(f, place, ESP_T_HELLO, t);
	f->hello_path = place + 1; /* the answer says which one works */
}

void esp_hello_start(struct esp_flow *f, struct esp_todo *t)
{
	f->state = ESP_FLOW_HELLO;
	f->stamp = esp_max(f->stamp + 1, t->now);
	f->hello_tries = 0;
	f->hello_rounds = 0;
	f->hello_path = 0;
	f->strangers = 0;
	f->strangers_else = 0;
	f->progress = t->now;
	env_count(f->node, ESP_C_flow_idle_hello, 1);
	again(f, t);
}

void esp_hello_timer(struct esp_flow *f, struct esp_todo *t)
{
	if (t->now < f->hello_at)
		return;
	env_count(f->node, ESP_C_hello_retry, 1);
	again(f, t);
}

/* The peer is not who we look for, or cannot talk to us: it will not come. */
static void hopeless(struct esp_flow *f, s32 status, struct esp_todo *t)
{
	t->died = f->vouched; /* else it may have been somebody else */
	env_count(f->node, ESP_C_flow_dead, 1);
	esp_flow_end(f, status, t);
}

static bool from_there(const struct esp_flow *f, u32 place, const struct esp_addr *from)
{
	return !memcmp(&f->peer.addr[place], from, sizeof(*from));
}

/* The same while both tables' addresses are asked: the one it comes from is the one that counts. */
static bool from_asked(struct esp_flow *f, u32 place, const struct esp_addr *from)
{
	if (from_there(f, place, from))
		return true;
	if (f->state != ESP_FLOW_HELLO || !f->elsewhere ||
	    memcmp(&f->addr_else[place], from, sizeof(*from)))
		return false;
	change_places(f);
	return true;
}

/* Somebody else is at that address. The others may be right; else the peer would have answered. */
static void not_there(struct esp_flow *f, u32 place, struct esp_todo *t)
{
	bool here = place == f->hello_path;

	if (f->strangers & 1u << place)
		return; /* what he said to the HELLO before */
	f->strangers |= 1u << place;
	if (next_place(f, 0) == ESP_PATHS && f->elsewhere)
		change_places(f);
	if (next_place(f, 0) == ESP_PATHS) {
		hopeless(f, -EHOSTUNREACH, t);
		return;
	}
	if (f->state == ESP_FLOW_OPEN) {
		if (!here)
			return;
		new_attempt(f);
	}
	again(f, t);
}

int esp_hello_token_in(struct esp_flow *f, u32 place, const struct esp_addr *from,
		       const struct esp_hello *h, struct esp_todo *t)
{
	u8 hash[16];

	if (f->state != ESP_FLOW_HELLO && f->state != ESP_FLOW_OPEN)
		return ESP_C_drop_hello_state;
	if (le64_to_cpu(h->stamp) != f->stamp || le64_to_cpu(h->cid) != f->cid ||
	    !from_asked(f, place, from))
		return ESP_C_drop_hello_echo;
	esp_hello_hash(f->peer.node, ESP_T_TOKEN, NULL, from, h, hash);
	if (!esp_hello_same(hash, h->node)) {
		not_there(f, place, t);
		return 0;
	}
	if (all_zero(h->token, sizeof(h->token)))
		return ESP_C_drop_hello_echo; /* an address of ours was just changing */
	f->strangers &= ~(1u << place);
	f->heard = t->now;
	if (f->state == ESP_FLOW_OPEN && !memcmp(h->token, f->token, sizeof(f->token)))
		return ESP_C_drop_hello_state; /* it lives, and has nothing new to say */
	if (!esp_hello_alike(h)) {
		hopeless(f, -EPROTO, t);
		return ESP_C_drop_hello_order;
	}
	memcpy(f->token, h->token, sizeof(f->token));
	f->hello_path = place;
	if (f->state == ESP_FLOW_HELLO) {
		f->state = ESP_FLOW_OPEN;
		f->hello_tries = 0;
		env_count(f->node, ESP_C_flow_hello_open, 1);
	}
	again(f, t);
	return 0;
}

int esp_hello_accept_in(struct esp_flow *f, u32 place, const struct esp_addr *from,
			const struct esp_hello *h, struct esp_todo *t)
{
	if (f->state != ESP_FLOW_OPEN)
		return ESP_C_drop_hello_state;
	if (memcmp(h->token, f->token, sizeof(h->token)) || le64_to_cpu(h->stamp) != f->stamp ||
	    memcmp(h->node, f->peer.node, sizeof(h->node)) || !from_there(f, place, from))
		return ESP_C_drop_hello_echo;
	env_count(f->node, ESP_C_flow_open_up, 1);
	esp_place_taken(f, from, false);
	esp_flow_up(f, place, from, h, t);
	return 0;
}

/* Its token was ours: whoever it is, he is where he says. */
int esp_hello_open_in(struct esp_flow *f, u32 place, const struct esp_addr *from,
		      const struct esp_hello *h, struct esp_todo *t)
{
	u64 stamp = le64_to_cpu(h->stamp), cid = le64_to_cpu(h->cid);
	bool back = esp_place_back(f, from);
	bool moved = f->state != ESP_FLOW_IDLE && !back && !esp_place_known(f, from);

	if (f->state == ESP_FLOW_UP && f->cid_peer == cid && f->stamp_peer == stamp) {
		send(f, place, from, ESP_T_ACCEPT, cid, h->token, t); /* ours was lost */
		return 0;
	}
	if (stamp <= f->stamp_peer && !(back && esp_place_returns(f, t)))
		return ESP_C_drop_hello_stale;
	if (moved && !esp_place_silent(f, t))
		return ESP_C_drop_hello_elsewhere;
	if (f->state == ESP_FLOW_HELLO || f->state == ESP_FLOW_OPEN) {
		if (!moved && memcmp(f->node->id, h->node, sizeof(h->node)) > 0)
			return ESP_C_drop_hello_simultaneous;
		env_count(f->node, ESP_C_flow_yield, 1);
		if (moved && f->vouched && !f->answered) {
			memcpy(f->addr_first, f->peer.addr, sizeof(f->addr_first));
			f->guessed = true;
			esp_flow_unsay(f, t);
			env_count(f->node, ESP_C_flow_guessed, 1);
		}
		if (f->state == ESP_FLOW_OPEN)
			esp_flow_rename(f); /* as for a new attempt */
	} else if (f->state == ESP_FLOW_UP) {
		env_count(f->node, ESP_C_flow_replaced, 1);
		esp_flow_renew(f, t);
	} else {
		env_count(f->node, ESP_C_flow_accept_up, 1);
	}
	esp_place_taken(f, from, moved);
	f->stamp_peer = stamp;
	f->taken = t->now;
	f->taken_cid = cid;
	esp_flow_up(f, place, from, h, t);
	send(f, place, from, ESP_T_ACCEPT, cid, h->token, t);
	return 0;
}

/* From where OPEN is being answered; it shows that somebody is there. */
int esp_hello_reject_in(struct esp_flow *f, u32 place, const struct esp_addr *from,
			const struct esp_rejected *j, struct esp_todo *t)
{
	if (f->state != ESP_FLOW_OPEN)
		return ESP_C_drop_hello_state;
	if (place != f->hello_path || !from_there(f, place, from))
		return ESP_C_drop_hello_echo;
	env_count(f->node, ESP_C_hello_rejected, 1);
	if (j->reason == ESP_REJECT_ORDER) {
		hopeless(f, -EPROTO, t);
		return 0;
	}
	f->progress = t->now;
	f->hello_at = t->now + (f->node->p.hello_retry << PAUSE_MAX);
	return 0;
}
