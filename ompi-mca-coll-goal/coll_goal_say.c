/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the user must know, from help-mpi-coll-goal.txt, straight to the standard error. Open MPI
 * 4.1's own way there, through mpirun, loses messages of processes that end soon after, which is
 * what most of these do.
 */
#include "coll_goal.h"

#include <stdarg.h>

static void say(const char *topic, va_list args)
{
	char *text = opal_show_help_vstring("help-mpi-coll-goal.txt", topic, true, args);

	if (text)
		fputs(text, stderr);
	free(text);
}

void coll_goal_say(const char *topic, ...)
{
	va_list args;

	va_start(args, topic);
	say(topic, args);
	va_end(args);
}

void coll_goal_say_first(const char *topic, ...)
{
	va_list args;

	if (opal_process_info.my_local_rank)
		return;
	va_start(args, topic);
	say(topic, args);
	va_end(args);
}
