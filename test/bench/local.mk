# SPDX-License-Identifier: BSD-3-Clause
# Benchmarks, built by `make bench` and run by the scripts beside them.
#
# A new one, test/bench/foo.c, takes these lines inside the conditional:
#
#	bench_programs += %D%/foo
#	%C%_foo_CPPFLAGS = $(mpi_cppflags)
#	%C%_foo_LDADD = $(mpi_libs)

bench_programs =

if GOAL_OPENMPI

endif

EXTRA_PROGRAMS += $(bench_programs)
CLEANFILES += $(bench_programs)

bench: $(bench_programs)
.PHONY: bench

EXTRA_DIST += \
	%D%/local.mk
