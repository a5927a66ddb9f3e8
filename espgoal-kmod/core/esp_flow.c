// SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause
/*
 * The life of a flow: made when somebody has something for the other node, begun anew when the
 * other node has forgotten it, forgotten when nothing happens, dead when nothing comes back.
 */
#include "esp_int.h"

#define CLEAR_MOST 64 /* messages and receptions of a flow that has ended, at a time */

static u32 first(struct esp_node *n, u32 given)
{
	return given ? given : (u32)env_random(n);
}

/* Numbers of a new incarnation; nothing is in flight. */
static void fresh(struct esp_flow *f)
{
	u32 i;

	f->pn_first = first(f->node, f->node->p.pn_first);
	f->mid_first = first(f->node, f->node->p.mid_first);
	f->mid = f->mid_first;
	f->cid_peer = 0;
	f->nrefused = 0;
	f->gone_said = 0;
	memset(f->mid_seen, 0, sizeof(f->mid_seen));
	memset(f->mid_busy, 0, sizeof(f->mid_busy));
	f->npaths = 0;
	for (i = 0; i < ESP_PATHS; i++) {
		struct esp_path *p = &f->path[i];

		memset(p, 0, sizeof(*p));
		p->id = i;
		esp_link_init(&p->sent);
		p->pn = f->pn_first;
		p->probe_at = ESP_NEVER;
		p->loss_at = ESP_NEVER;
		p->retry_at = ESP_NEVER;
		p->ack_at = ESP_NEVER;
		p->mtu_at = ESP_NEVER;
		p->mtu = ESP_MTU_MIN;
		p->mtu_peer = ESP_MTU_MIN;
	}
}

void esp_flow_init(struct esp_flow *f, struct esp_node *n, const struct esp_peer *peer, u64 now)
{
	u32 i;

	f->node = n;
	f->peer = *peer;
	do {
		f->cid = env_random(n);
	} while (!f->cid); /* not in a table yet */
	f->seed = f->cid;
	f->state = ESP_FLOW_IDLE;
	f->hello_at = ESP_NEVER;
	f->heard = now;
	f->progress = now;
	f->used = now;
	f->ping_at = now + n->p.watch;
	f->park_at = ESP_NEVER;
	f->pull_at = ESP_NEVER;
	f->timer = ESP_NEVER;
	esp_link_init(&f->open);
	for (i = 0; i < ESP_PARK_HASH; i++)
		esp_link_init(&f->parked[i]);
	for (i = 0; i < ESP_PAUSES; i++)
		esp_link_init(&f->paused[i]);
	esp_link_init(&f->leaving);
	esp_link_init(&f->queues);
	for (i = 0; i < ESP_QUEUE_HASH; i++)
		esp_link_init(&f->allq[i]);
	esp_link_init(&f->ctl);
	esp_link_init(&f->ctls);
	esp_link_init(&f->say);
	esp_link_init(&f->rx);
	esp_link_init(&f->waits);
	esp_queue_init(&f->common);
	fresh(f);
}

void esp_flow_up(struct esp_flow *f, u32 place, const struct esp_addr *from,
		 const struct esp_hello *h, struct esp_todo *t)
{
	u32 pn = le32_to_cpu(h->pn), i;

	f->state = ESP_FLOW_UP;
	f->elsewhere &= f->guessed;
	f->doubted = 0;
	f->cid_peer = le64_to_cpu(h->cid);
	f->mid_base = le32_to_cpu(h->mid);
	f->waiting = false;
	f->pcrc = (f->node->p.features | le32_to_cpu(h->features)) & ESP_FEAT_PAYLOAD_CRC;
	f->hello_at = ESP_NEVER;
	f->heard = t->now;
	f->answered = t->now;
	f->used = t->now;
	f->progress = t->now;
	for (i = 0; i < ESP_PATHS; i++) {
		struct esp_path *p = &f->path[i];

		f->peer.addr[i] = h->addr[i];
		p->rx_top = pn - 1;
		p->rx_cum = pn;
		p->rail = esp_rail_at(f->node, i);
		p->addr = h->addr[i];
		if (i == place || p->rail)
			esp_path_used(f, i);
		if (i == place || !esp_path_ends(p))
			continue;
		p->say_mtu = true;
		esp_path_set(f, p, ESP_PATH_PROBING, t);
	}
	f->shown = *from;
	f->peer.addr[place] = *from;
	f->path[place].addr = *from;
	f->path[place].mtu_peer = le16_to_cpu(h->mtu);
	esp_path_set(f, &f->path[place], ESP_PATH_UP, t);
}

