#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# time-limit: 180
# The score of the lab's runs: what it counts, what it calls short, and that nothing falls short without a reason.
export PYTHONDONTWRITEBYTECODE=1
exec /usr/bin/python3 tests/cli/lab_score.py "$TMPDIR"
