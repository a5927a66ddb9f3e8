/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Computing that is interrupted by frames, in a guest without namespaces:
 *
 *	lost INTERFACE [STEPS]
 *
 * does so many steps of work and prints LOST <steps> <nanoseconds> <frames that came meanwhile>. Without STEPS:
 * as many as take a second now.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static volatile uint64_t sink;

static void work(uint64_t steps)
{
	for (uint64_t i = 0; i < steps; i++)
		sink += i;
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static long frames(const char *interface)
{
	char path[128];
	long n = -1;
	FILE *f;

	snprintf(path, sizeof(path), "/sys/class/net/%s/statistics/rx_packets", interface);
	f = fopen(path, "r");
	if (f) {
		if (fscanf(f, "%ld", &n) != 1)
			n = -1;
		fclose(f);
	}
	return n;
}

static uint64_t steps_of_a_second(void)
{
	uint64_t steps = 1000;
	double took = 0;

	while (took < 0.3) {
		double begin = now();

		steps *= 2;
		work(steps);
		took = now() - begin;
	}
	return (uint64_t)((double)steps / took);
}

int main(int argc, char **argv)
{
	uint64_t steps;
	double begin, took;
	long before, after;

	if (argc < 2 || argc > 3)
		return 2;
	steps = argc == 3 ? strtoull(argv[2], NULL, 10) : steps_of_a_second();
	before = frames(argv[1]);
	begin = now();
	work(steps);
	took = now() - begin;
	after = frames(argv[1]);
	if (before < 0 || after < 0) {
		fprintf(stderr, "lost: there is no interface %s\n", argv[1]);
		return 1;
	}
	printf("LOST %llu %.0f %ld\n", (unsigned long long)steps, 1e9 * took, after - before);
	return 0;
}
