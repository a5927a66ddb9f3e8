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

# The core once more, in a home of the tests' own, for the tests of the core (core_*).
core_cppflags = $(AM_CPPFLAGS) -I$(top_srcdir)/%D% -I$(top_srcdir)/%D%/home \
	-I$(top_srcdir)/espgoal-kmod/uapi -I$(top_srcdir)/espgoal-kmod/core $(CMOCKA_CFLAGS)
core_libs = %D%/libhome_asan.la $(CMOCKA_LIBS) -lpthread -lm
home_sources = \
	%D%/home/build.c \
	%D%/home/build.h \
	%D%/home/env.h \
	%D%/home/env_run.h \
	%D%/home/exec.c \
	%D%/home/exec.h \
	%D%/home/home.h \
	%D%/home/random.h \
	%D%/home/sink.c \
	%D%/home/sink.h \
	%D%/home/world.c \
	%D%/home/world.h

# And the protocol, in another one, for the tests of the protocol (esp_*).
# The declarations of what it asks of a home are the simulator's (env_esp.h).
esp_cppflags = $(AM_CPPFLAGS) -I$(top_srcdir)/%D%/esp_home -I$(top_srcdir) \
	-I$(top_srcdir)/libgoal/sim \
	-I$(top_srcdir)/espgoal-kmod/uapi -I$(top_srcdir)/espgoal-kmod/core $(CMOCKA_CFLAGS)
esp_libs = %D%/libesp_asan.la $(CMOCKA_LIBS)
esp_home_sources = \
	%D%/esp_home/env.h \
	%D%/esp_home/env_run.h \
	%D%/esp_home/home.c \
	%D%/esp_home/home.h \
	%D%/esp_home/lookup.c \
	%D%/esp_home/memory.c \
	libgoal/sim/crc32c.c

unit_tests =

if GOAL_CMOCKA
check_LTLIBRARIES += %D%/libesp_asan.la
%C%_libesp_asan_la_SOURCES = $(core_sources) $(esp_sources) $(esp_home_sources)
%C%_libesp_asan_la_CPPFLAGS = $(esp_cppflags)
%C%_libesp_asan_la_CFLAGS = $(unit_cflags)

check_LTLIBRARIES += %D%/libhome_asan.la
%C%_libhome_asan_la_SOURCES = $(core_sources) $(home_sources)
%C%_libhome_asan_la_CPPFLAGS = $(core_cppflags)
%C%_libhome_asan_la_CFLAGS = $(unit_cflags)

if GOAL_TSAN
check_LTLIBRARIES += %D%/libhome_tsan.la
%C%_libhome_tsan_la_SOURCES = $(core_sources) $(home_sources)
%C%_libhome_tsan_la_CPPFLAGS = $(core_cppflags)
%C%_libhome_tsan_la_CFLAGS = $(tsan_cflags)
endif

# One block a program, alphabetic.

# All ranks' schedules in one process, for the coll_* tests.
check_LTLIBRARIES += %D%/libcoll_world.la
%C%_libcoll_world_la_SOURCES = \
	%D%/coll_hazard.c \
	%D%/coll_hazard.h \
	%D%/coll_reduce_ref.c \
	%D%/coll_world.c \
	%D%/coll_world.h
%C%_libcoll_world_la_CPPFLAGS = $(unit_cppflags)
%C%_libcoll_world_la_CFLAGS = $(unit_cflags)
coll_libs = %D%/libcoll_world.la $(unit_libs)

unit_tests += %D%/coll_allgather
%C%_coll_allgather_CPPFLAGS = $(unit_cppflags)
%C%_coll_allgather_CFLAGS = $(unit_cflags)
%C%_coll_allgather_LDADD = $(coll_libs)

unit_tests += %D%/coll_alltoall
%C%_coll_alltoall_CPPFLAGS = $(unit_cppflags)
%C%_coll_alltoall_CFLAGS = $(unit_cflags)
%C%_coll_alltoall_LDADD = $(coll_libs)

unit_tests += %D%/coll_barrier
%C%_coll_barrier_CPPFLAGS = $(unit_cppflags)
%C%_coll_barrier_CFLAGS = $(unit_cflags)
%C%_coll_barrier_LDADD = $(coll_libs)

