#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# time-limit: 240
# Our attach client against every JDK on this machine: it answers as jcmd does, and never hurts a JVM that
# would not take it. The JVMs are small, one at a time, and ended by their pid.
set -u
cd "$(dirname "$0")/../.." || exit 2
: "${BUILD:=build/release}" "${TMPDIR:=/tmp}"
work=$(mktemp -d "$TMPDIR/attach.XXXXXX") || exit 2
chmod 755 "$work"
jvm='' bad=0

end_jvm()
{
	[ -n "$jvm" ] || return 0
	kill -CONT "$jvm" 2>/dev/null
	kill "$jvm" 2>/dev/null
	wait "$jvm" 2>/dev/null
	jvm=''
}
trap 'end_jvm; rm -rf "$work"' EXIT
trap 'exit 130' INT TERM

result() # status name
{
	if [ "$1" -eq 0 ]; then
		echo "ok - $2"
	else
		sed 's/^/# /' "$work/answer" 2>/dev/null | head -n 20
		echo "not ok - $2"
		bad=1
	fi
}

probe() # arguments; what it prints stands in $work/answer, the milliseconds it took in $work/ms
{
	"$work/probe" "$@" >"$work/answer" 2>"$work/ms"
}

# Starts a JVM with these options and waits until its main runs and its signal handlers stand.
start_jvm() # option...
{
	"${as[@]}" "$home/bin/java" -Xmx64m "$@" -cp "$work" Idle >"$work/out" 2>&1 &
	jvm=$!
	for _ in $(seq 100); do
		grep -qs READY "$work/out" && return 0
		sleep 0.1
	done
	sed 's/^/# /' "$work/out"
	return 1
}

alive()
{
	kill -0 "$jvm" 2>/dev/null
}

no_dump() # the JVM printed no threads
{
	! grep -q 'thread dump' "$work/out"
}

no_trigger()
{
	! ls "$PWD/.attach_pid$jvm" "/tmp/.attach_pid$jvm" >/dev/null 2>&1
}

# "name reserved committed" of each category
categories()
{
	sed -n 's/^- *\(.*\) (reserved=\([0-9]*\), committed=\([0-9]*\).*/\1|\2|\3/p'
}

# The JVM runs on between the two: each figure within 2 % or 256 KiB.
same_categories() # ours theirs
{
	awk -F'|' 'NR == FNR { r[$1] = $2; c[$1] = $3; next }
		function far(a, b) { d = a > b ? a - b : b - a; return d > 262144 && d > b / 50 }
		!($1 in r) || far(r[$1], $2) || far(c[$1], $3) { print "# " $0 " against " r[$1] " " c[$1]; bad = 1 }
		{ n++ } END { exit bad || n < 10 }' "$1" "$2"
}

answers()
{
	start_jvm -XX:NativeMemoryTracking=summary || { result 1 "$name: starts"; return; }
	sleep 0.3
	probe "$jvm" 5000 VM.version VM.flags GC.heap_info Compiler.codecache 'VM.native_memory summary scale=b' no.such_command &&
		[ "$(grep -c '^==' "$work/answer")" -eq 6 ] && grep -q '^JDK ' "$work/answer" &&
		grep -q -- '-XX:MaxHeapSize=' "$work/answer" && grep -q 'Metaspace\|heap' "$work/answer" &&
		grep -q ' bounds \[0x' "$work/answer" && grep -q '^Total: reserved=' "$work/answer" &&
		grep -q '^error unsupported.*Unknown diagnostic command' "$work/answer"
	result $? "$name: answers all commands in one run"
	no_trigger && no_dump && alive
	result $? "$name: leaves no trigger file and no thread dump"
	probe "$jvm" 5000 'VM.native_memory summary scale=b'
	categories <"$work/answer" | sort >"$work/ours"
	"$home/bin/jcmd" "$jvm" VM.native_memory summary scale=b | categories | sort >"$work/theirs"
	same_categories "$work/ours" "$work/theirs" && same_categories "$work/theirs" "$work/ours"
	result $? "$name: NMT categories equal jcmd's"
	probe "$jvm" hsperf
	grep -q '^java.property.java.vm.name=".*VM"$' "$work/answer" && grep -q '^java.threads.live=[1-9]' "$work/answer"
	result $? "$name: hsperfdata is found and read"
	end_jvm
}

without_nmt()
{
	start_jvm || { result 1 "$name: starts"; return; }
	sleep 0.3
	probe "$jvm" 5000 'VM.native_memory summary scale=b'
	grep -q 'tracking is not enabled' "$work/answer"
	result $? "$name: NMT off is said with return code 0"
	end_jvm
}

