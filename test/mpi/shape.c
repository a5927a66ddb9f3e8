/* SPDX-License-Identifier: BSD-3-Clause */
/* Collectives made from numbers, with buffers and expected results; for the conformance programs. */
#include <stdlib.h>
#include <string.h>

#include "arith.h"
#include "shape.h"

#define GARBAGE (-77) /* an argument that does not count at this rank */

void where_set(struct where *w, MPI_Comm comm, const char *name, int side)
{
	int status, weighted, ndims;

	memset(w, 0, sizeof(*w));
	w->comm = comm;
	w->name = name;
	w->side = side;
	MPI_OK(MPI_Comm_test_inter(comm, &w->inter));
	MPI_OK(MPI_Comm_rank(comm, &w->rank));
	MPI_OK(MPI_Comm_size(comm, &w->size));
	w->rsize = w->size;
	if (w->inter) {
		MPI_OK(MPI_Comm_remote_size(comm, &w->rsize));
		return;
	}
	MPI_OK(MPI_Topo_test(comm, &status));
	if (status == MPI_CART) {
		MPI_OK(MPI_Cartdim_get(comm, &ndims));
		w->nin = w->nout = 2 * ndims;
	} else if (status == MPI_GRAPH) {
		MPI_OK(MPI_Graph_neighbors_count(comm, w->rank, &w->nin));
		w->nout = w->nin;
	} else if (status == MPI_DIST_GRAPH) {
		MPI_OK(MPI_Dist_graph_neighbors_count(comm, &w->nin, &w->nout, &weighted));
	}
}

bool shape_rooted(enum coll coll)
{
	return coll == BCAST || coll == GATHER || coll == GATHERV || coll == REDUCE ||
	       coll == SCATTER || coll == SCATTERV;
}

bool shape_reduces(enum coll coll)
{
	return coll == ALLREDUCE || coll == EXSCAN || coll == REDUCE || coll == REDUCE_SCATTER ||
	       coll == REDUCE_SCATTER_BLOCK || coll == SCAN;
}

bool shape_in_place(enum coll coll)
{
	return coll != BCAST && coll != BARRIER && coll < NEIGHBOR_ALLGATHER;
}

int shape_roots(const struct where *w, enum coll coll)
{
	if (!shape_rooted(coll))
		return 1;
	return w->inter ? w->size + w->rsize : w->size;
}

static bool uses_w(enum coll coll)
{
	return coll == ALLTOALLW || coll == NEIGHBOR_ALLTOALLW;
}

static bool gathers(enum coll coll)
{
	return coll == ALLGATHERV || coll == GATHERV || coll == NEIGHBOR_ALLGATHERV;
}

static int root_of(const struct where *w, const struct params *p)
{
	int first, side, rank;

	if (!w->inter)
		return p->root;
	first = w->side == 0 ? w->size : w->rsize;
	side = p->root >= first;
	rank = side ? p->root - first : p->root;
	if (side != w->side)
		return rank;
	return rank == w->rank ? MPI_ROOT : MPI_PROC_NULL;
}

static bool at_root(const struct shape *s)
{
	return s->w->inter ? s->c.root == MPI_ROOT : s->c.root == s->w->rank;
}

static MPI_Datatype pick_type(const struct where *w, const struct params *p, int salt, size_t count)
{
	if (p->types < 0)
		return p->plain;
	/* A reduction has one type at all ranks; elsewhere each rank has another. */
	if (!shape_reduces(p->coll))
		salt += 3 * w->rank + 5 * w->side;
	return zoo_type(zoo_fit((enum zoo)((p->types + salt) % ZOO_TYPES), count));
}

/* Elements that @from of @side sends to @to of the other side (of the same group). */
static int count_of(const struct params *p, int inter, int side, int from, int to)
{
	uint64_t a = (uint64_t)from, b = (uint64_t)to;

	/* In place, what goes and what comes have the same place. */
	if (p->in_place && !gathers(p->coll) && p->coll != SCATTERV && from > to) {
		a = (uint64_t)to;
		b = (uint64_t)from;
	}
	if (gathers(p->coll) || p->coll == SCATTERV)
		b = 0;
	return (int)(check_random(p->id, inter && side ? 991 : 0, a * 1000 + b) %
		     (uint64_t)(2 * p->count + 1));
}

