// SPDX-License-Identifier: BSD-3-Clause
/*
 * Random scenarios, one per seed, until the time, the frames or the seeds are used up: each must end
 * with every run over and every byte right. A seed that fails is printed, and gives the same
 * failure again: soak -s SEED -n 1.
 *
 *	soak [-s SEED] [-n SEEDS] [-t SECONDS] [-f FRAMES] [-k KIND] [-F FILE] [-T FILE] [-p PCAP]
 *	     [-1] [-c] [-C] [-v]
 *
 * -1: stop at the first failure. -F: the seeds of a file, one a line, first. -k: only this kind of
 * trouble. -c: print the table of drop reasons and state transitions at the end. -C: the same, and
 * one that was seen less than 1000 times is a failure. -T: begin with the sums that a soak before
 * left in the file, and leave them there, so that a long one can be run in pieces. -v: say what
 * each scenario is like, and what state the network was in when it failed.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "scenario.h"

#define ENOUGH 1000

struct soak {
	uint64_t frames, seeds, failed, runs, checked, interleaved;
	double cpu;
	uint64_t count[ESP_COUNTERS];
	enum scenario_kind kind;
	bool verbose;
	FILE *pcap;
};

static double cpu_seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static double seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

#define WATCH 40 /* CPU seconds, several times what the largest scenario takes */

static volatile uint64_t watched;

/* It will never come to an end: say which seed that is. */
static void stuck(int sig)
{
	char text[100];
	int n = snprintf(text, sizeof(text), "FAIL seed %llu: it runs in circles\n",
			 (unsigned long long)watched);

	(void)sig;
	if (write(STDOUT_FILENO, text, n) == n)
		_exit(1);
	_exit(3);
}

static void watch(uint64_t seed)
{
	struct itimerval t = { .it_value.tv_sec = WATCH };

	watched = seed;
	setitimer(ITIMER_PROF, &t, NULL);
}

static uint64_t run_once(struct soak *k, uint64_t seed)
{
	struct scenario sc;
	struct sim_stats t;
	const char *why;
	uint64_t digest;
	uint32_t i;

	watch(seed);
	if (!scenario_open(&sc, seed, k->kind, k->pcap)) {
		printf("FAIL seed %llu: the scenario could not be made (%s)\n",
		       (unsigned long long)seed, sc.text);
		k->failed++;
		scenario_close(&sc);
		return 0;
	}
	if (k->verbose) {
		printf("seed %llu, %s\n", (unsigned long long)seed, sc.text);
		fflush(stdout);
	}
	why = scenario_run(&sc);
	sim_stats(sc.s, &t);
	digest = sim_digest(sc.s);
	k->frames += t.frames;
	k->runs += t.runs_good + t.runs_failed;
	k->checked += t.checked;
	k->interleaved += t.interleaved;
	for (i = 0; i < ESP_COUNTERS; i++)
		k->count[i] += sim_counter(sc.s, i);
	if (why) {
		printf("FAIL seed %llu (%s): %s\n", (unsigned long long)seed, sc.text, why);
		if (k->verbose)
			sim_dump(sc.s, stdout);
		fflush(stdout);
		k->failed++;
	}
	scenario_close(&sc);
	return digest;
}

static void one_seed(struct soak *k, uint64_t seed)
{
	uint64_t failed = k->failed, digest = run_once(k, seed);

	k->seeds++;
	/* The same seed gives the same course of events, or no failure could be looked into. */
	if (seed % 64 == 0 && k->failed == failed && run_once(k, seed) != digest) {
		printf("FAIL seed %llu: a second run took another course\n",
		       (unsigned long long)seed);
		k->failed++;
	}
}

/* How many of them are rare. */
static uint32_t table(const struct soak *k)
{
	uint32_t i, rare = 0;

	puts("Drop reasons, state transitions and other events, over all seeds:");
	for (i = ESP_C_none + 1; i < ESP_COUNTERS; i++) {
		bool few = k->count[i] < ENOUGH;

		rare += few;
		printf("  %-26s %14llu%s\n", esp_count_name(i), (unsigned long long)k->count[i],
		       few ? "  too seldom" : "");
	}
	printf("%u of %u seen less than %u times\n", rare, (uint32_t)ESP_COUNTERS - 1, ENOUGH);
	return rare;
}

struct sum {
	const char *name;
	uint64_t *value;
};

static bool known(struct soak *k, const char *name, uint64_t value)
{
	const struct sum sums[] = {
		{ "frames", &k->frames },   { "seeds", &k->seeds },
		{ "failed", &k->failed },   { "runs", &k->runs },
		{ "checked", &k->checked }, { "interleaved", &k->interleaved },
	};
	uint32_t i;

	for (i = 0; i < sizeof(sums) / sizeof(*sums); i++)
		if (!strcmp(sums[i].name, name)) {
			*sums[i].value += value;
			return true;
		}
	for (i = 0; i < ESP_COUNTERS; i++)
		if (!strcmp(esp_count_name(i), name)) {
			k->count[i] += value;
			return true;
		}
	return false;
}

