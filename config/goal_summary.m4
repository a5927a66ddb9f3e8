# SPDX-License-Identifier: BSD-3-Clause
# What configure found, on one screen.
AC_DEFUN([GOAL_SUMMARY], [
	AS_IF([test "x$MPICC" = x],
	      [GOAL_LOST([Open MPI], [libopenmpi-dev openmpi-bin], [coll/goal is not built])])
	AS_ECHO(["
$PACKAGE_NAME $PACKAGE_VERSION
    compiler             $CC $CFLAGS $GOAL_CFLAGS
    install prefix       $prefix
    Open MPI             $goal_ompi_version (coll interface $goal_coll_api, btl interface $goal_btl_api)
    component folder     ${componentdir:-none}
    hwloc                $have_hwloc
    libevent             $have_libevent
    cmocka               $have_cmocka
    sanitizers           ${ASAN_CFLAGS:-none} ${TSAN_CFLAGS}
    fuzz compiler        ${FUZZ_CC:-none} (libFuzzer: $have_fuzz)
    kernel headers       ${KDIR:-none}"])
	AS_IF([test "x$goal_lost" != x], [AS_ECHO(["  What is lost:$goal_lost"])])
	AS_ECHO([""])
])
