/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `goal sim': a GOAL text, or a collective, over the protocol on a simulated network, with every byte
 * checked; and what LogGOPS predicts for it.
 */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libgoal/sim/sim.h"
#include "tool.h"

struct sim_options {
	struct sim_config c;
	struct build_request q;
	struct sim_loggops m;
	const char *pcap;
	uint64_t runs;
	bool model, counters, text;
};

/* "0.1%" or "0.001" as a chance of SIM_CHANCE_ONE. */
static bool read_share(const char *text, uint32_t *chance)
{
	char *end;
	double v = strtod(text, &end);

	if (end == text || (*end && strcmp(end, "%")))
		return false;
	if (*end)
		v /= 100;
	if (!(v >= 0 && v < 1))
		return false;
	*chance = (uint32_t)(v * SIM_CHANCE_ONE + 0.5);
	return true;
}

/* "L,o,g,G,O,S" */
static bool read_model(const char *text, struct sim_loggops *m)
{
	return sscanf(text, "%lf,%lf,%lf,%lf,%lf,%lu", &m->L, &m->o, &m->g, &m->G, &m->O, &m->S) ==
	       6;
}

static int number(const char *name, uint64_t least, uint64_t most, uint64_t *to)
{
	if (tool_number(optarg, most, to) && *to >= least)
		return 0;
	return tool_usage("--%s takes a number from %llu to %llu, not `%s'", name,
			  (unsigned long long)least, (unsigned long long)most, optarg);
}

enum {
	OPT_DROP = 256,
	OPT_TWICE,
	OPT_LATE,
	OPT_CORRUPT,
	OPT_JITTER,
	OPT_BUFFER,
	OPT_LEAF,
	OPT_RAILS,
	OPT_COUNTERS
};

static int read_options(int argc, char **argv, struct sim_options *o)
{
	static const struct option longs[] = {
		{ "algorithm", required_argument, NULL, 'a' },
		{ "bytes", required_argument, NULL, 'b' },
		{ "root", required_argument, NULL, 'r' },
		{ "ranks", required_argument, NULL, 'n' },
		{ "node-ranks", required_argument, NULL, 'N' },
		{ "seed", required_argument, NULL, 's' },
		{ "runs", required_argument, NULL, 'k' },
		{ "mtu", required_argument, NULL, 'm' },
		{ "rate", required_argument, NULL, 'R' },
		{ "latency", required_argument, NULL, 'l' },
		{ "loggops", required_argument, NULL, 'L' },
		{ "pcap", required_argument, NULL, 'w' },
		{ "drop", required_argument, NULL, OPT_DROP },
		{ "twice", required_argument, NULL, OPT_TWICE },
		{ "late", required_argument, NULL, OPT_LATE },
		{ "corrupt", required_argument, NULL, OPT_CORRUPT },
		{ "jitter", required_argument, NULL, OPT_JITTER },
		{ "buffer", required_argument, NULL, OPT_BUFFER },
		{ "leaf", required_argument, NULL, OPT_LEAF },
		{ "rails", required_argument, NULL, OPT_RAILS },
		{ "counters", no_argument, NULL, OPT_COUNTERS },
		{ NULL, 0, NULL, 0 },
	};
	struct sim_adversary *a = &o->c.adversary;
	uint32_t *share = NULL;
	uint64_t v = 0;
	int opt, status = 0;

	opterr = 0;
	while (!status &&
	       (opt = getopt_long(argc, argv, ":a:b:r:n:N:s:k:m:R:l:L:w:", longs, NULL)) != -1) {
		share = NULL;
		switch (opt) {
		case 'a':
			if (!tool_algorithm(optarg, &o->q.alg))
				status = tool_usage(
					"There is no algorithm `%s', `goal list' names them",
					optarg);
			break;
		case 'b':
			status = number("bytes", 0, GOAL_MAX_BYTES, &o->q.bytes);
			break;
		case 'r':
			status = number("root", 0, INT32_MAX, &v);
			o->q.root = (int64_t)v;
			break;
		case 'n':
			status = number("ranks", 1, 1 << 20, &v);
			o->q.ranks = (uint32_t)v;
			break;
		case 'N':
			status = number("node-ranks", 1, 1 << 20, &v);
			o->c.ranks_per_node = (uint32_t)v;
			break;
		case 's':
			status = number("seed", 0, UINT64_MAX, &o->c.seed);
			break;
		case 'k':
			status = number("runs", 1, 1 << 24, &o->runs);
			break;
		case 'm':
			status = number("mtu", 576, 9000, &v);
			o->c.mtu = (uint32_t)v;
			break;
		case 'R':
			status = number("rate", 1, 1000000, &v);
			o->c.rate = v * 125000;
			break;
		case 'l':
			status = number("latency", 0, 1000000000, &o->c.latency);
			break;
		case 'L':
			o->model = true;
			if (!read_model(optarg, &o->m))
				status =
					tool_usage("--loggops takes L,o,g,G,O,S, not `%s'", optarg);
			break;
		case 'w':
			o->pcap = optarg;
			break;
		case OPT_JITTER:
			status = number("jitter", 0, 1000000000, &o->c.jitter);
			break;
		case OPT_BUFFER:
			status = number("buffer", 0, UINT32_MAX, &o->c.buffer);
			break;
		case OPT_LEAF:
			status = number("leaf", 0, 1 << 20, &v);
			o->c.leaf = (uint32_t)v;
			break;
		case OPT_RAILS:
			status = number("rails", 1, 4, &v);
			o->c.rails = (uint32_t)v;
			break;
		case OPT_DROP:
			share = &a->drop;
			break;
		case OPT_TWICE:
			share = &a->twice;
			break;
		case OPT_LATE:
			share = &a->late;
			break;
		case OPT_CORRUPT:
			share = &a->corrupt;
			break;
		case OPT_COUNTERS:
			o->counters = true;
			break;
		case ':':
			return tool_usage("Option `%s' takes a value", argv[optind - 1]);
		default:
			return tool_usage("There is no option `%s'", argv[optind - 1]);
		}
		if (share && !read_share(optarg, share))
			status = tool_usage(
				"Option `%s' takes a share like 0.1%% or 0.001, not `%s'",
				argv[optind - 2], optarg);
	}
	return status;
}

