# SPDX-License-Identifier: BSD-3-Clause
# Flags for everything (GOAL_CFLAGS) and for the core alone (GOAL_CORE_CFLAGS).

# GOAL_CFLAG(variable, flag): append the flag if the compiler takes it.
AC_DEFUN([GOAL_CFLAG], [
	AC_MSG_CHECKING([whether $CC accepts $2])
	goal_save_CFLAGS=$CFLAGS
	CFLAGS="$CFLAGS -Werror $2"
	AC_COMPILE_IFELSE([AC_LANG_PROGRAM()],
			  [AC_MSG_RESULT([yes]); $1="$$1 $2"], [AC_MSG_RESULT([no])])
	CFLAGS=$goal_save_CFLAGS
])

AC_DEFUN([GOAL_COMPILER], [
	AC_ARG_ENABLE([werror],
		[AS_HELP_STRING([--enable-werror], [treat compiler warnings as errors (for CI)])],
		[], [enable_werror=no])
	GOAL_CFLAGS="-std=gnu11"
	for goal_flag in -Wall -Wextra -Wmissing-prototypes -Wstrict-prototypes -Wvla; do
		GOAL_CFLAG([GOAL_CFLAGS], [$goal_flag])
	done
	GOAL_CFLAG([GOAL_CFLAGS], [-fvisibility=hidden])
	AS_IF([test "x$enable_werror" = xyes], [GOAL_CFLAGS="$GOAL_CFLAGS -Werror"])
	# The same bits in every home of the core: no fused multiply-add behind our back.
	GOAL_CORE_CFLAGS=
	GOAL_CFLAG([GOAL_CORE_CFLAGS], [-ffp-contract=off])
	AS_IF([test "x$GOAL_CORE_CFLAGS" = x],
	      [AC_MSG_ERROR([$CC does not take -ffp-contract=off, without which reductions differ between engines: use gcc or clang])])
	AC_SUBST([GOAL_CFLAGS])
	AC_SUBST([GOAL_CORE_CFLAGS])
])
