#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# time-limit: 180
# `bankfull agent` beside a real JVM, without a collector: samples and metrics, a hung endpoint, a JVM that is killed and one
# that comes after it, a port that is taken, a state directory that cannot be written, and nothing allocated by a tick.
# shellcheck disable=SC2015 # ok() cannot fail
# shellcheck source=tests/integration/truth.bash
. tests/integration/truth.bash

agent=''
port=0
hung=''
end_agent()
{
	[ -z "$agent" ] || { kill -TERM "$agent" 2>/dev/null; wait "$agent" 2>/dev/null; status=$?; }
	agent=''
}
cleanup_all()
{
	end_agent
	[ -z "$hung" ] || { kill "$hung" 2>/dev/null; wait "$hung" 2>/dev/null; }
	cleanup
}
trap cleanup_all EXIT


# begin_agent NAME OPTION...: log in NAME.log, post-mortems in NAME.out
begin_agent()
{
	end_agent
	log=$work/$1.log
	said=$work/$1.out
	port=$(free_port)
	"$work/bankfull" agent --listen "127.0.0.1:$port" --interval 1s --smaps-interval 5s "${@:2}" >"$said" 2>"$log" </dev/null &
	agent=$!
}
get() { curl -s -m 5 "http://127.0.0.1:$port$1"; }
# The value of one series, empty where there is none.
series() { get /metrics | awk -v name="$1" '$1 == name { print $2 }'; }
said_event() { grep -q "\"event\":\"$1\"" "$log"; }
ready() { get /readyz | grep -q '"ready":true'; }
has_composition() { [ -n "$(series 'bankfull_owner_resident_bytes{owner="java-heap",group="anon"}')" ]; }
ticked_past() { [ "$(series bankfull_agent_ticks_total)" -gt "$1" ]; }
at_least() { [ "$(series "$1")" -ge "$2" ]; }
check() # NAME COMMAND...
{
	local rc=0
	"${@:2}" || rc=1
	[ $rc -eq 0 ] || { tail -n 5 "$log" | sed 's/^/# /'; }
	result $rc "$1"
}

# --- nobody there yet ---------------------------------------------------------------------
begin_agent waits --pid 4194303 --limit 700m --collector ws://127.0.0.1:9/agent
check 'waits for a pid that is not there and says so' until_true 10 said_event waiting
check '/readyz names what is awaited, 503' test "$(curl -s -m 5 -o "$work/ready" -w '%{http_code}' "http://127.0.0.1:$port/readyz")" = 503
check 'and why' grep -q 'no process 4194303' "$work/ready"
check 'each tick meanwhile is a sample for the collector' until_true 15 at_least bankfull_agent_spool_messages 3
check '/healthz is well meanwhile' test "$(get /healthz)" = '{"status":"ok"}'
end_agent
check 'ends with 0 by SIGTERM' test "$status" = 0

# --- a JVM --------------------------------------------------------------------------------
begin jvm probe --seconds 170 --heap 64m --nmt summary -- --threads 20 --direct-mib 16 --leak-kib-per-s 4096 --leak-max-mib 400
python3 - "$work/hung" <<'EOF' &
import socket, sys, time
listener = socket.socket()
listener.bind(("127.0.0.1", 0))
listener.listen(16)
open(sys.argv[1] + ".new", "w").write(str(listener.getsockname()[1]))
__import__("os").rename(sys.argv[1] + ".new", sys.argv[1])
time.sleep(170)
EOF
hung=$!
until_true 10 test -s "$work/hung"

mkdir "$work/state"
begin_agent watch --pid "$pid" --limit 700m --state-dir "$work/state" --scrape-interval 5s --http-timeout 4s \
	--metrics "http://127.0.0.1:$(cat "$work/hung")/metrics"
check 'is ready' until_true 20 ready
check 'has a composition' until_true 20 has_composition
get /metrics >"$work/page"
check 'knows the limit it was told' test "$(series bankfull_limit_bytes)" = 734003200
check 'names direct buffers by NMT' test "$(series 'bankfull_owner_resident_bytes{owner="direct-buffers",group="anon"}')" -ge 16777216
check 'nothing of the cgroup where none is in sight' test -z "$(series bankfull_charge_bytes)"
if command -v promtool >/dev/null; then
	check 'promtool finds nothing' promtool check metrics <"$work/page"
else
	echo 'ok - promtool finds nothing # SKIP promtool is not installed'
fi
started=$(for _ in {1..10}; do series process_start_time_seconds; done | sort -u | wc -l)
check 'it started at one time' test "$started" = 1
check 'unknown paths are 404' test "$(curl -s -m 5 -o /dev/null -w '%{http_code}' "http://127.0.0.1:$port/nothing")" = 404
check 'only reading is allowed' test "$(curl -s -m 5 -o /dev/null -w '%{http_code}' -X POST -d x "http://127.0.0.1:$port/metrics")" = 405

