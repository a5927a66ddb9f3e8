/* SPDX-License-Identifier: BSD-3-Clause */
/* Datatypes with one signature and many layouts; used by the conformance programs. */
#include "zoo.h"

static MPI_Datatype types[ZOO_TYPES];
static const char *const zoo_names[ZOO_TYPES] = {
	"plain", "vector", "resized", "indexed", "struct", "negative", "interleaved", "nested",
};

void zoo_open(void)
{
	static const int ilen[3] = { 5, 3, 4 }, idisp[3] = { 20, 0, 8 };
	static const int slen[3] = { 4, 6, 2 };
	static const MPI_Aint sdisp[3] = { 8, 40, 100 };
	static const int nlen[3] = { 3, 7, 2 };
	static const MPI_Aint ndisp[3] = { -48, -24, 16 };
	MPI_Datatype stypes[3] = { MPI_INT, MPI_INT, MPI_INT }, inner;

	MPI_Type_contiguous(ZOO_INTS, MPI_INT, &types[ZOO_PLAIN]);
	MPI_Type_vector(3, 4, 6, MPI_INT, &types[ZOO_VECTOR]);

	MPI_Type_vector(12, 1, 2, MPI_INT, &inner);
	MPI_Type_create_resized(inner, -16, 16 + 96 + 8, &types[ZOO_RESIZED]);
	MPI_Type_free(&inner);

	MPI_Type_indexed(3, ilen, idisp, MPI_INT, &types[ZOO_INDEXED]);
	MPI_Type_create_struct(3, slen, sdisp, stypes, &types[ZOO_STRUCT]);
	MPI_Type_create_hindexed(3, nlen, ndisp, MPI_INT, &types[ZOO_NEGATIVE]);

	MPI_Type_vector(12, 1, ZOO_INTERLEAVED_MAX, MPI_INT, &inner);
	MPI_Type_create_resized(inner, 0, sizeof(int), &types[ZOO_INTERLEAVED]);
	MPI_Type_free(&inner);

	MPI_Type_vector(2, 2, 3, MPI_INT, &inner);
	MPI_Type_create_hvector(3, 1, 40, inner, &types[ZOO_NESTED]);
	MPI_Type_free(&inner);

	for (int i = 0; i < ZOO_TYPES; i++)
		MPI_OK(MPI_Type_commit(&types[i]));
}

void zoo_close(void)
{
	for (int i = 0; i < ZOO_TYPES; i++)
		MPI_OK(MPI_Type_free(&types[i]));
}

MPI_Datatype zoo_type(enum zoo which)
{
	return types[which];
}

const char *zoo_name(enum zoo which)
{
	return zoo_names[which];
}

enum zoo zoo_fit(enum zoo which, size_t count)
{
	return which == ZOO_INTERLEAVED && count > ZOO_INTERLEAVED_MAX ? ZOO_PLAIN : which;
}
