/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Who waits where: counts the processes of the job on this node and the cores they may use
 * together, and tells the engine, whose blocking waits then spin or yield; and Open MPI, whose
 * own loops (MPI_Wait, MPI_Recv) are outside our hands. A process's own mask says nothing:
 * mpirun binds each to one core, and counts slots, not cores. At first use, since MPI_Init sets
 * opal's yielding after it selected us.
 */
#include "coll_goal.h"

#include "opal/util/argv.h"

/* Processes on this node and their masks; *@ranks of them, of which *@n published a mask. */
static void collect(char **vpids, const char **masks, uint32_t *ranks, uint32_t *n)
{
	opal_process_name_t name = OPAL_PROC_MY_NAME;
	const struct coll_goal_card *mine = coll_goal_modex_mine();

	for (; *vpids; vpids++) {
		const struct coll_goal_card *card;

		name.vpid = (opal_vpid_t)strtoul(*vpids, NULL, 10);
		card = coll_goal_modex_card(name);
		++*ranks;
		if (card && card->mask[0] && !memcmp(card->machine, mine->machine, 16))
			masks[(*n)++] = card->mask;
	}
}

void coll_goal_wait_setup(void)
{
	struct coll_goal_component *c = &mca_coll_goal_component;
	uint32_t ranks = 0, n = 0, cores;
	const char **masks;
	char *text, **vpids = NULL;

	if (c->wait_known)
		return;
	c->wait_known = true;
	text = coll_goal_local_ranks();
	if (text)
		vpids = opal_argv_split(text, ',');
	free(text);
	masks = coll_goal_malloc((size_t)(opal_argv_count(vpids) + 1) * sizeof(*masks));
	if (!masks)
		goto free_vpids; /* the engine keeps its careful default and yields soon */
	if (vpids) {
		collect(vpids, masks, &ranks, &n);
	} else {
		/* A process that no mpirun started: alone as far as anybody knows. */
		masks[0] = coll_goal_modex_mine()->mask;
		n = masks[0][0] != '\0';
		ranks = 1;
	}
	if (n) {
		cores = goal_cores_union(masks, n);
		goal_engine_cores(c->engine, ranks, cores);
		if (c->kernel)
			goal_engine_cores(c->kernel, ranks, cores);
		if (ranks > cores)
			(void)opal_progress_set_yield_when_idle(true);
		opal_output_verbose(1, c->output, "coll:goal: %u processes on %u cores of %s",
				    ranks, cores, opal_process_info.nodename);
	}
	free(masks);
free_vpids:
	opal_argv_free(vpids);
}
