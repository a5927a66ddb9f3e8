# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash disable=SC2034
# What the scripts that test/check calls have in common: `-b BUILD`, BUILD/test/config.sh, and
# counting. Sourced.

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
build=
while getopts b: opt; do
	case $opt in
	b) build=$(cd "$OPTARG" && pwd) || exit 2 ;;
	*) exit 2 ;;
	esac
done
shift $((OPTIND - 1))
[ -f "$build/test/config.sh" ] || {
	echo "$(basename "$0"): -b BUILD is needed, the folder configure was run in" >&2
	exit 2
}
. "$build/test/config.sh"

# make_says TARGET: what a print- target of the Makefile says, after it is up to date itself.
make_says() {
	make -s -C "$build" Makefile >/dev/null && make -s --no-print-directory -C "$build" "print-$1"
}

passed=0 failed=0 skipped=0
pass() {
	echo "PASS $*"
	passed=$((passed + 1))
}
fail() {
	echo "FAIL $*"
	failed=$((failed + 1))
}
skip() {
	echo "SKIP $1: $2"
	skipped=$((skipped + 1))
}
# expect NAME COMMAND...
expect() {
	local name=$1
	shift
	if "$@"; then pass "$name"; else fail "$name: $*"; fi
}
closing_line() {
	echo "$passed passed, $failed failed, $skipped skipped"
	[ $failed -eq 0 ] || exit 1
	exit 0
}
