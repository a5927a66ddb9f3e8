# SPDX-License-Identifier: BSD-3-Clause
# Unit tests: cmocka programs, one per source file or group of them, run by `make check`.
#
# A new one, test/unit/core_verify.c, takes these lines inside `if GOAL_CMOCKA`:
#
#	unit_tests += %D%/core_verify
#	%C%_core_verify_CPPFLAGS = $(unit_cppflags)
#	%C%_core_verify_CFLAGS = $(unit_cflags)
#	%C%_core_verify_LDADD = $(unit_libs)
#
# and with tsan_cflags, tsan_libs inside `if GOAL_TSAN` it runs under ThreadSanitizer. Its source
# is the .c file of the same name, and %C%_core_verify_SOURCES where there are more. They include
# internal headers as "libgoal/graph/x.h" or by their plain names for the core.

unit_cppflags = $(AM_CPPFLAGS) -I$(top_srcdir) $(GOAL_CORE_CPPFLAGS) $(CMOCKA_CFLAGS)
unit_cflags = $(AM_CFLAGS) $(GOAL_CORE_CFLAGS) $(ASAN_CFLAGS) -pthread
unit_libs = libgoal/libgoal_asan.la $(CMOCKA_LIBS)
tsan_cflags = $(AM_CFLAGS) $(GOAL_CORE_CFLAGS) $(TSAN_CFLAGS) -pthread
tsan_libs = libgoal/libgoal_tsan.la $(CMOCKA_LIBS)

unit_tests =

if GOAL_CMOCKA
# One block a program, alphabetic.

unit_tests += %D%/graph_compile
%C%_graph_compile_CPPFLAGS = $(unit_cppflags)
%C%_graph_compile_CFLAGS = $(unit_cflags)
%C%_graph_compile_LDADD = $(unit_libs)

unit_tests += %D%/graph_memory
%C%_graph_memory_CPPFLAGS = $(unit_cppflags)
%C%_graph_memory_CFLAGS = $(unit_cflags)
%C%_graph_memory_LDADD = $(unit_libs)
%C%_graph_memory_LDFLAGS = -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc

unit_tests += %D%/graph_ops
%C%_graph_ops_CPPFLAGS = $(unit_cppflags)
%C%_graph_ops_CFLAGS = $(unit_cflags)
%C%_graph_ops_LDADD = $(unit_libs)

unit_tests += %D%/schedule_read
%C%_schedule_read_CPPFLAGS = $(unit_cppflags)
%C%_schedule_read_CFLAGS = $(unit_cflags)
%C%_schedule_read_LDADD = $(unit_libs)

unit_tests += %D%/text_read
%C%_text_read_CPPFLAGS = $(unit_cppflags)
%C%_text_read_CFLAGS = $(unit_cflags)
%C%_text_read_LDADD = $(unit_libs)

unit_tests += %D%/text_write
%C%_text_write_CPPFLAGS = $(unit_cppflags)
%C%_text_write_CFLAGS = $(unit_cflags)
%C%_text_write_LDADD = $(unit_libs)

endif

check_PROGRAMS += $(unit_tests)
TESTS += $(unit_tests)

EXTRA_DIST += \
	%D%/local.mk
