// SPDX-License-Identifier: BSD-3-Clause
/*
 * What the protocol reaches on a simulated network, beside what it could reach at most (or must
 * not exceed), and how fast the simulator is. Prints
 *
 *	RATIO <what> <parameters> ours=<v> theirs=<v> ratio=<ours/theirs>
 *
 *	sim [-q] [NAME]...	-q: shorter; NAME: only these (speed, large, overhead, goodput,
 *				incast, barrier, state)
 *
 * The links are 10 Gb/s with a round trip of 20 us; a switch, where there is one, stands in the
 * middle. Byte counts of wires include preamble, gap, Ethernet header and checksum.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "libgoal/sim/inside.h"
#include "libgoal/sim/sim.h"
#include "tools/tool.h"

#define RATE    1250000000ull
#define ONE_WAY 10000
#define MESSAGE (sizeof(struct esp_hdr) + sizeof(struct esp_pulled)) /* header of a full frame */
#define FRAMING (SIM_ETH + SIM_ETH_WIRE)

static bool quick;

static double cpu_seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void ratio(const char *what, const char *parameters, double ours, double theirs)
{
	printf("RATIO %s %s ours=%.6g theirs=%.6g ratio=%.4f\n", what, parameters, ours, theirs,
	       ours / theirs);
	fflush(stdout);
}

/* Rounds of a collective, all ranks at once, and how long each took. */
struct rounds {
	uint64_t ns[20000];
	uint32_t n, skip;
	struct sim *s;
	struct sim_stats before; /* since the rounds that count */
	uint64_t began;
	uint64_t count[ESP_COUNTERS];
	double cpu;
};

static void counters(struct rounds *r)
{
	uint32_t i;

	for (i = 0; i < ESP_COUNTERS; i++)
		r->count[i] = sim_counter(r->s, i) - r->count[i];
}

static void ended(void *arg, uint32_t run, uint64_t ns)
{
	struct rounds *r = arg;

	if (run + 1 == r->skip) {
		sim_stats(r->s, &r->before);
		r->began = sim_now(r->s);
		counters(r);
		r->cpu = cpu_seconds();
	}
	if (run >= r->skip && r->n < sizeof(r->ns) / sizeof(r->ns[0]))
		r->ns[r->n++] = ns;
}

