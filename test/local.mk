# SPDX-License-Identifier: BSD-3-Clause
# The scripts of test/. Those that a person calls: demo, check, matrix.

EXTRA_DIST += \
	%D%/config.sh.in \
	%D%/kbuild/run \
	%D%/local.mk