unit_tests += %D%/coll_bcast
%C%_coll_bcast_CPPFLAGS = $(unit_cppflags)
%C%_coll_bcast_CFLAGS = $(unit_cflags)
%C%_coll_bcast_LDADD = $(coll_libs)

unit_tests += %D%/coll_footprint
%C%_coll_footprint_CPPFLAGS = $(unit_cppflags)
%C%_coll_footprint_CFLAGS = $(unit_cflags)
%C%_coll_footprint_LDADD = $(unit_libs)

unit_tests += %D%/coll_gather
%C%_coll_gather_CPPFLAGS = $(unit_cppflags)
%C%_coll_gather_CFLAGS = $(unit_cflags)
%C%_coll_gather_LDADD = $(coll_libs)

unit_tests += %D%/coll_memory
%C%_coll_memory_CPPFLAGS = $(unit_cppflags)
%C%_coll_memory_CFLAGS = $(unit_cflags)
%C%_coll_memory_LDADD = $(unit_libs)
%C%_coll_memory_LDFLAGS = -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc

unit_tests += %D%/coll_name
%C%_coll_name_CPPFLAGS = $(unit_cppflags)
%C%_coll_name_CFLAGS = $(unit_cflags)
%C%_coll_name_LDADD = $(coll_libs)

unit_tests += %D%/coll_neighbor
%C%_coll_neighbor_CPPFLAGS = $(unit_cppflags)
%C%_coll_neighbor_CFLAGS = $(unit_cflags)
%C%_coll_neighbor_LDADD = $(coll_libs)

unit_tests += %D%/coll_reduce
%C%_coll_reduce_CPPFLAGS = $(unit_cppflags)
%C%_coll_reduce_CFLAGS = $(unit_cflags)
%C%_coll_reduce_LDADD = $(coll_libs)

unit_tests += %D%/core_match
%C%_core_match_CPPFLAGS = $(core_cppflags)
%C%_core_match_CFLAGS = $(unit_cflags)
%C%_core_match_LDADD = $(core_libs)

unit_tests += %D%/core_pump
%C%_core_pump_CPPFLAGS = $(core_cppflags)
%C%_core_pump_CFLAGS = $(unit_cflags)
%C%_core_pump_LDADD = $(core_libs)

unit_tests += %D%/core_random
%C%_core_random_CPPFLAGS = $(core_cppflags)
%C%_core_random_CFLAGS = $(unit_cflags)
%C%_core_random_LDADD = $(core_libs)

unit_tests += %D%/core_reduce
%C%_core_reduce_CPPFLAGS = $(core_cppflags)
%C%_core_reduce_CFLAGS = $(unit_cflags)
%C%_core_reduce_LDADD = $(core_libs)

unit_tests += %D%/core_run
%C%_core_run_CPPFLAGS = $(core_cppflags)
%C%_core_run_CFLAGS = $(unit_cflags)
%C%_core_run_LDADD = $(core_libs)

unit_tests += %D%/core_segment
%C%_core_segment_CPPFLAGS = $(core_cppflags)
%C%_core_segment_CFLAGS = $(unit_cflags)
%C%_core_segment_LDADD = $(core_libs)

if GOAL_TSAN
unit_tests += %D%/core_threads
%C%_core_threads_CPPFLAGS = $(core_cppflags)
%C%_core_threads_CFLAGS = $(tsan_cflags)
%C%_core_threads_LDADD = %D%/libhome_tsan.la $(CMOCKA_LIBS) -lpthread
endif

unit_tests += %D%/core_types
%C%_core_types_CPPFLAGS = $(core_cppflags)
%C%_core_types_CFLAGS = $(unit_cflags)
%C%_core_types_LDADD = $(core_libs)

unit_tests += %D%/core_verify
%C%_core_verify_CPPFLAGS = $(core_cppflags)
%C%_core_verify_CFLAGS = $(unit_cflags)
%C%_core_verify_LDADD = $(core_libs)

unit_tests += %D%/engine_cancel
%C%_engine_cancel_CPPFLAGS = $(unit_cppflags)
%C%_engine_cancel_CFLAGS = $(unit_cflags)
%C%_engine_cancel_LDADD = $(unit_libs)

