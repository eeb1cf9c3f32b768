#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# time-limit: 180
# JVMs that may not be asked, tell less, stand still, or whose socket somebody else sits on.
# shellcheck disable=SC2015 # ok() cannot fail
# shellcheck source=tests/integration/hostile.bash
. tests/integration/hostile.bash

fake=$work/fake
gcc -std=gnu11 -O1 -o "$fake" tests/integration/hostile_fake.c || exit 1
head -c 8192 /dev/zero >"$work/libjvm.so"

start_jvm disabled -XX:+DisableAttachMechanism; disabled=$pid
start_jvm reduced -Xrs; reduced=$pid
start_jvm noperf -XX:-UsePerfData; noperf=$pid
start_jvm noshared -XX:+PerfDisableSharedMem; noshared=$pid
start_jvm stopped; stopped=$pid
start_jvm young; young=$pid
for jvm in "${jvms[@]}"; do
	for _ in $(seq 300); do grep -q READY "${jvm#*:}" && break; sleep 0.1; done
done
# The youngest is too young to be signalled, by a little.
start_jvm newborn
for _ in $(seq 100); do grep -q libjvm "/proc/$pid/maps" && break; sleep 0.02; done
run 10 report --pid "$pid" --format json
if [ "$ms" -lt 2000 ]; then
	verdict "a JVM that is being born" '0|1|3'
	[ "$rc" = 3 ] || json '"jvm/attach" in why and ("try again in" in why["jvm/attach"] or "does not catch" in why["jvm/attach"])' &&
		ok "is not signalled" || not_ok "is not signalled"
else
	skip "a JVM that is being born" "the machine is too slow"
	skip "is not signalled" "the machine is too slow"
fi
await_jvms

run 10 report --pid "$disabled" --format json
verdict "attach disabled" '0|1' "off by the JVM's option -XX:+DisableAttachMechanism"
json 'sane() and (16 << 20) <= of("java-heap") <= (48 << 20) and of("metaspace") != 0 and kind["jvm/attach"] == "unsupported"' && ok "costs the answers, not the heap" || not_ok "costs the answers, not the heap"
run 10 report --pid "$disabled"
verdict "attach disabled, as a table" '0|1' access-degraded "-XX:+DisableAttachMechanism" "It costs"

# With -Xrs the listener is there from the start, so the JVM may be asked; without its socket it may not.
run 10 report --pid "$reduced" --format json
verdict "signals reduced (-Xrs)" '0|1'
json 'sane() and "jvm/attach" not in why' && ok "answers without a signal" || not_ok "answers without a signal"
rm -f "/tmp/.java_pid$reduced"
run 10 report --pid "$reduced" --format json
verdict "signals reduced, and no socket" '0|1' "the JVM runs with -Xrs, SIGQUIT would end it"
json 'sane()' && ok "still has a ledger" || not_ok "still has a ledger"

run 10 report --pid "$noperf" --format json
verdict "no hsperfdata (-XX:-UsePerfData)" '0|1' "-XX:-UsePerfData"
json 'sane() and "jvm/attach" not in why and why["jvm/nmt"].startswith("native memory tracking is off: start the JVM with")' &&
	ok "attach tells the rest, and NMT that it is off" || not_ok "attach tells the rest, and NMT that it is off"
json 'of("jvm-other") is None and "no NMT" in line["jvm-other"]["note"] and of("gc") != 0' && ok "what only NMT tells is unread, not 0" || not_ok "what only NMT tells is unread, not 0"
run 10 report --pid "$noshared" --format json
verdict "no hsperfdata (-XX:+PerfDisableSharedMem)" '0|1' "PerfDisableSharedMem"

# Another JVM's file under the number of this one, as a container that starts anew finds it in an emptyDir.
perf=$(ls -d "/tmp/hsperfdata_$(id -un)")
if [ -n "$perf" ] && [ ! -e "$perf/$noperf" ]; then
	cp "$perf/$young" "$perf/$noperf" && mine+=() && stale=$perf/$noperf
	run 10 report --pid "$noperf" --format json
	rm -f "$stale"
	verdict "a stale hsperfdata" '0|1' "stale: the process does not map it"
	json 'sane() and "jvm/attach" not in why' && ok "counts for nothing" || not_ok "counts for nothing"
else
	skip "a stale hsperfdata" "no hsperfdata here"
	skip "counts for nothing" "no hsperfdata here"
fi

# Stopped: no signal, no waiting, and what /proc tells is told.
kill -STOP "$stopped"
for _ in $(seq 50); do grep -q '^State:.*T' "/proc/$stopped/status" && break; sleep 0.02; done
run 5 report --pid "$stopped" --format json
verdict "a stopped JVM" '0|1' "is stopped (SIGSTOP or a debugger): continue it first"
json 'sane() and (16 << 20) <= of("java-heap") <= (48 << 20) and of("metaspace") != 0' && ok "has its ledger" || not_ok "has its ledger"
[ $((0x$(awk '/^ShdPnd/ { print $2 }' "/proc/$stopped/status") & 4)) = 0 ] && ok "got no signal" || not_ok "got no signal"
run 5 capture -o "$work/cap" --pid "$stopped"
verdict "a capture of a stopped JVM" 0 "written to"
kill -CONT "$stopped"
sleep 0.5
jvm_is_well "$stopped:$work/stopped.out" && ok "and lives on in silence" || not_ok "and lives on in silence" "$well"

