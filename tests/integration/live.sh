#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# time-limit: 240
# beside: it mostly waits
# The live stream of a real collector: agents and viewers that owe nothing to its code, frames replayed against what the API
# shows, what a viewer should not send, one that does not read, foreign pages, tokens that vanish, a start on an old store.
set -u
: "${BUILD:=build/release}" "${TMPDIR:=/tmp}"
work=$(mktemp -d "$TMPDIR/live.XXXXXX") || exit 1
python3 tests/integration/live.py "$BUILD" "$work" "$@" &
pid=$!
trap 'kill -TERM $pid 2>/dev/null; wait $pid; rm -rf "$work"; exit 143' INT TERM HUP
wait $pid
rc=$?
[ -n "${KEEP:-}" ] || rm -rf "$work"
exit $rc
