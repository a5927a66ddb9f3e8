# SPDX-License-Identifier: BSD-3-Clause
# mca_coll_goal.so, installed where Open MPI looks for components.

coll_goal_sources =

if GOAL_OPENMPI
component_LTLIBRARIES = %D%/mca_coll_goal.la
%C%_mca_coll_goal_la_SOURCES = $(coll_goal_sources)
%C%_mca_coll_goal_la_CPPFLAGS = $(AM_CPPFLAGS) $(MPI_CPPFLAGS) $(OMPI_STANDIN_CPPFLAGS)
%C%_mca_coll_goal_la_CFLAGS = $(AM_CFLAGS) -pthread
# Found from the component's folder even where ld.so does not know ours.
%C%_mca_coll_goal_la_LDFLAGS = -module -avoid-version -Wl,-rpath,$(libdir)
%C%_mca_coll_goal_la_LIBADD = libgoal/libgoal.la $(MPI_LIBS)

# The component is linked anew at install, against the installed library. (By way of a variable,
# since automake leaves out its own rule for a target that it finds named here.)
component_install = install-componentLTLIBRARIES
$(component_install): install-libLTLIBRARIES
endif

EXTRA_DIST += \
	%D%/local.mk
