// SPDX-License-Identifier: BSD-3-Clause
/*
 * The simulator as libgoal exports it (goal/sim.h): arguments are looked at here, and memory that
 * runs out ends a call, wherever in the simulation that was.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <goal/sim.h>

#include "inside.h"

struct goal_sim {
	struct sim *s;
};

__attribute__((format(printf, 3, 4))) static int because(struct goal_error *e, int code,
							 const char *fmt, ...)
{
	va_list ap;

	if (!e)
		return code;
	memset(e, 0, sizeof(*e));
	e->code = code;
	va_start(ap, fmt);
	vsnprintf(e->text, sizeof(e->text), fmt, ap);
	va_end(ap);
	return code;
}

static int no_memory(struct goal_error *e)
{
	return because(e, -ENOMEM, "There is not enough memory for the simulation");
}

static int failed(const struct sim *s, struct goal_error *e)
{
	if (s->no_memory)
		return no_memory(e);
	return because(e, -EIO, "Seed %llu, %s", (unsigned long long)s->c.seed, sim_failure(s));
}

void goal_sim_attr_init(struct goal_sim_attr *a)
{
	struct sim_config c;

	sim_config_default(&c);
	*a = (struct goal_sim_attr){
		.seed = c.seed,
		.nodes = c.nodes,
		.ranks_per_node = c.ranks_per_node,
		.rails = c.rails,
		.mtu = c.mtu,
		.rate = c.rate,
		.latency = c.latency,
		.leaf = c.leaf,
		.buffer = c.buffer,
		.local = c.local_ns,
		.late_max = 100000,
	};
}

static bool share(double v, uint32_t *chance)
{
	if (!(v >= 0 && v <= 1))
		return false;
	*chance = (uint32_t)(v * SIM_CHANCE_ONE + 0.5);
	return true;
}

static int check(const struct goal_sim_attr *a, struct goal_error *e)
{
	const uint64_t long_time = 1000000000000ull; /* a thousand seconds */

	if (!a->nodes || !a->ranks_per_node || (u64)a->nodes * a->ranks_per_node > 1u << 24)
		return because(e, -EINVAL, "There must be 1 to 16777216 endpoints, not %u x %u",
			       a->nodes, a->ranks_per_node);
	if (!a->rails || a->rails > ESP_PATHS)
		return because(e, -EINVAL, "A node has 1 to %u rails, not %u", ESP_PATHS, a->rails);
	if (a->mtu < ESP_MTU_MIN || a->mtu > ESP_MTU_MAX)
		return because(e, -EINVAL, "The MTU is %u to %u, not %u", ESP_MTU_MIN, ESP_MTU_MAX,
			       a->mtu);
	if (a->rate < 1000 || a->rate > 1000000000000ull)
		return because(e, -EINVAL, "The rate is 1000 to 10^12 bytes per second, not %llu",
			       (unsigned long long)a->rate);
	if (a->uplink && (a->uplink < 1000 || a->uplink > 1000000000000ull))
		return because(e, -EINVAL, "The uplink is 0, or 1000 to 10^12 bytes per second");
	if (a->latency > long_time || a->jitter > long_time || a->local > long_time ||
	    a->late_max > long_time)
		return because(e, -EINVAL, "Times of the network are 1000 seconds at most");
	return 0;
}

int goal_sim_create(const struct goal_sim_attr *a, struct goal_sim **sim, struct goal_error *e)
{
	struct sim_config c;
	struct goal_sim *g;
	int rc = check(a, e);

	if (rc)
		return rc;
	sim_config_default(&c);
	c.seed = a->seed;
	c.nodes = a->nodes;
	c.ranks_per_node = a->ranks_per_node;
	c.rails = a->rails;
	c.mtu = a->mtu;
	c.rate = a->rate;
	c.latency = a->latency;
	c.jitter = a->jitter;
	c.leaf = a->leaf;
	c.uplink = a->uplink;
	c.buffer = a->buffer;
	c.local_ns = a->local;
	c.pcap = a->pcap;
	c.adversary.late_max = a->late_max;
	if (!share(a->drop, &c.adversary.drop) || !share(a->twice, &c.adversary.twice) ||
	    !share(a->late, &c.adversary.late) || !share(a->corrupt, &c.adversary.corrupt))
		return because(e, -EINVAL, "Shares of frames are 0 to 1");
	g = malloc(sizeof(*g));
	if (!g)
		return no_memory(e);
	rc = sim_open(&c, &g->s);
	if (rc) {
		free(g);
		return no_memory(e);
	}
	*sim = g;
	return 0;
}

static int check_places(const struct sim *s, const struct goal_sim_job *j, struct goal_error *e)
{
	bool *taken;
	u32 i;
	int rc = 0;

	if (!j->ranks || j->ranks > s->neps)
		return because(e, -EINVAL, "A job has 1 to %u ranks here, not %u", s->neps,
			       j->ranks);
	if (!j->place)
		return 0;
	taken = calloc(s->neps, sizeof(*taken));
	if (!taken)
		return no_memory(e);
	for (i = 0; i < j->ranks && !rc; i++) {
		if (j->place[i] >= s->neps || taken[j->place[i]])
			rc = because(e, -EINVAL,
				     "Rank %u is at endpoint %u, which is not there, or taken", i,
				     j->place[i]);
		else
			taken[j->place[i]] = true;
	}
	free(taken);
	return rc;
}

