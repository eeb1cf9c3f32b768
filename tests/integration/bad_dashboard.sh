#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# time-limit: 200
# beside: it mostly waits for deadlines; what it measures is the collector's own time and memory
# What people's browsers, tools, receivers and configurations may send that is not meant well; see bad_dashboard.py.
set -u
cd "$(dirname "$0")/../.." || exit 2
: "${BUILD:=build/release}" "${TMPDIR:=/tmp}"
work=$(mktemp -d "$TMPDIR/bad_dashboard.XXXXXX") || exit 2
python3 tests/integration/bad_dashboard.py "$BUILD" "$work" "$@" &
pid=$!
trap 'kill -TERM $pid 2>/dev/null; wait $pid; rm -rf "$work"; exit 143' INT TERM HUP
wait $pid
rc=$?
if [ -n "${KEEP:-}" ]; then echo "# logs: $work"; else rm -rf "$work"; fi
exit $rc
