# SPDX-License-Identifier: BSD-3-Clause
# The folders from which Open MPI loads components and help texts: what ompi_info says, or what the
# user wants (then the help texts go below our own prefix, whose folder the component knows).
AC_DEFUN([GOAL_OPENMPI_DIR], [
	AC_ARG_WITH([component-dir],
		[AS_HELP_STRING([--with-component-dir=DIR],
				[where the components are installed (default: what ompi_info --path pkglibdir says)])],
		[], [with_component_dir=])
	AS_CASE([$with_component_dir],
		[yes|no], [AC_MSG_ERROR([--with-component-dir wants a folder, as in --with-component-dir=/usr/local/lib/openmpi])])
	goal_pkglibdir=
	componentdir=$with_component_dir
	AS_IF([test "x$MPICC" != x], [
		AC_MSG_CHECKING([where Open MPI looks for components])
		goal_pkglibdir=`$OMPI_INFO --parsable --path pkglibdir 2>/dev/null |
			$SED -n 's/^path:pkglibdir://p'`
		AC_MSG_RESULT([${goal_pkglibdir:-unknown}])
		AS_IF([test "x$componentdir" = x], [componentdir=$goal_pkglibdir])
		AS_IF([test "x$componentdir" = x],
		      [AC_MSG_ERROR([$OMPI_INFO --parsable --path pkglibdir does not say where components belong: name the folder with --with-component-dir=DIR])])
	])
	OMPI_PKGLIBDIR=$goal_pkglibdir
	ompihelpdir='${datadir}/openmpi'
	AS_IF([test "x$MPICC" != x && test "x$with_component_dir" = x], [
		AC_MSG_CHECKING([where Open MPI looks for help texts])
		goal_pkgdatadir=`$OMPI_INFO --parsable --path pkgdatadir 2>/dev/null |
			$SED -n 's/^path:pkgdatadir://p'`
		AC_MSG_RESULT([${goal_pkgdatadir:-unknown}])
		AS_IF([test "x$goal_pkgdatadir" != x], [ompihelpdir=$goal_pkgdatadir])
	])
	AC_SUBST([ompihelpdir])
	AC_SUBST([OMPI_PKGLIBDIR])
	AC_SUBST([componentdir])
])
