/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reductions by arithmetic of our own: all predefined operations on all predefined types, and
 * the user operations of these tests.
 */
#ifndef TEST_MPI_ARITH_H
#define TEST_MPI_ARITH_H

#include "check.h"

enum kind {
	KIND_INT,  /* signed and unsigned C integers */
	KIND_FINT, /* Fortran integers: not logical */
	KIND_AINT, /* MPI_AINT, MPI_OFFSET, MPI_COUNT: not logical either */
	KIND_REAL,
	KIND_COMPLEX,
	KIND_LOGICAL,
	KIND_BYTE, /* bits only */
	KIND_PAIR  /* value and index */
};

enum op {
	OP_SUM,
	OP_PROD,
	OP_MAX,
	OP_MIN,
	OP_LAND,
	OP_LOR,
	OP_LXOR,
	OP_BAND,
	OP_BOR,
	OP_BXOR,
	OP_MAXLOC,
	OP_MINLOC,
	OPS
};

struct arith_type {
	MPI_Datatype type;
	const char *name;
	enum kind kind;
	size_t extent;
	struct {
		unsigned char from, to;
	} pad[2]; /* bytes of an element that carry no value */
	/* inout[i] = in[i] op inout[i] */
	void (*apply)(enum op op, const void *in, void *inout, int count);
	/* Values of @rank for @op, such that any order of reduction gives the same bits. */
	void (*fill)(enum op op, void *at, int count, uint64_t rank);
};

extern const struct arith_type *const arith_types; /* after arith_open() */
extern int arith_ntypes;

void arith_open(void);
void arith_close(void);
const struct arith_type *arith_find(MPI_Datatype type);
MPI_Op arith_op(enum op op);
const char *arith_op_name(enum op op);
/* May MPI reduce this type with this operation? (MPI 3.1, 5.9.2 and 5.9.4) */
bool arith_valid(const struct arith_type *t, enum op op);
/* Bytes without a value are set to 0, so that results can be compared as bytes. */
void arith_clear_pads(const struct arith_type *t, void *at, int count);

/*
 * User operations on elements whose signature is an even number of ints, in any layout. A pair
 * of ints (a, b) is the map x -> a x + b; the operation composes, in this order: the first
 * does not commute, the second (sum of all ints) does.
 */
extern MPI_Op arith_compose, arith_add;

/* inout[i] = in[i] op inout[i], for any of the above. */
void arith_apply(MPI_Op op, MPI_Datatype type, void *in, void *inout, int count);

#endif /* TEST_MPI_ARITH_H */
