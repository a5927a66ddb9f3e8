/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One block of user memory into packed bytes and back, by Open MPI's convertor, in pieces that
 * any of its versions counts correctly. Called by bind.c and op.c.
 */
#include "coll_goal.h"

#define PIECE (1ull << 30)

int coll_goal_pack(const struct coll_goal_block *block, char *packed)
{
	opal_convertor_t convertor;
	uint64_t done = 0;
	int rc = 0;

	if (!block->bytes)
		return 0;
	OBJ_CONSTRUCT(&convertor, opal_convertor_t);
	if (opal_convertor_copy_and_prepare_for_send(ompi_mpi_local_convertor, &block->type->super,
						     block->count, block->addr, 0, &convertor))
		rc = -EINVAL;
	while (!rc && done < block->bytes) {
		uint64_t left = block->bytes - done;
		struct iovec iov = { .iov_base = packed + done,
				     .iov_len = left < PIECE ? left : PIECE };
		size_t bytes = iov.iov_len;
		uint32_t n = 1;

		(void)opal_convertor_pack(&convertor, &iov, &n, &bytes);
		if (!bytes)
			rc = -EINVAL;
		done += bytes;
	}
	OBJ_DESTRUCT(&convertor);
	return rc;
}

int coll_goal_unpack(const struct coll_goal_block *block, const char *packed, uint64_t bytes)
{
	opal_convertor_t convertor;
	uint64_t done = 0;
	int rc = 0;

	if (bytes > block->bytes)
		bytes = block->bytes;
	if (!bytes)
		return 0;
	OBJ_CONSTRUCT(&convertor, opal_convertor_t);
	if (opal_convertor_copy_and_prepare_for_recv(ompi_mpi_local_convertor, &block->type->super,
						     block->count, block->addr, 0, &convertor))
		rc = -EINVAL;
	while (!rc && done < bytes) {
		uint64_t left = bytes - done;
		struct iovec iov = { .iov_base = (char *)packed + done,
				     .iov_len = left < PIECE ? left : PIECE };
		size_t took = iov.iov_len;
		uint32_t n = 1;

		(void)opal_convertor_unpack(&convertor, &iov, &n, &took);
		if (!took)
			rc = -EINVAL;
		done += took;
	}
	OBJ_DESTRUCT(&convertor);
	return rc;
}
