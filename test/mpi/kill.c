/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One rank dies by SIGKILL while the others are inside a collective with it. Each survivor must
 * get an error, print "SURVIVOR <rank> <milliseconds>" and leave by itself; the runner counts the
 * lines. Started with mpirun's recovery enabled.
 *
 * kill <barrier|ibarrier|barrier_init|gather|bcast|alltoall|neighbor> [victim [bytes of a block]], by
 * default the last and 65536
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "call.h"

#define BLOCK 65536
#define LIMIT 8.0 /* s; only tells an error from a hang */

static char mine[BLOCK * 16], all[BLOCK * 16];
static int block = BLOCK;

static int collective(const char *what, MPI_Comm comm, MPI_Comm grid)
{
	struct call c = { .coll = BARRIER,
			  .comm = comm,
			  .sbuf = mine,
			  .rbuf = all,
			  .scount = block,
			  .rcount = block,
			  .stype = MPI_CHAR,
			  .rtype = MPI_CHAR };
	enum form form = BLOCKING;
	MPI_Request req;
	int err;

	if (strcmp(what, "ibarrier") == 0)
		form = NONBLOCKING;
	else if (strcmp(what, "barrier_init") == 0)
		form = PERSISTENT;
	else if (strcmp(what, "gather") == 0)
		c.coll = GATHER;
	else if (strcmp(what, "bcast") == 0)
		c.coll = BCAST;
	else if (strcmp(what, "alltoall") == 0)
		c.coll = ALLTOALL;
	else if (strcmp(what, "neighbor") == 0) {
		c.coll = NEIGHBOR_ALLTOALL;
		c.comm = grid;
	}
	err = call_make(&c, form, &req);
	if (form == PERSISTENT && err == MPI_SUCCESS)
		err = MPI_Start(&req);
	if (form != BLOCKING && err == MPI_SUCCESS)
		err = MPI_Wait(&req, MPI_STATUS_IGNORE);
	return err;
}

int main(int argc, char **argv)
{
	const char *what;
	int victim, wraps = 1, err = MPI_SUCCESS, again;
	MPI_Comm grid;
	double begin;

	check_init(&argc, &argv, MPI_THREAD_SINGLE);
	what = argc > 1 ? argv[1] : "barrier";
	victim = argc > 2 ? atoi(argv[2]) : check_size - 1;
	if (argc > 3)
		block = atoi(argv[3]);
	if (block < 0 || block > BLOCK)
		check_skip("a block of that many bytes is not among what is tried");
	MPI_OK(MPI_Cart_create(MPI_COMM_WORLD, 1, &check_size, &wraps, 0, &grid));
	MPI_OK(MPI_Comm_set_errhandler(grid, MPI_ERRORS_RETURN));
	check_context("%s with rank %d killed", what, victim);
	for (int i = 0; i < 20; i++) {
		if (collective(what, MPI_COMM_WORLD, grid) != MPI_SUCCESS)
			check_fail("an error before anybody died");
	}
	/* Ranks that only send are ahead of those that receive. */
	MPI_OK(MPI_Barrier(MPI_COMM_WORLD));
	begin = check_now();
	if (check_rank == victim) {
		usleep(100000);
		kill(getpid(), SIGKILL);
	}
	/* Ranks that need nothing from the dead one may go on for a while; not for ever. */
	while (err == MPI_SUCCESS && check_now() < begin + LIMIT)
		err = collective(what, MPI_COMM_WORLD, grid);
	if (err == MPI_SUCCESS)
		check_fail("no error within %.0f s", LIMIT);
	/* What has failed once fails at once from then on. */
	again = collective(what, MPI_COMM_WORLD, grid);
	if (again == MPI_SUCCESS && strcmp(what, "bcast") != 0 && strcmp(what, "gather") != 0)
		check_fail("the next call succeeded");
	if (check_failures() == 0)
		printf("SURVIVOR %d %.0f kernel %d\n", check_rank, 1e3 * (check_now() - begin),
		       (int)check_counter(CTR_RUNS_KERNEL));
	fflush(stdout);
	/* Finalizing with a dead rank is another matter: the runner looks at what was printed. */
	_exit(0);
}