unit_tests += %D%/engine_cores
%C%_engine_cores_CPPFLAGS = $(unit_cppflags)
%C%_engine_cores_CFLAGS = $(unit_cflags)
%C%_engine_cores_LDADD = $(unit_libs)

unit_tests += %D%/engine_process
%C%_engine_process_CPPFLAGS = $(unit_cppflags)
%C%_engine_process_CFLAGS = $(unit_cflags)
%C%_engine_process_LDADD = $(unit_libs)

unit_tests += %D%/engine_failed
%C%_engine_failed_CPPFLAGS = $(unit_cppflags)
%C%_engine_failed_CFLAGS = $(unit_cflags)
%C%_engine_failed_LDADD = $(unit_libs)
%C%_engine_failed_LDFLAGS = -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc

unit_tests += %D%/engine_hostile
%C%_engine_hostile_CPPFLAGS = $(unit_cppflags)
%C%_engine_hostile_CFLAGS = $(unit_cflags)
%C%_engine_hostile_LDADD = $(unit_libs)
%C%_engine_hostile_LDFLAGS = -Wl,--wrap=kill

unit_tests += %D%/engine_kernel
%C%_engine_kernel_SOURCES = \
	%D%/engine_kernel.c \
	%D%/engine_kernel.h \
	%D%/fake_device.c \
	%D%/fake_device.h
%C%_engine_kernel_CPPFLAGS = $(unit_cppflags)
%C%_engine_kernel_CFLAGS = $(unit_cflags)
%C%_engine_kernel_LDADD = $(unit_libs)
%C%_engine_kernel_LDFLAGS = -Wl,--wrap=kernel_device_open,--wrap=kernel_device_close \
	-Wl,--wrap=kernel_device_request,--wrap=kernel_device_map,--wrap=kernel_device_unmap

unit_tests += %D%/engine_kernel_short
%C%_engine_kernel_short_SOURCES = \
	%D%/engine_kernel.h \
	%D%/engine_kernel_short.c \
	%D%/fake_device.c \
	%D%/fake_device.h
%C%_engine_kernel_short_CPPFLAGS = $(unit_cppflags)
%C%_engine_kernel_short_CFLAGS = $(unit_cflags)
%C%_engine_kernel_short_LDADD = $(unit_libs)
%C%_engine_kernel_short_LDFLAGS = -Wl,--wrap=kernel_device_open,--wrap=kernel_device_close \
	-Wl,--wrap=kernel_device_request,--wrap=kernel_device_map,--wrap=kernel_device_unmap

unit_tests += %D%/engine_memory
%C%_engine_memory_CPPFLAGS = $(unit_cppflags)
%C%_engine_memory_CFLAGS = $(unit_cflags)
%C%_engine_memory_LDADD = $(unit_libs)
%C%_engine_memory_LDFLAGS = -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc \
	-Wl,--wrap=open,--wrap=fallocate,--wrap=getrandom

unit_tests += %D%/engine_message
%C%_engine_message_CPPFLAGS = $(unit_cppflags)
%C%_engine_message_CFLAGS = $(unit_cflags)
%C%_engine_message_LDADD = $(unit_libs)

unit_tests += %D%/engine_open
%C%_engine_open_CPPFLAGS = $(unit_cppflags)
%C%_engine_open_CFLAGS = $(unit_cflags)
%C%_engine_open_LDADD = $(unit_libs)

unit_tests += %D%/engine_reduce
%C%_engine_reduce_CPPFLAGS = $(unit_cppflags)
%C%_engine_reduce_CFLAGS = $(unit_cflags)
%C%_engine_reduce_LDADD = $(unit_libs)

unit_tests += %D%/engine_remote
%C%_engine_remote_CPPFLAGS = $(unit_cppflags)
%C%_engine_remote_CFLAGS = $(unit_cflags)
%C%_engine_remote_LDADD = $(unit_libs)

unit_tests += %D%/engine_run
%C%_engine_run_CPPFLAGS = $(unit_cppflags)
%C%_engine_run_CFLAGS = $(unit_cflags)
%C%_engine_run_LDADD = $(unit_libs)

unit_tests += %D%/engine_spin
%C%_engine_spin_CPPFLAGS = $(unit_cppflags)
%C%_engine_spin_CFLAGS = $(unit_cflags)
%C%_engine_spin_LDADD = $(unit_libs)

