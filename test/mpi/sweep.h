/* SPDX-License-Identifier: BSD-3-Clause */
/* Collectives of one communicator over roots, counts, layouts, in place, in all forms. */
#ifndef TEST_MPI_SWEEP_H
#define TEST_MPI_SWEEP_H

#include "shape.h"

struct sweep {
	bool wanted[COLLS];
	bool all; /* all combinations instead of a sample */
	uint64_t id;
};

/*
 * Arguments: names of collectives (none: all that are no @neighbor collectives, or all that
 * are) and -a. Opens the zoo and the operations.
 */
void sweep_open(struct sweep *s, int argc, char **argv, bool neighbor);
void sweep_close(void);
/* Try them on @w; those that it cannot have (scan on an intercommunicator) are left out. */
void sweep_comm(struct sweep *s, const struct where *w);

#endif /* TEST_MPI_SWEEP_H */
