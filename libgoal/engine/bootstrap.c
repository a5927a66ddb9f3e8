// SPDX-License-Identifier: BSD-3-Clause
/*
 * A group for programs without a launcher: an allgather of the caller's tells everybody the
 * addresses and the nonce, and a second one whether all could open them, so that nobody closes
 * its engine before, and all have the group or none. Function of goal/engine.h.
 */
#include <stdlib.h>
#include <sys/random.h>

#include "host.h"

/* What each member says, first and then. */
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
static int exchange(goal_allgather_fn allgather, void *arg, const struct card *mine,
		    struct card *all, struct goal_error *error)
{
	int rc = allgather(arg, mine, all, sizeof(*mine));

	if (!rc)
		return 0;
	if (rc > 0)
		rc = -EINVAL;
	return host_error(error, rc, 0, "the allgather callback failed: %s", strerror(-rc));
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

	if (!npeers || rank >= npeers)
		return host_error(error, -EINVAL, 0, "rank %u is not below %u", rank, npeers);
	host_lock(e);
	all = host_alloc(e, npeers * sizeof(*all));
	addresses = host_alloc(e, npeers * sizeof(*addresses));
	host_unlock(e);
	if (!all || !addresses) {
		rc = host_error(error, -ENOMEM, 0, "no memory for %u addresses", npeers);
		goto free_all;
	}
	memset(&mine, 0, sizeof(mine));
	goal_engine_address(e, &mine.address);
	mine.rank = rank;
	mine.npeers = npeers;
	if (getrandom(&mine.nonce, sizeof(mine.nonce), 0) != sizeof(mine.nonce)) {
		rc = host_error(error, -EIO, 0, "cannot draw a random number");
		goto free_all;
	}
	mine.nonce |= 1; /* not 0 */
	rc = exchange(allgather, arg, &mine, all, error);
	if (rc)
		goto free_all;
	mine.status = create(e, rank, npeers, all, addresses, &g, error);
	rc = exchange(allgather, arg, &mine, all, error);
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
