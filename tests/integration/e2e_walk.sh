#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# time-limit: 420
# The dashboard in Chromium, as people walk through it: by mouse and by keyboard from the fleet to a post-mortem, a JVM that is
# killed while its page is open, a collector that ends and comes back, logins, namespaces that leak nowhere, foreign pages.
# shellcheck source=tests/integration/e2e.bash
. tests/integration/e2e.bash

e2e_begin e2e_walk
mkdir "$e2e_work/jvm"
: >"$e2e_work/jvm/said"
tests/workloads/run probe --dir "$e2e_work/jvm/run" --seconds 400 --heap 64m >"$e2e_work/jvm/said" 2>"$e2e_work/jvm/err" </dev/null &
jvm=$!
for ((tries = 0; tries < 600; tries++)); do
	grep -q '^READY' "$e2e_work/jvm/said" && break
	kill -0 $jvm 2>/dev/null || break
	sleep 0.1
done
pid=$(sed -n 's/^probe_pid=//p' "$e2e_work/jvm/run/ready" 2>/dev/null)
[ -n "$pid" ] || { echo 'not ok - the probe starts'; sed 's/^/# /' "$e2e_work/jvm/err"; kill $jvm 2>/dev/null; wait; exit 1; }
e2e_run walk.py "$pid" "$@"
rc=$?
kill -TERM $jvm 2>/dev/null
wait $jvm 2>/dev/null
exit $rc
