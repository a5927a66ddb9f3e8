# SPDX-License-Identifier: BSD-3-Clause
# Benchmarks, built by `make bench` and run by the scripts beside them.
#
# A new one, test/bench/foo.c, takes these lines inside the conditional:
#
#	bench_programs += %D%/foo
#	%C%_foo_CPPFLAGS = $(mpi_cppflags)
#	%C%_foo_LDADD = $(mpi_libs)

bench_programs =

# Need no MPI.
bench_programs += %D%/build
%C%_build_LDADD = libgoal/libgoal.la

bench_programs += %D%/engine
%C%_engine_LDADD = libgoal/libgoal.la

bench_programs += %D%/hops
%C%_hops_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)
%C%_hops_LDADD = $(vm_libs)
%C%_hops_LDFLAGS = -no-install

bench_programs += %D%/lost

bench_programs += %D%/sim
%C%_sim_SOURCES = %D%/sim.c tools/build.c tools/tool.h
%C%_sim_CPPFLAGS = $(sim_cppflags)
%C%_sim_LDADD = libgoal/sim/libsim.la libgoal/libgoal.la

if GOAL_OPENMPI
bench_programs += %D%/coll
%C%_coll_SOURCES = %D%/coll.c %D%/timed.c %D%/timed.h
%C%_coll_CPPFLAGS = $(mpi_cppflags)
%C%_coll_LDADD = $(mpi_check_libs)

bench_programs += %D%/nodes
%C%_nodes_SOURCES = \
	%D%/nodes.c \
	%D%/nodes.h \
	%D%/overlap.c \
	%D%/release.c \
	%D%/timed.c \
	%D%/timed.h
%C%_nodes_CPPFLAGS = $(mpi_cppflags)
%C%_nodes_LDADD = $(mpi_check_libs)
endif

EXTRA_PROGRAMS += $(bench_programs)
CLEANFILES += $(bench_programs)

bench: $(bench_programs)
.PHONY: bench

EXTRA_DIST += \
	%D%/compare \
	%D%/local.mk \
	%D%/suites \
	%D%/vm
