/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Every collective by nonblocking point-to-point messages, in the most literal way: each rank
 * posts all it receives and all it sends. Reductions receive every contribution and fold them
 * from the lowest rank to the highest.
 */
#include <stdlib.h>

#include "arith.h"
#include "call.h"

#define TAG       21000 /* and a slot number: Cartesian neighbors */
#define TAG_ASIDE 20999 /* to oneself, while others are in flight */

struct exchange {
	const struct call *c;
	MPI_Request *req;
	int n, cap;
	int rank, size; /* in the local group */
	int peers;      /* ranks to talk to: the remote group's, or our own group's */
	int inter;
};

static MPI_Request *next(struct exchange *x)
{
	if (x->n == x->cap) {
		x->cap = x->cap ? 2 * x->cap : 64;
		x->req = realloc(x->req, (size_t)x->cap * sizeof(*x->req));
		if (!x->req)
			abort();
	}
	return &x->req[x->n++];
}

static const void *at(const void *buf, MPI_Aint bytes)
{
	return (const char *)buf + bytes;
}

static MPI_Aint extent(MPI_Datatype type)
{
	MPI_Aint lb, e;

	MPI_Type_get_extent(type, &lb, &e);
	return e;
}

static void put(struct exchange *x, const void *buf, MPI_Aint disp, int count, MPI_Datatype type,
		int peer, int slot)
{
	MPI_OK(MPI_Isend(at(buf, disp), count, type, peer, TAG + slot, x->c->comm, next(x)));
}

static void get(struct exchange *x, void *buf, MPI_Aint disp, int count, MPI_Datatype type,
		int peer, int slot)
{
	MPI_OK(MPI_Irecv((void *)at(buf, disp), count, type, peer, TAG + slot, x->c->comm,
			 next(x)));
}

static void flush(struct exchange *x)
{
	MPI_OK(MPI_Waitall(x->n, x->req, MPI_STATUSES_IGNORE));
	x->n = 0;
}

static bool is_root(const struct exchange *x)
{
	return x->inter ? x->c->root == MPI_ROOT : x->c->root == x->rank;
}

static bool is_leaf(const struct exchange *x)
{
	return x->inter ? x->c->root >= 0 : true;
}

static void ref_gather(struct exchange *x)
{
	const struct call *c = x->c;
	bool here = c->sbuf == MPI_IN_PLACE && is_root(x);

	for (int i = 0; is_root(x) && i < x->peers; i++) {
		MPI_Aint e = extent(c->rtype);

		if (here && i == x->rank)
			continue;
		if (c->coll == GATHERV)
			get(x, c->rbuf, c->rdispls[i] * e, c->rcounts[i], c->rtype, i, 0);
		else
			get(x, c->rbuf, (MPI_Aint)i * c->rcount * e, c->rcount, c->rtype, i, 0);
	}
	if (is_leaf(x) && !here)
		put(x, c->sbuf, 0, c->scount, c->stype, c->root, 0);
}

static void ref_scatter(struct exchange *x)
{
	const struct call *c = x->c;
	bool here = c->rbuf == MPI_IN_PLACE && is_root(x);

	if (is_leaf(x) && !here)
		get(x, c->rbuf, 0, c->rcount, c->rtype, c->root, 0);
	for (int i = 0; is_root(x) && i < x->peers; i++) {
		MPI_Aint e = extent(c->stype);

		if (here && i == x->rank)
			continue;
		if (c->coll == SCATTERV)
			put(x, c->sbuf, c->sdispls[i] * e, c->scounts[i], c->stype, i, 0);
		else
			put(x, c->sbuf, (MPI_Aint)i * c->scount * e, c->scount, c->stype, i, 0);
	}
}

static void ref_allgather(struct exchange *x)
{
	const struct call *c = x->c;
	bool here = c->sbuf == MPI_IN_PLACE;
	MPI_Aint e = extent(c->rtype);

	for (int i = 0; i < x->peers; i++) {
		MPI_Aint disp = c->coll == ALLGATHERV ? c->rdispls[i] * e
						      : (MPI_Aint)i * c->rcount * e;
		int count = c->coll == ALLGATHERV ? c->rcounts[i] : c->rcount;

		if (!here || i != x->rank)
			get(x, c->rbuf, disp, count, c->rtype, i, 0);
	}
	for (int i = 0; i < x->peers; i++) {
		if (!here)
			put(x, c->sbuf, 0, c->scount, c->stype, i, 0);
		else if (i != x->rank && c->coll == ALLGATHERV)
			put(x, c->rbuf, c->rdispls[x->rank] * e, c->rcounts[x->rank], c->rtype, i,
			    0);
		else if (i != x->rank)
			put(x, c->rbuf, (MPI_Aint)x->rank * c->rcount * e, c->rcount, c->rtype, i,
			    0);
	}
}

