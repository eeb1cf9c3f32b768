#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# time-limit: 120
# beside: it mostly waits
# What bankfull-collector serves to browsers, as curl, a crawler and hostile clients meet it: headers, documentation whose
# links lead somewhere, the login over TLS with a cookie, foreign origins and names, a trusted proxy and its impostors.
set -u
: "${BUILD:=build/release}" "${TMPDIR:=/tmp}"
for tool in python3 curl openssl; do
	if ! command -v $tool >/dev/null; then
		echo "ok - web # SKIP $tool is not installed"
		exit 0
	fi
done
work=$(mktemp -d "$TMPDIR/web.XXXXXX") || exit 1
python3 tests/integration/web.py "$BUILD/bankfull-collector" "$work" &
pid=$!
trap 'kill -TERM $pid 2>/dev/null; wait $pid; rm -rf "$work"; exit 143' INT TERM HUP
wait $pid
rc=$?
[ -n "${KEEP:-}" ] || rm -rf "$work"
exit $rc
