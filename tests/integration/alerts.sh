#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# time-limit: 240
# beside: it mostly waits
# Alerts of a running collector, at a real Alertmanager, which calls a real HTTP server, and at webhooks: 300 pods call once;
# a receiver that is down, hangs, answers 500 or 400; TLS with an authority of its own; silences; restarts in between.
# shellcheck source=tests/integration/python.bash
. "$(dirname "$0")/python.bash"
if ! command -v prometheus-alertmanager >/dev/null; then
	echo "ok - alerts # SKIP prometheus-alertmanager is not installed"
	exit 0
fi
python_test alerts "$@"
