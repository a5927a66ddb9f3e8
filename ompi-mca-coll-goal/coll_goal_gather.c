/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MPI_Gather and MPI_Gatherv. What is not significant at a rank (the receive arguments elsewhere
 * than at the root; the send arguments of a root with MPI_IN_PLACE) may be garbage and is not
 * looked at.
 */
#include "coll_goal_forms.h"
#include "coll_goal_sides.h"

static inline int gather_prepare(const void *sbuf, int scount, ompi_datatype_t *stype, void *rbuf,
				 int rcount, ompi_datatype_t *rtype, int root,
				 struct coll_goal_module *m, struct coll_goal_call *c)
{
	struct coll_goal_side *send = &c->side[GOAL_BUF_SEND], *recv = &c->side[GOAL_BUF_RECV];
	bool inter = OMPI_COMM_IS_INTER(m->comm);
	bool sink = coll_goal_is_root(m->comm, inter, root);
	bool in_place = sink && sbuf == MPI_IN_PLACE;

	coll_goal_call_init(c, GOAL_GATHER, in_place);
	coll_goal_side_none(send);
	coll_goal_side_none(recv);
	c->key.root = coll_goal_root(inter, root);
	if (coll_goal_unlikely(inter && coll_goal_rooted(c)))
		return COLL_GOAL_NOTHING;
	if (sink) {
		coll_goal_side_elements(recv, rbuf, (size_t)rcount * coll_goal_peers(m->comm),
					rtype, COLL_GOAL_WRITE);
		c->key.send = coll_goal_bytes(rtype, rcount);
	} else {
		c->key.send = coll_goal_bytes(stype, scount);
	}
	if (!in_place && !(inter && sink))
		coll_goal_side_elements(send, sbuf, scount, stype, COLL_GOAL_READ);
	return coll_goal_likely(c->key.send) ? OMPI_SUCCESS : COLL_GOAL_NOTHING;
}

COLL_GOAL_FORMS(gather, GOAL_GATHER,
		(const void *sbuf, int scount, ompi_datatype_t *stype, void *rbuf, int rcount,
		 ompi_datatype_t *rtype, int root, ),
		(sbuf, scount, stype, rbuf, rcount, rtype, root, ))

static inline int gatherv_prepare(const void *sbuf, int scount, ompi_datatype_t *stype, void *rbuf,
				  const int *rcounts, const int *displs, ompi_datatype_t *rtype,
				  int root, struct coll_goal_module *m, struct coll_goal_call *c)
{
	struct coll_goal_side *send = &c->side[GOAL_BUF_SEND], *recv = &c->side[GOAL_BUF_RECV];
	bool inter = OMPI_COMM_IS_INTER(m->comm);
	bool sink = coll_goal_is_root(m->comm, inter, root);
	bool in_place = sink && sbuf == MPI_IN_PLACE;
	int rc;

	coll_goal_call_init(c, GOAL_GATHERV, in_place);
	coll_goal_side_none(send);
	coll_goal_side_none(recv);
	c->key.root = coll_goal_root(inter, root);
	if (coll_goal_unlikely(inter && coll_goal_rooted(c)))
		return COLL_GOAL_NOTHING;
	if (sink) {
		struct coll_goal_places places = {
			.buf = rbuf,
			.n = coll_goal_peers(m->comm),
			.counts = rcounts,
			.displs = displs,
			.type = rtype,
		};

		rc = coll_goal_key_room(m, &c->key, 0, places.n);
		if (rc == OMPI_SUCCESS)
			rc = coll_goal_side_places(recv, &places, coll_goal_key_recv(&c->key),
						   COLL_GOAL_WRITE);
		if (rc != OMPI_SUCCESS)
			return rc;
		if (in_place)
			c->key.send = coll_goal_key_recv(&c->key)[root];
	}
	if (!in_place && !(inter && sink)) {
		coll_goal_side_elements(send, sbuf, scount, stype, COLL_GOAL_READ);
		c->key.send = send->len;
	}
	return OMPI_SUCCESS;
}

COLL_GOAL_FORMS(gatherv, GOAL_GATHERV,
		(const void *sbuf, int scount, ompi_datatype_t *stype, void *rbuf,
		 const int *rcounts, const int *displs, ompi_datatype_t *rtype, int root, ),
		(sbuf, scount, stype, rbuf, rcounts, displs, rtype, root, ))
