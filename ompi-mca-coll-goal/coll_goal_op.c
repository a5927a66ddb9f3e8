/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MPI's operations and types as the engine's codes; and the reductions the engine has no code
 * for (user's operations, Fortran's LOGICAL, 16-byte types), which the run hands back to us as
 * packed elements. Called by reduce.c & co. before a run, by the engine during it.
 */
#include "coll_goal.h"

static const uint8_t dtype_of[OMPI_OP_BASE_TYPE_MAX] = {
	[OMPI_OP_BASE_TYPE_INT8_T] = GOAL_TYPE_INT8,
	[OMPI_OP_BASE_TYPE_UINT8_T] = GOAL_TYPE_UINT8,
	[OMPI_OP_BASE_TYPE_INT16_T] = GOAL_TYPE_INT16,
	[OMPI_OP_BASE_TYPE_UINT16_T] = GOAL_TYPE_UINT16,
	[OMPI_OP_BASE_TYPE_INT32_T] = GOAL_TYPE_INT32,
	[OMPI_OP_BASE_TYPE_UINT32_T] = GOAL_TYPE_UINT32,
	[OMPI_OP_BASE_TYPE_INT64_T] = GOAL_TYPE_INT64,
	[OMPI_OP_BASE_TYPE_UINT64_T] = GOAL_TYPE_UINT64,
	[OMPI_OP_BASE_TYPE_INTEGER] = sizeof(ompi_fortran_integer_t) == 4 ? GOAL_TYPE_INT32
									  : GOAL_TYPE_INT64,
	[OMPI_OP_BASE_TYPE_INTEGER1] = GOAL_TYPE_INT8,
	[OMPI_OP_BASE_TYPE_INTEGER2] = GOAL_TYPE_INT16,
	[OMPI_OP_BASE_TYPE_INTEGER4] = GOAL_TYPE_INT32,
	[OMPI_OP_BASE_TYPE_INTEGER8] = GOAL_TYPE_INT64,
	[OMPI_OP_BASE_TYPE_FLOAT] = GOAL_TYPE_FLOAT,
	[OMPI_OP_BASE_TYPE_DOUBLE] = GOAL_TYPE_DOUBLE,
	[OMPI_OP_BASE_TYPE_REAL] = sizeof(ompi_fortran_real_t) == 4 ? GOAL_TYPE_FLOAT
								    : GOAL_TYPE_DOUBLE,
	[OMPI_OP_BASE_TYPE_REAL4] = GOAL_TYPE_FLOAT,
	[OMPI_OP_BASE_TYPE_REAL8] = GOAL_TYPE_DOUBLE,
	[OMPI_OP_BASE_TYPE_DOUBLE_PRECISION] = GOAL_TYPE_DOUBLE,
	[OMPI_OP_BASE_TYPE_LONG_DOUBLE] = GOAL_TYPE_LONG_DOUBLE,
	[OMPI_OP_BASE_TYPE_BOOL] = GOAL_TYPE_BOOL,
	[OMPI_OP_BASE_TYPE_C_FLOAT_COMPLEX] = GOAL_TYPE_FLOAT_COMPLEX,
	[OMPI_OP_BASE_TYPE_C_DOUBLE_COMPLEX] = GOAL_TYPE_DOUBLE_COMPLEX,
	[OMPI_OP_BASE_TYPE_C_LONG_DOUBLE_COMPLEX] = GOAL_TYPE_LONG_DOUBLE_COMPLEX,
	[OMPI_OP_BASE_TYPE_BYTE] = GOAL_TYPE_UINT8,
	[OMPI_OP_BASE_TYPE_2REAL] = GOAL_TYPE_2FLOAT,
	[OMPI_OP_BASE_TYPE_2DOUBLE_PRECISION] = GOAL_TYPE_2DOUBLE,
	[OMPI_OP_BASE_TYPE_2INTEGER] = GOAL_TYPE_2INT,
	[OMPI_OP_BASE_TYPE_FLOAT_INT] = GOAL_TYPE_FLOAT_INT,
	[OMPI_OP_BASE_TYPE_DOUBLE_INT] = GOAL_TYPE_DOUBLE_INT,
	[OMPI_OP_BASE_TYPE_LONG_INT] = GOAL_TYPE_LONG_INT,
	[OMPI_OP_BASE_TYPE_2INT] = GOAL_TYPE_2INT,
	[OMPI_OP_BASE_TYPE_SHORT_INT] = GOAL_TYPE_SHORT_INT,
	[OMPI_OP_BASE_TYPE_LONG_DOUBLE_INT] = GOAL_TYPE_LONG_DOUBLE_INT,
	[OMPI_OP_BASE_TYPE_LONG] = sizeof(long) == 4 ? GOAL_TYPE_INT32 : GOAL_TYPE_INT64,
	[OMPI_OP_BASE_TYPE_UNSIGNED_LONG] = sizeof(long) == 4 ? GOAL_TYPE_UINT32 : GOAL_TYPE_UINT64,
};

