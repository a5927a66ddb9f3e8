/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The inside of a program, for program.c and the text reader and writer.
 */
#ifndef PROGRAM_H
#define PROGRAM_H

#include "graph.h"

struct goal_program {
	uint32_t ranks;
	uint32_t room;             /* of the array */
	struct goal_graph **graph; /* by rank; NULL: not set, writes as an empty block */
};

/* An empty program with room for @room graphs; ranks is 0. */
int program_new(uint32_t room, struct goal_program **program);
/* The graph of rank program->ranks, taken over on success. */
int program_append(struct goal_program *p, struct goal_graph *graph);

#endif /* PROGRAM_H */
