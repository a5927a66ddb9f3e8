/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MPI_Alltoall, MPI_Alltoallv, MPI_Alltoallw. In place, the send arguments are not looked at and
 * what is sent stands in the receive buffer.
 */
#include "coll_goal_forms.h"
#include "coll_goal_sides.h"

static inline int alltoall_prepare(const void *sbuf, int scount, ompi_datatype_t *stype, void *rbuf,
				   int rcount, ompi_datatype_t *rtype, struct coll_goal_module *m,
				   struct coll_goal_call *c)
{
	struct coll_goal_side *send = &c->side[GOAL_BUF_SEND], *recv = &c->side[GOAL_BUF_RECV];
	size_t n = coll_goal_peers(m->comm);
	bool in_place = sbuf == MPI_IN_PLACE;

	coll_goal_call_init(c, GOAL_ALLTOALL, in_place);
	coll_goal_side_elements(recv, rbuf, rcount * n, rtype, COLL_GOAL_WRITE);
	c->key.send = c->key.recv = coll_goal_bytes(rtype, rcount);
	if (in_place) {
		coll_goal_side_none(send);
	} else {
		coll_goal_side_elements(send, sbuf, scount * n, stype, COLL_GOAL_READ);
		c->key.send = coll_goal_bytes(stype, scount);
	}
	return coll_goal_likely(c->key.send | c->key.recv) ? OMPI_SUCCESS : COLL_GOAL_NOTHING;
}

COLL_GOAL_FORMS(alltoall, GOAL_ALLTOALL,
		(const void *sbuf, int scount, ompi_datatype_t *stype, void *rbuf, int rcount,
		 ompi_datatype_t *rtype, ),
		(sbuf, scount, stype, rbuf, rcount, rtype, ))

/* Both sides by place; @send is not looked at in place. */
static int both_places(enum goal_coll coll, const struct coll_goal_places *send,
		       const struct coll_goal_places *recv, bool in_place,
		       struct coll_goal_module *m, struct coll_goal_call *c)
{
	int rc;

	coll_goal_call_init(c, coll, in_place);
	coll_goal_side_none(&c->side[GOAL_BUF_SEND]);
	coll_goal_side_none(&c->side[GOAL_BUF_RECV]);
	rc = coll_goal_key_room(m, &c->key, in_place ? 0 : send->n, recv->n);
	if (rc == OMPI_SUCCESS && !in_place)
		rc = coll_goal_side_places(&c->side[GOAL_BUF_SEND], send,
					   coll_goal_key_send(&c->key), COLL_GOAL_READ);
	if (rc == OMPI_SUCCESS)
		rc = coll_goal_side_places(&c->side[GOAL_BUF_RECV], recv,
					   coll_goal_key_recv(&c->key), COLL_GOAL_WRITE);
	if (rc != OMPI_SUCCESS)
		coll_goal_side_release(&c->side[GOAL_BUF_SEND]);
	return rc;
}

static int alltoallv_prepare(const void *sbuf, const int *scounts, const int *sdispls,
			     ompi_datatype_t *stype, void *rbuf, const int *rcounts,
			     const int *rdispls, ompi_datatype_t *rtype, struct coll_goal_module *m,
			     struct coll_goal_call *c)
{
	const int n = coll_goal_peers(m->comm);
	const struct coll_goal_places send = {
		.buf = sbuf, .n = n, .counts = scounts, .displs = sdispls, .type = stype
	};
	const struct coll_goal_places recv = {
		.buf = rbuf, .n = n, .counts = rcounts, .displs = rdispls, .type = rtype
	};

	return both_places(GOAL_ALLTOALLV, &send, &recv, sbuf == MPI_IN_PLACE, m, c);
}

COLL_GOAL_FORMS(alltoallv, GOAL_ALLTOALLV,
		(const void *sbuf, const int *scounts, const int *sdispls, ompi_datatype_t *stype,
		 void *rbuf, const int *rcounts, const int *rdispls, ompi_datatype_t *rtype, ),
		(sbuf, scounts, sdispls, stype, rbuf, rcounts, rdispls, rtype, ))

static int alltoallw_prepare(const void *sbuf, const int *scounts, const int *sdispls,
			     ompi_datatype_t *const *stypes, void *rbuf, const int *rcounts,
			     const int *rdispls, ompi_datatype_t *const *rtypes,
			     struct coll_goal_module *m, struct coll_goal_call *c)
{
	const int n = coll_goal_peers(m->comm);
	const struct coll_goal_places send = {
		.buf = sbuf, .n = n, .counts = scounts, .displs = sdispls, .types = stypes
	};
	const struct coll_goal_places recv = {
		.buf = rbuf, .n = n, .counts = rcounts, .displs = rdispls, .types = rtypes
	};

	return both_places(GOAL_ALLTOALLW, &send, &recv, sbuf == MPI_IN_PLACE, m, c);
}

COLL_GOAL_FORMS(alltoallw, GOAL_ALLTOALLW,
		(const void *sbuf, const int *scounts, const int *sdispls,
		 ompi_datatype_t *const *stypes, void *rbuf, const int *rcounts, const int *rdispls,
		 ompi_datatype_t *const *rtypes, ),
		(sbuf, scounts, sdispls, stypes, rbuf, rcounts, rdispls, rtypes, ))
