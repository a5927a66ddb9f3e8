# SPDX-License-Identifier: BSD-3-Clause
# What is installed beside the man pages, and what only comes with the sources.

EXTRA_DIST += \
	%D%/local.mk
