/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * nodes PREFIX: stays, and samples what it is told to, so that jobs with other settings can take turns
 * without starting anew each time. Each rank reads commands from a fifo PREFIX.<rank> of its own, where
 * it sleeps meanwhile; test/bench/vm writes the same one to all:
 *
 *	time COLLECTIVE BYTES		timed.h
 *	overlap COLLECTIVE BYTES	nodes.h
 *	release RANK
 *	end
 *
 * Rank 0 prints DONE when it is ready, and after each.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "nodes.h"
#include "test/mpi/arith.h"

/* s: what wrote the command is still ending then, and its node may have a single CPU. */
#define SETTLES 0.4

static FILE *open_fifo(const char *prefix)
{
	char path[512];
	int fd;

	snprintf(path, sizeof(path), "%s.%d", prefix, check_rank);
	if (mkfifo(path, 0600)) {
		check_fail("%s: %s", path, strerror(errno));
		return NULL;
	}
	/* Writing too: then there is always a writer, and no end of file. */
	fd = open(path, O_RDWR);
	if (fd < 0) {
		check_fail("%s: %s", path, strerror(errno));
		return NULL;
	}
	return fdopen(fd, "r");
}

/* False at the end. */
static bool obey(const struct places *places, const char *line)
{
	char what[16], name[64];
	int bytes, rank;

	usleep((useconds_t)(SETTLES * 1e6));
	if (sscanf(line, "%15s %63s %d", what, name, &bytes) == 3 && !strcmp(what, "time"))
		timed_measure(places, name, bytes);
	else if (sscanf(line, "%15s %63s %d", what, name, &bytes) == 3 && !strcmp(what, "overlap"))
		overlap_measure(places, name, bytes);
	else if (sscanf(line, "release %d", &rank) == 1)
		release_measure(rank);
	else if (!strcmp(line, "end\n"))
		return false;
	else
		check_fail("no such command: %s", line);
	return true;
}

static void done(void)
{
	if (check_rank == 0)
		puts("DONE");
	fflush(stdout);
}

int main(int argc, char **argv)
{
	struct places places;
	FILE *commands = NULL;
	char line[128];

	check_init(&argc, &argv, MPI_THREAD_SINGLE);
	if (argc == 2)
		commands = open_fifo(argv[1]);
	else
		check_fail("usage: nodes PREFIX");
	if (timed_agree(!commands) > 0)
		return check_end();
	/* Guests are held up now and then: no single call may make a sample. */
	timed_loop = 400e-3;
	timed_least = 32;
	zoo_open();
	arith_open();
	places_open(&places);
	timed_agree(0);
	do {
		done();
	} while (fgets(line, sizeof(line), commands) && obey(&places, line));
	places_close(&places);
	arith_close();
	zoo_close();
	fclose(commands);
	return check_end();
}
