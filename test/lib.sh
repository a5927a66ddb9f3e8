# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash disable=SC2034
# What the scripts of test/ share: packages, the build, running and counting stages. Sourced; the
# sourcing script has set `root`, the top of the source tree.

GOAL_BUILD=${GOAL_BUILD:-$root/build}
passed=0 failed=0 skipped=0
logs=$GOAL_BUILD/logs
started=$SECONDS

say() { echo "== $*"; }
die() {
	echo "$(basename "$0"): $*" >&2
	exit 1
}

# as_root COMMAND...: directly, or with sudo.
as_root() {
	if [ "$(id -u)" = 0 ]; then
		"$@"
	elif command -v sudo >/dev/null 2>&1; then
		sudo "$@"
	else
		return 1
	fi
}

is_installed() {
	[ "$(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null)" = installed ]
}

has_candidate() {
	apt-cache policy "$1" 2>/dev/null | grep -q '^  Candidate: [^(]'
}

# choose PACKAGE...: print the first one that is installed or that apt knows; "-" stands for none.
choose() {
	local p
	for p; do is_installed "$p" && echo "$p" && return; done
	for p; do
		[ "$p" != - ] || return 0
		has_candidate "$p" && echo "$p" && return
	done
	echo "$1"
}

# known PACKAGE...: does apt know one of them?
known() {
	local p
	for p; do has_candidate "$p" && return; done
	return 1
}

refreshed=
refresh_lists() {
	[ -z "$refreshed" ] || return 0
	refreshed=yes
	say "refreshing apt's lists"
	as_root env DEBIAN_FRONTEND=noninteractive apt-get -q update >"$logs/apt-update.log" 2>&1 ||
		say "apt-get update had errors, going on: see $logs/apt-update.log"
}

