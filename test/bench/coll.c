/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Times collectives under mpirun; started by test/bench/compare. One line for each:
 * SAMPLE <collective> <bytes> <microseconds> <calls>, the mean of a loop of at least 20 ms on the
 * slowest rank. The result is verified once before. With goal, its counters must show that every
 * call ran as a schedule; else nothing is printed and the program fails.
 *
 * coll <collective[,collective...]> <bytes[,bytes...]>   names as MPI's, without MPI_, in small
 * letters: barrier, ibarrier, barrier_init, ineighbor_alltoall, ...
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "test/mpi/arith.h"
#include "test/mpi/shape.h"

#define TAG       28000
#define LOOP      20e-3 /* s */
#define WARM      50e-3
#define MAX_CALLS (1 << 24)

struct bench {
	const char *name;
	enum form form;
	struct shape shape;
};

/* The largest of all ranks' values, at all ranks. Not by a collective: those are what is timed. */
static double agree(double mine)
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
static double loop(struct bench *b, int calls)
{
	struct shape *s = &b->shape;
	double begin;
	int err = MPI_SUCCESS;

	agree(0);
	begin = check_now();
	switch (b->form) {
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

/* Once, checked byte by byte. */
static void verify(struct bench *b)
{
	shape_prepare(&b->shape, 1);
	if (b->form == PERSISTENT)
		MPI_OK(MPI_Start(&b->shape.req));
	else
		shape_issue(&b->shape, b->form);
	if (b->form != BLOCKING)
		MPI_OK(MPI_Wait(&b->shape.req, MPI_STATUS_IGNORE));
	shape_verify(&b->shape, b->form);
}

static void measure(const struct where *w, const char *name, enum coll coll, enum form form,
		    int bytes)
{
	struct params p = { .coll = coll, .count = bytes, .types = -1, .plain = MPI_BYTE };
	struct bench b = { .name = name, .form = form };
	double time, warm = 0, bad;
	uint64_t runs;
	int calls = 1;

	if (shape_reduces(coll)) {
		p.plain = MPI_INT;
		p.op = MPI_SUM;
		p.count = (bytes + 3) / 4;
	}
	check_context("%s of %d bytes", name, bytes);
	shape_new(&b.shape, w, &p);
	if (form == PERSISTENT)
		shape_issue(&b.shape, form);
	verify(&b);
	for (int i = 0; i < 10 && warm < WARM; i++)
		warm += agree(loop(&b, 1));
	for (;;) {
		runs = check_counter(CTR_RUNS);
		time = agree(loop(&b, calls));
		if (time >= LOOP || calls >= MAX_CALLS)
			break;
		/* Aim beyond the limit: loops that end below it are thrown away. */
		calls = time < LOOP / 64 ? calls * 32 : (int)(calls * 1.3 * LOOP / time) + 1;
	}
	check_ran(runs, (uint64_t)calls);
	/* What another implementation gets wrong is reported, and timed all the same. */
	bad = agree((double)check_failures());
	if (check_rank == 0 && (bad == 0 || check_stock))
		printf("SAMPLE %s %d %.4f %d\n", name, coll == BARRIER ? 0 : bytes,
		       1e6 * time / calls, calls);
	fflush(stdout);
	if (form == PERSISTENT)
		MPI_OK(MPI_Request_free(&b.shape.req));
	shape_free(&b.shape);
}

/* "gather", "igather", "gather_init" */
static int parse(const char *name, enum form *form)
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

int main(int argc, char **argv)
{
	int dims[2] = { 0, 0 }, wraps[2] = { 1, 1 };
	struct where world, cart;
	char *save, *name, *save_bytes, *bytes, list[512];
	MPI_Comm grid;

	check_init(&argc, &argv, MPI_THREAD_SINGLE);
	if (argc != 3) {
		check_fail("usage: coll <collective,...> <bytes,...>");
		return check_end();
	}
	zoo_open();
	arith_open();
	where_set(&world, MPI_COMM_WORLD, "world", 0);
	MPI_OK(MPI_Dims_create(check_size, 2, dims));
	MPI_OK(MPI_Cart_create(MPI_COMM_WORLD, 2, dims, wraps, 0, &grid));
	where_set(&cart, grid, "grid", 0);
	for (name = strtok_r(argv[1], ",", &save); name; name = strtok_r(NULL, ",", &save)) {
		enum form form;
		int coll = parse(name, &form);

		if (coll < 0) {
			check_fail("no collective is called %s", name);
			continue;
		}
		snprintf(list, sizeof(list), "%s", argv[2]);
		for (bytes = strtok_r(list, ",", &save_bytes); bytes;
		     bytes = strtok_r(NULL, ",", &save_bytes)) {
			measure(coll >= NEIGHBOR_ALLGATHER ? &cart : &world, name, (enum coll)coll,
				form, atoi(bytes));
			/* One size is enough where there is none. */
			if (coll == BARRIER)
				break;
		}
	}
	MPI_OK(MPI_Comm_free(&grid));
	arith_close();
	zoo_close();
	return check_end();
}
