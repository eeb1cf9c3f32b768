#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# time-limit: 420
# The fleet page of 10,000 pods in Chromium: to its last row and anywhere between, searched, sorted both ways, alive. How fast
# that is, is no test: tests/bench/dashboard tells.
# shellcheck source=tests/integration/e2e.bash
. tests/integration/e2e.bash

e2e_begin e2e_scale
ulimit -n "$(ulimit -Hn)"
"${CC:-gcc}" -std=gnu11 -D_GNU_SOURCE -O2 -Iinclude -Isrc -o "$e2e_work/loadgen" tests/bench/loadgen.c || exit 1
e2e_run scale.py "$e2e_work/loadgen" "${1:-10000}"
