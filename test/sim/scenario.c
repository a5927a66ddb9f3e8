// SPDX-License-Identifier: BSD-3-Clause
/* Random scenarios: see scenario.h. */
#include <stdio.h>
#include <stdlib.h>

#include "scenario.h"
#include "tools/tool.h"

/* A run that takes longer will never end: deaths and partitions cost a minute or two at most. */
#define HANGS (200 * ESP_S)

const char *const scenario_name[SCENARIO_KINDS] = { "calm",   "lossy",  "hostile", "credit",
						    "memory", "paths",  "death",   "idle",
						    "tail",   "single", "rare" };

struct maker {
	struct scenario *sc;
	struct sim_random r;
	struct sim_random more; /* for what came later: what a seed was stays as it was */
	uint64_t bytes;         /* that one run may move, at most */
	uint32_t rare;          /* SCENARIO_RARE: which moves */
};

enum {
	RARE_GONE,   /* endpoints die before their members are known */
	RARE_HELLO,  /* flows open again and again, and OPENs come once more */
	RARE_BEYOND, /* frames with bytes that nobody has granted, and entries with older times */
	RARE_WRONG,  /* programs that do not fit together */
	RARE_LINGER, /* who leaves is cut off for longer than its messages are kept */
};

static uint64_t pick(struct maker *m, const uint64_t *from, uint32_t n)
{
	return from[sim_below(&m->r, n)];
}
#define PICK(m, ...)                               \
	pick(m, (const uint64_t[]){ __VA_ARGS__ }, \
	     sizeof((const uint64_t[]){ __VA_ARGS__ }) / sizeof(uint64_t))

static bool one_in(struct maker *m, uint32_t n)
{
	return sim_below(&m->r, n) == 0;
}

static void network(struct maker *m)
{
	struct sim_config *c = &m->sc->c;

	/* Everybody waits for everybody where there is one credit only. */
	c->nodes = m->sc->kind != SCENARIO_CREDIT && m->sc->kind != SCENARIO_SINGLE && one_in(m, 12)
			   ? (uint32_t)sim_between(&m->r, 10, 40)
			   : (uint32_t)sim_between(&m->r, 2, 9);
	c->ranks_per_node = (uint32_t)PICK(m, 1, 1, 1, 2, 2, 3, 4);
	c->rails = (uint32_t)PICK(m, 1, 1, 1, 2, 2, 3, 4);
	c->mtu = (uint32_t)PICK(m, 1500, 1500, 1500, 1500, 9000, 576, 4000, 1501, 743);
	c->rate = PICK(m, 1250000000, 1250000000, 12500000, 125000000, 12500000000ull);
	c->latency = PICK(m, 200, 1000, 1000, 5000, 20000, 100000);
	c->jitter = one_in(m, 2) ? sim_below(&m->r, c->latency) : 0;
	c->leaf = (uint32_t)PICK(m, 0, 1024, 1024, 3, 4);
	c->uplink = one_in(m, 3) ? c->rate : 0;
	c->buffer = PICK(m, 0, 16384, 65536, 131072, 262144);
	c->tx_queue = one_in(m, 4) ? (uint32_t)sim_between(&m->r, 2, 30) : 0;
	c->local_ns = PICK(m, 0, 300, 300, 10000);
	c->check = true;
}

/* Drawn beside the others, which stay what they are for each seed. */
static void keeping(const struct maker *of, struct esp_params *p)
{
	struct maker beside = *of, *m = &beside;

	p->keep_max = (uint32_t)PICK(m, 128, 128, 128, 16, 2, 0);
	p->keep_ahead = (uint32_t)PICK(m, 32, 32, 4, 1);
}

