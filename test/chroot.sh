# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash disable=SC2034
# Debian in a folder, for test/matrix and test/fresh. Sourced after test/lib.sh, by a script that
# has called private_mounts first: whatever is mounted, and every process started, is gone when
# that script ends, however it ends.

# can_chroot: 0, or 1 with the reason printed.
can_chroot() {
	if [ "$(id -u)" != 0 ]; then
		echo "this needs root, to make a Debian in a folder and to mount /proc in it"
	elif ! unshare --mount --pid --fork --kill-child --propagation private true 2>/dev/null; then
		echo "this machine allows no mount namespace of our own (unshare --mount --pid fails)"
	elif ! command -v dpkg-query >/dev/null 2>&1; then
		echo "there is no apt here to install debootstrap with"
	else
		return 0
	fi
	return 1
}

# private_mounts ARGUMENT...: run this script again with mounts and process ids of its own.
private_mounts() {
	[ -z "${GOAL_IN_NAMESPACE:-}" ] || return 0
	GOAL_IN_NAMESPACE=1 exec unshare --mount --pid --fork --kill-child=KILL --propagation private \
		--mount-proc bash "$0" "$@"
}

cache=${XDG_CACHE_HOME:-${HOME:-/root}/.cache}/espgoal

# Where this machine gets its packages from, when it is a Debian; else Debian's own address.
debian_mirror() {
	local uri
	uri=$(cat /etc/apt/sources.list /etc/apt/sources.list.d/*.list /etc/apt/sources.list.d/*.sources \
		2>/dev/null | grep -v '^ *#' | grep -oE 'https?://[^ ]+/debian/?( |$)' | head -n 1 | tr -d ' ')
	echo "${uri:-http://deb.debian.org/debian}"
}

# make_debian FOLDER SUITE PACKAGE...: a minimal Debian with these packages and this machine's way
# to the network.
make_debian() {
	local dir=$1 suite=$2 list variant=minbase keyring=/usr/share/keyrings/debian-archive-keyring.gpg
	shift 2
	list=$(echo "$*" | tr -s ' \n\t' ',')
	list=${list%,}
	rm -rf "$dir" && mkdir -p "$dir" || return 1
	debootstrap --variant=$variant --keyring=$keyring ${list:+--include="$list"} \
		"$suite" "$dir" "$(debian_mirror)" || { rm -rf "$dir"; return 1; }
	# Proxies and what else this machine's apt needs to be told.
	apt-config dump | grep -E '^Acquire::(http|https|Check-|Retries|ForceIPv)' \
		>"$dir/etc/apt/apt.conf.d/90host"
	return 0
}

# mount_debian FOLDER: what programs expect besides files; unmounted by the end of the namespace.
# An empty /tmp each time: a launcher that was killed leaves a session folder there, named by its
# process id, and process ids begin anew with each namespace. The folder becomes a mount of its own, without
# which nothing in it can make a mount namespace, as clusters of guests do.
mount_debian() {
	cp /etc/resolv.conf /etc/hosts "$1/etc/" 2>/dev/null
	mount --bind "$1" "$1" &&
		mount -t proc proc "$1/proc" &&
		mount --rbind /sys "$1/sys" &&
		mount --rbind /dev "$1/dev" &&
		mount -t tmpfs -o mode=1777 tmpfs "$1/dev/shm" &&
		mount -t tmpfs -o mode=1777 tmpfs "$1/tmp"
}

# in_debian FOLDER COMMAND...: with a clean environment.
in_debian() {
	local dir=$1
	shift
	env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8 CI="${CI:-}" \
		GOAL_TAIL="${GOAL_TAIL:-40}" chroot "$dir" "$@"
}

# copy_tree FOLDER: the sources as they are here, without anything that was built.
copy_tree() {
	rm -rf "$1" && mkdir -p "$1" || return 1
	if git -c safe.directory='*' -C "$root" rev-parse --git-dir >/dev/null 2>&1; then
		(cd "$root" && git -c safe.directory='*' ls-files -z --cached --others --exclude-standard |
			while IFS= read -r -d '' f; do [ -e "$f" ] && printf '%s\0' "$f"; done |
			tar --null -T - -cf -) | tar -xf - -C "$1"
	else
		tar -C "$root" --exclude=./build -cf - . | tar -xf - -C "$1"
	fi
}
