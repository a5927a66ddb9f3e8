/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MPI_Allgather and MPI_Allgatherv. In place, a rank's contribution stands at its own place in
 * the receive buffer. On an intercommunicator the blocks are those of the remote group.
 */
#include "coll_goal_forms.h"
#include "coll_goal_sides.h"

static inline int allgather_prepare(const void *sbuf, int scount, ompi_datatype_t *stype,
				    void *rbuf, int rcount, ompi_datatype_t *rtype,
				    struct coll_goal_module *m, struct coll_goal_call *c)
{
	struct coll_goal_side *send = &c->side[GOAL_BUF_SEND], *recv = &c->side[GOAL_BUF_RECV];
	bool in_place = sbuf == MPI_IN_PLACE;

	coll_goal_call_init(c, GOAL_ALLGATHER, in_place);
	coll_goal_side_elements(recv, rbuf, (size_t)rcount * coll_goal_peers(m->comm), rtype,
				COLL_GOAL_WRITE);
	c->key.send = c->key.recv = coll_goal_bytes(rtype, rcount);
	if (in_place) {
		coll_goal_side_none(send);
	} else {
		coll_goal_side_elements(send, sbuf, scount, stype, COLL_GOAL_READ);
		c->key.send = send->len;
	}
	return coll_goal_likely(c->key.send | c->key.recv) ? OMPI_SUCCESS : COLL_GOAL_NOTHING;
}

COLL_GOAL_FORMS(allgather, GOAL_ALLGATHER,
		(const void *sbuf, int scount, ompi_datatype_t *stype, void *rbuf, int rcount,
		 ompi_datatype_t *rtype, ),
		(sbuf, scount, stype, rbuf, rcount, rtype, ))

static inline int allgatherv_prepare(const void *sbuf, int scount, ompi_datatype_t *stype,
				     void *rbuf, const int *rcounts, const int *displs,
				     ompi_datatype_t *rtype, struct coll_goal_module *m,
				     struct coll_goal_call *c)
{
	struct coll_goal_side *send = &c->side[GOAL_BUF_SEND], *recv = &c->side[GOAL_BUF_RECV];
	bool in_place = sbuf == MPI_IN_PLACE;
	const struct coll_goal_places places = {
		.buf = rbuf,
		.n = coll_goal_peers(m->comm),
		.counts = rcounts,
		.displs = displs,
		.type = rtype,
	};
	int rc;

	coll_goal_call_init(c, GOAL_ALLGATHERV, in_place);
	rc = coll_goal_key_room(m, &c->key, 0, places.n);
	if (rc == OMPI_SUCCESS)
		rc = coll_goal_side_places(recv, &places, coll_goal_key_recv(&c->key),
					   COLL_GOAL_WRITE);
	if (rc != OMPI_SUCCESS)
		return rc;
	if (in_place) {
		coll_goal_side_none(send);
		c->key.send = coll_goal_key_recv(&c->key)[ompi_comm_rank(m->comm)];
	} else {
		coll_goal_side_elements(send, sbuf, scount, stype, COLL_GOAL_READ);
		c->key.send = send->len;
	}
	/* Nothing from anybody: only between two groups does one not know of the other. */
	if (coll_goal_unlikely(!recv->len && !OMPI_COMM_IS_INTER(m->comm)))
		return COLL_GOAL_NOTHING;
	return OMPI_SUCCESS;
}

COLL_GOAL_FORMS(allgatherv, GOAL_ALLGATHERV,
		(const void *sbuf, int scount, ompi_datatype_t *stype, void *rbuf,
		 const int *rcounts, const int *displs, ompi_datatype_t *rtype, ),
		(sbuf, scount, stype, rbuf, rcounts, displs, rtype, ))
