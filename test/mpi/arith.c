/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reductions by arithmetic of our own, in plain C, for the references and for the values that the
 * test of predefined operations expects.
 */
#include <complex.h>
#include <stdlib.h>
#include <string.h>

#include "arith.h"

MPI_Op arith_compose, arith_add;

static uint64_t pick(uint64_t rank, int i)
{
	return check_random(rank, (uint64_t)i, 77);
}

/* A small number for each operation: no order of reducing 9 of them overflows or rounds. */
static int small(enum op op, uint64_t rank, int i)
{
	uint64_t x = pick(rank, i);

	switch (op) {
	case OP_SUM:
		return (int)(x % 13);
	case OP_PROD:
		return rank < 6 && x % 3 == 0 ? 2 : 1;
	case OP_LAND:
		return x % 16 != 0;
	case OP_LOR:
		return x % 16 == 0;
	case OP_LXOR:
		return x & 1;
	default:
		return (int)(x % 127);
	}
}

#define APPLY_COMMON(T)                          \
	case OP_SUM:                             \
		for (int i = 0; i < count; i++)  \
			b[i] = (T)(a[i] + b[i]); \
		break;                           \
	case OP_PROD:                            \
		for (int i = 0; i < count; i++)  \
			b[i] = (T)(a[i] * b[i]); \
		break;

#define APPLY_ORDER                                       \
	case OP_MAX:                                      \
		for (int i = 0; i < count; i++)           \
			b[i] = a[i] > b[i] ? a[i] : b[i]; \
		break;                                    \
	case OP_MIN:                                      \
		for (int i = 0; i < count; i++)           \
			b[i] = a[i] < b[i] ? a[i] : b[i]; \
		break;

#define APPLY_BITS(T)                               \
	case OP_LAND:                               \
		for (int i = 0; i < count; i++)     \
			b[i] = (T)(a[i] && b[i]);   \
		break;                              \
	case OP_LOR:                                \
		for (int i = 0; i < count; i++)     \
			b[i] = (T)(a[i] || b[i]);   \
		break;                              \
	case OP_LXOR:                               \
		for (int i = 0; i < count; i++)     \
			b[i] = (T)(!a[i] != !b[i]); \
		break;                              \
	case OP_BAND:                               \
		for (int i = 0; i < count; i++)     \
			b[i] = (T)(a[i] & b[i]);    \
		break;                              \
	case OP_BOR:                                \
		for (int i = 0; i < count; i++)     \
			b[i] = (T)(a[i] | b[i]);    \
		break;                              \
	case OP_BXOR:                               \
		for (int i = 0; i < count; i++)     \
			b[i] = (T)(a[i] ^ b[i]);    \
		break;

#define DEFINE_INT(name, T)                                                          \
	static void apply_##name(enum op op, const void *in, void *inout, int count) \
	{                                                                            \
		const T *a = in;                                                     \
		T *b = inout;                                                        \
                                                                                     \
		switch (op) {                                                        \
			APPLY_COMMON(T)                                              \
			APPLY_ORDER                                                  \
			APPLY_BITS(T)                                                \
		default:                                                             \
			abort();                                                     \
		}                                                                    \
	}                                                                            \
	static void fill_##name(enum op op, void *at, int count, uint64_t rank)      \
	{                                                                            \
		T *b = at;                                                           \
                                                                                     \
		for (int i = 0; i < count; i++)                                      \
			b[i] = op == OP_MAX || op == OP_MIN || op >= OP_BAND         \
				       ? (T)pick(rank, i)                            \
				       : (T)small(op, rank, i);                      \
	}

