# SPDX-License-Identifier: BSD-3-Clause
# Recognises the generation of Open MPI's coll and btl interfaces from its headers, and refuses
# what the components are not written for: such a component would be refused silently, or crash.

# GOAL_MPI_PREPROC(text, yes, no): does this get through the preprocessor with Open MPI's headers?
AC_DEFUN([GOAL_MPI_PREPROC], [
	goal_save_CPPFLAGS=$CPPFLAGS
	CPPFLAGS="$CPPFLAGS $MPI_CPPFLAGS $OMPI_STANDIN_CPPFLAGS"
	AC_PREPROC_IFELSE([AC_LANG_SOURCE([$1])], [goal_ok=yes], [goal_ok=no])
	CPPFLAGS=$goal_save_CPPFLAGS
	AS_IF([test $goal_ok = yes], [$2], [$3])
])

# GOAL_MPI_HEADER(header, [what to do])
AC_DEFUN([GOAL_MPI_HEADER], [
	AC_MSG_CHECKING([for Open MPI's internal header $1])
	GOAL_MPI_PREPROC([[#include "ompi_config.h"
#include "$1"]], [AC_MSG_RESULT([yes])], [
		AC_MSG_RESULT([no])
		AC_MSG_ERROR([this Open MPI ($MPICC, version ${goal_ompi_version:-unknown}) lacks the header $1: m4_default([$2], [install libopenmpi-dev, or an Open MPI configured with --with-devel-headers, or configure with --without-openmpi])])
	])
])

AC_DEFUN([GOAL_OPENMPI_API], [
	goal_coll_api=none
	goal_btl_api=none
	# One header that others include is not installed by Debian; ours comes last in the search.
	OMPI_STANDIN_CPPFLAGS='-idirafter $(top_srcdir)/ompi-mca-coll-goal/standin'
	AC_SUBST([OMPI_STANDIN_CPPFLAGS])
	AS_IF([test "x$MPICC" != x], [
		goal_standin=$OMPI_STANDIN_CPPFLAGS
		OMPI_STANDIN_CPPFLAGS="-idirafter $srcdir/ompi-mca-coll-goal/standin"
		# From 5.0 on, internal headers lead to PMIx's, the first one below already.
		AS_CASE([$goal_ompi_version], [5.*], [
			PKG_CHECK_MODULES([PMIX], [pmix],
				[for goal_flag in $PMIX_CFLAGS; do
					AS_CASE([$goal_flag],
						[-I*], [MPI_CPPFLAGS="$MPI_CPPFLAGS -isystem ${goal_flag@%:@-I}"],
						[MPI_CPPFLAGS="$MPI_CPPFLAGS $goal_flag"])
				 done],
				[AC_MSG_WARN([pkg-config does not know pmix: taking it that its headers are in the compiler's own folders])])
			GOAL_MPI_HEADER([pmix.h], [install libpmix-dev, whose header pmix.h Open MPI's internal ones include])
			GOAL_MPI_HEADER([opal/mca/pmix/pmix-internal.h])
		])

		GOAL_MPI_HEADER([ompi/mca/coll/coll.h])
		GOAL_MPI_HEADER([ompi/mca/coll/base/coll_base_util.h])
		GOAL_MPI_HEADER([ompi/mca/pml/pml.h])
		GOAL_MPI_HEADER([ompi/op/op.h])
		GOAL_MPI_HEADER([opal/mca/btl/btl.h])

		AC_MSG_CHECKING([which coll interface Open MPI has])
		for goal_v in 2_0_0 2_4_0; do
			GOAL_MPI_PREPROC([[#include "ompi_config.h"
#include "ompi/mca/coll/coll.h"
#ifndef MCA_COLL_BASE_VERSION_$goal_v
#error another
#endif]], [goal_coll_api=`echo $goal_v | tr _ .`])
		done
		AC_MSG_RESULT([$goal_coll_api])
		AS_IF([test $goal_coll_api = none],
		      [AC_MSG_ERROR([the coll interface of this Open MPI (version ${goal_ompi_version:-unknown}) is neither 2.0.0 nor 2.4.0: install Open MPI 4.1 or 5.0, in Debian libopenmpi-dev, or name one with --with-openmpi=PREFIX])])

		AC_MSG_CHECKING([which btl interface Open MPI has])
		for goal_v in 3_1_0 3_3_0; do
			GOAL_MPI_PREPROC([[#include "opal_config.h"
#include "opal/mca/btl/btl.h"
#ifndef MCA_BTL_BASE_VERSION_$goal_v
#error another
#endif]], [goal_btl_api=`echo $goal_v | tr _ .`])
		done
		AC_MSG_RESULT([$goal_btl_api])
		AS_IF([test $goal_btl_api = none],
		      [AC_MSG_ERROR([the btl interface of this Open MPI (version ${goal_ompi_version:-unknown}) is neither 3.1.0 nor 3.3.0: install Open MPI 4.1 or 5.0, in Debian libopenmpi-dev, or name one with --with-openmpi=PREFIX])])
		OMPI_STANDIN_CPPFLAGS=$goal_standin
	])
])