static void parameters(struct maker *m)
{
	struct esp_params *p = &m->sc->params;

	esp_params_default(p);
	p->eager_max = (uint32_t)PICK(m, 1024, 1024, 1024, 0, 8, 64, 4096, ESP_EAGER_MAX);
	if (one_in(m, 4))
		p->features = 0;
	if (one_in(m, 3))
		p->pn_first = 0u - (uint32_t)sim_between(&m->r, 1, 600);
	if (one_in(m, 3))
		p->mid_first = 0u - (uint32_t)sim_between(&m->r, 1, 1200);
	if (one_in(m, 8))
		p->no_pull = true;
	p->refuse_max = (uint32_t)PICK(m, 64, 64, 64, 1, 3);
	p->window_init = (uint32_t)PICK(m, 16, 16, 2, 64, ESP_PN_SPAN);
	p->window_max = p->window_init > p->window_max ? p->window_init : p->window_max;
	p->ack_every = (uint32_t)PICK(m, 10, 10, 2, 16);
	keeping(m, p);
}

static void losses(struct maker *m)
{
	struct sim_adversary *a = &m->sc->c.adversary;

	a->drop = (uint32_t)PICK(m, 0, 65, 655, 3277, 6554, 19661);
	a->twice = (uint32_t)PICK(m, 0, 655, 6554);
	a->late = (uint32_t)PICK(m, 0, 655, 6554, 20000);
	a->late_max = PICK(m, 1000, 20000, 200000, 3000000);
	a->copy_frames = one_in(m, 2);
	a->segments = one_in(m, 2);
}

static void malice(struct maker *m)
{
	struct sim_adversary *a = &m->sc->c.adversary;

	losses(m);
	if (a->drop > 6554)
		a->drop = 6554;
	a->corrupt = (uint32_t)PICK(m, 0, 655, 3277);
	a->mangle = (uint32_t)PICK(m, 655, 3277, 13000);
	a->forge_every = PICK(m, 10000, 100000, 1000000);
	a->flood_every = one_in(m, 2) ? 20 * ESP_MS : 0;
	a->slow = (uint32_t)PICK(m, 0, 6554, 32768);
	a->slow_max = PICK(m, 1000, 50000, 2000000);
	a->interleave = (uint32_t)PICK(m, 0, 6554, 20000);
	a->interleave_ns = PICK(m, 0, 1000, 20000);
	m->sc->params.features = ESP_FEAT_PAYLOAD_CRC; /* or corruption is not seen */
}

static void rare(struct maker *m)
{
	struct sim_config *c = &m->sc->c;
	struct sim_adversary *a = &c->adversary;
	struct esp_params *p = &m->sc->params;

	m->rare = (uint32_t)PICK(m, RARE_GONE, RARE_HELLO, RARE_HELLO, RARE_BEYOND, RARE_WRONG,
				 RARE_LINGER);
	c->nodes = (uint32_t)sim_between(&m->r, 5, 12);
	c->rails = 1;
	switch (m->rare) {
	case RARE_GONE:
		c->ranks_per_node = (uint32_t)sim_between(&m->r, 2, 4);
		a->kill_every = ESP_MS;
		a->kills = (uint32_t)sim_between(&m->r, 2, c->nodes);
		a->endpoints = true;
		break;
	case RARE_HELLO:
		c->ranks_per_node = 1;
		a->drop = (uint32_t)PICK(m, 0, 655);
		a->forget_every = 100000;
		a->again = SIM_CHANCE_ONE;
		a->mangle = 40000;
		a->alien = true;
		a->late_max = 50 * ESP_MS;
		a->flood_every = 20 * ESP_MS;
		p->hello_rate = 1000;
		p->death = 30 * ESP_S;
		break;
	case RARE_WRONG:
		c->ranks_per_node = 1;
		losses(m);
		break;
	case RARE_LINGER:
		c->ranks_per_node = (uint32_t)sim_between(&m->r, 1, 3);
		a->cut_every = ESP_MS;
		a->cut_min = 11 * ESP_S;
		a->cut_max = 15 * ESP_S;
		a->cuts = 1;
		p->eager_max = 1024;
		p->death = 60 * ESP_S;
		m->bytes = 500 * c->nodes;
		break;
	default:
		c->ranks_per_node = 1;
		a->drop = (uint32_t)PICK(m, 0, 655);
		a->beyond = 16384;
		a->behind = one_in(m, 2);
		a->interleave = a->behind ? 20000 : 0;
		a->interleave_ns = 20000;
		p->eager_max = (uint32_t)PICK(m, 1024, 64);
		m->bytes *= 10;
		break;
	}
}