/* Peers of this rank on the sending or receiving half. */
static int peers(const struct shape *s, bool recv)
{
	if (s->p.coll >= NEIGHBOR_ALLGATHER)
		return recv ? s->w->nin : s->w->nout;
	return s->w->rsize;
}

/*
 * Block lengths of the v and w forms. Neighborhoods: both ends of an edge must agree and know
 * only their own ranks: every edge carries the same for v forms.
 */
static int block_count(const struct shape *s, bool recv, int i)
{
	const struct where *w = s->w;
	const struct params *p = &s->p;

	if (p->coll >= NEIGHBOR_ALLGATHER)
		return p->count;
	if (p->coll == SCATTERV)
		return recv ? count_of(p, w->inter, !w->side, w->rank, 0)
			    : count_of(p, w->inter, w->side, i, 0);
	return recv ? count_of(p, w->inter, !w->side, i, w->rank)
		    : count_of(p, w->inter, w->side, w->rank, i);
}

/* Blocks in falling order of rank with a gap of one element between; the elements in all. */
static size_t place(const struct shape *s, bool recv, int n, int *counts, int *displs)
{
	int at = 1;

	for (int i = n - 1; i >= 0; i--) {
		counts[i] = block_count(s, recv, i);
		displs[i] = at;
		at += counts[i] + 1;
	}
	return (size_t)at;
}

/* The same for the w forms: every block of another type, displacements in bytes. */
static size_t place_w(struct shape *s, bool recv, int n, int *counts, int *displs,
		      MPI_Aint *adispls, MPI_Datatype *types)
{
	MPI_Aint at = 0, lb, extent, low, high;

	for (int i = n - 1; i >= 0; i--) {
		counts[i] = block_count(s, recv, i);
		types[i] = pick_type(s->w, &s->p, 7 * i + recv, (size_t)counts[i]);
		MPI_Type_get_extent(types[i], &lb, &extent);
		MPI_Type_get_true_extent(types[i], &low, &high);
		high += low;
		if (counts[i] > 1)
			high += (counts[i] - 1) * extent;
		adispls[i] = at - low;
		displs[i] = (int)adispls[i];
		if (counts[i])
			at += high - low;
		at = (at + 24) / 8 * 8;
	}
	return (size_t)at;
}

static void new_reduction(struct shape *s)
{
	const struct where *w = s->w;
	int total = s->p.count, *rcounts = s->ints, shift;
	MPI_Datatype type;

	if (s->p.coll == REDUCE_SCATTER) {
		total = s->p.count * w->size * (w->inter ? w->rsize : 1);
		for (int i = 0; i < w->size; i++)
			rcounts[i] = s->p.count * (w->inter ? w->rsize : 1);
		/* Uneven, down to nothing at the last rank. */
		shift = w->size > 1 ? rcounts[w->size - 1] - (int)(s->p.id % 2) : 0;
		if (shift > 0) {
			rcounts[0] += shift;
			rcounts[w->size - 1] -= shift;
		}
		s->c.rcounts = rcounts;
	} else if (s->p.coll == REDUCE_SCATTER_BLOCK) {
		s->c.rcount = s->p.count * (w->inter ? w->rsize : 1);
		total = s->c.rcount * w->size;
	} else {
		s->c.rcount = total;
	}
	type = pick_type(w, &s->p, 0, (size_t)total);
	s->rbase = type;
	buf_new(&s->s, type, (size_t)total, 0, false);
	buf_new(&s->r, type, (size_t)total, 0, false);
	s->c.op = s->p.op;
	s->c.rtype = type;
	s->c.sbuf = s->s.ptr;
	s->c.rbuf = s->r.ptr;
	if (s->p.in_place && (s->p.coll != REDUCE || at_root(s)))
		s->c.sbuf = MPI_IN_PLACE;
	if (s->p.coll == REDUCE && !at_root(s))
		s->c.rbuf = NULL;
}

