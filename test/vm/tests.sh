# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# What a test in the guests is made of: run, watch the kernels' consoles, count. Sourced by
# test/vm/suite after cluster.sh.

passed=0 failed=0 skipped=0
# test/vm/long: how many times as long, or as often.
times=${GOAL_TIMES:-1}
limit=$((limit * times))
patterns=()
programs=''
logs_of_tests=''

wanted() {
	local p
	[ ${#patterns[@]} -gt 0 ] || return 0
	for p in "${patterns[@]}"; do
		# shellcheck disable=SC2053
		[[ $1 == $p ]] && return 0
	done
	return 1
}

# trouble_since SIZE...: of each guest, what its kernel has complained about since.
trouble_since() {
	local g=0 size found=1
	for size; do
		if console_trouble $g "$size" >"$work/trouble"; then
			found=0
			echo "FAIL: the kernel of guest $g complains (see $work/g$g/console):"
			head -n 12 "$work/trouble"
		fi
		g=$((g + 1))
	done
	return $found
}

# alive: do all guests answer?
alive() { limit=30 on_guests true; }

# end_programs: what a failed test has left running does not fail the next one.
end_programs() {
	on_guests pkill -9 -x 'abi|closing|collectives|cycle|depth|early|faults|killed|limits|random|shares|strangers|mpirun|tc|rmmod' >/dev/null
	on_nodes sh -c 'tc qdisc del dev eth0 root 2>/dev/null; true' >/dev/null
}

# try NAME FUNCTION ARGUMENT...: a test: 0 passes, 77 skips for the reason in its last line, all else
# fails, and so does whatever a kernel complains about meanwhile. A guest that no longer answers is given
# an NMI, so that its console says where it is; then all boot anew.
try() {
	local name=$config/$1 log begun=$SECONDS status g sizes=()
	shift
	wanted "$name" || return 0
	log=$logs_of_tests/${name//\//-}.log
	for ((g = 0; g < guests; g++)); do sizes+=("$(console_size $g)"); done
	(
		echo "$*"
		"$@"
	) >"$log" 2>&1 </dev/null
	status=$?
	if ! alive >>"$log" 2>&1; then
		[ $status -ne 0 ] && [ $status -ne 77 ] || status=1
		echo "FAIL: not all guests answer any more" >>"$log"
		for ((g = 0; g < guests; g++)); do monitor $g nmi; done
		sleep 10
		trouble_since "${sizes[@]}" >>"$log"
		cp -r "$work" "$logs_of_tests/${name//\//-}.dead" 2>/dev/null
		reboot_cluster >>"$log" 2>&1 || {
			verdict "$name" 1 "$log" "$begun"
			die_of "the guests do not come up again"
		}
	else
		trouble_since "${sizes[@]}" >>"$log" && status=1
		[ $status -eq 0 ] || [ $status -eq 77 ] || end_programs
	fi
	verdict "$name" $status "$log" "$begun"
}

verdict() {
	local name=$1 status=$2 log=$3 begun=$4
	case $status in
	0)
		passed=$((passed + 1))
		echo "PASS $name ($((SECONDS - begun)) s)"
		;;
	77)
		skipped=$((skipped + 1))
		echo "SKIP $name: $(tail -n 1 "$log")"
		;;
	*)
		failed=$((failed + 1))
		echo "FAIL $name ($((SECONDS - begun)) s), the end of $log:"
		grep -a FAIL "$log" | head -n 12 | cut -c 1-240 | sed 's/^/   | /'
		tail -n 16 "$log" | cut -c 1-240 | sed 's/^/   | /'
		;;
	esac
}

die_of() {
	echo "FAIL $config: $*"
	failed=$((failed + 1))
	close_suite
}

close_suite() {
	stop_cluster
	echo "$passed passed, $failed failed, $skipped skipped"
	[ $failed -eq 0 ]
	exit
}

skip() {
	echo "$*"
	exit 77
}
wrong() {
	echo "FAIL: $*"
	exit 1
}

# on_all KIND COUNT COMMAND...: at the same time on that many guests or nodes; $NODE in it is the number. The
# worst status.
on_all() {
	local kind=$1 i n=$2 jobs=() status=0 one
	shift 2
	for ((i = 0; i < n; i++)); do
		begin "$kind$i" env NODE=$i "$@"
		jobs+=("$job")
	done
	for one in "${jobs[@]}"; do
		finish_job "$one" "$limit" || status=$?
	done
	return $status
}
on_nodes() { on_all node "$(node_count)" "$@"; }
on_guests() { on_all guest "$guests" "$@"; }

# folder: prints a new folder that all guests see.
folder() { seen "$(mktemp -d "$work/job.XXXXXX")"; }

# start_collectives LOCAL OPTION...: the program of this name on all nodes, LOCAL ranks on each; `jobs`,
# the folder they meet in, and how many ranks there are.
start_collectives() {
	local i local=$1 dir n
	shift
	dir=$(folder)
	n=$(node_count)
	jobs=() dir_of_jobs=$dir ranks_of_jobs=$((n * local))
	for ((i = 0; i < n; i++)); do
		begin "node$i" env GOAL_TIMES="$times" "$programs/vm/collectives" "$@" "$dir" $((n * local)) $((i * local)) "$local"
		jobs+=("$job")
	done
}
# under_way: wait until all ranks of start_collectives have runs behind them.
under_way() {
	local end=$((SECONDS + limit)) dir=${world:-}$dir_of_jobs
	until [ "$(find "$dir" -name 'under_way.*' | wc -l)" -eq "$ranks_of_jobs" ]; do
		[ $SECONDS -lt $end ] || wrong "the collectives do not get under way within $limit s"
		sleep 0.2
	done
}
# finish_jobs: 0, 1 when any failed, else what they ended with.
finish_jobs() {
	local worst=0 status one
	for one in "${jobs[@]}"; do
		finish_job "$one" "$limit"
		status=$?
		[ $status -eq 0 ] || [ $worst -eq 1 ] || worst=$status
	done
	return $worst
}
collectives() { start_collectives "$@" && finish_jobs; }