static void trouble(struct maker *m)
{
	struct sim_config *c = &m->sc->c;
	struct sim_adversary *a = &c->adversary;
	struct esp_params *p = &m->sc->params;
	uint32_t i;

	switch (m->sc->kind) {
	case SCENARIO_CALM:
		break;
	case SCENARIO_LOSSY:
		losses(m);
		break;
	case SCENARIO_HOSTILE:
		malice(m);
		break;
	case SCENARIO_SINGLE:
		if (one_in(m, 2))
			losses(m);
		if (a->drop > 6554) /* each loss costs all others of the node a timeout */
			a->drop = 6554;
		for (i = 0; i < ESP_POOLS; i++)
			c->pool[i] = 1;
		c->rooms = 1;
		break;
	case SCENARIO_RARE:
		rare(m);
		break;
	case SCENARIO_CREDIT:
		if (one_in(m, 2))
			malice(m);
		for (i = 0; i < ESP_POOLS; i++)
			c->pool[i] = (uint32_t)PICK(m, 1, 1, 1, 2, 7);
		c->rooms = (uint32_t)PICK(m, 1, 1, 2, 5);
		break;
	case SCENARIO_MEMORY:
		if (one_in(m, 2))
			malice(m);
		a->no_memory = (uint32_t)PICK(m, 655, 6554, 20000);
		break;
	case SCENARIO_PATHS:
		if (one_in(m, 2))
			malice(m);
		a->rail_every = PICK(m, 0, 5 * ESP_MS, 100 * ESP_MS);
		a->mtu_every = PICK(m, 0, 2 * ESP_MS, 50 * ESP_MS);
		a->hole_every = PICK(m, 0, 10 * ESP_MS, 100 * ESP_MS);
		if (c->rails == 1)
			c->rails = 2;
		break;
	case SCENARIO_DEATH:
		if (one_in(m, 2))
			malice(m);
		a->kill_every = PICK(m, 0, ESP_MS, 20 * ESP_MS);
		a->kills = (uint32_t)sim_between(&m->r, 1, 3);
		a->restart_after = PICK(m, 0, ESP_MS, 100 * ESP_MS, 6 * ESP_S);
		a->cut_every = one_in(m, 2) ? PICK(m, 5 * ESP_MS, 100 * ESP_MS) : 0;
		a->cut_min = ESP_MS;
		a->cut_max = PICK(m, 10 * ESP_MS, 3 * ESP_S, 8 * ESP_S);
		a->cancel = (uint32_t)PICK(m, 0, 300, 3000);
		a->alien = one_in(m, 3);
		break;
	case SCENARIO_TAIL:
		/* Nothing else may cost time. */
		a->drop = (uint32_t)PICK(m, 66, 655);
		c->ranks_per_node = 1;
		c->rails = 1;
		c->rate = 1250000000;
		c->uplink = 0;
		c->latency = PICK(m, 200, 1000, 5000);
		c->jitter = 0;
		c->buffer = 0;
		c->tx_queue = 0;
		m->bytes = 8 * c->nodes;
		break;
	default:
		if (one_in(m, 2))
			losses(m);
		if (a->drop > 6554)
			a->drop = 6554;
		a->forget_every = one_in(m, 2) ? PICK(m, ESP_MS, 20 * ESP_MS) : 0;
		if (!a->forget_every) {
			p->death = 400 * ESP_MS;
			p->idle = ESP_S;
			p->watch = 100 * ESP_MS;
		}
		break;
	}
	/* Thirty losses one after the other do happen in a long soak; a peer that is not dead must
	 * not be taken for it. */
	if (a->drop > 655 || a->no_memory || a->rail_every || a->hole_every)
		p->death = 30 * ESP_S;
	if (p->idle < 2 * p->death)
		p->idle = 2 * p->death + ESP_S;
}

