# SPDX-License-Identifier: BSD-3-Clause
# mca_coll_goal.so, installed where Open MPI looks for components.

coll_goal_sources = \
	%D%/coll_goal.h \
	%D%/coll_goal_agree.c \
	%D%/coll_goal_allgather.c \
	%D%/coll_goal_alloc.c \
	%D%/coll_goal_alltoall.c \
	%D%/coll_goal_barrier.c \
	%D%/coll_goal_bcast.c \
	%D%/coll_goal_bind.c \
	%D%/coll_goal_build.c \
	%D%/coll_goal_cache.c \
	%D%/coll_goal_compat.h \
	%D%/coll_goal_component.c \
	%D%/coll_goal_deferred.c \
	%D%/coll_goal_entries.h \
	%D%/coll_goal_error.c \
	%D%/coll_goal_forms.h \
	%D%/coll_goal_gather.c \
	%D%/coll_goal_grave.c \
	%D%/coll_goal_group.c \
	%D%/coll_goal_kernel.c \
	%D%/coll_goal_modex.c \
	%D%/coll_goal_module.c \
	%D%/coll_goal_neighbor.c \
	%D%/coll_goal_op.c \
	%D%/coll_goal_pack.c \
	%D%/coll_goal_params.c \
	%D%/coll_goal_plan.c \
	%D%/coll_goal_probe.c \
	%D%/coll_goal_progress.c \
	%D%/coll_goal_pvars.c \
	%D%/coll_goal_reduce.c \
	%D%/coll_goal_reduce.h \
	%D%/coll_goal_reduce_local.c \
	%D%/coll_goal_reduce_scatter.c \
	%D%/coll_goal_remote.c \
	%D%/coll_goal_request.c \
	%D%/coll_goal_request.h \
	%D%/coll_goal_run.c \
	%D%/coll_goal_run.h \
	%D%/coll_goal_say.c \
	%D%/coll_goal_scan.c \
	%D%/coll_goal_scatter.c \
	%D%/coll_goal_sides.c \
	%D%/coll_goal_sides.h \
	%D%/coll_goal_slots.c \
	%D%/coll_goal_stream.c \
	%D%/coll_goal_tags.c \
	%D%/coll_goal_topo.c \
	%D%/coll_goal_vote.c \
	%D%/coll_goal_wait.c

# Objects must not look like components to an Open MPI that searches the build folder.
%C%_mca_coll_goal_la_SHORTNAME = goal

if GOAL_OPENMPI
component_LTLIBRARIES = %D%/mca_coll_goal.la
%C%_mca_coll_goal_la_SOURCES = $(coll_goal_sources)
%C%_mca_coll_goal_la_CPPFLAGS = $(AM_CPPFLAGS) $(MPI_CPPFLAGS) $(OMPI_STANDIN_CPPFLAGS) \
	-DCOLL_GOAL_HELPDIR='"$(ompihelpdir)"'
%C%_mca_coll_goal_la_CFLAGS = $(AM_CFLAGS) -pthread
# Found from the component's folder even where ld.so does not know ours.
%C%_mca_coll_goal_la_LDFLAGS = -module -avoid-version -Wl,-rpath,$(libdir)
%C%_mca_coll_goal_la_LIBADD = libgoal/libgoal.la $(MPI_LIBS)

dist_ompihelp_DATA = %D%/help-mpi-coll-goal.txt

# Uninstalled, the component finds its messages beside itself.
noinst_DATA = %D%/.libs/help-mpi-coll-goal.txt
%D%/.libs/help-mpi-coll-goal.txt: %D%/help-mpi-coll-goal.txt
	@$(MKDIR_P) %D%/.libs
	$(AM_V_GEN)cp $(srcdir)/%D%/help-mpi-coll-goal.txt $@
CLEANFILES += %D%/.libs/help-mpi-coll-goal.txt

# The component is linked anew at install, against the installed library. (By way of a variable,
# since automake leaves out its own rule for a target that it finds named here.)
component_install = install-componentLTLIBRARIES
$(component_install): install-libLTLIBRARIES
endif

EXTRA_DIST += \
	%D%/help-mpi-coll-goal.txt \
	%D%/local.mk \
	%D%/standin/ompi/mpi/fortran/base/fint_2_int.h \
	%D%/standin/opal/mca/threads/pthreads/threads_pthreads_mutex.h \
	%D%/standin/opal/mca/threads/pthreads/threads_pthreads_threads.h \
	%D%/standin/opal/mca/threads/pthreads/threads_pthreads_tsd.h
