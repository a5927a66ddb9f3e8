# SPDX-License-Identifier: BSD-3-Clause
# libFuzzer comes with clang only, so the fuzz targets have a compiler of their own.
AC_DEFUN([GOAL_FUZZ], [
	AC_PATH_PROGS([FUZZ_CC], [clang clang-19 clang-18 clang-17 clang-16 clang-15 clang-14])
	have_fuzz=no
	AS_IF([test "x$FUZZ_CC" != x], [
		AC_MSG_CHECKING([whether $FUZZ_CC links fuzz targets])
		cat >conftest.c <<_GOAL_EOF
#include <stddef.h>
#include <stdint.h>
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	return data && size > (size_t)-2;
}
_GOAL_EOF
		AS_IF([$FUZZ_CC -fsanitize=fuzzer,address,undefined -o conftest.fuzz conftest.c >&AS_MESSAGE_LOG_FD 2>&1],
		      [have_fuzz=yes])
		rm -f conftest.c conftest.fuzz
		AC_MSG_RESULT([$have_fuzz])
	])
	AS_IF([test $have_fuzz = no],
	      [GOAL_LOST([clang's libFuzzer], [clang], [the fuzz targets are not built])])
	AM_CONDITIONAL([GOAL_FUZZ], [test $have_fuzz = yes])
])
