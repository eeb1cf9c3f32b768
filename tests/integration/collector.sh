#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# time-limit: 240
# bankfull-collector against a foreign client, hostile clients, full disks, ends of all kinds, and an API server's
# TokenReview over a real TLS connection. Needs no root; as root the read-only directory is tried as another user.
set -u
: "${BUILD:=build/release}" "${TMPDIR:=/tmp}"
work=$(mktemp -d "$TMPDIR/collector.XXXXXX") || exit 1
python3 tests/integration/collector.py "$BUILD" "$work" "$@" &
pid=$!
trap 'kill -TERM $pid 2>/dev/null; wait $pid; rm -rf "$work"; exit 143' INT TERM HUP
wait $pid
rc=$?
[ $rc -eq 0 ] || echo "# the logs are gone; KEEP=1 keeps them: $work"
[ -n "${KEEP:-}" ] || rm -rf "$work"
exit $rc
