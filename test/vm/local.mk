# SPDX-License-Identifier: BSD-3-Clause
# Tests in QEMU guests: scripts, and the programs that run in the guests.

EXTRA_DIST += \
	%D%/cluster.sh \
	%D%/debug-kernel \
	%D%/debug.config \
	%D%/guest \
	%D%/init \
	%D%/kernels.sh \
	%D%/local.mk \
	%D%/run
