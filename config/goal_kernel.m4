# SPDX-License-Identifier: BSD-3-Clause
# Kernel headers, against which test/kbuild compiles the core: those of the running kernel, or
# the newest ones installed (a container's kernel has none of its own).
AC_DEFUN([GOAL_KERNEL], [
	AC_ARG_WITH([kernel-headers],
		[AS_HELP_STRING([--with-kernel-headers=DIR],
				[a prepared kernel build folder, such as /lib/modules/VERSION/build])],
		[], [with_kernel_headers=yes])
	KDIR=
	AC_MSG_CHECKING([for kernel headers])
	AS_CASE([$with_kernel_headers],
		[no], [],
		[yes], [
			for goal_dir in /lib/modules/`uname -r`/build \
				`ls -d /lib/modules/*/build 2>/dev/null | sort -rV` \
				`ls -d /usr/src/linux-headers-* 2>/dev/null | sort -rV`; do
				AS_IF([test "x$KDIR" = x && test -f $goal_dir/Makefile &&
				       test -f $goal_dir/.config], [KDIR=$goal_dir])
			done
		], [
			AS_IF([test -f "$with_kernel_headers/Makefile"],
			      [KDIR=$with_kernel_headers],
			      [AC_MSG_RESULT([none])
			       AC_MSG_ERROR([$with_kernel_headers holds no kernel build: name a folder such as /lib/modules/VERSION/build])])
		])
	AC_MSG_RESULT([${KDIR:-none}])
	AS_IF([test "x$KDIR" = x],
	      [GOAL_LOST([kernel headers], [linux-headers-$(dpkg --print-architecture 2>/dev/null || echo amd64)], [nothing checks that the core builds as kernel code])])
	AC_SUBST([KDIR])
])