static int ascending(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

static double percentile(struct rounds *r, double p)
{
	qsort(r->ns, r->n, sizeof(r->ns[0]), ascending);
	return (double)r->ns[(uint32_t)(p * (r->n - 1) + 0.5)];
}

static void die(const char *why)
{
	fprintf(stderr, "sim: %s\n", why);
	exit(1);
}

/* @q on @c for @runs rounds after @skip; what changed in @t since then. */
static void run(const struct sim_config *c, const struct build_request *q, uint32_t skip,
		uint32_t runs, uint64_t gap, struct rounds *r, struct sim_stats *t)
{
	struct sim_plan plan = { .programs = 1,
				 .runs = skip + runs,
				 .lockstep = true,
				 .gap = gap,
				 .ended = ended,
				 .arg = r };
	struct sim_program *program;
	struct goal_program *p;
	struct goal_error e;
	struct sim_group *g;
	struct sim_job *job;
	uint32_t rank;

	memset(r, 0, sizeof(*r));
	r->skip = skip;
	plan.program = &program;
	if (build_program(q, &p, &rank))
		die("the collective cannot be built");
	if (sim_open(c, &r->s) || sim_load(r->s, p, false, &program, &e) ||
	    sim_group(r->s, q->ranks, NULL, 0, &g) || sim_job(g, &plan, &job))
		die("there is not enough memory");
	goal_program_free(p);
	sim_run(r->s, 100000 * ESP_S, 0);
	r->cpu = cpu_seconds() - r->cpu;
	sim_stats(r->s, t);
	counters(r);
	if (sim_failure(r->s))
		die(sim_failure(r->s));
	t->frames -= r->before.frames;
	t->wire_bytes -= r->before.wire_bytes;
	t->bytes -= r->before.bytes;
	t->lost_buffer -= r->before.lost_buffer;
	if (sim_close(r->s))
		die("something is left over");
}

static struct sim_config network(uint32_t nodes, bool switched)
{
	struct sim_config c;

	sim_config_default(&c);
	c.nodes = nodes;
	c.rate = RATE;
	c.leaf = switched ? nodes : 0;
	c.latency = switched ? ONE_WAY / 2 : ONE_WAY;
	c.buffer = 256 << 10;
	return c;
}

static void speed(struct rounds *r)
{
	struct build_request barrier = {
		.coll = GOAL_BARRIER, .alg = GOAL_ALG_DISSEMINATION, .per_node = 1, .ranks = 64
	};
	struct build_request gather = { .coll = GOAL_GATHER,
					.alg = GOAL_ALG_BINOMIAL,
					.per_node = 1,
					.ranks = 64,
					.bytes = 8 };
	struct sim_config c = network(64, true);
	struct sim_stats t;

	c.check = true;
	run(&c, &barrier, 10, quick ? 500 : 5000, 1000, r, &t);
	ratio("speed", "barrier nodes=64 unit=frames/s", (double)t.frames / r->cpu, 1e6);
	run(&c, &gather, 10, quick ? 1000 : 10000, 1000, r, &t);
	ratio("speed", "gather nodes=64 bytes=8 unit=frames/s", (double)t.frames / r->cpu, 1e6);
}

/* What LogGOPS says of it on these links, in ns. */
static double model(const struct build_request *q)
{
	struct goal_sim_loggops m = { .L = ONE_WAY, .G = 1e9 / (double)RATE };
	struct goal_program *p;
	uint32_t rank;
	double ns;

	if (build_program(q, &p, &rank) || goal_sim_predict(p, &m, &ns))
		die("the model fails");
	goal_program_free(p);
	return ns;
}

static void large(struct rounds *r)
{
	struct build_request q = {
		.coll = GOAL_BARRIER, .alg = GOAL_ALG_DISSEMINATION, .per_node = 1, .ranks = 4096
	};
	struct sim_config c = network(4096, true);
	struct sim_stats t;

	run(&c, &q, 1, 3, 1000, r, &t);
	ratio("large", "barrier ranks=4096 unit=ns", percentile(r, 0.5), model(&q));
	q.coll = GOAL_GATHER;
	q.alg = GOAL_ALG_BINOMIAL;
	q.bytes = 8;
	run(&c, &q, 1, 3, 1000, r, &t);
	ratio("large", "gather ranks=4096 bytes=8 unit=ns", percentile(r, 0.5), model(&q));
}

/* Bytes on the wire of one message of @bytes, without anything but full frames. */
static double wire(uint64_t bytes, uint32_t mtu)
{
	uint64_t unit = mtu - MESSAGE, frames = (bytes + unit - 1) / unit;

	return (double)(bytes + frames * (MESSAGE + FRAMING));
}

static void overhead(struct rounds *r)
{
	const uint64_t bytes = 1 << 20;
	struct build_request q = { .coll = GOAL_BCAST, .ranks = 2, .bytes = bytes };
	struct sim_config c = network(2, false);
	uint32_t n = quick ? 50 : 500;
	struct sim_stats t;
	uint64_t frames = (bytes + 1500 - MESSAGE - 1) / (1500 - MESSAGE);

	run(&c, &q, 5, n, 0, r, &t);
	ratio("overhead", "mtu=1500 bytes=1048576 unit=bytes/message", (double)t.bytes / n,
	      (double)(bytes + frames * MESSAGE));
	ratio("acks", "mtu=1500 bytes=1048576 unit=acks/data-frame limit=0.125",
	      (double)r->count[ESP_C_acks_out] / (double)r->count[ESP_C_data_out], 0.125);
}

static double goodput(struct rounds *r, uint32_t drop, uint64_t bytes, uint32_t n)
{
	struct build_request q = { .coll = GOAL_BCAST, .ranks = 2, .bytes = bytes };
	struct sim_config c = network(2, false);
	struct sim_stats t;
	double sum = 0;
	uint32_t i;

	c.adversary.drop = drop;
	run(&c, &q, 3, n, 0, r, &t);
	for (i = 0; i < r->n; i++)
		sum += (double)r->ns[i];
	return (double)bytes * r->n / sum * 1e9;
}

static void goodputs(struct rounds *r)
{
	const uint64_t bytes = 16 << 20;
	uint32_t n = quick ? 5 : 20;
	double most = (double)RATE * (double)bytes / wire(bytes, 1500);
	double lossless = goodput(r, 0, bytes, n);

	ratio("goodput", "loss=0 limit=0.97 unit=bytes/s", lossless, most);
	ratio("goodput", "loss=0.001 limit=0.95 unit=bytes/s", goodput(r, 66, bytes, n), lossless);
	ratio("goodput", "loss=0.01 limit=0.80 unit=bytes/s", goodput(r, 655, bytes, n), lossless);
}

static void incast(struct rounds *r)
{
	static const uint32_t buffer[] = { 64, 128, 256 };
	struct build_request q = {
		.coll = GOAL_GATHER, .alg = GOAL_ALG_LINEAR, .ranks = 65, .bytes = 65536
	};
	struct esp_params params;
	struct sim_stats t;
	uint32_t i, pull;
	char text[100];

	esp_params_default(&params);
	for (pull = 0; pull < 2; pull++)
		for (i = 0; i < 3; i++) {
			struct sim_config c = network(65, true);

			params.no_pull = pull;
			c.params = &params;
			c.buffer = buffer[i] << 10;
			run(&c, &q, 2, quick ? 5 : 20, 100000, r, &t);
			snprintf(text, sizeof(text),
				 "nodes=64 bytes=65536 buffer=%uKiB pull=%s drops=%llu limit=1.2 "
				 "unit=ns",
				 buffer[i], pull ? "off" : "on", (unsigned long long)t.lost_buffer);
			ratio("incast", text, percentile(r, 0.5),
			      64 * wire(65536, 1500) / (double)RATE * 1e9);
		}
}

static void barrier(struct rounds *r)
{
	static const uint32_t nodes[] = { 2, 4, 16, 64, 256, 1024 };
	/* A frame with one message of no bytes, through two links. */
	double one_way =
		ONE_WAY + 2 * (sizeof(struct esp_hdr) + sizeof(struct esp_eager) + FRAMING) * 1e9 /
				  (double)RATE;
	struct esp_params params;
	double probe, limit;
	uint32_t i, n;
	char text[100];

	esp_params_default(&params);
	probe = (double)params.probe_min;
	for (i = 0; i < sizeof(nodes) / sizeof(nodes[0]); i++) {
		struct build_request q = { .coll = GOAL_BARRIER,
					   .alg = GOAL_ALG_DISSEMINATION,
					   .per_node = 1,
					   .ranks = nodes[i] };
		struct sim_config c = network(nodes[i], true);
		struct sim_stats t;
		double lossless;

		for (n = 0; 1u << n < nodes[i]; n++)
			;
		run(&c, &q, 3, 10, 1000000, r, &t);
		lossless = percentile(r, 0.5);
		snprintf(text, sizeof(text), "nodes=%u loss=0 limit=1.1 unit=ns", nodes[i]);
		ratio("barrier", text, lossless, n * one_way);
		c.adversary.drop = 66;
		run(&c, &q, 3, quick || nodes[i] > 64 ? 300 : 3000, 1000000, r, &t);
		limit = nodes[i] > 64 ? lossless + 3 * probe : lossless + probe + 2 * ONE_WAY;
		snprintf(text, sizeof(text), "nodes=%u loss=0.001 percentile=99 limit=1 unit=ns",
			 nodes[i]);
		ratio("barrier", text, percentile(r, 0.99), limit);
	}
}

static void state(struct rounds *r)
{
	(void)r;
	ratio("state", "per=active-flow unit=bytes", (double)sim_flow_bytes(), 4096);
}

static const struct {
	const char *name;
	void (*run)(struct rounds *);
} bench[] = {
	{ "speed", speed },      { "large", large },   { "overhead", overhead },
	{ "goodput", goodputs }, { "incast", incast }, { "barrier", barrier },
	{ "state", state },
};

int main(int argc, char **argv)
{
	static struct rounds r;
	bool named = false;
	uint32_t i;
	int k;

	for (k = 1; k < argc; k++)
		if (!strcmp(argv[k], "-q"))
			quick = true;
		else
			named = true;
	for (i = 0; i < sizeof(bench) / sizeof(bench[0]); i++) {
		bool wanted = !named;

		for (k = 1; k < argc; k++)
			wanted |= !strcmp(argv[k], bench[i].name);
		if (wanted)
			bench[i].run(&r);
	}
	return 0;
}
