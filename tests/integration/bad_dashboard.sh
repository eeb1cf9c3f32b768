#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# time-limit: 200
# beside: it mostly waits for deadlines; what it measures is the collector's own time and memory
# What people's browsers, tools, receivers and configurations may send that is not meant well; see bad_dashboard.py.
# shellcheck source=tests/integration/python.bash
. "$(dirname "$0")/python.bash"
python_test bad_dashboard "$@"
