# SPDX-License-Identifier: BSD-3-Clause
# Sanitizers for the unit tests: address + undefined for all, thread for the threaded ones.

# GOAL_SANITIZER(variable, flags): set the variable if a program built so links and runs.
AC_DEFUN([GOAL_SANITIZER], [
	AC_MSG_CHECKING([whether programs with $2 work])
	goal_save_CFLAGS=$CFLAGS
	CFLAGS="$CFLAGS $2"
	AC_RUN_IFELSE([AC_LANG_PROGRAM()],
		      [AC_MSG_RESULT([yes]); $1="$2"], [AC_MSG_RESULT([no])],
		      [AC_MSG_RESULT([not tried, cross-compiling])])
	CFLAGS=$goal_save_CFLAGS
])

AC_DEFUN([GOAL_SANITIZERS], [
	AC_ARG_ENABLE([sanitizers],
		[AS_HELP_STRING([--disable-sanitizers],
				[unit tests without address, undefined and thread sanitizers])],
		[], [enable_sanitizers=yes])
	ASAN_CFLAGS=
	TSAN_CFLAGS=
	AS_IF([test "x$enable_sanitizers" != xno], [
		GOAL_SANITIZER([ASAN_CFLAGS], [-fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer])
		GOAL_SANITIZER([TSAN_CFLAGS], [-fsanitize=thread -fno-omit-frame-pointer])
	])
	AC_SUBST([ASAN_CFLAGS])
	AC_SUBST([TSAN_CFLAGS])
	AM_CONDITIONAL([GOAL_TSAN], [test "x$TSAN_CFLAGS" != x])
])
