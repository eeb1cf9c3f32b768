#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# time-limit: 180
# A target that changes everything between two reads: the books stay closed, 30 times.
# shellcheck disable=SC2015 # ok() cannot fail
# shellcheck source=tests/integration/hostile.bash
. tests/integration/hostile.bash

start_jvm churn -Xmx300m -Xms16m -XX:NativeMemoryTracking=summary -- churn; churn=$pid
start_jvm g1 -XX:+UseG1GC -Xmx300m -Xms16m -XX:NativeMemoryTracking=detail -- churn; g1=$pid
await_jvms
bad=0 over=0
for i in $(seq 30); do
	jvm=$churn
	[ $((i % 2)) = 0 ] || jvm=$g1
	run 10 report --pid "$jvm" --format json --limit 2g
	if [ -n "$stray" ] || [ "$rc" -gt 1 ] || ! clean_text; then
		not_ok "reading $i" "$stray"
		bad=1
		break
	fi
	# Never more than the JVM was allowed: 300 MiB of heap, as much direct, and 150 MiB for all the rest.
	json 'sane() and 0 < d["groups"][0]["owners_bytes"] < 750 << 20 and (of("java-heap") is None or of("java-heap") <= 300 << 20)
		and d["floor_bytes"] < 900 << 20 and d["freeboard_bytes"] == (2 << 30) - d["floor_bytes"]' || { not_ok "reading $i"; bad=1; break; }
	json '"jvm/attach" in why' >/dev/null && over=$((over + 1))
done
[ "$bad" = 0 ] && ok "30 readings of a JVM that churns 200 MB: anon closed, no owner negative ($over without attach)"
no_trigger && ok "no trigger file is left" || not_ok "no trigger file is left" "$trigger"
# Captured while it churns, replayed at rest: the replay is the report of that moment, twice the same.
for i in 1 2 3; do
	run 10 capture -o "$work/cap$i" --pid "$churn"
	verdict "capture $i of it" 0
	run 10 report --capture "$work/cap$i" --format json
	cp "$work/run.out" "$work/first"
	verdict "replay $i" '0|1'
	json 'sane()' || not_ok "replay $i is sane"
	run 10 report --capture "$work/cap$i" --format json
	cmp -s "$work/first" "$work/run.out" && ok "replay $i is the same again" || not_ok "replay $i is the same again"
done
# Many at a time, as two people on call would: they do not disturb each other or the JVM.
for i in 1 2 3 4; do
	"$bankfull" report --pid "$g1" --format json >"$work/many.$i" 2>"$work/many.err.$i" &
	mine+=($!)
done
bad=0
for i in 1 2 3 4; do wait "${mine[-$((5 - i))]}" || [ $? = 1 ] || bad=1; done
for i in 1 2 3 4; do
	cp "$work/many.$i" "$work/run.out"
	json 'sane()' || bad=1
done
[ "$bad" = 0 ] && ok "four readings at once" || not_ok "four readings at once" "$(cat "$work"/many.err.*)"
# Reading it does not hurt it: it goes on turning, and dies of nothing.
finish
