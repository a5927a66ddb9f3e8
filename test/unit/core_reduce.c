// SPDX-License-Identifier: BSD-3-Clause
/*
 * Reductions against references that compute in another way: integers in 128 bits, floats in
 * double, pairs by cases. Every type and operation, at every alignment, at lengths around
 * the pieces that loops are cut into.
 */
#include <complex.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "core.h"
#include "home/random.h"

static int reduce(u32 dtype, u32 rop, const void *in, void *inout, u64 count)
{
	if (dtype == GOAL_TYPE_FLOAT || dtype == GOAL_TYPE_DOUBLE)
		return core_reduce_fp(dtype, rop, in, inout, count);
	if (core_type_host_only(dtype))
		return core_reduce_host(dtype, rop, in, inout, count);
	return core_reduce_int(dtype, rop, in, inout, count);
}

static bool is_signed(u32 dtype)
{
	return dtype >= GOAL_TYPE_INT8 && dtype <= GOAL_TYPE_INT64;
}

static __int128 integer_at(u32 dtype, const u8 *at)
{
	u32 size = core_type_size(dtype), k;
	__int128 v = 0;

	for (k = 0; k < size; k++)
		v += (__int128)at[k] << 8 * k; /* little-endian, as this machine */
	if (is_signed(dtype) && v >> (8 * size - 1))
		v -= (__int128)1 << 8 * size;
	return v;
}

static void integer_reference(u32 dtype, u32 rop, const u8 *in, u8 *inout)
{
	__int128 a = integer_at(dtype, in), b = integer_at(dtype, inout), c = 0;
	u32 k;

	switch (rop) {
	case GOAL_ROP_MAX:
		c = a > b ? a : b;
		break;
	case GOAL_ROP_MIN:
		c = a > b ? b : a;
		break;
	case GOAL_ROP_SUM:
		c = a + b;
		break;
	case GOAL_ROP_PROD: /* 64 by 64 bits: the low half is all that counts */
		c = (__int128)((unsigned __int128)a * (unsigned __int128)b);
		break;
	case GOAL_ROP_LAND:
		c = a && b;
		break;
	case GOAL_ROP_LOR:
		c = a || b;
		break;
	case GOAL_ROP_LXOR:
		c = !a != !b;
		break;
	case GOAL_ROP_BAND:
		c = a & b;
		break;
	case GOAL_ROP_BOR:
		c = a | b;
		break;
	case GOAL_ROP_BXOR:
		c = a ^ b;
		break;
	case GOAL_ROP_REPLACE:
		c = a;
		break;
	default:
		c = b;
		break;
	}
	for (k = 0; k < core_type_size(dtype); k++)
		inout[k] = (u8)((unsigned __int128)c >> 8 * k);
}

/* Small, large, zero, all ones: what integers go wrong with. */
static void integer_fill(struct random *r, u32 size, u8 *at)
{
	u64 v;

	switch (random_below(r, 4)) {
	case 0:
		v = random_below(r, 3) - 1ull;
		break;
	case 1:
		v = 1ull << (8 * size - 1);
		break;
	default:
		v = random_u64(r);
		break;
	}
	memcpy(at, &v, size);
}

static const u64 lengths[] = { 0, 1, 2, 63, 64, 65, 127, 128, 200 };

static void reduce_int__is_arithmetic_modulo_its_width(void **state)
{
	struct random r = { 1 };
	u32 dtype, rop, k, shift;

	(void)state;
	for (dtype = GOAL_TYPE_INT8; dtype <= GOAL_TYPE_BOOL; dtype++) {
		u32 size = core_type_size(dtype);

		for (rop = 0; rop < GOAL_ROPS; rop++) {
			if (!core_reduce_valid(dtype, rop))
				continue;
			for (k = 0; k < sizeof(lengths) / sizeof(lengths[0]); k++) {
				u64 n = lengths[k], i;

				shift = random_below(&r, 8);
				u8 *in = malloc(n * size + shift + 1),
				   *inout = malloc(n * size + 1);
				u8 *want = malloc(n * size + 1);

				for (i = 0; i < n; i++) {
					integer_fill(&r, size, in + shift + i * size);
					integer_fill(&r, size, inout + i * size);
				}
				memcpy(want, inout, n * size);
				for (i = 0; i < n; i++)
					integer_reference(dtype, rop, in + shift + i * size,
							  want + i * size);
				assert_int_equal(reduce(dtype, rop, in + shift, inout, n), 0);
				assert_memory_equal(inout, want, n * size);
				free(in);
				free(inout);
				free(want);
			}
		}
	}
}

