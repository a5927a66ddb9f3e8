/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The scanner of GOAL text: bytes to words, with their place. Tokens are what the simulator's
 * converter takes for them: names as long as possible where a statement starts, fixed
 * tokens elsewhere, so that "8b" needs no space. Called by read.c.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "text.h"

static bool is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_name(char c)
{
	return is_letter(c) || is_digit(c) || c == '_';
}

void text_scan_init(struct text_scan *s, const char *text, size_t bytes)
{
	s->at = text;
	s->end = text + bytes;
	s->head = text;
	s->line = 1;
}

struct text_place text_place(const struct text_scan *s)
{
	return (struct text_place){ s->at, s->line, (uint32_t)(s->at - s->head) + 1 };
}

bool text_at_end(const struct text_scan *s)
{
	return s->at == s->end;
}

void text_skip_space(struct text_scan *s)
{
	while (s->at < s->end && (*s->at == ' ' || *s->at == '\t'))
		s->at++;
}

static void next_line(struct text_scan *s)
{
	s->at++;
	s->head = s->at;
	s->line++;
}

static bool starts_with(const struct text_scan *s, const char *token, size_t bytes)
{
	return (size_t)(s->end - s->at) >= bytes && !memcmp(s->at, token, bytes);
}

static bool skip_long_comment(struct text_scan *s)
{
	for (s->at += 2; s->at < s->end;) {
		if (starts_with(s, "*/", 2)) {
			s->at += 2;
			return true;
		}
		if (*s->at == '\n')
			next_line(s);
		else
			s->at++;
	}
	return false;
}

int text_skip_blank(struct text_scan *s, struct text_place *open)
{
	while (s->at < s->end) {
		if (*s->at == ' ' || *s->at == '\t') {
			s->at++;
		} else if (*s->at == '\n') {
			next_line(s);
		} else if (starts_with(s, "\r\n", 2)) {
			s->at++;
		} else if (starts_with(s, "//", 2)) {
			const char *nl = memchr(s->at, '\n', s->end - s->at);

			s->at = nl ? nl : s->end;
		} else if (starts_with(s, "/*", 2)) {
			*open = text_place(s);
			if (!skip_long_comment(s))
				return -EINVAL;
		} else {
			break;
		}
	}
	return 0;
}

bool text_take(struct text_scan *s, const char *token)
{
	size_t bytes = strlen(token);

	if (!starts_with(s, token, bytes))
		return false;
	s->at += bytes;
	return true;
}

bool text_take_eol(struct text_scan *s)
{
	if (s->at == s->end)
		return true;
	if (starts_with(s, "\r\n", 2))
		s->at++;
	if (*s->at != '\n')
		return false;
	next_line(s);
	return true;
}

bool text_take_name(struct text_scan *s, struct text_word *name)
{
	if (s->at == s->end || !is_letter(*s->at))
		return false;
	name->start = s->at;
	while (s->at < s->end && is_name(*s->at))
		s->at++;
	name->bytes = s->at - name->start;
	return true;
}

int text_take_number(struct text_scan *s, uint64_t *number)
{
	uint64_t n = 0;
	bool fits = true;

	if (s->at == s->end || !is_digit(*s->at))
		return 0;
	for (; s->at < s->end && is_digit(*s->at); s->at++) {
		uint64_t digit = *s->at - '0';

		if (n > (UINT64_MAX - digit) / 10)
			fits = false;
		n = n * 10 + digit;
	}
	if (!fits)
		return -ERANGE;
	*number = n;
	return 1;
}

const char *text_found(const struct text_scan *s, char *buf, size_t bytes)
{
	size_t n = 0, i;

	if (s->at == s->end)
		return "the end of the text";
	if (*s->at == '\n' || starts_with(s, "\r\n", 2))
		return "the end of the line";
	if (*s->at < 0x20 || *s->at > 0x7e) {
		snprintf(buf, bytes, "byte 0x%02x", (unsigned char)*s->at);
		return buf;
	}
	/* A word, or one sign. */
	while (n < 24 && s->at + n < s->end && is_name(s->at[n]))
		n++;
	if (n == 0)
		n = 1;
	i = snprintf(buf, bytes, "\"%.*s\"", (int)n, s->at);
	return i < bytes ? buf : "something long";
}

bool text_word_is(const struct text_word *w, const char *text)
{
	return w->bytes == strlen(text) && !memcmp(w->start, text, w->bytes);
}
