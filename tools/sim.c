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

#include <goal/sim.h>

#include "tool.h"

struct sim_options {
	struct goal_sim_attr net;
	struct build_request q;
	struct goal_sim_loggops m;
	const char *pcap;
	uint64_t runs;
	bool model, counters, text;
};

/* "0.1%" or "0.001". */
static bool read_share(const char *text, double *share)
{
	char *end;
	double v = strtod(text, &end);

	if (end == text || (*end && strcmp(end, "%")))
		return false;
	if (*end)
		v /= 100;
	if (!(v >= 0 && v < 1))
		return false;
	*share = v;
	return true;
}

/* "L,o,g,G,O,S" */
static bool read_model(const char *text, struct goal_sim_loggops *m)
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
	struct goal_sim_attr *net = &o->net;
	double *share = NULL;
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
			net->ranks_per_node = (uint32_t)v;
			break;
		case 's':
			status = number("seed", 0, UINT64_MAX, &net->seed);
			break;
		case 'k':
			status = number("runs", 1, 1 << 24, &o->runs);
			break;
		case 'm':
			status = number("mtu", 576, 9000, &v);
			net->mtu = (uint32_t)v;
			break;
		case 'R':
			status = number("rate", 1, 1000000, &v);
			net->rate = v * 125000;
			break;
		case 'l':
			status = number("latency", 0, 1000000000, &net->latency);
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
			status = number("jitter", 0, 1000000000, &net->jitter);
			break;
		case OPT_BUFFER:
			status = number("buffer", 0, UINT32_MAX, &net->buffer);
			break;
		case OPT_LEAF:
			status = number("leaf", 0, 1 << 20, &v);
			net->leaf = (uint32_t)v;
			break;
		case OPT_RAILS:
			status = number("rails", 1, 4, &v);
			net->rails = (uint32_t)v;
			break;
		case OPT_DROP:
			share = &net->drop;
			break;
		case OPT_TWICE:
			share = &net->twice;
			break;
		case OPT_LATE:
			share = &net->late;
			break;
		case OPT_CORRUPT:
			share = &net->corrupt;
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
	int rc = goal_sim_predict(p, &o->m, &ns);

	if (rc)
		printf("LogGOPS: %s\n", rc == -EDEADLK ? "not all messages meet" : strerror(-rc));
	else
		printf("LogGOPS: %.3f us\n", ns / 1000);
}

static void print_counters(const struct goal_sim *s)
{
	const char *name;
	uint64_t value;
	uint32_t i;

	for (i = 0; !goal_sim_counter(s, i, &name, &value); i++)
		if (value)
			printf("%s %llu\n", name, (unsigned long long)value);
}

static void print_some(const char *name, uint64_t value)
{
	if (value)
		printf("%s %llu\n", name, (unsigned long long)value);
}

static void print_results(const struct sim_options *o, const struct goal_sim *s)
{
	struct goal_sim_report r;

	goal_sim_report(s, &r);
	printf("time %.3f us for %llu run%s, from the first start to the last end\n",
	       (double)r.ns / 1000, (unsigned long long)o->runs, o->runs == 1 ? "" : "s");
	printf("%llu frames, %llu bytes (%llu on the wire), %llu bytes of messages\n",
	       (unsigned long long)r.frames, (unsigned long long)r.bytes,
	       (unsigned long long)r.wire_bytes, (unsigned long long)r.payload);
	printf("lost: %llu by chance, %llu in full buffers; most in a buffer: %llu bytes\n",
	       (unsigned long long)r.lost, (unsigned long long)r.lost_buffer,
	       (unsigned long long)r.buffer_most);
	if (o->counters) {
		print_counters(s);
	} else {
		print_some("acks_out", r.acknowledgements);
		print_some("grants_out", r.grants);
		print_some("repeated_bytes", r.repeated);
		print_some("tail_probes", r.probes);
		print_some("timeouts", r.timeouts);
	}
	printf("%llu bytes of results compared with the reference\n",
	       (unsigned long long)r.compared);
}

static int complain(const char *name, const struct goal_error *e)
{
	if (e->line)
		fprintf(stderr, "%s:%u:%u: %s\n", name, e->line, e->column, e->text);
	else
		tool_failed("%s: %s", name, e->text);
	return TOOL_FAILED;
}

static int simulate(struct sim_options *o, const struct goal_program *p, const char *name)
{
	struct goal_sim_job job = {
		.ranks = goal_program_ranks(p),
		.program = p,
		.apart = o->text,
		.runs = (uint32_t)o->runs,
	};
	struct goal_error e;
	struct goal_sim *s;
	int status = TOOL_OK;

	o->net.nodes = (job.ranks + o->net.ranks_per_node - 1) / o->net.ranks_per_node;
	if (goal_sim_create(&o->net, &s, &e))
		return complain(name, &e);
	if (goal_sim_add(s, &job, &e) || goal_sim_run(s, UINT64_MAX, &e))
		status = complain(name, &e);
	else
		print_results(o, s);
	if (goal_sim_free(s, &e) && status == TOOL_OK)
		status = complain(name, &e);
	return status;
}

int tool_sim(int argc, char **argv)
{
	struct sim_options o = { .q.bytes = 8, .runs = 1 };
	struct goal_program *p = NULL;
	uint32_t rank;
	int status, rc;

	goal_sim_attr_init(&o.net);
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
		o.q.per_node = o.net.ranks_per_node;
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
		o.net.pcap = fopen(o.pcap, "wb");
		if (!o.net.pcap)
			status = tool_failed("%s: %s", o.pcap, strerror(errno));
	}
	if (!status)
		status = simulate(&o, p, argv[optind]);
	if (o.net.pcap && fclose(o.net.pcap) && !status)
		status = tool_failed("%s: %s", o.pcap, strerror(errno));
	goal_program_free(p);
	return status;
}