/* Records of frames in flight go; what they carried was dealt with before. */
static void drop_sent(struct esp_flow *f)
{
	u32 i, k;

	for (i = 0; i < ESP_PATHS; i++) {
		struct esp_path *p = &f->path[i];

		while (esp_linked(&p->sent)) {
			struct esp_sent *s = esp_entry(p->sent.next, struct esp_sent, link), *more;

			esp_unlink(&s->link);
			for (more = s; more; more = more->more)
				for (k = 0; k < more->n; k++)
					esp_item_drop(f, &more->item[k]);
			esp_sent_landed(f, s);
		}
	}
}

static void drop_ctl_items(struct esp_flow *f, struct esp_ctl *c)
{
	while (esp_linked(&c->items))
		esp_item_drop(f, esp_entry(c->items.next, struct esp_item, of));
}

/* What was to be told is not for whoever comes now; the peer sends again, and asks again. */
void esp_flow_unsay(struct esp_flow *f, struct esp_todo *t)
{
	while (esp_linked(&f->ctls)) {
		struct esp_ctl *c = esp_entry(f->ctls.next, struct esp_ctl, all);

		drop_ctl_items(f, c);
		esp_unlink(&c->link);
		esp_unlink(&c->all);
		esp_append(&t->ctls, &c->link);
	}
	f->ngone = 0;
}

static bool something_to_tell(const struct esp_flow *f)
{
	return esp_linked(&f->ctls) || f->ngone;
}

/* Frames to the old id find nobody any more. */
void esp_flow_rename(struct esp_flow *f)
{
	u64 cid;

	do {
		cid = env_random(f->node);
	} while (!cid || env_flow_rename(f, cid));
}

void esp_flow_renew(struct esp_flow *f, struct esp_todo *t)
{
	struct esp_link *l;

	esp_queues_renew(f, t);
	for (l = f->ctls.next; l != &f->ctls; l = l->next) {
		struct esp_ctl *c = esp_entry(l, struct esp_ctl, all);

		drop_ctl_items(f, c);
		esp_unlink(&c->link);
		esp_append(&f->ctl, &c->link);
	}
	drop_sent(f);
	esp_rx_renew(f, t);
	fresh(f);
	esp_flow_rename(f);
	f->pause_at = 0;
	f->pauses = 0;
	f->pause_acks = false;
	t->waits = 1; /* refusals of the old incarnation are repeated by the peer in the new one */
	t->renewed = ++f->renewed;
	env_count(f->node, ESP_C_flow_renew, 1);
}

/* Whoever it was that has opened the flow, it was not the peer. */
static void forget_peer(struct esp_flow *f, struct esp_todo *t)
{
	f->stamp_peer = 0;
	f->answered = 0;
	t->new_era = true; /* or late copies of the peer's own OPEN would be believed again */
	env_endings(f->node, 1);
}

/*
 * Another table, perhaps another user's, has the peer elsewhere. Nobody has answered yet, so one
 * of them may be wrong, and it must not be the first one's messages only that get there.
 */
static void second_place(struct esp_flow *f, const struct esp_peer *peer, struct esp_todo *t)
{
	if (f->elsewhere || !esp_flow_seeks(f) ||
	    !memcmp(f->peer.addr, peer->addr, sizeof(f->peer.addr)))
		return;
	f->elsewhere = true;
	f->strangers_else = 0;
	memcpy(f->addr_else, peer->addr, sizeof(f->addr_else));
	f->progress = t->now; /* it has as much time as the first */
	f->doubted = 0;       /* nor has it been silent yet */
	env_count(f->node, ESP_C_flow_elsewhere, 1);
}

/* Of a flow that was guessed: had this table's addresses their turn? */
static bool tried(const struct esp_flow *f, const struct esp_addr *addr)
{
	return !memcmp(f->addr_first, addr, sizeof(f->addr_first)) ||
	       (f->elsewhere && !memcmp(f->addr_else, addr, sizeof(f->addr_else)));
}

