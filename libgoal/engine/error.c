// SPDX-License-Identifier: BSD-3-Clause
/*
 * Fills in the caller's error record. Called wherever a function of the engine has one.
 */
#include <stdarg.h>
#include <stdio.h>

#include "host.h"

int host_error(struct goal_error *error, int code, u64 where, const char *fmt, ...)
{
	va_list ap;

	if (!error)
		return code;
	memset(error, 0, sizeof(*error));
	error->code = code;
	error->where = where;
	va_start(ap, fmt);
	vsnprintf(error->text, sizeof(error->text), fmt, ap);
	va_end(ap);
	return code;
}