/* The block of peer i in the send (or receive) buffer of an alltoall. */
static void block(const struct call *c, bool recv, int i, MPI_Aint *disp, int *count,
		  MPI_Datatype *type)
{
	*type = recv ? c->rtype : c->stype;
	switch (c->coll) {
	case ALLTOALL:
		*count = recv ? c->rcount : c->scount;
		*disp = (MPI_Aint)i * *count * extent(*type);
		break;
	case ALLTOALLV:
		*count = recv ? c->rcounts[i] : c->scounts[i];
		*disp = (recv ? c->rdispls[i] : c->sdispls[i]) * extent(*type);
		break;
	default:
		*count = recv ? c->rcounts[i] : c->scounts[i];
		*disp = recv ? c->rdispls[i] : c->sdispls[i];
		*type = recv ? c->rtypes[i] : c->stypes[i];
		break;
	}
}

static void ref_alltoall(struct exchange *x)
{
	const struct call *c = x->c;
	bool here = c->sbuf == MPI_IN_PLACE;
	struct buf *old = calloc((size_t)x->peers, sizeof(*old));
	MPI_Datatype type;
	MPI_Aint disp;
	int count;

	if (!old)
		abort();
	/* In place: what is sent is set aside before anything arrives. */
	for (int i = 0; i < x->peers; i++) {
		block(c, here, i, &disp, &count, &type);
		if (!here) {
			put(x, c->sbuf, disp, count, type, i, 0);
			continue;
		}
		if (count == 0)
			type = MPI_INT;
		buf_new(&old[i], type, (size_t)count, 0, false);
		MPI_OK(MPI_Sendrecv(at(c->rbuf, disp), count, type, x->rank, TAG_ASIDE, old[i].ptr,
				    count, type, x->rank, TAG_ASIDE, c->comm, MPI_STATUS_IGNORE));
		put(x, old[i].ptr, 0, count, type, i, 0);
	}
	for (int i = 0; i < x->peers; i++) {
		block(c, true, i, &disp, &count, &type);
		get(x, c->rbuf, disp, count, count ? type : MPI_INT, i, 0);
	}
	flush(x);
	for (int i = 0; here && i < x->peers; i++)
		buf_free(&old[i]);
	free(old);
}

/*
 * Everybody's @count elements reduced over the ranks from 0 to @last of the group that is
 * received from, into @acc.
 */
static void fold(struct exchange *x, int count, int last, struct buf *acc)
{
	const struct call *c = x->c;
	struct buf *in = calloc((size_t)last + 1, sizeof(*in));

	if (!in)
		abort();
	for (int i = 0; i <= last; i++) {
		buf_new(&in[i], c->rtype, (size_t)count, 0, false);
		get(x, in[i].ptr, 0, count, c->rtype, i, 0);
	}
	flush(x);
	for (int i = 1; i <= last; i++)
		arith_apply(c->op, c->rtype, in[i - 1].ptr, in[i].ptr, count);
	*acc = in[last];
	for (int i = 0; i < last; i++)
		buf_free(&in[i]);
	free(in);
}

static void give(struct exchange *x, struct buf *acc, MPI_Aint disp, int count)
{
	const struct call *c = x->c;
	MPI_Comm self = MPI_COMM_SELF;

	MPI_OK(MPI_Sendrecv(at(acc->ptr, disp), count, c->rtype, 0, TAG, c->rbuf, count, c->rtype,
			    0, TAG, self, MPI_STATUS_IGNORE));
	buf_free(acc);
}

static void ref_reduction(struct exchange *x)
{
	const struct call *c = x->c;
	int total = c->rcount, mine = c->rcount, first = 0, last = x->peers - 1;
	bool result = true, contribute = true;
	struct buf acc;

	if (c->coll == REDUCE) {
		result = is_root(x);
		contribute = is_leaf(x);
	} else if (c->coll == REDUCE_SCATTER) {
		total = 0;
		for (int i = 0; i < x->size; i++) {
			if (i == x->rank)
				first = total;
			total += c->rcounts[i];
		}
		mine = c->rcounts[x->rank];
	} else if (c->coll == REDUCE_SCATTER_BLOCK) {
		total = x->size * c->rcount;
		first = x->rank * c->rcount;
	} else if (c->coll == SCAN || c->coll == EXSCAN) {
		last = c->coll == SCAN ? x->rank : x->rank - 1;
		result = last >= 0;
	}
	for (int i = 0; contribute && i < x->peers; i++) {
		const void *from = c->sbuf == MPI_IN_PLACE ? c->rbuf : c->sbuf;

		if (c->coll == REDUCE && i != c->root)
			continue;
		if ((c->coll == SCAN && i < x->rank) || (c->coll == EXSCAN && i <= x->rank))
			continue;
		put(x, from, 0, total, c->rtype, i, 0);
	}
	if (!result) {
		flush(x);
		return;
	}
	fold(x, total, last, &acc);
	give(x, &acc, first * extent(c->rtype), mine);
}

static int *graph_neighbors(MPI_Comm comm, int rank, int *n)
{
	int *list;

	MPI_OK(MPI_Graph_neighbors_count(comm, rank, n));
	list = calloc((size_t)*n + 1, sizeof(*list));
	if (!list)
		abort();
	MPI_OK(MPI_Graph_neighbors(comm, rank, *n, list));
	return list;
}