static void reduce_int__takes_any_byte_for_a_bool(void **state)
{
	const u8 in[4] = { 0, 2, 0, 255 };
	u8 inout[4] = { 0, 0, 128, 1 };

	(void)state;
	assert_int_equal(core_reduce_int(GOAL_TYPE_BOOL, GOAL_ROP_LOR, in, inout, 4), 0);
	assert_memory_equal(inout, ((u8[]){ 0, 1, 1, 1 }), 4);
}

static double special(struct random *r)
{
	static const double values[] = { 0.0, -0.0, 1.0, -1.0, INFINITY, -INFINITY, NAN, 1e-310 };

	if (random_chance(r, 100))
		return values[random_below(r, 8)];
	return ((double)random_u64(r) - 0x1p63) * 0x1p-20;
}

static double fp_reference(u32 rop, double a, double b)
{
	switch (rop) {
	case GOAL_ROP_MAX:
		return isgreater(a, b) ? a : b;
	case GOAL_ROP_MIN:
		return isless(a, b) ? a : b;
	case GOAL_ROP_SUM:
		return a + b;
	case GOAL_ROP_PROD:
		return a * b;
	case GOAL_ROP_REPLACE:
		return a;
	default:
		return b;
	}
}

static bool same_double(double a, double b)
{
	return (isnan(a) && isnan(b)) || (a == b && !signbit(a) == !signbit(b));
}

static void reduce_fp__is_ieee(void **state)
{
	static const u32 rops[] = { GOAL_ROP_MAX,  GOAL_ROP_MIN,     GOAL_ROP_SUM,
				    GOAL_ROP_PROD, GOAL_ROP_REPLACE, GOAL_ROP_NO_OP };
	struct random r = { 2 };
	u32 o, k;

	(void)state;
	for (o = 0; o < 6; o++) {
		for (k = 0; k < 9; k++) {
			u64 n = lengths[k], i;
			/* One byte off alignment. */
			char *fin = malloc(n * 4 + 1), *fout = malloc(n * 4 + 1);
			char *din = malloc(n * 8 + 1), *dout = malloc(n * 8 + 1);
			double *a = malloc(n * 8 + 1), *b = malloc(n * 8 + 1);

			for (i = 0; i < n; i++) {
				float fa, fb;

				a[i] = special(&r);
				b[i] = special(&r);
				fa = (float)a[i];
				fb = (float)b[i];
				memcpy(fin + 1 + 4 * i, &fa, 4);
				memcpy(fout + 1 + 4 * i, &fb, 4);
				memcpy(din + 1 + 8 * i, &a[i], 8);
				memcpy(dout + 1 + 8 * i, &b[i], 8);
			}
			assert_int_equal(
				core_reduce_fp(GOAL_TYPE_FLOAT, rops[o], fin + 1, fout + 1, n), 0);
			assert_int_equal(
				core_reduce_fp(GOAL_TYPE_DOUBLE, rops[o], din + 1, dout + 1, n), 0);
			for (i = 0; i < n; i++) {
				float f;
				double d;

				memcpy(&f, fout + 1 + 4 * i, 4);
				memcpy(&d, dout + 1 + 8 * i, 8);
				/* Sums and products of floats are exact enough in double that
				 * rounding once more gives the float's own result. */
				assert_true(same_double(f, (float)fp_reference(rops[o], (float)a[i],
									       (float)b[i])));
				assert_true(same_double(d, fp_reference(rops[o], a[i], b[i])));
			}
			free(fin);
			free(fout);
			free(din);
			free(dout);
			free(a);
			free(b);
		}
	}
}

