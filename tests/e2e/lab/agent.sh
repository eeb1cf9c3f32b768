#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# `bankfull agent` on a real cgroup v2, beside a JVM that is killed: by SIGKILL, after its limit was raised in place, and
# by the kernel at its own limit. In a virtual machine of its own (tests/e2e/lab/run); `make check-lab`, no part of `make check`.
#
# usage: tests/e2e/lab/agent.sh      BANKFULL: the program      JDK17: a Java home      KEEP=1: leave what was said
#
# Needs what tests/e2e/lab/run needs, jq, curl, python3, a JDK 17 and the probe (tests/workloads/run fetch). The machine is
# emulated: no time is judged but by order, the figures are printed.
# shellcheck disable=SC2015 # result() cannot fail
set -u
n_bad=0
result() # STATUS NAME
{
	[ "$1" -eq 0 ] && echo "ok - $2" || { echo "not ok - $2"; n_bad=$((n_bad + 1)); }
}

# --- outside ------------------------------------------------------------------------------
outside()
{
	: "${BANKFULL:=build/release/bankfull}"
	local missing=() tool probe=tests/workloads/target out rc=0
	for tool in jq curl python3 setpriv unshare; do
		command -v "$tool" >/dev/null || missing+=("$tool")
	done
	[ -n "${JDK17:-}" ] || JDK17=$(for at in /usr/lib/jvm/*17*/; do [ ! -x "$at/bin/java" ] || echo "${at%/}"; done | head -n 1)
	[ -x "$JDK17/bin/java" ] || missing+=('a JDK 17 (JDK17=its home)')
	[ -x "$BANKFULL" ] || missing+=("$BANKFULL (make)")
	[ -e "$probe/probe/MemoryProbe.class" ] && [ -e "$probe/libbankfullprobe.so" ] || missing+=('the probe (tests/workloads/run fetch)')
	if [ "${#missing[@]}" -gt 0 ]; then
		printf 'lab/agent: needs %s\n' "${missing[@]}" >&2
		exit 125
	fi
	out=$(mktemp -d)
	JDK17=$JDK17 tests/e2e/lab/run -m 2048 -t 540 -o "$out" tests/e2e/lab/agent.sh --inside "$(readlink -f "$BANKFULL")" "$PWD/$probe" || rc=$?
	[ -z "${KEEP:-}" ] && rm -rf "$out" || echo "# what was said: $out"
	exit "$rc"
}
[ "${1:-}" = --inside ] || outside

# --- inside -------------------------------------------------------------------------------
# shellcheck source=tests/e2e/lab/pod.bash
. "$(dirname "$0")/pod.bash"
work=/tmp/lab-agent agent='' watcher='' log='' page='' dir=''
url=http://127.0.0.1:9482
mkdir -p "$work"
cp "$2" "$work/bankfull"
cp -r "$3" "$work/target"
chmod 1777 /tmp "$work"
name_user

until_true() # SECONDS COMMAND...: the machine's seconds are long
{
	local until=$((SECONDS + $1))
	until "${@:2}" >/dev/null 2>&1; do
		[ "$SECONDS" -lt "$until" ] || return 1
		sleep 0.5
	done
}
check() # NAME COMMAND...
{
	local rc=0
	"${@:2}" || rc=1
	[ $rc -eq 0 ] || tail -n 6 "$log" "$log.out" | cut -c 1-600 | sed 's/^/# /'
	result $rc "$1"
}
quietly() { "$@" >/dev/null 2>&1; }
series() { curl -s -m 20 "$url/metrics" | awk -v name="$1" '$1 == name { print $2 }'; }
at_least() { local n; n=$(series "$1") && [ -n "$n" ] && [ "$n" -ge "$2" ]; }
said() { grep -q "\"event\":\"$1\"" "$log"; }
when() { jq -r --arg event "$1" 'select(.event == $event) | .time' "$log" | head -n 1; }
post() { [ -s "$log.out" ] && jq -ec "select(.event == \"postmortem\") | .body | $1" "$log.out"; }

