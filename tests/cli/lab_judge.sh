#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# time-limit: 180
# What judges the runs of the lab: each judgement passes on a run that is right, and fails on one in which that alone is wrong.
export PYTHONDONTWRITEBYTECODE=1
exec /usr/bin/python3 tests/cli/lab_judge.py "$TMPDIR"
