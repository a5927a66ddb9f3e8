# SPDX-License-Identifier: BSD-3-Clause
# The core's sources, which libgoal compiles for the host home, and what only Kbuild compiles.

core_sources = \
	%D%/core/core.h \
	%D%/uapi/espgoal.h

EXTRA_DIST += \
	%D%/local.mk