static void later_troubles(struct maker *m)
{
	static const uint32_t pauses[8] = { 0, 0, 0, 0, 0, 655, 6554, 30000 };
	static const uint64_t every[4] = { 0, 0, 100000, 20 * ESP_MS };
	struct sim_adversary *a = &m->sc->c.adversary;

	if (m->sc->kind != SCENARIO_TAIL)
		a->pause = pauses[sim_below(&m->more, 8)];
	if (m->sc->kind != SCENARIO_TAIL && m->sc->kind != SCENARIO_RARE)
		a->table_every = every[sim_below(&m->more, 4)];
	/* Elsewhere nodes may be silent for so long that a stranger is believed. */
	if (m->sc->kind == SCENARIO_HOSTILE || m->sc->kind == SCENARIO_LOSSY)
		a->stranger_every = a->drop > 6554 ? 0 : sim_below(&m->more, 4) * 20000;
	/*
	 * Until a node was open once, one user's table decides where it is asked for: with somebody
	 * there who says he is the node, or little time until it counts as dead, that is the end
	 * (doc/protocol.md, section 4).
	 */
	if (a->stranger_every || m->sc->params.death < ESP_S)
		a->table_every = 0;
}

static bool collective(struct maker *m, struct goal_program **p, uint32_t ranks)
{
	struct build_request q = { .ranks = ranks,
				   .coll = (enum goal_coll)sim_below(&m->r, GOAL_COLLS) };
	uint64_t most = m->bytes / ranks;
	uint32_t rank;

	/* Somebody has sent all he has to send while others have not got it. */
	if (m->sc->kind == SCENARIO_RARE && m->rare == RARE_LINGER)
		q.coll =
			(enum goal_coll)PICK(m, GOAL_BCAST, GOAL_GATHER, GOAL_REDUCE, GOAL_SCATTER);
	switch (q.coll) {
	case GOAL_ALLTOALL:
	case GOAL_ALLTOALLV:
	case GOAL_ALLTOALLW:
	case GOAL_ALLGATHER:
	case GOAL_ALLGATHERV:
	case GOAL_REDUCE_SCATTER:
	case GOAL_REDUCE_SCATTER_BLOCK:
		most /= ranks;
		break;
	default:
		break;
	}
	do {
		q.alg = (enum goal_algorithm)sim_below(&m->r, GOAL_ALGS);
	} while (!goal_algorithm_valid(q.coll, q.alg, false));
	q.bytes = PICK(m, 0, 1, 8, 8, 100, 1000, 1024, 1025, 3000, 20000, 100000, 1000000);
	if (q.bytes > most)
		q.bytes = sim_below(&m->r, most + 1);
	if (build_rooted(q.coll))
		q.root = (int64_t)sim_below(&m->r, ranks);
	q.ndims = 1;
	q.dims[0] = ranks;
	q.in_place = one_in(m, 4) && q.coll != GOAL_BARRIER && q.coll != GOAL_BCAST &&
		     !build_neighborhood(q.coll);
	return !build_program(&q, p, &rank);
}

/* A message too long for its receive, or one that has none: runs fail on both sides. */
static bool wrong(struct maker *m, struct goal_program **p, uint32_t ranks)
{
	bool lost = one_in(m, 2);
	uint64_t bytes = PICK(m, 8, 1000, 3000, 20000);
	uint32_t i;

	if (goal_program_create(ranks, p))
		return false;
	for (i = 0; i < ranks; i++) {
		struct goal_graph *g;

		if (goal_graph_create(i, ranks, &g) || goal_program_set(*p, i, g))
			return false;
		goal_send(g, GOAL_BUF_SEND, 0, bytes, (i + 1) % ranks, lost && i == 0 ? 1 : 0);
		goal_recv(g, GOAL_BUF_RECV, 0, i == 1 && !lost ? bytes - 1 : bytes,
			  (i + ranks - 1) % ranks, 0);
		goal_tags(g, 2);
	}
	return true;
}

