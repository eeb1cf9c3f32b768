#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# time-limit: 120
# The API of a running collector, fed by a WebSocket client of another library: every path of docs/openapi.json answers,
# and every reply is what the document says; the metrics page against promtool and docs/metrics.md; viewers and their
# namespaces; what a restart remembers.
set -u
python=/usr/bin/python3
for module in jsonschema websockets; do
	if ! $python -c "import $module" 2>/dev/null; then
		echo "ok - api # SKIP python3-$module is not installed"
		exit 0
	fi
done
exec $python tests/integration/api.py "$BUILD" "$TMPDIR"
