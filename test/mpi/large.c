/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Messages around 2^31 and 2^32 bytes: one block of that length, blocks behind such an offset,
 * a datatype with holes of that size, and a reduction. Lengths above INT_MAX by large datatypes.
 *
 * large [-s seed] [most: 31 or 32, default 31]
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"

#define TAG 25000

static long available_kib(void)
{
	char line[128];
	long kib = 0;
	FILE *f = fopen("/proc/meminfo", "r");

	while (f && fgets(line, sizeof(line), f)) {
		if (sscanf(line, "MemAvailable: %ld", &kib) == 1)
			break;
	}
	if (f)
		fclose(f);
	return kib;
}

/* A datatype of @bytes, of any size. */
static MPI_Datatype bytes_type(uint64_t bytes)
{
	int chunk = 1 << 20,
	    lengths[2] = { (int)(bytes / (uint64_t)chunk), (int)(bytes % (uint64_t)chunk) };
	MPI_Aint displs[2] = { 0, (MPI_Aint)(bytes - bytes % (uint64_t)chunk) };
	MPI_Datatype part[2] = { MPI_DATATYPE_NULL, MPI_BYTE }, type;

	MPI_OK(MPI_Type_contiguous(chunk, MPI_BYTE, &part[0]));
	MPI_OK(MPI_Type_create_struct(2, lengths, displs, part, &type));
	MPI_OK(MPI_Type_free(&part[0]));
	MPI_OK(MPI_Type_commit(&type));
	return type;
}

/* One for all: fresh pages of this size cost more time than their transfer. */
static unsigned char *pool;

static unsigned char *get(size_t bytes)
{
	unsigned char *p = malloc(bytes);

	if (!p) {
		check_fail("no memory for %zu bytes", bytes);
		MPI_Abort(MPI_COMM_WORLD, 4);
	}
	return p;
}

static unsigned char value(uint64_t i, int who)
{
	return (unsigned char)(i * 31 + (i >> 20) * 7 + (i >> 31) * 3 + (uint64_t)who);
}

/* Every 509th byte and the last ones: a copy that stops short leaves a long wrong stretch. */
static void fill(unsigned char *p, uint64_t bytes, int who)
{
	for (uint64_t i = 0; i < bytes; i += 509)
		p[i] = value(i, who);
	for (uint64_t i = bytes > 64 ? bytes - 64 : 0; i < bytes; i++)
		p[i] = value(i, who);
}

static void verify(const unsigned char *p, uint64_t bytes, int who)
{
	for (uint64_t i = 0; i < bytes; i += i + 64 < bytes ? 509 : 1) {
		if (p[i] == value(i, who))
			continue;
		check_fail("byte %llu of %llu from rank %d is wrong", (unsigned long long)i,
			   (unsigned long long)bytes, who);
		return;
	}
}

/* Blocking from rank 0, nonblocking from rank 1. */
static void bcast(uint64_t bytes, int root)
{
	unsigned char *p = pool;
	MPI_Datatype type = bytes_type(bytes);
	uint64_t before = check_counter(CTR_RUNS);
	MPI_Request req;

	check_context("bcast of %llu bytes from rank %d", (unsigned long long)bytes, root);
	memset(p + bytes - 64, 0x5a, 128);
	if (check_rank == root)
		fill(p, bytes, root);
	if (root == 0) {
		MPI_OK(MPI_Bcast(p, 1, type, root, MPI_COMM_WORLD));
	} else {
		MPI_OK(MPI_Ibcast(p, 1, type, root, MPI_COMM_WORLD, &req));
		MPI_OK(MPI_Wait(&req, MPI_STATUS_IGNORE));
	}
	verify(p, bytes, root);
	CHECK(p[bytes] == 0x5a && p[bytes + 63] == 0x5a, "written past the end");
	check_ran(before, 1);
	MPI_OK(MPI_Type_free(&type));
}

