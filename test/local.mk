# SPDX-License-Identifier: BSD-3-Clause
# The scripts of test/. Those that a person calls: demo, check, matrix, fresh.

EXTRA_DIST += \
	%D%/build/distcheck \
	%D%/build/exports \
	%D%/build/install \
	%D%/build/installed \
	%D%/build/installed.c \
	%D%/build/options.sh \
	%D%/build/parameters \
	%D%/build/refusals \
	%D%/check \
	%D%/chroot.sh \
	%D%/demo \
	%D%/fresh \
	%D%/fuzz/run \
	%D%/kbuild/abi.c \
	%D%/kbuild/esp/env.h \
	%D%/kbuild/run \
	%D%/lib.sh \
	%D%/local.mk \
	%D%/matrix \
	%D%/skips \
	%D%/style/files.sh \
	%D%/style/format \
	%D%/style/layering \
	%D%/style/licences \
	%D%/style/manpages \
	%D%/style/scripts \
	%D%/style/words \
	%D%/unit/run

installcheck-local:
	bash $(srcdir)/%D%/build/installed -b .
.PHONY: installcheck-local
