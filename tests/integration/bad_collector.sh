#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# time-limit: 150
# Agents against collectors that lie, stall, flood and break off; see bad_collector.py. Needs no root, loopback only.
# shellcheck source=tests/integration/python.bash
. "$(dirname "$0")/python.bash"
python_test bad_collector "$@"
