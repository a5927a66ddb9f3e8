/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Names of runs. The members of a communicator make the same calls in the same order, so the
 * count of calls names a run at all of them. Blocking and nonblocking calls are counted apart, since
 * some of the latter are Open MPI's own (tags.c). Two kinds of calls break the rule, since the MPI
 * layer returns before it reaches us where a process has no data, and only there: rooted
 * collectives on intercommunicators at callers with MPI_PROC_NULL, and the blocking uniform
 * neighborhood collectives at processes without neighbors (with a count of 0). They are counted by
 * those who do take part, in streams of their own, with tags of their own.
 *
 *	op_id bits 31, 30, 29
 *	0 0 0	plain, blocking (run.c); op_id and start are high and low half of the count
 *	0 0 1	plain, nonblocking; so are the rest of op_id, and start
 *	0 1	persistent: op_id counts the *_init calls, start the starts
 *	1 s	other streams; s: the root is in the higher of the two groups
 */
#include "coll_goal.h"

#define NONBLOCKING 0x20000000u
#define PERSISTENT  0x40000000u
#define OTHER       0x80000000u
#define HIGHER      0x40000000u

/* Bits that a rank of either group needs. */
static unsigned int rank_bits(const struct coll_goal_module *m)
{
	uint32_t most = m->shape.size > m->shape.remote_size ? m->shape.size : m->shape.remote_size;
	unsigned int bits = 0;

	while (most > 1u << bits)
		bits++;
	return bits;
}

/* The counter of the calls rooted where @root says, and what tells that root from others. */
static uint32_t *rooted(struct coll_goal_module *m, int64_t root, uint32_t *side, uint32_t *rank)
{
	bool here = root == GOAL_ROOT_HERE;

	if (!m->next_rooted) {
		m->next_rooted =
			coll_goal_calloc((size_t)m->shape.remote_size + 1, sizeof(*m->next_rooted));
		if (!m->next_rooted)
			return NULL;
	}
	*side = here == m->lower ? 0 : HIGHER;
	*rank = here ? m->shape.rank : (uint32_t)root;
	return &m->next_rooted[here ? m->shape.remote_size : (uint32_t)root];
}

int coll_goal_ident(struct coll_goal_module *m, const struct coll_goal_call *c, uint32_t ntags,
		    bool persistent, struct coll_goal_ident *ident)
{
	uint32_t side = 0, rank = 0, part = COLL_GOAL_STREAM_TAGS / 4, *next, n;
	unsigned int bits = 0, which;

	if (c->stream == COLL_GOAL_PLAIN) {
		if (persistent) {
			ident->op_id = PERSISTENT | (m->next_init++ & (PERSISTENT - 1));
			ident->start = 0; /* the first start is 1 */
		} else {
			uint64_t count = m->next_nonblocking++;

			ident->op_id = NONBLOCKING | (uint32_t)(count >> 32);
			ident->start = (uint32_t)count;
		}
		ident->tag = coll_goal_tags(m, ntags);
		return OMPI_SUCCESS;
	}
	if (c->stream == COLL_GOAL_ROOTED) {
		next = rooted(m, c->key.root, &side, &rank);
		bits = rank_bits(m);
	} else {
		next = &m->next_near;
	}
	if (!next)
		return OMPI_ERR_OUT_OF_RESOURCE;
	if (ntags > part)
		return MPI_ERR_OTHER; /* no builder of these streams takes so many */
	n = (*next)++;
	ident->op_id = OTHER | side | rank;
	ident->start = n;
	if (persistent) {
		/* Above the rank, from 1 on; start counts the starts. */
		uint32_t names = (HIGHER >> bits) - 1;

		ident->op_id |= (1 + n % names) << bits;
		ident->start = 0;
	}
	/*
	 * Tags come round again. The two sides count apart, so they have tags of their own; so do
	 * persistent requests, which may be started when later calls are long under way.
	 */
	which = (side ? 2 : 0) + persistent;
	ident->tag = m->stream_tag - (int32_t)(which * part + n % (part / ntags) * ntags);
	return OMPI_SUCCESS;
}
