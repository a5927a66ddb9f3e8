// SPDX-License-Identifier: BSD-3-Clause
/*
 * A group for programs without a launcher: an allgather of the caller's tells everybody the
 * addresses and the nonce. Function of goal/engine.h.
 */
#include <stdlib.h>
#include <sys/random.h>

#include "host.h"

/* What each member says. */
struct card {
	struct goal_address address;
	u64 nonce; /* the one of rank 0 counts */
	u32 rank, npeers;
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

int goal_group_bootstrap(struct goal_engine *e, uint32_t rank, uint32_t npeers,
			 goal_allgather_fn allgather, void *arg, struct goal_group **group,
			 struct goal_error *error)
{
	struct goal_group_attr attr = { .rank = rank, .npeers = npeers };
	struct goal_address *addresses;
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
	rc = allgather(arg, &mine, all, sizeof(mine));
	if (rc) {
		host_error(error, rc, 0, "the allgather callback failed: %s", strerror(-rc));
		goto free_all;
	}
	rc = check(all, npeers, error);
	if (rc)
		goto free_all;
	for (i = 0; i < npeers; i++)
		addresses[i] = all[i].address;
	attr.nonce = all[0].nonce;
	attr.addresses = addresses;
	rc = goal_group_create(e, &attr, group, error);
free_all:
	free(addresses);
	free(all);
	return rc;
}
