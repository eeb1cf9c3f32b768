#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# time-limit: 120
# The agent without --pid in a process namespace of its own: it waits, finds the JVM that runs an engine among others, follows
# it through a kill and a restart, and is not deceived by a pid that another process got.
set -u
# shellcheck source=tests/integration/wait.bash
. tests/integration/wait.bash
: "${BANKFULL:=build/release/bankfull}" "${TMPDIR:=/tmp}"
if [ "${1:-}" != inside ]; then
	if ! unshare -Urpf --mount-proc true 2>/dev/null; then
		echo 'ok - the agent follows an engine # SKIP no user namespaces here'
		exit 0
	fi
	BANKFULL=$(readlink -f "$BANKFULL") exec unshare -Urpf --mount-proc "$0" inside
fi

work=$(mktemp -d "$TMPDIR/restart.XXXXXX") || exit 1
mine=()
cleanup()
{
	trap - EXIT
	for p in "${mine[@]}"; do kill -KILL "$p" 2>/dev/null; done
	rm -rf "$work"
}
trap cleanup EXIT
n_bad=0
check() # NAME COMMAND...
{
	if "${@:2}"; then
		echo "ok - $1"
	else
		tail -n 6 "$log" | sed 's/^/# /'
		echo "not ok - $1"
		n_bad=$((n_bad + 1))
	fi
}
javac -d "$work" tests/fault/Idle.java || exit 1
mkfifo "$work/stdin"
exec 9<>"$work/stdin"
start() # CLASS-PATH: sets jvm
{
	java -Xmx32m -cp "$1" Idle <&9 >"$work/idle.out" 2>&1 &
	jvm=$!
	mine+=("$jvm")
	until_true 20 grep -q ready "$work/idle.out"
}
: >"$work/kafka-streams-4.0.0.jar"
engine=$work/kafka-streams-4.0.0.jar:$work
log=$work/log
watches() { grep -q "watching process $1[;\"]" "$log"; }
port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
nobody() { tail -n 1 "$log" | grep -qE 'do(es)? something else'; }
ready() { curl -s -m 5 "http://127.0.0.1:$port/readyz" | grep -q '"ready":true'; }
series() { curl -s -m 5 "http://127.0.0.1:$port/metrics" | awk -v name="$1" '$1 == name { print $2 }'; }

"$BANKFULL" agent --limit 200m --listen "127.0.0.1:$port" --interval 1s --smaps-interval 5s >"$work/out" 2>"$log" </dev/null &
agent=$!
mine+=("$agent")
check 'waits where there is no JVM' until_true 10 grep -q 'no JVM is visible' "$log"
start "$work"
check 'takes no JVM without an engine, and says so' until_true 10 grep -q 'runs Flink or Kafka Streams; 1 other ' "$log"
start "$engine"
first=$jvm
check 'finds the engine when it comes' until_true 10 watches "$first"
check 'is ready' until_true 10 ready
kill -KILL "$first"
wait "$first" 2>/dev/null
check 'its death makes one post-mortem' until_true 5 grep -q "\"event\":\"postmortem\".*\"pid\":${first}[,}]" "$work/out"
# The next process gets the number of the dead one: same pid, another start, and no engine.
if echo $((first - 1)) >/proc/sys/kernel/ns_last_pid 2>/dev/null; then
	sleep 60 &
	mine+=($!)
	[ $! = "$first" ] && check 'a reused pid is nobody' until_true 10 nobody
fi
start "$engine"
check 'follows the restart' until_true 10 watches "$jvm"
check 'counts both lives' test "$(series bankfull_agent_targets_total)" = 2
check 'and one death' test "$(series bankfull_agent_target_deaths_total)" = 1
check 'and says once that each ended' test "$(grep -c '"event":"target-ended"' "$log")" = 1
fds=$(series process_open_fds)
kill -KILL "$jvm"
wait "$jvm" 2>/dev/null
start "$engine"
check 'follows again' until_true 10 watches "$jvm"
until_true 10 ready
check 'and keeps no descriptor of the dead' test "$(series process_open_fds)" -le "$fds"
# One that ends by itself takes its hsperfdata file away, one that is killed leaves it.
scanned() { [ "$(series bankfull_agent_smaps_walks_total)" -gt "$1" ]; }
cause_of() { grep "\"event\":\"postmortem\".*\"pid\":$1[,}]" "$work/out" | grep -q "\"cause\":\"$2\""; }
check 'is scanned' until_true 20 scanned "$(series bankfull_agent_smaps_walks_total)"
kill -TERM "$jvm"
wait "$jvm" 2>/dev/null
check 'one that was asked to stop has ended by itself' until_true 5 cause_of "$jvm" exit
start "$engine"
check 'follows once more' until_true 10 watches "$jvm"
check 'is scanned again' until_true 20 scanned "$(series bankfull_agent_smaps_walks_total)"
kill -KILL "$jvm"
wait "$jvm" 2>/dev/null
check 'one that was killed has not' until_true 5 cause_of "$jvm" sigkill
kill -TERM "$agent"
wait "$agent"
check 'ends with 0' test $? = 0
# A pod that is stopped near its limit takes both at once: how its JVM ended is waited for.
start "$engine"
near=$(awk '/^RssAnon:/ { print $2 + 64 "k" }' "/proc/$jvm/status")
"$BANKFULL" agent --limit "$near" --listen "127.0.0.1:$port" --interval 1s --grace 20s >"$work/out" 2>"$log" </dev/null &
agent=$!
mine+=("$agent")
check 'is urgent near its limit' until_true 15 grep -q '"event":"urgent"' "$log"
check 'has scanned' until_true 20 scanned 0
kill -TERM "$agent"
check 'asked to end it waits for its JVM' until_true 5 grep -q 'the end of the JVM is waited for' "$log"
kill -TERM "$jvm"
wait "$agent"
check 'and ends with 0' test $? = 0
check 'having told that both were stopped' cause_of "$jvm" exit
check 'and why' grep -q 'the pod was being stopped' "$work/out"
[ "$n_bad" -eq 0 ]
