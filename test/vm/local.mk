# SPDX-License-Identifier: BSD-3-Clause
# Tests in QEMU guests: scripts, and the programs that run in the guests; built by `make check`, not
# run by it.

vm_libs = test/vm/libvm.la libgoal/libgoal.la -lpthread

check_LTLIBRARIES += %D%/libvm.la
%C%_libvm_la_SOURCES = \
	%D%/device.c \
	%D%/device.h \
	%D%/ranks.c \
	%D%/ranks.h \
	%D%/shape.c \
	%D%/shape.h

# One block a program, alphabetic.

vm_programs = %D%/abi
%C%_abi_LDADD = $(vm_libs)
%C%_abi_LDFLAGS = -no-install

vm_programs += %D%/closing
%C%_closing_LDADD = $(vm_libs)
%C%_closing_LDFLAGS = -no-install

vm_programs += %D%/collectives
%C%_collectives_LDADD = $(vm_libs)
%C%_collectives_LDFLAGS = -no-install

vm_programs += %D%/cycle
%C%_cycle_LDADD = $(vm_libs)
%C%_cycle_LDFLAGS = -no-install

vm_programs += %D%/depth
%C%_depth_LDADD = $(vm_libs)
%C%_depth_LDFLAGS = -no-install

vm_programs += %D%/early
%C%_early_LDADD = $(vm_libs)
%C%_early_LDFLAGS = -no-install

vm_programs += %D%/faults
%C%_faults_LDADD = $(vm_libs)
%C%_faults_LDFLAGS = -no-install

vm_programs += %D%/killed
%C%_killed_LDADD = $(vm_libs)
%C%_killed_LDFLAGS = -no-install

vm_programs += %D%/limits
%C%_limits_LDADD = $(vm_libs)
%C%_limits_LDFLAGS = -no-install

vm_programs += %D%/random
%C%_random_LDADD = $(vm_libs)
%C%_random_LDFLAGS = -no-install

vm_programs += %D%/shares
%C%_shares_LDADD = $(vm_libs)
%C%_shares_LDFLAGS = -no-install

vm_programs += %D%/strangers
%C%_strangers_LDADD = $(vm_libs)
%C%_strangers_LDFLAGS = -no-install

check_PROGRAMS += $(vm_programs)

EXTRA_DIST += \
	%D%/check \
	%D%/cluster.sh \
	%D%/debug-kernel \
	%D%/debug.config \
	%D%/echo/Kbuild \
	%D%/echo/goal_echo.c \
	%D%/guest \
	%D%/init \
	%D%/kernels.sh \
	%D%/local.mk \
	%D%/long \
	%D%/run \
	%D%/suite \
	%D%/tests-module.sh \
	%D%/tests-mpi.sh \
	%D%/tests.sh
