/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MPI_Scatter and MPI_Scatterv, the mirror image of gather.c: the send arguments are significant
 * at the root only, MPI_IN_PLACE is the root's receive buffer.
 */
#include "coll_goal_forms.h"
#include "coll_goal_sides.h"

static inline int scatter_prepare(const void *sbuf, int scount, ompi_datatype_t *stype, void *rbuf,
				  int rcount, ompi_datatype_t *rtype, int root,
				  struct coll_goal_module *m, struct coll_goal_call *c)
{
	struct coll_goal_side *send = &c->side[GOAL_BUF_SEND], *recv = &c->side[GOAL_BUF_RECV];
	bool inter = OMPI_COMM_IS_INTER(m->comm);
	bool source = coll_goal_is_root(m->comm, inter, root);
	bool in_place = source && rbuf == MPI_IN_PLACE;

	coll_goal_call_init(c, GOAL_SCATTER, in_place);
	coll_goal_side_none(send);
	coll_goal_side_none(recv);
	c->key.root = coll_goal_root(inter, root);
	if (coll_goal_unlikely(inter && coll_goal_rooted(c)))
		return COLL_GOAL_NOTHING;
	if (source) {
		coll_goal_side_elements(send, sbuf, (size_t)scount * coll_goal_peers(m->comm),
					stype, COLL_GOAL_READ);
		c->key.recv = coll_goal_bytes(stype, scount);
	} else {
		c->key.recv = coll_goal_bytes(rtype, rcount);
	}
	if (!in_place && !(inter && source))
		coll_goal_side_elements(recv, rbuf, rcount, rtype, COLL_GOAL_WRITE);
	return coll_goal_likely(c->key.recv) ? OMPI_SUCCESS : COLL_GOAL_NOTHING;
}

COLL_GOAL_FORMS(scatter, GOAL_SCATTER,
		(const void *sbuf, int scount, ompi_datatype_t *stype, void *rbuf, int rcount,
		 ompi_datatype_t *rtype, int root, ),
		(sbuf, scount, stype, rbuf, rcount, rtype, root, ))

static inline int scatterv_prepare(const void *sbuf, const int *scounts, const int *displs,
				   ompi_datatype_t *stype, void *rbuf, int rcount,
				   ompi_datatype_t *rtype, int root, struct coll_goal_module *m,
				   struct coll_goal_call *c)
{
	struct coll_goal_side *send = &c->side[GOAL_BUF_SEND], *recv = &c->side[GOAL_BUF_RECV];
	bool inter = OMPI_COMM_IS_INTER(m->comm);
	bool source = coll_goal_is_root(m->comm, inter, root);
	bool in_place = source && rbuf == MPI_IN_PLACE;
	int rc;

	coll_goal_call_init(c, GOAL_SCATTERV, in_place);
	coll_goal_side_none(send);
	coll_goal_side_none(recv);
	c->key.root = coll_goal_root(inter, root);
	if (coll_goal_unlikely(inter && coll_goal_rooted(c)))
		return COLL_GOAL_NOTHING;
	if (source) {
		struct coll_goal_places places = {
			.buf = sbuf,
			.n = coll_goal_peers(m->comm),
			.counts = scounts,
			.displs = displs,
			.type = stype,
		};

		rc = coll_goal_key_room(m, &c->key, places.n, 0);
		if (rc == OMPI_SUCCESS)
			rc = coll_goal_side_places(send, &places, coll_goal_key_send(&c->key),
						   COLL_GOAL_READ);
		if (rc != OMPI_SUCCESS)
			return rc;
		if (in_place)
			c->key.recv = coll_goal_key_send(&c->key)[root];
	}
	if (!in_place && !(inter && source)) {
		coll_goal_side_elements(recv, rbuf, rcount, rtype, COLL_GOAL_WRITE);
		c->key.recv = recv->len;
	}
	return OMPI_SUCCESS;
}

COLL_GOAL_FORMS(scatterv, GOAL_SCATTERV,
		(const void *sbuf, const int *scounts, const int *displs, ompi_datatype_t *stype,
		 void *rbuf, int rcount, ompi_datatype_t *rtype, int root, ),
		(sbuf, scounts, displs, stype, rbuf, rcount, rtype, root, ))
