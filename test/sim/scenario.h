/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A random network with random collectives on it and a random adversary, all from one seed: made
 * here, run by soak.c.
 */
#ifndef SCENARIO_H
#define SCENARIO_H

#include "libgoal/sim/inside.h"
#include "libgoal/sim/sim.h"

/* What kind of trouble there is. */
enum scenario_kind {
	SCENARIO_CALM,    /* none */
	SCENARIO_LOSSY,   /* drops up to 30 %, copies, delays */
	SCENARIO_HOSTILE, /* all of it, corruption and forged frames too, entries interleaved */
	SCENARIO_CREDIT,  /* one of everything there is a pool of */
	SCENARIO_MEMORY,  /* requests for memory are refused by chance */
	SCENARIO_PATHS,   /* rails and MTU come and go */
	SCENARIO_DEATH,   /* nodes and endpoints die, networks part, users cancel */
	SCENARIO_IDLE,    /* flows are forgotten and opened again */
	SCENARIO_TAIL,    /* single losses, which must cost no more than a probe or a timeout */
	SCENARIO_SINGLE,  /* one of everything, everywhere */
	SCENARIO_RARE,    /* moves that chance alone seldom makes */
	SCENARIO_KINDS
};

extern const char *const scenario_name[SCENARIO_KINDS];

struct scenario {
	enum scenario_kind kind;
	struct sim *s;
	struct esp_params params;
	struct sim_config c;
	char text[400]; /* what it is like */
};

/* @kind: SCENARIO_KINDS lets the seed choose. False: there is not enough memory for it. */
bool scenario_open(struct scenario *sc, uint64_t seed, enum scenario_kind kind, FILE *pcap);
/* Run it to its end. NULL, or what went wrong. */
const char *scenario_run(struct scenario *sc);
void scenario_close(struct scenario *sc);

#endif /* SCENARIO_H */
