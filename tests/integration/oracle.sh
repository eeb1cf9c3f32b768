#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# time-limit: 600
# The VMA splitter against NMT detail and System.map of live JVMs: tests/oracle/run.
exec "$(dirname "$0")/../oracle/run"
