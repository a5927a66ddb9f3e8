# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash disable=SC2034
# Kernels for guests, kept in the user's cache and never installed. Sourced after test/lib.sh.
#
# A kernel is a folder with
#	boot		what QEMU is given
#	initramfs	with the modules the guest needs to get at its files
#	lib/modules/	Debian's modules, as packed
#	build		the tree that modules are built against, or a link to it
#	release		what `uname -r` says in the guest
#	made-for	what it was made from

cache=${XDG_CACHE_HOME:-${HOME:-/root}/.cache}/espgoal
debug_series=6.1

# debug_stamp: what a debug kernel in the cache must have been made from.
debug_stamp() {
	echo "linux-source-$debug_series $(sha256sum <"$root/test/vm/debug.config" | cut -c 1-16)"
}

# have_debug_kernel: is one in the cache, and is it of this configuration?
have_debug_kernel() {
	[ "$(cat "$cache/linux-debug/made-for" 2>/dev/null)" = "$(debug_stamp)" ]
}

# fetch_deb FOLDER PACKAGE: download a package without installing it, and unpack it in FOLDER.
fetch_deb() {
	local dir=$1 package=$2
	rm -rf "$dir.deb" && mkdir -p "$dir.deb" "$dir" || return 1
	# Lists that are old name packages that are no longer there.
	download_in "$dir.deb" "$package" || { refresh_lists && download_in "$dir.deb" "$package"; }
	dpkg-deb -x "$dir.deb"/*.deb "$dir" || {
		echo "cannot download $package: is apt's list of packages old? (apt-get update)"
		return 1
	}
	rm -rf "$dir.deb"
}

download_in() { (cd "$1" && apt-get -q download "$2"); }

# make_initramfs KERNEL: busybox, test/vm/init, and of Debian's modules those that lead to the
# host's files, in the order in which they are to be loaded.
make_initramfs() {
	local kernel=$1 release stage=$1/initramfs.d module path
	release=$(cat "$kernel/release") || return 1
	rm -rf "$stage"
	mkdir -p "$stage"/{bin,mod,proc,sys,dev,lower,upper,new} || return 1
	cp "$(command -v busybox)" "$stage/bin/busybox" && cp "$root/test/vm/init" "$stage/init" || return 1
	: >"$stage/mod/order"
	if [ -d "$kernel/lib/modules" ]; then
		depmod -b "$kernel" "$release" || return 1
		for module in virtio_pci virtio_net e1000 9pnet_virtio 9p overlay; do
			modprobe -d "$kernel" -S "$release" --show-depends "$module" ||
				echo "missing $module"
		done | awk '!seen[$0]++' >"$stage/list"
		if grep '^missing' "$stage/list"; then return 1; fi
		while read -r _ path; do
			module=$(basename "$path")
			case $module in
			*.ko) cp "$path" "$stage/mod/$module" ;;
			*.ko.xz) xz -dc "$path" >"$stage/mod/${module%.xz}" ;;
			*.ko.zst) zstd -qdc "$path" >"$stage/mod/${module%.zst}" ;;
			*) false ;;
			esac || return 1
			echo "${module%.ko*}.ko" >>"$stage/mod/order"
		done < <(grep '^insmod' "$stage/list")
		rm "$stage/list"
	fi
	(cd "$stage" && find . | busybox cpio -o -H newc 2>/dev/null | gzip -1) >"$kernel/initramfs.new" &&
		mv "$kernel/initramfs.new" "$kernel/initramfs" && rm -rf "$stage"
}

# initramfs_for KERNEL: make it where that is not done, or where init has changed since.
initramfs_for() {
	local want
	want=$(cat "$root/test/vm/init" "$root/test/vm/kernels.sh" "$1/made-for" | sha256sum)
	[ "$(cat "$1/initramfs-for" 2>/dev/null)" != "$want" ] || return 0
	make_initramfs "$1" && echo "$want" >"$1/initramfs-for"
}

# unpack_kernel KERNEL RELEASE BUILD COMMAND...: a kernel out of Debian's package, which COMMAND
# unpacks into the folder that it is given last.
unpack_kernel() {
	local kernel=$1 release=$2 build=$3
	shift 3
	rm -rf "$kernel" && mkdir -p "$kernel" || return 1
	"$@" "$kernel/package" || return 1
	mkdir -p "$kernel/lib" && mv "$kernel/package/boot/vmlinuz-$release" "$kernel/boot" || return 1
	mv "$kernel"/package/{usr/lib,lib}/modules "$kernel/lib/" 2>/dev/null
	[ -d "$kernel/lib/modules/$release/kernel" ] || {
		echo "linux-image-$release holds no modules where they are expected"
		return 1
	}
	rm -rf "$kernel/package" "$kernel/lib/modules/$release/"{build,source}
	ln -s "$build" "$kernel/build"
	echo "$release" >"$kernel/release"
	echo "linux-image-$release" >"$kernel/made-for"
}

# own_release: the kernel that this machine's Debian has headers for, as linux-headers-amd64 says.
own_release() {
	dpkg-query -W -f '${Depends}' linux-headers-amd64 2>/dev/null |
		grep -oE 'linux-headers-[0-9][^ ,]*' | head -n 1 | sed 's/^linux-headers-//'
}

fetch_image() { fetch_deb "$2" "linux-image-$1"; }

# own_kernel: prints the folder of this machine's Debian's own kernel.
own_kernel() {
	local release kernel
	release=$(own_release)
	[ -n "$release" ] || {
		echo "linux-headers-amd64 is not installed: guests need Debian's kernel and its headers" >&2
		return 1
	}
	kernel=$cache/linux-$release
	if [ "$(cat "$kernel/made-for" 2>/dev/null)" != "linux-image-$release" ]; then
		unpack_kernel "$kernel" "$release" "/usr/src/linux-headers-$release" \
			fetch_image "$release" >&2 || return 1
	fi
	initramfs_for "$kernel" >&2 || return 1
	echo "$kernel"
}

# debug_kernel: prints the folder of the debug kernel.
debug_kernel() {
	have_debug_kernel || {
		echo "there is no debug kernel of this configuration in $cache: run test/vm/debug-kernel" >&2
		return 1
	}
	initramfs_for "$cache/linux-debug" >&2 || return 1
	echo "$cache/linux-debug"
}

# The Debian 13 that test/matrix makes, with its kernel in it: guests see that instead of this machine.
other_world=$cache/trixie other_series=6.12

# other_kernel: prints the folder of that Debian's own kernel, which its headers name.
other_kernel() {
	local release kernel=$other_world/linux
	release=$(chroot "$other_world" dpkg-query -W -f '${Depends}' linux-headers-amd64 2>/dev/null |
		grep -oE 'linux-headers-[0-9][^ ,]*' | head -n 1 | sed 's/^linux-headers-//')
	[ -n "$release" ] || {
		echo "there is no Debian 13 with kernel headers in $other_world: test/matrix makes it" >&2
		return 1
	}
	if [ "$(cat "$kernel/made-for" 2>/dev/null)" != "linux-image-$release" ]; then
		unpack_kernel "$kernel" "$release" "/usr/src/linux-headers-$release" \
			fetch_in_world "$release" >&2 || return 1
	fi
	initramfs_for "$kernel" >&2 || return 1
	echo "$kernel"
}

fetch_in_world() {
	local dir=/tmp/image.deb
	chroot "$other_world" sh -c "rm -rf $dir && mkdir $dir && cd $dir && apt-get -q update &&
		apt-get -q download linux-image-$1" && mkdir -p "$2" &&
		dpkg-deb -x "$other_world$dir"/*.deb "$2" && rm -rf "$other_world$dir"
}

# kernel_of SERIES: prints the folder of the kernel of this name: own, debug, 6.1, 6.12.
kernel_of() {
	local release
	mkdir -p "$cache"
	exec 8>"$cache/kernels.lock"
	flock 8
	release=$(own_release)
	case $1 in
	own) own_kernel ;;
	debug) debug_kernel ;;
	"$(cut -d . -f 1,2 <<<"$release")") own_kernel ;;
	"$other_series") other_kernel ;;
	*)
		echo "no kernel of the series $1 is known here; this machine's own is $release" >&2
		false
		;;
	esac
}