static void new_w(struct shape *s, int nsend, int nrecv)
{
	int *scounts = s->ints, *sdispls = scounts + nsend, *rcounts = sdispls + nsend,
	    *rdispls = rcounts + nrecv;
	size_t sbytes = place_w(s, false, nsend, scounts, sdispls, s->aints, s->wtypes);
	size_t rbytes =
		place_w(s, true, nrecv, rcounts, rdispls, s->aints + nsend, s->wtypes + nsend);

	s->rbase = MPI_BYTE;
	buf_new(&s->s, MPI_BYTE, sbytes, 0, false);
	buf_new(&s->r, MPI_BYTE, rbytes, 0, false);
	s->c.sbuf = s->s.ptr;
	s->c.rbuf = s->r.ptr;
	s->c.scounts = scounts;
	s->c.sdispls = sdispls;
	s->c.rcounts = rcounts;
	s->c.rdispls = rdispls;
	s->c.sadispls = s->aints;
	s->c.radispls = s->aints + nsend;
	s->c.stypes = s->wtypes;
	s->c.rtypes = s->wtypes + nsend;
	if (s->p.in_place) {
		s->c.sbuf = MPI_IN_PLACE;
		s->c.scounts = NULL;
		s->c.sdispls = NULL;
		s->c.stypes = NULL;
	}
}

/* What one rank sends and receives in the forms with one type a side: elements in the buffers. */
static void new_blocks(struct shape *s, int nsend, int nrecv)
{
	const struct where *w = s->w;
	enum coll coll = s->p.coll;
	int *scounts = s->ints, *sdispls = scounts + nsend, *rcounts = sdispls + nsend,
	    *rdispls = rcounts + nrecv;
	size_t count = (size_t)s->p.count, send = count, recv = count;

	s->c.scount = s->c.rcount = s->p.count;
	s->c.scounts = scounts;
	s->c.sdispls = sdispls;
	s->c.rcounts = rcounts;
	s->c.rdispls = rdispls;
	switch (coll) {
	case ALLTOALLV:
	case NEIGHBOR_ALLTOALLV:
		send = place(s, false, nsend, scounts, sdispls);
		recv = place(s, true, nrecv, rcounts, rdispls);
		break;
	case ALLGATHERV:
	case GATHERV:
	case NEIGHBOR_ALLGATHERV:
		s->c.scount = block_count(s, false, 0);
		send = (size_t)s->c.scount;
		recv = place(s, true, nrecv, rcounts, rdispls);
		break;
	case SCATTERV:
		s->c.rcount = block_count(s, true, 0);
		recv = (size_t)s->c.rcount;
		send = place(s, false, nsend, scounts, sdispls);
		break;
	case ALLTOALL:
	case NEIGHBOR_ALLTOALL:
		send = count * (size_t)nsend;
		recv = count * (size_t)nrecv;
		break;
	case SCATTER:
		send = count * (size_t)nsend;
		break;
	case ALLGATHER:
	case GATHER:
	case NEIGHBOR_ALLGATHER:
		recv = count * (size_t)nrecv;
		break;
	default: /* BCAST */
		send = 0;
		break;
	}
	s->c.stype = pick_type(w, &s->p, 1, send);
	s->c.rtype = s->rbase = pick_type(w, &s->p, 4, recv);
	buf_new(&s->s, s->c.stype, send, 0, s->p.absolute);
	buf_new(&s->r, s->rbase, recv, 0, s->p.absolute);
	s->c.sbuf = s->s.ptr;
	s->c.stype = s->s.type;
	s->c.rbuf = s->r.ptr;
	s->c.rtype = s->r.type;
}

/* Arguments that do not count here hold what would hurt if they were looked at. */
static void spoil(struct shape *s)
{
	bool gather = s->p.coll == GATHER || s->p.coll == GATHERV;
	bool scatter = s->p.coll == SCATTER || s->p.coll == SCATTERV;
	bool no_recv = gather && !at_root(s), no_send = scatter && !at_root(s);

	if (s->p.in_place && scatter && at_root(s)) {
		s->c.rbuf = MPI_IN_PLACE;
		s->c.rcount = GARBAGE;
		s->c.rtype = MPI_DATATYPE_NULL;
	} else if (s->p.in_place && !scatter && (!gather || at_root(s))) {
		s->c.sbuf = MPI_IN_PLACE;
		s->c.scount = GARBAGE;
		s->c.stype = MPI_DATATYPE_NULL;
		s->c.scounts = s->c.sdispls = NULL;
	}
	if (no_recv) {
		s->c.rbuf = NULL;
		s->c.rcount = GARBAGE;
		s->c.rtype = MPI_DATATYPE_NULL;
		s->c.rcounts = s->c.rdispls = NULL;
	}
	if (no_send) {
		s->c.sbuf = NULL;
		s->c.scount = GARBAGE;
		s->c.stype = MPI_DATATYPE_NULL;
		s->c.scounts = s->c.sdispls = NULL;
	}
}