/* Ranks of a group at endpoints in any order; those of one node share it. */
static bool group(struct maker *m, uint64_t within, bool only)
{
	struct scenario *sc = m->sc;
	uint32_t n = sc->c.nodes * sc->c.ranks_per_node, ranks, i, k;
	const struct sim_adversary *a = &sc->c.adversary;
	struct sim_program *program[3];
	struct sim_plan plan = { .program = program, .within = within };
	struct goal_error e;
	struct sim_group *g;
	struct sim_job *job;
	uint32_t *ep = calloc(n, sizeof(*ep));
	uint64_t skew = 0;

	if (!ep)
		return false;
	for (i = 0; i < n; i++)
		ep[i] = i;
	for (i = n - 1; i > 0; i--) {
		uint32_t x = ep[i];

		k = (uint32_t)sim_below(&m->r, i + 1);
		ep[i] = ep[k];
		ep[k] = x;
	}
	plan.unchecked = sc->kind == SCENARIO_DEATH && one_in(m, 6);
	if (sc->kind == SCENARIO_RARE)
		plan.unchecked = m->rare == RARE_WRONG;
	ranks = one_in(m, 3) ? (uint32_t)sim_between(&m->r, 1, n) : n;
	plan.programs = (uint32_t)sim_between(&m->r, 1, 3);
	for (i = 0; i < plan.programs; i++) {
		struct goal_program *p;

		if (!(plan.unchecked ? wrong(m, &p, ranks) : collective(m, &p, ranks)) ||
		    sim_load(sc->s, p, false, &program[i], &e)) {
			free(ep);
			return false;
		}
		goal_program_free(p);
	}
	plan.runs = (uint32_t)PICK(m, 1, 2, 5, 10, 30);
	if ((sc->kind == SCENARIO_CREDIT || sc->kind == SCENARIO_SINGLE) && plan.runs > 5)
		plan.runs = 5;
	plan.overlap = (uint32_t)PICK(m, 1, 1, 2, 4, 8);
	plan.think = PICK(m, 0, 0, 10000, 1000000, 20000000);
	plan.lockstep = one_in(m, 5);
	if (sc->kind == SCENARIO_TAIL) {
		plan.lockstep = true;
		plan.gap = 300000;
		plan.runs = 200;
		plan.within = 50 * ESP_MS; /* opening after several losses included */
	}
	if (sc->kind == SCENARIO_RARE && m->rare == RARE_LINGER) {
		plan.lockstep = false;
		plan.think = 100000;
		plan.overlap = 8;
		plan.runs = 30;
	}
	plan.may_fail = plan.unchecked || a->alien || a->kill_every || a->cancel || a->cut_every ||
			a->no_memory;
	plan.leave = only && !plan.lockstep && (sc->kind == SCENARIO_RARE || one_in(m, 2));
	if (sc->kind == SCENARIO_IDLE && !a->forget_every) {
		plan.think = 3 * ESP_S;
		plan.leave = false; /* who is ahead by more than 10 s would not be found any more */
		plan.overlap = 1;
		plan.runs = (uint32_t)sim_between(&m->r, 2, 6);
	}
	if (one_in(m, 2) && !plan.lockstep)
		skew = PICK(m, 10000, 5000000);
	if (sc->kind == SCENARIO_RARE && m->rare == RARE_GONE) {
		plan.lockstep = false;
		skew = 50 * ESP_MS;
	}
	if (sc->kind == SCENARIO_RARE && m->rare == RARE_HELLO) {
		plan.runs = 60;
		plan.think = 2 * ESP_MS;
	}
	if (sim_group(sc->s, ranks, ep, skew, &g)) {
		free(ep);
		return false;
	}
	free(ep);
	i = (uint32_t)strlen(sc->text);
	snprintf(sc->text + i, sizeof(sc->text) - i, ", %u ranks: %u runs of %u, overlap %u%s%s",
		 ranks, plan.runs, plan.programs, plan.overlap, plan.lockstep ? ", lockstep" : "",
		 plan.leave ? ", leaving" : "");
	return !sim_job(g, &plan, &job);
}

