/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The five neighborhood collectives. Blocks are counted by neighbor, in the order of the topology
 * (topo.c). The uniform ones reach us, when blocking, only where there is data (stream.c).
 */
#include "coll_goal_forms.h"
#include "coll_goal_sides.h"

static inline int near_init(enum goal_coll coll, struct coll_goal_module *m,
			    struct coll_goal_call *c)
{
	coll_goal_call_init(c, coll, false);
	return coll_goal_likely(m->near_known) ? OMPI_SUCCESS : coll_goal_topo_read(m);
}

static inline int neighbor_allgather_prepare(const void *sbuf, int scount, ompi_datatype_t *stype,
					     void *rbuf, int rcount, ompi_datatype_t *rtype,
					     struct coll_goal_module *m, struct coll_goal_call *c)
{
	int rc = near_init(GOAL_NEIGHBOR_ALLGATHER, m, c);

	if (coll_goal_unlikely(rc))
		return rc;
	c->stream = COLL_GOAL_NEAR;
	coll_goal_side_elements(&c->side[GOAL_BUF_SEND], sbuf, scount, stype, COLL_GOAL_READ);
	coll_goal_side_elements(&c->side[GOAL_BUF_RECV], rbuf, (size_t)rcount * m->near.indegree,
				rtype, COLL_GOAL_WRITE);
	c->key.send = coll_goal_bytes(stype, scount);
	c->key.recv = coll_goal_bytes(rtype, rcount);
	return OMPI_SUCCESS;
}

COLL_GOAL_FORMS(neighbor_allgather, GOAL_NEIGHBOR_ALLGATHER,
		(const void *sbuf, int scount, ompi_datatype_t *stype, void *rbuf, int rcount,
		 ompi_datatype_t *rtype, ),
		(sbuf, scount, stype, rbuf, rcount, rtype, ))

static inline int neighbor_allgatherv_prepare(const void *sbuf, int scount, ompi_datatype_t *stype,
					      void *rbuf, const int *rcounts, const int *displs,
					      ompi_datatype_t *rtype, struct coll_goal_module *m,
					      struct coll_goal_call *c)
{
	struct coll_goal_places places = {
		.buf = rbuf, .counts = rcounts, .displs = displs, .type = rtype
	};
	int rc = near_init(GOAL_NEIGHBOR_ALLGATHERV, m, c);

	if (coll_goal_unlikely(rc))
		return rc;
	places.n = (int)m->near.indegree;
	rc = coll_goal_key_room(m, &c->key, 0, places.n);
	if (rc == OMPI_SUCCESS)
		rc = coll_goal_side_places(&c->side[GOAL_BUF_RECV], &places,
					   coll_goal_key_recv(&c->key), COLL_GOAL_WRITE);
	if (rc != OMPI_SUCCESS)
		return rc;
	coll_goal_side_elements(&c->side[GOAL_BUF_SEND], sbuf, scount, stype, COLL_GOAL_READ);
	c->key.send = coll_goal_bytes(stype, scount);
	return OMPI_SUCCESS;
}

COLL_GOAL_FORMS(neighbor_allgatherv, GOAL_NEIGHBOR_ALLGATHERV,
		(const void *sbuf, int scount, ompi_datatype_t *stype, void *rbuf,
		 const int *rcounts, const int *displs, ompi_datatype_t *rtype, ),
		(sbuf, scount, stype, rbuf, rcounts, displs, rtype, ))

static inline int neighbor_alltoall_prepare(const void *sbuf, int scount, ompi_datatype_t *stype,
					    void *rbuf, int rcount, ompi_datatype_t *rtype,
					    struct coll_goal_module *m, struct coll_goal_call *c)
{
	int rc = near_init(GOAL_NEIGHBOR_ALLTOALL, m, c);

	if (coll_goal_unlikely(rc))
		return rc;
	c->stream = COLL_GOAL_NEAR;
	coll_goal_side_elements(&c->side[GOAL_BUF_SEND], sbuf, (size_t)scount * m->near.outdegree,
				stype, COLL_GOAL_READ);
	coll_goal_side_elements(&c->side[GOAL_BUF_RECV], rbuf, (size_t)rcount * m->near.indegree,
				rtype, COLL_GOAL_WRITE);
	c->key.send = coll_goal_bytes(stype, scount);
	c->key.recv = coll_goal_bytes(rtype, rcount);
	return OMPI_SUCCESS;
}

