# SPDX-License-Identifier: BSD-3-Clause
# Finds Open MPI through its own tools: mpicc for the flags, ompi_info for version and folders.
AC_DEFUN([GOAL_OPENMPI], [
	AC_ARG_WITH([openmpi],
		[AS_HELP_STRING([--with-openmpi=PREFIX],
				[the Open MPI under PREFIX instead of the one in PATH; --without-openmpi builds the library and the tool alone])],
		[], [with_openmpi=yes])
	MPICC=
	OMPI_INFO=
	MPIRUN=
	MPI_CPPFLAGS=
	MPI_LIBS=
	goal_ompi_version=none
	AS_IF([test "x$with_openmpi" != xno], [
		goal_path=$PATH
		AS_IF([test "x$with_openmpi" != xyes], [goal_path=$with_openmpi/bin])
		AC_PATH_PROGS([MPICC], [mpicc.openmpi mpicc], [], [$goal_path])
		AC_PATH_PROGS([OMPI_INFO], [ompi_info], [], [$goal_path])
		AC_PATH_PROGS([MPIRUN], [mpirun.openmpi mpirun], [], [$goal_path])
		AS_IF([test "x$MPICC" = x || test "x$OMPI_INFO" = x],
		      [AC_MSG_ERROR([Open MPI's mpicc and ompi_info are not in $goal_path: install libopenmpi-dev and openmpi-bin, or name another Open MPI with --with-openmpi=PREFIX, or go without with --without-openmpi])])

		AC_MSG_CHECKING([how $MPICC compiles])
		AS_IF([goal_flags=`$MPICC --showme:compile 2>/dev/null`], [], [
			AC_MSG_RESULT([no answer])
			AC_MSG_ERROR([$MPICC is not Open MPI's (it does not know --showme): install libopenmpi-dev, or name Open MPI with --with-openmpi=PREFIX])
		])
		# As system headers, so that our warnings do not fire in them.
		for goal_flag in $goal_flags; do
			AS_CASE([$goal_flag],
				[-I*], [MPI_CPPFLAGS="$MPI_CPPFLAGS -isystem ${goal_flag@%:@-I}"],
				[MPI_CPPFLAGS="$MPI_CPPFLAGS $goal_flag"])
		done
		AC_MSG_RESULT([$MPI_CPPFLAGS])

		AC_MSG_CHECKING([how $MPICC links])
		AS_IF([MPI_LIBS=`$MPICC --showme:link 2>/dev/null`], [], [
			AC_MSG_RESULT([no answer])
			AC_MSG_ERROR([$MPICC --showme:link fails: install libopenmpi-dev anew])
		])
		AC_MSG_RESULT([$MPI_LIBS])

		AC_MSG_CHECKING([the version of Open MPI])
		goal_ompi_version=`$OMPI_INFO --parsable 2>/dev/null |
			$SED -n 's/^ompi:version:full://p'`
		AC_MSG_RESULT([${goal_ompi_version:-unknown}])
	])
	AC_SUBST([MPI_CPPFLAGS])
	AC_SUBST([MPI_LIBS])
	AM_CONDITIONAL([GOAL_OPENMPI], [test "x$MPICC" != x])
])
