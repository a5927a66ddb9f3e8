# SPDX-License-Identifier: BSD-3-Clause
# Optional libraries. GOAL_LOST collects what is lost without each, for the summary.
AC_DEFUN([GOAL_LIBRARIES], [
	AC_ARG_WITH([hwloc],
		[AS_HELP_STRING([--without-hwloc], [count cores by affinity masks alone])],
		[], [with_hwloc=check])
	have_hwloc=no
	AS_IF([test "x$with_hwloc" != xno], [
		PKG_CHECK_MODULES([HWLOC], [hwloc >= 2.0], [have_hwloc=yes],
			[AS_IF([test "x$with_hwloc" = xyes],
			       [AC_MSG_ERROR([hwloc 2 is missing: apt-get install libhwloc-dev])])])
	])
	AS_IF([test $have_hwloc = yes],
	      [AC_DEFINE([HAVE_HWLOC], [1], [Define to 1 if hwloc 2 is there.])],
	      [GOAL_LOST([hwloc], [libhwloc-dev], [hyperthreads count as cores when the host engine decides whether to spin])])

	# Open MPI's headers name libevent's where Open MPI was built with an external one.
	PKG_CHECK_MODULES([LIBEVENT], [libevent], [have_libevent=yes], [have_libevent=no])
	AS_IF([test $have_libevent = no],
	      [GOAL_LOST([libevent], [libevent-dev], [an Open MPI whose headers include libevent's cannot be built against])])

	PKG_CHECK_MODULES([CMOCKA], [cmocka], [have_cmocka=yes], [have_cmocka=no])
	AS_IF([test $have_cmocka = no],
	      [GOAL_LOST([cmocka], [libcmocka-dev], [make check has no unit tests])])
	AM_CONDITIONAL([GOAL_CMOCKA], [test $have_cmocka = yes])
])

# GOAL_LOST(what, package, loss)
AC_DEFUN([GOAL_LOST], [goal_lost="$goal_lost
    without $1 (apt-get install $2): $3"])
