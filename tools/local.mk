# SPDX-License-Identifier: BSD-3-Clause
# The command line tool `goal`.

bin_PROGRAMS += %D%/goal
%C%_goal_SOURCES = \
	%D%/build.c \
	%D%/check.c \
	%D%/goal.c \
	%D%/info.c \
	%D%/run.c \
	%D%/sim.c \
	%D%/text.c \
	%D%/tool.h
%C%_goal_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)
%C%_goal_LDADD = libgoal/libgoal.la -lm

TESTS += test/text/commands

EXTRA_DIST += \
	%D%/espgoal.lua \
	%D%/local.mk \
	test/text/commands \
	test/text/run \
	test/text/sample.goal
