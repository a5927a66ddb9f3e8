# SPDX-License-Identifier: BSD-3-Clause
# MPI programs that test/mpi/run starts under mpirun; built by `make check`, not run by it.
#
# A new one, test/mpi/foo.c, takes these lines inside the conditional:
#
#	mpi_programs += %D%/foo
#	%C%_foo_CPPFLAGS = $(mpi_cppflags)
#	%C%_foo_LDADD = $(mpi_libs)

mpi_cppflags = $(AM_CPPFLAGS) -I$(top_srcdir) $(MPI_CPPFLAGS)
mpi_libs = $(MPI_LIBS) -lm

mpi_programs =

if GOAL_OPENMPI

endif

check_PROGRAMS += $(mpi_programs)

EXTRA_DIST += \
	%D%/local.mk
