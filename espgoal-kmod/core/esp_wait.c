// SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause
/*
 * What waits at a node for something that is not here yet: refused messages for their run or
 * their receive, aborts for their group. One record per flow and run, or per flow and group for
 * all runs that are not here yet, however many messages it stands for; a bounded number per
 * flow. Everything here is under the node's lock, but for the GONEs of a flow, which are bounded
 * for the same reason: the peer chooses how many there are. They are in the flow itself, since a
 * node says them when its last endpoint has gone, and with it all memory that endpoints bring.
 */
#include "esp_int.h"

static struct esp_link *head(struct esp_node *n, const struct esp_key *k)
{
	return &n->wait[esp_wait_head(k)];
}

void esp_ctl_init(struct esp_ctl *c)
{
	void *account = c->account;

	memset(c, 0, sizeof(*c));
	c->account = account;
	esp_link_init(&c->link);
	esp_link_init(&c->all);
	esp_link_init(&c->wait);
	esp_link_init(&c->waits);
	esp_link_init(&c->items);
}

struct esp_ctl *esp_wait_next(struct esp_node *n, struct esp_ctl *prev, const struct esp_key *k,
			      u8 kind)
{
	struct esp_link *h = head(n, k), *l = prev ? prev->wait.next : h->next;

	for (; l != h; l = l->next) {
		struct esp_ctl *c = esp_entry(l, struct esp_ctl, wait);

		if (c->kind == kind && esp_same_run(&c->key, k))
			return c;
	}
	return NULL;
}

bool esp_wait_any(struct esp_node *n, const struct esp_key *k)
{
	const struct esp_link *h = head(n, k);

	return ESP_PEEK(h->next) != h;
}

struct esp_ctl *esp_wait_find(struct esp_node *n, const struct esp_flow *f, const struct esp_key *k,
			      u8 kind)
{
	struct esp_ctl *c = NULL;

	do {
		c = esp_wait_next(n, c, k, kind);
	} while (c && c->flow != f);
	return c;
}

void esp_wait_insert(struct esp_node *n, struct esp_flow *f, struct esp_ctl *c,
		     const struct esp_key *k, u8 kind)
{
	c->kind = kind;
	c->flow = f;
	c->key = *k;
	esp_append(head(n, k), &c->wait);
	esp_append(&f->waits, &c->waits);
	f->nwaits++;
	n->nwaits++;
}

void esp_wait_remove(struct esp_ctl *c)
{
	esp_unlink(&c->wait);
	esp_unlink(&c->waits);
	c->flow->nwaits--;
	c->flow->node->nwaits--;
}

/* Who asks again is answered again; what is still to be said, or under way, is said once. */
bool esp_gone_add(struct esp_flow *f, u64 cookie)
{
	u32 i;

	for (i = 0; i < f->ngone; i++)
		if (f->gone[i] == cookie)
			return false;
	/* Strangers are many, and none of them waits for more than one. */
	if (f->ngone == (f->vouched ? ESP_GONES : 1))
		return false;
	f->gone_said &= ~(1u << f->ngone);
	f->gone[f->ngone++] = cookie;
	return true;
}

/* The place of one that is to be said; ngone: there is none. */
u32 esp_gone_next(const struct esp_flow *f)
{
	u32 i;

	for (i = 0; i < f->ngone && f->gone_said >> i & 1; i++)
		;
	return i;
}

static u32 place_of(const struct esp_flow *f, u64 cookie)
{
	u32 i;

	for (i = 0; i < f->ngone && f->gone[i] != cookie; i++)
		;
	return i;
}

/* The frame that said it was lost. */
void esp_gone_again(struct esp_flow *f, u64 cookie)
{
	f->gone_said &= ~(1u << place_of(f, cookie));
}

/* The peer has heard it. */
void esp_gone_over(struct esp_flow *f, u64 cookie)
{
	u32 i = place_of(f, cookie), last;

	if (i == f->ngone)
		return; /* what was to be said is not any more */
	last = --f->ngone;
	f->gone[i] = f->gone[last];
	f->gone_said = (f->gone_said & ~(1u << i)) | (f->gone_said >> last & 1) << i;
}