/* What the pieces before have seen; false: that is not such a file. */
static bool sums_read(struct soak *k, const char *path)
{
	FILE *f = fopen(path, "r");
	char name[64];
	unsigned long long value;
	bool good = true;

	if (!f)
		return errno == ENOENT;
	if (fscanf(f, "cpu %lf\n", &k->cpu) != 1)
		good = false;
	while (good && fscanf(f, "%63s %llu\n", name, &value) == 2)
		good = known(k, name, value);
	good = good && feof(f);
	fclose(f);
	return good;
}

static bool sums_write(const struct soak *k, const char *path)
{
	FILE *f = fopen(path, "w");
	uint32_t i;

	if (!f)
		return false;
	fprintf(f,
		"cpu %f\nframes %llu\nseeds %llu\nfailed %llu\nruns %llu\nchecked %llu\n"
		"interleaved %llu\n",
		k->cpu, (unsigned long long)k->frames, (unsigned long long)k->seeds,
		(unsigned long long)k->failed, (unsigned long long)k->runs,
		(unsigned long long)k->checked, (unsigned long long)k->interleaved);
	for (i = 0; i < ESP_COUNTERS; i++)
		fprintf(f, "%s %llu\n", esp_count_name(i), (unsigned long long)k->count[i]);
	return !fclose(f);
}

static bool seeds_of(struct soak *k, const char *path)
{
	FILE *f = fopen(path, "r");
	char line[200];

	if (!f) {
		perror(path);
		return false;
	}
	while (fgets(line, sizeof(line), f)) {
		char *end;
		unsigned long long seed = strtoull(line, &end, 10);

		if (end != line)
			one_seed(k, seed);
	}
	fclose(f);
	return true;
}

int main(int argc, char **argv)
{
	struct soak k = { .kind = SCENARIO_KINDS };
	uint64_t seed = 1, most = 0, frames = 0, begun;
	const char *file = NULL, *sums = NULL;
	double limit = 0, begin = seconds();
	bool coverage = false, complete = false, first = false;
	uint32_t rare = 0;
	int opt, i;

	while ((opt = getopt(argc, argv, "1s:n:t:f:k:F:T:p:cCv")) != -1) {
		switch (opt) {
		case '1':
			first = true;
			break;
		case 's':
			seed = strtoull(optarg, NULL, 10);
			break;
		case 'n':
			most = strtoull(optarg, NULL, 10);
			break;
		case 't':
			limit = atof(optarg);
			break;
		case 'f':
			frames = strtoull(optarg, NULL, 10);
			break;
		case 'k':
			for (i = 0; i < SCENARIO_KINDS; i++)
				if (!strcmp(scenario_name[i], optarg))
					k.kind = (enum scenario_kind)i;
			break;
		case 'F':
			file = optarg;
			break;
		case 'p':
			k.pcap = fopen(optarg, "wb");
			if (!k.pcap) {
				perror(optarg);
				return 2;
			}
			break;
		case 'T':
			sums = optarg;
			break;
		case 'C':
			complete = true;
			/* fall through */
		case 'c':
			coverage = true;
			break;
		case 'v':
			k.verbose = true;
			break;
		default:
			fputs("soak: see the top of test/sim/soak.c\n", stderr);
			return 2;
		}
	}
	signal(SIGPROF, stuck);
	if (sums && !sums_read(&k, sums)) {
		fprintf(stderr, "soak: %s has no sums in it\n", sums);
		return 2;
	}
	begun = k.seeds;
	if (file && !seeds_of(&k, file))
		return 2;
	while (!(first && k.failed) && (most || limit > 0 || frames) &&
	       (!most || k.seeds - begun < most) && (limit <= 0 || seconds() - begin < limit) &&
	       (!frames || k.frames < frames))
		one_seed(&k, seed++);
	k.cpu += cpu_seconds();
	if (sums && !sums_write(&k, sums)) {
		perror(sums);
		return 2;
	}
	if (coverage)
		rare = table(&k);
	if (sums)
		printf("the next seed is %llu; all pieces together:\n", (unsigned long long)seed);
	printf("%llu seeds, %llu frames, %llu runs, %llu bytes compared, %llu entries interleaved, "
	       "%.0f frames per CPU second\n",
	       (unsigned long long)k.seeds, (unsigned long long)k.frames,
	       (unsigned long long)k.runs, (unsigned long long)k.checked,
	       (unsigned long long)k.interleaved, (double)k.frames / (k.cpu > 0 ? k.cpu : 1));
	printf("%llu passed, %llu failed, 0 skipped\n", (unsigned long long)(k.seeds - k.failed),
	       (unsigned long long)k.failed);
	if (k.pcap)
		fclose(k.pcap);
	return k.failed || (complete && rare) ? 1 : 0;
}
