#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# time-limit: 180
# beside: it mostly waits
# `bankfull watch` in real terminals (tmux is one) beside a real JVM: its figures are the report's, keys, sizes, a JVM that is
# killed, a reader that hangs or falls, and a terminal that is as it was however it ends.
set -u
if ! command -v tmux >/dev/null; then
	echo "ok - watch # SKIP tmux is not installed"
	exit 0
fi
exec python3 tests/integration/watch.py "$BUILD" "$TMPDIR"
