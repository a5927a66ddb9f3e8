/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * libgoal: collective communication as GOAL schedules (Group Operation Assembly Language;
 * Hoefler, Siebert, Lumsdaine, ICPP 2009).
 *
 * One includes this file; it brings the four parts of the library:
 *
 *	goal/graph.h		build graphs, compile them, read and write GOAL text
 *	goal/collectives.h	graphs of the MPI collectives
 *	goal/engine.h		run schedules
 *	goal/sim.h		simulate them on a network one does not have
 *
 * Conventions. Functions that return int return 0 (or a documented value above) on success and
 * -errno on failure; they never print and never end the process. Outputs are written on
 * success only. Functions of one graph must not run at the same time in two threads;
 * those of an engine may, if it was opened with GOAL_ENGINE_THREADS.
 */
#ifndef GOAL_GOAL_H
#define GOAL_GOAL_H

#include <goal/graph.h>
#include <goal/collectives.h>
#include <goal/engine.h>
#include <goal/sim.h>

#endif /* GOAL_GOAL_H */
