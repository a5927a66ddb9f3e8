# SPDX-License-Identifier: BSD-3-Clause
# The core's sources, which libgoal compiles for the host home, and what only Kbuild compiles.

core_sources = \
	%D%/core/core.h \
	%D%/core/match.c \
	%D%/core/pump.c \
	%D%/core/reduce.h \
	%D%/core/reduce_fp.c \
	%D%/core/reduce_host.c \
	%D%/core/reduce_int.c \
	%D%/core/run.c \
	%D%/core/segment.c \
	%D%/core/types.c \
	%D%/core/verify.c \
	%D%/uapi/espgoal.h

EXTRA_DIST += \
	%D%/Kbuild \
	%D%/Makefile \
	%D%/linux/env.h \
	%D%/linux/env_run.h \
	%D%/linux/main.c \
	%D%/local.mk
