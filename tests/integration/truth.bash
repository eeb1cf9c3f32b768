# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# What the truth_*.sh tests share: a workload of tests/workloads, its truth lines, and what was read beside them. They
# compare the ledger with sources that are not Bankfull's; the comparisons are in truth.py.

set -u
# shellcheck source=tests/integration/wait.bash
. tests/integration/wait.bash
: "${BANKFULL:=build/release/bankfull}" "${TMPDIR:=/tmp}"
work=$(mktemp -d "$TMPDIR/truth.XXXXXX") || exit 1
cp "$BANKFULL" "$work/bankfull" || exit 1
n_bad=0
run_pid='' # of tests/workloads/run
pid=''     # of the JVM under test
dir=''     # of the workload
home=''    # of the JDK it runs on
others=()  # pids of what a test starts beside it; they end first

end_run()
{
	[ -z "$pid" ] || kill -CONT "$pid" 2>/dev/null
	[ -z "$run_pid" ] || { kill -TERM "$run_pid" 2>/dev/null; wait "$run_pid" 2>/dev/null; }
	run_pid='' pid=''
}
cleanup()
{
	trap - EXIT INT TERM HUP
	local one
	for one in "${others[@]}"; do
		kill -TERM "$one" 2>/dev/null
		wait "$one" 2>/dev/null
	done
	end_run
	[ -n "${KEEP:-}" ] || rm -rf "$work" # KEEP=1 leaves what was compared
}
trap cleanup EXIT
trap 'exit 130' INT TERM HUP

finish()
{
	end_run
	[ "$n_bad" -eq 0 ]
	exit
}
result() # status name
{
	if [ "$1" -eq 0 ]; then
		echo "ok - $2"
	else
		echo "not ok - $2"
		n_bad=$((n_bad + 1))
	fi
}

# Where a JDK of that version with jcmd is.
jdk_home() # MAJOR
{
	local at
	for at in /usr/lib/jvm/*/; do
		[ -x "$at/bin/jcmd" ] && [ "$(sed -n 's/^JAVA_VERSION="\([0-9]*\).*/\1/p' "$at/release" 2>/dev/null)" = "$1" ] && echo "${at%/}" && return
	done
	return 1
}

# begin NAME COMMAND OPTION...: starts tests/workloads/run and waits until it says READY; sets dir, pid, home.
begin()
{
	local name=$1 tries
	shift
	end_run
	dir=$work/$name
	home=$(jdk_home 17) || home=$(dirname "$(dirname "$(readlink -f "$(command -v jcmd)")")")
	mkdir "$dir"
	tests/workloads/run "$1" --dir "$dir" --java-home "$home" "${@:2}" >"$dir/said" 2>"$dir/err" </dev/null &
	run_pid=$!
	for ((tries = 0; tries < 2400; tries++)); do
		grep -q '^READY' "$dir/said" && break
		kill -0 "$run_pid" 2>/dev/null || break
		sleep 0.1
	done
	pid=$(sed -n -e 's/^taskmanager_pid=//p' -e 's/^streams_pid=//p' -e 's/^probe_pid=//p' "$dir/ready" 2>/dev/null)
	[ -n "$pid" ] && return
	sed 's/^/# /' "$dir/err"
	tail -n 5 "$dir"/log/*.err 2>/dev/null | sed 's/^/# /'
	result 1 "$name: starts"
	finish
}

# tell FILE [TEXT]: one request of the workload's protocol, until it is done.
tell()
{
	local tries
	printf '%s\n' "${2:-}" >"$dir/$1.new" && mv "$dir/$1.new" "$dir/$1"
	for ((tries = 0; tries < 900; tries++)); do
		[ -e "$dir/$1" ] || return 0
		sleep 0.1
	done
	echo "# $dir/$1 was not done"
	return 1
}
# truth FILE: what the workload knows of itself now.
truth()
{
	tell ask now && tail -n 1 "$dir/truth.jsonl" >"$dir/$1"
}
figure() # FILE KEY
{
	grep -o "\"$2\":[0-9]*" "$dir/$1" | head -n 1 | cut -d: -f2
}

# report FILE OPTION...; a machine that is busy gets time. Status 0 and 1 are reports.
report()
{
	local file=$1
	shift
	timeout 60 "$work/bankfull" report --pid "$pid" --format json --http-timeout 20000 "$@" >"$dir/$file" 2>"$dir/$file.err"
	[ $? -le 1 ] || { sed 's/^/# /' "$dir/$file.err"; return 1; }
}

# The same with the kernel's own account taken before and after, and the JVM's by jcmd where it has one.
report_between() # FILE OPTION...
{
	local file=$1
	cat "/proc/$pid/smaps" >"$dir/$file.smaps1"
	report "$@"
	cat "/proc/$pid/smaps" >"$dir/$file.smaps2"
	"$home/bin/jcmd" "$pid" VM.native_memory summary scale=b >"$dir/$file.nmt" 2>/dev/null
}

# purge NAME: NAME.smaps, .truth and .nmt after the allocator gave back what it holds free.
purge()
{
	"$home/bin/jcmd" "$pid" VM.native_memory summary scale=b >"$dir/$1.nmt" 2>/dev/null
	tell purge && tail -n 1 "$dir/truth.jsonl" >"$dir/$1.truth" && cat "/proc/$pid/smaps" >"$dir/$1.smaps"
}

judge() # NAME CHECK ARGUMENT...: TAP lines and figures of truth.py
{
	python3 tests/integration/truth.py "$dir" "$@" || n_bad=$((n_bad + 1))
}

# Until the stores claim what is wanted; on a busy machine less will do.
await_state() # WANTED-MIB LEAST-MIB SECONDS
{
	local until=$((SECONDS + $3))
	while truth claim.truth; do
		[ "$(figure claim.truth store_claim)" -ge $(($1 << 20)) ] && return 0
		[ "$SECONDS" -lt "$until" ] || break
		sleep 2
	done
	[ "$(figure claim.truth store_claim)" -ge $(($2 << 20)) ]
}

# Still, and with metrics that say so: Flink reads RocksDB's properties every 5 s only.
still()
{
	local tries
	touch "$dir/pause"
	sleep 6
	for ((tries = 0; tries < 8; tries++)); do
		truth first.truth && report metrics.json && truth second.truth || return 1
		python3 tests/integration/truth.py "$dir" - settled metrics.json first.truth second.truth && return 0
		sleep 2
	done
	echo "# the stores do not come to rest"
	return 1
}

# Stopped, without asking it anything: a capture's replay is the live report, but for the clock.
replays() # NAME
{
	local tries
	kill -STOP "$pid"
	for ((tries = 0; tries < 100; tries++)); do
		grep -q '^State:.T' "/proc/$pid/status" && break
		sleep 0.05
	done
	cat "/proc/$pid/smaps" >"$dir/stopped.json.smaps1"
	report stopped.json --no-attach --no-metrics
	cp "$dir/stopped.json.smaps1" "$dir/stopped.json.smaps2"
	timeout 60 "$work/bankfull" capture -o "$dir/capture" --pid "$pid" --no-attach --no-metrics >/dev/null 2>"$dir/capture.err"
	kill -CONT "$pid"
	timeout 60 "$work/bankfull" report --capture "$dir/capture" --format json >"$dir/replay.json" 2>"$dir/replay.err"
	judge "$1" same stopped.json replay.json
	judge "$1: stopped" books stopped.json
}
