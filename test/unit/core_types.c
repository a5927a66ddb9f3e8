// SPDX-License-Identifier: BSD-3-Clause
/* Element types: sizes as C has them, and the reductions that MPI allows on each. */
#include <complex.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "core.h"

#define C_PAIR(a, b)     \
	sizeof(struct {  \
		a value; \
		b index; \
	})

static const struct {
	u32 dtype;
	size_t size;
	const char *rops; /* the letters of rop_letter */
	bool host_only;
} expected[] = {
	{ GOAL_TYPE_NONE, 0, "", false },
	{ GOAL_TYPE_INT8, sizeof(int8_t), "MmSPLBlbxyRN", false },
	{ GOAL_TYPE_INT16, sizeof(int16_t), "MmSPLBlbxyRN", false },
	{ GOAL_TYPE_INT32, sizeof(int32_t), "MmSPLBlbxyRN", false },
	{ GOAL_TYPE_INT64, sizeof(int64_t), "MmSPLBlbxyRN", false },
	{ GOAL_TYPE_UINT8, sizeof(uint8_t), "MmSPLBlbxyRN", false },
	{ GOAL_TYPE_UINT16, sizeof(uint16_t), "MmSPLBlbxyRN", false },
	{ GOAL_TYPE_UINT32, sizeof(uint32_t), "MmSPLBlbxyRN", false },
	{ GOAL_TYPE_UINT64, sizeof(uint64_t), "MmSPLBlbxyRN", false },
	{ GOAL_TYPE_BOOL, sizeof(bool), "LlxRN", false },
	{ GOAL_TYPE_FLOAT, sizeof(float), "MmSPRN", false },
	{ GOAL_TYPE_DOUBLE, sizeof(double), "MmSPRN", false },
	{ GOAL_TYPE_LONG_DOUBLE, sizeof(long double), "MmSPRN", true },
	{ GOAL_TYPE_FLOAT_COMPLEX, sizeof(float complex), "SPRN", true },
	{ GOAL_TYPE_DOUBLE_COMPLEX, sizeof(double complex), "SPRN", true },
	{ GOAL_TYPE_LONG_DOUBLE_COMPLEX, sizeof(long double complex), "SPRN", true },
	{ GOAL_TYPE_FLOAT_INT, C_PAIR(float, int), "AIRN", true },
	{ GOAL_TYPE_DOUBLE_INT, C_PAIR(double, int), "AIRN", true },
	{ GOAL_TYPE_LONG_INT, C_PAIR(long, int), "AIRN", true },
	{ GOAL_TYPE_2INT, C_PAIR(int, int), "AIRN", true },
	{ GOAL_TYPE_SHORT_INT, C_PAIR(short, int), "AIRN", true },
	{ GOAL_TYPE_LONG_DOUBLE_INT, C_PAIR(long double, int), "AIRN", true },
	{ GOAL_TYPE_2FLOAT, C_PAIR(float, float), "AIRN", true },
	{ GOAL_TYPE_2DOUBLE, C_PAIR(double, double), "AIRN", true },
	{ GOAL_TYPE_USER, 0, "U", true },
};

static const char rop_letter[GOAL_ROPS] = {
	[GOAL_ROP_NONE] = '-',   [GOAL_ROP_MAX] = 'M',     [GOAL_ROP_MIN] = 'm',
	[GOAL_ROP_SUM] = 'S',    [GOAL_ROP_PROD] = 'P',    [GOAL_ROP_LAND] = 'L',
	[GOAL_ROP_BAND] = 'B',   [GOAL_ROP_LOR] = 'l',     [GOAL_ROP_BOR] = 'b',
	[GOAL_ROP_LXOR] = 'x',   [GOAL_ROP_BXOR] = 'y',    [GOAL_ROP_MAXLOC] = 'A',
	[GOAL_ROP_MINLOC] = 'I', [GOAL_ROP_REPLACE] = 'R', [GOAL_ROP_NO_OP] = 'N',
	[GOAL_ROP_USER] = 'U',
};

static void type_size__is_that_of_c(void **state)
{
	u32 k;

	(void)state;
	assert_int_equal(sizeof(expected) / sizeof(expected[0]), GOAL_TYPES);
	for (k = 0; k < GOAL_TYPES; k++) {
		assert_int_equal(expected[k].dtype, k);
		assert_int_equal(core_type_size(k), expected[k].size);
	}
	assert_int_equal(core_type_size(GOAL_TYPES), 0);
	assert_int_equal(core_type_size(~0u), 0);
}

static void type_host_only__begins_at_long_double(void **state)
{
	u32 k;

	(void)state;
	for (k = 0; k < GOAL_TYPES; k++)
		assert_int_equal(core_type_host_only(k), expected[k].host_only);
	assert_false(core_type_host_only(GOAL_TYPES));
	assert_false(core_type_host_only(~0u));
}

static void reduce_valid__is_the_table_of_mpi(void **state)
{
	u32 k, rop;

	(void)state;
	for (k = 0; k < GOAL_TYPES; k++)
		for (rop = 0; rop < GOAL_ROPS; rop++)
			assert_int_equal(core_reduce_valid(k, rop),
					 strchr(expected[k].rops, rop_letter[rop]) != NULL);
}

static void reduce_valid__refuses_unknown_codes(void **state)
{
	(void)state;
	assert_false(core_reduce_valid(GOAL_TYPES, GOAL_ROP_SUM));
	assert_false(core_reduce_valid(~0u, GOAL_ROP_SUM));
	assert_false(core_reduce_valid(GOAL_TYPE_INT32, GOAL_ROPS));
	assert_false(core_reduce_valid(GOAL_TYPE_INT32, ~0u));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(type_size__is_that_of_c),
		cmocka_unit_test(type_host_only__begins_at_long_double),
		cmocka_unit_test(reduce_valid__is_the_table_of_mpi),
		cmocka_unit_test(reduce_valid__refuses_unknown_codes),
	};

	return cmocka_run_group_tests_name("core_types", tests, NULL, NULL);
}
