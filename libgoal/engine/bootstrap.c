// SPDX-License-Identifier: BSD-3-Clause
/*
 * A group for programs without a launcher: an allgather of the caller's tells whether all have
 * what it takes, a second one everybody's address and the nonce, and a third whether all could
 * open them, so that nobody closes its engine before, and all have the group or none. Function
 * of goal/engine.h.
 */
#include <stdlib.h>
#include <sys/random.h>

#include "kernel.h"

#define READY_HERE 1024 /* members whose first word needs no memory to be allocated */

/* What each member says, second and third. */
struct card {
	struct goal_address address;
	u64 nonce; /* the one of rank 0 counts */
	u32 rank, npeers;
	s32 status;
	u32 spare;
};

static int check(const struct card *all, u32 npeers, struct goal_error *error)
{
	u32 i;

	for (i = 0; i < npeers; i++)
		if (all[i].rank != i || all[i].npeers != npeers)
			return host_error(error, -EINVAL, i,
					  "place %u of the allgather holds rank %u of %u, not rank "
					  "%u of %u",
					  i, all[i].rank, all[i].npeers, i, npeers);
	return 0;
}

/* Make our group from everybody's card. 0 or -errno. */
static int create(struct goal_engine *e, u32 rank, u32 npeers, const struct card *all,
		  struct goal_address *addresses, struct goal_group **group,
		  struct goal_error *error)
{
	struct goal_group_attr attr = {
		.nonce = all[0].nonce, .rank = rank, .npeers = npeers, .addresses = addresses
	};
	u32 i;
	int rc;

	rc = check(all, npeers, error);
	if (rc)
		return rc;
	for (i = 0; i < npeers; i++)
		addresses[i] = all[i].address;
	return goal_group_create(e, &attr, group, error);
}

/* One exchange. 0 or -errno. */
static int exchange(goal_allgather_fn allgather, void *arg, const void *mine, void *all,
		    size_t bytes, struct goal_error *error)
{
	int rc = allgather(arg, mine, all, bytes);

	if (!rc)
		return 0;
	if (rc > 0)
		rc = -EINVAL;
	return host_error(error, rc, 0, "the allgather callback failed: %s", strerror(-rc));
}

/*
 * Can everybody go on? @status: can we (0 or -errno). A byte each, so that a member that has no
 * memory for more still comes, and nobody waits for it.
 */
static int ready(u32 npeers, int status, goal_allgather_fn allgather, void *arg,
		 struct goal_error *error)
{
	u8 mine = (u8)-status, here[READY_HERE], *all = here;
	u32 i;
	int rc;

	if (npeers > READY_HERE) {
		all = malloc(npeers);
		if (!all)
			return host_error(error, -ENOMEM, 0, "no memory for %u members", npeers);
	}
	rc = exchange(allgather, arg, &mine, all, 1, error);
	if (status)
		rc = status;
	for (i = 0; i < npeers && !rc; i++)
		if (all[i])
			rc = host_error(error, -all[i], i, "rank %u could not join: %s", i,
					strerror(all[i]));
	if (all != here)
		free(all);
	return rc;
}

int goal_group_bootstrap(struct goal_engine *e, uint32_t rank, uint32_t npeers,
			 goal_allgather_fn allgather, void *arg, struct goal_group **group,
			 struct goal_error *error)
{
	struct goal_address *addresses;
	struct goal_group *g = NULL;
	struct card mine, *all;
	u32 i;
	int rc;

	if (host_elsewhere(e) && !kernel_of(e))
		return host_error(error, -ECHILD, 0, "the engine belongs to the parent process");
	if (!npeers || rank >= npeers)
		return host_error(error, -EINVAL, 0, "rank %u is not below %u", rank, npeers);
	host_lock(e);
	all = host_alloc(e, npeers * sizeof(*all));
	addresses = host_alloc(e, npeers * sizeof(*addresses));
	host_unlock(e);
	memset(&mine, 0, sizeof(mine));
	goal_engine_address(e, &mine.address);
	mine.rank = rank;
	mine.npeers = npeers;
	rc = 0;
	if (!all || !addresses)
		rc = host_error(error, -ENOMEM, 0, "no memory for %u addresses", npeers);
	else if (getrandom(&mine.nonce, sizeof(mine.nonce), 0) != sizeof(mine.nonce))
		rc = host_error(error, -EIO, 0, "cannot draw a random number");
	mine.nonce |= 1; /* not 0 */
	rc = ready(npeers, rc, allgather, arg, error);
	if (rc)
		goto free_all;
	rc = exchange(allgather, arg, &mine, all, sizeof(mine), error);
	if (rc)
		goto free_all;
	mine.status = create(e, rank, npeers, all, addresses, &g, error);
	rc = exchange(allgather, arg, &mine, all, sizeof(mine), error);
	if (mine.status)
		rc = mine.status;
	for (i = 0; i < npeers && !rc; i++)
		if (all[i].status)
			rc = host_error(error, all[i].status, i, "rank %u could not join: %s", i,
					strerror(-all[i].status));
	if (rc)
		goto free_group;
	*group = g;
	goto free_all;

free_group:
	if (g)
		goal_group_free(g);
free_all:
	free(addresses);
	free(all);
	return rc;
}
