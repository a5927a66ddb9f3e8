/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The labels of the rank that is being read. Called by read.c.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

#include "text.h"

void text_labels_init(struct text_labels *t)
{
	memset(t, 0, sizeof(*t));
	if (getrandom(t->key, sizeof(t->key), GRND_NONBLOCK) != (ssize_t)sizeof(t->key)) {
		/* Early in boot there is no entropy yet; an address and the time must do. */
		t->key[0] = (uintptr_t)t * 0x9e3779b97f4a7c15u;
		t->key[1] = (uint64_t)clock() ^ (uint64_t)time(NULL) << 32;
	}
}

void text_labels_clear(struct text_labels *t)
{
	free(t->slot);
	t->slot = NULL;
	t->slots = 0;
	t->used = 0;
}

static uint64_t rotate(uint64_t x, int bits)
{
	return x << bits | x >> (64 - bits);
}

static void sip_round(uint64_t v[4])
{
	v[0] += v[1];
	v[2] += v[3];
	v[1] = rotate(v[1], 13) ^ v[0];
	v[3] = rotate(v[3], 16) ^ v[2];
	v[0] = rotate(v[0], 32);
	v[2] += v[1];
	v[0] += v[3];
	v[1] = rotate(v[1], 17) ^ v[2];
	v[3] = rotate(v[3], 21) ^ v[0];
	v[2] = rotate(v[2], 32);
}

/* SipHash-1-3 (Aumasson, Bernstein 2012). */
static uint32_t hash(const struct text_labels *t, const char *name, size_t bytes)
{
	uint64_t v[4] = {
		t->key[0] ^ 0x736f6d6570736575u,
		t->key[1] ^ 0x646f72616e646f6du,
		t->key[0] ^ 0x6c7967656e657261u,
		t->key[1] ^ 0x7465646279746573u,
	};
	uint64_t word;
	size_t left;

	for (left = bytes; left >= 8; left -= 8, name += 8) {
		memcpy(&word, name, 8);
		v[3] ^= word;
		sip_round(v);
		v[0] ^= word;
	}
	word = 0;
	memcpy(&word, name, left);
	word |= (uint64_t)bytes << 56;
	v[3] ^= word;
	sip_round(v);
	v[0] ^= word;
	v[2] ^= 0xff;
	sip_round(v);
	sip_round(v);
	sip_round(v);
	return (uint32_t)(v[0] ^ v[1] ^ v[2] ^ v[3]);
}

/* The slot of @name, or the free one where it belongs. */
static uint32_t probe(const struct text_labels *t, const struct goal_graph *g, const char *name,
		      size_t bytes)
{
	uint32_t i = hash(t, name, bytes) & (t->slots - 1);

	for (; t->slot[i]; i = (i + 1) & (t->slots - 1)) {
		const char *label = graph_label(g, t->slot[i] - 1);

		if (!strncmp(label, name, bytes) && label[bytes] == '\0')
			break;
	}
	return i;
}

int64_t text_labels_find(const struct text_labels *t, const struct goal_graph *g,
			 const struct text_word *name)
{
	if (!t->slots)
		return -1;
	return (int64_t)t->slot[probe(t, g, name->start, name->bytes)] - 1;
}

static int grow(struct text_labels *t, const struct goal_graph *g)
{
	struct text_labels bigger = *t;
	uint32_t i;

	bigger.slots = t->slots ? t->slots * 2 : 32;
	bigger.slot = calloc(bigger.slots, sizeof(*bigger.slot));
	if (!bigger.slot)
		return -ENOMEM;
	for (i = 0; i < t->slots; i++) {
		const char *label;

		if (!t->slot[i])
			continue;
		label = graph_label(g, t->slot[i] - 1);
		bigger.slot[probe(&bigger, g, label, strlen(label))] = t->slot[i];
	}
	free(t->slot);
	*t = bigger;
	return 0;
}

int text_labels_add(struct text_labels *t, struct goal_graph *g, uint32_t op,
		    const struct text_word *name)
{
	int err;

	/* At most half full: probes stay short. */
	if (t->used >= t->slots / 2) {
		err = grow(t, g);
		if (err)
			return err;
	}
	if (name->bytes >= UINT32_MAX)
		return -E2BIG;
	err = graph_reserve((void **)&g->labels, &g->labels_room, g->labels_bytes, name->bytes + 1,
			    UINT32_MAX, 1);
	if (err)
		return err;
	t->slot[probe(t, g, name->start, name->bytes)] = op + 1;
	t->used++;
	memcpy(g->labels + g->labels_bytes, name->start, name->bytes);
	g->labels[g->labels_bytes + name->bytes] = '\0';
	g->attr[op].label = g->labels_bytes + 1;
	g->labels_bytes += name->bytes + 1;
	return 0;
}
