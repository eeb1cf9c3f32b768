#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# time-limit: 180
# beside: it mostly waits
# bankfull-collector in a hostile world; see bad_wire.py. Needs no root, loopback only.
set -u
cd "$(dirname "$0")/../.." || exit 2
: "${BUILD:=build/release}" "${TMPDIR:=/tmp}"
work=$(mktemp -d "$TMPDIR/bad_wire.XXXXXX") || exit 2
python3 tests/integration/bad_wire.py "$BUILD" "$work" "$@" &
pid=$!
trap 'kill -TERM $pid 2>/dev/null; wait $pid; rm -rf "$work"; exit 143' INT TERM HUP
wait $pid
rc=$?
if [ -n "${KEEP:-}" ]; then echo "# logs: $work"; else rm -rf "$work"; fi
exit $rc