# need PACKAGE[/OTHER...]...: install what is missing; of alternatives the first that exists. The
# alternative "-" means that it goes without where apt knows none of those before.
need() {
	local p one missing=() install=()
	mkdir -p "$logs"
	if ! command -v dpkg-query >/dev/null 2>&1; then
		say "no apt here: taking it that these are installed in their local form: $*"
		return 0
	fi
	for p; do
		for one in ${p//\// }; do
			is_installed "$one" && continue 2
		done
		missing+=("$p")
	done
	[ ${#missing[@]} -gt 0 ] || return 0
	for p in "${missing[@]}"; do
		known ${p//\// } || refresh_lists
	done
	for p in "${missing[@]}"; do
		one=$(choose ${p//\// })
		[ -z "$one" ] || install+=("$one")
	done
	[ ${#install[@]} -gt 0 ] || return 0
	if [ "$(id -u)" != 0 ] && ! command -v sudo >/dev/null 2>&1; then
		die "packages are missing and there is neither root nor sudo: apt-get install ${install[*]}"
	fi
	say "installing ${install[*]}"
	apt_install "${install[@]}" && return 0
	refresh_lists
	apt_install "${install[@]}" ||
		die "apt-get install ${install[*]} failed: see $logs/apt-install.log"
}

apt_install() {
	as_root env DEBIAN_FRONTEND=noninteractive apt-get -q -y --no-install-recommends \
		install "$@" >"$logs/apt-install.log" 2>&1
}

packages_build="gcc libc6-dev make autoconf automake libtool pkg-config/pkgconf openmpi-bin
	libopenmpi-dev libhwloc-dev libevent-dev libcmocka-dev"

# For guests in QEMU: test/vm.
packages_vm="qemu-system-x86 busybox-static dropbear-bin kmod xz-utils iproute2 procps gcc make
	linux-headers-amd64"

jobs() { nproc 2>/dev/null || echo 2; }

# configure_in FOLDER OPTION...: make configure and run it there, if not done so already.
configure_in() {
	local dir=$1 wanted
	shift
	wanted="CC=${CC:-} CFLAGS=${CFLAGS:-} $*"
	mkdir -p "$dir" || return 1
	if [ ! -x "$root/configure" ] || [ ! -f "$root/Makefile.in" ]; then
		"$root/autogen.sh" || return 1
	fi
	if [ ! -f "$dir/Makefile" ] || [ "$(cat "$dir/configured" 2>/dev/null)" != "$wanted" ]; then
		(cd "$dir" && "$root/configure" "$@") || return 1
		echo "$wanted" >"$dir/configured"
	fi
}

# configure_and_make FOLDER TARGETS OPTION...: one make after the other, since `all` starts one
# of its own and two of them in one folder get into each other's way.
configure_and_make() {
	local dir=$1 target targets=$2
	shift 2
	configure_in "$dir" "$@" || return 1
	for target in $targets; do
		make -C "$dir" -j"$(jobs)" "$target" || return 1
	done
}

# mpi_environment BUILD: `mpirun --mca coll goal` then finds the component in the build folder.
mpi_environment() {
	# shellcheck disable=SC1091
	. "$1/test/config.sh"
	export OMPI_MCA_mca_base_component_path="$GOAL_PKGLIBDIR:$1/ompi-mca-coll-goal/.libs"
	if [ "$(id -u)" = 0 ]; then
		export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
		export PRTE_ALLOW_RUN_AS_ROOT=1 PRTE_ALLOW_RUN_AS_ROOT_CONFIRM=1
	fi
}

# may_skip NAME: outside CI always; with CI=true only what test/skips lists.
may_skip() {
	local pattern
	[ "${CI:-}" = true ] || return 0
	while read -r pattern _; do
		case $pattern in '' | '#'*) continue ;; esac
		# shellcheck disable=SC2254
		case $1 in $pattern) return 0 ;; esac
	done <"$root/test/skips"
	return 1
}

count_skip() {
	if may_skip "$1"; then
		skipped=$((skipped + 1))
	else
		failed=$((failed + 1))
		echo "   FAIL $1: skipped with CI=true, and test/skips does not list it"
	fi
}

# stage NAME COMMAND...: run it into a log; count what its closing line says, or one by its status.
stage() {
	local name=$1 log begin=$SECONDS status counts p=0 f=0 s=0 named reason
	shift
	log=$logs/${name//[ \/]/-}.log
	mkdir -p "$logs"
	printf '== %-34s ' "$name"
	"$@" >"$log" 2>&1 </dev/null
	status=$?
	counts=$(grep -aE '^[0-9]+ passed, [0-9]+ failed(, [0-9]+ skipped)?$' "$log" | tail -n 1)
	if [ -n "$counts" ]; then
		read -r p f s <<<"$(echo "$counts" | tr -cs '0-9' ' ')"
		[ $status -eq 0 ] || [ "$f" -gt 0 ] || f=1
	elif [ $status -eq 77 ]; then
		s=1
		echo "SKIP $name: $(tail -n 1 "$log")" >>"$log"
	elif [ $status -eq 0 ]; then
		p=1
	else
		f=1
	fi
	s=${s:-0}
	printf '%5s s  %s passed, %s failed, %s skipped\n' $((SECONDS - begin)) "$p" "$f" "$s"
	passed=$((passed + p)) failed=$((failed + f))
	named=0
	while IFS= read -r reason; do
		named=$((named + 1))
		echo "   $reason"
		reason=${reason#SKIP }
		count_skip "${reason%%:*}"
	done < <(grep -a '^SKIP [^ :]*[^:]*: ' "$log" | head -n "$s")
	# Skips that gave no reason are none of those that test/skips may list.
	while [ $named -lt "$s" ]; do
		named=$((named + 1))
		count_skip "$name/unnamed"
	done
	if [ "$f" -gt 0 ]; then
		grep -aE '^(FAIL|not ok)\b' "$log" | head -n 40 | sed 's/^/   /'
		echo "   FAIL $name: the end of $log:"
		tail -n "${GOAL_TAIL:-40}" "$log" | cut -c 1-240 | sed 's/^/   | /'
		return 1
	fi
	return 0
}

# skip_stage NAME REASON
skip_stage() {
	printf '== %-34s skipped: %s\n' "$1" "$2"
	count_skip "$1"
}

# finish: the closing line, and the script's end.
finish() {
	say "$((SECONDS - started)) s, logs in $logs"
	echo "$passed passed, $failed failed, $skipped skipped"
	[ $failed -eq 0 ] || exit 1
	exit 0
}
