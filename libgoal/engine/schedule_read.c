/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Schedules from elsewhere: foreign bytes become a struct goal_schedule only through the verifier.
 * This stands on the engine's side because that is where the core is; the graph half makes
 * schedules, and has none to doubt.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <internal/schedule.h>

#include "verified.h"

/* What core_error.where counts, by the rule that was broken. */
static const char *place_of(uint32_t rule)
{
	switch (rule) {
	case CORE_RULE_SIZE:
	case CORE_RULE_ALIGN:
	case CORE_RULE_MAGIC:
	case CORE_RULE_VERSION:
	case CORE_RULE_RESERVED:
	case CORE_RULE_LIMIT:
	case CORE_RULE_TOTAL:
	case CORE_RULE_PADDING:
	case CORE_RULE_RANK:
		return "byte";
	case CORE_RULE_MATCH:
		return "match entry";
	default:
		return "operation";
	}
}

int verified_error(struct goal_error *error, const struct core_error *e)
{
	if (!error)
		return e->code;
	error->code = e->code;
	error->line = 0;
	error->column = 0;
	error->where = e->where;
	snprintf(error->text, sizeof(error->text), "Not a valid schedule at %s %" PRIu64 ": %s",
		 place_of(e->rule), (uint64_t)e->where, core_rule_text(e->rule));
	return e->code;
}

static int no_memory(struct goal_error *error, size_t bytes)
{
	if (error) {
		memset(error, 0, sizeof(*error));
		error->code = -ENOMEM;
		snprintf(error->text, sizeof(error->text),
			 "There is not enough memory for a schedule of %zu bytes", bytes);
	}
	return -ENOMEM;
}

int goal_schedule_read(const void *data, size_t bytes, struct goal_schedule **schedule,
		       struct goal_error *error)
{
	const size_t hdr_bytes = sizeof(struct goal_sched_hdr);
	struct goal_schedule *s;
	struct core_sched sched;
	struct core_error e;
	int64_t tmp_bytes;
	void *tmp;
	int err;

	if (!data || !schedule || bytes < hdr_bytes) {
		e = (struct core_error){ .code = -EINVAL, .rule = CORE_RULE_SIZE };
		return verified_error(error, &e);
	}
	if (bytes > SIZE_MAX / 2)
		return no_memory(error, bytes);
	/* Copied first and then checked: the caller's bytes may change meanwhile. */
	s = malloc(offsetof(struct goal_schedule, hdr) + bytes);
	if (!s)
		return no_memory(error, bytes);
	s->bytes = bytes;
	memcpy(&s->hdr, data, hdr_bytes);
	memcpy(s->body, (const char *)data + hdr_bytes, bytes - hdr_bytes);
	tmp_bytes = core_verify_tmp(&s->hdr, bytes, &e);
	if (tmp_bytes < 0) {
		err = verified_error(error, &e);
		goto free_schedule;
	}
	tmp = malloc(tmp_bytes + 1);
	if (!tmp) {
		err = no_memory(error, bytes);
		goto free_schedule;
	}
	err = core_verify(&s->hdr, bytes, tmp, &sched, &e);
	free(tmp);
	if (err) {
		verified_error(error, &e);
		goto free_schedule;
	}
	*schedule = s;
	return 0;

free_schedule:
	free(s);
	return err;
}
