#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Pids that are none, no JVM, or somebody else by the time they are read.
# shellcheck disable=SC2015 # ok() cannot fail
# shellcheck source=tests/integration/hostile.bash
. tests/integration/hostile.bash

fake=$work/fake
gcc -std=gnu11 -O1 -o "$fake" tests/integration/hostile_fake.c || exit 1
head -c 8192 /dev/zero >"$work/libjvm.so"
start_jvm good

gone=$(bash -c 'echo $$')
run 5 report --pid "$gone"
verdict "no such pid" 3 "no process $gone" "give the pid of a running JVM"
for text in 0 -1 +1 01x 4194305 99999999999999999999 '' ' 1' 1.5 self; do
	run 5 report --pid "$text"
	verdict "--pid '$text' is refused" 2 "is no process id"
done
run 5 report --pid
verdict "--pid without a value is refused" 2 "--pid needs"
run 5 capture -o "$work/none" --pid "$gone"
verdict "a capture of no such pid" 3 "$gone"
[ ! -e "$work/none" ] && ok "which writes nothing" || not_ok "which writes nothing"

run 5 report --pid $$
verdict "a shell is no JVM" 2 "$$ is no JVM" "give the pid of a java process"
if is_root; then
	kthread=$(pgrep -P 2 2>/dev/null | head -n 1)
	if [ -n "$kthread" ]; then
		run 5 report --pid "$kthread"
		verdict "a kernel thread is no JVM" 3 "has no memory"
	else
		skip "a kernel thread is no JVM" "none is visible here"
	fi
	as=(setpriv --reuid 9999 --regid 9999 --clear-groups)
	run 5 report --pid $$
	verdict "a shell of another user is no JVM" 3 "process $$ may not be read and is not called java"
	as=()
else
	skip "a kernel thread is no JVM" "needs root"
	skip "a shell of another user is no JVM" "needs root"
fi

start zombie "$python" -c '
import os, time
pid = os.fork()
if pid == 0: os._exit(0)
print(pid, flush=True)
time.sleep(60)'
for _ in $(seq 50); do [ -s "$work/zombie.out" ] && break; sleep 0.1; done
run 5 report --pid "$(cat "$work/zombie.out")"
verdict "a zombie" 3 "process $(cat "$work/zombie.out") has no memory: it has ended"

# A thread's id is no process's, though /proc shows a directory for it.
await_jvms
jvm=${jvms[0]%%:*}
tids=("/proc/$jvm/task"/*)
tid=${tids[-1]##*/}
run 10 report --pid "$tid" --format json
verdict "a thread's id" 2 "$tid is a thread of process $jvm"
run 10 report --pid "$jvm" --format json
verdict "a JVM as it should be" '0|1'
json 'sane() and "jvm/attach" not in why' && ok "and attach works there" || not_ok "and attach works there"

# Executes itself anew every few ms: what is read is never put together from two images.
start execs "$fake" "$work/libjvm.so" exec
execs=$pid
for _ in $(seq 50); do grep -q READY "$work/execs.out" && break; sleep 0.1; done
bad=0
for i in $(seq 10); do
	run 10 report --pid "$execs" --format json --no-attach
	case $rc in
	0 | 1) json 'sane() and abs(d["groups"][0]["counter_bytes"] - of("native-other")) < (2 << 20)' || bad=1 ;;
	2 | 3) [ "$(wc -l <"$work/run.err")" = 1 ] || bad=1 ;;
	*) bad=1 ;;
	esac
	[ -z "$stray" ] || bad=1
	[ "$bad" = 0 ] || break
done
[ "$bad" = 0 ] && ok "a process that executes itself in a loop: 10 readings" || not_ok "a process that executes itself in a loop" "reading $i: $stray"
kill -KILL "$execs" 2>/dev/null
wait "$execs" 2>/dev/null

# Ends while it is read, at another moment each time.
bad=0
for i in 1 3 5 7 9 12 15 18 25 35; do
	start short "$fake" "$work/libjvm.so" idle
	for _ in $(seq 100); do grep -q READY "$work/short.out" && break; sleep 0.01; done
	victim=$pid
	(sleep "0.0$(printf '%02d' "$i")"; kill -KILL "$victim") 2>/dev/null &
	killer=$!
	run 10 report --pid "$victim" --format json
	wait "$killer" 2>/dev/null
	wait "$victim" 2>/dev/null
	case $rc in
	0 | 1) json 'sane()' || bad=1 ;;
	3) [ "$(wc -l <"$work/run.err")" = 1 ] && [ -z "$out" ] || bad=1 ;;
	*) bad=1 ;;
	esac
	[ -z "$stray" ] || bad=1
	[ "$bad" = 0 ] || break
done
[ "$bad" = 0 ] && ok "a process killed while it is read: 10 moments" || not_ok "a process killed while it is read" "moment $i: $stray"

# Processes that come and go in the thousands while the target is searched for.
start forks bash -c 'while :; do /bin/true; done'
if is_root; then
	as=(unshare --pid --fork --mount-proc --kill-child)
	run 10 report
	verdict "no JVM is visible" 2 "no JVM is visible here" "shareProcessNamespace"
	as=()
else
	skip "no JVM is visible" "needs root"
fi
bad=0
for i in 1 2 3 4 5; do
	list_follows=1 run 10 report --format json --no-attach
	[ -z "$stray" ] && [ "$rc" -le 2 ] || bad=1
done
[ "$bad" = 0 ] && ok "a search among processes that come and go" || not_ok "a search among processes that come and go" "$stray"

# It catches SIGQUIT or not: it is never killed by us.
idle=0 # set below
for how in idle bare; do
	start "$how" "$fake" "$work/libjvm.so" "$how"
	declare "$how=$pid"
done
sleep 3.2
for how in idle bare; do
	run 10 report --pid "${!how}" --format json
	verdict "something that maps a libjvm.so ($how)" '0|1' jvm/attach
	kill -0 "${!how}" && ok "which lives on ($how)" || not_ok "which lives on ($how)"
done
[ "$(find -L "/proc/$idle/cwd" /tmp -maxdepth 1 -name ".attach_pid$idle" | wc -l)" = 0 ] && ok "without a trigger file" || not_ok "without a trigger file"
finish