void esp_flow_vouch(struct esp_flow *f, const struct esp_peer *peer, struct esp_todo *t)
{
	u32 i;

	if (f->vouched && !f->guessed)
		second_place(f, peer, t);
	if ((f->vouched && !f->guessed) || f->state == ESP_FLOW_DEAD)
		return;
	if (f->guessed && tried(f, peer->addr))
		return;
	f->vouched = true;
	f->guessed = false;
	f->led = false;
	memcpy(f->addr_table, peer->addr, sizeof(f->addr_table));
	/* Its token came back from there; acknowledgements may come from anywhere. */
	for (i = 0; i < ESP_PATHS; i++)
		if (f->state == ESP_FLOW_UP &&
		    !memcmp(&f->shown, &peer->addr[i], sizeof(peer->addr[i]))) {
			f->peer = *peer;
			return;
		}
	env_count(f->node, ESP_C_flow_disowned, 1);
	if (f->state != ESP_FLOW_IDLE)
		esp_flow_renew(f, t);
	f->peer = *peer;
	f->elsewhere = false;
	forget_peer(f, t);
	esp_hello_start(f, t);
}

void esp_flow_reset(struct esp_flow *f, struct esp_todo *t)
{
	env_count(f->node, ESP_C_flow_reset, 1);
	esp_flow_renew(f, t);
	if (f->guessed) { /* once more where the tables have it */
		f->guessed = false;
		memcpy(f->peer.addr, f->addr_first, sizeof(f->peer.addr));
		forget_peer(f, t);
	} else if (f->vouched && f->led) { /* there, and where it is now */
		f->elsewhere = true;
		memcpy(f->addr_else, f->peer.addr, sizeof(f->addr_else));
		memcpy(f->peer.addr, f->addr_table, sizeof(f->peer.addr));
	}
	/*
	 * To nobody that no rank table knows: neither the addresses are known to be right nor
	 * who is there, and the peer asks again for what it was to be told. What runs still
	 * receive from it waits for its next OPEN, or for a table to be asked.
	 */
	if (!f->vouched)
		esp_flow_unsay(f, t);
	if (!f->vouched && f->nrx)
		f->state = ESP_FLOW_IDLE;
	else if (!f->vouched)
		esp_flow_end(f, 0, t);
	else if (f->nmsgs || something_to_tell(f) || f->nrx || t->now < f->watch_until)
		esp_hello_start(f, t);
	else
		esp_flow_end(f, 0, t);
}

bool esp_flow_clear(struct esp_flow *f, struct esp_todo *t)
{
	u32 left = CLEAR_MOST;

	return esp_queues_end(f, f->ended, &left, t) || esp_rx_end_all(f, f->ended, &left, t);
}

/*
 * Everything in it ends with @status; 0: there is nothing in it. When that is much, some of it does so
 * at once, and the rest a little later: nobody finds the flow any more.
 */
void esp_flow_end(struct esp_flow *f, s32 status, struct esp_todo *t)
{
	u32 i;

	f->ended = status;
	t->rest = esp_flow_clear(f, t);
	esp_flow_unsay(f, t);
	drop_sent(f);
	for (i = 0; i < ESP_PATHS; i++)
		f->path[i].state = ESP_PATH_NONE;
	/* The stamp is forgotten with the flow, and a copy of the OPEN would be believed again. */
	if (f->stamp_peer && esp_since(t->now, f->taken) <= ESP_TOKEN_LIFE) {
		t->past_cid = f->taken_cid;
		t->past_stamp = f->stamp_peer;
		env_endings(f->node, 1);
	}
	f->state = ESP_FLOW_DEAD;
	f->timer = ESP_NEVER;
	env_timer(f, ESP_NEVER);
	t->waits = 2;
	env_flow_remove(f);
}

/*
 * Is something missing that the peer should have answered? Not an answer on a path that is only
 * being tried: the peer may be well, and have nothing to say on those that work.
 */
bool esp_flow_waits(const struct esp_flow *f)
{
	bool works = false;
	u32 i;

	if (f->state != ESP_FLOW_UP)
		return f->state == ESP_FLOW_HELLO || f->state == ESP_FLOW_OPEN;
	for (i = 0; i < f->npaths; i++) {
		if (!esp_path_usable(&f->path[i]))
			continue;
		if (f->path[i].nsent)
			return true;
		works = true;
	}
	if (esp_linked(&f->queues) || esp_news_pending(f))
		return true;
	return !works && (f->nmsgs || f->nrx);
}

/* Is there anything in it? */
bool esp_flow_busy(const struct esp_flow *f)
{
	return f->nmsgs || f->nrx || something_to_tell(f) || esp_flow_waits(f);
}

