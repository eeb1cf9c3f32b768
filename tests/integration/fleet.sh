#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# time-limit: 120
# beside: it mostly waits
# `bankfull fleet` against a real collector that agents have spoken to, with tokens, over TLS; and against servers that are
# none, hang, flood, or speak something else.
set -u
exec python3 tests/integration/fleet.py "$BUILD" "$TMPDIR"