static void print_model(const struct sim_options *o, const struct goal_program *p)
{
	double ns;
	int rc = sim_model(p, &o->m, &ns);

	if (rc)
		printf("LogGOPS: %s\n", rc == -EDEADLK ? "not all messages meet" : strerror(-rc));
	else
		printf("LogGOPS: %.3f us\n", ns / 1000);
}

static void print_results(const struct sim_options *o, struct sim *s, uint64_t ns)
{
	struct sim_stats t;
	uint32_t i;

	sim_stats(s, &t);
	printf("time %.3f us for %llu run%s, from the first start to the last end\n",
	       (double)ns / 1000, (unsigned long long)o->runs, o->runs == 1 ? "" : "s");
	printf("%llu frames, %llu bytes (%llu on the wire), %llu bytes of messages\n",
	       (unsigned long long)t.frames, (unsigned long long)t.bytes,
	       (unsigned long long)t.wire_bytes, (unsigned long long)t.payload);
	printf("lost: %llu by chance, %llu in full buffers; most in a buffer: %llu bytes\n",
	       (unsigned long long)t.lost_chance, (unsigned long long)t.lost_buffer,
	       (unsigned long long)t.port_max);
	for (i = 0; i < sim_counters(); i++) {
		const char *name = sim_counter_name(i);
		bool main = !strcmp(name, "repeated_bytes") || !strcmp(name, "acks_out") ||
			    !strcmp(name, "tail_probes") || !strcmp(name, "timeouts") ||
			    !strcmp(name, "grants_out");

		if (sim_counter(s, i) && (main || o->counters))
			printf("%s %llu\n", name, (unsigned long long)sim_counter(s, i));
	}
	printf("%llu bytes of results compared with the reference\n",
	       (unsigned long long)t.checked);
}

