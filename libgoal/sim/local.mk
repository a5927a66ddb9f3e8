# SPDX-License-Identifier: BSD-3-Clause
# The simulator: the core in its third home. libgoal.so has it inside, and the tests that look into
# it link it once more. libsim_asan.la is the same under the sanitizers.

sim_sources = \
	%D%/check.c \
	%D%/crc32c.c \
	%D%/crc32c.h \
	%D%/dump.c \
	%D%/env.h \
	%D%/env_esp.h \
	%D%/env_run.h \
	%D%/fate.c \
	%D%/forge.c \
	%D%/frame.c \
	%D%/inside.h \
	%D%/interleave.c \
	%D%/job.c \
	%D%/loop.c \
	%D%/mangle.c \
	%D%/member.c \
	%D%/memory.c \
	%D%/model.c \
	%D%/names.h \
	%D%/net.c \
	%D%/node.c \
	%D%/payload.c \
	%D%/pcap.c \
	%D%/program.c \
	%D%/public.c \
	%D%/queue.c \
	%D%/queue.h \
	%D%/random.h \
	%D%/reference.c \
	%D%/run.c \
	%D%/sim.c \
	%D%/sim.h \
	%D%/stranger.c \
	%D%/table.c

# Before anything else: the core's "env.h" is that of this home.
sim_cppflags = $(AM_CPPFLAGS) -I$(top_srcdir)/%D% -I$(top_srcdir)/espgoal-kmod/core \
	-I$(top_srcdir)/espgoal-kmod/uapi -I$(top_srcdir)

noinst_LTLIBRARIES += %D%/libsim.la
%C%_libsim_la_SOURCES = $(sim_sources) $(core_sources) $(esp_sources)
%C%_libsim_la_CPPFLAGS = $(sim_cppflags)
%C%_libsim_la_CFLAGS = $(AM_CFLAGS) $(GOAL_CORE_CFLAGS)

check_LTLIBRARIES += %D%/libsim_asan.la
%C%_libsim_asan_la_SOURCES = $(sim_sources) $(core_sources) $(esp_sources)
%C%_libsim_asan_la_CPPFLAGS = $(sim_cppflags)
%C%_libsim_asan_la_CFLAGS = $(AM_CFLAGS) $(GOAL_CORE_CFLAGS) $(ASAN_CFLAGS)

EXTRA_DIST += \
	%D%/local.mk
