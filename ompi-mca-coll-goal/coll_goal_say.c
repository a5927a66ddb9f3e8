/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the user must know, from help-mpi-coll-goal.txt, straight to the standard error. Open MPI
 * 4.1's own way there, through mpirun, loses messages of processes that end soon after, which is
 * what most of these do.
 */
#include "coll_goal.h"

#include <stdarg.h>
#include <stddef.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static void say(const char *topic, va_list args)
{
	char *text = opal_show_help_vstring("help-mpi-coll-goal.txt", topic, true, args);

	if (text)
		fputs(text, stderr);
	free(text);
}

/*
 * Has another process of the job on this node said @text? Who says it takes a socket's name made of
 * job and text, which is free again when the process ends. Where none can be had: no.
 */
static bool said(const char *text)
{
	struct sockaddr_un name = { .sun_family = AF_UNIX };
	uint64_t hash = 0xcbf29ce484222325ull;
	int fd, len;

	for (const char *t = text; *t; t++)
		hash = (hash ^ (unsigned char)*t) * 0x100000001b3ull;
	/* In the abstract name space: from the second byte on. */
	len = snprintf(name.sun_path + 1, sizeof(name.sun_path) - 1, "espgoal/%lu/%lx/%llx",
		       (unsigned long)getuid(), (unsigned long)OPAL_PROC_MY_NAME.jobid,
		       (unsigned long long)hash);
	fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return false;
	if (!bind(fd, (struct sockaddr *)&name,
		  (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)len)))
		return false; /* kept open: it is the mark */
	len = errno;
	close(fd);
	return len == EADDRINUSE;
}

void coll_goal_say_once(const char *topic, ...)
{
	va_list args;
	char *text;

	va_start(args, topic);
	text = opal_show_help_vstring("help-mpi-coll-goal.txt", topic, true, args);
	va_end(args);
	if (text && !said(text))
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

/* Has a process of @group that comes before ours its place on our machine? */
static bool earlier(ompi_group_t *group)
{
	int n = ompi_group_size(group);

	for (int r = 0; r < n; r++) {
		opal_process_name_t name = ompi_group_get_proc_name(group, r);
		const struct coll_goal_card *card;

		if (name.jobid > OPAL_PROC_MY_NAME.jobid ||
		    (name.jobid == OPAL_PROC_MY_NAME.jobid && name.vpid >= OPAL_PROC_MY_NAME.vpid))
			continue;
		card = coll_goal_modex_card(name);
		if (card &&
		    !memcmp(card->machine, coll_goal_modex_mine()->machine, sizeof(card->machine)))
			return true;
	}
	return false;
}

void coll_goal_say_member(ompi_communicator_t *comm, const char *topic, ...)
{
	va_list args;

	if (earlier(comm->c_local_group) ||
	    (OMPI_COMM_IS_INTER(comm) && earlier(comm->c_remote_group)))
		return;
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