void shape_new(struct shape *s, const struct where *w, const struct params *p)
{
	int nsend, nrecv;

	memset(s, 0, sizeof(*s));
	s->w = w;
	s->p = *p;
	s->c.coll = p->coll;
	s->c.comm = w->comm;
	s->c.root = root_of(w, p);
	nsend = peers(s, false);
	nrecv = peers(s, true);
	s->ints = calloc((size_t)(2 * (nsend + nrecv) + w->size + 1), sizeof(int));
	s->aints = calloc((size_t)(nsend + nrecv + 1), sizeof(MPI_Aint));
	s->wtypes = calloc((size_t)(nsend + nrecv + 1), sizeof(MPI_Datatype));
	if (!s->ints || !s->aints || !s->wtypes)
		abort();
	if (p->coll == BARRIER) {
		s->rbase = MPI_INT;
		buf_new(&s->s, MPI_INT, 1, 0, false);
		buf_new(&s->r, MPI_INT, 1, 0, false);
	} else if (shape_reduces(p->coll)) {
		new_reduction(s);
	} else if (uses_w(p->coll)) {
		new_w(s, nsend, nrecv);
	} else {
		new_blocks(s, nsend, nrecv);
		spoil(s);
	}
	s->req = MPI_REQUEST_NULL;
}

void shape_free(struct shape *s)
{
	buf_free(&s->s);
	buf_free(&s->r);
	if (s->want.mem) {
		buf_free(&s->sold);
		buf_free(&s->want);
	}
	free(s->ints);
	free(s->aints);
	free(s->wtypes);
}

void shape_prepare(struct shape *s, uint64_t round)
{
	uint64_t key = s->p.id * 64 + round * 8;
	struct call ref = s->c;

	if (s->want.mem) {
		buf_free(&s->sold);
		buf_free(&s->want);
	}
	buf_fill(&s->s, key + (uint64_t)s->w->rank * 1000003 + (uint64_t)s->w->side * 7);
	buf_fill(&s->r, key + (uint64_t)s->w->rank * 1000033 + 5 + (uint64_t)s->w->side * 7);
	buf_copy(&s->s, s->s.type, &s->sold);
	buf_copy(&s->r, s->rbase, &s->want);
	if (ref.rbuf == s->r.ptr && ref.rbuf != MPI_IN_PLACE && ref.rtype != MPI_DATATYPE_NULL) {
		ref.rbuf = s->want.ptr;
		ref.rtype = s->rbase;
	}
	if (uses_w(s->p.coll))
		ref.rbuf = s->want.ptr;
	call_reference(&ref);
}

void shape_context(const struct shape *s, enum form form)
{
	const struct params *p = &s->p;

	check_context("%s %s on %s (rank %d of %d%s): root %d count %d types %d id %llu%s%s",
		      form_name(form), coll_name(p->coll), s->w->name, s->w->rank, s->w->size,
		      s->w->inter ? ", inter" : "", p->root, p->count, p->types,
		      (unsigned long long)p->id, p->in_place ? " in place" : "",
		      p->absolute ? " absolute" : "");
}

void shape_issue(struct shape *s, enum form form)
{
	shape_context(s, form);
	s->before = check_counter(CTR_RUNS);
	check_mpi(call_make(&s->c, form, &s->req), coll_name(s->p.coll));
}

