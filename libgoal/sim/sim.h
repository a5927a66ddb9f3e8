/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The simulator: nodes, links and switches in one process, on virtual time, with the very core
 * that the kernel runs. For public.c, which is the library's interface to it, and test/sim.
 *
 * sim_open() a network; sim_load() a program (the graphs of all ranks); sim_group() a group of
 * ranks; sim_job() lets the group run programs; sim_run() lets time pass. Whatever goes wrong is
 * a sentence in sim_failure(), the first one; from then on sim_run() does nothing. The
 * same configuration, calls and seed give the same run, bit for bit.
 */
#ifndef SIM_H
#define SIM_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <goal/sim.h>

struct sim;
struct sim_group;
struct sim_program;
struct sim_job;
struct esp_params;

#define SIM_CHANCE_ONE 65536 /* always */

/* What the adversary does. Chances are of SIM_CHANCE_ONE, per frame unless said otherwise. */
struct sim_adversary {
	uint32_t drop, twice, late, corrupt, mangle;
	uint64_t late_max;       /* ns that a late one, or most second copies, stay behind */
	uint64_t table_every;    /* ns between users whose tables have a node elsewhere; 0: none */
	uint64_t forge_every;    /* ns between forged frames, on average; 0: none */
	uint64_t flood_every;    /* ns between floods of hellos; 0: none */
	uint64_t stranger_every; /* ns between deeds of a host that opens flows; 0: there is none */
	uint32_t slow;           /* moves answered late, per move */
	uint64_t slow_max;       /* ns */
	uint32_t no_memory;      /* per request for memory */
	uint32_t interleave;     /* per unlock: another entry comes in between */
	uint64_t interleave_ns;  /* ... taken from so far in the future */
	bool behind;             /* ... also ahead of its first lock: its time is old */
	uint64_t cut_every;      /* ns between partitions; 0: none */
	uint64_t cut_min, cut_max; /* ns a partition lasts */
	uint32_t cuts;             /* partitions, at most; 0: any number */
	uint64_t rail_every;       /* ns between rails going down (and up) */
	uint64_t mtu_every;        /* ns between changes of the MTU */
	uint64_t hole_every;       /* ns between changes of what a network carries, unannounced */
	uint64_t kill_every;       /* ns between deaths of nodes and endpoints */
	uint32_t kills;            /* at most so many */
	bool endpoints;            /* ... and of endpoints only */
	uint32_t cancel;           /* per run and rank: its user cancels it */
	uint32_t pause;            /* per operation: it waits, the run's budget being used up */
	uint64_t restart_after;    /* ns until a dead node comes back; 0: never */
	uint64_t forget_every; /* ns between nodes that forget an idle flow before its peer does */
	uint32_t again;        /* per OPEN: it comes once more, up to late_max behind */
	uint32_t beyond;       /* per frame with pulled bytes: it has some that were not granted */
	bool alien;            /* some OPEN seem to come from machines of another byte order */
	bool copy_frames;      /* headers are never in one piece */
	bool segments;         /* bound buffers are in pieces */
};

struct sim_config {
	uint64_t seed;
	uint32_t nodes, ranks_per_node;
	uint32_t rails;           /* per node, 1 to 4; each is a network of its own */
	uint32_t mtu;             /* of a frame without the link's header */
	uint64_t rate;            /* of a link, bytes per second */
	uint64_t latency, jitter; /* of a link, ns */
	uint32_t leaf;            /* nodes per leaf switch, 0: a cable between any two nodes */
	uint64_t uplink;          /* rate between a leaf and the spine; 0: rate * leaf */
	uint64_t buffer;          /* bytes of an output port of a switch; 0: unlimited */
	uint32_t tx_queue;        /* frames a sender's interface holds; 0: unlimited */
	uint64_t room;            /* bytes of unexpected memory per endpoint */
	uint32_t rooms;           /* and messages in it */
	uint32_t pool[5];         /* objects of each pool of a node; 0 as first: unlimited */
	uint64_t local_ns;        /* a message within a node */
	const struct esp_params *params; /* NULL: defaults */
	struct sim_adversary adversary;
	bool check; /* look at what every event touched */
	FILE *pcap; /* every frame sent, NULL: none */
};

/* A network without an adversary: 10 Gb/s, MTU 1500, one rail, a switch. */
void sim_config_default(struct sim_config *c);