#define DEFINE_REAL(name, T)                                                         \
	static void apply_##name(enum op op, const void *in, void *inout, int count) \
	{                                                                            \
		const T *a = in;                                                     \
		T *b = inout;                                                        \
                                                                                     \
		switch (op) {                                                        \
			APPLY_COMMON(T)                                              \
			APPLY_ORDER                                                  \
		default:                                                             \
			abort();                                                     \
		}                                                                    \
	}                                                                            \
	static void fill_##name(enum op op, void *at, int count, uint64_t rank)      \
	{                                                                            \
		T *b = at;                                                           \
                                                                                     \
		for (int i = 0; i < count; i++)                                      \
			b[i] = (T)small(op, rank, i) / (op == OP_PROD ? 1 : 4) *     \
			       (pick(rank, i) & 64 && op != OP_PROD ? -1 : 1);       \
	}

#define DEFINE_COMPLEX(name, T)                                                                 \
	static void apply_##name(enum op op, const void *in, void *inout, int count)            \
	{                                                                                       \
		const T *a = in;                                                                \
		T *b = inout;                                                                   \
                                                                                                \
		switch (op) {                                                                   \
			APPLY_COMMON(T)                                                         \
		default:                                                                        \
			abort();                                                                \
		}                                                                               \
	}                                                                                       \
	static void fill_##name(enum op op, void *at, int count, uint64_t rank)                 \
	{                                                                                       \
		T *b = at;                                                                      \
                                                                                                \
		/* Products of i, 1 + i and 2 are exact and have no negative zeros' trouble. */ \
		for (int i = 0; i < count; i++)                                                 \
			b[i] = op == OP_SUM ? (T)small(op, rank, i) + 2 * I                     \
					    : (T)(pick(rank, i) % 2 ? 2 : 1) + (T)(1.0f * I);   \
	}