unit_tests += %D%/engine_wrap
%C%_engine_wrap_CPPFLAGS = $(unit_cppflags)
%C%_engine_wrap_CFLAGS = $(unit_cflags)
%C%_engine_wrap_LDADD = $(unit_libs)

if GOAL_TSAN
unit_tests += %D%/engine_threads
%C%_engine_threads_CPPFLAGS = $(unit_cppflags)
%C%_engine_threads_CFLAGS = $(tsan_cflags)
%C%_engine_threads_LDADD = $(tsan_libs)
endif

unit_tests += %D%/esp_close
%C%_esp_close_CPPFLAGS = $(esp_cppflags)
%C%_esp_close_CFLAGS = $(unit_cflags)
%C%_esp_close_LDADD = $(esp_libs)

unit_tests += %D%/esp_ends
%C%_esp_ends_CPPFLAGS = $(esp_cppflags)
%C%_esp_ends_CFLAGS = $(unit_cflags)
%C%_esp_ends_LDADD = $(esp_libs)

unit_tests += %D%/esp_keep
%C%_esp_keep_CPPFLAGS = $(esp_cppflags)
%C%_esp_keep_CFLAGS = $(unit_cflags)
%C%_esp_keep_LDADD = $(esp_libs)

unit_tests += %D%/esp_ahead
%C%_esp_ahead_CPPFLAGS = $(esp_cppflags)
%C%_esp_ahead_CFLAGS = $(unit_cflags)
%C%_esp_ahead_LDADD = $(esp_libs)

unit_tests += %D%/esp_flow
%C%_esp_flow_CPPFLAGS = $(esp_cppflags)
%C%_esp_flow_CFLAGS = $(unit_cflags)
%C%_esp_flow_LDADD = $(esp_libs)

unit_tests += %D%/esp_foreign
%C%_esp_foreign_CPPFLAGS = $(esp_cppflags)
%C%_esp_foreign_CFLAGS = $(unit_cflags)
%C%_esp_foreign_LDADD = $(esp_libs)
%C%_esp_foreign_SOURCES = %D%/esp_foreign.c %D%/esp_foreign.h

unit_tests += %D%/esp_foreign_hello
%C%_esp_foreign_hello_CPPFLAGS = $(esp_cppflags)
%C%_esp_foreign_hello_CFLAGS = $(unit_cflags)
%C%_esp_foreign_hello_LDADD = $(esp_libs)
%C%_esp_foreign_hello_SOURCES = %D%/esp_foreign_hello.c %D%/esp_foreign.h

unit_tests += %D%/esp_gone
%C%_esp_gone_CPPFLAGS = $(esp_cppflags)
%C%_esp_gone_CFLAGS = $(unit_cflags)
%C%_esp_gone_LDADD = $(esp_libs)

unit_tests += %D%/esp_heal
%C%_esp_heal_CPPFLAGS = $(esp_cppflags)
%C%_esp_heal_CFLAGS = $(unit_cflags)
%C%_esp_heal_LDADD = $(esp_libs)

unit_tests += %D%/esp_parts
%C%_esp_parts_CPPFLAGS = $(esp_cppflags)
%C%_esp_parts_CFLAGS = $(unit_cflags)
%C%_esp_parts_LDADD = $(esp_libs)

unit_tests += %D%/esp_watch
%C%_esp_watch_CPPFLAGS = $(esp_cppflags)
%C%_esp_watch_CFLAGS = $(unit_cflags)
%C%_esp_watch_LDADD = $(esp_libs)

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

unit_tests += %D%/sim_memory
%C%_sim_memory_CPPFLAGS = $(unit_cppflags)
%C%_sim_memory_CFLAGS = $(unit_cflags)
%C%_sim_memory_LDADD = libgoal/sim/libsim_asan.la $(unit_libs)
%C%_sim_memory_LDFLAGS = -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc

unit_tests += %D%/sim_public
%C%_sim_public_CPPFLAGS = $(unit_cppflags)
%C%_sim_public_CFLAGS = $(unit_cflags)
%C%_sim_public_LDADD = libgoal/sim/libsim_asan.la $(unit_libs)

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
	%D%/engine_fork.h \
	%D%/engine_pair.h \
	%D%/engine_wire.h \
	%D%/local.mk \
	%D%/no_memory.h
