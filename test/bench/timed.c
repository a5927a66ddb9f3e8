/* SPDX-License-Identifier: BSD-3-Clause */
/* Functions of timed.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "timed.h"

#define TAG       28000
#define WARM      50e-3 /* s */
#define MAX_CALLS (1 << 24)

double timed_loop = 20e-3;
int timed_least = 1;

void places_open(struct places *p)
{
	int dims[2] = { 0, 0 }, wraps[2] = { 1, 1 };

	where_set(&p->world, MPI_COMM_WORLD, "world", 0);
	MPI_OK(MPI_Dims_create(check_size, 2, dims));
	MPI_OK(MPI_Cart_create(MPI_COMM_WORLD, 2, dims, wraps, 0, &p->grid));
	where_set(&p->cart, p->grid, "grid", 0);
}

void places_close(struct places *p)
{
	MPI_OK(MPI_Comm_free(&p->grid));
}

const struct where *places_for(const struct places *p, enum coll coll)
{
	return coll >= NEIGHBOR_ALLGATHER ? &p->cart : &p->world;
}

double timed_agree(double mine)
{
	double other;

	if (check_rank) {
		MPI_OK(MPI_Send(&mine, 1, MPI_DOUBLE, 0, TAG, MPI_COMM_WORLD));
		MPI_OK(MPI_Recv(&mine, 1, MPI_DOUBLE, 0, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
		return mine;
	}
	for (int r = 1; r < check_size; r++) {
		MPI_OK(MPI_Recv(&other, 1, MPI_DOUBLE, r, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
		if (other > mine)
			mine = other;
	}
	for (int r = 1; r < check_size; r++)
		MPI_OK(MPI_Send(&mine, 1, MPI_DOUBLE, r, TAG, MPI_COMM_WORLD));
	return mine;
}

/* The loop that is timed: seconds at this rank. */
static double loop(struct shape *s, enum form form, int calls)
{
	double begin;
	int err = MPI_SUCCESS;

	timed_agree(0);
	begin = check_now();
	switch (form) {
	case BLOCKING:
		for (int i = 0; i < calls; i++)
			err |= call_make(&s->c, BLOCKING, &s->req);
		break;
	case NONBLOCKING:
		for (int i = 0; i < calls; i++) {
			err |= call_make(&s->c, NONBLOCKING, &s->req);
			err |= MPI_Wait(&s->req, MPI_STATUS_IGNORE);
		}
		break;
	default:
		for (int i = 0; i < calls; i++) {
			err |= MPI_Start(&s->req);
			err |= MPI_Wait(&s->req, MPI_STATUS_IGNORE);
		}
		break;
	}
	CHECK(err == MPI_SUCCESS, "error %d", err);
	return check_now() - begin;
}

void timed_verify(struct shape *s, enum form form)
{
	shape_prepare(s, 1);
	if (form == PERSISTENT)
		MPI_OK(MPI_Start(&s->req));
	else
		shape_issue(s, form);
	if (form != BLOCKING)
		MPI_OK(MPI_Wait(&s->req, MPI_STATUS_IGNORE));
	shape_verify(s, form);
}

void timed_shape(struct shape *s, const struct where *w, enum coll coll, int bytes)
{
	struct params p = { .coll = coll, .count = bytes, .types = -1, .plain = MPI_BYTE };

	if (shape_reduces(coll)) {
		p.plain = MPI_INT;
		p.op = MPI_SUM;
		p.count = (bytes + 3) / 4;
	}
	shape_new(s, w, &p);
}

static void measure(const struct where *w, const char *name, enum coll coll, enum form form,
		    int bytes)
{
	struct shape s;
	double time, warm = 0, bad;
	uint64_t runs, kernel;
	int calls = timed_least;

	check_context("%s of %d bytes", name, bytes);
	timed_shape(&s, w, coll, bytes);
	if (form == PERSISTENT)
		shape_issue(&s, form);
	timed_verify(&s, form);
	for (int i = 0; i < 10 && warm < WARM; i++)
		warm += timed_agree(loop(&s, form, 1));
	for (;;) {
		runs = check_counter(CTR_RUNS);
		kernel = check_counter(CTR_RUNS_KERNEL);
		time = timed_agree(loop(&s, form, calls));
		if (time >= timed_loop || calls >= MAX_CALLS)
			break;
		/* Aim beyond the limit: loops that end below it are thrown away. */
		calls = time < timed_loop / 64 ? calls * 32
					       : (int)(calls * 1.3 * timed_loop / time) + 1;
	}
	check_ran(runs, (uint64_t)calls);
	kernel = check_counter(CTR_RUNS_KERNEL) - kernel;
	/* What another implementation gets wrong is reported, and timed all the same. */
	bad = timed_agree((double)check_failures());
	if (check_rank == 0 && (bad == 0 || check_stock))
		printf("SAMPLE %s %d %.4f %d %d\n", name, coll == BARRIER ? 0 : bytes,
		       1e6 * time / calls, calls, (int)kernel);
	fflush(stdout);
	if (form == PERSISTENT)
		MPI_OK(MPI_Request_free(&s.req));
	shape_free(&s);
}

void timed_measure(const struct places *p, const char *name, int bytes)
{
	enum form form;
	int coll = timed_parse(name, &form);

	if (coll < 0)
		check_fail("no collective is called %s", name);
	else
		measure(places_for(p, (enum coll)coll), name, (enum coll)coll, form, bytes);
}

int timed_parse(const char *name, enum form *form)
{
	char text[64];
	size_t len = strlen(name);

	*form = BLOCKING;
	if (coll_find(name) >= 0)
		return coll_find(name);
	*form = NONBLOCKING;
	if (name[0] == 'i' && coll_find(name + 1) >= 0)
		return coll_find(name + 1);
	*form = PERSISTENT;
	if (len < 5 || len > sizeof(text) || strcmp(name + len - 5, "_init") != 0)
		return -1;
	memcpy(text, name, len - 5);
	text[len - 5] = '\0';
	return coll_find(text);
}
