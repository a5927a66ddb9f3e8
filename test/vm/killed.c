// SPDX-License-Identifier: BSD-3-Clause
/*
 * Processes that die in the middle of collectives:
 *
 *	killed TIMES
 *
 * Four processes of this node run collectives without end; one of them is killed by SIGKILL at a random
 * moment. The others must hear of it: each ends by itself, with an error, soon. Over and over.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "shape.h"

#define RANKS 4
#define SOON  15.0 /* seconds: with local ranks no timeout of the protocol is involved */

static void run_until_failure(struct device *d, struct shape *shape, uint32_t n)
{
	struct object *o;
	int rc;

	for (uint32_t i = 0;; i++) {
		o = shape_start(&shape[i % n], d, ESPGOAL_START_WAIT, 12000000000ull, &rc);
		if (!o) {
			if (!rc || rc == -EBUSY || rc == -ENOSPC) {
				usleep(100);
				i--;
				continue;
			}
			if (rc != -ECONNRESET && rc != -ECONNABORTED)
				die("start: %s", strerror(-rc));
			return;
		}
		if (!shape_over(&shape[i % n], d, o)) {
			device_dump(d);
			die("%s did not end within 12 s", shape_name(&shape[i % n]));
		}
		if (d->word[o->id].status)
			return;
		shape_check(&shape[i % n], d, o);
	}
}

static int member(const char *folder, uint32_t rank, uint64_t seed)
{
	struct dice all = { .state = seed }, own = { .state = seed + rank + 1 };
	struct shape shape[6];
	struct device d;
	struct team t;
	uint32_t group, i;
	int rc;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	device_open(&d, 64, 1 << 20);
	team_meet(&t, &d, folder, rank, RANKS);
	rc = team_group(&t, &d, seed, false, &group);
	if (rc == -ECONNRESET || rc == -ECONNABORTED)
		return 0;
	if (rc)
		die("group: %s", strerror(-rc));
	for (i = 0; i < 6; i++) {
		shape_draw(&shape[i], &all, RANKS, 3000);
		shape_load(&shape[i], &d, rank, group, i + 1, &own);
	}
	run_until_failure(&d, shape, 6);
	/* Some leave cleanly, some by their end. */
	if (rank % 2)
		device_close(&d, true);
	return complaints != 0;
}

/* Whoever dies has told the others who it is: they wait for that first. */
static void all_met(const char *folder)
{
	double end = now() + 60;
	char path[600];
	uint32_t k;

	for (k = 0; k < RANKS; k++) {
		snprintf(path, sizeof(path), "%s/rank.%u", folder, k);
		while (access(path, F_OK)) {
			if (now() > end)
				die("rank %u does not come", k);
			usleep(1000);
		}
	}
}

int main(int argc, char **argv)
{
	struct dice dice = { .state = 4711 };
	uint32_t times, i, k, victim;
	char folder[512];
	pid_t pid[RANKS];
	double slowest = 0, first = now();
	int status;

	if (argc != 2)
		return 2;
	times = (uint32_t)atoi(argv[1]) * times_as_often();
	for (i = 0; i < times; i++) {
		double begun;

		snprintf(folder, sizeof(folder), "/dev/shm/killed.%d.%u", getpid(), i);
		if (mkdir(folder, 0700))
			die("%s: %s", folder, strerror(errno));
		fflush(stdout);
		for (k = 0; k < RANKS; k++) {
			pid[k] = fork();
			if (!pid[k])
				exit(member(folder, k,
					    scramble(getpid() + ((uint64_t)i << 32)) | 1));
		}
		victim = below(&dice, RANKS);
		all_met(folder);
		usleep(below(&dice, i % 4 ? 150000 : 20000));
		kill(pid[victim], SIGKILL);
		begun = now();
		for (k = 0; k < RANKS; k++) {
			while (!waitpid(pid[k], &status, WNOHANG)) {
				if (now() - begun > SOON)
					die("round %u: rank %u goes on %g s after rank %u was "
					    "killed",
					    i, k, SOON, victim);
				usleep(2000);
			}
			if (k != victim && status)
				complain("round %u: rank %u ended with status 0x%x", i, k, status);
		}
		if (now() - begun > slowest)
			slowest = now() - begun;
		snprintf(folder, sizeof(folder), "rm -rf /dev/shm/killed.%d.%u", getpid(), i);
		if (system(folder))
			die("cannot remove the folder");
		if (i % 20 == 19) {
			printf("%u rounds after %.0f s\n", i + 1, now() - first);
			fflush(stdout);
		}
	}
	printf("%s: %u times, the slowest end took %.3f s\n", complaints ? "FAIL" : "PASS", times,
	       slowest);
	return complaints != 0;
}