static void reduce_host__knows_long_double(void **state)
{
	const long double in[3] = { 1.5L, -7.0L, 0x1p-70L }, b[3] = { 2.0L, -3.0L, 1.0L };
	long double out[3];

	(void)state;
	memcpy(out, b, sizeof(b));
	assert_int_equal(reduce(GOAL_TYPE_LONG_DOUBLE, GOAL_ROP_MAX, in, out, 3), 0);
	assert_true(out[0] == 2.0L && out[1] == -3.0L && out[2] == 1.0L);
	memcpy(out, b, sizeof(b));
	assert_int_equal(reduce(GOAL_TYPE_LONG_DOUBLE, GOAL_ROP_MIN, in, out, 3), 0);
	assert_true(out[0] == 1.5L && out[1] == -7.0L && out[2] == 0x1p-70L);
	memcpy(out, b, sizeof(b));
	assert_int_equal(reduce(GOAL_TYPE_LONG_DOUBLE, GOAL_ROP_SUM, in, out, 3), 0);
	assert_true(out[0] == 3.5L && out[1] == -10.0L && out[2] == 1.0L);
	memcpy(out, b, sizeof(b));
	assert_int_equal(reduce(GOAL_TYPE_LONG_DOUBLE, GOAL_ROP_PROD, in, out, 3), 0);
	assert_true(out[0] == 3.0L && out[1] == 21.0L && out[2] == 0x1p-70L);
	assert_int_equal(reduce(GOAL_TYPE_LONG_DOUBLE, GOAL_ROP_REPLACE, in, out, 3), 0);
	assert_true(out[0] == 1.5L && out[1] == -7.0L && out[2] == 0x1p-70L);
	assert_int_equal(reduce(GOAL_TYPE_LONG_DOUBLE, GOAL_ROP_NO_OP, b, out, 3), 0);
	assert_true(out[0] == 1.5L && out[1] == -7.0L && out[2] == 0x1p-70L);
}

/* Whole numbers, so that every way to compute a product is exact. */
#define TEST_COMPLEX(name, code, part)                                                        \
	static void reduce_host__knows_##name(void **state)                                   \
	{                                                                                     \
		struct random r = { 3 };                                                      \
		u32 rop, k, i;                                                                \
                                                                                              \
		(void)state;                                                                  \
		for (rop = 0; rop < GOAL_ROPS; rop++) {                                       \
			if (!core_reduce_valid(code, rop))                                    \
				continue;                                                     \
			for (k = 0; k < 9; k++) {                                             \
				u32 n = (u32)lengths[k];                                      \
				part *in = calloc(2 * n + 1, sizeof(part));                   \
				part *out = calloc(2 * n + 1, sizeof(part));                  \
				part *b = calloc(2 * n + 1, sizeof(part));                    \
                                                                                              \
				for (i = 0; i < 2 * n; i++) {                                 \
					in[i] = (part)random_below(&r, 99) - 49;              \
					out[i] = b[i] = (part)random_below(&r, 99) - 49;      \
				}                                                             \
				assert_int_equal(core_reduce_host(code, rop, in, out, n), 0); \
				for (i = 0; i < 2 * n; i += 2) {                              \
					part re = b[i], im = b[i + 1];                        \
                                                                                              \
					if (rop == GOAL_ROP_SUM) {                            \
						re = in[i] + b[i];                            \
						im = in[i + 1] + b[i + 1];                    \
					} else if (rop == GOAL_ROP_PROD) {                    \
						re = in[i] * b[i] - in[i + 1] * b[i + 1];     \
						im = in[i] * b[i + 1] + in[i + 1] * b[i];     \
					} else if (rop == GOAL_ROP_REPLACE) {                 \
						re = in[i];                                   \
						im = in[i + 1];                               \
					}                                                     \
					assert_true(out[i] == re && out[i + 1] == im);        \
				}                                                             \
				free(in);                                                     \
				free(out);                                                    \
				free(b);                                                      \
			}                                                                     \
		}                                                                             \
	}

TEST_COMPLEX(float_complex, GOAL_TYPE_FLOAT_COMPLEX, float)
TEST_COMPLEX(double_complex, GOAL_TYPE_DOUBLE_COMPLEX, double)
TEST_COMPLEX(long_double_complex, GOAL_TYPE_LONG_DOUBLE_COMPLEX, long double)