/* Bytes of one element in memory, as the engine counts them; the types of the table only. */
static const uint8_t size_of[GOAL_TYPES] = {
	[GOAL_TYPE_INT8] = 1,
	[GOAL_TYPE_INT16] = 2,
	[GOAL_TYPE_INT32] = 4,
	[GOAL_TYPE_INT64] = 8,
	[GOAL_TYPE_UINT8] = 1,
	[GOAL_TYPE_UINT16] = 2,
	[GOAL_TYPE_UINT32] = 4,
	[GOAL_TYPE_UINT64] = 8,
	[GOAL_TYPE_BOOL] = sizeof(bool),
	[GOAL_TYPE_FLOAT] = sizeof(float),
	[GOAL_TYPE_DOUBLE] = sizeof(double),
	[GOAL_TYPE_LONG_DOUBLE] = sizeof(long double),
	[GOAL_TYPE_FLOAT_COMPLEX] = 2 * sizeof(float),
	[GOAL_TYPE_DOUBLE_COMPLEX] = 2 * sizeof(double),
	[GOAL_TYPE_LONG_DOUBLE_COMPLEX] = 2 * sizeof(long double),
	[GOAL_TYPE_FLOAT_INT] = sizeof(struct {
		float a;
		int b;
	}),
	[GOAL_TYPE_DOUBLE_INT] = sizeof(struct {
		double a;
		int b;
	}),
	[GOAL_TYPE_LONG_INT] = sizeof(struct {
		long a;
		int b;
	}),
	[GOAL_TYPE_2INT] = 2 * sizeof(int),
	[GOAL_TYPE_SHORT_INT] = sizeof(struct {
		short a;
		int b;
	}),
	[GOAL_TYPE_LONG_DOUBLE_INT] = sizeof(struct {
		long double a;
		int b;
	}),
	[GOAL_TYPE_2FLOAT] = 2 * sizeof(float),
	[GOAL_TYPE_2DOUBLE] = 2 * sizeof(double),
};

static uint32_t rop_of(const ompi_op_t *op)
{
	switch (op->op_type) {
	case OMPI_OP_MAX:
		return GOAL_ROP_MAX;
	case OMPI_OP_MIN:
		return GOAL_ROP_MIN;
	case OMPI_OP_SUM:
		return GOAL_ROP_SUM;
	case OMPI_OP_PROD:
		return GOAL_ROP_PROD;
	case OMPI_OP_LAND:
		return GOAL_ROP_LAND;
	case OMPI_OP_BAND:
		return GOAL_ROP_BAND;
	case OMPI_OP_LOR:
		return GOAL_ROP_LOR;
	case OMPI_OP_BOR:
		return GOAL_ROP_BOR;
	case OMPI_OP_LXOR:
		return GOAL_ROP_LXOR;
	case OMPI_OP_BXOR:
		return GOAL_ROP_BXOR;
	case OMPI_OP_MAXLOC:
		return GOAL_ROP_MAXLOC;
	case OMPI_OP_MINLOC:
		return GOAL_ROP_MINLOC;
	default:
		return GOAL_ROP_NONE;
	}
}

