#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# time-limit: 180
# beside: it mostly waits
# `bankfull plan --from-report URL` against a real collector that agents have spoken to, with a token; and against servers
# that are none, or answer what no collector does.
set -u
exec python3 tests/integration/plan_collector.py "$BUILD" "$TMPDIR"