# begin NAME LIMIT PROBEOPTION...: a pod with a JVM and an agent in it
begin()
{
	new_pod "$2"
	log=$work/$1.log page=$work/$1.page dir=$work/$1
	mkdir -m 0777 "$dir" "$work/$1.state" # the JVM removes what it is asked by
	chown "$user:$user" "$work/$1.state"
	# What an earlier JVM has read is charged to its cgroup, not to this one's: drop it.
	sync
	echo 3 >/proc/sys/vm/drop_caches
	in_main "$JDK17/bin/java" -Xmx32m -XX:+UseSerialGC -XX:NativeMemoryTracking=summary -cp "$work/target/probe" MemoryProbe \
		--library "$work/target/libbankfullprobe.so" --dir "$dir" --seconds 900 --heap-mib 16 "${@:3}"
	await 120 there "$dir/truth.jsonl" || { result 1 "$1: the JVM starts"; exit 1; }
	(enter "$side" "$work/bankfull" agent --pid "$started" --interval 5s --smaps-interval 5s --smaps-share 5% --smaps-hold 1s \
		--attach-interval 30s --http-timeout 20s --state-dir "$work/$1.state" --listen 127.0.0.1:9482) >"$log.out" 2>"$log" </dev/null &
	agent=$!
	check "$1: the agent watches it" until_true 60 said watching
	check "$1: in a cgroup that is in sight" until_true 60 at_least bankfull_charge_bytes 1
	check "$1: has a composition" until_true 60 at_least 'bankfull_owner_resident_bytes{owner="native-other",group="anon"}' 1
	check "$1: knows its limit" test "$(series bankfull_limit_bytes)" = "$(<"$main/memory.max")"
}

# Its cgroup is removed, as the container runtime does; the agent goes on.
end()
{
	local before
	wait "$started" 2>/dev/null
	check "$1: the cgroup can be removed" until_true 20 rmdir "$main"
	before=$(series bankfull_agent_ticks_total)
	check "$1: ticks go on without it" until_true 60 at_least bankfull_agent_ticks_total $((before + 2))
	check "$1: nor is there a target" test "$(series bankfull_target_up)" = 0
	kill -TERM "$agent"
	wait "$agent"
	check "$1: the agent ends with 0 by SIGTERM" test $? = 0
	cp "$log" "$log.out" "$page" /out/ 2>/dev/null
}