/* Blocks whose sum passes 2^31 (2^32): offsets, not lengths, are large. */
static void gather(uint64_t bytes)
{
	unsigned char *mine = check_rank ? pool : get(bytes), *all = check_rank ? NULL : pool;
	MPI_Datatype type = bytes_type(bytes);
	uint64_t before = check_counter(CTR_RUNS);

	check_context("gather of 2 blocks of %llu bytes", (unsigned long long)bytes);
	fill(mine, bytes, check_rank);
	MPI_OK(MPI_Gather(mine, 1, type, all, 1, type, 0, MPI_COMM_WORLD));
	for (int r = 0; !check_rank && r < 2; r++)
		verify(all + (uint64_t)r * bytes, bytes, r);
	memset(mine, 0, bytes);
	check_context("scatter of 2 blocks of %llu bytes", (unsigned long long)bytes);
	MPI_OK(MPI_Scatter(all, 1, type, mine, 1, type, 0, MPI_COMM_WORLD));
	verify(mine, bytes, check_rank);
	check_ran(before, 2);
	MPI_OK(MPI_Type_free(&type));
	if (!check_rank)
		free(mine);
}

/* A few bytes here, a few more than 2^31 bytes later. */
static void holes(void)
{
	uint64_t stride = (1ull << 31) + 4096;
	unsigned char *p = calloc(1, stride + 64);
	MPI_Datatype type;

	if (!p) {
		check_fail("no memory for a sparse buffer");
		MPI_Abort(MPI_COMM_WORLD, 4);
	}
	check_context("bcast of a vector with a stride above 2^31");
	MPI_OK(MPI_Type_create_hvector(2, 48, (MPI_Aint)stride, MPI_BYTE, &type));
	MPI_OK(MPI_Type_commit(&type));
	if (check_rank == 1) {
		memset(p, 1, 48);
		memset(p + stride, 2, 48);
	}
	MPI_OK(MPI_Bcast(p, 1, type, 1, MPI_COMM_WORLD));
	CHECK(p[0] == 1 && p[47] == 1 && p[48] == 0 && p[stride - 1] == 0 && p[stride] == 2 &&
		      p[stride + 47] == 2 && p[stride + 48] == 0,
	      "wrong data");
	MPI_OK(MPI_Type_free(&type));
	free(p);
}

/* 2^29 + 3 ints: above 2^31 bytes with a count that is an int. */
static void allreduce(void)
{
	int count = (1 << 29) + 3, *in = (int *)pool;
	uint64_t before = check_counter(CTR_RUNS);

	check_context("allreduce in place of %d ints", count);
	for (int i = 0; i < count; i++)
		in[i] = i ^ check_rank;
	MPI_OK(MPI_Allreduce(MPI_IN_PLACE, in, count, MPI_INT, MPI_MAX, MPI_COMM_WORLD));
	for (int i = 0; i < count; i += i + 64 < count ? 127 : 1) {
		if (in[i] == (i | 1))
			continue;
		check_fail("element %d is %d", i, in[i]);
		break;
	}
	check_ran(before, 1);
}

int main(int argc, char **argv)
{
	static const int64_t around[] = { -1, 1, 0 };
	char text[128];
	long need, kib;
	int most;

	check_init(&argc, &argv, MPI_THREAD_SINGLE);
	most = argc > 1 ? atoi(argv[1]) : 31;
	/* The pools of both ranks, and a block of half the length at one. */
	need = most == 32 ? 11l << 20 : 11l << 19;
	kib = available_kib();
	/* One answer for both: memory changes from moment to moment. */
	if (check_rank == 0)
		MPI_OK(MPI_Send(&kib, 1, MPI_LONG, 1, TAG, MPI_COMM_WORLD));
	else if (check_rank == 1)
		MPI_OK(MPI_Recv(&kib, 1, MPI_LONG, 0, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
	if (check_size != 2)
		check_skip("2 ranks, for the sake of memory");
	if (kib < need) {
		snprintf(text, sizeof(text), "needs %.1f GiB of free memory, %.1f are there",
			 (double)need / (1 << 20), (double)kib / (1 << 20));
		check_skip(text);
	}
	pool = get((1ull << most) + 4096);
	for (size_t i = 0; i < sizeof(around) / sizeof(around[0]); i++)
		bcast((1ull << most) + (uint64_t)around[i], (int)(i % 2));
	gather((1ull << (most - 1)) + 8);
	if (most == 31) {
		holes();
		allreduce();
	}
	free(pool);
	return check_end();
}