/* Most of the seeds that would do no harm do some. */
static const enum scenario_kind instead_of_calm[8] = {
	SCENARIO_RARE, SCENARIO_RARE, SCENARIO_CALM,   SCENARIO_TAIL,
	SCENARIO_RARE, SCENARIO_RARE, SCENARIO_SINGLE, SCENARIO_TAIL,
};

bool scenario_open(struct scenario *sc, uint64_t seed, enum scenario_kind kind, FILE *pcap)
{
	struct maker m = { .sc = sc,
			   .r = { sim_mix(seed * 2 + 1) },
			   .more = { sim_mix(seed * 2) },
			   .bytes = 400000 };
	uint32_t groups, i;

	memset(sc, 0, sizeof(*sc));
	sc->kind = kind < SCENARIO_KINDS ? kind : (enum scenario_kind)(seed % SCENARIO_TAIL);
	if (kind == SCENARIO_KINDS && sc->kind == SCENARIO_CALM)
		sc->kind = instead_of_calm[seed / SCENARIO_TAIL % 8];
	sim_config_default(&sc->c);
	sc->c.seed = seed;
	sc->c.pcap = pcap;
	network(&m);
	parameters(&m);
	trouble(&m);
	later_troubles(&m);
	sc->c.params = &sc->params;
	if (one_in(&m, 10) && sc->kind != SCENARIO_TAIL)
		m.bytes *= 10;
	snprintf(sc->text, sizeof(sc->text), "%s: %u nodes of %u, %u rails, MTU %u, drop %u",
		 scenario_name[sc->kind], sc->c.nodes, sc->c.ranks_per_node, sc->c.rails, sc->c.mtu,
		 sc->c.adversary.drop);
	if (sim_open(&sc->c, &sc->s))
		return false;
	/* With members that leave, an endpoint has one group only. */
	groups = (uint32_t)PICK(&m, 1, 1, 2);
	if (sc->kind == SCENARIO_RARE)
		groups = m.rare == RARE_LINGER ? 1 : m.rare == RARE_GONE ? 8 : 4;
	for (i = 0; i < groups; i++)
		if (!group(&m, HANGS, groups == 1))
			return false;
	return true;
}

const char *scenario_run(struct scenario *sc)
{
	struct sim *s = sc->s;

	sim_run(s, 4000 * ESP_S, 20000000);
	if (!sim_failure(s) && !sim_idle(s))
		sim_fail(s, "%llu runs are not over after %llu frames",
			 (unsigned long long)s->jobs_left, (unsigned long long)s->t.frames);
	/* Nothing is kept for peers that are idle. */
	if (!sim_failure(s) && (sc->kind == SCENARIO_CALM || sc->kind == SCENARIO_IDLE)) {
		s->c.adversary = (struct sim_adversary){ 0 };
		sim_run(s, 3 * sc->params.idle + 20 * ESP_S, 0);
		if (!sim_failure(s) && sim_flows(s))
			sim_fail(s, "%u flows are still there after a long idle time",
				 sim_flows(s));
	}
	if (!sim_failure(s))
		sim_end(s);
	return sim_failure(s);
}

void scenario_close(struct scenario *sc)
{
	if (sc->s)
		sim_close(sc->s);
	sc->s = NULL;
}
