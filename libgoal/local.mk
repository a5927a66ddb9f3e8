# SPDX-License-Identifier: BSD-3-Clause
# libgoal.so: graphs, collectives, and the host engine with the core inside. The same sources
# make libgoal_asan.la and libgoal_tsan.la, which the unit tests link.

goalincludedir = $(includedir)/goal
goalinclude_HEADERS = \
	%D%/include/goal/collectives.h \
	%D%/include/goal/engine.h \
	%D%/include/goal/goal.h \
	%D%/include/goal/graph.h \
	%D%/include/goal/sim.h \
	%D%/include/goal/types.h \
	espgoal-kmod/uapi/espgoal.h

graph_sources = \
	%D%/graph/compile.c \
	%D%/graph/element.c \
	%D%/graph/error.c \
	%D%/graph/graph.c \
	%D%/graph/graph.h \
	%D%/graph/label.c \
	%D%/graph/ops.c \
	%D%/graph/order.c \
	%D%/graph/program.c \
	%D%/graph/program.h \
	%D%/graph/read.c \
	%D%/graph/scan.c \
	%D%/graph/schedule.c \
	%D%/graph/sort.c \
	%D%/graph/text.h \
	%D%/graph/write.c \
	%D%/include/internal/schedule.h

collectives_sources = \
	%D%/collectives/allgather.c \
	%D%/collectives/allgatherv.c \
	%D%/collectives/allreduce.c \
	%D%/collectives/alltoall.c \
	%D%/collectives/alltoall.h \
	%D%/collectives/alltoall_bruck.c \
	%D%/collectives/alltoallv.c \
	%D%/collectives/barrier.c \
	%D%/collectives/bcast.c \
	%D%/collectives/doubling.h \
	%D%/collectives/draft.c \
	%D%/collectives/draft.h \
	%D%/collectives/exscan.c \
	%D%/collectives/fold.c \
	%D%/collectives/fold.h \
	%D%/collectives/footprint.c \
	%D%/collectives/gather.c \
	%D%/collectives/gatherv.c \
	%D%/collectives/name.c \
	%D%/collectives/neighbor.c \
	%D%/collectives/node.c \
	%D%/collectives/node.h \
	%D%/collectives/reduce.c \
	%D%/collectives/reduce_scatter.c \
	%D%/collectives/reduce_scatter.h \
	%D%/collectives/reduce_scatter_block.c \
	%D%/collectives/scan.c \
	%D%/collectives/scan.h \
	%D%/collectives/scatter.c \
	%D%/collectives/scatterv.c \
	%D%/collectives/tree.h

engine_sources = \
	%D%/engine/address.c \
	%D%/engine/bootstrap.c \
	%D%/engine/cores.c \
	%D%/engine/cores.h \
	%D%/engine/dispatch.c \
	%D%/engine/endpoint.c \
	%D%/engine/engine.c \
	%D%/engine/env.h \
	%D%/engine/env_run.h \
	%D%/engine/error.c \
	%D%/engine/failed.c \
	%D%/engine/group.c \
	%D%/engine/host.h \
	%D%/engine/kernel.c \
	%D%/engine/kernel.h \
	%D%/engine/kernel_device.c \
	%D%/engine/kernel_group.c \
	%D%/engine/kernel_load.c \
	%D%/engine/kernel_object.c \
	%D%/engine/kernel_progress.c \
	%D%/engine/kernel_run.c \
	%D%/engine/kernel_spin.c \
	%D%/engine/kernel_start.c \
	%D%/engine/kernel_usage.c \
	%D%/engine/list.h \
	%D%/engine/loaded.c \
	%D%/engine/mailbox.h \
	%D%/engine/memory.c \
	%D%/engine/message.c \
	%D%/engine/move.c \
	%D%/engine/order.c \
	%D%/engine/peer.c \
	%D%/engine/progress.c \
	%D%/engine/reduce_local.c \
	%D%/engine/remote.c \
	%D%/engine/rendezvous.c \
	%D%/engine/run.c \
	%D%/engine/schedule_read.c \
	%D%/engine/send.c \
	%D%/engine/shm.h \
	%D%/engine/thread.c \
	%D%/engine/verified.h \
	%D%/engine/wait.c

libgoal_sources = $(graph_sources) $(collectives_sources) $(engine_sources) $(core_sources)

GOAL_CORE_CPPFLAGS = \
	-I$(top_srcdir)/libgoal/engine \
	-I$(top_srcdir)/espgoal-kmod/uapi \
	-I$(top_srcdir)/espgoal-kmod/core

libgoal_cppflags = $(AM_CPPFLAGS) $(GOAL_CORE_CPPFLAGS) $(HWLOC_CFLAGS)
libgoal_cflags = $(AM_CFLAGS) $(GOAL_CORE_CFLAGS) -pthread
libgoal_libs = $(HWLOC_LIBS) -lpthread -lrt -lm

lib_LTLIBRARIES += %D%/libgoal.la
%C%_libgoal_la_SOURCES = $(libgoal_sources)
%C%_libgoal_la_CPPFLAGS = $(libgoal_cppflags)
%C%_libgoal_la_CFLAGS = $(libgoal_cflags)
%C%_libgoal_la_LDFLAGS = -version-info 0:0:0
%C%_libgoal_la_LIBADD = %D%/sim/libsim.la $(libgoal_libs)

check_LTLIBRARIES += %D%/libgoal_asan.la
%C%_libgoal_asan_la_SOURCES = $(libgoal_sources)
%C%_libgoal_asan_la_CPPFLAGS = $(libgoal_cppflags)
%C%_libgoal_asan_la_CFLAGS = $(libgoal_cflags) $(ASAN_CFLAGS)
%C%_libgoal_asan_la_LIBADD = $(libgoal_libs)

if GOAL_TSAN
check_LTLIBRARIES += %D%/libgoal_tsan.la
%C%_libgoal_tsan_la_SOURCES = $(libgoal_sources)
%C%_libgoal_tsan_la_CPPFLAGS = $(libgoal_cppflags)
%C%_libgoal_tsan_la_CFLAGS = $(libgoal_cflags) $(TSAN_CFLAGS)
%C%_libgoal_tsan_la_LIBADD = $(libgoal_libs)
endif

pkgconfig_DATA = %D%/goal.pc

# Built and run by `make check`, never installed.
check_PROGRAMS += %D%/examples/sparse
%C%_examples_sparse_LDADD = %D%/libgoal.la
TESTS += %D%/examples/sparse

EXTRA_DIST += \
	%D%/local.mk
