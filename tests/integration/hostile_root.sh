#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# time-limit: 180
# What a target may put below its root where its files should be: nothing there blocks, leads out or is read past its cap.
# shellcheck disable=SC2015 # ok() cannot fail
# shellcheck source=tests/integration/hostile.bash
. tests/integration/hostile.bash

if ! is_root; then
	skip "what stands below a target's root" "needs root"
	exit 0
fi

# A JVM with a /tmp of its own.
mkdir "$work/cwd"
# shellcheck disable=SC2016 # expanded by the inner shell
prefix=(unshare --mount sh -c 'mount -t tmpfs none /tmp && cd "$1" && shift && exec "$@"' sh "$work/cwd")
start_jvm jvm; jvm=$pid
echo "a secret that lies outside" >"$work/outside" && chmod 600 "$work/outside"
await_jvms
tmp=/proc/$jvm/root/tmp
perf=$tmp/hsperfdata_$(id -un)
run 10 report --pid "$jvm" --format json
verdict "a private /tmp" '0|1'
json 'sane() and "jvm/hsperf" not in why and "jvm/attach" not in why' && ok "is found through the target's root" || not_ok "is found through the target's root"

# put KIND PATH: something that is not what belongs there.
put()
{
	rm -rf "$2"
	case $1 in
	out) ln -s "$work/outside" "$2" ;;
	climb) ln -s "../../../../../../../../..$work/outside" "$2" ;;
	magic) ln -s "/proc/self/root$work/outside" "$2" ;;
	loop) ln -s "$(basename "$2")" "$2" ;;
	dangling) ln -s nowhere "$2" ;;
	fifo) mkfifo "$2" ;;
	zero) mknod "$2" c 1 5 ;;
	tty) mknod "$2" c 5 0 ;;
	block) mknod "$2" b 7 200 ;;
	directory) mkdir "$2" ;;
	socket) "$python" -c 'import socket, sys; socket.socket(socket.AF_UNIX).bind(sys.argv[1])' "$2" ;;
	stranger) "$python" -c 'import socket, sys; socket.socket(socket.AF_UNIX).bind(sys.argv[1])' "$2"; chown 9999 "$2" ;;
	sparse) truncate -s 10G "$2" ;;
	empty) : >"$2" ;;
	junk) head -c 40000 /dev/urandom >"$2" ;;
	text) cp "$work/outside" "$2" ;;
	links) head -c 32768 /dev/zero >"$2"; ln -f "$2" "$2.other" ;;
	open) head -c 32768 /dev/zero >"$2"; chmod 666 "$2" ;;
	foreign) head -c 32768 /dev/zero >"$2"; chown 9999 "$2" ;;
	esac
}
kinds="out climb magic loop dangling fifo zero tty block directory socket stranger sparse empty junk text links open foreign"
looks() # NAME WHAT LIMIT-MS
{
	run 8 report --pid "$jvm" --format json
	verdict "$1" '0|1'
	json "sane() and '$2' in why" && ok "$1: said in access.reasons" || not_ok "$1: said in access.reasons"
	[ "$ms" -lt "$3" ] || [ $asan = 1 ] || not_ok "$1: in time" "$ms ms"
	[[ $out != *"a secret"* ]] || not_ok "$1: reads outside"
}
mv "$perf/$jvm" "$perf/kept"
for kind in $kinds; do
	put "$kind" "$perf/$jvm"
	looks "hsperfdata is: $kind" jvm/hsperf 2000
	rm -rf "$perf/$jvm.other"
done
rm -rf "${perf:?}/$jvm"
# The very inode that the JVM maps, and it is not what it was.
mv "$perf/kept" "$perf/$jvm"
truncate -s 10G "$perf/$jvm"
looks "the JVM's own hsperfdata grown to 10 GB" jvm/hsperf 2000
truncate -s 32768 "$perf/$jvm"
chmod 666 "$perf/$jvm"
looks "the JVM's own hsperfdata open to all" jvm/hsperf 2000
chmod 600 "$perf/$jvm"
cp "$perf/$jvm" "$work/good"
for kind in zero junk text; do
	case $kind in
	zero) head -c 32768 /dev/zero >"$work/bad" ;;
	junk) head -c 32768 /dev/urandom >"$work/bad" ;;
	text) yes "java.rt.vmArgs=-Xmx1g" | head -c 32768 >"$work/bad" ;;
	esac
	dd if="$work/bad" of="$perf/$jvm" conv=notrunc status=none # the same inode, never shorter: the JVM maps it
	looks "the JVM's own hsperfdata filled with: $kind" jvm/hsperf 2000
done
# Entries that point past the end, and lengths that wrap.
for at in 4 8 16 24 28 32 36 40 44 48 52; do
	cp "$work/good" "$work/bad"
	printf '\377\377\377\377' | dd of="$work/bad" bs=1 seek=$at conv=notrunc status=none
	dd if="$work/bad" of="$perf/$jvm" conv=notrunc status=none
	run 8 report --pid "$jvm" --format json
	[ -z "$stray" ] && [ "$rc" -le 1 ] && json 'sane()' || { not_ok "hsperfdata with a wild word at byte $at" "$stray"; break; }
