# SPDX-License-Identifier: BSD-3-Clause
# The machine: Linux, 64 bits, little-endian (schedules are exchanged in memory order).
AC_DEFUN([GOAL_PLATFORM], [
	AS_CASE([$host_os], [linux*], [],
		[AC_MSG_ERROR([espgoal runs on Linux only, and this is $host_os])])
	AC_CHECK_SIZEOF([void *])
	AS_IF([test "$ac_cv_sizeof_void_p" != 8],
	      [AC_MSG_ERROR([espgoal needs 64-bit pointers: configure with a 64-bit compiler])])
	AC_C_BIGENDIAN([AC_MSG_ERROR([espgoal needs a little-endian machine, and $host_cpu is not one])])
])
