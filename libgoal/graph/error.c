/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Filling in a caller's error record. Called by the compiler and the text reader.
 */
#include <stdarg.h>
#include <stdio.h>

#include "graph.h"

static int error_fill(struct goal_error *e, int code, uint32_t line, uint32_t column,
		      uint64_t where, const char *fmt, va_list ap)
{
	if (!e)
		return code;
	e->code = code;
	e->line = line;
	e->column = column;
	e->where = where;
	vsnprintf(e->text, sizeof(e->text), fmt, ap);
	return code;
}

int graph_error(struct goal_error *e, int code, uint64_t where, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	error_fill(e, code, 0, 0, where, fmt, ap);
	va_end(ap);
	return code;
}

int graph_error_at(struct goal_error *e, int code, uint32_t line, uint32_t column, uint64_t where,
		   const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	error_fill(e, code, line, column, where, fmt, ap);
	va_end(ap);
	return code;
}
