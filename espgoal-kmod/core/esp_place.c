// SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause
/*
 * Whose place an address is: where rank tables have the peer of a flow, where it has shown itself, and
 * when somebody is believed who says from elsewhere that he is the peer. Who knows a node's name can do
 * that, so he has to wait until nothing answers where the peer was, and has to go again when the peer
 * comes back to where the tables have it. Called for OPEN and ACCEPT (esp_hello.c), under the flow's lock.
 */
#include "esp_int.h"

static bool among(const struct esp_addr *list, const struct esp_addr *a)
{
	u32 i;

	for (i = 0; i < ESP_PATHS; i++)
		if (!memcmp(&list[i], a, sizeof(*a)))
			return true;
	return false;
}

bool esp_place_known(const struct esp_flow *f, const struct esp_addr *a)
{
	u32 i;

	for (i = 0; i < ESP_PATHS; i++)
		if (!memcmp(&f->path[i].addr, a, sizeof(*a)))
			return true;
	return among(f->peer.addr, a) || (f->elsewhere && among(f->addr_else, a)) ||
	       (f->guessed && among(f->addr_first, a));
}

/* The addresses that a table has for the peer, @a among them; NULL: no table that counts has it there. */
static const struct esp_addr *table_of(const struct esp_flow *f, const struct esp_addr *a)
{
	const struct esp_addr *list = f->addr_table;

	if (!f->vouched)
		return NULL;
	if (f->guessed)
		list = f->addr_first;
	else if (f->elsewhere && !f->answered)
		list = f->peer.addr;
	if (among(list, a))
		return list;
	/* Of two tables the one counts from whose address the first answer comes. */
	if (f->elsewhere && (f->guessed || !f->answered) && among(f->addr_else, a))
		return f->addr_else;
	return NULL;
}

bool esp_place_back(const struct esp_flow *f, const struct esp_addr *from)
{
	return f->led && table_of(f, from);
}

/*
 * Its OPEN has an old stamp, so it may be a late copy, and the peer really be elsewhere now. If it is
 * there, one comes with a token that was given from now on.
 */
bool esp_place_returns(struct esp_flow *f, struct esp_todo *t)
{
	if (f->returns)
		return true;
	f->returns = true;
	t->new_era = true;
	env_endings(f->node, 1);
	return false;
}

/*
 * Is nothing heard from where the peer was? Who says from elsewhere that he is the peer sends his OPEN
 * again until then. The time begins when the question is out, which without a record takes a while.
 */
bool esp_place_silent(struct esp_flow *f, const struct esp_todo *t)
{
	struct esp_path *p = f->state == ESP_FLOW_UP ? esp_path_pick(f, false) : NULL;

	if (f->doubted && f->heard < f->doubted && !(p && p->say_ping))
		return esp_since(t->now, f->doubted) >= f->node->p.watch;
	f->doubted = t->now;
	if (p)
		p->say_ping = true;
	return false;
}

void esp_place_taken(struct esp_flow *f, const struct esp_addr *from, bool moved)
{
	const struct esp_addr *list;

	f->returns = false;
	if (moved) {
		f->led = true;
		return;
	}
	list = table_of(f, from);
	if (!list)
		return;
	f->led = false;
	f->guessed = false;
	if (list != f->addr_table)
		memcpy(f->addr_table, list, sizeof(f->addr_table));
}
