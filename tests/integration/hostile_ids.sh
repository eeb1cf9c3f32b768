#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# time-limit: 150
# The right and the wrong uid, gid and capabilities; a /proc that hides processes.
# shellcheck disable=SC2015 # ok() cannot fail
# shellcheck source=tests/integration/hostile.bash
. tests/integration/hostile.bash

if ! is_root || ! command -v setpriv >/dev/null; then
	skip "who may read what" "needs root and setpriv"
	exit 0
fi

# Each JVM has a /tmp of its own, as in a container: nothing of it is left on the machine.
mkdir "$work/cwd" && chmod 777 "$work/cwd"
jvm_as() # NAME UID GID [SETPRIV OPTION...]; sets `pid` to the JVM's
{
	local name=$1 uid=$2 gid=$3
	shift 3
	# shellcheck disable=SC2016 # expanded by the inner shell
	prefix=(unshare --mount sh -c 'mount -t tmpfs -o mode=1777 none /tmp && cd "$1" && shift && exec "$@"' sh "$work/cwd"
		setpriv --reuid "$uid" --regid "$gid" --clear-groups "$@")
	start_jvm "$name"
}
jvm_as same 9999 9999; same=$pid
jvm_as uid 9998 9998; uid=$pid
jvm_as gid 9999 9998; gid=$pid
jvm_as root 0 0; root=$pid
jvm_as caps 9999 9999 --inh-caps +net_raw --ambient-caps +net_raw; caps=$pid
# As in a container: pid 1 of its own namespaces, seen from outside under another number.
classes
# shellcheck disable=SC2016 # expanded by the inner shell
start pod unshare --mount --pid --fork --kill-child sh -c 'mount -t tmpfs none /tmp && cd / && exec "$@"' sh \
	java "${small[@]}" -XX:+UseSerialGC -cp "$work/classes" HostileTarget
pod_parent=$pid
await_jvms
pod=$(pgrep -P "$pod_parent")
jvms+=("$pod:$work/pod.out")
run 10 report --pid "$pod" --format json
verdict "a JVM that is pid 1 of a container" '0|1'
json 'sane() and "jvm/hsperf" not in why and "jvm/attach" not in why and of("java-heap") >= 16 << 20' && ok "is found under its own number" || not_ok "is found under its own number"
[ -S "/proc/$pod/root/tmp/.java_pid1" ] && ok "and asked there" || not_ok "and asked there"
# A /tmp with more names than anybody looks through.
(cd "/proc/$pod/root/tmp" && "$python" -c '
for i in range(66000): open(f"a{i:05}", "w").close()')
run 10 report --pid "$pod" --format json
verdict "a crowded /tmp" '0|1'
json 'sane() and "jvm/attach" not in why' && ok "costs hsperfdata at most" || not_ok "costs hsperfdata at most"

as=(setpriv --reuid 9999 --regid 9999 --clear-groups --inh-caps -all --bounding-set -all)
run 10 report --pid "$same" --format json
verdict "the JVM's own uid and gid" '0|1'
json 'sane() and d["access"]["level"] == "process" and "jvm/attach" not in why and of("java-heap") >= 16 << 20' && ok "are enough" || not_ok "are enough"

denied() # NAME PID WORDS
{
	run 10 report --pid "$2" --format json
	verdict "$1" 1 "$3"
	json 'sane() and d["access"]["level"] == "status" and kind["proc/smaps"] == kind["jvm/attach"] == kind["jvm/hsperf"] == "denied"
		and "Permission denied" in why["proc/smaps"] and of("java-heap") is None and d["freeboard_bytes"] is None' &&
		ok "$1: unread, and never a number" || not_ok "$1: unread, and never a number"
	run 10 report --pid "$2"
	verdict "$1, as a table" 1 "It costs" "no composition at all" "unread"
	local cap=$work/cwd/cap.$RANDOM
	run 10 capture -o "$cap" --pid "$2"
	verdict "$1, as a capture" 0
	run 10 report --capture "$cap" --format json
	verdict "$1, replayed" 1 "$3"
}
denied "another uid" "$uid" "the JVM has uid 9998 gid 9998, this program uid 9999 gid 9999; run it with the JVM's"
denied "another gid" "$gid" "the JVM has uid 9999 gid 9998, this program uid 9999 gid 9999; run it with the JVM's"
denied "a JVM of root" "$root" "the JVM has uid 0 gid 0"
denied "a JVM with a capability more" "$caps" "holds capabilities that this program lacks (mask 2000)"
as=(setpriv --inh-caps -all --bounding-set -all)
denied "root without capabilities, a JVM with them" "$root" "holds capabilities that this program lacks"
as=(setpriv --reuid 9999 --regid 9998 --clear-groups --inh-caps -all --bounding-set -all)
denied "its uid, another gid" "$same" "this program uid 9999 gid 9998"

# Root reads all of them; the attach child becomes the JVM's user.
as=()
for name in same uid gid root caps; do
	run 10 report --pid "${!name}" --format json
	verdict "root reads the JVM '$name'" '0|1'
	json 'sane() and d["access"]["level"] == "process" and "jvm/attach" not in why' && ok "and asks it: $name" || not_ok "and asks it: $name"
done

# Not dumpable: no rule on ids or capabilities tells why.
gcc -std=gnu11 -O1 -o "$work/java" tests/integration/hostile_fake.c || exit 1
head -c 8192 /dev/zero >"$work/libjvm.so"
start secret setpriv --reuid 9999 --regid 9999 --clear-groups "$work/java" "$work/libjvm.so" secret
for _ in $(seq 50); do grep -q READY "$work/secret.out" && break; sleep 0.1; done
as=(setpriv --reuid 9999 --regid 9999 --clear-groups --inh-caps -all --bounding-set -all)
denied "a JVM that is not dumpable" "$pid" "not dumpable"

# hidepid, in a mount namespace of its own: the machine's /proc stays as it is.
# shellcheck disable=SC2016 # expanded by the inner shell
hidden=(unshare --mount sh -c 'mount -t proc -o hidepid=2 proc /proc && exec setpriv --reuid 9999 --regid 9999 --clear-groups "$@"' sh)
if "${hidden[@]}" true 2>/dev/null; then
	as=("${hidden[@]}")
	run 10 report --pid "$uid"
	verdict "hidepid, and not ours" 3 "no process $uid is to be seen here" hidepid
	run 10 report --pid "$same" --format json
	verdict "hidepid, and ours" '0|1'
	json 'sane() and d["access"]["level"] == "process"' && ok "which is read" || not_ok "which is read"
else
	skip "hidepid" "/proc cannot be mounted here"
fi
finish
