# SPDX-License-Identifier: BSD-3-Clause
# MPI programs that test/mpi/run starts under mpirun; built by `make check`, not run by it.
#
# A new one, test/mpi/foo.c, takes these lines inside the conditional:
#
#	mpi_programs += %D%/foo
#	%C%_foo_CPPFLAGS = $(mpi_cppflags)
#	%C%_foo_LDADD = $(mpi_check_libs)
#
# and a line in test/mpi/run.

mpi_cppflags = $(AM_CPPFLAGS) -I$(top_srcdir) $(MPI_CPPFLAGS)
mpi_libs = $(MPI_LIBS) -lm
mpi_check_libs = test/mpi/libmpicheck.la $(mpi_libs) -lpthread

mpi_programs =

if GOAL_OPENMPI
# What they share. The references reduce integers that wrap around.
check_LTLIBRARIES += %D%/libmpicheck.la
%C%_libmpicheck_la_SOURCES = \
	%D%/arith.c \
	%D%/arith.h \
	%D%/call.c \
	%D%/call.h \
	%D%/check.c \
	%D%/check.h \
	%D%/compat.h \
	%D%/reference.c \
	%D%/shape.c \
	%D%/shape.h \
	%D%/sweep.c \
	%D%/sweep.h \
	%D%/zoo.c \
	%D%/zoo.h
%C%_libmpicheck_la_CPPFLAGS = $(mpi_cppflags)
%C%_libmpicheck_la_CFLAGS = $(AM_CFLAGS) -fwrapv

# One block a program, alphabetic.

mpi_programs += %D%/barrier
%C%_barrier_CPPFLAGS = $(mpi_cppflags)
%C%_barrier_LDADD = $(mpi_check_libs)

mpi_programs += %D%/cached
%C%_cached_CPPFLAGS = $(mpi_cppflags)
%C%_cached_LDADD = $(mpi_check_libs)

mpi_programs += %D%/churn
%C%_churn_CPPFLAGS = $(mpi_cppflags)
%C%_churn_LDADD = $(mpi_check_libs)

mpi_programs += %D%/comm_free
%C%_comm_free_CPPFLAGS = $(mpi_cppflags)
%C%_comm_free_LDADD = $(mpi_check_libs)

mpi_programs += %D%/computing
%C%_computing_CPPFLAGS = $(mpi_cppflags)
%C%_computing_LDADD = $(mpi_check_libs)

mpi_programs += %D%/conform
%C%_conform_CPPFLAGS = $(mpi_cppflags)
%C%_conform_LDADD = $(mpi_check_libs)

mpi_programs += %D%/creation
%C%_creation_CPPFLAGS = $(mpi_cppflags)
%C%_creation_LDADD = $(mpi_check_libs)

mpi_programs += %D%/crowded
%C%_crowded_CPPFLAGS = $(mpi_cppflags)
%C%_crowded_LDADD = $(mpi_check_libs)

mpi_programs += %D%/empty
%C%_empty_CPPFLAGS = $(mpi_cppflags)
%C%_empty_LDADD = $(mpi_check_libs)

mpi_programs += %D%/engines
%C%_engines_CPPFLAGS = $(mpi_cppflags)
%C%_engines_LDADD = $(mpi_check_libs)

mpi_programs += %D%/errors
%C%_errors_CPPFLAGS = $(mpi_cppflags)
%C%_errors_LDADD = $(mpi_check_libs)

mpi_programs += %D%/freed
%C%_freed_CPPFLAGS = $(mpi_cppflags)
%C%_freed_LDADD = $(mpi_check_libs)

mpi_programs += %D%/handed
%C%_handed_CPPFLAGS = $(mpi_cppflags)
%C%_handed_LDADD = $(mpi_check_libs)

mpi_programs += %D%/hello
%C%_hello_CPPFLAGS = $(mpi_cppflags)
%C%_hello_LDADD = $(mpi_libs)

mpi_programs += %D%/hidden
%C%_hidden_CPPFLAGS = $(mpi_cppflags)
%C%_hidden_LDADD = $(mpi_check_libs)

mpi_programs += %D%/idup
%C%_idup_CPPFLAGS = $(mpi_cppflags)
%C%_idup_LDADD = $(mpi_check_libs)

mpi_programs += %D%/inter
%C%_inter_CPPFLAGS = $(mpi_cppflags)
%C%_inter_LDADD = $(mpi_check_libs)

mpi_programs += %D%/isolated
%C%_isolated_CPPFLAGS = $(mpi_cppflags)
%C%_isolated_LDADD = $(mpi_check_libs)

mpi_programs += %D%/kill
%C%_kill_CPPFLAGS = $(mpi_cppflags)
%C%_kill_LDADD = $(mpi_check_libs)

mpi_programs += %D%/large
%C%_large_CPPFLAGS = $(mpi_cppflags)
%C%_large_LDADD = $(mpi_check_libs)

mpi_programs += %D%/late
%C%_late_CPPFLAGS = $(mpi_cppflags)
%C%_late_LDADD = $(mpi_check_libs)

mpi_programs += %D%/longlived
%C%_longlived_CPPFLAGS = $(mpi_cppflags)
%C%_longlived_LDADD = $(mpi_check_libs)

mpi_programs += %D%/neighbor
%C%_neighbor_CPPFLAGS = $(mpi_cppflags)
%C%_neighbor_LDADD = $(mpi_check_libs)

mpi_programs += %D%/ops
%C%_ops_CPPFLAGS = $(mpi_cppflags)
%C%_ops_LDADD = $(mpi_check_libs)

mpi_programs += %D%/outstanding
%C%_outstanding_CPPFLAGS = $(mpi_cppflags)
%C%_outstanding_LDADD = $(mpi_check_libs)

mpi_programs += %D%/placement
%C%_placement_CPPFLAGS = $(mpi_cppflags)
%C%_placement_LDADD = $(mpi_check_libs)

mpi_programs += %D%/reused
%C%_reused_CPPFLAGS = $(mpi_cppflags)
%C%_reused_LDADD = $(mpi_check_libs)

mpi_programs += %D%/sizes
%C%_sizes_CPPFLAGS = $(mpi_cppflags)
%C%_sizes_LDADD = $(mpi_check_libs)

mpi_programs += %D%/spawn
%C%_spawn_CPPFLAGS = $(mpi_cppflags)
%C%_spawn_LDADD = $(mpi_check_libs)

mpi_programs += %D%/test_loop
%C%_test_loop_CPPFLAGS = $(mpi_cppflags)
%C%_test_loop_LDADD = $(mpi_check_libs)

mpi_programs += %D%/threads
%C%_threads_CPPFLAGS = $(mpi_cppflags)
%C%_threads_LDADD = $(mpi_check_libs)

# The component, and the programs alone: for a build with sanitizers (test/check).
mpi-programs: $(component_LTLIBRARIES) $(noinst_DATA) test/mpi/libmpicheck.la $(mpi_programs)
.PHONY: mpi-programs
endif

check_PROGRAMS += $(mpi_programs)

EXTRA_DIST += \
	%D%/local.mk \
	%D%/run
