#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# time-limit: 180
# A scenario of the lab that is written wrongly is refused when it is read, by file and key; so is what prove is asked for and has not.
export PYTHONDONTWRITEBYTECODE=1
exec /usr/bin/python3 tests/cli/lab_scenario.py "$TMPDIR"