refusals()
{
	start_jvm -XX:+DisableAttachMechanism || { result 1 "$name: starts"; return; }
	sleep 0.3
	! probe "$jvm" 2000 VM.version && grep -q DisableAttachMechanism "$work/answer" && sleep 0.3 && alive && no_dump && no_trigger
	result $? "$name: attach disabled: refused and no SIGQUIT sent"
	end_jvm

	start_jvm -Xrs || { result 1 "$name: starts"; return; }
	sleep 0.3
	probe "$jvm" 2000 VM.version # its socket is open from the start, so it may answer
	sleep 0.3
	alive && no_dump
	result $? "$name: -Xrs: survives"
	end_jvm

	start_jvm || { result 1 "$name: starts"; return; }
	kill -STOP "$jvm"
	for _ in $(seq 50); do # a signal takes its time on a busy machine
		grep -q '^State:.T' "/proc/$jvm/status" && break
		sleep 0.05
	done
	! probe "$jvm" 2000 VM.version && grep -q 'is stopped' "$work/answer"
	result $? "$name: stopped: refused with the reason"
	kill -CONT "$jvm"
	sleep 0.3
	alive && no_dump && no_trigger
	result $? "$name: stopped: no SIGQUIT was left waiting"
	end_jvm
}

# The stop must fall between the first answer and the last: tried with several delays, for machines differ.
stops_meanwhile()
{
	local -a many=()
	local child ms delay ok=1
	start_jvm -XX:NativeMemoryTracking=summary || { result 1 "$name: starts"; return; }
	sleep 0.3
	probe "$jvm" 5000 VM.version
	for _ in $(seq 16); do many+=(GC.class_histogram); done
	for delay in 0.05 0.02 0.1 0.01 0.2 0.03; do
		probe "$jvm" 1500 "${many[@]}" &
		child=$!
		sleep "$delay"
		kill -STOP "$jvm"
		wait "$child"
		kill -CONT "$jvm"
		tail -n 1 "$work/answer" | grep -q '^error timeout' && ok=0 && break
	done
	ms=$(tr -dc '0-9' <"$work/ms")
	[ "$ok" -eq 0 ] && [ "${ms:-9999}" -lt 2000 ]
	result $? "$name: stopped while it answers: timeout in time (${ms:-?} ms)"
	sleep 0.2
	probe "$jvm" 5000 VM.version && alive
	result $? "$name: and answers again when it goes on"
	end_jvm
}

# Root asks a JVM of another user: only the child takes that user's ids. Its working directory is not writable to it.
other_user()
{
	[ "$(id -u)" -eq 0 ] || { echo "ok - $name: a JVM of another user # SKIP needs root"; return; }
	as=(setpriv --reuid 65534 --regid 65533 --clear-groups)
	start_jvm || { result 1 "$name: starts as another user"; as=(); return; }
	sleep 0.3
	probe "$jvm" 5000 VM.version && grep -q '^JDK ' "$work/answer" && alive && no_dump && no_trigger
	result $? "$name: root asks a JVM of another user"
	setpriv --reuid 65534 --regid 65532 --clear-groups "$work/probe" "$jvm" 2000 VM.version >"$work/answer" 2>&1
	grep -q 'error denied' "$work/answer" && alive
	result $? "$name: another group is refused"
	end_jvm
	as=()
}

no_jvm()
{
	sleep 60 &
	jvm=$!
	! probe "$jvm" 2000 VM.version && grep -q 'no HotSpot JVM' "$work/answer" && alive
	result $? "a process that is no JVM: refused and unharmed"
	end_jvm
}

"${CC:-gcc}" -std=gnu11 -D_GNU_SOURCE -Iinclude -Isrc -o "$work/probe" tests/integration/attach_probe.c \
	-Wl,--start-group "$BUILD"/lib{jvm,kernel,sys,ledger,base}.a -Wl,--end-group || exit 1
cat >"$work/Idle.java" <<'END'
public class Idle {
	public static void main(String[] args) throws Exception {
		System.out.println("READY");
		Thread.sleep(120000);
	}
}
END

declare -A seen=()
as=()
for java in /usr/lib/jvm/*/bin/java; do
	home=$(dirname "$(dirname "$(readlink -f "$java")")")
	if [ ! -x "$home/bin/javac" ] || [ ! -x "$home/bin/jcmd" ] || [ -n "${seen[$home]:-}" ]; then continue; fi
	seen[$home]=1
	name=$(basename "$home")
	# Each JDK compiles for itself: an older one does not read newer classes.
	"$home/bin/javac" -d "$work" "$work/Idle.java" || exit 1
	chmod 644 "$work"/*.class
	answers
	without_nmt
	refusals
	stops_meanwhile
	other_user
done
[ ${#seen[@]} -gt 0 ]
result $? "there is a JDK"
no_jvm
exit $bad
