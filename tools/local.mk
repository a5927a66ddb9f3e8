# SPDX-License-Identifier: BSD-3-Clause
# The command line tool `goal`.

EXTRA_DIST += \
	%D%/local.mk
