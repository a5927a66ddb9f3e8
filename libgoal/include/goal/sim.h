/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A simulated network: nodes, links and switches in one process, on virtual time, with the very
 * protocol and interpreter sources that are written for a kernel, and an adversary that loses,
 * repeats, delays and corrupts frames. For trying schedules at sizes and on networks that one does not have.
 *
 *	goal_sim_attr_init(), goal_sim_create()	a network
 *	goal_sim_add()		a job on it: one schedule per rank, run once or several times
 *	goal_sim_run()		let time pass until all jobs are over
 *	goal_sim_report()	how long it took, and what it cost
 *
 * The same attributes and calls give the same course of events, bit for bit. A simulation belongs
 * to one thread at a time; several of them do not know each other.
 */
#ifndef GOAL_SIM_H
#define GOAL_SIM_H

#include <stdbool.h>
#include <stdio.h>

#include <goal/engine.h>

GOAL_BEGIN_DECLS

struct goal_sim; /* opaque: a network and what runs on it */

/* The network, its adversary, and the seed of all that is left to chance. Times in ns. */
struct goal_sim_attr {
	uint64_t seed;
	uint32_t nodes;
	uint32_t ranks_per_node; /* endpoints of a node; between them no frame is sent */
	uint32_t rails;          /* interfaces of a node, 1 to 4, each in a network of its own */
	uint32_t mtu;            /* bytes of a frame without the link's header, 576 to 9000 */
	uint64_t rate;           /* of a link, bytes per second */
	uint64_t latency;        /* of a link, of which a frame crosses two or more */
	uint64_t jitter;         /* up to so much more */
	uint32_t leaf;           /* nodes at a leaf switch, leaf switches are joined by a spine;
					* 0: a cable between any two nodes */
	uint64_t uplink;         /* rate between leaf and spine; 0: that of its nodes together */
	uint64_t buffer;         /* bytes that an output port of a switch holds; 0: any number */
	uint64_t local;          /* a message within a node takes so long */
	/* Faults: shares of all frames, from 0 to 1. */
	double drop;
	double twice;
	double late;
	double corrupt;
	uint64_t late_max; /* ns a late one stays behind at most; and a second copy, mostly */
	FILE *pcap;        /* every frame sent is written there; NULL: none */
};

/* 2 nodes of one rank at a switch, 10 Gb/s, 1 us, MTU 1500, 256 KiB of buffer, no faults, seed 1. */
GOAL_API void goal_sim_attr_init(struct goal_sim_attr *attr);
/* -EINVAL: an attribute is out of range (@error says which); -ENOMEM. */
GOAL_API int goal_sim_create(const struct goal_sim_attr *attr, struct goal_sim **sim,
			     struct goal_error *error);

/* What a group of ranks does. Zero in a field means its default. */
struct goal_sim_job {
	uint32_t ranks;
	/* Either, by rank: copied. */
	const struct goal_schedule *const *schedules;
	/* Or the graphs of all ranks, as a GOAL text has them: compiled. */
	const struct goal_program *program;
	/*
	 * By rank, its buffers by number, @nbufs of them each: every run reads and writes this
	 * memory, which must stay until the job is over. NULL: the simulator supplies memory
	 * with contents from the seed, and compares every byte of the result with that of an
	 * ideal network.
	 */
	const struct goal_buffer *const *bufs;
	uint32_t nbufs;
	/* Each receive writes behind the one before: for GOAL texts, which know no places. */
	bool apart;
	const uint32_t *place; /* by rank: its endpoint, node * ranks_per_node + i; NULL: rank i
					* is endpoint i */
	uint32_t runs;         /* default 1 */
	uint32_t overlap;      /* of them a rank has at most so many active; default 1, and 1
					* with @bufs */
	/* GOAL_TYPE_USER, with @bufs: as in struct goal_run_attr. */
	int (*reduce)(void *arg, const void *in, void *inout, uint64_t count);
	void *reduce_arg;
};

/*
 * Add a job; its ranks start their first runs when time passes. Ranks of several jobs may share
 * endpoints. -EINVAL: schedules and ranks do not fit together, or a place is not there; -EFAULT:
 * a buffer is too small; -EDEADLK: not all messages meet a receive, or operations wait for one another;
 * -EMSGSIZE: a message is longer than its receive; -ENOMEM. @error says what.
 */
GOAL_API int goal_sim_add(struct goal_sim *sim, const struct goal_sim_job *job,
			  struct goal_error *error);
/*
 * Let time pass until every job is over (0), or for @ns (-ETIMEDOUT: it may go on). -EIO: a run
 * failed (with a peer that cannot be reached), or a result is wrong: @error says what, and
 * nothing moves any more. -ENOMEM, with the same consequence.
 */
GOAL_API int goal_sim_run(struct goal_sim *sim, uint64_t ns, struct goal_error *error);

/* So far, of all jobs together. */
struct goal_sim_report {
	uint64_t ns;               /* virtual time since the simulation was made */
	uint64_t frames;           /* put on a wire by nodes */
	uint64_t bytes;            /* in them */
	uint64_t wire_bytes;       /* with all that Ethernet adds */
	uint64_t payload;          /* bytes of messages between nodes */
	uint64_t repeated;         /* bytes of messages sent again */
	uint64_t acknowledgements; /* frames with nothing else in them */
	uint64_t grants;           /* permissions for long messages to go on */
	uint64_t probes, timeouts;
	uint64_t lost;         /* frames, to the adversary */
	uint64_t lost_buffer;  /* frames, in full switches */
	uint64_t buffer_most;  /* bytes in an output port, at most */
	uint64_t runs, failed; /* that are over, of a rank each; those of them that failed */
	uint64_t compared;     /* bytes of results */
};

GOAL_API void goal_sim_report(const struct goal_sim *sim, struct goal_sim_report *report);
/* The protocol's own counters, @i from 0: name and value of one; -ENOENT: there are no more. */
GOAL_API int goal_sim_counter(const struct goal_sim *sim, uint32_t i, const char **name,
			      uint64_t *value);

/* LogGOPS (Hoefler, Schneider, Lumsdaine, LSAP 2010): times in ns, G and O per byte. */
struct goal_sim_loggops {
	double L, o, g, G, O;
	uint64_t S; /* longer messages wait for their receive; 0: none do */
};

/* When the last rank of @program ends, by the model. -EDEADLK: messages do not match; -ENOMEM. */
GOAL_API int goal_sim_predict(const struct goal_program *program, const struct goal_sim_loggops *m,
			      double *ns);

/*
 * End it; NULL is fine. -EIO: something was left that should not be, a bug of the protocol: @error
 * says what.
 */
GOAL_API int goal_sim_free(struct goal_sim *sim, struct goal_error *error);

GOAL_END_DECLS

#endif /* GOAL_SIM_H */
