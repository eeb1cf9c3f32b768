#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# time-limit: 300
# The heap's line under each collector against pages that are known to be touched: a heap that the JVM touched whole, and the
# growth while a program touches 200 MiB more, with no collection in between. ZGC's heap is a file: its blocks, counted here.
# shellcheck source=tests/integration/truth.bash
. tests/integration/truth.bash

dir=$work whole='' grow=''
end_jvms()
{
	exec 7>&- 8>&-
	for pid in $whole $grow; do kill "$pid" 2>/dev/null; wait "$pid" 2>/dev/null; done
	whole='' grow='' pid=''
}
trap 'end_jvms; cleanup' EXIT

wait_for() # FILE WORD
{
	local tries
	for ((tries = 0; tries < 600; tries++)); do
		grep -q "$2" "$1" && return 0
		sleep 0.1
	done
	sed 's/^/# /' "$1"
	return 1
}

# The bytes that ZGC's file has on its file system; 0 when there is none.
blocks()
{
	local fd
	for fd in "/proc/$pid/fd/"*; do
		case $(readlink "$fd") in /memfd:java_heap*) stat -L -c %b "$fd" && return ;; esac
	done | awk '{ n = $1 } END { print n * 512 }'
}

both() # NAME MAJOR OPTION...
{
	local name=$1 java low=512 young=()
	if ! home=$(jdk_home "$2"); then
		echo "ok - $name # SKIP no JDK $2 with jcmd below /usr/lib/jvm"
		return
	fi
	java=$home/bin/java
	shift 2
	case $* in *UseZGC*) low=32 ;; esac # it has blocks for all that is committed, touched or not
	# Room for all of it before the first collection, which would copy it.
	case $* in *UseSerialGC* | *UseParallelGC*) young=(-Xmn400m -XX:SurvivorRatio=8) ;; esac
	rm -f "$work/in7" "$work/in8"
	mkfifo "$work/in7" "$work/in8"
	"$java" "$@" -Xms256m -Xmx256m -XX:+AlwaysPreTouch -cp "$work" TruthHeap <"$work/in7" >"$work/whole.out" 2>&1 &
	whole=$!
	exec 7>"$work/in7"
	"$java" "$@" -Xms${low}m -Xmx512m "${young[@]}" -XX:TieredStopAtLevel=1 -cp "$work" TruthHeap <"$work/in8" >"$work/grow.out" 2>&1 &
	grow=$!
	exec 8>"$work/in8"
	wait_for "$work/whole.out" READY && wait_for "$work/grow.out" READY
	result $? "$name: starts"
	sleep 3.5 # the attach protocol is not used before
	pid=$whole
	report whole.json
	case $* in
	*UseZGC*) judge "$name, touched whole" heap whole.json "$(blocks)" 2 ;;
	*) judge "$name, touched whole" heap whole.json $((256 << 20)) 2 ;;
	esac
	pid=$grow
	report first.json
	echo 200 >&8
	wait_for "$work/grow.out" 'HELD 200'
	sleep 1 # ZGC may still be about to take one more page
	report last.json
	case $* in
	*UseZGC*) judge "$name, 200 MiB touched" heap last.json "$(blocks)" 2 ;;
	*) judge "$name, 200 MiB touched" grown first.json last.json $((200 << 20)) 2 ;;
	esac
	end_jvms
}

javac=$( (jdk_home 17 || dirname "$(dirname "$(readlink -f "$(command -v javac)")")") | head -n 1)/bin/javac
"$javac" --release 17 -d "$work" tests/integration/TruthHeap.java || exit 1
both '17 G1' 17 -XX:+UseG1GC
both '17 Parallel' 17 -XX:+UseParallelGC -XX:-UseAdaptiveSizePolicy
both '17 Serial' 17 -XX:+UseSerialGC
both '17 ZGC' 17 -XX:+UseZGC
both '17 Shenandoah' 17 -XX:+UseShenandoahGC
both '25 G1' 25 -XX:+UseG1GC
both '25 ZGC' 25 -XX:+UseZGC
finish