/* Does somebody wait for the peer without anything in flight that would show its death? */
static bool wants_life(const struct esp_flow *f, u64 now)
{
	return f->nmsgs || f->nrx || now < f->watch_until;
}

static void keep_alive(struct esp_flow *f, struct esp_todo *t)
{
	struct esp_path *p;

	if (t->now < f->ping_at)
		return;
	f->ping_at = t->now + f->node->p.watch;
	if (!wants_life(f, t->now) || esp_since(t->now, f->answered) < f->node->p.watch)
		return;
	p = esp_path_pick(f, false);
	if (p)
		p->say_ping = true;
}

void esp_flow_timer(struct esp_flow *f, struct esp_todo *t)
{
	struct esp_node *n = f->node;
	u32 i;

	if (f->state == ESP_FLOW_DEAD)
		return;
	/* What has just begun to wait, on another CPU, is not armed yet, and its progress is an old one. */
	if (f->waiting && esp_flow_waits(f) && esp_since(t->now, f->progress) >= n->p.death) {
		env_count(n, ESP_C_flow_dead, 1);
		t->died = f->vouched && !f->guessed; /* else it may have been somebody else */
		esp_flow_end(f, -EHOSTUNREACH, t);
		return;
	}
	if (!esp_flow_busy(f) && t->now >= f->watch_until &&
	    esp_since(t->now, esp_max(f->heard, f->used)) >= n->p.idle) {
		env_count(n, ESP_C_flow_forgotten, 1);
		esp_flow_end(f, 0, t);
		return;
	}
	esp_msg_timer(f, t);
	if (f->state != ESP_FLOW_UP) {
		if (f->state != ESP_FLOW_IDLE)
			esp_hello_timer(f, t);
		return;
	}
	for (i = 0; i < f->npaths; i++) {
		struct esp_path *p = &f->path[i];

		if (p->state == ESP_PATH_NONE)
			continue;
		if (p->state == ESP_PATH_UP) {
			esp_loss_timer(f, p, t);
			esp_mtu_timer(f, p, t->now);
		}
		esp_path_timer(f, p, t);
	}
	keep_alive(f, t);
}

static u64 next_timer(const struct esp_flow *f, bool waits)
{
	const struct esp_params *q = &f->node->p;
	u64 at = esp_min(f->park_at, f->pull_at); /* grants of an old incarnation stall, too */
	u32 i;

	if (f->state == ESP_FLOW_DEAD)
		return ESP_NEVER;
	if (waits)
		at = esp_min(at, f->progress + q->death);
	else if (!esp_flow_busy(f))
		at = esp_min(at, esp_max(esp_max(f->heard, f->used) + q->idle, f->watch_until));
	if (f->state != ESP_FLOW_UP)
		return esp_min(at, f->hello_at);
	for (i = 0; i < f->npaths; i++) {
		const struct esp_path *p = &f->path[i];

		if (p->state == ESP_PATH_NONE)
			continue;
		if (p->state == ESP_PATH_UP)
			at = esp_min(at, esp_min(p->mtu_at, esp_min(p->probe_at, p->loss_at)));
		at = esp_min(at, p->retry_at);
		if (p->rx_unacked)
			at = esp_min(at,
				     f->pause_acks ? esp_max(p->ack_at, f->pause_at) : p->ack_at);
	}
	if (f->pause_at)
		at = esp_min(at, f->pause_at);
	if (f->nmsgs || f->nrx || f->ping_at < f->watch_until)
		at = esp_min(at, f->ping_at);
	return at;
}

u64 esp_next_timer(const struct esp_flow *f)
{
	return next_timer(f, esp_flow_waits(f));
}

/* After everything else that was done to it. */
void esp_flow_arm(struct esp_flow *f, u64 now)
{
	bool waits;
	u64 at;

	if (f->state == ESP_FLOW_DEAD)
		return;
	if (unlikely(f->timer < now)) {
		esp_flow_late(f, now);
		f->timer = now;
	}
	waits = esp_flow_waits(f);
	if (waits && !f->waiting)
		f->progress = now;
	f->waiting = waits;
	if (esp_flow_busy(f))
		f->used = now;
	at = esp_max(next_timer(f, waits), now);
	if (at == f->timer)
		return;
	f->timer = at;
	env_timer(f, at);
}
