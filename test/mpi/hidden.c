/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One process of the node lets nobody open its memory (it is not dumpable), while it can open that
 * of the others: the two sides see it differently, and must use the same way all the same.
 */
#include <linux/capability.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "check.h"

/* Root may open everything, unless it gives that up. */
static void hide(void)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3];
	const char *rank = getenv("OMPI_COMM_WORLD_RANK");

	if (!syscall(SYS_capget, &header, data)) {
		data[0].effective &= ~(1u << CAP_SYS_PTRACE);
		data[0].permitted &= ~(1u << CAP_SYS_PTRACE);
		(void)syscall(SYS_capset, &header, data);
	}
	if (rank && !strcmp(rank, "1"))
		(void)prctl(PR_SET_DUMPABLE, 0);
}

int main(int argc, char **argv)
{
	uint64_t local, remote;

	hide();
	check_init(&argc, &argv, MPI_THREAD_SINGLE);
	local = check_counter(CTR_MESSAGES_LOCAL);
	remote = check_counter(CTR_MESSAGES_REMOTE);
	for (int turn = 0; turn < 10; turn++) {
		uint64_t runs = check_counter(CTR_RUNS);
		int mine = 100 * turn + check_rank, sum = -1, want;

		MPI_OK(MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
		want = 100 * turn * check_size + check_size * (check_size - 1) / 2;
		CHECK(sum == want, "turn %d: sum %d instead of %d", turn, sum, want);
		MPI_OK(MPI_Barrier(MPI_COMM_WORLD));
		check_ran(runs, 2);
	}
	if (!check_stock) {
		CHECK(check_counter(CTR_MESSAGES_LOCAL) == local, "messages in shared memory");
		CHECK(check_counter(CTR_MESSAGES_REMOTE) > remote, "no message over the PML");
	}
	return check_end();
}