# Each scrape hangs for 4 s of every 5; samples of 1 s go on.
before=$(series bankfull_agent_ticks_total)
sleep 6
after=$(series bankfull_agent_ticks_total)
check "a hung endpoint delays no sample ($before, $after)" test $((after - before)) -ge 5
longest=$(series bankfull_agent_longest_tick_seconds)
check "nor makes a tick long ($longest s)" awk -v t="$longest" 'BEGIN { exit !(t < 1) }'
waited() { awk -v t="$(series bankfull_agent_slow_seconds_total)" 'BEGIN { exit !(t > 4) }'; }
check 'it was waited for, by a child' until_true 10 waited
share=$(get /metrics | awk '$1 == "bankfull_agent_smaps_walk_seconds_total" { walk = $2 } $1 == "bankfull_agent_smaps_walks_total" { n = $2 } END { print(n ? walk / n : 9) }')
check "a walk of this JVM is short ($share s)" awk -v t="$share" 'BEGIN { exit !(t < 0.2) }'
# Who has grown is told from two scans, and a busy machine makes the second one late.
native='bankfull_owner_resident_bytes{owner="native-other",group="anon"}'
before=$(awk -v name="$native" '$1 == name { print $2 }' "$work/page")
check "a second scan sees who has grown (from $before)" until_true 40 at_least "$native" $((before + (16 << 20)))

# --- it dies ------------------------------------------------------------------------------
first=$pid
kill -KILL "$pid"
check 'its death is noticed at once' until_true 2 said_event target-died
check 'and is one JSON line on stdout' until_true 2 grep -q '"event":"postmortem"' "$said"
check 'which can be read' jq -e "select(.event == \"postmortem\") | .pid == $first and .owner == \"native-other\"" "$said"
check 'there is no target now' test "$(series bankfull_target_up)" = 0
check 'nor figures of the dead' test -z "$(series bankfull_floor_bytes)"
wait "$run_pid" 2>/dev/null
run_pid='' pid=''
end_agent
check 'the recorder is in the state directory' test -s "$work/state/recorder-0"

# --- another one comes: --pid is of the first life ---------------------------------------
begin second probe --seconds 120 --heap 64m -- --threads 5
# The state directory is a file, so that root cannot write it either; the port is held.
: >"$work/no-directory"
begin_agent harm --pid "$pid" --limit 700m --state-dir "$work/no-directory"
check 'goes on without a state directory' until_true 20 ready
check 'and says so' until_true 5 said_event state-dir-unusable
check 'a metric says so' test "$(series bankfull_agent_spool_on_disk)" = 0
taken=$port
"$work/bankfull" agent --pid "$pid" --listen "127.0.0.1:$taken" --interval 1s >"$work/taken.out" 2>"$work/taken.log" </dev/null &
other=$!
check 'a port that is taken is told' until_true 10 grep -q '"event":"listen-failed"' "$work/taken.log"
check 'and ends nothing' until_true 10 grep -q '"event":"watching"' "$work/taken.log"
kill -TERM "$other"
wait "$other"
check 'which ends with 0 all the same' test $? = 0

# A stopped JVM answers nothing; samples go on.
kill -STOP "$pid"
before=$(series bankfull_agent_ticks_total)
check 'a stopped JVM stops no sample' until_true 6 ticked_past $((before + 3))
kill -CONT "$pid"
end_agent

# --- steady state -------------------------------------------------------------------------
shim=$(dirname "$BANKFULL")/tests/fault-shim.so
if [ -e "$shim" ]; then
	export FAULT_STATE=$work/allocs FAULT_CALL=alloc FAULT_NTH=0 LD_PRELOAD=$PWD/$shim
	[ "${shim#/}" = "$shim" ] || LD_PRELOAD=$shim
	begin_agent steady --pid "$pid" --limit 700m --smaps-interval 1h --scrape-interval 1h --attach-interval 1d --state-dir "$work/state"
	unset FAULT_STATE FAULT_CALL FAULT_NTH LD_PRELOAD
	until_true 20 has_composition
	sleep 5
	allocs() { od -An -tu8 -N8 "$work/allocs" | tr -d ' '; }
	before=$(allocs)
	sleep 5
	after=$(allocs)
	check "ticks allocate nothing ($before, $after)" test "$before" = "$after"
	end_agent
else
	echo 'ok - ticks allocate nothing # SKIP the sanitizer has its own allocator'
fi
finish