static int simulate(struct sim_options *o, const struct goal_program *p, const char *name)
{
	struct sim_plan plan = { .programs = 1, .runs = (uint32_t)o->runs, .overlap = 1 };
	struct sim_program *sp;
	struct goal_error e = { .text = "" };
	struct sim_group *g;
	struct sim_job *job;
	struct sim *s;
	uint64_t began;
	int rc, status = TOOL_FAILED;

	o->c.nodes = (goal_program_ranks(p) + o->c.ranks_per_node - 1) / o->c.ranks_per_node;
	plan.program = &sp;
	rc = sim_open(&o->c, &s);
	if (rc)
		return tool_failed("%s: The network cannot be made: %s", name, strerror(-rc));
	rc = sim_load(s, p, o->text, &sp, &e);
	if (rc) {
		if (e.line)
			fprintf(stderr, "%s:%u:%u: %s\n", name, e.line, e.column, e.text);
		else
			tool_failed("%s: %s", name, e.text[0] ? e.text : strerror(-rc));
		goto close_sim;
	}
	rc = sim_group(s, goal_program_ranks(p), NULL, 0, &g);
	if (!rc)
		rc = sim_job(g, &plan, &job);
	if (rc) {
		tool_failed("%s: %s", name,
			    rc == -EDEADLK
				    ? "Not all messages meet a receive, or operations wait for "
				      "one another"
			    : rc == -EMSGSIZE ? "A message is longer than its receive"
					      : strerror(-rc));
		goto close_sim;
	}
	began = sim_now(s);
	sim_run(s, UINT64_MAX / 4, 0);
	if (!sim_failure(s))
		print_results(o, s, sim_now(s) - began);
	if (!sim_failure(s))
		sim_end(s);
	if (sim_failure(s))
		tool_failed("%s, seed %llu: %s", name, (unsigned long long)o->c.seed,
			    sim_failure(s));
	else
		status = TOOL_OK;
close_sim:
	sim_close(s);
	return status;
}

int tool_sim(int argc, char **argv)
{
	struct sim_options o = { .q.bytes = 8, .runs = 1 };
	struct goal_program *p = NULL;
	uint32_t rank;
	int status, rc;

	sim_config_default(&o.c);
	o.c.adversary.late_max = 100000;
	status = read_options(argc, argv, &o);
	if (status)
		return status;
	if (optind + 1 != argc)
		return tool_usage("`goal sim' takes one collective or GOAL text");
	if (tool_collective(argv[optind], &o.q.coll)) {
		if (!o.q.ranks)
			return tool_usage("-n RANKS is missing");
		if (!goal_algorithm_valid(o.q.coll, o.q.alg, false))
			return tool_usage(
				"%s has no such algorithm, `goal list' names those it has",
				argv[optind]);
		if (o.q.root >= o.q.ranks)
			return tool_usage("The root is not below the number of ranks, %u",
					  o.q.ranks);
		o.q.ndims = 1;
		o.q.dims[0] = o.q.ranks;
		o.q.per_node = o.c.ranks_per_node;
		rc = build_program(&o.q, &p, &rank);
		if (rc)
			return tool_failed("%s, rank %u: %s", argv[optind], rank, strerror(-rc));
	} else {
		if (o.q.ranks)
			return tool_usage(
				"There is no collective `%s', and a GOAL text says itself "
				"how many ranks it has",
				argv[optind]);
		o.text = true;
		p = tool_read_program(argv[optind]);
		if (!p)
			return TOOL_FAILED;
	}
	if (o.model)
		print_model(&o, p);
	if (o.pcap) {
		o.c.pcap = fopen(o.pcap, "wb");
		if (!o.c.pcap)
			status = tool_failed("%s: %s", o.pcap, strerror(errno));
	}
	if (!status)
		status = simulate(&o, p, argv[optind]);
	if (o.c.pcap && fclose(o.c.pcap) && !status)
		status = tool_failed("%s: %s", o.pcap, strerror(errno));
	goal_program_free(p);
	return status;
}