#define DEFINE_PAIR(name, T) \
	struct pair_##name { \
		T v;         \
		int i;       \
	};                   \
	DEFINE_PAIR_OF(name, struct pair_##name, T)

#define DEFINE_PAIR_OF(name, S, T)                                                         \
	static void apply_##name(enum op op, const void *in, void *inout, int count)       \
	{                                                                                  \
		const S *a = in;                                                           \
		S *b = inout;                                                              \
                                                                                           \
		for (int i = 0; i < count; i++) {                                          \
			bool better = op == OP_MAXLOC ? a[i].v > b[i].v : a[i].v < b[i].v; \
                                                                                           \
			if (a[i].v == b[i].v) {                                            \
				b[i].i = a[i].i < b[i].i ? a[i].i : b[i].i;                \
			} else if (better) {                                               \
				b[i].v = a[i].v;                                           \
				b[i].i = a[i].i;                                           \
			}                                                                  \
		}                                                                          \
	}                                                                                  \
	static void fill_##name(enum op op, void *at, int count, uint64_t rank)            \
	{                                                                                  \
		S *b = at;                                                                 \
                                                                                           \
		(void)op;                                                                  \
		for (int i = 0; i < count; i++) {                                          \
			/* Few values, so that ties decide by the index. */                \
			b[i].v = (T)(pick(rank, i) % 4);                                   \
			b[i].i = (int)((pick(rank, i) >> 8) % 100);                        \
		}                                                                          \
	}

/* clang-format off */
DEFINE_INT(i8, int8_t)
DEFINE_INT(i16, int16_t)
DEFINE_INT(i32, int32_t)
DEFINE_INT(i64, int64_t)
DEFINE_INT(u8, uint8_t)
DEFINE_INT(u16, uint16_t)
DEFINE_INT(u32, uint32_t)
DEFINE_INT(u64, uint64_t)
DEFINE_REAL(f32, float)
DEFINE_REAL(f64, double)
DEFINE_REAL(f80, long double)
DEFINE_COMPLEX(c32, float complex)
DEFINE_COMPLEX(c64, double complex)
DEFINE_COMPLEX(c80, long double complex)
DEFINE_PAIR(pf, float)
DEFINE_PAIR(pd, double)
DEFINE_PAIR(pl, long)
DEFINE_PAIR(ps, short)
DEFINE_PAIR(pi, int)
DEFINE_PAIR(pld, long double)
struct pair_2r { float v, i; };
DEFINE_PAIR_OF(p2r, struct pair_2r, float)
struct pair_2d { double v, i; };
DEFINE_PAIR_OF(p2d, struct pair_2d, double)
/* clang-format on */

/* A C bool holds 0 or 1 only; the same functions as a byte's otherwise. */
static void apply_bool(enum op op, const void *in, void *inout, int count)
{
	apply_u8(op, in, inout, count);
}

static void fill_bool(enum op op, void *at, int count, uint64_t rank)
{
	unsigned char *b = at;

	for (int i = 0; i < count; i++)
		b[i] = (unsigned char)small(op, rank, i);
}

/* Fortran's LOGICAL is an int that holds 0 or 1 here. */
static void fill_logical(enum op op, void *at, int count, uint64_t rank)
{
	int *b = at;

	for (int i = 0; i < count; i++)
		b[i] = small(op, rank, i);
}

static struct arith_type table[64];
const struct arith_type *const arith_types = table;
int arith_ntypes;

static void add(MPI_Datatype type, const char *name, enum kind kind, size_t extent,
		void (*apply)(enum op, const void *, void *, int),
		void (*fill)(enum op, void *, int, uint64_t))
{
	struct arith_type *t = &table[arith_ntypes];
	MPI_Aint lb, e;

	/* A type this build of MPI has under its name only. */
	if (type == MPI_DATATYPE_NULL)
		return;
	MPI_OK(MPI_Type_get_extent(type, &lb, &e));
	if ((size_t)e != extent) {
		check_fail("%s has extent %ld instead of %zu", name, (long)e, extent);
		return;
	}
	*t = (struct arith_type){ type, name, kind, extent, { { 0, 0 }, { 0, 0 } }, apply, fill };
	arith_ntypes++;
}

static void pads(int f0, int t0, int f1, int t1)
{
	struct arith_type *t = &table[arith_ntypes - 1];

	t->pad[0].from = (unsigned char)f0;
	t->pad[0].to = (unsigned char)t0;
	t->pad[1].from = (unsigned char)f1;
	t->pad[1].to = (unsigned char)t1;
}

#define ADD(type, kind, C, name) add(type, #type, kind, sizeof(C), apply_##name, fill_##name)

static void add_integers(void)
{
	ADD(MPI_SIGNED_CHAR, KIND_INT, signed char, i8);
	ADD(MPI_SHORT, KIND_INT, short, i16);
	ADD(MPI_INT, KIND_INT, int, i32);
	ADD(MPI_LONG, KIND_INT, long, i64);
	ADD(MPI_LONG_LONG, KIND_INT, long long, i64);
	ADD(MPI_UNSIGNED_CHAR, KIND_INT, unsigned char, u8);
	ADD(MPI_UNSIGNED_SHORT, KIND_INT, unsigned short, u16);
	ADD(MPI_UNSIGNED, KIND_INT, unsigned int, u32);
	ADD(MPI_UNSIGNED_LONG, KIND_INT, unsigned long, u64);
	ADD(MPI_UNSIGNED_LONG_LONG, KIND_INT, unsigned long long, u64);
	ADD(MPI_INT8_T, KIND_INT, int8_t, i8);
	ADD(MPI_INT16_T, KIND_INT, int16_t, i16);
	ADD(MPI_INT32_T, KIND_INT, int32_t, i32);
	ADD(MPI_INT64_T, KIND_INT, int64_t, i64);
	ADD(MPI_UINT8_T, KIND_INT, uint8_t, u8);
	ADD(MPI_UINT16_T, KIND_INT, uint16_t, u16);
	ADD(MPI_UINT32_T, KIND_INT, uint32_t, u32);
	ADD(MPI_UINT64_T, KIND_INT, uint64_t, u64);
	ADD(MPI_INTEGER, KIND_FINT, int, i32);
	ADD(MPI_INTEGER1, KIND_FINT, int8_t, i8);
	ADD(MPI_INTEGER2, KIND_FINT, int16_t, i16);
	ADD(MPI_INTEGER4, KIND_FINT, int32_t, i32);
	ADD(MPI_INTEGER8, KIND_FINT, int64_t, i64);
	ADD(MPI_AINT, KIND_AINT, MPI_Aint, i64);
	ADD(MPI_OFFSET, KIND_AINT, MPI_Offset, i64);
	ADD(MPI_COUNT, KIND_AINT, MPI_Count, i64);
	ADD(MPI_BYTE, KIND_BYTE, unsigned char, u8);
	ADD(MPI_C_BOOL, KIND_LOGICAL, unsigned char, bool);
	ADD(MPI_CXX_BOOL, KIND_LOGICAL, unsigned char, bool);
	add(MPI_LOGICAL, "MPI_LOGICAL", KIND_LOGICAL, sizeof(int), apply_i32, fill_logical);
}

static void add_reals(void)
{
	ADD(MPI_FLOAT, KIND_REAL, float, f32);
	ADD(MPI_DOUBLE, KIND_REAL, double, f64);
	ADD(MPI_LONG_DOUBLE, KIND_REAL, long double, f80);
	pads(10, 16, 0, 0);
	ADD(MPI_REAL, KIND_REAL, float, f32);
	ADD(MPI_REAL4, KIND_REAL, float, f32);
	ADD(MPI_REAL8, KIND_REAL, double, f64);
	ADD(MPI_DOUBLE_PRECISION, KIND_REAL, double, f64);
	ADD(MPI_C_FLOAT_COMPLEX, KIND_COMPLEX, float complex, c32);
	ADD(MPI_C_DOUBLE_COMPLEX, KIND_COMPLEX, double complex, c64);
	ADD(MPI_C_LONG_DOUBLE_COMPLEX, KIND_COMPLEX, long double complex, c80);
	pads(10, 16, 26, 32);
	ADD(MPI_COMPLEX, KIND_COMPLEX, float complex, c32);
	ADD(MPI_COMPLEX8, KIND_COMPLEX, float complex, c32);
	ADD(MPI_COMPLEX16, KIND_COMPLEX, double complex, c64);
	ADD(MPI_DOUBLE_COMPLEX, KIND_COMPLEX, double complex, c64);
	ADD(MPI_CXX_FLOAT_COMPLEX, KIND_COMPLEX, float complex, c32);
	ADD(MPI_CXX_DOUBLE_COMPLEX, KIND_COMPLEX, double complex, c64);
	ADD(MPI_CXX_LONG_DOUBLE_COMPLEX, KIND_COMPLEX, long double complex, c80);
	pads(10, 16, 26, 32);
	ADD(MPI_FLOAT_INT, KIND_PAIR, struct pair_pf, pf);
	ADD(MPI_DOUBLE_INT, KIND_PAIR, struct pair_pd, pd);
	pads(12, 16, 0, 0);
	ADD(MPI_LONG_INT, KIND_PAIR, struct pair_pl, pl);
	pads(12, 16, 0, 0);
	ADD(MPI_SHORT_INT, KIND_PAIR, struct pair_ps, ps);
	pads(2, 4, 0, 0);
	ADD(MPI_2INT, KIND_PAIR, struct pair_pi, pi);
	ADD(MPI_LONG_DOUBLE_INT, KIND_PAIR, struct pair_pld, pld);
	pads(10, 16, 20, 32);
	ADD(MPI_2INTEGER, KIND_PAIR, struct pair_pi, pi);
	ADD(MPI_2REAL, KIND_PAIR, struct pair_2r, p2r);
	ADD(MPI_2DOUBLE_PRECISION, KIND_PAIR, struct pair_2d, p2d);
}

/* A user operation of any layout: as packed ints. */
static void user(void *in, void *inout, int *len, MPI_Datatype *type, bool compose)
{
	int bytes, ints, pos = 0;
	unsigned int *a, *b;

	MPI_Type_size(*type, &bytes);
	bytes *= *len;
	ints = bytes / (int)sizeof(int);
	a = malloc((size_t)bytes + 1);
	b = malloc((size_t)bytes + 1);
	if (!a || !b)
		abort();
	MPI_Pack(in, *len, *type, a, bytes, &pos, MPI_COMM_SELF);
	pos = 0;
	MPI_Pack(inout, *len, *type, b, bytes, &pos, MPI_COMM_SELF);
	for (int i = 0; !compose && i < ints; i++)
		b[i] += a[i];
	for (int i = 0; compose && i + 1 < ints; i += 2) {
		/* a[i] x + a[i + 1] after b */
		b[i + 1] = a[i] * b[i + 1] + a[i + 1];
		b[i] = a[i] * b[i];
	}
	pos = 0;
	MPI_Unpack(b, bytes, &pos, inout, *len, *type, MPI_COMM_SELF);
	free(a);
	free(b);
}

static void compose_fn(void *in, void *inout, int *len, MPI_Datatype *type)
{
	user(in, inout, len, type, true);
}

static void add_fn(void *in, void *inout, int *len, MPI_Datatype *type)
{
	user(in, inout, len, type, false);
}

void arith_open(void)
{
	add_integers();
	add_reals();
	MPI_OK(MPI_Op_create(compose_fn, 0, &arith_compose));
	MPI_OK(MPI_Op_create(add_fn, 1, &arith_add));
}

void arith_close(void)
{
	MPI_OK(MPI_Op_free(&arith_compose));
	MPI_OK(MPI_Op_free(&arith_add));
}

const struct arith_type *arith_find(MPI_Datatype type)
{
	for (int i = 0; i < arith_ntypes; i++) {
		if (table[i].type == type)
			return &table[i];
	}
	return NULL;
}

/* Not a static table: the handles of Open MPI are addresses known at run time only. */
MPI_Op arith_op(enum op op)
{
	const MPI_Op ops[OPS] = { MPI_SUM,  MPI_PROD, MPI_MAX, MPI_MIN,  MPI_LAND,   MPI_LOR,
				  MPI_LXOR, MPI_BAND, MPI_BOR, MPI_BXOR, MPI_MAXLOC, MPI_MINLOC };

	return ops[op];
}

const char *arith_op_name(enum op op)
{
	static const char *const op_names[OPS] = {
		"sum",  "prod", "max", "min",  "land",   "lor",
		"lxor", "band", "bor", "bxor", "maxloc", "minloc"
	};

	return op_names[op];
}

bool arith_valid(const struct arith_type *t, enum op op)
{
	switch (t->kind) {
	case KIND_INT:
		return op < OP_MAXLOC;
	case KIND_FINT:
	case KIND_AINT:
		return op < OP_LAND || (op >= OP_BAND && op <= OP_BXOR);
	case KIND_REAL:
		return op <= OP_MIN;
	case KIND_COMPLEX:
		return op <= OP_PROD;
	case KIND_LOGICAL:
		return op >= OP_LAND && op <= OP_LXOR;
	case KIND_BYTE:
		return op >= OP_BAND && op <= OP_BXOR;
	default:
		return op == OP_MAXLOC || op == OP_MINLOC;
	}
}

void arith_clear_pads(const struct arith_type *t, void *at, int count)
{
	unsigned char *p = at;

	for (int i = 0; i < count; i++, p += t->extent) {
		for (int k = 0; k < 2; k++)
			memset(p + t->pad[k].from, 0, (size_t)(t->pad[k].to - t->pad[k].from));
	}
}

void arith_apply(MPI_Op op, MPI_Datatype type, void *in, void *inout, int count)
{
	const struct arith_type *t = arith_find(type);

	if (op == arith_compose || op == arith_add) {
		user(in, inout, &count, &type, op == arith_compose);
		return;
	}
	for (int i = 0; i < OPS; i++) {
		if (t && arith_op((enum op)i) == op) {
			t->apply((enum op)i, in, inout, count);
			return;
		}
	}
	check_fail("the reference knows no such reduction");
	abort();
}
