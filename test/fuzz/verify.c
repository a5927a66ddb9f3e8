// SPDX-License-Identifier: BSD-3-Clause
/*
 * libFuzzer on the schedule verifier: bytes are refused, or they are a schedule that runs to its end
 * in buffers of exactly the size it asks for, whatever order things happen in.
 *
 * Built with -DFUZZ_CORPUS it is the program that wrote the corpus: small schedules of random
 * graphs, into the folder that it is given (make fuzz-corpus).
 */
#include "home/sink.h"
#include "home/world.h"

#ifndef FUZZ_CORPUS

/* The choices of a run follow from its input, so that a finding can be repeated. */
static u64 hash(const u8 *data, size_t size)
{
	u64 h = 0xcbf29ce484222325ull;

	for (; size; size--, data++)
		h = (h ^ *data) * 0x100000001b3ull;
	return h;
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size);
int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	struct random random = { hash(data, size) };
	/* A copy: aligned, and with nothing behind its end. */
	u8 *copy = malloc(size ? size : 1);

	must(copy);
	memcpy(copy, data, size);
	sink_schedule(copy, size, &random);
	free(copy);
	return 0;
}

size_t LLVMFuzzerMutate(u8 *data, size_t size, size_t max);
size_t LLVMFuzzerCustomMutator(u8 *data, size_t size, size_t max, unsigned int seed);

/* The counts that are sums of others, which chance would hardly ever get right. */
static size_t repair(u8 *data, size_t size)
{
	struct goal_sched_hdr h;
	struct goal_op op;
	size_t at, rows, i, k;

	if (size < sizeof(h))
		return size;
	size &= ~(size_t)7;
	memcpy(&h, data, sizeof(h));
	h.magic = GOAL_SCHED_MAGIC;
	h.version = GOAL_SCHED_VERSION;
	h.flags = 0;
	h.reserved = 0;
	h.total = size;
	/* Operations and receives as announced, as far as there is room; successors fill up. */
	h.nops %= (size - sizeof(h)) / (sizeof(op) + 4) + 1;
	at = sizeof(h) + h.nops * (sizeof(op) + 4);
	h.nrecv %= (size - at) / 4 + 1;
	h.nsucc = (u32)((size - at) / 4 - h.nrecv);
	memcpy(data, &h, sizeof(h));
	/* Number the rows, and count dependencies. */
	rows = sizeof(h) + h.nops * sizeof(op);
	memset(data + rows, 0, h.nops * 4);
	for (i = 0, k = 0; i < h.nops; i++) {
		memcpy(&op, data + sizeof(h) + i * sizeof(op), sizeof(op));
		op.succ = (u32)k;
		op.nsucc %= h.nsucc - (u32)k + 1;
		op.nisucc %= h.nsucc - (u32)k - op.nsucc + 1;
		if (i == h.nops - 1)
			op.nisucc = h.nsucc - (u32)k - op.nsucc;
		memcpy(data + sizeof(h) + i * sizeof(op), &op, sizeof(op));
		k += op.nsucc + op.nisucc;
	}
	for (k = 0; k < h.nsucc; k++) {
		u32 to, deps;

		memcpy(&to, data + at + 4 * k, 4);
		if (to >= h.nops)
			continue;
		memcpy(&deps, data + rows + 4 * to, 4);
		deps++;
		memcpy(data + rows + 4 * to, &deps, 4);
	}
	return size;
}

size_t LLVMFuzzerCustomMutator(u8 *data, size_t size, size_t max, unsigned int seed)
{
	size = LLVMFuzzerMutate(data, size, max);
	return seed % 2 ? repair(data, size) : size;
}

#else /* FUZZ_CORPUS */

static struct world world;

int main(int argc, char **argv)
{
	char path[4096];
	u32 seed, rank;

	if (argc != 2) {
		fprintf(stderr, "usage: %s FOLDER\n", argv[0]);
		return 2;
	}
	for (seed = 0; seed < 8; seed++) {
		world_create(&world, seed, 1 + seed);
		for (rank = 0; rank < world.nranks && rank < 2; rank++) {
			FILE *out;

			snprintf(path, sizeof(path), "%s/random-%u-%u", argv[1], seed, rank);
			out = fopen(path, "wb");
			must(out);
			must(fwrite(world.data[rank], 1, world.len[rank], out) == world.len[rank]);
			must(fclose(out) == 0);
		}
		world_free(&world);
	}
	return 0;
}

#endif /* FUZZ_CORPUS */
