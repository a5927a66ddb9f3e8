# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# Which files the style checks look at: what git tracks. Sourced by the scripts beside it.

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
cd "$root" || exit 1
bad=0

if ! git -c safe.directory='*' rev-parse --git-dir >/dev/null 2>&1; then
	echo "this is no git checkout, and style is checked where the sources are developed"
	exit 77
fi

# tracked [PATTERN...]: the files git knows and that are still there.
tracked() {
	git -c safe.directory='*' ls-files -- "$@" | while IFS= read -r f; do
		[ -f "$f" ] && [ ! -L "$f" ] && printf '%s\n' "$f"
	done
}

# scripts: everything that a shell runs.
scripts() {
	tracked | while IFS= read -r f; do
		case $f in
		*.sh) printf '%s\n' "$f" ;;
		*.[ch] | *.m4 | *.mk | *.md | *.goal | *.in) ;;
		*) head -c 64 "$f" | head -n 1 | grep -aqE '^#!.*(ba)?sh' && printf '%s\n' "$f" ;;
		esac
	done
}

complain() {
	echo "$*"
	bad=$((bad + 1))
}

done_checking() {
	[ $bad -eq 0 ] || { echo "$bad complaints"; exit 1; }
	exit 0
}
