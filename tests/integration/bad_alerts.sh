#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# time-limit: 200
# beside: it mostly waits
# Receivers, configurations, disks and ends that mean alerts and silences no good; see bad_alerts.py.
set -u
cd "$(dirname "$0")/../.." || exit 2
: "${BUILD:=build/release}" "${TMPDIR:=/tmp}"
work=$(mktemp -d "$TMPDIR/bad_alerts.XXXXXX") || exit 2
python3 tests/integration/bad_alerts.py "$BUILD" "$work" "$@" &
pid=$!
trap 'kill -TERM $pid 2>/dev/null; wait $pid; rm -rf "$work"; exit 143' INT TERM HUP
wait $pid
rc=$?
if [ -n "${KEEP:-}" ]; then echo "# logs: $work"; else rm -rf "$work"; fi
exit $rc
