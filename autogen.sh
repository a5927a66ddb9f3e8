#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Makes configure and the Makefile templates; run it once in a fresh clone.
set -e
cd "$(dirname "$0")"
for tool in autoreconf automake libtoolize pkg-config; do
	if ! command -v $tool >/dev/null 2>&1; then
		echo "autogen.sh: $tool is missing: apt-get install autoconf automake libtool pkg-config" >&2
		exit 1
	fi
done
exec autoreconf --install --force "$@"
