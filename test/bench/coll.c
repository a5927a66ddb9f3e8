/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Times collectives under mpirun, one SAMPLE line for each (timed.h); started by test/bench/compare.
 *
 * coll <collective[,collective...]> <bytes[,bytes...]>
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "test/mpi/arith.h"
#include "timed.h"

int main(int argc, char **argv)
{
	struct places places;
	char *save, *name, *save_bytes, *bytes, list[512];

	check_init(&argc, &argv, MPI_THREAD_SINGLE);
	if (argc != 3) {
		check_fail("usage: coll <collective,...> <bytes,...>");
		return check_end();
	}
	zoo_open();
	arith_open();
	places_open(&places);
	for (name = strtok_r(argv[1], ",", &save); name; name = strtok_r(NULL, ",", &save)) {
		enum form form;

		snprintf(list, sizeof(list), "%s", argv[2]);
		for (bytes = strtok_r(list, ",", &save_bytes); bytes;
		     bytes = strtok_r(NULL, ",", &save_bytes)) {
			timed_measure(&places, name, atoi(bytes));
			/* One size is enough where there is none. */
			if (timed_parse(name, &form) == BARRIER)
				break;
		}
	}
	places_close(&places);
	arith_close();
	zoo_close();
	return check_end();
}
