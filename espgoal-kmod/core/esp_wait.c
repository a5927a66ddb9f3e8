// SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause
/*
 * What waits at a node for something that is not here yet: refused messages for their run or
 * their receive, aborts for their group. One record per flow and run, or per flow and group for
 * all runs that are not here yet, however many messages it stands for; a bounded number per
 * flow. Everything here is under the node's lock, but for the GONEs of a flow, which are bounded
 * for the same reason: the peer chooses how many there are.
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
	/* Strangers are many, and must not take all records there are. */
	if (f->ngone == (f->vouched ? ESP_GONES : 1))
		return false;
	f->gone[f->ngone++] = cookie;
	return true;
}

void esp_gone_drop(struct esp_flow *f, const struct esp_ctl *c)
{
	u32 i;

	for (i = 0; c->kind == ESP_CTL_GONE && i < f->ngone; i++)
		if (f->gone[i] == c->key.cookie) {
			f->gone[i] = f->gone[--f->ngone];
			return;
		}
}
