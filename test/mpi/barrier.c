/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * No rank leaves a barrier before every rank has entered it: each writes its round into shared
 * memory before and reads everybody's after. In a job of two groups (an intercommunicator) a rank
 * waits for those of the other group at least. All three forms, ranks late at random.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "call.h"

#define ROUNDS 60
#define TAG    23000

static volatile int *entered; /* by world rank; one cache line each */
#define STRIDE 16

/* Memory of all ranks, by way of a file that is gone at once. */
static void share(void)
{
	char name[] = "/dev/shm/goal-test-XXXXXX";
	size_t bytes = (size_t)check_size * STRIDE * sizeof(int);
	int fd;

	if (check_rank == 0) {
		fd = mkstemp(name);
		if (fd < 0 || ftruncate(fd, (off_t)bytes) < 0) {
			perror(name);
			MPI_Abort(MPI_COMM_WORLD, 4);
		}
		for (int r = 1; r < check_size; r++)
			MPI_OK(MPI_Send(name, sizeof(name), MPI_CHAR, r, TAG, MPI_COMM_WORLD));
		for (int r = 1; r < check_size; r++)
			MPI_OK(MPI_Recv(NULL, 0, MPI_INT, r, TAG, MPI_COMM_WORLD,
					MPI_STATUS_IGNORE));
	} else {
		MPI_OK(MPI_Recv(name, sizeof(name), MPI_CHAR, 0, TAG, MPI_COMM_WORLD,
				MPI_STATUS_IGNORE));
		fd = open(name, O_RDWR | O_CLOEXEC);
		MPI_OK(MPI_Send(NULL, 0, MPI_INT, 0, TAG, MPI_COMM_WORLD));
	}
	entered = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (entered == MAP_FAILED) {
		perror(name);
		MPI_Abort(MPI_COMM_WORLD, 4);
	}
	close(fd);
	if (check_rank == 0)
		unlink(name);
}

static int round_number;

/* @others: only ranks whose parity is not ours must have entered. */
static void rounds(MPI_Comm comm, enum form form, bool others)
{
	struct call c = { .coll = BARRIER, .comm = comm };
	MPI_Request req = MPI_REQUEST_NULL;
	uint64_t before;

	check_context("%s barrier%s", form_name(form), others ? ", inter" : "");
	if (form == PERSISTENT)
		check_mpi(call_make(&c, form, &req), "barrier_init");
	for (int i = 0; i < ROUNDS; i++) {
		uint64_t late = check_random((uint64_t)check_rank, (uint64_t)i, form);

		round_number++;
		if (late % 4 == 0)
			usleep((useconds_t)(late >> 8) % 500);
		before = check_counter(CTR_RUNS);
		entered[check_rank * STRIDE] = round_number;
		__sync_synchronize();
		if (form == PERSISTENT)
			MPI_OK(MPI_Start(&req));
		else
			check_mpi(call_make(&c, form, &req), "barrier");
		if (form != BLOCKING)
			MPI_OK(MPI_Wait(&req, MPI_STATUS_IGNORE));
		__sync_synchronize();
		for (int r = 0; r < check_size; r++) {
			if (others && r % 2 == check_rank % 2)
				continue;
			CHECK(entered[r * STRIDE] >= round_number,
			      "left round %d while rank %d was in round %d", round_number, r,
			      entered[r * STRIDE]);
		}
		if (check_size > 1)
			check_ran(before, 1);
	}
	if (form == PERSISTENT)
		MPI_OK(MPI_Request_free(&req));
}

int main(int argc, char **argv)
{
	MPI_Comm local, inter;

	check_init(&argc, &argv, MPI_THREAD_SINGLE);
	share();
	for (int form = 0; form < FORMS; form++)
		rounds(MPI_COMM_WORLD, (enum form)form, false);
	if (check_size > 1) {
		MPI_OK(MPI_Comm_split(MPI_COMM_WORLD, check_rank % 2, check_rank, &local));
		MPI_OK(MPI_Intercomm_create(local, 0, MPI_COMM_WORLD, 1 - check_rank % 2, 5,
					    &inter));
		for (int form = 0; form < FORMS; form++)
			rounds(inter, (enum form)form, true);
		MPI_OK(MPI_Comm_free(&inter));
		MPI_OK(MPI_Comm_free(&local));
	}
	return check_end();
}