/* All pairs of a few values and indices, one byte off alignment. */
#define TEST_PAIR(name, code, value_type, index_type)                                             \
	static void reduce_host__knows_##name(void **state)                                       \
	{                                                                                         \
		struct pair {                                                                     \
			value_type value;                                                         \
			index_type index;                                                         \
		};                                                                                \
		u32 rop, k;                                                                       \
                                                                                                  \
		(void)state;                                                                      \
		for (rop = 0; rop < GOAL_ROPS; rop++) {                                           \
			if (!core_reduce_valid(code, rop))                                        \
				continue;                                                         \
			for (k = 0; k < 81; k++) {                                                \
				struct pair a, b, c, want;                                        \
				char *in = malloc(sizeof(a) + 1), *out = malloc(sizeof(a) + 1);   \
				int order;                                                        \
                                                                                                  \
				memset(&a, 0, sizeof(a));                                         \
				memset(&b, 0, sizeof(b));                                         \
				a.value = (value_type)(k % 3) - 1;                                \
				a.index = (index_type)(k / 3 % 3) - 1;                            \
				b.value = (value_type)(k / 9 % 3) - 1;                            \
				b.index = (index_type)(k / 27 % 3) - 1;                           \
				memcpy(in + 1, &a, sizeof(a));                                    \
				memcpy(out + 1, &b, sizeof(b));                                   \
				assert_int_equal(core_reduce_host(code, rop, in + 1, out + 1, 1), \
						 0);                                              \
				order = (a.value > b.value) - (a.value < b.value);                \
				if (rop == GOAL_ROP_MINLOC)                                       \
					order = -order;                                           \
				want = order > 0 ? a : b;                                         \
				if (order == 0 && a.index < b.index)                              \
					want.index = a.index;                                     \
				if (rop == GOAL_ROP_REPLACE)                                      \
					want = a;                                                 \
				else if (rop == GOAL_ROP_NO_OP)                                   \
					want = b;                                                 \
				memcpy(&c, out + 1, sizeof(c));                                   \
				assert_true(c.value == want.value && c.index == want.index);      \
				free(in);                                                         \
				free(out);                                                        \
			}                                                                         \
		}                                                                                 \
	}

TEST_PAIR(float_int, GOAL_TYPE_FLOAT_INT, float, int)
TEST_PAIR(double_int, GOAL_TYPE_DOUBLE_INT, double, int)
TEST_PAIR(long_int, GOAL_TYPE_LONG_INT, long, int)
TEST_PAIR(2int, GOAL_TYPE_2INT, int, int)
TEST_PAIR(short_int, GOAL_TYPE_SHORT_INT, short, int)
TEST_PAIR(long_double_int, GOAL_TYPE_LONG_DOUBLE_INT, long double, int)
TEST_PAIR(2float, GOAL_TYPE_2FLOAT, float, float)
TEST_PAIR(2double, GOAL_TYPE_2DOUBLE, double, double)

static void reduce__refuses_what_mpi_does_not_define(void **state)
{
	u8 in[64] = { 1 }, inout[64] = { 2 };
	u32 dtype, rop;

	(void)state;
	for (dtype = 0; dtype < GOAL_TYPES + 2; dtype++) {
		for (rop = 0; rop < GOAL_ROPS + 2; rop++) {
			bool fp = dtype == GOAL_TYPE_FLOAT || dtype == GOAL_TYPE_DOUBLE;
			bool valid = core_reduce_valid(dtype, rop) && dtype != GOAL_TYPE_USER;
			bool host = valid && core_type_host_only(dtype);
			bool integer = valid && !fp && !host;

			assert_int_equal(core_reduce_fp(dtype, rop, in, inout, 1),
					 fp && valid ? 0 : -EINVAL);
			assert_int_equal(core_reduce_host(dtype, rop, in, inout, 1),
					 host ? 0 : -EINVAL);
			assert_int_equal(core_reduce_int(dtype, rop, in, inout, 1),
					 integer ? 0 : -EINVAL);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reduce_int__is_arithmetic_modulo_its_width),
		cmocka_unit_test(reduce_int__takes_any_byte_for_a_bool),
		cmocka_unit_test(reduce_fp__is_ieee),
		cmocka_unit_test(reduce_host__knows_long_double),
		cmocka_unit_test(reduce_host__knows_float_complex),
		cmocka_unit_test(reduce_host__knows_double_complex),
		cmocka_unit_test(reduce_host__knows_long_double_complex),
		cmocka_unit_test(reduce_host__knows_float_int),
		cmocka_unit_test(reduce_host__knows_double_int),
		cmocka_unit_test(reduce_host__knows_long_int),
		cmocka_unit_test(reduce_host__knows_2int),
		cmocka_unit_test(reduce_host__knows_short_int),
		cmocka_unit_test(reduce_host__knows_long_double_int),
		cmocka_unit_test(reduce_host__knows_2float),
		cmocka_unit_test(reduce_host__knows_2double),
		cmocka_unit_test(reduce__refuses_what_mpi_does_not_define),
	};

	return cmocka_run_group_tests_name("core_reduce", tests, NULL, NULL);
}