done
[ "$at" = 52 ] && ok "hsperfdata with a wild word in its head"
dd if="$work/good" of="$perf/$jvm" conv=notrunc status=none
for kind in out fifo zero directory empty; do
	mv "$perf" "$tmp/aside"
	put "$kind" "$perf"
	looks "hsperfdata's directory is: $kind" jvm/hsperf 2000
	rm -rf "$perf"
	mv "$tmp/aside" "$perf"
done

# The socket.
sock=$tmp/.java_pid$jvm
rm -f "$sock"
for kind in out climb magic loop dangling fifo zero directory stranger sparse empty; do
	put "$kind" "$sock"
	looks "the JVM's socket is: $kind" jvm/attach 2000
done
rm -rf "$sock"
# A trigger file that is already there, and is none of ours.
for kind in out dangling fifo directory foreign cwd; do
	case $kind in
	cwd) put foreign "$work/cwd/.attach_pid$jvm" ;;
	*) put "$kind" "$work/cwd/.attach_pid$jvm" && put "$kind" "$tmp/.attach_pid$jvm" ;;
	esac
	rm -f "$sock" # it is made anew when the JVM is asked to listen
	run 8 report --pid "$jvm" --format json
	rm -rf "$work/cwd/.attach_pid$jvm" "$tmp/.attach_pid$jvm"
	verdict "the trigger file is: $kind" '0|1' jvm/attach
	sleep 0.3
	jvm_is_well "$jvm:$work/jvm.out" && ok "and the JVM is not signalled: $kind" || not_ok "and the JVM is not signalled: $kind" "$well"
done
# A regular one of the JVM's user is another client's: it is used and left to its owner.
put empty "$work/cwd/.attach_pid$jvm"
run 8 report --pid "$jvm" --format json
[ -f "$work/cwd/.attach_pid$jvm" ] && json '"jvm/attach" not in why' && ok "another client's trigger file is left alone" || not_ok "another client's trigger file is left alone"
rm -f "$work/cwd/.attach_pid$jvm"
grep -q "a secret" "$work/outside" && ok "nothing was written through a link" || not_ok "nothing was written through a link"
# What stood there has made the JVM's listener fail or not: it must still live in silence.
jvm_is_well "$jvm:$work/jvm.out" && ok "and the JVM lives on in silence" || not_ok "and the JVM lives on in silence" "$well"

# /tmp itself.
jvms=()
for kind in out climb magic loop fifo zero sparse; do
	root=$work/root.$kind
	mkdir -p "$root/proc"
	put "$kind" "$root/tmp"
	gcc -std=gnu11 -O1 -static -o "$root/java" tests/integration/hostile_fake.c || exit 1
	head -c 8192 /dev/zero >"$root/libjvm.so"
	start "fake.$kind" chroot "$root" /java /libjvm.so idle
	declare "fake_$kind=$pid"
done
sleep 3.2
for kind in out climb magic loop fifo zero sparse; do
	fake=fake_$kind jvm=${!fake}
	looks "the target's /tmp is: $kind" jvm/hsperf 2000
	json '"jvm/attach" in why' && ok "and attach says so: $kind" || not_ok "and attach says so: $kind"
	kill -0 "$jvm" || not_ok "the target lives on"
done

# Flink's configuration below the target's root; `outside` has a twin inside, which links may reach.
root=$work/root.out
rm -f "$root/tmp"
mkdir -p "$root/tmp" "$root/conf" "$root$work"
echo "taskmanager.memory.process.size: 1728m" >"$root$work/outside"
echo "taskmanager.memory.process.size: 9999m" >"$work/outside"
HOSTILE_FAKE="/libjvm.so idle" start flink chroot "$root" /java -cp flink-dist-2.3.0.jar org.apache.flink.runtime.taskexecutor.TaskManagerRunner --configDir /conf
jvm=$pid
for _ in $(seq 50); do grep -q READY "$work/flink.out" && break; sleep 0.1; done
for kind in $kinds; do
	case $kind in out | climb | links | open | foreign | text | empty) continue ;; esac
	put "$kind" "$root/conf/config.yaml"
	run 8 report --pid "$jvm" --no-attach --no-metrics --format json
	verdict "config.yaml is: $kind" '0|1' conf/flink
	[[ $out != *9999* ]] || not_ok "config.yaml is $kind: reads outside"
done
for kind in out climb; do
	put "$kind" "$root/conf/config.yaml"
	run 8 report --pid "$jvm" --no-attach --no-metrics --format json
	verdict "config.yaml is a link: $kind" '0|1'
	[[ $out != *9999m* && $out != *10484711424* ]] && ok "it stays inside the root: $kind" || not_ok "it stays inside the root: $kind"
done
found=$(find "$work" /tmp -maxdepth 2 -name '.attach_pid*' 2>/dev/null)
[ -z "$found" ] && ok "no trigger file anywhere" || not_ok "no trigger file anywhere" "$found"
finish
