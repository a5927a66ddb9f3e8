/* SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause */
/*
 * The request that must be fast, ESPGOAL_START: its checks, and the payload it brings along, which is
 * copied from the process straight to where the run has it. Inline: a start is one function.
 */
#ifndef REQUEST_START_H
#define REQUEST_START_H

#include "request.h"

#define REQUEST_SEGS_NEAR (sizeof(((struct espgoal_start *)0)->seg) / sizeof(struct espgoal_seg))

/* What can be said of the argument by itself: 0, -EINVAL, -E2BIG. */
static inline int request_start_check(const struct espgoal_start *a)
{
	u32 used = a->nsegs <= REQUEST_SEGS_NEAR ? a->nsegs : 0, i;

	if (a->flags & ~ESPGOAL_START_KNOWN)
		return -EINVAL;
	if (!(a->flags & ESPGOAL_START_WAIT) && a->timeout)
		return -EINVAL;
	if (a->nsegs > REQUEST_SEGS_MAX)
		return -E2BIG;
	if (a->flags & ESPGOAL_START_FAILED && a->nsegs)
		return -EINVAL;
	if (a->nsegs <= REQUEST_SEGS_NEAR && a->segs)
		return -EINVAL;
	for (i = used; i < REQUEST_SEGS_NEAR; i++)
		if (a->seg[i].addr || a->seg[i].len)
			return -EINVAL;
	return 0;
}

/* Was the schedule made for this place in a group? */
static inline bool request_start_fits(const struct core_sched *s, u32 rank, u32 nranks)
{
	return s->hdr->rank == rank && s->hdr->npeers == nranks;
}

/* Is there anything to read? */
static inline bool request_start_reads(const struct espgoal_start *a,
				       const struct request_layout *lay)
{
	return !(a->flags & ESPGOAL_START_FAILED) && (a->nsegs || lay->in_bytes);
}

/* Where the segments are: in the argument, or, when they are more, in memory of the process. */
static inline bool request_start_far(const struct espgoal_start *a)
{
	return a->nsegs > REQUEST_SEGS_NEAR;
}

/* Then read them into @seg: 0 or -EFAULT. */
static inline int request_start_segs(const struct espgoal_start *a, struct espgoal_seg *seg)
{
	return env_user_read(seg, a->segs, a->nsegs * sizeof(*seg));
}

/*
 * Read what the segments of a checked request have, into the buffers of its run, @buf. 0; -EINVAL: it
 * is not as long as they are; -EFAULT: then they may have been written, and nothing else.
 */
static inline int request_start_read(const struct espgoal_seg *seg, u32 nsegs,
				     const struct core_sched *s, const struct request_layout *lay,
				     const struct core_segment *buf)
{
	u32 nbufs = s->hdr->nbufs, b, i = 0;
	u64 off = 0, sum = 0;

	for (b = 0; b < nsegs; b++) {
		if (seg[b].len > lay->in_bytes - sum)
			return -EINVAL;
		sum += seg[b].len;
	}
	if (sum != lay->in_bytes)
		return -EINVAL;
	for (b = 0; b < nbufs; b++) {
		u8 *to = buf[b].base;
		u64 left = buf[b].len;

		if (!(lay->buf[b] & ESPGOAL_BUF_IN))
			continue;
		while (left) {
			u64 n = seg[i].len - off;

			if (n > left)
				n = left;
			if (n && env_user_read(to, seg[i].addr + off, n))
				return -EFAULT;
			to += n;
			left -= n;
			off += n;
			if (off == seg[i].len) {
				i++;
				off = 0;
			}
		}
	}
	return 0;
}

#endif /* REQUEST_START_H */