int sim_open(const struct sim_config *c, struct sim **s);
/* Ends everything; 0, or -1: something had leaked or failed, see sim_failure() before. */
int sim_close(struct sim *s);
/* End what is left, and see that nothing is. Called by sim_close() too. */
void sim_end(struct sim *s);
const char *sim_failure(const struct sim *s); /* NULL: none */
uint64_t sim_now(const struct sim *s);
/* What it is like now, in words. */
void sim_dump(const struct sim *s, FILE *out);

/*
 * Compile all graphs of @p for @s. Reference results are computed on an ideal network at the first
 * use. -EINVAL and @e, -ENOMEM. Belongs to @s. @apart: each receive has a place of its own in its
 * buffer; GOAL texts, which know no places, have all of them write to the same one.
 */
int sim_load(struct sim *s, const struct goal_program *p, bool apart, struct sim_program **sp,
	     struct goal_error *e);
/* The same from compiled graphs, by rank. */
int sim_load_schedules(struct sim *s, const struct goal_schedule *const *schedule, uint32_t ranks,
		       bool apart, struct sim_program **sp, struct goal_error *e);
/*
 * Run it on an ideal network. -EDEADLK: not all messages meet a receive, or operations wait for one
 * another; -EMSGSIZE: a message is longer than its receive; -ENOMEM.
 */
int sim_reference(struct sim_program *p);
/* A group: rank i is endpoint @ep[i] (node ep / ranks_per_node); NULL: i. Belongs to @s. */
int sim_group(struct sim *s, uint32_t ranks, const uint32_t *ep, uint64_t join_skew,
	      struct sim_group **g);

struct sim_plan {
	struct sim_program *const *program; /* run k takes one of them by chance */
	uint32_t programs;
	uint32_t runs;    /* run numbers 0 .. runs - 1 */
	uint32_t overlap; /* a rank has at most so many active */
	uint64_t think;   /* ns a rank waits before a start, at most */
	bool lockstep;    /* all ranks start at once, when all have ended */
	bool leave;       /* an endpoint closes as soon as its rank is through */
	bool unchecked;   /* the programs are wrong: there is no reference */
	bool may_fail;    /* errors of runs are not the simulator's */
	uint64_t within;  /* ns that a run may take at most */
	uint64_t gap;     /* ns between lockstep runs */
	void (*ended)(void *arg, uint32_t run, uint64_t ns); /* lockstep: run @run took @ns */
	void *arg;
	/* By rank, @nbufs each: memory of the user's, for one program and no overlap; NULL: ours,
	 * filled by chance and compared with the reference. */
	const struct goal_buffer *const *bufs;
	uint32_t nbufs;
	int (*reduce)(void *arg, const void *in, void *inout, uint64_t count);
	void *reduce_arg;
};

/* -EFAULT: a buffer is too small; else what sim_reference() says. */
int sim_job(struct sim_group *g, const struct sim_plan *plan, struct sim_job **job);
/* Let time pass until every job is over, @ns have passed, or @frames were sent (0: any). */
void sim_run(struct sim *s, uint64_t ns, uint64_t frames);
/* True: nothing is left to be done. */
bool sim_idle(const struct sim *s);

struct sim_stats {
	uint64_t frames, bytes, wire_bytes; /* put on a wire by a node */
	uint64_t delivered;                 /* handed to a node */
	uint64_t payload;                   /* bytes of messages that crossed the network */
	uint64_t lost_buffer, lost_chance, lost_cut, lost_mtu; /* frames */
	uint64_t forged, mangled, twice, late, corrupted, beyond;
	uint64_t events, interleaved;
	uint64_t starts, runs_good, runs_failed; /* of a rank each */
	uint64_t checked;                        /* bytes compared */
	uint64_t port_max;                       /* bytes in an output port, at most */
	uint64_t kills, cuts, restarts, denied, slow;
};

void sim_stats(const struct sim *s, struct sim_stats *t);
/* The core's counters, by enum esp_count, summed over all nodes. */
uint64_t sim_counter(const struct sim *s, uint32_t c);
const char *sim_counter_name(uint32_t c);
/* A number that tells one course of events from another. */
uint64_t sim_digest(const struct sim *s);
/* Flows there are now, of all nodes together; bytes of memory of each. */
uint32_t sim_flows(const struct sim *s);
size_t sim_flow_bytes(void);

#endif /* SIM_H */
