#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# time-limit: 600
# beside: it mostly waits
# Three agents, a collector and a JVM through ROUNDS (50) rounds of kill -9, SIGSTOP, half-open connections, full disks,
# deleted state and clocks that jump: nothing that was acked is missing, and what is missing is declared. No root needed:
# a full disk is a file-size limit (prlimit), a clock a preloaded shim.
set -u
: "${BUILD:=build/release}" "${TMPDIR:=/tmp}"
work=$(mktemp -d "$TMPDIR/lost.XXXXXX") || exit 1
seed=${SEED:-$RANDOM}
echo "# seed $seed"
python3 tests/integration/nothing_lost.py "$BUILD" "$work" "${ROUNDS:-50}" "$seed" &
pid=$!
trap 'kill -TERM $pid 2>/dev/null; wait $pid; exit 143' INT TERM HUP
wait $pid
rc=$?
if [ $rc -ne 0 ]; then
	tail -n 5 "$work"/*.err | sed 's/^/# /'
fi
[ -n "${KEEP:-}" ] && echo "# kept $work" || rm -rf "$work"
exit $rc
