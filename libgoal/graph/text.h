/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the parts of the GOAL text reader share: the scanner and the table of labels.
 */
#ifndef TEXT_H
#define TEXT_H

#include "graph.h"

/* A place in the text, as errors name it. */
struct text_place {
	const char *at;
	uint32_t line;
	uint32_t column;
};

/* A piece of the text: a word, or what stands where one should. */
struct text_word {
	const char *start;
	size_t bytes;
};

struct text_scan {
	const char *at;   /* next byte */
	const char *end;  /* behind the last one */
	const char *head; /* first byte of the line @at is in */
	uint32_t line;    /* from 1 */
};

/* scan.c */
void text_scan_init(struct text_scan *s, const char *text, size_t bytes);
struct text_place text_place(const struct text_scan *s);
/* Spaces and tabs. */
void text_skip_space(struct text_scan *s);
/*
 * All that may stand before a statement: space, line ends, comments. -EINVAL with *@open where
 * a comment begins that never ends.
 */
int text_skip_blank(struct text_scan *s, struct text_place *open);
bool text_at_end(const struct text_scan *s);
/* Take @token if it is next. */
bool text_take(struct text_scan *s, const char *token);
/* Take the end of a line, or of the text. */
bool text_take_eol(struct text_scan *s);
/* Take a name, [A-Za-z][A-Za-z0-9_]*. */
bool text_take_name(struct text_scan *s, struct text_word *name);
/* Take decimal digits: 1; 0: there are none; -ERANGE: they do not fit 64 bits (taken). */
int text_take_number(struct text_scan *s, uint64_t *number);
/* What stands at @s, in words for a message, into @buf. */
const char *text_found(const struct text_scan *s, char *buf, size_t bytes);
bool text_word_is(const struct text_word *w, const char *text);

/*
 * label.c: from labels to the operations of one graph, in constant time whatever the labels: the
 * hash is keyed, so that a text cannot be made to collide.
 */
struct text_labels {
	uint64_t key[2];
	uint32_t *slot; /* operation + 1, or 0; open addressing */
	uint32_t slots; /* a power of two, or 0 */
	uint32_t used;
};

void text_labels_init(struct text_labels *t);
/* Forget all labels and give back the memory. */
void text_labels_clear(struct text_labels *t);
/* The operation of @g that has label @name, or -1. */
int64_t text_labels_find(const struct text_labels *t, const struct goal_graph *g,
			 const struct text_word *name);
/* Give @op, which has an attribute and no label, label @name, which is new. 0, -ENOMEM, -E2BIG. */
int text_labels_add(struct text_labels *t, struct goal_graph *g, uint32_t op,
		    const struct text_word *name);

#endif /* TEXT_H */
