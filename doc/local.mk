# SPDX-License-Identifier: BSD-3-Clause
# What is installed beside the man pages, and what only comes with the sources.

dist_man_MANS += \
	%D%/man/coll_goal.7 \
	%D%/man/espgoal.4 \
	%D%/man/goal.1 \
	%D%/man/goal-sim.1 \
	%D%/man/goal_barrier.3 \
	%D%/man/goal_coll_name.3 \
	%D%/man/goal_compile.3 \
	%D%/man/goal_cores_union.3 \
	%D%/man/goal_engine_open.3 \
	%D%/man/goal_graph_create.3 \
	%D%/man/goal_group_create.3 \
	%D%/man/goal_load.3 \
	%D%/man/goal_neighbor_alltoall.3 \
	%D%/man/goal_reduce_local.3 \
	%D%/man/goal_requires.3 \
	%D%/man/goal_send.3 \
	%D%/man/goal_sim_create.3 \
	%D%/man/goal_start.3 \
	%D%/man/goal_text_read.3 \
	%D%/man/libgoal.7

dist_doc_DATA += \
	%D%/protocol.md \
	%D%/schedule.md

# Each function of a page is found under its own name too.
man_links = for page in $(dist_man_MANS); do \
		test -f "$$page" || page="$(srcdir)/$$page"; \
		sh $(srcdir)/%D%/man/links "$$page"; \
	done

install-data-local: install-man-links
install-man-links:
	@$(MKDIR_P) "$(DESTDIR)$(man3dir)"
	$(man_links) | while read -r page name; do \
		$(LN_S) -f "$$page" "$(DESTDIR)$(man3dir)/$$name" || exit 1; \
	done

uninstall-local: uninstall-man-links
uninstall-man-links:
	$(man_links) | while read -r page name; do rm -f "$(DESTDIR)$(man3dir)/$$name"; done

.PHONY: install-man-links uninstall-man-links

EXTRA_DIST += \
	%D%/coverage.md \
	%D%/local.mk \
	%D%/man/links
