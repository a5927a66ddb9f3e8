// SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause
/*
 * Buffers of a run: from (buffer, offset) to an address and how far it is contiguous. For the
 * homes, which move the bytes; offsets have been checked against need[] by core_run_check().
 */
#include "core.h"

const struct core_binding *core_buffer(const struct core_run *r, u32 buf)
{
	return buf == GOAL_BUF_SCRATCH ? &r->scratch : &r->buf[buf];
}

void *core_segment_at(const struct core_binding *b, u64 off, u64 *run)
{
	u32 i;

	/* Empty segments have nothing at any offset, and are passed over. */
	for (i = 0; i < b->nseg; i++) {
		const struct core_segment *seg = &b->seg[i];

		if (likely(off < seg->len)) {
			*run = seg->len - off;
			return (char *)seg->base + off;
		}
		off -= seg->len;
	}
	*run = 0;
	return NULL;
}
