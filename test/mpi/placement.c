/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which way messages take: ranks of one node (coll_goal_node_ranks) by shared memory only, others
 * by Open MPI's point-to-point only; seen in the counters of messages. One vote per communicator
 * that is used, none for one that is not.
 *
 * placement <ranks per node; 0: all on one>
 */
#include <stdlib.h>

#include "check.h"

int main(int argc, char **argv)
{
	int per_node, me, left, right, send[2] = { 1, 2 }, recv[2], wraps = 1, partner;
	uint64_t local, remote, votes;
	MPI_Comm ring, unused, pair;
	bool near;

	check_init(&argc, &argv, MPI_THREAD_SINGLE);
	if (check_size < 3)
		check_skip("needs 3 ranks");
	per_node = argc > 1 ? atoi(argv[1]) : 0;
	if (per_node == 0)
		per_node = check_size;
	me = check_rank / per_node;
	left = (check_rank + check_size - 1) % check_size / per_node;
	right = (check_rank + 1) % check_size / per_node;

	check_context("ring, %d ranks a node", per_node);
	MPI_OK(MPI_Cart_create(MPI_COMM_WORLD, 1, &check_size, &wraps, 0, &ring));
	local = check_counter(CTR_MESSAGES_LOCAL);
	remote = check_counter(CTR_MESSAGES_REMOTE);
	for (int i = 0; i < 10; i++) {
		MPI_OK(MPI_Neighbor_alltoall(send, 1, MPI_INT, recv, 1, MPI_INT, ring));
		CHECK(recv[0] == 2 && recv[1] == 1, "received %d and %d", recv[0], recv[1]);
	}
	local = check_counter(CTR_MESSAGES_LOCAL) - local;
	remote = check_counter(CTR_MESSAGES_REMOTE) - remote;
	if (!check_stock) {
		int nears = (left == me) + (right == me);

		CHECK(local == (uint64_t)(10 * nears), "%llu messages in shared memory, not %d",
		      (unsigned long long)local, 10 * nears);
		CHECK(remote == (uint64_t)(10 * (2 - nears)), "%llu remote messages, not %d",
		      (unsigned long long)remote, 10 * (2 - nears));
	}

	/* Gathers of two ranks: both on one node, or not. */
	partner = check_rank ^ 1;
	near = partner / per_node == me;
	check_context("pairs, %d ranks a node", per_node);
	MPI_OK(MPI_Comm_split(MPI_COMM_WORLD, check_rank / 2, check_rank, &pair));
	MPI_OK(MPI_Barrier(pair));
	local = check_counter(CTR_MESSAGES_LOCAL);
	remote = check_counter(CTR_MESSAGES_REMOTE);
	MPI_OK(MPI_Gather(send, 1, MPI_INT, recv, 1, MPI_INT, 0, pair));
	if (!check_stock && check_rank % 2) {
		CHECK((check_counter(CTR_MESSAGES_LOCAL) - local == 1) == near,
		      "near %d: %llu messages in shared memory", near,
		      (unsigned long long)(check_counter(CTR_MESSAGES_LOCAL) - local));
		CHECK((check_counter(CTR_MESSAGES_REMOTE) - remote == 1) == !near,
		      "near %d: %llu remote messages", near,
		      (unsigned long long)(check_counter(CTR_MESSAGES_REMOTE) - remote));
	}
	MPI_OK(MPI_Comm_free(&pair));
	MPI_OK(MPI_Comm_free(&ring));

	check_context("votes");
	votes = check_counter(CTR_VOTES);
	for (int i = 0; i < 5; i++) {
		MPI_OK(MPI_Comm_dup(MPI_COMM_WORLD, &unused));
		MPI_OK(MPI_Comm_free(&unused));
	}
	CHECK(check_counter(CTR_VOTES) == votes, "votes on communicators that were never used");
	MPI_OK(MPI_Comm_dup(MPI_COMM_WORLD, &unused));
	for (int i = 0; i < 5; i++)
		MPI_OK(MPI_Barrier(unused));
	MPI_OK(MPI_Comm_free(&unused));
	if (!check_stock)
		CHECK(check_counter(CTR_VOTES) <= votes + 1, "more than one vote");
	return check_end();
}