bool shape_runs(const struct shape *s)
{
	if (!s->w->inter && s->w->size == 1)
		return false;
	/* A rank that is neither root nor leaf has nothing to do. */
	if (s->w->inter && shape_rooted(s->p.coll) && s->c.root == MPI_PROC_NULL)
		return false;
	if (s->p.coll == ALLGATHERV) {
		int total = 0;

		for (int i = 0; i < s->w->rsize; i++)
			total += s->c.rcounts[i];
		return total > 0;
	}
	return s->p.coll == BARRIER || s->p.count > 0;
}

/*
 * In place, a reduce-scatter leaves the rest of the receive buffer, which held its input, with
 * whatever it likes: taken as it is expected.
 */
static void forget_rest(const struct shape *s)
{
	int mine = s->c.rcount, total = s->c.rcount * s->w->size, pos = 0, bytes;
	MPI_Aint lb, extent;
	void *packed;

	if (s->p.coll == REDUCE_SCATTER) {
		total = 0;
		mine = s->c.rcounts[s->w->rank];
		for (int i = 0; i < s->w->size; i++)
			total += s->c.rcounts[i];
	}
	MPI_Type_get_extent(s->rbase, &lb, &extent);
	MPI_Pack_size(total - mine, s->rbase, MPI_COMM_SELF, &bytes);
	packed = malloc((size_t)bytes + 1);
	if (!packed)
		abort();
	MPI_OK(MPI_Pack((char *)s->want.ptr + mine * extent, total - mine, s->rbase, packed, bytes,
			&pos, MPI_COMM_SELF));
	pos = 0;
	MPI_OK(MPI_Unpack(packed, bytes, &pos, (char *)s->r.ptr + mine * extent, total - mine,
			  s->rbase, MPI_COMM_SELF));
	free(packed);
}

void shape_verify(const struct shape *s, enum form form)
{
	if (s->p.in_place && (s->p.coll == REDUCE_SCATTER || s->p.coll == REDUCE_SCATTER_BLOCK))
		forget_rest(s);
	shape_context(s, form);
	buf_same(&s->r, &s->want, "receive buffer");
	buf_same(&s->s, &s->sold, "send buffer");
}

static void try_blocking(struct shape *s)
{
	shape_prepare(s, 0);
	shape_issue(s, BLOCKING);
	if (shape_runs(s))
		check_ran(s->before, 1);
	shape_verify(s, BLOCKING);
}

/* Wait for all, one at a time, in an order that differs from rank to rank. */
static void end_all(struct shape *s, int n, uint64_t id)
{
	uint64_t step = check_random(id, (uint64_t)check_rank, 3);
	int flag;

	for (int left = n, i = (int)(step % (uint64_t)n); left; left--, i = (i + 1) % n) {
		if (step >> 20 & 1) {
			for (flag = 0; !flag;)
				MPI_OK(MPI_Test(&s[i].req, &flag, MPI_STATUS_IGNORE));
		} else {
			MPI_OK(MPI_Wait(&s[i].req, MPI_STATUS_IGNORE));
		}
	}
}

void shape_try(struct shape *s, int n, enum form form, uint64_t id)
{
	uint64_t before, must = 0;

	if (form == BLOCKING) {
		for (int i = 0; i < n; i++)
			try_blocking(&s[i]);
		return;
	}
	for (int i = 0; i < n; i++)
		must += shape_runs(&s[i]);
	before = check_counter(CTR_RUNS);
	for (int i = 0; i < n; i++)
		shape_prepare(&s[i], form);
	for (int i = 0; i < n; i++)
		shape_issue(&s[i], form);
	if (form == NONBLOCKING) {
		end_all(s, n, id);
		check_ran(before, must);
		for (int i = 0; i < n; i++)
			shape_verify(&s[i], form);
		return;
	}
	for (uint64_t round = 0; round < 2; round++) {
		if (round) {
			for (int i = 0; i < n; i++)
				shape_prepare(&s[i], form + round);
		}
		/* Started in an order of its own at each rank. */
		for (int i = 0; i < n; i++)
			MPI_OK(MPI_Start(&s[(i + check_rank + (int)round) % n].req));
		end_all(s, n, id + round);
		check_ran(before, must * (round + 1));
		for (int i = 0; i < n; i++)
			shape_verify(&s[i], form);
	}
	for (int i = 0; i < n; i++)
		MPI_OK(MPI_Request_free(&s[i].req));
}
