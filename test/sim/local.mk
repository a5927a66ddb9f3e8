# SPDX-License-Identifier: BSD-3-Clause
# Simulation: random scenarios over the protocol (soak), run by test/sim/run; the planted bugs
# that they must find; and the talk between a node and a second implementation.

soak_sources = \
	%D%/scenario.c \
	%D%/scenario.h \
	%D%/soak.c \
	tools/build.c \
	tools/tool.h

check_PROGRAMS += %D%/soak
%C%_soak_SOURCES = $(soak_sources)
%C%_soak_CPPFLAGS = $(sim_cppflags)
%C%_soak_LDADD = libgoal/sim/libsim.la libgoal/libgoal.la

check_PROGRAMS += %D%/soak_asan
%C%_soak_asan_SOURCES = $(soak_sources)
%C%_soak_asan_CPPFLAGS = $(sim_cppflags)
%C%_soak_asan_CFLAGS = $(AM_CFLAGS) $(ASAN_CFLAGS)
%C%_soak_asan_LDADD = libgoal/sim/libsim_asan.la libgoal/libgoal.la

# Includes nothing of ours, and is written from doc/protocol.md alone.
check_PROGRAMS += %D%/stranger
%C%_stranger_CPPFLAGS = -D_GNU_SOURCE=

if GOAL_CMOCKA
check_PROGRAMS += %D%/stranger_host
%C%_stranger_host_CPPFLAGS = $(esp_cppflags)
%C%_stranger_host_CFLAGS = $(unit_cflags)
%C%_stranger_host_LDADD = $(esp_libs)
endif

EXTRA_DIST += \
	%D%/local.mk \
	%D%/planted/abort-untold.patch \
	%D%/planted/ack-before-reserving.patch \
	%D%/planted/ack-for-pong.patch \
	%D%/planted/ack-future.patch \
	%D%/planted/adopt-not.patch \
	%D%/planted/beyond-grant.patch \
	%D%/planted/bytes-twice.patch \
	%D%/planted/chunk-fields.patch \
	%D%/planted/credit-leak.patch \
	%D%/planted/dead-too-soon.patch \
	%D%/planted/double-completion.patch \
	%D%/planted/duplicate-frame.patch \
	%D%/planted/forget-ready.patch \
	%D%/planted/grant-backwards.patch \
	%D%/planted/header-unchecked.patch \
	%D%/planted/held-for-good.patch \
	%D%/planted/kept-for-good.patch \
	%D%/planted/kept-unseen.patch \
	%D%/planted/linger-not.patch \
	%D%/planted/message-twice.patch \
	%D%/planted/mid-ahead.patch \
	%D%/planted/mtu-unverified.patch \
	%D%/planted/no-ready.patch \
	%D%/planted/no-tail-probe.patch \
	%D%/planted/no-window.patch \
	%D%/planted/parked-for-good.patch \
	%D%/planted/payload-unchecked.patch \
	%D%/planted/reference-kept.patch \
	%D%/planted/resume-lost.patch \
	%D%/planted/stale-incarnation.patch \
	%D%/planted/stop-untold.patch \
	%D%/planted/stranger-believed.patch \
	%D%/planted/time-backwards.patch \
	%D%/planted/token-unchecked.patch \
	%D%/planted/two-locks.patch \
	%D%/planted/wrong-offset.patch \
	%D%/planted/wrong-wrap.patch \
	%D%/planted/run \
	%D%/run \
	%D%/seeds