/* Sources and destinations by slot; the caller frees both. */
static void neighbors(MPI_Comm comm, int *nin, int **in, int *nout, int **out, bool *cart)
{
	int status, rank, weighted, ndims;

	MPI_OK(MPI_Topo_test(comm, &status));
	MPI_OK(MPI_Comm_rank(comm, &rank));
	*cart = status == MPI_CART;
	if (status == MPI_GRAPH) {
		*in = graph_neighbors(comm, rank, nin);
		*out = graph_neighbors(comm, rank, nout);
		return;
	}
	if (*cart) {
		MPI_OK(MPI_Cartdim_get(comm, &ndims));
		*nin = *nout = 2 * ndims;
	} else {
		MPI_OK(MPI_Dist_graph_neighbors_count(comm, nin, nout, &weighted));
	}
	*in = calloc((size_t)*nin + 1, sizeof(**in));
	*out = calloc((size_t)*nout + 1, sizeof(**out));
	if (!*in || !*out)
		abort();
	if (*cart) {
		for (int d = 0; d < ndims; d++) {
			MPI_OK(MPI_Cart_shift(comm, d, 1, &(*in)[2 * d], &(*in)[2 * d + 1]));
			(*out)[2 * d] = (*in)[2 * d];
			(*out)[2 * d + 1] = (*in)[2 * d + 1];
		}
	} else {
		int *win = calloc((size_t)*nin + 1, sizeof(int));
		int *wout = calloc((size_t)*nout + 1, sizeof(int));

		MPI_OK(MPI_Dist_graph_neighbors(comm, *nin, *in, win, *nout, *out, wout));
		free(win);
		free(wout);
	}
}

static void ref_neighbor(struct exchange *x)
{
	const struct call *c = x->c;
	bool gather = c->coll == NEIGHBOR_ALLGATHER || c->coll == NEIGHBOR_ALLGATHERV, cart;
	int nin, nout, *in, *out;

	neighbors(c->comm, &nin, &in, &nout, &out, &cart);
	for (int i = 0; i < nin; i++) {
		int slot = cart ? i : 0;

		if (c->coll == NEIGHBOR_ALLTOALLW)
			get(x, c->rbuf, c->radispls[i], c->rcounts[i], c->rtypes[i], in[i], slot);
		else if (c->coll == NEIGHBOR_ALLGATHERV || c->coll == NEIGHBOR_ALLTOALLV)
			get(x, c->rbuf, c->rdispls[i] * extent(c->rtype), c->rcounts[i], c->rtype,
			    in[i], slot);
		else
			get(x, c->rbuf, (MPI_Aint)i * c->rcount * extent(c->rtype), c->rcount,
			    c->rtype, in[i], slot);
	}
	for (int i = 0; i < nout; i++) {
		/* What goes out towards one side comes in from the other. */
		int slot = cart ? i ^ 1 : 0;

		if (c->coll == NEIGHBOR_ALLTOALLW)
			put(x, c->sbuf, c->sadispls[i], c->scounts[i], c->stypes[i], out[i], slot);
		else if (c->coll == NEIGHBOR_ALLTOALLV)
			put(x, c->sbuf, c->sdispls[i] * extent(c->stype), c->scounts[i], c->stype,
			    out[i], slot);
		else
			put(x, c->sbuf, gather ? 0 : (MPI_Aint)i * c->scount * extent(c->stype),
			    c->scount, c->stype, out[i], slot);
	}
	free(in);
	free(out);
}

static void ref_bcast(struct exchange *x)
{
	const struct call *c = x->c;

	for (int i = 0; is_root(x) && i < x->peers; i++) {
		if (x->inter || i != x->rank)
			put(x, c->rbuf, 0, c->rcount, c->rtype, i, 0);
	}
	if (is_leaf(x) && !is_root(x))
		get(x, c->rbuf, 0, c->rcount, c->rtype, c->root, 0);
}

void call_reference(const struct call *c)
{
	struct exchange x = { .c = c };

	MPI_OK(MPI_Comm_test_inter(c->comm, &x.inter));
	MPI_OK(MPI_Comm_rank(c->comm, &x.rank));
	MPI_OK(MPI_Comm_size(c->comm, &x.size));
	x.peers = x.size;
	if (x.inter)
		MPI_OK(MPI_Comm_remote_size(c->comm, &x.peers));
	switch (c->coll) {
	case BARRIER:
		break;
	case BCAST:
		ref_bcast(&x);
		break;
	case GATHER:
	case GATHERV:
		ref_gather(&x);
		break;
	case SCATTER:
	case SCATTERV:
		ref_scatter(&x);
		break;
	case ALLGATHER:
	case ALLGATHERV:
		ref_allgather(&x);
		break;
	case ALLTOALL:
	case ALLTOALLV:
	case ALLTOALLW:
		ref_alltoall(&x);
		break;
	case ALLREDUCE:
	case EXSCAN:
	case REDUCE:
	case REDUCE_SCATTER:
	case REDUCE_SCATTER_BLOCK:
	case SCAN:
		ref_reduction(&x);
		break;
	default:
		ref_neighbor(&x);
		break;
	}
	flush(&x);
	free(x.req);
}
