/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tags for messages over the PML, from the reservation that all nonblocking collectives of a
 * communicator share. Every member reserves the same numbers in the same order, whether or not
 * it has a message to send. Called for each run by run.c and request.c, and by vote.c.
 */
#include "coll_goal.h"

int32_t coll_goal_tags(struct coll_goal_module *m, uint32_t n)
{
	ompi_communicator_t *comm = m->comm;
	const int32_t top = m->open_tag ? m->open_tag : MCA_COLL_BASE_TAG_NONBLOCKING_BASE;
	int32_t first, old;

	do {
		first = old = comm->c_nbc_tag;
		/* At the end they begin anew, and where others began anew we stay below ours. */
		if ((int64_t)first - n < MCA_COLL_BASE_TAG_NONBLOCKING_END || first > top)
			first = top;
		/* Jump over tags that others use while we count down (coll_goal_compat.h). */
		if (coll_goal_unlikely(COLL_GOAL_TAG_HOLE_BOTTOM &&
				       first >= COLL_GOAL_TAG_HOLE_BOTTOM &&
				       (int64_t)first - n < COLL_GOAL_TAG_HOLE_TOP))
			first = COLL_GOAL_TAG_HOLE_BOTTOM - 1;
	} while (!OPAL_ATOMIC_COMPARE_EXCHANGE_STRONG_32(&comm->c_nbc_tag, &old,
							 (int32_t)(first - (int64_t)n)));
	return first;
}

void coll_goal_tags_set_aside(struct coll_goal_module *m)
{
	m->stream_tag = coll_goal_tags(m, COLL_GOAL_STREAM_TAGS + COLL_GOAL_WORD_TAGS);
	m->blocking_tag = coll_goal_tags(m, COLL_GOAL_BLOCKING_TAGS);
	m->open_tag = m->comm->c_nbc_tag;
}