/* The engine reduces @dtype by @rop (the table of its type and operation codes). */
static bool engine_can(uint32_t dtype, uint32_t rop)
{
	switch (dtype) {
	case GOAL_TYPE_INT8 ... GOAL_TYPE_UINT64:
		return rop >= GOAL_ROP_MAX && rop <= GOAL_ROP_BXOR;
	case GOAL_TYPE_BOOL:
		return rop == GOAL_ROP_LAND || rop == GOAL_ROP_LOR || rop == GOAL_ROP_LXOR;
	case GOAL_TYPE_FLOAT:
	case GOAL_TYPE_DOUBLE:
	case GOAL_TYPE_LONG_DOUBLE:
		return rop >= GOAL_ROP_MAX && rop <= GOAL_ROP_PROD;
	case GOAL_TYPE_FLOAT_COMPLEX:
	case GOAL_TYPE_DOUBLE_COMPLEX:
	case GOAL_TYPE_LONG_DOUBLE_COMPLEX:
		return rop == GOAL_ROP_SUM || rop == GOAL_ROP_PROD;
	case GOAL_TYPE_FLOAT_INT ... GOAL_TYPE_2DOUBLE:
		return rop == GOAL_ROP_MAXLOC || rop == GOAL_ROP_MINLOC;
	default:
		return false;
	}
}

uint32_t coll_goal_op_codes(ompi_op_t *op, ompi_datatype_t *type, uint32_t *dtype, uint32_t *rop)
{
	int base;

	*dtype = GOAL_TYPE_USER;
	*rop = GOAL_ROP_USER;
	if (!ompi_op_is_intrinsic(op) || !ompi_datatype_is_predefined(type))
		return 0;
	base = ompi_op_ddt_map[type->id];
	/* Open MPI's own table takes MPI_Offset, which is signed, for unsigned. */
	if (type == MPI_OFFSET)
		base = OMPI_OP_BASE_TYPE_INT64_T;
	if (base < 0 || !dtype_of[base] || !engine_can(dtype_of[base], rop_of(op)))
		return 0;
	/* Where Open MPI was built with other sizes, the table above does not hold. */
	if (size_of[dtype_of[base]] != type->super.ub - type->super.lb)
		return 0;
	*dtype = dtype_of[base];
	*rop = rop_of(op);
	return size_of[dtype_of[base]];
}

/* Elements with holes: spread out, reduce, and pack the result again. */
static int reduce_spread(const struct coll_goal_reducer *r, const void *in, void *inout,
			 uint64_t count)
{
	ptrdiff_t gap, span = opal_datatype_span(&r->type->super, count, &gap);
	struct coll_goal_block a = { .count = count, .type = r->type }, b;
	char *room;
	int rc;

	a.bytes = (uint64_t)r->type->super.size * count;
	b = a;
	room = coll_goal_malloc(2 * ((size_t)span + 64));
	if (!room)
		return -ENOMEM;
	a.addr = room - gap;
	b.addr = room + (((size_t)span + 63) & ~(size_t)63) - gap;
	rc = coll_goal_unpack(&a, in, a.bytes);
	if (!rc)
		rc = coll_goal_unpack(&b, inout, b.bytes);
	if (!rc) {
		ompi_op_reduce(r->op, a.addr, b.addr, count, r->type);
		rc = coll_goal_pack(&b, inout);
	}
	free(room);
	return rc;
}

int coll_goal_op_reduce(void *reducer, const void *in, void *inout, uint64_t count)
{
	const struct coll_goal_reducer *r = reducer;
	const uint32_t both = OPAL_DATATYPE_FLAG_CONTIGUOUS | OPAL_DATATYPE_FLAG_NO_GAPS;
	ptrdiff_t lb = r->type->super.true_lb;

	if ((r->type->super.flags & both) != both)
		return reduce_spread(r, in, inout, count);
	ompi_op_reduce(r->op, (char *)in - lb, (char *)inout - lb, count, r->type);
	return 0;
}