# charge = all owners + residual, in one page of the tick that scanned: to the byte. And what the kernel counts by type is
# the charge, but for what its CPUs have not yet told each other; root, who asks the kernel itself, sees the same.
identity()
{
	curl -s -m 20 "$url/metrics" >"$page"
	awk -v now="$(<"$main/memory.current")" -v anon="$(awk '$1 == "anon" { print $2 }' "$main/memory.stat")" '
		function near(a, b) { return a - b < 4194304 && b - a < 4194304 }
		$1 == "bankfull_composition_age_seconds" { age = $2; aged = 1 }
		$1 == "bankfull_charge_bytes" { charge = $2 }
		$1 == "bankfull_residual_bytes" { residual = $2; known = 1 }
		/^bankfull_owner_resident_bytes\{/ { owners += $2; n++ }
		/^bankfull_group_bytes\{/ { groups += $2 }
		$1 == "bankfull_group_bytes{group=\"anon\"}" { group_anon = $2 }
		END {
			printf "# charge %d = %d owners %d + residual %d; groups %d; by root now: charge %d, anon %d of %d\n", charge, n, owners, residual, groups, now, anon, group_anon
			exit !(aged && age == 0 && known && n >= 5 && charge == owners + residual && near(charge, groups) && near(charge, now) && near(anon, group_anon))
		}' "$page" >"$page.sum"
}
check_identity()
{
	check "$1: charge = owners + residual = groups at a scan" until_true 90 identity
	cat "$page.sum"
}

# Independent of the agent: when the counters of memory.events first rose, seconds since 1970. Ends at the kill.
watch_events()
{
	python3 - "$main/memory.events" >"$log.events" 2>&1 <<'EOF' &
import os, select, sys, time
fd = os.open(sys.argv[1], os.O_RDONLY)
waiting = select.poll()
waiting.register(fd, select.POLLPRI)
seen = set()
while "oom_kill" not in seen:
    waiting.poll(1000)
    now = time.time()
    for line in os.pread(fd, 4096, 0).decode().splitlines():
        name, count = line.split()
        if int(count) and name not in seen:
            seen.add(name)
            print(name, "%.3f" % now, flush=True)
EOF
	watcher=$!
}
first() { awk -v name="$1" '$1 == name { print $2; exit }' "$log.events"; }
seconds_from() { awk -v a="$1" -v b="$2" 'BEGIN { if (a == "" || b == "") print "unread"; else printf "%.3f\n", b - a }'; }
to_epoch() { [ -z "$1" ] || date -d "$1" +%s.%3N; }
is_before() { awk -v a="$1" -v b="$2" 'BEGIN { exit !(a != "" && b != "" && a + 0 < b + 0) }'; }

case_sigkill()
{
	begin sigkill 160M
	check_identity sigkill
	check 'sigkill: nothing woke it yet' test "$(series bankfull_agent_wakes_total)" = 0
	echo 192M >"$main/memory.max"
	# What kills nobody must last a minute before it is believed (standing_dwell()).
	check 'limit raised in place: a finding with both' until_true 180 quietly grep 'limit-changed, info: the limit was raised from 160.0 MiB to 192.0 MiB' "$log"
	grep -o '"limit-changed.*' "$log" | head -n 1 | sed 's/^/# /'
	check 'limit raised in place: open on /metrics' at_least 'bankfull_finding_open{rule="limit-changed",severity="info"}' 1
	check 'limit raised in place: the new one counts' test "$(series bankfull_limit_bytes)" = 201326592
	kill -KILL "$started"
	check 'sigkill: a post-mortem on stdout' until_true 30 quietly post .
	post '{cause, confidence_pct, why, limit_bytes, owner, events}' | sed 's/^/# /'
	check 'sigkill: cause, and no more sure than one can be' quietly post '.cause == "sigkill" and .confidence_pct >= 55 and .confidence_pct < 95'
	check 'sigkill: the limit is the new one' quietly post '.limit_bytes == 201326592'
	check 'sigkill: no event of the kernel' quietly post '.events.after.oom_kill == 0 and .events.before == .events.after'
	check 'sigkill: the changed limit stands in it' quietly post 'any(.findings[]; .rule == "limit-changed")'
	end sigkill
}

case_limit()
{
	begin limit 160M --leak-kib-per-s 2048 --leak-max-mib 600
	watch_events
	check 'limit: the first max event wakes it' until_true 240 at_least bankfull_agent_wakes_total 1
	check 'limit: a post-mortem on stdout' until_true 240 quietly post .
	check 'limit: it was killed by the kernel' until_true 10 grep -q '^oom_kill ' "$log.events"
	wait "$watcher" 2>/dev/null
	local urgent died max kill
	urgent=$(to_epoch "$(when urgent)") died=$(to_epoch "$(when target-died)") max=$(first max) kill=$(first oom_kill)
	check 'limit: urgent before the kernel killed' is_before "$urgent" "$kill"
	post '{cause, confidence_pct, why, limit_bytes, owner, events, growth: .growth.owners[0]}' | sed 's/^/# /'
	check 'limit: cause, and sure' quietly post '.cause == "container-limit" and .confidence_pct >= 90'
	check 'limit: the owner is native-other' quietly post '.owner == "native-other"'
	check 'limit: it grew most' quietly post '.growth.owners[0].owner == "native-other" and .growth.owners[0].grown_bytes > 8388608'
	check 'limit: the limit is right' quietly post '.limit_bytes == 167772160'
	check 'limit: events before' quietly post '.events.before.oom_kill == 0 and .events.before.oom == 0'
	check 'limit: events after' quietly post '.events.after.max > 0 and .events.after.oom > 0 and .events.after.oom_kill > 0'
	check 'limit: a deeper look was taken' quietly post '.deep != null'
	echo "# wakes $(series bankfull_agent_wakes_total), ticks $(series bankfull_agent_ticks_total), longest tick $(series bankfull_agent_longest_tick_seconds) s," \
		"longest hold $(series bankfull_agent_smaps_longest_hold_seconds) s"
	echo "# first max event to urgent sample: $(seconds_from "$max" "$urgent") s (below 0: freeboard was low before it)"
	echo "# urgent to kill: $(seconds_from "$urgent" "$kill") s; first max event to kill: $(seconds_from "$max" "$kill") s;" \
		"kill to death told: $(seconds_from "$kill" "$died") s"
	end limit
}

case_sigkill
case_limit
[ "$n_bad" -eq 0 ]