static int check_job(const struct sim *s, const struct goal_sim_job *j, struct goal_error *e)
{
	if (!j->schedules == !j->program)
		return because(e, -EINVAL, "A job has either schedules or a program");
	if (j->program && goal_program_ranks(j->program) != j->ranks)
		return because(e, -EINVAL, "The program has %u ranks, the job %u",
			       goal_program_ranks(j->program), j->ranks);
	if (j->bufs && j->overlap > 1)
		return because(e, -EINVAL, "Runs that overlap cannot share their buffers");
	if (j->reduce && !j->bufs)
		return because(e, -EINVAL,
			       "With a reduction of yours the buffers must be yours too");
	return check_places(s, j, e);
}

/* Each schedule was compiled for its rank of a group of this size. */
static int check_ranks(const struct sim_program *p, struct goal_error *e)
{
	u32 i;

	for (i = 0; i < p->ranks; i++) {
		const struct goal_sched_hdr *h = p->part[i].sched.hdr;

		if (h->rank != i || h->npeers != p->ranks)
			return because(e, -EINVAL,
				       "The schedule of rank %u was compiled for rank %u of %u", i,
				       h->rank, h->npeers);
	}
	return 0;
}

static int explain(int rc, struct goal_error *e)
{
	switch (rc) {
	case 0:
		return 0;
	case -EDEADLK:
		return because(e, rc,
			       "Not all messages meet a receive, or operations wait for one "
			       "another");
	case -EMSGSIZE:
		return because(e, rc, "A message is longer than its receive");
	case -EFAULT:
		return because(e, rc, "A buffer is smaller than its schedule needs");
	default:
		return no_memory(e);
	}
}

static int add(struct sim *s, const struct goal_sim_job *j, struct goal_error *e)
{
	struct sim_program *p;
	struct sim_plan plan = {
		.program = &p,
		.programs = 1,
		.runs = j->runs ? j->runs : 1,
		.overlap = j->overlap ? j->overlap : 1,
		.bufs = j->bufs,
		.nbufs = j->nbufs,
		.reduce = j->reduce,
		.reduce_arg = j->reduce_arg,
	};
	struct sim_group *group;
	struct sim_job *job;
	int rc;

	if (e)
		e->text[0] = 0;
	rc = j->program ? sim_load(s, j->program, j->apart, &p, e)
			: sim_load_schedules(s, j->schedules, j->ranks, j->apart, &p, e);
	if (rc)
		return e && e->text[0] ? rc : no_memory(e);
	rc = check_ranks(p, e);
	if (rc)
		return rc;
	rc = sim_reference(p);
	if (!rc)
		rc = sim_group(s, j->ranks, j->place, 0, &group);
	if (!rc)
		rc = sim_job(group, &plan, &job);
	return explain(rc, e);
}

int goal_sim_add(struct goal_sim *g, const struct goal_sim_job *j, struct goal_error *e)
{
	jmp_buf escape;
	int rc;

	if (sim_failure(g->s))
		return failed(g->s, e);
	rc = check_job(g->s, j, e);
	if (rc)
		return rc;
	if (setjmp(escape)) {
		g->s->escape = NULL;
		return failed(g->s, e);
	}
	g->s->escape = &escape;
	rc = add(g->s, j, e);
	g->s->escape = NULL;
	return rc;
}

int goal_sim_run(struct goal_sim *g, uint64_t ns, struct goal_error *e)
{
	jmp_buf escape;
	struct sim *s = g->s;

	if (!setjmp(escape)) {
		s->escape = &escape;
		sim_run(s, ns < ESP_NEVER / 4 ? ns : ESP_NEVER / 4, 0);
	}
	g->s->escape = NULL;
	if (sim_failure(g->s))
		return failed(g->s, e);
	if (!sim_idle(g->s))
		return because(e, -ETIMEDOUT, "%llu runs are not over yet",
			       (unsigned long long)g->s->jobs_left);
	return 0;
}

void goal_sim_report(const struct goal_sim *g, struct goal_sim_report *r)
{
	const struct sim *s = g->s;
	const struct sim_stats *t = &s->t;

	*r = (struct goal_sim_report){
		.ns = s->now - SIM_START,
		.frames = t->frames,
		.bytes = t->bytes,
		.wire_bytes = t->wire_bytes,
		.payload = t->payload,
		.repeated = s->count[ESP_C_repeated_bytes],
		.acknowledgements = s->count[ESP_C_acks_out],
		.grants = s->count[ESP_C_grants_out],
		.probes = s->count[ESP_C_tail_probes],
		.timeouts = s->count[ESP_C_timeouts],
		.lost = t->lost_chance,
		.lost_buffer = t->lost_buffer,
		.buffer_most = t->port_max,
		.runs = t->runs_good + t->runs_failed,
		.failed = t->runs_failed,
		.compared = t->checked,
	};
}

int goal_sim_counter(const struct goal_sim *g, uint32_t i, const char **name, uint64_t *value)
{
	if (i + 1 >= ESP_COUNTERS) /* number 0 counts nothing */
		return -ENOENT;
	*name = sim_counter_name(i + 1);
	*value = sim_counter(g->s, i + 1);
	return 0;
}

/* What is left over shows in sim_failure(). */
static void end(struct sim *s)
{
	jmp_buf escape;

	if (!setjmp(escape)) {
		s->escape = &escape;
		sim_end(s);
	}
	s->escape = NULL;
}

int goal_sim_free(struct goal_sim *g, struct goal_error *e)
{
	int rc = 0;

	if (!g)
		return 0;
	if (!sim_failure(g->s)) {
		end(g->s);
		if (sim_failure(g->s) && !g->s->no_memory)
			rc = failed(g->s, e);
	}
	sim_close(g->s);
	free(g);
	return rc;
}
