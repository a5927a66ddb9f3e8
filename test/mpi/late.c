/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * No rank leaves a barrier before the last one has entered it, for ranks that share neither memory nor a
 * clock: between two barriers one rank sleeps, and from before the first to behind the second no
 * other rank can have spent less time than that. All three forms, each rank late in turn.
 */
#include <unistd.h>

#include "call.h"

#define LATE   0.03 /* seconds */
#define ROUNDS 3

static void barrier(enum form form, MPI_Request *request)
{
	struct call c = { .coll = BARRIER, .comm = MPI_COMM_WORLD };

	if (form == PERSISTENT)
		MPI_OK(MPI_Start(request));
	else
		MPI_OK(call_make(&c, form, request));
	if (form != BLOCKING)
		MPI_OK(MPI_Wait(request, MPI_STATUS_IGNORE));
}

static void rounds(enum form form)
{
	struct call c = { .coll = BARRIER, .comm = MPI_COMM_WORLD };
	MPI_Request request = MPI_REQUEST_NULL;

	if (form == PERSISTENT)
		MPI_OK(call_make(&c, form, &request));
	for (int i = 0; i < ROUNDS * check_size; i++) {
		uint64_t before = check_counter(CTR_RUNS);
		double spent = check_now();
		int late = i % check_size;

		check_context("%s barrier, rank %d is late", form_name(form), late);
		barrier(form, &request);
		if (check_rank == late)
			usleep((useconds_t)(LATE * 1e6));
		barrier(form, &request);
		spent = check_now() - spent;
		CHECK(spent >= LATE, "left %.6f s after it entered the one before", spent);
		if (check_size > 1)
			check_ran(before, 2);
	}
	if (form == PERSISTENT)
		MPI_OK(MPI_Request_free(&request));
}

int main(int argc, char **argv)
{
	check_init(&argc, &argv, MPI_THREAD_SINGLE);
	for (int form = 0; form < FORMS; form++)
		rounds((enum form)form);
	return check_end();
}
