/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Doubly linked lists whose links are members of what they hold: appending and taking out
 * never needs memory. Used by every file of the engine.
 */
#ifndef ENGINE_LIST_H
#define ENGINE_LIST_H

#include "env.h"

struct list {
	struct list *next, *prev;
};

#define list_entry(ptr, type, member) ((type *)((char *)(ptr)-offsetof(type, member)))
#define list_for(pos, head)           for (pos = (head)->next; pos != (head); pos = pos->next)
#define list_for_safe(pos, n, head) \
	for (pos = (head)->next, n = pos->next; pos != (head); pos = n, n = pos->next)

static inline void list_init(struct list *l)
{
	l->next = l;
	l->prev = l;
}

static inline bool list_empty(const struct list *l)
{
	return l->next == l;
}

static inline void list_append(struct list *head, struct list *l)
{
	l->prev = head->prev;
	l->next = head;
	head->prev->next = l;
	head->prev = l;
}

/* Afterwards @l is a list of its own, so that taking it out again does no harm. */
static inline void list_remove(struct list *l)
{
	l->prev->next = l->next;
	l->next->prev = l->prev;
	list_init(l);
}

#endif /* ENGINE_LIST_H */