COLL_GOAL_FORMS(neighbor_alltoall, GOAL_NEIGHBOR_ALLTOALL,
		(const void *sbuf, int scount, ompi_datatype_t *stype, void *rbuf, int rcount,
		 ompi_datatype_t *rtype, ),
		(sbuf, scount, stype, rbuf, rcount, rtype, ))

/* Both sides by place; the counts of neighbors come from the topology. */
static int both_places(enum goal_coll coll, struct coll_goal_places *send,
		       struct coll_goal_places *recv, struct coll_goal_module *m,
		       struct coll_goal_call *c)
{
	int rc = near_init(coll, m, c);

	if (rc != OMPI_SUCCESS)
		return rc;
	send->n = (int)m->near.outdegree;
	recv->n = (int)m->near.indegree;
	rc = coll_goal_key_room(m, &c->key, send->n, recv->n);
	if (rc == OMPI_SUCCESS)
		rc = coll_goal_side_places(&c->side[GOAL_BUF_SEND], send,
					   coll_goal_key_send(&c->key), COLL_GOAL_READ);
	if (rc != OMPI_SUCCESS)
		return rc;
	rc = coll_goal_side_places(&c->side[GOAL_BUF_RECV], recv, coll_goal_key_recv(&c->key),
				   COLL_GOAL_WRITE);
	if (rc != OMPI_SUCCESS)
		coll_goal_side_release(&c->side[GOAL_BUF_SEND]);
	return rc;
}

static int neighbor_alltoallv_prepare(const void *sbuf, const int *scounts, const int *sdispls,
				      ompi_datatype_t *stype, void *rbuf, const int *rcounts,
				      const int *rdispls, ompi_datatype_t *rtype,
				      struct coll_goal_module *m, struct coll_goal_call *c)
{
	struct coll_goal_places send = {
		.buf = sbuf, .counts = scounts, .displs = sdispls, .type = stype
	};
	struct coll_goal_places recv = {
		.buf = rbuf, .counts = rcounts, .displs = rdispls, .type = rtype
	};

	return both_places(GOAL_NEIGHBOR_ALLTOALLV, &send, &recv, m, c);
}

COLL_GOAL_FORMS(neighbor_alltoallv, GOAL_NEIGHBOR_ALLTOALLV,
		(const void *sbuf, const int *scounts, const int *sdispls, ompi_datatype_t *stype,
		 void *rbuf, const int *rcounts, const int *rdispls, ompi_datatype_t *rtype, ),
		(sbuf, scounts, sdispls, stype, rbuf, rcounts, rdispls, rtype, ))

static int neighbor_alltoallw_prepare(const void *sbuf, const int *scounts, const MPI_Aint *sdispls,
				      ompi_datatype_t *const *stypes, void *rbuf,
				      const int *rcounts, const MPI_Aint *rdispls,
				      ompi_datatype_t *const *rtypes, struct coll_goal_module *m,
				      struct coll_goal_call *c)
{
	struct coll_goal_places send = {
		.buf = sbuf, .counts = scounts, .far = sdispls, .types = stypes
	};
	struct coll_goal_places recv = {
		.buf = rbuf, .counts = rcounts, .far = rdispls, .types = rtypes
	};

	return both_places(GOAL_NEIGHBOR_ALLTOALLW, &send, &recv, m, c);
}

COLL_GOAL_FORMS(neighbor_alltoallw, GOAL_NEIGHBOR_ALLTOALLW,
		(const void *sbuf, const int *scounts, const MPI_Aint *sdispls,
		 ompi_datatype_t *const *stypes, void *rbuf, const int *rcounts,
		 const MPI_Aint *rdispls, ompi_datatype_t *const *rtypes, ),
		(sbuf, scounts, sdispls, stypes, rbuf, rcounts, rdispls, rtypes, ))
