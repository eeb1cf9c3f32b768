#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# time-limit: 240
# beside: it mostly waits
# Alerts of a running collector, at a real Alertmanager, which calls a real HTTP server, and at webhooks: 300 pods call once;
# a receiver that is down, hangs, answers 500 or 400; TLS with an authority of its own; silences; restarts in between.
set -u
: "${BUILD:=build/release}" "${TMPDIR:=/tmp}"
if ! command -v prometheus-alertmanager >/dev/null; then
	echo "ok - alerts # SKIP prometheus-alertmanager is not installed"
	exit 0
fi
work=$(mktemp -d "$TMPDIR/alerts.XXXXXX") || exit 1
python3 tests/integration/alerts.py "$BUILD" "$work" "$@" &
pid=$!
trap 'kill -TERM $pid 2>/dev/null; wait $pid; rm -rf "$work"; exit 143' INT TERM HUP
wait $pid
rc=$?
[ $rc -eq 0 ] || echo "# the logs are gone; KEEP=1 keeps them: $work"
[ -n "${KEEP:-}" ] || rm -rf "$work"
exit $rc
