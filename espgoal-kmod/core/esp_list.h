/* SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause */
/*
 * Doubly linked lists for the ESP state machines, without a home's header. A link that is in no
 * list points to itself, so that taking it out twice is harmless.
 */
#ifndef ESP_LIST_H
#define ESP_LIST_H

struct esp_link {
	struct esp_link *next;
	struct esp_link *prev;
};

static inline void esp_link_init(struct esp_link *l)
{
	l->next = l;
	l->prev = l;
}

static inline bool esp_linked(const struct esp_link *l)
{
	return l->next != l;
}

static inline void esp_link_before(struct esp_link *at, struct esp_link *l)
{
	l->prev = at->prev;
	l->next = at;
	at->prev->next = l;
	at->prev = l;
}

/* To the end of the list @head. */
static inline void esp_append(struct esp_link *head, struct esp_link *l)
{
	esp_link_before(head, l);
}

static inline void esp_unlink(struct esp_link *l)
{
	l->prev->next = l->next;
	l->next->prev = l->prev;
	esp_link_init(l);
}

#define esp_entry(l, type, member) ((type *)((char *)(l)-offsetof(type, member)))

#endif /* ESP_LIST_H */