# Stopped with its listener up: the socket takes connections that nobody answers.
run 10 report --pid "$young" --format json
verdict "its listener is up" '0|1'
kill -STOP "$young"
run 5 report --pid "$young" --format json
verdict "a stopped JVM with a socket" '0|1' "is stopped"
kill -CONT "$young"

# Frozen, as by `docker pause`: that is no state T. A signal would be dealt with after the trigger is gone.
freezer=''
if is_root; then
	for dir in /sys/fs/cgroup /sys/fs/cgroup/unified; do
		[ -f "$dir/cgroup.procs" ] && [ "$(stat -fc %T "$dir")" = cgroup2fs ] && mkdir "$dir/hostile.$$" 2>/dev/null && freezer=$dir/hostile.$$ && break
	done
fi
if [ -n "$freezer" ] && [ -f "$freezer/cgroup.freeze" ]; then
	rm -f "/tmp/.java_pid$noshared" # so that it would have to be signalled
	echo "$noshared" >"$freezer/cgroup.procs" && echo "$noperf" >"$freezer/cgroup.procs"
	echo 1 >"$freezer/cgroup.freeze"
	for _ in $(seq 50); do grep -q 'frozen 1' "$freezer/cgroup.events" && break; sleep 0.02; done
	run 5 report --pid "$noshared" --format json
	echo 0 >"$freezer/cgroup.freeze"
	verdict "a frozen JVM" '0|1' "is frozen (a paused container)"
	sleep 1
	cat "/proc/$noshared/cgroup" >/dev/null
	jvm_is_well "$noshared:$work/noshared.out" && ok "and lives on in silence once it thaws" || not_ok "and lives on in silence once it thaws" "$well"
	for p in "$noshared" "$noperf"; do echo "$p" >"${freezer%/*}/cgroup.procs"; done
	rmdir "$freezer"
else
	[ -z "$freezer" ] || rmdir "$freezer"
	skip "a frozen JVM" "needs root and cgroup v2"
	skip "and lives on in silence once it thaws" "needs root and cgroup v2"
fi

# A process that answers on the JVM's socket as it likes. /tmp is where HotSpot looks.
quit=0 # set below, as the others are
for how in drip flood junk deaf quit; do
	case $how in quit) start "$how" "$fake" "$work/libjvm.so" "$how" ;; *) start "$how" "$fake" "$work/libjvm.so" "$how" /tmp ;; esac
	declare "$how=$pid"
done
sleep 3.3
for how in drip flood junk deaf; do
	run 10 report --pid "${!how}" --format json
	verdict "a socket that serves: $how" '0|1' jvm/
	kill -0 "${!how}" && [ "$ms" -lt 9000 ] && ok "is asked within its deadline: $how" || not_ok "is asked within its deadline: $how"
done
run 10 report --pid "$quit" --format json
verdict "a process that ends by the signal" '0|1|3'
[ "$rc" = 3 ] || json 'sane()' && ok "gives no wrong number" || not_ok "gives no wrong number"
for how in drip flood junk deaf; do rm -f "/tmp/.java_pid${!how}"; done
# Interrupted while the trigger file is there and the listener is not: by a key, by a supervisor, for good.
# (A child that is nobody's any more is reaped by the first process, at its leisure.)
mkdir "$work/mute"
start mute env -C "$work/mute" "$fake" "$work/libjvm.so" idle; mute=$pid
trigger_of_mute=$work/mute/.attach_pid$mute
sleep 3.3
for signal in INT TERM HUP KILL; do
	setsid env --default-signal=INT,HUP "$bankfull" report --pid "$mute" >/dev/null 2>&1 &
	reader=$!
	for _ in $(seq 100); do [ -e "$trigger_of_mute" ] && break; sleep 0.02; done
	[ -e "$trigger_of_mute" ] || not_ok "a trigger file is made"
	if [ "$signal" = INT ]; then kill -INT -- "-$reader"; else kill -"$signal" "$reader"; fi
	wait "$reader" 2>/dev/null
	for _ in $(seq 40); do [ -e "$trigger_of_mute" ] || break; sleep 0.05; done
	[ ! -e "$trigger_of_mute" ] && [ -z "$(pgrep -r D,R,S,T -s "$reader")" ] && ok "interrupted by SIG$signal it leaves no trigger and no child" || not_ok "interrupted by SIG$signal it leaves no trigger and no child"
	rm -f "$trigger_of_mute"
done
found=$(find /tmp "$PWD" -maxdepth 1 -name '.attach_pid*' -newer "$work/classes" 2>/dev/null)
[ -z "$found" ] && ok "no trigger file anywhere" || not_ok "no trigger file anywhere" "$found"
finish
