// SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause
/*
 * Element types: their sizes, and which reduction MPI allows on which of them. Asked by the
 * verifier and by whoever builds schedules. Also the place where the sizes of the ABI's
 * structures are asserted, in every home.
 */
#include "core.h"

_Static_assert(sizeof(struct goal_sched_hdr) == 64, "the schedule header is 64 bytes");
_Static_assert(sizeof(struct goal_op) == 64, "an operation is 64 bytes");
_Static_assert(__builtin_offsetof(struct goal_sched_hdr, total) == 8, "ABI");
_Static_assert(__builtin_offsetof(struct goal_sched_hdr, scratch) == 48, "ABI");
_Static_assert(__builtin_offsetof(struct goal_sched_hdr, reserved) == 60, "ABI");
_Static_assert(__builtin_offsetof(struct goal_op, src_buf) == 16, "ABI");
_Static_assert(__builtin_offsetof(struct goal_op, len_from) == 36, "ABI");
_Static_assert(__builtin_offsetof(struct goal_op, len) == 56, "ABI");

/* What MPI calls C integer, floating point, logical, ... */
enum type_class {
	CLASS_NONE = 0,
	CLASS_INTEGER,
	CLASS_LOGICAL,
	CLASS_FLOATING,
	CLASS_COMPLEX,
	CLASS_PAIR,
	CLASS_USER,
};

#define CLASS_BIT(c) (1u << (c))

/* Sizes only: nothing of these types is ever touched here, so a kernel may compile it. */
#define PAIR_SIZE(a, b)  \
	sizeof(struct {  \
		a value; \
		b index; \
	})

static const struct {
	u8 size;
	u8 class;
	u8 host_only;
} type_table[GOAL_TYPES] = {
	[GOAL_TYPE_INT8] = { 1, CLASS_INTEGER, 0 },
	[GOAL_TYPE_INT16] = { 2, CLASS_INTEGER, 0 },
	[GOAL_TYPE_INT32] = { 4, CLASS_INTEGER, 0 },
	[GOAL_TYPE_INT64] = { 8, CLASS_INTEGER, 0 },
	[GOAL_TYPE_UINT8] = { 1, CLASS_INTEGER, 0 },
	[GOAL_TYPE_UINT16] = { 2, CLASS_INTEGER, 0 },
	[GOAL_TYPE_UINT32] = { 4, CLASS_INTEGER, 0 },
	[GOAL_TYPE_UINT64] = { 8, CLASS_INTEGER, 0 },
	[GOAL_TYPE_BOOL] = { 1, CLASS_LOGICAL, 0 },
	[GOAL_TYPE_FLOAT] = { 4, CLASS_FLOATING, 0 },
	[GOAL_TYPE_DOUBLE] = { 8, CLASS_FLOATING, 0 },
	[GOAL_TYPE_LONG_DOUBLE] = { __SIZEOF_LONG_DOUBLE__, CLASS_FLOATING, 1 },
	[GOAL_TYPE_FLOAT_COMPLEX] = { 8, CLASS_COMPLEX, 1 },
	[GOAL_TYPE_DOUBLE_COMPLEX] = { 16, CLASS_COMPLEX, 1 },
	[GOAL_TYPE_LONG_DOUBLE_COMPLEX] = { 2 * __SIZEOF_LONG_DOUBLE__, CLASS_COMPLEX, 1 },
	[GOAL_TYPE_FLOAT_INT] = { PAIR_SIZE(float, int), CLASS_PAIR, 1 },
	[GOAL_TYPE_DOUBLE_INT] = { PAIR_SIZE(double, int), CLASS_PAIR, 1 },
	[GOAL_TYPE_LONG_INT] = { PAIR_SIZE(long, int), CLASS_PAIR, 1 },
	[GOAL_TYPE_2INT] = { PAIR_SIZE(int, int), CLASS_PAIR, 1 },
	[GOAL_TYPE_SHORT_INT] = { PAIR_SIZE(short, int), CLASS_PAIR, 1 },
	[GOAL_TYPE_LONG_DOUBLE_INT] = { PAIR_SIZE(long double, int), CLASS_PAIR, 1 },
	[GOAL_TYPE_2FLOAT] = { PAIR_SIZE(float, float), CLASS_PAIR, 1 },
	[GOAL_TYPE_2DOUBLE] = { PAIR_SIZE(double, double), CLASS_PAIR, 1 },
	[GOAL_TYPE_USER] = { 0, CLASS_USER, 1 },
};

#define CLASS_ANY                                                                          \
	(CLASS_BIT(CLASS_INTEGER) | CLASS_BIT(CLASS_LOGICAL) | CLASS_BIT(CLASS_FLOATING) | \
	 CLASS_BIT(CLASS_COMPLEX) | CLASS_BIT(CLASS_PAIR))

/* By operation, the classes of types that MPI defines it for (MPI 4.0, section 6.9.2). */
static const u8 rop_classes[GOAL_ROPS] = {
	[GOAL_ROP_MAX] = CLASS_BIT(CLASS_INTEGER) | CLASS_BIT(CLASS_FLOATING),
	[GOAL_ROP_MIN] = CLASS_BIT(CLASS_INTEGER) | CLASS_BIT(CLASS_FLOATING),
	[GOAL_ROP_SUM] = CLASS_BIT(CLASS_INTEGER) | CLASS_BIT(CLASS_FLOATING) |
			 CLASS_BIT(CLASS_COMPLEX),
	[GOAL_ROP_PROD] = CLASS_BIT(CLASS_INTEGER) | CLASS_BIT(CLASS_FLOATING) |
			  CLASS_BIT(CLASS_COMPLEX),
	[GOAL_ROP_LAND] = CLASS_BIT(CLASS_INTEGER) | CLASS_BIT(CLASS_LOGICAL),
	[GOAL_ROP_BAND] = CLASS_BIT(CLASS_INTEGER),
	[GOAL_ROP_LOR] = CLASS_BIT(CLASS_INTEGER) | CLASS_BIT(CLASS_LOGICAL),
	[GOAL_ROP_BOR] = CLASS_BIT(CLASS_INTEGER),
	[GOAL_ROP_LXOR] = CLASS_BIT(CLASS_INTEGER) | CLASS_BIT(CLASS_LOGICAL),
	[GOAL_ROP_BXOR] = CLASS_BIT(CLASS_INTEGER),
	[GOAL_ROP_MAXLOC] = CLASS_BIT(CLASS_PAIR),
	[GOAL_ROP_MINLOC] = CLASS_BIT(CLASS_PAIR),
	[GOAL_ROP_REPLACE] = CLASS_ANY,
	[GOAL_ROP_NO_OP] = CLASS_ANY,
	[GOAL_ROP_USER] = CLASS_BIT(CLASS_USER),
};

u32 core_type_size(u32 dtype)
{
	return dtype < GOAL_TYPES ? type_table[dtype].size : 0;
}

bool core_type_host_only(u32 dtype)
{
	return dtype < GOAL_TYPES && type_table[dtype].host_only;
}

bool core_reduce_valid(u32 dtype, u32 rop)
{
	if (dtype >= GOAL_TYPES || rop >= GOAL_ROPS || type_table[dtype].class == CLASS_NONE)
		return false;
	return rop_classes[rop] & CLASS_BIT(type_table[dtype].class);
}
